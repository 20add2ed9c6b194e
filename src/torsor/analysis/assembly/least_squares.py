"""Constrained least squares by the Levenberg-Marquardt method, for many configurations at once.

    min |w r(q)|²    with  g(q) = 0,   d(q) ≥ 0                                                          (1)
    û = û_c + P z,   û_c = −A⁺ c,   P = 1 − A⁺ A          A, c: rows of g and of the active stops        (2)
    min |w (r + J û)|² + μ |z|²,     μ = ν |w r|²                                                        (3)

Every step is followed by Newton's method on g alone, so that all compared configurations satisfy the constraints. The damping
vanishes with the residual [sugihara2011]: convergence to exact solutions is quadratic, and the method stays stable for targets out
of reach and at singular positions. Rows of g may be linearly dependent, since A⁺ is computed from the singular values.
"""

from dataclasses import dataclass

import numpy as np

from .assembly_tolerances import (
    FREEDOM_BELOW,
    GRADIENT_ZERO,
    RESIDUAL_ROUNDING,
    RESIDUAL_ZERO,
    ROWS_DEPENDENT_BELOW,
    STOP_OVERRUN_ALLOWED,
)

MAX_STEPS = 120
IDLE_STEPS = 8  # consecutive steps without progress before the iteration stops
LEAST_SQUARES_FACTOR = 4  # MAX_STEPS and IDLE_STEPS are multiplied by this where the residual need not vanish
STEP_LIMIT = 1.0  # rad, or the size of the model: first limit of the step length; it grows while limited steps succeed
STOP_WEIGHT = 1e3  # weight in the cost of the overrun of a stop


@dataclass
class Fit:
    """Best configurations, one row per problem.

    q           configuration
    residual    |w r| at q
    violation   largest violation of constraints and stops at q
    """

    q: np.ndarray
    residual: np.ndarray
    violation: np.ndarray

    @property
    def exact(self):
        """True where all targets, constraints and stops are satisfied."""
        return (self.residual <= RESIDUAL_ZERO) & self.feasible

    @property
    def feasible(self):
        """True where constraints and stops are satisfied."""
        return self.violation <= RESIDUAL_ZERO


class FitProblem:
    """A problem with the time t, inputs p, target values y and weights of the target rows; p and y have one row per configuration.

    with_stops   True if stops limit the joints
    """

    def __init__(self, problem, t, p, y, weights, with_stops=True):
        self.problem, self.t, self.p, self.y, self.weights = problem, t, p, y, weights
        self.with_stops = with_stops and bool(problem.stops)

    def repeat(self, n):
        """The problem with its single row repeated n times."""
        p, y = (np.repeat(x, n, axis=0) for x in (self.p, self.y))
        return FitProblem(self.problem, self.t, p, y, self.weights, self.with_stops)

    def select(self, which):
        """The problem restricted to some of its rows."""
        return FitProblem(self.problem, self.t, self.p[which], self.y[which], self.weights, self.with_stops)

    def without_stops(self):
        """The problem without stops."""
        return FitProblem(self.problem, self.t, self.p, self.y, self.weights, False)

    def gaps(self, q):
        """d and its derivative."""
        if self.with_stops:
            return self.problem.gaps(self.t, q, self.p)
        return np.zeros((len(q), 0)), np.zeros((len(q), 0, self.problem.n))

    def target_rows(self, q):
        """w r and its derivative."""
        r, J = self.problem.target_rows(self.t, q, self.p, self.y)
        return r * self.weights, J * self.weights[:, None]

    def violation(self, q):
        """Largest violation of constraints and stops; inf where a joint is assembled the wrong way round."""
        g, _ = self.problem.constraint_rows(self.t, q, self.p)
        d, _ = self.gaps(q)
        violation = np.maximum(np.abs(g).max(axis=1, initial=0.0), -np.minimum(d, 0.0).min(axis=1, initial=0.0))
        return np.where(self.problem.is_impostor(self.t, q, self.p), np.inf, violation)

    def restore_constraints(self, q):
        """Configurations on the constraints, by Newton's method with steps of least norm, and the largest residual of g there.

        Overrun stops are treated as constraints where all of them can be satisfied together.
        """
        if not self.problem.rows:
            return q, np.zeros(len(q))
        restored, violation = self._newton_on_constraints(q, self.with_stops)
        open = np.flatnonzero(violation > RESIDUAL_ZERO)
        if self.with_stops and len(open):
            restored[open], violation[open] = self.select(open)._newton_on_constraints(q[open], False)
        return restored, violation

    def _newton_on_constraints(self, q, with_stops, steps=12):
        g, G, violation = self._closing_rows(q, with_stops)
        for _ in range(steps):
            if not (violation > RESIDUAL_ROUNDING).any():
                break
            trial = self.problem.move(q, _limit_length(-_apply(_pseudo_inverse(G), g)))
            there = self._closing_rows(trial, with_stops)
            better = there[2] < violation
            q, violation = np.where(better[:, None], trial, q), np.where(better, there[2], violation)
            g, G = np.where(better[:, None], there[0], g), np.where(better[:, None, None], there[1], G)
            if not better.any():
                break
        return q, np.abs(g).max(axis=1, initial=0.0, where=np.arange(g.shape[1]) < len(self.problem.rows))

    def _closing_rows(self, q, with_stops):
        """Rows of g and of the overrun stops, their derivative, and the largest residual."""
        g, G = self.problem.constraint_rows(self.t, q, self.p)
        if with_stops:
            d, B = self.gaps(q)
            g, G = np.concatenate([g, np.minimum(d, 0.0)], axis=1), np.concatenate([G, B * (d < 0)[:, :, None]], axis=1)
        return g, G, np.abs(g).max(axis=1, initial=0.0)

    def targets_and_gaps(self, q):
        """w r and its derivative J, d and its derivative B."""
        return *self.target_rows(q), *self.gaps(q)

    def step(self, q, nu, r, J, d, B):
        """û of (2) and (3), and the largest component of the projected gradient of ½ |w r|²."""
        g, G = self.problem.constraint_rows(self.t, q, self.p)
        mu = nu * np.maximum((r**2).sum(axis=1), 1e-30)
        return constrained_step(r, J, g, G, d, B, mu)


