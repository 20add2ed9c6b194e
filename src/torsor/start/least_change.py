"""Velocities that satisfy the constraints, keep given values, and otherwise have the least kinetic energy of the change.

Each level chooses among the velocities that the levels before it leave free:

    0   the constraints                    G v = −g_t
    1   given velocities of bodies and rates of joints: exactly, else the velocities with the least T(v − w) of all w that have
        the given values
    2   rates that are left open: the least T(v − v₀), where v₀ has all joints at rest whose rates are left open
    3   the least T(v)

    T(u) = ½ uᵀ M u                        kinetic energy of a change                                  (1)
    min T(v − w) with A w = b   =   ½ (A v − b)ᵀ (A M⁻¹ Aᵀ)⁻¹ (A v − b)                                  (2)

T and the sets of velocities do not depend on axes, on the order of elements or on how often a constraint is declared, nor does v.
A joint rate is r = J v + r₀, where r₀ is the rate caused by a moving ground. v₀ of level 2 moves bodies that open joints connect
as one body, and has the given rates where that is possible; else its kinetic distance to motions that have them is the least.
Rates that levels 0 and 1 determine are not open.
"""

from typing import NamedTuple

import numpy as np

from ..formulations.graphs.start_functions import joints_with_coordinates
from .constraints import WELL_CONDITIONED_SINE, limit_row_lengths, solve_with_null_space
from .start_tolerances import BASIS_ENTRY_ZERO, DETERMINED_BELOW, GIVEN_RESIDUAL


class Rates(NamedTuple):
    """Rates of all joints that have coordinates, r = J v + r₀, one row per coordinate.

    joints      name of the joint of each row
    acts        True if the joint is active
    left_open   True if the rate is not given and the joint is active
    reference   value of an open rate if nothing determines it
    """

    J: np.ndarray
    r0: np.ndarray
    joints: np.ndarray
    acts: np.ndarray
    left_open: np.ndarray
    reference: np.ndarray


class LevelSolution(NamedTuple):
    """The result of `solve_levels`.

    v           velocities
    residuals   of the constraints, dimensionless; then of each level of given values, in their units
    chosen      True for rates of joints that levels 2 and 3 determine
    free        a basis of the changes of velocities that levels 0 and 1 leave free, per row of v
    """

    v: np.ndarray
    residuals: list
    chosen: np.ndarray
    free: np.ndarray


def open_rates(formulation, t, q, p):
    """Rates of joints. Rates that the user does not give are open, with the reference value zero."""
    joints = joints_with_coordinates(formulation.model)
    J, r = formulation.start_functions["rates"](t, q, np.zeros(len(formulation.linear())), p)
    acts = np.array([id(j) not in formulation.released for j in joints for _ in range(j.dof)], bool)
    given = np.array([j.start_rate is not None for j in joints for _ in range(j.dof)], bool)
    names = np.array([j.name for j in joints for _ in range(j.dof)], object)
    return Rates(J, r.ravel(), names, acts, acts & ~given, np.zeros(len(J)))


def solve_levels(examiner, t, q, p, given, rates):
    """Compute velocities level by level.

    given   pairs of rows and values, E v = e, in the order of their priority
    rates   of joints
    """
    columns = examiner.columns
    A, g_t, _ = constraint_rows(examiner, t, q, p)
    x, N = solutions(A, -g_t)
    residuals = [-g_t - A @ x]
    metric = KineticMetric(examiner, q, p)
    scaled = [scale_to_unit_rows(E, e, columns) for E, e in given]
    for rows, values in scaled:
        x, N = metric.nearest(x, N, rows, values)
    residuals += [e - E @ (x * columns) for E, e in given]
    free = N
    chosen = np.zeros(len(rates.J), bool)
    if N.shape[1]:
        J, values = scale_to_unit_rows(rates.J, rates.reference - rates.r0, columns)
        chosen = rates.left_open & (np.linalg.norm(J @ N, axis=1) > DETERMINED_BELOW)
        if chosen.any():
            owner = [row.constraint.name for row in examiner.rows]
            rigid = np.isin(owner, [*set(rates.joints[chosen])])
            of_joints = np.array([row.constraint.has_coordinates for row in examiner.rows], bool)
            z, Z = solutions(np.vstack([A[rigid], J[chosen]]), np.concatenate([-g_t[rigid], values[chosen]]))
            fixed = np.vstack([A[of_joints & ~rigid], J[rates.acts & ~chosen], *[rows for rows, _ in scaled]])
            z, Z = metric.nearest(z, Z, fixed, fixed @ x)
            complement = _orthogonal_complement(Z)
            x, N = metric.nearest(x, N, complement, complement @ z)
        x, N = metric.nearest(x, N, np.eye(len(x)), np.zeros(len(x)))
    return LevelSolution(x * columns, residuals, chosen, free)


