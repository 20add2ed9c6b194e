"""Configurations that fit best, for many problems side by side: steps of Levenberg and Marquardt on the constraints.

    min |w r(q)|²    with  g(q) = 0,   d(q) ≥ 0                                                          (1)
    û = û_c + P z,   û_c = −A⁺ c,   P = 1 − A⁺ A          A, c: rows of g and of the stops that are met  (2)
    min |w (r + J û)|² + μ |z|²,     μ = ν |w r|²                                                        (3)

Every step is followed by Newton's method on g alone, so that what is compared lies on the constraints. The damping vanishes with
the residual [sugihara2011]: exact solutions are approached quadratically, and a target out of reach or at a singular position
does no harm. Rows of g that depend on each other are no trouble, since A⁺ is taken by singular values.
"""

from dataclasses import dataclass

import numpy as np

from .problem import DEPENDENT

ROUNDING = 1e-13  # of residuals over their units
EXACT = 1e-9  # below which a residual that does not become less is rounding of an ill-conditioned position
STEPS = 120
PATIENCE = 8  # steps that may bring nothing
FOR_SQUARES = 4  # times as many steps and as much patience, where the residual does not vanish
LONGEST = 1.0  # rad, or the size of the model: a longer step is shortened at first, and longer ones are tried where these help
STOPPED = 1e3  # weight of a stop that is overrun
NEARLY = 0.1 * EXACT  # by which a stop that is met may be overrun
FLAT = 1e-11  # slope over residual, at which a least square is reached


@dataclass
class Fit:
    """Configurations, a row for each problem.

    q          the best that was found
    residual   |w r| there;  off: how far constraints and stops are from being satisfied
    """

    q: np.ndarray
    residual: np.ndarray
    off: np.ndarray

    @property
    def exact(self):
        return (self.residual <= EXACT) & self.sound

    @property
    def sound(self):
        return self.off <= EXACT


class Fitting:
    """One problem with time, parameters, numbers that are asked for and weights of their rows: t, p, y a row for each.

    stopped   whether stops count
    """

    def __init__(self, problem, t, p, y, weights, stopped=True):
        self.problem, self.t, self.p, self.y, self.weights = problem, t, p, y, weights
        self.stopped = stopped and bool(problem.stops)

    def times(self, n):
        """The one row so many times."""
        p, y = (np.repeat(x, n, axis=0) for x in (self.p, self.y))
        return Fitting(self.problem, self.t, p, y, self.weights, self.stopped)

    def few(self, which):
        """The same for some of the rows."""
        return Fitting(self.problem, self.t, self.p[which], self.y[which], self.weights, self.stopped)

    def unstopped(self):
        """The same without stops."""
        return Fitting(self.problem, self.t, self.p, self.y, self.weights, False)

    def gaps(self, q):
        """d and its derivative."""
        if self.stopped:
            return self.problem.gaps(self.t, q, self.p)
        return np.zeros((len(q), 0)), np.zeros((len(q), 0, self.problem.n))

    def wanted(self, q):
        r, J = self.problem.wanted(self.t, q, self.p, self.y)
        return r * self.weights, J * self.weights[:, None]

    def overrun(self, q):
        """How far the worst of constraints and stops is from being satisfied; endlessly, where one holds the wrong way round."""
        g, _ = self.problem.held(self.t, q, self.p)
        d, _ = self.gaps(q)
        off = np.maximum(np.abs(g).max(axis=1, initial=0.0), -np.minimum(d, 0.0).min(axis=1, initial=0.0))
        return np.where(self.problem.mistaken(self.t, q, self.p), np.inf, off)

    def restored(self, q):
        """Newton's method on the constraints alone, each step the least; and how far they are from being satisfied then. Stops that
        are overrun are constraints, too, where all of them can be satisfied together."""
        if not self.problem.rows:
            return q, np.zeros(len(q))
        found, off = self._restored(q, self.stopped)
        open = np.flatnonzero(off > EXACT)
        if self.stopped and len(open):
            found[open], off[open] = self.few(open)._restored(q[open], False)
        return found, off

    def _restored(self, q, stopped, steps=12):
        g, G, off = self._closing(q, stopped)
        for _ in range(steps):
            if not (off > ROUNDING).any():
                break
            trial = self.problem.move(q, _shortened(-_apply(_inverse(G), g)))
            there = self._closing(trial, stopped)
            better = there[2] < off
            q, off = np.where(better[:, None], trial, q), np.where(better, there[2], off)
            g, G = np.where(better[:, None], there[0], g), np.where(better[:, None, None], there[1], G)
            if not better.any():
                break
        return q, np.abs(g).max(axis=1, initial=0.0, where=np.arange(g.shape[1]) < len(self.problem.rows))

    def _closing(self, q, stopped):
        """Rows that close loops and lead back from stops that are overrun, their derivative, and the largest of them."""
        g, G = self.problem.held(self.t, q, self.p)
        if stopped:
            d, B = self.gaps(q)
            g, G = np.concatenate([g, np.minimum(d, 0.0)], axis=1), np.concatenate([G, B * (d < 0)[:, :, None]], axis=1)
        return g, G, np.abs(g).max(axis=1, initial=0.0)

    def seen(self, q):
        """All that a step is made from: r and J, d and B."""
        return *self.wanted(q), *self.gaps(q)

    def step(self, q, nu, r, J, d, B):
        """û of (2) and (3), and the slope of |w r| that is left."""
        g, G = self.problem.held(self.t, q, self.p)
        mu = nu * np.maximum((r**2).sum(axis=1), 1e-30)
        return constrained(r, J, g, G, d, B, mu)


