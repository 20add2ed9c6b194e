"""Symbolic factorisations of a mass matrix M and of the Schur complement S of a constrained system.

    M = Lᵀ D L,    S = G M⁻¹ Gᵀ = Pᵀ R E Rᵀ P                                                          (1)

If a pivot of S is negligible relative to the diagonal, its reciprocal is replaced by zero, and so is its multiplier.
"""

import casadi as ca
import numpy as np

from ...registry import lookup
from .balanced_sums import largest, smallest

OWN_METRIC = "own"  # mark of a metric that a projection defines
PIVOT_RATIO_SINGULAR = 1e-13  # pivot / diagonal of S, below which a row is dependent; the rounding of S is about 1e-16


class Factor:
    """G and the factors of M and of S as one vector, and solvers that are made from such a vector.

    units      units of the rows of G, in which their pivots are compared
    activity   F: 1 for each active row, 0 for others, which are zero in G; None if all are active. S becomes S + I − F   (2)
    softness   relative compliance of the rows, as in `add_inactive`
    """

    def __init__(self, G, M, units, activity=None, softness=None):
        n = M.shape[0]
        self.order = list(range(n))[::-1]  # tips before roots: no fill
        self.G, self.n = G, n
        self.D, self.LT, _ = ca.ldl(M[self.order, self.order], False)
        Y = ca.sparsify(ca.solve((self.LT + ca.SX.eye(n)).T, ca.sparsify(G[:, self.order].T)))
        S = add_inactive(ca.sparsify(Y.T @ (Y * ca.repmat(1 / self.D, 1, Y.shape[1]))), activity, softness)  # (2)
        self.softness = softness
        self.E, self.RT, self.row_order = sparse_ldl(S)
        self.squares = ca.DM((np.array(units, float) ** 2)[self.row_order])
        self.diagonal = ca.densify(ca.diag(S))[self.row_order] / self.squares
        self.all_activity = activity
        self.activity = None if activity is None else activity[self.row_order]

    def vector(self):
        """All nonzeros, and last the smallest pivot over the largest diagonal entry.

        Pivots are compared with the largest diagonal entry, because in joint coordinates a whole row may vanish at a singular
        position.
        """
        most = largest(self.diagonal if self.activity is None else self.activity * self.diagonal)
        pivots = ca.densify(self.E) / self.squares
        ratio = smallest(pivots) / most
        if self.softness is not None:
            ratio = smallest(pivots / self.diagonal)
        elif self.activity is not None:
            active_or_largest = self.activity * pivots + (1 - self.activity) * most
            ratio = ca.if_else(most > 0, smallest(active_or_largest) / most, 1)
        reciprocals = ca.if_else(pivots > PIVOT_RATIO_SINGULAR * most, 1 / self.E, 0)
        pieces = (column(self.G), column(self.LT), 1 / self.D, column(self.RT), reciprocals)
        return ca.densify(ca.vertcat(*[ca.densify(x) for x in pieces], ratio))

    def read(self, F):
        """G, a function b → S⁻¹ b and a function b → M⁻¹ b, from a factor vector."""
        start = 0
        pieces = []
        for size in (self.G.nnz(), self.LT.nnz(), self.n, self.RT.nnz(), self.G.shape[0]):
            pieces.append(F[start : start + size])
            start += size
        mass = ca.SX(self.LT.sparsity(), pieces[1]) + ca.SX.eye(self.n)
        schur = ca.SX(self.RT.sparsity(), pieces[3]) + ca.SX.eye(self.G.shape[0])
        G, over_mass = ca.SX(self.G.sparsity(), pieces[0]), ldl_solver(mass, pieces[2], self.order)
        solve = ldl_solver(schur, pieces[4], self.row_order)
        if self.softness is None:
            return G, solve, over_mass
        inactive = 1 - self.all_activity

        def product(lam):
            return G @ over_mass(G.T @ lam) + inactive * lam

        return G, refine_iteratively(solve, product, self.softness), over_mass


def sparse_ldl(S):
    """D, Lᵀ and a fill-reducing order P of a symmetric matrix, P S Pᵀ = L D Lᵀ.

    Only the upper triangle of S is used: rounding of constants may cancel an entry on one side of the diagonal only.
    """
    return ca.ldl(ca.triu2symm(ca.triu(ca.sparsify(S))))


