"""Constrained least squares for assemblies, for many configurations at once (`start/levenberg_marquardt.py`).

    min |w r(q)|²    with  g(q) = 0,   d(q) ≥ 0                                                          (1)
    μ = ν |w r|²                                                                                         (2)

The damping vanishes with the residual [sugihara2011]: convergence to exact solutions is quadratic, and the method stays stable for
targets out of reach and at singular positions.
"""

from dataclasses import dataclass

import numpy as np

from ...start.levenberg_marquardt import (
    RESIDUAL_ROUNDING,
    RESIDUAL_ZERO,
    LeastSquares,
    apply,
    constrained_step,
    limit_length,
    pseudo_inverse,
)
from ...start.levenberg_marquardt import minimise as minimise_rows
from .assembly_tolerances import FREEDOM_BELOW, STOP_OVERRUN_ALLOWED

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


class FitProblem(LeastSquares):
    """A problem with the time t, inputs p, target values y and weights of the target rows; p and y have one row per configuration.

    with_stops   whether stops, if there are any, limit the joints
    """

    def __init__(self, problem, t, p, y, weights, with_stops=True):
        self.problem, self.t, self.p, self.y, self.weights = problem, t, p, y, weights
        self.has_stops = with_stops and bool(problem.stops)

    def repeat(self, n):
        """The problem with its single row repeated n times."""
        p, y = (np.repeat(x, n, axis=0) for x in (self.p, self.y))
        return FitProblem(self.problem, self.t, p, y, self.weights, self.has_stops)

    def select(self, which):
        """The problem restricted to some of its rows."""
        return FitProblem(self.problem, self.t, self.p[which], self.y[which], self.weights, self.has_stops)

    def without_stops(self):
        """The problem without stops."""
        return FitProblem(self.problem, self.t, self.p, self.y, self.weights, False)

    def gaps(self, q):
        """d and its derivative."""
        if self.has_stops:
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
        restored, violation = self._newton_on_constraints(q, self.has_stops)
        open = np.flatnonzero(violation > RESIDUAL_ZERO)
        if self.has_stops and len(open):
            restored[open], violation[open] = self.select(open)._newton_on_constraints(q[open], False)
        return restored, violation

    def _newton_on_constraints(self, q, with_stops, steps=12):
        g, G, violation = self._closing_rows(q, with_stops)
        for _ in range(steps):
            if not (violation > RESIDUAL_ROUNDING).any():
                break
            trial = self.problem.move(q, limit_length(-apply(pseudo_inverse(G), g)))
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

    def move(self, q, u):
        return self.problem.move(q, u)

    def evaluate(self, q):
        """w r and its derivative J, d and its derivative B."""
        return *self.target_rows(q), *self.gaps(q)

    def cost(self, r, J, d, B):
        """|w r|² plus the weighted overrun of stops. The overrun is not squared, so that a small one does not pay."""
        return (r**2).sum(axis=1) - STOP_WEIGHT * np.minimum(d + STOP_OVERRUN_ALLOWED, 0.0).sum(axis=1)

    def step(self, q, nu, r, J, d, B):
        """The step with the damping (2), and the largest component of the projected gradient of ½ |w r|²."""
        g, G = self.problem.constraint_rows(self.t, q, self.p)
        mu = nu * np.maximum((r**2).sum(axis=1), 1e-30)
        return constrained_step(r, J, g, G, d, B, mu)


def minimise(fit_problem, q, exactly=True):
    """The best configurations (1) that are found from q; exactly: see `levenberg_marquardt.minimise`."""
    q, values = minimise_rows(fit_problem, q, exactly)
    return Fit(q, np.linalg.norm(values[0], axis=1), fit_problem.violation(q))


def move_towards_start(fit_problem, q, start, steps=60):
    """Move configurations as near to the start as the remaining freedom allows, with unchanged target residuals.

    min |log(q₀⁻¹ q)|    with  r(q) = r,   g(q) = 0,   d(q) ≥ 0                                      (3)
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