def constrained(r, J, g, G, d, B, mu):
    """The step û of (2) and (3), and the slope that is left: stops that it would overrun become rows of A until there are none."""
    met = np.zeros(d.shape, bool)
    for _ in range(d.shape[1] + 1):
        A, c = np.concatenate([G, B * met[:, :, None]], axis=1), np.concatenate([g, d * met], axis=1)
        if A.shape[1]:
            back = _inverse(A)
            first, P = -_apply(back, c), np.eye(J.shape[2]) - back @ A  # (2)
            free = J @ P
            u = first - _apply(P, _damped(free, r + _apply(J, first), mu))  # (3)
        else:
            free, u = J, -_damped(J, r, mu)  # nothing holds
        over = (d + _apply(B, u) < -ROUNDING) & ~met
        if not over.any():
            break
        met |= over
    return u, np.abs(_apply(np.swapaxes(free, 1, 2), r)).max(axis=1, initial=0.0)


def _cost(r, J, d, B):
    """|w r|², and by how much stops are overrun: as such and not squared, so that it does not pay to overrun one a little."""
    return (r**2).sum(axis=1) - STOPPED * np.minimum(d + NEARLY, 0.0).sum(axis=1)


def fitted(fitting, q, exactly=True):
    """The best configurations near those given.

    exactly   whether a problem is over where its residual does not vanish: it ends early then
    """
    q, off = fitting.restored(q)
    seen = fitting.seen(q)
    cost, nu, far = np.where(off <= EXACT, _cost(*seen), np.inf), np.full(len(q), 1.0), np.full(len(q), LONGEST)
    alive, stuck, times = np.flatnonzero(off <= EXACT), np.zeros(len(q), int), 1 if exactly else FOR_SQUARES
    for _ in range(times * STEPS):
        alive = alive[(cost[alive] > ROUNDING**2) & (stuck[alive] < times * PATIENCE)]
        if not len(alive):
            break
        part = fitting.few(alive)
        u, slope = part.step(q[alive], nu[alive], *[x[alive] for x in seen])
        size = np.abs(u).max(axis=1, initial=0.0)
        long = size > far[alive]
        trial, off = part.restored(part.problem.move(q[alive], _shortened(u, far[alive])))
        new_seen = part.seen(trial)
        new = np.where(off <= EXACT, _cost(*new_seen), np.inf)
        before = cost[alive]
        better = new < before
        for old, x in ((q, trial), (cost, new), *zip(seen, new_seen)):
            old[alive[better]] = x[better]
        nu[alive] = np.clip(nu[alive] * np.where(better, np.where(long, 1.0, 0.2), 5.0), 1e-12, 1e8)
        far[alive] *= np.where(better, np.where(long, 2.0, 1.0), np.where(long, 0.25, 1.0))
        idle = ~better | (new > before * (1 - (1e-3 if exactly else 1e-13)))
        arrived = size <= EXACT if part.stopped else True  # a step that leads to a stop may have no slope left
        flat = (slope <= FLAT * np.sqrt(before)) & arrived | (size <= ROUNDING)
        stuck[alive] = np.where(flat & (before > EXACT**2), 99, np.where(idle, stuck[alive] + 1, 0))
    return Fit(q, np.linalg.norm(seen[0], axis=1), fitting.overrun(q))


