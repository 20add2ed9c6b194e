"""Independent velocities: the equations of a constrained tree projected on the admissible velocities, no multipliers.

With the velocities split into dependent and independent ones, G = (G_D, G_I), Müller and Terze, sec. 4.2 [mueller2009]:

    v = N v_I + …,     N = (−G_D⁻¹ G_I; 1)                                                            (1)
    v̇ = N v̇_I + c,     c = (G_D⁻¹ γ; 0)                                                               (2)
    Nᵀ M N v̇_I = Nᵀ (τ − h − M c)                                                                     (3)
    λ = G_D⁻ᵀ (M v̇ + h − τ)_D                      reactions, only where they are requested           (4)
    e ← N (Nᵀ M N)⁻¹ Nᵀ M e                        the part of an error that a projection leaves      (5)

Dependent velocities are chosen by the measure of `formulations/algebra/partition.py`, and chosen again when G_D becomes
ill-conditioned. The kernels of a choice are compiled at its first use, and kept.
"""

import casadi as ca
import numpy as np

from ..registry import register
from .algebra.balanced_sums import largest
from .algebra.factorisation import Factor, column, ldl_solver, sparse_ldl, spreading
from .algebra.partition import choose_dependent, first_near_maximum
from .algebra.unsymmetric_factorisation import SparseLU
from .base import Solvers
from .graphs.run_kernels import replace_conditioning
from .relative import Relative


@register("woronetz")
class Woronetz(Relative):
    """As relative, without multipliers: good for mechanisms with many loops and few degrees of freedom."""

    watches = True  # the last entry of the factor measures the conditioning of the dependent velocities

    def choose(self, examiner, t, q, p):
        """Choose the best dependent velocities at a configuration."""
        if self.keep:
            G = examiner.G(t, q, p, self.keep)
            previous = self.dependent[0] if self.dependent else ()
            chosen = choose_dependent(G, examiner.Minv(q, p), previous)
            if previous and chosen == sorted(previous):
                return
            rows, columns = full_pivoting(G[:, chosen])
            self.dependent = [[chosen[k] for k in columns], rows]

    def factorise(self, G):
        """N, the factors of Nᵀ M N, M and the factors of G_D as one column, and a function that makes the solvers.

        The last entry of the column is the smallest pivot of G_D, squared, over the largest squared row of G.
        """
        n, m = self.v.shape[0], len(self.keep)
        if (
            not m or m == n or not self.dependent
        ):  # no velocity is dependent, all are, or none is chosen (`contact_library`)
            return super().factorise(G)
        D, order = self.dependent
        I = [k for k in range(n) if k not in D]
        lu = SparseLU(G[:, D], order, list(range(m)))
        M = self.mass_matrix()
        dependence = ca.sparsify(-lu.solve(ca.densify(G[:, I])))  # −G_D⁻¹ G_I

        def admissible_velocities(dependence):
            N = ca.SX(n, n - m)
            N[D, :] = dependence
            N[I, :] = ca.SX.eye(n - m)
            return ca.sparsify(N)  # (1)

        N = admissible_velocities(dependence)
        pivots, LT, reduced_order = sparse_ldl(N.T @ M @ N)
        stored = [ca.densify(x) for x in (column(dependence), column(LT), 1 / pivots, column(M), *lu.nonzeros())]
        condition = lu.smallest() ** 2 / largest(ca.diag(G @ G.T))

        def read(F):
            pieces = ca.vertsplit(F, np.cumsum([0, *[x.shape[0] for x in stored], 1]).tolist())
            N = admissible_velocities(ca.SX(dependence.sparsity(), pieces[0]))
            solve_reduced = ldl_solver(ca.SX(LT.sparsity(), pieces[1]) + ca.SX.eye(n - m), pieces[2], reduced_order)
            stored_M = ca.SX(M.sparsity(), pieces[3])
            stored_lu = lu.from_nonzeros(pieces[4:])

            def accelerations(gamma):
                c = ca.SX.zeros(n)
                c[D] = stored_lu.solve(gamma)  # (2)
                a = c - N @ solve_reduced(N.T @ self.inverse_dynamics(c))  # (3)
                return a, stored_lu.solve_transposed(
                    self.inverse_dynamics(a)[D]
                )  # (4), for the power of imposed motions

            def tangent(e):
                return ca.densify(N @ solve_reduced(N.T @ (stored_M @ e)))  # (5)

            factor = Factor(G, M, self.row_units())
            own_G, solve, over_mass = factor.read(factor.vector())
            impulses = spreading(solve, lambda x: over_mass(own_G.T @ x))
            return Solvers(accelerations, impulses, tangent, returns_multipliers=False)

        return replace_conditioning(self, ca.densify(ca.vertcat(*stored, condition)), G), read

    def multipliers(self, lam, a):
        """λ recovered from the accelerations: (4)."""
        if not self.keep or len(self.keep) == self.v.shape[0]:
            return super().multipliers(lam, a)
        G = self.jacobian()[self.keep, :]
        D, order = self.dependent
        return SparseLU(G[:, D], order, list(range(len(D)))).solve_transposed(self.inverse_dynamics(a)[D])


def full_pivoting(A):
    """Orders of rows and columns of a square matrix by full pivoting."""
    n = len(A)
    A = np.array(A, float)
    rows, columns = list(range(n)), list(range(n))
    for k in range(n):
        i, j = np.unravel_index(first_near_maximum(np.abs(A[k:, k:]).ravel()), (n - k, n - k))
        i, j = i + k, j + k
        A[[k, i]], rows[k], rows[i] = A[[i, k]], rows[i], rows[k]
        A[:, [k, j]], columns[k], columns[j] = A[:, [j, k]], columns[j], columns[k]
        if k + 1 < n and A[k, k] != 0:
            A[k + 1 :, k:] -= np.outer(A[k + 1 :, k] / A[k, k], A[k, k:])
    return rows, columns
