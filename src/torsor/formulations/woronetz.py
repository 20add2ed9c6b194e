"""Independent velocities: the equations of a constrained tree projected on the admissible velocities, no multipliers.

With the velocities split into dependent and independent ones, G = (G_D, G_I), Müller and Terze, sec. 4.2 [mueller2009]:

    v = N v_I + …,     N = (−G_D⁻¹ G_I; 1)                                                            (1)
    v̇ = N v̇_I + c,     c = (G_D⁻¹ γ; 0)                                                               (2)
    Nᵀ M N v̇_I = Nᵀ (τ − h − M c)                                                                     (3)
    λ = G_D⁻ᵀ (M v̇ + h − τ)_D                      reactions, only where they are asked for           (4)

Dependent velocities are chosen by the measure of `partition.py`, and chosen anew when G_D becomes ill-conditioned; kernels
of a choice are compiled when it is first met, and kept.
"""

import casadi as ca
import numpy as np

from ..quantity import time
from ..registry import register
from . import recursions
from .base import shared
from .factor import Factor, solver
from .partition import best
from .relative import Relative


@register("woronetz")
class Woronetz(Relative):
    """As relative, without multipliers: good for mechanisms with many loops and few degrees of freedom."""

    watches = True  # the last entry of the factor tells how well the choice of dependent velocities is conditioned

    def choose(self, examiner, t, q, p):
        """The best dependent velocities at a configuration."""
        self.dependent = best(examiner.G(t, q, p)[self.keep], examiner.Minv(q, p)) if self.keep else []

    def _newton_euler(self, rates):
        """M v̇ + h − τ for given v̇."""
        parts = {
            id(link): rates[self.offset[id(link)] : self.offset[id(link)] + link.v.shape[0]] for link in self.links
        }
        need, tau = recursions.inverse_dynamics(self.motion, parts, self.wrenches()), self.driving()
        return self.placed(ca.vertcat(*[need[id(link)] - tau[id(link)] for link in self.links]))

    def functions(self, baumgarte=False):
        if not self.keep:
            return super().functions(baumgarte)
        t, q, v, p = time, self.q, self.v, self.p
        n, m = v.shape[0], len(self.keep)
        D, I = self.dependent, [k for k in range(n) if k not in self.dependent]
        g, psi, gamma = (self.stacked(what)[self.keep] for what in ("g", "psi", "gamma"))
        G = self.jacobian()[self.keep, :]
        square = Square(G[:, D])
        tie = ca.sparsify(-square.solve(ca.densify(G[:, I])))  # v_D = tie v_I + …
        N = ca.SX(n, n - m)
        N[D, :], N[I, :] = tie, ca.SX.eye(n - m)
        N = ca.sparsify(N)
        A = ca.sparsify(N.T @ self.mass_matrix() @ N)
        pivots, LT, order = ca.ldl(A)
        parts = [ca.densify(x) for x in (tie.nz[:], LT.nz[:], 1 / pivots, *square.parts())]
        sizes = [x.shape[0] for x in parts]
        factor = ca.densify(ca.vertcat(*parts, square.ratio()))
        found = {"factor": ca.Function("factor", [t, q, p], [factor])}

        F = ca.SX.sym("F", factor.shape[0])
        read = ca.vertsplit(F, [0, *np.cumsum([*sizes, 1]).tolist()])
        N = ca.SX(n, n - m)
        N[D, :], N[I, :] = ca.SX(tie.sparsity(), read[0]), ca.SX.eye(n - m)
        N = ca.sparsify(N)
        reduced = solver(ca.SX(LT.sparsity(), read[1]) + ca.SX.eye(n - m), read[2], order)
        back = square.reader(read[3:])
        inputs = [t, q, v, p, F]
        if baumgarte:
            gains = ca.SX.sym("alpha_beta", 2)
            inputs.append(gains)
            gamma = gamma - 2 * gains[0] * psi - gains[1] ** 2 * g
        c = ca.SX.zeros(n)
        c[D] = back.solve(gamma)  # (2)
        a = c - N @ reduced(N.T @ self._newton_euler(c))  # (3)
        lam = back.solve_transposed(self._newton_euler(a)[D])  # (4), used only where motions are imposed
        results = (a, ca.SX.zeros(m), self.power(lam))
        found["accelerations"] = ca.Function("accelerations", inputs, [ca.densify(x) for x in results])
        e = ca.SX.sym("e", n)
        found["tangent"] = ca.Function("tangent", [p, F, e], [N @ e[I]])
        mass = Factor(G, self.mass_matrix())
        Gm, solve, settle = mass.read(mass.vector())
        step = lambda residual: ca.densify(-settle(Gm.T @ solve(residual)))
        at_position, at_velocity = self.corrections(step, G, g, psi)
        shifted = self.manifold.retract(q, at_position, "cayley")
        found["positions"] = ca.Function("positions", [t, q, p, F], [shifted, ca.densify(g)])
        found["velocities"] = ca.Function("velocities", [t, q, v, p, F], [v + at_velocity, ca.densify(psi)])
        turns = [self.placed(self.meaning.coordinates(j)[k]) for j, k in self.turns]
        found["turns"] = ca.Function("turns", [t, q, p], [ca.vertcat(*turns, ca.SX(0, 1))])
        return {name: shared(f) for name, f in found.items()}

    def multipliers(self, lam, a):
        """λ recovered from the accelerations: (4)."""
        if not self.keep:
            return lam
        G = self.jacobian()[self.keep, :]
        return Square(G[:, self.dependent]).solve_transposed(self._newton_euler(a)[self.dependent])


class Square:
    """Solutions with a square matrix A through A Aᵀ = Pᵀ L D Lᵀ P:  A⁻¹ b = Aᵀ (A Aᵀ)⁻¹ b."""

    def __init__(self, A):
        self.A = ca.sparsify(A)
        B = ca.sparsify(self.A @ self.A.T)
        self.D, self.LT, self.order = ca.ldl(B)
        self.diagonal = ca.diag(B)[self.order]
        self._normal = solver(self.LT + ca.SX.eye(B.shape[0]), 1 / self.D, self.order)

    def parts(self):
        return self.A.nz[:], self.LT.nz[:], 1 / self.D

    def ratio(self):
        """Smallest pivot against the largest diagonal: a row may vanish as a whole in joint coordinates."""
        return ca.mmin(ca.densify(self.D)) / ca.mmax(ca.densify(self.diagonal))

    def reader(self, read):
        """The same solver on stored numbers."""
        twin = object.__new__(Square)
        twin.A = ca.SX(self.A.sparsity(), read[0])
        twin._normal = solver(ca.SX(self.LT.sparsity(), read[1]) + ca.SX.eye(self.A.shape[0]), read[2], self.order)
        return twin

    def solve(self, b):
        columns = [self._normal(b[:, k]) for k in range(b.shape[1])]
        return self.A.T @ ca.horzcat(*columns)

    def solve_transposed(self, b):
        return self._normal(self.A @ b)
