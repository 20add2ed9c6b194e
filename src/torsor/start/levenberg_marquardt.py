"""The Levenberg-Marquardt method under constraints, for many problems at once, one row each.

    min |r(q)|²    with  g(q) = 0,   d(q) ≥ 0                                                            (1)
    û = û_c + P z,   û_c = −A⁺ c,   P = 1 − A⁺ A          A, c: rows of g and of the active d             (2)
    min |r + J û|² + μ |z|²                                                                              (3)

Every step is followed by Newton's method on g alone, so that all compared configurations satisfy the constraints. Rows of g may be
linearly dependent, since A⁺ is computed from the singular values. See [marquardt1963].
"""

from abc import ABC, abstractmethod

import numpy as np

MAX_STEPS = 120
IDLE_STEPS = 8  # consecutive steps without progress before the iteration stops
LEAST_SQUARES_FACTOR = 4  # MAX_STEPS and IDLE_STEPS are multiplied by this where the residual need not vanish
STEP_LIMIT = 1.0  # rad, or the size of the model: first limit of the step length; it grows while limited steps succeed
RESIDUAL_ROUNDING = 1e-13  # residual in its unit: an iteration stops here
RESIDUAL_ZERO = (
    1e-9  # residual in its unit that counts as zero where an ill-conditioned position stops the iteration earlier
)
ROWS_DEPENDENT_BELOW = 1e-9  # singular value / largest singular value of the rows of g
GRADIENT_ZERO = 1e-11  # gradient / residual at a least-squares solution
RANK_ROUNDING = 1e-14  # singular value / largest singular value of J that is rounding


class LeastSquares(ABC):
    """Problems (1). Configurations and all that is computed from them have one row per problem."""

    has_stops = False  # True if d is not empty: a step onto a stop may leave no gradient
    longest_step = np.inf  # limit of the step length, beyond which a step might lead to another assembly

    @abstractmethod
    def select(self, which):
        """The problems with these indices."""

    @abstractmethod
    def move(self, q, u):
        """Configurations after displacements u."""

    @abstractmethod
    def restore_constraints(self, q):
        """Configurations near q that satisfy g = 0, and the largest residual of g there."""

    @abstractmethod
    def evaluate(self, q):
        """What cost and steps are computed from: arrays with one row per problem."""

    @abstractmethod
    def cost(self, *values):
        """|r|², and the overrun of stops if there are any."""

    @abstractmethod
    def step(self, q, nu, *values):
        """The displacement û of (2) and (3), and the largest component of the projected gradient of ½ |r|².

        nu   μ in relation to its first value
        """


def minimise(problem, q, exactly=True):
    """Solve (1) from the configurations q. Returns the best configurations and `evaluate` there.

    exactly   True if only a vanishing residual is of interest: the iteration stops early where it does not vanish
    """
    q, violation = problem.restore_constraints(q)
    q = q.copy()  # it may be the caller's own array
    values = problem.evaluate(q)
    cost = np.where(violation <= RESIDUAL_ZERO, problem.cost(*values), np.inf)
    nu = np.full(len(q), 1.0)
    limit = np.full(len(q), min(STEP_LIMIT, problem.longest_step))
    alive = np.flatnonzero(violation <= RESIDUAL_ZERO)
    stuck = np.zeros(len(q), int)
    factor = 1 if exactly else LEAST_SQUARES_FACTOR
    for _ in range(factor * MAX_STEPS):
        alive = alive[(cost[alive] > RESIDUAL_ROUNDING**2) & (stuck[alive] < factor * IDLE_STEPS)]
        if not len(alive):
            break
        part = problem.select(alive)
        u, slope = part.step(q[alive], nu[alive], *[x[alive] for x in values])
        size = np.abs(u).max(axis=1, initial=0.0)
        long = size > limit[alive]
        trial, violation = part.restore_constraints(part.move(q[alive], limit_length(u, limit[alive])))
        new_values = part.evaluate(trial)
        new = np.where(violation <= RESIDUAL_ZERO, part.cost(*new_values), np.inf)
        before = cost[alive]
        better = new < before
        for old, x in ((q, trial), (cost, new), *zip(values, new_values)):
            old[alive[better]] = x[better]
        nu[alive] = np.clip(nu[alive] * np.where(better, np.where(long, 1.0, 0.2), 5.0), 1e-12, 1e8)
        limit[alive] *= np.where(better, np.where(long, 2.0, 1.0), np.where(long, 0.25, 1.0))
        limit = np.minimum(limit, problem.longest_step)
        idle = ~better | (new > before * (1 - (1e-3 if exactly else 1e-13)))
        arrived = size <= RESIDUAL_ZERO if part.has_stops else True
        flat = (slope <= GRADIENT_ZERO * np.sqrt(before)) & arrived | (size <= RESIDUAL_ROUNDING)
        stuck[alive] = np.where(flat & (before > RESIDUAL_ZERO**2), 99, np.where(idle, stuck[alive] + 1, 0))
    return q, values


def constrained_step(r, J, g, G, d, B, mu):
    """The step û of (2) and (3), and the largest component of the projected gradient.

    Active set: stops that the step would overrun become rows of A, until no further one is overrun.
    """
    active = np.zeros(d.shape, bool)
    for _ in range(d.shape[1] + 1):
        A, c = np.concatenate([G, B * active[:, :, None]], axis=1), np.concatenate([g, d * active], axis=1)
        if A.shape[1]:
            back = pseudo_inverse(A)
            first, P = -apply(back, c), np.eye(J.shape[2]) - back @ A  # (2)
            free = J @ P
            u = first - apply(P, damped_solution(free, r + apply(J, first), mu))  # (3)
        else:
            free, u = J, -damped_solution(J, r, mu)  # no constraints
        over = (d + apply(B, u) < -RESIDUAL_ROUNDING) & ~active
        if not over.any():
            break
        active |= over
    return u, np.abs(apply(np.swapaxes(free, 1, 2), r)).max(axis=1, initial=0.0)


def apply(matrices, columns):
    """Each matrix times its column."""
    return np.einsum("nij,nj->ni", matrices, columns)


def limit_length(u, limit=STEP_LIMIT):
    """Steps u, scaled so that no component exceeds the limit."""
    return u / np.maximum(np.abs(u).max(axis=1, initial=0.0) / limit, 1.0)[:, None]


def pseudo_inverse(A):
    """Pseudo-inverse A⁺ of each matrix."""
    if not A.shape[1]:
        return np.zeros((len(A), A.shape[2], 0))
    return np.linalg.pinv(A, rcond=ROWS_DEPENDENT_BELOW)


def damped_solution(A, b, mu):
    """z that minimises |A z − b|² + μ |z|², for each matrix."""
    if not A.shape[1]:
        return np.zeros((len(A), A.shape[2]))
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    damp = s / (s**2 + mu[:, None] + (RANK_ROUNDING * s.max(axis=1, initial=1e-30, keepdims=True)) ** 2)
    return np.einsum("nki,nk->ni", Vt, damp * np.einsum("nik,ni->nk", U, b))
