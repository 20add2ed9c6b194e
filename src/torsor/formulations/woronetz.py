"""Independent velocities: the equations of a constrained tree projected on the admissible velocities, no multipliers.

With the velocities split into dependent and independent ones, G = (G_D, G_I), Müller and Terze, sec. 4.2 [mueller2009]:

    v = N v_I + …,     N = (−G_D⁻¹ G_I; 1)                                                            (1)
    v̇ = N v̇_I + c,     c = (G_D⁻¹ γ; 0)                                                               (2)
    Nᵀ M N v̇_I = Nᵀ (τ − h − M c)                                                                     (3)
    λ = G_D⁻ᵀ (M v̇ + h − τ)_D                      reactions, only where they are asked for           (4)
    e ← N (Nᵀ M N)⁻¹ Nᵀ M e                        the part of an error that a projection leaves      (5)

Dependent velocities are chosen by the measure of `partition.py`, and chosen anew when G_D becomes ill-conditioned; kernels
of a choice are compiled when it is first met, and kept.
"""

import casadi as ca
import numpy as np

from ..quantity import time
from ..registry import register
from . import recursions
from .base import shared
from .factor import Factor, column, solver
from .implicit import closed
from .partition import best, first_of_the_largest
from .relative import Relative


@register("woronetz")
class Woronetz(Relative):
    """As relative, without multipliers: good for mechanisms with many loops and few degrees of freedom."""

    watches = True  # the last entry of the factor tells how well the choice of dependent velocities is conditioned

    def choose(self, examiner, t, q, p):
        """The best dependent velocities at a configuration."""
        if self.keep:
            G = examiner.G(t, q, p, self.keep)
            before = self.dependent[0] if self.dependent else ()
            places = best(G, examiner.Minv(q, p), before)
            if before and places == sorted(before):
                return
            rows, columns = pivoting(G[:, places])
            self.dependent = [[places[k] for k in columns], rows]

    def _newton_euler(self, rates):
        """M v̇ + h − τ for given v̇."""
        parts = {
            id(link): rates[self.offset[id(link)] : self.offset[id(link)] + link.v.shape[0]] for link in self.links
        }
        need, tau = recursions.inverse_dynamics(self.motion, parts, self.wrenches()), self.driving()
        return self.placed(ca.vertcat(*[need[id(link)] - tau[id(link)] for link in self.links]))

    def functions(self, baumgarte=False):
        if not self.keep or len(self.keep) == self.v.shape[0]:  # nothing depends, or everything does
            return super().functions(baumgarte)
        t, q, v, p = time, self.q, self.v, self.p
        n, m = v.shape[0], len(self.keep)
        D, order = self.dependent
        I = [k for k in range(n) if k not in D]
        g, psi, gamma = (self.stacked(what)[self.keep, :] for what in ("g", "psi", "gamma"))
        G = self.jacobian()[self.keep, :]
        square = Square(G[:, D], order, list(range(m)))
        tie = ca.sparsify(-square.solve(ca.densify(G[:, I])))  # v_D = tie v_I + …
        N = ca.SX(n, n - m)
        N[D, :], N[I, :] = tie, ca.SX.eye(n - m)
        N = ca.sparsify(N)
        M = self.mass_matrix()
        A = ca.sparsify(N.T @ M @ N)
        pivots, LT, places = ca.ldl(A)
        parts = [ca.densify(x) for x in (column(tie), column(LT), 1 / pivots, column(M), *square.parts())]
        sizes = [x.shape[0] for x in parts]
        factor = ca.densify(ca.vertcat(*parts, square.smallest() ** 2 / ca.mmax(ca.densify(ca.diag(G @ G.T)))))
        found = {"factor": ca.Function("factor", [t, q, p], [factor])}

        F = ca.SX.sym("F", factor.shape[0])
        read = ca.vertsplit(F, [0, *np.cumsum([*sizes, 1]).tolist()])
        N = ca.SX(n, n - m)
        N[D, :], N[I, :] = ca.SX(tie.sparsity(), read[0]), ca.SX.eye(n - m)
        N = ca.sparsify(N)
        reduced = solver(ca.SX(LT.sparsity(), read[1]) + ca.SX.eye(n - m), read[2], places)
        Mf, back = ca.SX(M.sparsity(), read[3]), square.reader(read[4:])
        inputs = [t, q, v, p, F]
        if baumgarte:
            gains = ca.SX.sym("alpha_beta", 2)
            inputs.append(gains)
            gamma = gamma - 2 * gains[0] * psi - gains[1] ** 2 * g
        c = ca.SX.zeros(n)
        c[D] = back.solve(gamma)  # (2)
        a = c - N @ reduced(N.T @ self._newton_euler(c))  # (3)
        lam = back.solve_transposed(self._newton_euler(a)[D])  # (4), used only where motions are imposed
        a, _, power, efforts = closed(self, a, lam, self.power(lam, a))
        results = (a, ca.vertcat(ca.SX.zeros(m), efforts), power)
        found["accelerations"] = ca.Function("accelerations", inputs, [ca.densify(x) for x in results])
        e = ca.SX.sym("e", n)
        found["tangent"] = ca.Function("tangent", [p, F, e], [ca.densify(N @ reduced(N.T @ (Mf @ e)))])  # (5)
        mass = Factor(G, M, self.row_units())
        Gm, solve, settle = mass.read(mass.vector())
        step = lambda residual: ca.densify(-settle(Gm.T @ solve(residual)))
        r = ca.SX.sym("r", m)
        found["impulse"] = ca.Function("impulse", [t, q, p, F, r], [step(r), ca.densify(-solve(r))])
        at_position, at_velocity = self.corrections(step, G, g, psi)
        shifted = self.manifold.retract(q, at_position, "cayley")
        found["positions"] = ca.Function("positions", [t, q, p, F], [shifted, self.with_size(g)])
        found["velocities"] = ca.Function("velocities", [t, q, v, p, F], [v + at_velocity, self.with_size(psi)])
        found |= self.counting() | self.along(self.least_change)
        return {name: shared(f) for name, f in found.items()}

    def multipliers(self, lam, a):
        """λ recovered from the accelerations: (4)."""
        if not self.keep or len(self.keep) == self.v.shape[0]:
            return super().multipliers(lam, a)
        G = self.jacobian()[self.keep, :]
        D, order = self.dependent
        return Square(G[:, D], order, list(range(len(D)))).solve_transposed(self._newton_euler(a)[D])


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
        return ca.mmin(ca.fabs(ca.densify(ca.diag(self.upper))))

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

    def solve_transposed(self, b):
        """A⁻ᵀ b."""
        x = ca.solve(self._L.T, ca.solve(self.upper.T, ca.densify(b)[self.columns, :]))
        return x[np.argsort(self.rows).tolist(), :]


def pivoting(A):
    """Order of rows and columns by full pivoting."""
    A, n = np.array(A, float), len(A)
    rows, columns = list(range(n)), list(range(n))
    for k in range(n):
        i, j = np.unravel_index(first_of_the_largest(np.abs(A[k:, k:]).ravel()), (n - k, n - k))
        i, j = i + k, j + k
        A[[k, i]], rows[k], rows[i] = A[[i, k]], rows[i], rows[k]
        A[:, [k, j]], columns[k], columns[j] = A[:, [j, k]], columns[j], columns[k]
        if k + 1 < n and A[k, k] != 0:
            A[k + 1 :, k:] -= np.outer(A[k + 1 :, k] / A[k, k], A[k, k:])
    return rows, columns
