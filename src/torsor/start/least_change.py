"""Velocities that satisfy the constraints, keep what is given, and otherwise have the least kinetic energy of the change.

Each level chooses among the velocities that the levels before it leave free:

    0   the constraints                    G v = −g_t
    1   given velocities of bodies and rates of joints: exactly, else the velocities with the least T(v − w) of all w that have
        the given values
    2   rates that are left open: the least T(v − v₀), where v₀ has all joints at rest whose rates are left open
    3   the least T(v)

    T(u) = ½ uᵀ M u                        kinetic energy of a change                                  (1)
    min T(v − w) with A w = b   =   ½ (A v − b)ᵀ (A M⁻¹ Aᵀ)⁻¹ (A v − b)                                  (2)

T and the sets of velocities do not depend on axes, on the order of elements or on how often a constraint is declared, nor does v.
A joint rate is r = J v + r₀, with r₀ of a ground that moves by itself. v₀ of level 2 moves bodies that open joints connect as one
body, and has the given rates where that is possible; else its kinetic distance to motions that have them is the least. Rates that
levels 0 and 1 determine are not open.
"""

from typing import NamedTuple

import numpy as np

from ..formulations.initial import moving
from ..joints import Joint
from .examiner import WELL, shortened, solved

FREE = 1e-6  # a row of length 1 on velocities that are free to choose, below which it is given by the levels before it
NOISE = 1e-13  # entries of orthonormal vectors that are rounding
MET = 1e-12  # residual of rows of length 1 over the largest velocity, below which masses have no say
CHANGED = 1e-9  # change of a velocity over the largest one, above which it is reported


class Rates(NamedTuple):
    """Rates of all joints that have coordinates, r = J v + r₀, one row per coordinate.

    joints      names of the joints, per row
    acts        whether they hold
    left_open   rates that nobody gave, of joints that hold
    reference   what these are where nothing asks for something else
    """

    J: np.ndarray
    r0: np.ndarray
    joints: np.ndarray
    acts: np.ndarray
    left_open: np.ndarray
    reference: np.ndarray


class Found(NamedTuple):
    """Velocities by levels, and how they were found.

    v           velocities
    residuals   of the constraints, without units; then of each level of given values, in their units
    chosen      rates of joints that follow from levels 2 and 3
    free        a basis of the changes of velocities that levels 0 and 1 leave, per row of v
    """

    v: np.ndarray
    residuals: list
    chosen: np.ndarray
    free: np.ndarray


def open_rates(formulation, t, q, p):
    """Rates of joints: those that nobody gave are left open, and are zero where nothing asks for something else."""
    joints = moving(formulation.model)
    J, r = formulation.examined["rates"](t, q, np.zeros(len(formulation.linear())), p)
    acts = np.array([id(j) not in formulation.released for j in joints for _ in range(j.dof)], bool)
    given = np.array([j.start_rate is not None for j in joints for _ in range(j.dof)], bool)
    names = np.array([j.name for j in joints for _ in range(j.dof)], object)
    return Rates(J, r.ravel(), names, acts, acts & ~given, np.zeros(len(J)))


def by_levels(examiner, t, q, p, given, rates):
    """Velocities that satisfy the constraints, and all others by levels.

    given   pairs of rows and values, E v = e, in the order in which they are to be kept
    rates   of joints
    """
    columns = examiner.columns
    A, g_t, _ = constraint_rows(examiner, t, q, p)
    x, N = solutions(A, -g_t)
    residuals, spread = [-g_t - A @ x], Spread(examiner, q, p)
    every = [of_length_one(E, e, columns) for E, e in given]
    for rows, values in every:
        x, N = spread.nearest(x, N, rows, values)
    residuals += [e - E @ (x * columns) for E, e in given]
    free, chosen = N, np.zeros(len(rates.J), bool)
    if N.shape[1]:
        J, values = of_length_one(rates.J, rates.reference - rates.r0, columns)
        chosen = rates.left_open & (np.linalg.norm(J @ N, axis=1) > FREE)
        if chosen.any():
            owner = [row.constraint.name for row in examiner.rows]
            rigid = np.isin(owner, [*set(rates.joints[chosen])])
            joined = np.array([isinstance(row.constraint, Joint) for row in examiner.rows], bool)
            z, Z = solutions(np.vstack([A[rigid], J[chosen]]), np.concatenate([-g_t[rigid], values[chosen]]))
            known = np.vstack([A[joined & ~rigid], J[rates.acts & ~chosen], *[rows for rows, _ in every]])
            z, Z = spread.nearest(z, Z, known, known @ x)
            across = _complement(Z)
            x, N = spread.nearest(x, N, across, across @ z)
        x, N = spread.nearest(x, N, np.eye(len(x)), np.zeros(len(x)))
    return Found(x * columns, residuals, chosen, free)


