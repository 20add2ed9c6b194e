"""Symbolic LU factorisation of square matrices without symmetry, in a given order of pivots."""

import casadi as ca
import numpy as np

from .balanced_sums import smallest
from .factorisation import column


class SparseLU:
    """A[rows, columns] = L U of a square matrix, in a fixed order of pivots, with solvers."""

    def __init__(self, A, rows, columns):
        self.rows, self.columns = rows, columns
        U = [[A[i, j] for j in columns] for i in rows]
        n = len(rows)
        L = [[ca.SX(0)] * n for _ in range(n)]
        for k in range(n):
            for i in range(k + 1, n):
                if not U[i][k].is_zero():
                    L[i][k] = U[i][k] / U[k][k]
                    for j in range(k, n):
                        if not U[k][j].is_zero():
                            U[i][j] = U[i][j] - L[i][k] * U[k][j]
                    U[i][k] = ca.SX(0)

        def matrix(entries):
            return ca.sparsify(ca.vertcat(*[ca.horzcat(*row) for row in entries])) if n else ca.SX(0, 0)

        self._set(ca.tril(matrix(L), False), ca.triu(matrix(U)))

    def _set(self, lower, upper):
        self.lower, self.upper = ca.sparsify(lower), ca.sparsify(upper)
        self._L = self.lower + ca.SX.eye(self.lower.shape[0])

    def nonzeros(self):
        """The nonzeros of L, without its unit diagonal, and of U, as two columns."""
        return column(self.lower), column(self.upper)

    def smallest(self):
        """The smallest absolute pivot."""
        return smallest(ca.fabs(ca.diag(self.upper)))

    def from_nonzeros(self, nonzeros):
        """A factorisation with the same pattern and order, from the columns that `nonzeros` returns."""
        copy = object.__new__(SparseLU)
        copy.rows = self.rows
        copy.columns = self.columns
        copy._set(ca.SX(self.lower.sparsity(), nonzeros[0]), ca.SX(self.upper.sparsity(), nonzeros[1]))
        return copy

    def solve(self, b):
        """A⁻¹ b, for one or several columns."""
        x = ca.solve(self.upper, ca.solve(self._L, ca.densify(b)[self.rows, :]))
        return x[np.argsort(self.columns).tolist(), :]

    def solve_sparse(self, B):
        """A⁻¹ B for a sparse matrix B, as a sparse matrix."""
        x = ca.sparsify(ca.solve(self.upper, ca.sparsify(ca.solve(self._L, B[self.rows, :]))))
        return x[np.argsort(self.columns).tolist(), :]

    def solve_transposed(self, b):
        """A⁻ᵀ b."""
        x = ca.solve(self._L.T, ca.solve(self.upper.T, ca.densify(b)[self.columns, :]))
        return x[np.argsort(self.rows).tolist(), :]