def mass_solver(M):
    """A function b → M⁻¹ b, factored in the order tips before roots."""
    order = list(range(M.shape[0]))[::-1]
    D, LT, _ = ca.ldl(M[order, order], False)
    return ldl_solver(LT + ca.SX.eye(M.shape[0]), 1 / D, order)


def column(A):
    """The nonzeros of a matrix as a column; `A.nz[:]` is a row where A has one row, and a zero where A is 1x1 and empty."""
    return ca.vertcat(ca.SX(0, 1), *A.nonzeros())


def pack_nonzeros(matrices):
    """The nonzeros of matrices as one column, and a function that makes the matrices from such a column."""
    columns = [column(A) for A in matrices]
    ends = np.cumsum([0, *[x.shape[0] for x in columns]]).tolist()

    def unpack(F):
        return [ca.SX(A.sparsity(), F[a:b]) for A, a, b in zip(matrices, ends, ends[1:])]

    return ca.densify(ca.vertcat(*columns, ca.SX(0, 1))), unpack


def ldl_solver(upper, reciprocals, order):
    """A function b → A⁻¹ b, for A[order, order] = Uᵀ D U and the reciprocals of D."""
    back = np.argsort(order).tolist()
    return lambda b: ca.solve(upper, reciprocals * ca.solve(upper.T, ca.densify(b)[order]))[back]


def spreading(solve, spread):
    """A function b → (M⁻¹ Gᵀ Λ, Λ = S⁻¹ b).

    solve    b → S⁻¹ b
    spread   Λ → M⁻¹ Gᵀ Λ
    """

    def velocity_change(b):
        impulses = solve(b)
        return spread(impulses), impulses

    return velocity_change


def add_inactive(S, activity, softness=None):
    """S + I − F + C: each inactive row of S, which is zero, becomes a row of the identity, so that its multiplier is zero.

    activity   F, a column; None: S does not change
    softness   C over the diagonal of S: the compliance of each active row; None: zero. A row that cannot move has some, too
    """
    if activity is None:
        return S
    added = 1 - activity
    if softness is not None:
        diagonal = ca.densify(ca.diag(S))
        added += softness * activity * (diagonal + IMMOBILE * largest(diagonal))
    return ca.sparsify(S + ca.diag(added))


def append_inertia(G, E, activity, softness):
    """Rows (G; E), and the activity and softness of all of them, where E stands for an inertia Eᵀ E (`rotor_inertia.py`).

    The compliance of such a row is 1, which `add_inactive` adds where the activity is 0.
    """
    if E is None or not E.shape[0]:
        return G, activity, softness
    known = ca.SX.ones(G.shape[0]) if activity is None else activity
    softness = None if softness is None else ca.vertcat(softness, ca.DM.zeros(E.shape[0]))
    return ca.sparsify(ca.vertcat(G, E)), ca.vertcat(known, ca.SX.zeros(E.shape[0])), softness


def pad_rows(right, more):
    """A right-hand side with some more rows, which are zero."""
    return ca.vertcat(right, ca.SX(more, right.shape[1])) if more else right


IMMOBILE = 1e-3  # mobility of a row over the largest one, which is added to its own where its compliance is measured
REFINEMENTS = 2  # steps of (3); each multiplies the effect of the compliance by C/(S + C)


def refine_iteratively(solve, product, softness):
    """A function b → λ with S λ = b from one that solves with the compliance C, by iterative refinement:

        λ ← λ + (S + C)⁻¹ (b − S λ)                                                                       (3)

    It converges to the solution of S λ = b. Where S is singular and b consistent, that is the one with the least λᵀ C λ: dependent
    contacts share their load like equally stiff ones. This is the proximal point method.

    solve      b → (S + C)⁻¹ b
    product    λ → S λ
    softness   C over the diagonal of S; None: `solve` is returned
    """
    if softness is None:
        return solve

    def solution(b):
        lam = solve(b)
        for _ in range(REFINEMENTS):
            lam = lam + solve(b - product(lam))  # (3)
        return lam

    return solution


def zero_inactive(A, activity):
    """A with zeros in the rows that are not active, whatever they contain, also if that is not a number.

    activity   1 or 0 for each row; None: A does not change
    """
    if activity is None:
        return A
    rows, _ = A.sparsity().get_triplet()
    entries = [x if activity[r].is_one() else ca.if_else(activity[r], x, 0) for r, x in zip(rows, A.nonzeros())]
    return ca.SX(A.sparsity(), ca.vertcat(*entries)) if entries else A


