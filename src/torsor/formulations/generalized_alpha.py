"""The equations of a step of generalised-α on the group of a formulation.

The accelerations w = v̇₁ and multipliers λ at the end of a step are the unknowns. Way and velocities there are affine in w,

    q₁ = q₀ · τ(h Δ),     Δ = Δ̄ + b w,     v₁ = v̄ + c w                                                     (1)

with b, c, Δ̄ and v̄ from the method and the state at the start (`methods/integrators/generalized_alpha.py`), and the equations of
motion and the constraints hold at the end:

    M(q₁) w + bias(t₁, q₁, v₁) = G(q₁)ᵀ λ,     g(t₁, q₁) = 0                                    index 3     (2)
    ψ(t₁, q₁, v₁) = 0 as well, with     Δ = Δ̄ + b w + b M(q₀)⁻¹ G(q₀)ᵀ η                          index 2     (3)

η are the multipliers of Gear, Gupta and Leimkuhler, which vanish with the step. Rows at velocity level have ψ = 0 in both. Rows are
divided by b h and by c, so that Newton's equations are those of masses and constraints, whatever the step is. [arnold2007];
[bruels2012]; [arnold2015]
"""

import casadi as ca

from ..describe.quantity import parted, time
from .factor import column, inverse, pivoted
from .graphs import named
from .newton_equations import newton_equations
from .square import Square


class Alpha:
    """The equations in symbols: t and q at the start, p and efforts, which are numbers, at the end; `affine` = (b, c, Δ̄, v̄)."""

    def __init__(self, formulation, map, stabilised):
        self.f, self.map, self.stabilised, n = formulation, map, stabilised, formulation.v.shape[0]
        self.t, self.q, self.p, self.h = time, formulation.q, formulation.p, ca.SX.sym("h")
        self.efforts, self.affine = formulation.loads.unknown(), ca.SX.sym("affine", 2 + 2 * n)
        self.b, self.c, self.ahead, self.later = ca.vertsplit(self.affine, [0, 1, 2, 2 + n, 2 + 2 * n])
        self.w, self.lam = ca.SX.sym("w", n), ca.SX.sym("lam", len(formulation.keep))
        self.eta = ca.SX.sym("eta", len(formulation.held()) if stabilised else 0)
        self.d = ca.vertcat(self.w, self.lam, self.eta)

    def way(self):
        """Δ: (1), (3)."""
        way, f = self.ahead + self.b * self.w, self.f
        if self.eta.shape[0]:
            rows = [f.keep[k] for k in f.held()]
            way += self.b * inverse(f.mass_matrix())(f.jacobian()[rows, :].T @ self.eta)  # (3)
        return ca.densify(way)

    def residuals(self):
        """What is left of the equations of motion, and of the rows in use: at position level, and at velocity level."""
        f = self.f
        q1 = ca.densify(f.manifold.retract(self.q, self.h * self.way(), self.map))
        v1 = self.later + self.c * self.w
        old, new = ca.vertcat(self.t, self.q, f.v), ca.vertcat(self.t + self.h, q1, v1)
        motion = f.mass_matrix() @ self.w + f.bias() - f.jacobian()[f.keep, :].T @ self.lam  # (2)
        g, psi = f.stacked("g")[f.keep, :], f.stacked("psi")[f.keep, :]
        motion, g, psi = (ca.densify(ca.substitute(x, old, new)) for x in (motion, g, psi))
        return motion, g / (self.b * self.h), psi / self.c

    def equations(self):
        """Factors of Newton's equations as one column, and what solves them with it: L → Δd."""
        motion, g, psi = self.residuals()
        held = self.f.held()
        if not self.stabilised:
            rows = ca.vertcat(*[g[k] if k in set(held) else psi[k] for k in range(len(self.f.keep))], ca.SX(0, 1))
            factor, solve = newton_equations((motion, rows), self.w, self.lam)
            return factor, lambda L: solve(L, (motion, rows))
        factor, solve = newton_equations((motion, psi), self.w, self.lam)
        if not held:
            return factor, lambda L: solve(L, (motion, psi))
        back, again = self._stabilising(g[held])

        def both(L):
            first, second = parted(L, factor.shape[0])
            change = solve(first, (motion, psi))
            return ca.vertcat(change, again(second, g[held], parted(change, self.w.shape[0])[0]))

        return ca.vertcat(factor, back), both

    def _stabilising(self, g):
        """Factors of what η does to g, and what solves for Δη with them. What η does to the other equations is of the order of h²
        smaller, and left to the next iteration:

            ∂g/∂η Δη = −g − ∂g/∂w Δw                                                                         (4)
        """
        C, X = (ca.sparsify(ca.jacobian(g, x)) for x in (self.w, self.eta))
        order = pivoted(X + X.T)[2]
        space = Square(X, order, order)
        lower, upper = space.parts()

        def solve(L, g, dw):
            rows, *parts = parted(L, C.nnz(), lower.shape[0])
            return -space.reader(parts).solve(g + ca.SX(C.sparsity(), rows) @ dw)  # (4)

        return ca.densify(ca.vertcat(column(C), lower, upper)), solve


def functions(f, map, stabilised):
    """The kernels of a step, as functions of flat vectors; d = (w, λ, η).

    alpha_factor   (t, h, q, p, efforts, affine, d) → L         factors of Newton's equations
    alpha          (t, h, q, p, efforts, affine, d, L) → Δd, ΔΔ     a step of Newton's method
    alpha_way      (t, h, q, p, efforts, affine, d) → Δ
    """
    step = Alpha(f, map, stabilised)
    factor, solve = step.equations()
    L = ca.SX.sym("L", factor.shape[0])
    change = solve(L)
    given = {
        "t": step.t,
        "h": step.h,
        "q": step.q,
        "p": step.p,
        "efforts": step.efforts,
        "affine": step.affine,
        "d": step.d,
    }
    return {
        "alpha_factor": named("alpha_factor", given, factor),
        "alpha": named("alpha", given | {"L": L}, change, ca.jtimes(step.way(), step.d, change)),
        "alpha_way": named("alpha_way", given, step.way()),
    }
