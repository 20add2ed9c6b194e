"""Discrete mechanics on the group of a formulation: the equations of a step that makes a discrete action stationary.

A step of length h leads from q₀ to q₁ = q₀ · τ(h ξ), τ the exponential or the Cayley map. With the kinetic energy by the rule of
trapezoids, the discrete Lagrangian, its constraints and the applied forces Q (potentials included: the principle of Lagrange and
d'Alembert) are

    L_d = h/2 [T(t₀, q₀, ξ) + T(t₁, q₁, ξ)],     g(t₁, q₁) = 0,     f∓ = h/2 Q(t, q, ξ) at either end   (1)

A variation q₀ → q₀ · exp(η₀), q₁ → q₁ · exp(η₁) changes u = h ξ by δu = D(u) η₁ − D(−u) η₀, where D(u) η is `dexp_inverse`. With
m̄ = ½ (∂T/∂v(t₀, q₀, ξ) + ∂T/∂v(t₁, q₁, ξ)) the momenta π = ∂T/∂v at both ends are therefore

    π(t₀, q₀, v₀) = D(−u)ᵀ m̄ − h/2 (∂T/∂q + Q)(t₀, q₀, ξ) − G(q₀)ᵀ Λ₀            leap: ξ and Λ₀ with g = 0 (2)
    π(t₁, q₁, v₁) = D(u)ᵀ m̄ + h/2 (∂T/∂q + Q)(t₁, q₁, ξ) + G(q₁)ᵀ Λ₁        landing: v₁ and Λ₁ with ψ = 0 (3)

The map (q₀, π₀) → (q₁, π₁) is symplectic where Q has a potential, keeps the momenta of every symmetry, and is its own inverse
with −h. On Rⁿ it is the method of Störmer and Verlet where M is constant, with constraints RATTLE. [marsden2001], sec. 1.5 and
3.5; [bourabee2009], sec. 4, for groups; [lee2007]; [hairer2006], sec. VI.6 and VII.1.

By (2) and D(u) = D(−u) Ad(τ(u)), what (3) begins with is

    D(u)ᵀ m̄ = Ad(q₀⁻¹ q₁)ᵀ [π(t₀, q₀, v₀) + h/2 (∂T/∂q + Q)(t₀, q₀, ξ) + G(q₀)ᵀ Λ₀]                           (4)

which transforms the momenta with the stored rotation of the step, so that rounding errors of τ and D do not accumulate.

A row at velocity level is satisfied in the mean of both ends, ½ (ψ(t₀, q₀, ξ) + ψ(t₁, q₁, ξ)) = 0, instead of g = 0. Efforts that
depend on reactions, and the user's states, are numbers here: their values at either end.
"""

import casadi as ca

from ...elements.quantity import time
from ..algebra.factorisation import Factor, mass_solver
from ..algebra.lagrangian import Lagrangian
from .newton_equations import newton_equations
from .run_kernels import named_function


