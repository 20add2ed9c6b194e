"""Factorisations that kernels share: of a mass matrix, and of the constraint space seen through it.

    M = Lᵀ D L,    S = G M⁻¹ Gᵀ = Pᵀ R E Rᵀ P                                                          (1)

A pivot of S that vanishes against its diagonal is not divided through: its multiplier is zero.
"""

import casadi as ca
import numpy as np

from .folding import largest, smallest

SINGULAR = 1e-13  # pivot / diagonal below which a row counts as dependent: rounding of S is about 1e-16


class Factor:
    """G, the factors of M and of S as one vector, and solvers that read it."""

    def __init__(self, G, M, units):
        """units: of the rows of G, in which their pivots are compared."""
        n = M.shape[0]
        self.order = list(range(n))[::-1]  # tips before roots: no fill
        self.G, self.n = G, n
        self.D, self.LT, _ = ca.ldl(M[self.order, self.order], False)
        Y = ca.sparsify(ca.solve((self.LT + ca.SX.eye(n)).T, ca.sparsify(G[:, self.order].T)))
        S = ca.sparsify(Y.T @ (Y * ca.repmat(1 / self.D, 1, Y.shape[1])))
        self.E, self.RT, self.places = pivoted(S)
        self.squares = ca.DM((np.array(units, float) ** 2)[self.places])
        self.diagonal = ca.densify(ca.diag(S))[self.places] / self.squares

    def vector(self):
        """All nonzeros, and last the smallest pivot against the largest diagonal: in joint coordinates a row may vanish as a
        whole where a mechanism is singular."""
        most, pivots = largest(self.diagonal), ca.densify(self.E) / self.squares
        inverse = ca.if_else(pivots > SINGULAR * most, 1 / self.E, 0)
        parts = (column(self.G), column(self.LT), 1 / self.D, column(self.RT), inverse)
        return ca.densify(ca.vertcat(*[ca.densify(x) for x in parts], smallest(pivots) / most))

    def read(self, F):
        """G, a solver with S and one with M, from a factor vector."""
        at, read = 0, []
        for size in (self.G.nnz(), self.LT.nnz(), self.n, self.RT.nnz(), self.G.shape[0]):
            read.append(F[at : at + size])
            at += size
        mass = ca.SX(self.LT.sparsity(), read[1]) + ca.SX.eye(self.n)
        loop = ca.SX(self.RT.sparsity(), read[3]) + ca.SX.eye(self.G.shape[0])
        return ca.SX(self.G.sparsity(), read[0]), solver(loop, read[4], self.places), solver(mass, read[2], self.order)


def pivoted(S):
    """D, Lᵀ and the order P of a symmetric matrix, P S Pᵀ = L D Lᵀ. Rounding of constants may cancel an entry on one side of the
    diagonal alone: the upper side counts."""
    return ca.ldl(ca.triu2symm(ca.triu(ca.sparsify(S))))


def inverse(M):
    """x = M⁻¹ b, tips before roots."""
    order = list(range(M.shape[0]))[::-1]
    D, LT, _ = ca.ldl(M[order, order], False)
    return solver(LT + ca.SX.eye(M.shape[0]), 1 / D, order)


def column(A):
    """The nonzeros of a matrix as a column; `A.nz[:]` is a row where A has one row, and a zero where A is 1x1 and empty."""
    return ca.vertcat(ca.SX(0, 1), *A.nonzeros())


def as_column(matrices):
    """The nonzeros of matrices as one column, and a function that reads them back from such a column."""
    columns = [column(A) for A in matrices]
    ends = np.cumsum([0, *[x.shape[0] for x in columns]]).tolist()
    read = lambda F: [ca.SX(A.sparsity(), F[a:b]) for A, a, b in zip(matrices, ends, ends[1:])]
    return ca.densify(ca.vertcat(*columns, ca.SX(0, 1))), read


def solver(upper, inverse, order):
    """x = A⁻¹ b for A[order, order] = Uᵀ D U."""
    back = np.argsort(order).tolist()
    return lambda b: ca.solve(upper, inverse * ca.solve(upper.T, ca.densify(b)[order]))[back]


def spreading(solve, spread):
    """b → (M⁻¹ Gᵀ Λ, Λ = S⁻¹ b), from S⁻¹ and from what impulses do."""

    def restored(b):
        impulses = solve(b)
        return spread(impulses), impulses

    return restored


def correction(G, inverse_metric):
    """Least change that removes a residual, −W Gᵀ (G W Gᵀ)⁻¹ r, factored on the spot."""
    S = ca.sparsify(G @ inverse_metric @ G.T)
    E, RT, places = pivoted(S)
    inverse = ca.if_else(E > SINGULAR * ca.diag(S)[places], 1 / E, 0)
    solve = solver(RT + ca.SX.eye(S.shape[0]), inverse, places)
    return lambda residual: ca.densify(-(inverse_metric @ (G.T @ solve(residual))))


def pseudoinverse(G, rows, columns):
    """Least change of coordinates that takes away as much of a residual as can be, −C Ĝ⁺ r̂, whatever rows depend on others.

    Ĝ = G C / u has units of 1. Directions of singular values σ below ε are cut off smoothly, so that nothing jumps where a
    mechanism passes a singular position; rows that agree share what they hold:

        Ĝ⁺ = Ĝᵀ (Ĝ Ĝᵀ + ε²)⁻¹:     1/σ → σ / (σ² + ε²),      ε² = `SINGULAR` of the largest row or unit, squared    (2)
    """
    A = ca.sparsify(ca.diag(ca.DM(1 / np.array(rows, float))) @ G @ ca.diag(ca.DM(columns)))
    S = ca.sparsify(A @ A.T)
    small = SINGULAR * ca.fmax(1, largest(ca.diag(S)))
    E, RT, places = pivoted(S + small * ca.SX.eye(S.shape[0]))
    solve = solver(RT + ca.SX.eye(S.shape[0]), 1 / E, places)
    return lambda residual: ca.densify(
        -(ca.DM(columns) * (A.T @ solve(residual / ca.DM(np.array(rows, float)))))
    )  # (2)


def conditioning(G, inverse_metric, units, columns):
    """Smallest pivot of G W Gᵀ against the largest squared row of G, in units of rows and of coordinates: how well a choice of
    coordinates fits the rows."""
    E, _, places = pivoted(G @ inverse_metric @ G.T)
    squares = np.array(units, float) ** 2
    whole = G @ ca.diag(ca.DM(np.array(columns) ** 2)) @ G.T
    return smallest(ca.densify(E) / ca.DM(squares[places])) / largest(ca.densify(ca.diag(whole)) / ca.DM(squares))


def inverse_metrics(metric, units):
    """Inverse metrics for positions and for velocities: the plain one, or those of a partition.

    A partition names the dependent coordinates: only they are changed, which is the limit of a metric in which the others
    weigh infinitely much. Müller and Terze, sec. 5.3 [mueller2009].

    units   of the coordinates: in the plain metric a length counts as an angle where it is as large as the model
    """
    n, squares = len(units), [x**2 for x in units]
    if metric == "plain":
        return (ca.diag(ca.SX(squares)),) * 2
    chosen = []
    for dependent in metric:
        W = ca.SX(n, n)
        for k in dependent:
            W[k, k] = squares[k]
        chosen.append(ca.sparsify(W))
    return tuple(chosen)