def constrained_step(r, J, g, G, d, B, mu):
    """The step û of (2) and (3), and the largest component of the projected gradient.

    Active set: stops that the step would overrun become rows of A, until no further one is overrun.
    """
    active = np.zeros(d.shape, bool)
    for _ in range(d.shape[1] + 1):
        A, c = np.concatenate([G, B * active[:, :, None]], axis=1), np.concatenate([g, d * active], axis=1)
        if A.shape[1]:
            back = _pseudo_inverse(A)
            first, P = -_apply(back, c), np.eye(J.shape[2]) - back @ A  # (2)
            free = J @ P
            u = first - _apply(P, _damped_solution(free, r + _apply(J, first), mu))  # (3)
        else:
            free, u = J, -_damped_solution(J, r, mu)  # no constraints
        over = (d + _apply(B, u) < -RESIDUAL_ROUNDING) & ~active
        if not over.any():
            break
        active |= over
    return u, np.abs(_apply(np.swapaxes(free, 1, 2), r)).max(axis=1, initial=0.0)


def _cost(r, J, d, B):
    """|w r|² plus the weighted overrun of stops. The overrun is not squared, so that a small one does not pay."""
    return (r**2).sum(axis=1) - STOP_WEIGHT * np.minimum(d + STOP_OVERRUN_ALLOWED, 0.0).sum(axis=1)


def minimise(fit_problem, q, exactly=True):
    """Solve (1) from the configurations q.

    exactly   True if only a vanishing residual is of interest: the iteration stops early where it does not vanish
    """
    q, violation = fit_problem.restore_constraints(q)
    targets_and_gaps = fit_problem.targets_and_gaps(q)
    cost = np.where(violation <= RESIDUAL_ZERO, _cost(*targets_and_gaps), np.inf)
    nu = np.full(len(q), 1.0)
    limit = np.full(len(q), STEP_LIMIT)
    alive = np.flatnonzero(violation <= RESIDUAL_ZERO)
    stuck = np.zeros(len(q), int)
    factor = 1 if exactly else LEAST_SQUARES_FACTOR
    for _ in range(factor * MAX_STEPS):
        alive = alive[(cost[alive] > RESIDUAL_ROUNDING**2) & (stuck[alive] < factor * IDLE_STEPS)]
        if not len(alive):
            break
        part = fit_problem.select(alive)
        u, slope = part.step(q[alive], nu[alive], *[x[alive] for x in targets_and_gaps])
        size = np.abs(u).max(axis=1, initial=0.0)
        long = size > limit[alive]
        trial, violation = part.restore_constraints(part.problem.move(q[alive], _limit_length(u, limit[alive])))
        new_rows = part.targets_and_gaps(trial)
        new = np.where(violation <= RESIDUAL_ZERO, _cost(*new_rows), np.inf)
        before = cost[alive]
        better = new < before
        for old, x in ((q, trial), (cost, new), *zip(targets_and_gaps, new_rows)):
            old[alive[better]] = x[better]
        nu[alive] = np.clip(nu[alive] * np.where(better, np.where(long, 1.0, 0.2), 5.0), 1e-12, 1e8)
        limit[alive] *= np.where(better, np.where(long, 2.0, 1.0), np.where(long, 0.25, 1.0))
        idle = ~better | (new > before * (1 - (1e-3 if exactly else 1e-13)))
        arrived = size <= RESIDUAL_ZERO if part.with_stops else True  # a step onto a stop may leave no gradient
        flat = (slope <= GRADIENT_ZERO * np.sqrt(before)) & arrived | (size <= RESIDUAL_ROUNDING)
        stuck[alive] = np.where(flat & (before > RESIDUAL_ZERO**2), 99, np.where(idle, stuck[alive] + 1, 0))
    return Fit(q, np.linalg.norm(targets_and_gaps[0], axis=1), fit_problem.violation(q))