class Discrete:
    """The equations of a step, in symbols.

    t, q, p, pi    time, configuration, inputs and momenta π at the start
    efforts        implicit efforts, which are numbers here
    d              unknowns (ξ, Λ₀)
    q1, m          configuration at the end, and the momenta in brackets in (4)
    """

    def __init__(self, formulation, map):
        n = formulation.v.shape[0]
        self.f = formulation
        self.L = Lagrangian(formulation)
        self.map = map
        self.t, self.q, self.v, self.p = time, formulation.q, formulation.v, formulation.p
        self.efforts = formulation.loads.unknown()
        self.h = ca.SX.sym("h")
        self.xi = ca.SX.sym("xi", n)
        self.impulses = ca.SX.sym("impulses", len(formulation.keep))
        self.q1 = ca.SX.sym("q1", self.q.shape[0])
        self.pi = ca.SX.sym("pi", n)
        self.m = ca.SX.sym("m", n)
        self.d = ca.vertcat(self.xi, self.impulses)

    def at_start(self, expression, v):
        """An expression of the state at the start, with velocities v."""
        return ca.substitute(expression, self.v, v)

    def at_end(self, expression, q1, v):
        """An expression of the state at the end of the step, with configuration q1 and velocities v."""
        start = ca.vertcat(self.t, self.q, self.v)
        return ca.substitute(expression, start, ca.vertcat(self.t + self.h, q1, v))

    def pull_back(self, u, momenta):
        """D(u)ᵀ m̄."""
        w = ca.SX.sym("w", self.v.shape[0])
        return ca.jtimes(self.L.manifold.dexp_inverse(u, w, self.map), w, momenta, True)

    def mean_momenta(self, q1):
        """m̄."""
        return (self.at_start(self.L.momenta, self.xi) + self.at_end(self.L.momenta, q1, self.xi)) / 2

    def rows(self, what):
        """g, psi or the Jacobian G of the rows in use."""
        f = self.f
        return f.jacobian()[f.keep, :] if what == "G" else f.stack_rows(what)[f.keep, :]

    def residual(self):
        """Residuals of (2) and of the constraints, the latter in units of velocity."""
        q1 = ca.densify(self.L.manifold.retract(self.q, self.h * self.xi, self.map))
        force = self.h / 2 * self.at_start(self.L.energy_gradient + self.L.applied_forces, self.xi)
        momenta = self.pull_back(-self.h * self.xi, self.mean_momenta(q1)) - force  # (2)
        momenta -= self.rows("G").T @ self.impulses + self.pi
        g, psi = self.at_end(self.rows("g"), q1, self.xi), self.rows("psi")
        mean = (self.at_start(psi, self.xi) + self.at_end(psi, q1, self.xi)) / 2
        positional = set(self.f.position_rows())
        constraints = [g[k] / self.h if k in positional else mean[k] for k in range(len(self.f.keep))]
        return ca.densify(momenta), ca.densify(ca.vertcat(*constraints, ca.SX(0, 1)))

    def departure_momenta(self):
        """The momenta in brackets in (4), with which the step leaves its start."""
        force = self.h / 2 * self.at_start(self.L.energy_gradient + self.L.applied_forces, self.xi)
        return self.pi + force + self.rows("G").T @ self.impulses

    def end_state(self):
        """v₁ and π₁ at q₁: (3), with the momenta m of (4)."""
        force = self.at_end(self.L.energy_gradient + self.L.applied_forces, self.q1, self.xi)
        momenta = self.L.manifold.transport_momentum(self.q, self.q1, self.m)  # (4)
        momenta += self.h / 2 * force  # (3)
        return self.project(momenta)

    def project(self, momenta):
        """v₁ of given momenta at q₁ with impulses that make ψ = 0, and the momenta with these impulses.

        The velocities are refined once by the residual of their momenta: a reciprocal pivot of M has the same rounding error in
        every step, which would accumulate.
        """
        f = self.f
        zero = ca.SX.zeros(self.v.shape)

        def at_q1(expression, v):
            return self.at_end(expression, self.q1, v)

        M = at_q1(self.L.mass_matrix, zero)
        if f.keep:
            factor = Factor(at_q1(self.rows("G"), zero), M, f.row_units())
            G, solve, over_mass = factor.read(factor.vector())
        else:
            over_mass = mass_solver(M)
        v = zero
        impulse = zero
        for _ in range(2):
            v = v + over_mass(momenta + impulse - at_q1(self.L.momenta, v))
            change = -(G.T @ solve(at_q1(self.rows("psi"), v))) if f.keep else zero
            v = v + over_mass(change)
            impulse = impulse + change
        return v, momenta + impulse


def functions(f, map):
    """The kernels of a step, as functions of flat vectors; d = (ξ, Λ₀).

    momenta       (t, q, v, p) → π
    leap_factor   (t, h, q, π, p, efforts, d) → L                   factors of Newton's equations for (2)
    leap          (t, h, q, π, p, efforts, d, L) → Δd               a step of Newton's method
    leaving       (t, h, q, π, p, efforts, d) → m                   momenta in brackets in (4)
    landing       (t, h, q, p, efforts, d, q₁, m) → v₁, π₁          (3); p and efforts of the end
    """
    step = Discrete(f, map)
    residual = step.residual()
    factor, solve = newton_equations(residual, step.xi, step.impulses)
    L = ca.SX.sym("L", factor.shape[0])
    inputs = {"t": step.t, "h": step.h, "q": step.q, "pi": step.pi, "p": step.p, "efforts": step.efforts, "d": step.d}
    end_inputs = {name: x for name, x in inputs.items() if name != "pi"} | {"q1": step.q1, "m": step.m}
    return {
        "momenta": named_function("momenta", {"t": step.t, "q": step.q, "v": step.v, "p": step.p}, step.L.momenta),
        "leap_factor": named_function("leap_factor", inputs, factor),
        "leap": named_function("leap", inputs | {"L": L}, solve(L, residual)),
        "leaving": named_function("leaving", inputs, step.departure_momenta()),
        "landing": named_function("landing", end_inputs, ca.vertcat(*step.end_state())),
    }
