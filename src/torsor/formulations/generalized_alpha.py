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

from ..describe.quantity import time
from .factor import inverse
from .graphs import named
from .newton_equations import newton_equations


class Alpha:
    """The equations in symbols: t and q at the start, p and efforts, which are numbers, at the end; `affine` = (b, c, Δ̄, v̄)."""

    def __init__(self, formulation, map, stabilised):
        self.f, self.map, self.stabilised, n = formulation, map, stabilised, formulation.v.shape[0]
        self.t, self.q, self.p, self.h = time, formulation.q, formulation.p, ca.SX.sym("h")
        self.efforts, self.affine = formulation.loads.unknown(), ca.SX.sym("affine", 2 + 2 * n)
        self.b, self.c, self.ahead, self.later = ca.vertsplit(self.affine, [0, 1, 2, 2 + n, 2 + 2 * n])
        self.w, self.lam = ca.SX.sym("w", n), ca.SX.sym("lam", len(formulation.keep))
        self.eta = ca.SX.sym("eta", len(formulation.held()) if stabilised else 0)
        self.multipliers = ca.vertcat(self.lam, self.eta)
        self.d = ca.vertcat(self.w, self.multipliers)

    def way(self):
        """Δ: (1), (3)."""
        way, f = self.ahead + self.b * self.w, self.f
        if self.eta.shape[0]:
            rows = [f.keep[k] for k in f.held()]
            way += self.b * inverse(f.mass_matrix())(f.jacobian()[rows, :].T @ self.eta)  # (3)
        return ca.densify(way)

    def residual(self):
        """What is left of the equations of motion, and of the constraints."""
        f, held = self.f, self.f.held()
        q1 = ca.densify(f.manifold.retract(self.q, self.h * self.way(), self.map))
        v1 = self.later + self.c * self.w
        old, new = ca.vertcat(self.t, self.q, f.v), ca.vertcat(self.t + self.h, q1, v1)
        motion = f.mass_matrix() @ self.w + f.bias() - f.jacobian()[f.keep, :].T @ self.lam  # (2)
        g, psi = f.stacked("g")[f.keep, :], f.stacked("psi")[f.keep, :]
        motion, g, psi = (ca.substitute(x, old, new) for x in (motion, g, psi))
        g, psi = g / (self.b * self.h), psi / self.c
        if self.stabilised:
            return ca.densify(motion), ca.densify(ca.vertcat(psi, g[held]))  # (3)
        rows = [g[k] if k in set(held) else psi[k] for k in range(len(f.keep))]
        return ca.densify(motion), ca.densify(ca.vertcat(*rows, ca.SX(0, 1)))


def functions(f, map, stabilised):
    """The kernels of a step, as functions of flat vectors; d = (w, λ, η).

    alpha_factor   (t, h, q, p, efforts, affine, d) → L         factors of Newton's equations
    alpha          (t, h, q, p, efforts, affine, d, L) → Δd     a step of Newton's method
    alpha_way      (t, h, q, p, efforts, affine, d) → Δ
    """
    step = Alpha(f, map, stabilised)
    residual = step.residual()
    factor, solve = newton_equations(residual, step.w, step.multipliers)
    L = ca.SX.sym("L", factor.shape[0])
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
        "alpha": named("alpha", given | {"L": L}, solve(L, residual)),
        "alpha_way": named("alpha_way", given, step.way()),
    }