def move_towards_start(fit_problem, q, start, steps=60):
    """Move configurations as near to the start as the remaining freedom allows, with unchanged target residuals.

    min |log(q₀⁻¹ q)|    with  r(q) = r,   g(q) = 0,   d(q) ≥ 0                                      (4)
    """
    problem, weights = fit_problem.problem, fit_problem.weights
    limit = np.linalg.norm(problem.local(start, q), axis=1)
    alive, share = np.arange(len(q)), np.ones(len(q))
    for _ in range(steps):
        part, here = fit_problem.select(alive), q[alive]
        (r, J), (g, G) = part.target_rows(here), problem.constraint_rows(part.t, here, part.p)
        d, B = part.gaps(here)
        away = problem.local(start[alive], here)
        both = np.concatenate([np.zeros_like(g), np.zeros_like(r)], axis=1), np.concatenate([G, J], axis=1)
        u, slope = constrained_step(away, np.broadcast_to(np.eye(problem.n), (len(here), problem.n, problem.n)), *both, d, B,
                               np.full(len(here), 1e-12))  # fmt: skip
        trial = minimise(part, problem.move(here, share[alive, None] * u))
        closer = np.linalg.norm(problem.local(start[alive], trial.q), axis=1)
        good = trial.exact & (closer < limit[alive])
        moving = slope > 1e-9
        q[alive[good]], limit[alive[good]] = trial.q[good], closer[good]
        share[alive] = np.where(good, np.minimum(1.0, 2 * share[alive]), share[alive] / 4)
        alive = alive[moving & (share[alive] > 1e-3)]
        if not len(alive) or not weights.size:
            break
    return q


def freedom(fit_problem, q):
    """Degrees of freedom that constraints and targets leave at each configuration."""
    A = _jacobians(fit_problem, q)
    s = np.linalg.svd(A, compute_uv=False) if A.shape[1] else np.zeros((len(q), 0))
    return fit_problem.problem.n - (s > FREEDOM_BELOW * s.max(axis=1, initial=0.0, keepdims=True)).sum(axis=1)


def freest_direction(fit_problem, q):
    """The direction û along which constraints and targets change least, scaled to a largest component of 1."""
    u = np.linalg.svd(_jacobians(fit_problem, q))[2][:, -1]
    return u / np.abs(u).max(axis=1, keepdims=True)


def _jacobians(fit_problem, q):
    return np.concatenate(
        [fit_problem.problem.constraint_rows(fit_problem.t, q, fit_problem.p)[1], fit_problem.target_rows(q)[1]], axis=1
    )


def _apply(matrices, columns):
    return np.einsum("nij,nj->ni", matrices, columns)


def _limit_length(u, limit=STEP_LIMIT):
    """Steps u, scaled so that no component exceeds the limit."""
    return u / np.maximum(np.abs(u).max(axis=1, initial=0.0) / limit, 1.0)[:, None]


def _pseudo_inverse(A):
    """Pseudo-inverse A⁺ of each matrix."""
    if not A.shape[1]:
        return np.zeros((len(A), A.shape[2], 0))
    return np.linalg.pinv(A, rcond=ROWS_DEPENDENT_BELOW)


def _damped_solution(A, b, mu):
    """z that minimises |A z − b|² + μ |z|², for each matrix."""
    if not A.shape[1]:
        return np.zeros((len(A), A.shape[2]))
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    damp = s / (s**2 + mu[:, None] + (1e-14 * s.max(axis=1, initial=1e-30, keepdims=True)) ** 2)
    return np.einsum("nki,nk->ni", Vt, damp * np.einsum("nik,ni->nk", U, b))