class Spread:
    """Kinetic distance of velocities to what rows say about them: (2), in dimensionless velocities."""

    def __init__(self, examiner, q, p):
        self._examiner, self._at, self._inverse = examiner, (q, p), None

    def nearest(self, x, N, A, b):
        """Of all x + N s those that have the least kinetic distance to A w = b: one of them, and a basis of their differences."""
        if not (len(A) and N.shape[1]):
            return x, N
        A, b = _independent(A, b)
        inside, rest = A @ N, b - A @ x
        U, s, Vt = np.linalg.svd(inside, full_matrices=True)
        rank = int((s > FREE).sum())
        seen, unseen = Vt[:rank].T, Vt[rank:].T
        step = seen @ ((U[:, :rank].T @ rest) / s[:rank])
        if np.abs(rest - inside @ step).max() > MET * max(np.abs(rest).max(), np.abs(x).max(initial=0.0)):
            step = seen @ self._least(A, inside @ seen, rest)
        return x + N @ step, _cleaned(N @ unseen)

    def _least(self, A, inside, rest):
        """s with the least kinetic distance of `inside` s to `rest`, values of the orthonormal rows A: (2)."""
        W = A @ self.inverse() @ A.T
        size = 1 / np.sqrt(np.diag(W))
        L = np.linalg.cholesky(W * size[:, None] * size)
        weighted = np.linalg.solve(L, size[:, None] * np.column_stack([inside, rest]))
        Q, R = np.linalg.qr(weighted[:, :-1])
        return np.linalg.solve(R, Q.T @ weighted[:, -1])

    def inverse(self):
        """M⁻¹ of dimensionless velocities."""
        if self._inverse is None:
            C = self._examiner.columns
            found = self._examiner.Minv(*self._at) / C[:, None] / C
            self._inverse = found / np.abs(found).max(initial=0.0)
        return self._inverse


def constraint_rows(examiner, t, q, p):
    """Rows of the constraints of at most length 1 on dimensionless velocities, −G v beside them, and units of the rows."""
    units = examiner.units(t, q, p)
    g_t = examiner.psi(t, q, np.zeros(len(examiner.columns)), p) / units
    return *shortened(examiner.matrix(t, q, p), g_t), units


def lengths(A, columns):
    """Lengths of rows on dimensionless velocities, 1 for those that vanish."""
    size = np.linalg.norm(A * columns, axis=1)
    return np.where(size > 0, size, 1.0)


def of_length_one(A, b, columns):
    """Rows of length 1 on dimensionless velocities, and values beside them."""
    size = lengths(A, columns)
    return A * columns / size[:, None], b / size


def _independent(A, b):
    """Orthonormal rows that say the same as A x = b, in the sense of least squares where these rows contradict each other."""
    if len(A) <= A.shape[1]:
        Q, R = np.linalg.qr(A.T)
        if np.abs(np.diag(R)).min() > WELL:
            return Q.T, np.linalg.solve(R.T, b)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    rank = int((s > FREE).sum())
    return Vt[:rank], (U[:, :rank].T @ b) / s[:rank]


def solutions(A, b):
    """The least x that fits A x = b best, and a basis of the differences of all such x."""
    n = A.shape[1]
    if not len(A):
        return np.zeros(n), np.eye(n)
    x, N = solved(A, b, FREE)
    return x, _cleaned(N)


def _cleaned(N):
    """A basis without rounding: what a light body does must not push heavy ones."""
    return np.where(np.abs(N) > NOISE, N, 0.0)


def _complement(N):
    """Orthonormal rows that vanish on the orthonormal columns of N."""
    n, size = N.shape
    return np.linalg.qr(N, mode="complete")[0][:, size:].T if size else np.eye(n)