def nearest(fitting, q, start, steps=60):
    """Configurations that satisfy the targets as before and are as near to the start as the freedom that these leave allows.

    min |log(q₀⁻¹ q)|    with  r(q) = r,   g(q) = 0,   d(q) ≥ 0                                      (4)
    """
    problem, weights = fitting.problem, fitting.weights
    far = np.linalg.norm(problem.local(start, q), axis=1)
    alive, share = np.arange(len(q)), np.ones(len(q))
    for _ in range(steps):
        part, here = fitting.few(alive), q[alive]
        (r, J), (g, G) = part.wanted(here), problem.held(part.t, here, part.p)
        d, B = part.gaps(here)
        away = problem.local(start[alive], here)
        both = np.concatenate([np.zeros_like(g), np.zeros_like(r)], axis=1), np.concatenate([G, J], axis=1)
        u, slope = constrained(away, np.broadcast_to(np.eye(problem.n), (len(here), problem.n, problem.n)), *both, d, B,
                               np.full(len(here), 1e-12))  # fmt: skip
        trial = fitted(part, problem.move(here, share[alive, None] * u))
        closer = np.linalg.norm(problem.local(start[alive], trial.q), axis=1)
        good = trial.exact & (closer < far[alive])
        moving = slope > 1e-9
        q[alive[good]], far[alive[good]] = trial.q[good], closer[good]
        share[alive] = np.where(good, np.minimum(1.0, 2 * share[alive]), share[alive] / 4)
        alive = alive[moving & (share[alive] > 1e-3)]
        if not len(alive) or not weights.size:
            break
    return q


def freedom(fitting, q):
    """How many freedoms constraints and targets leave at each configuration."""
    A = _slopes(fitting, q)
    s = np.linalg.svd(A, compute_uv=False) if A.shape[1] else np.zeros((len(q), 0))
    return fitting.problem.n - (s > 1e-7 * s.max(axis=1, initial=0.0, keepdims=True)).sum(axis=1)


def freest(fitting, q):
    """The direction û in which constraints and targets change least at each configuration, of largest component 1."""
    u = np.linalg.svd(_slopes(fitting, q))[2][:, -1]
    return u / np.abs(u).max(axis=1, keepdims=True)


def _slopes(fitting, q):
    return np.concatenate([fitting.problem.held(fitting.t, q, fitting.p)[1], fitting.wanted(q)[1]], axis=1)


def _apply(matrices, columns):
    return np.einsum("nij,nj->ni", matrices, columns)


def _shortened(u, far=LONGEST):
    """Steps at most so long in each component."""
    return u / np.maximum(np.abs(u).max(axis=1, initial=0.0) / far, 1.0)[:, None]


def _inverse(A):
    """A⁺ of each."""
    if not A.shape[1]:
        return np.zeros((len(A), A.shape[2], 0))
    return np.linalg.pinv(A, rcond=DEPENDENT)


def _damped(A, b, mu):
    """z with least |A z − b|² + μ |z|², of each."""
    if not A.shape[1]:
        return np.zeros((len(A), A.shape[2]))
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    damp = s / (s**2 + mu[:, None] + (1e-14 * s.max(axis=1, initial=1e-30, keepdims=True)) ** 2)
    return np.einsum("nki,nk->ni", Vt, damp * np.einsum("nik,ni->nk", U, b))
