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

from ..registry import register
from .base import Solvers
from .factor import Factor, column, pivoted, solver, spreading
from .folding import largest
from .graphs import conditioned
from .partition import best, first_of_the_largest
from .relative import Relative
from .square import Square


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

    def factored(self, G):
        """N, the factors of Nᵀ M N, M and those of G_D as one column, and last the smallest pivot of G_D, squared, over the
        largest squared row of G."""
        n, m = self.v.shape[0], len(self.keep)
        if not m or m == n:  # nothing depends, or everything does
            return super().factored(G)
        D, order = self.dependent
        I = [k for k in range(n) if k not in D]
        square, M = Square(G[:, D], order, list(range(m))), self.mass_matrix()
        tie = ca.sparsify(-square.solve(ca.densify(G[:, I])))  # v_D = tie v_I + …

        def admissible(tie):
            N = ca.SX(n, n - m)
            N[D, :], N[I, :] = tie, ca.SX.eye(n - m)
            return ca.sparsify(N)  # (1)

        N = admissible(tie)
        pivots, LT, places = pivoted(N.T @ M @ N)
        stored = [ca.densify(x) for x in (column(tie), column(LT), 1 / pivots, column(M), *square.parts())]
        condition = square.smallest() ** 2 / largest(ca.diag(G @ G.T))

        def read(F):
            kept = ca.vertsplit(F, np.cumsum([0, *[x.shape[0] for x in stored], 1]).tolist())
            N = admissible(ca.SX(tie.sparsity(), kept[0]))
            reduced = solver(ca.SX(LT.sparsity(), kept[1]) + ca.SX.eye(n - m), kept[2], places)
            mass, back = ca.SX(M.sparsity(), kept[3]), square.reader(kept[4:])

            def accelerations(gamma):
                c = ca.SX.zeros(n)
                c[D] = back.solve(gamma)  # (2)
                a = c - N @ reduced(N.T @ self.needed(c))  # (3)
                return a, back.solve_transposed(self.needed(a)[D])  # (4), used only where motions are imposed

            tangent = lambda e: ca.densify(N @ reduced(N.T @ (mass @ e)))  # (5)
            space = Factor(G, M, self.row_units())
            own, solve, over_mass = space.read(space.vector())
            return Solvers(accelerations, spreading(solve, lambda x: over_mass(own.T @ x)), tangent, hands_on=False)

        return conditioned(self, ca.densify(ca.vertcat(*stored, condition)), G), read

    def multipliers(self, lam, a):
        """λ recovered from the accelerations: (4)."""
        if not self.keep or len(self.keep) == self.v.shape[0]:
            return super().multipliers(lam, a)
        G = self.jacobian()[self.keep, :]
        D, order = self.dependent
        return Square(G[:, D], order, list(range(len(D)))).solve_transposed(self.needed(a)[D])


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