def correction(G, inverse_metric, activity=None, softness=None, inertia_rows=None):
    """A function that maps a residual r to the least change that removes it, −W Gᵀ (G W Gᵀ)⁻¹ r, with the inverse metric W.

    The factorisation is part of the returned expression.

    activity, softness   of the rows of G, as in `add_inactive`; the residuals of inactive rows are zero
    inertia_rows         E, for the metric W⁻¹ + Eᵀ E; None: there are none
    """
    count = G.shape[0]
    G, activity, softness = append_inertia(G, inertia_rows, activity, softness)
    S = add_inactive(ca.sparsify(G @ inverse_metric @ G.T), activity, softness)
    E, RT, order = sparse_ldl(S)
    reciprocals = ca.if_else(E > PIVOT_RATIO_SINGULAR * ca.diag(S)[order], 1 / E, 0)
    soft_solve = ldl_solver(RT + ca.SX.eye(S.shape[0]), reciprocals, order)

    def product(lam):
        return G @ (inverse_metric @ (G.T @ lam)) + (1 - activity) * lam

    solve = refine_iteratively(soft_solve, product, softness)
    return lambda residual: ca.densify(-(inverse_metric @ (G.T @ solve(pad_rows(residual, G.shape[0] - count)))))


def pseudoinverse(G, row_units, column_units):
    """A function that maps a residual r to the least-squares correction of the coordinates, −C Ĝ⁺ r̂, for G of any rank.

    Ĝ = G C / u is dimensionless, with the units C of the coordinates and u of the rows. Singular values σ below ε are damped
    smoothly, so that the correction does not jump where a mechanism passes a singular position. Dependent rows share the
    correction:

        Ĝ⁺ = Ĝᵀ (Ĝ Ĝᵀ + ε²)⁻¹:     1/σ → σ / (σ² + ε²),      ε² = `SINGULAR` of the largest row or unit, squared    (2)
    """
    A = ca.sparsify(ca.diag(ca.DM(1 / np.array(row_units, float))) @ G @ ca.diag(ca.DM(column_units)))
    S = ca.sparsify(A @ A.T)
    damping = PIVOT_RATIO_SINGULAR * ca.fmax(1, largest(ca.diag(S)))  # ε²
    E, RT, order = sparse_ldl(S + damping * ca.SX.eye(S.shape[0]))
    solve = ldl_solver(RT + ca.SX.eye(S.shape[0]), 1 / E, order)

    def correct(residual):
        return ca.densify(-(ca.DM(column_units) * (A.T @ solve(residual / ca.DM(np.array(row_units, float))))))  # (2)

    return correct


def conditioning(G, inverse_metric, row_units, column_units):
    """Smallest pivot of G W Gᵀ over the largest squared row of G, in units of rows and coordinates.

    It measures how well the coordinates that the inverse metric W allows to change determine the rows.
    """
    E, _, order = sparse_ldl(G @ inverse_metric @ G.T)
    squares = np.array(row_units, float) ** 2
    whole = G @ ca.diag(ca.DM(np.array(column_units) ** 2)) @ G.T
    return smallest(ca.densify(E) / ca.DM(squares[order])) / largest(ca.densify(ca.diag(whole)) / ca.DM(squares))


def is_partition(metric):
    """True if a metric of projections is dependent coordinates for positions and for velocities."""
    return isinstance(metric, tuple) and metric[0] != OWN_METRIC


def inverse_metrics(f, units):
    """Inverse metrics of a formulation for positions and for velocities: the plain one, that which a projection defines, or
    those of a partition.

    A partition is the list of dependent coordinates. Only these are changed, which is the limit of a metric in which the weight
    of the others is infinite. Müller and Terze, sec. 5.3 [mueller2009].

    units   units of the coordinates: the plain metric weighs an angle of 1 rad like a length of the size of the model
    """
    n = len(units)
    squares = [x**2 for x in units]
    if f.metric == "plain":
        return (ca.diag(ca.SX(squares)),) * 2
    if not is_partition(f.metric):
        _, key, options, _ = f.metric
        return lookup("projection", key)(**dict(options)).inverse_metrics(f, units)
    metrics = []
    for dependent in f.metric:
        W = ca.SX(n, n)
        for k in dependent:
            W[k, k] = squares[k]
        metrics.append(ca.sparsify(W))
    return tuple(metrics)