class KineticMetric:
    """Kinetic distance of dimensionless velocities to equations A w = b: (2)."""

    def __init__(self, examiner, q, p):
        self._examiner = examiner
        self._configuration = (q, p)
        self._inverse = None

    def nearest(self, x, N, A, b):
        """Of all x + N s those with the least kinetic distance to A w = b: one of them, and a basis of their differences."""
        if not (len(A) and N.shape[1]):
            return x, N
        A, b = _orthonormal_rows(A, b)
        inside = A @ N
        rest = b - A @ x
        U, s, Vt = np.linalg.svd(inside, full_matrices=True)
        rank = int((s > DETERMINED_BELOW).sum())
        row_space, null_space = Vt[:rank].T, Vt[rank:].T
        step = row_space @ ((U[:, :rank].T @ rest) / s[:rank])
        if np.abs(rest - inside @ step).max() > GIVEN_RESIDUAL * max(np.abs(rest).max(), np.abs(x).max(initial=0.0)):
            step = row_space @ self._solve_weighted(A, inside @ row_space, rest)
        return x + N @ step, _without_noise(N @ null_space)

    def _solve_weighted(self, A, inside, rest):
        """s with the least kinetic distance of `inside` s to `rest`, values of the orthonormal rows A: (2)."""
        W = A @ self.inverse() @ A.T
        size = 1 / np.sqrt(np.diag(W))
        L = np.linalg.cholesky(W * size[:, None] * size)
        weighted = np.linalg.solve(L, size[:, None] * np.column_stack([inside, rest]))
        Q, R = np.linalg.qr(weighted[:, :-1])
        return np.linalg.solve(R, Q.T @ weighted[:, -1])

    def inverse(self):
        """M⁻¹ for dimensionless velocities, divided by its largest entry."""
        if self._inverse is None:
            C = self._examiner.columns
            inverse = self._examiner.Minv(*self._configuration) / C[:, None] / C
            self._inverse = inverse / np.abs(inverse).max(initial=0.0)
        return self._inverse


def constraint_rows(examiner, t, q, p):
    """Constraint rows of at most length 1 for dimensionless velocities, g_t of these rows, and the units of the rows."""
    units = examiner.units(t, q, p)
    g_t = examiner.psi(t, q, np.zeros(len(examiner.columns)), p) / units
    return *limit_row_lengths(examiner.matrix(t, q, p), g_t), units


def row_lengths(A, columns):
    """Lengths of rows for dimensionless velocities; 1 for rows that vanish."""
    size = np.linalg.norm(A * columns, axis=1)
    return np.where(size > 0, size, 1.0)


def scale_to_unit_rows(A, b, columns):
    """Rows of length 1 for dimensionless velocities, and their right-hand sides."""
    size = row_lengths(A, columns)
    return A * columns / size[:, None], b / size


def _orthonormal_rows(A, b):
    """Orthonormal rows equivalent to A x = b, in the sense of least squares if these rows contradict each other."""
    if len(A) <= A.shape[1]:
        Q, R = np.linalg.qr(A.T)
        if np.abs(np.diag(R)).min() > WELL_CONDITIONED_SINE:
            return Q.T, np.linalg.solve(R.T, b)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    rank = int((s > DETERMINED_BELOW).sum())
    return Vt[:rank], (U[:, :rank].T @ b) / s[:rank]


def solutions(A, b):
    """The minimum-norm least-squares solution of A x = b, and a basis of the differences of all such x."""
    n = A.shape[1]
    if not len(A):
        return np.zeros(n), np.eye(n)
    x, N = solve_with_null_space(A, b, DETERMINED_BELOW)
    return x, _without_noise(N)


def _without_noise(N):
    """A basis without rounding noise, which would let a light body push heavy ones."""
    return np.where(np.abs(N) > BASIS_ENTRY_ZERO, N, 0.0)


def _orthogonal_complement(N):
    """Orthonormal rows that are orthogonal to the orthonormal columns of N."""
    n, size = N.shape
    return np.linalg.qr(N, mode="complete")[0][:, size:].T if size else np.eye(n)
