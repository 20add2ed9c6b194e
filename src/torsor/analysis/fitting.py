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
        """How far the worst of constraints and stops is from being satisfied."""
        g, _ = self.problem.held(self.t, q, self.p)
        d, _ = self.gaps(q)
        return np.maximum(np.abs(g).max(axis=1, initial=0.0), -np.minimum(d, 0.0).min(axis=1, initial=0.0))

    def restored(self, q, steps=12):
        """Newton's method on the constraints alone, each step the least; and how far they are from being satisfied then."""
        if not self.problem.rows:
            return q, np.zeros(len(q))
        g, G = self.problem.held(self.t, q, self.p)
        off = np.abs(g).max(axis=1)
        for _ in range(steps):
            if not (off > ROUNDING).any():
                break
            u = -_apply(_inverse(G), g)
            trial = self.problem.move(q, _shortened(u))
            g_new, G_new = self.problem.held(self.t, trial, self.p)
            new = np.abs(g_new).max(axis=1)
            better = new < off
            q, off = np.where(better[:, None], trial, q), np.where(better, new, off)
            g, G = np.where(better[:, None], g_new, g), np.where(better[:, None, None], G_new, G)
            if not better.any():
                break
        return q, off

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
    """|w r|², stops that are overrun included."""
    return (r**2).sum(axis=1) + STOPPED**2 * (np.minimum(d, 0.0) ** 2).sum(axis=1)


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
        there = part.seen(trial)
        new = np.where(off <= EXACT, _cost(*there), np.inf)
        before = cost[alive]
        better = new < before
        for old, x in ((q, trial), (cost, new), *zip(seen, there)):
            old[alive[better]] = x[better]
        nu[alive] = np.clip(nu[alive] * np.where(better, np.where(long, 1.0, 0.2), 5.0), 1e-12, 1e8)
        far[alive] *= np.where(better, np.where(long, 2.0, 1.0), np.where(long, 0.25, 1.0))
        idle = ~better | (new > before * (1 - (1e-3 if exactly else 1e-13)))
        flat = (slope <= FLAT * np.sqrt(before)) | (size <= ROUNDING)
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
    A = np.concatenate([fitting.problem.held(fitting.t, q, fitting.p)[1], fitting.wanted(q)[1]], axis=1)
    s = np.linalg.svd(A, compute_uv=False) if A.shape[1] else np.zeros((len(q), 0))
    return fitting.problem.n - (s > 1e-7 * s.max(axis=1, initial=0.0, keepdims=True)).sum(axis=1)


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
