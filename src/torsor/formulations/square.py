"""Square matrices without symmetry, factored in a given order of pivots, in symbols."""

import casadi as ca
import numpy as np

from .factor import column
from .folding import smallest


class Square:
    """Solutions with a square matrix by A[rows, columns] = L U, in an order of pivots that was good where it was chosen."""

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
        stacked = lambda T: ca.sparsify(ca.vertcat(*[ca.horzcat(*row) for row in T])) if n else ca.SX(0, 0)
        self._set(ca.tril(stacked(L), False), ca.triu(stacked(U)))

    def _set(self, lower, upper):
        self.lower, self.upper = ca.sparsify(lower), ca.sparsify(upper)
        self._L = self.lower + ca.SX.eye(self.lower.shape[0])

    def parts(self):
        return column(self.lower), column(self.upper)

    def smallest(self):
        """The smallest pivot."""
        return smallest(ca.fabs(ca.diag(self.upper)))

    def reader(self, read):
        """The same solver on stored numbers."""
        twin = object.__new__(Square)
        twin.rows, twin.columns = self.rows, self.columns
        twin._set(ca.SX(self.lower.sparsity(), read[0]), ca.SX(self.upper.sparsity(), read[1]))
        return twin

    def solve(self, b):
        """A⁻¹ b, for one or several columns."""
        x = ca.solve(self.upper, ca.solve(self._L, ca.densify(b)[self.rows, :]))
        return x[np.argsort(self.columns).tolist(), :]

    def solve_sparse(self, B):
        """A⁻¹ B, zeros of the matrix B and of what follows from them left out."""
        x = ca.sparsify(ca.solve(self.upper, ca.sparsify(ca.solve(self._L, B[self.rows, :]))))
        return x[np.argsort(self.columns).tolist(), :]

    def solve_transposed(self, b):
        """A⁻ᵀ b."""
        x = ca.solve(self._L.T, ca.solve(self.upper.T, ca.densify(b)[self.columns, :]))
        return x[np.argsort(self.rows).tolist(), :]
