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

which carries momenta with the rotation of the step as it is stored, so that rounding of τ and D does not add up.

A row at velocity level holds in the mean of both ends, ½ (ψ(t₀, q₀, ξ) + ψ(t₁, q₁, ξ)) = 0, instead of g = 0. Efforts that
depend on reactions, and the user's states, are numbers here: those of the motion at either end.
"""

import casadi as ca

from ..describe.quantity import time
from .factor import Factor, inverse
from .graphs import named
from .lagrangian import Lagrangian
from .newton_equations import newton_equations


class Discrete:
    """The equations of a step, in symbols: t, q, p and the momenta π at its start, h, ξ, the impulses Λ₀, and efforts that are
    numbers; q₁ and the momenta m of leaving, where these are known."""

    def __init__(self, formulation, map):
        self.f, self.L, self.map = formulation, Lagrangian(formulation), map
        self.t, self.q, self.v, self.p = time, formulation.q, formulation.v, formulation.p
        self.efforts = formulation.loads.unknown()
        self.h, self.xi = ca.SX.sym("h"), ca.SX.sym("xi", self.v.shape[0])
        self.impulses = ca.SX.sym("impulses", len(formulation.keep))
        self.q1 = ca.SX.sym("q1", self.q.shape[0])
        self.pi, self.m = ca.SX.sym("pi", self.v.shape[0]), ca.SX.sym("m", self.v.shape[0])
        self.d = ca.vertcat(self.xi, self.impulses)

    def at_start(self, expression, v):
        """An expression of the state at the start, with velocities v."""
        return ca.substitute(expression, self.v, v)

    def at_end(self, expression, q1, v):
        """An expression of the state at the end of the step."""
        old, new = ca.vertcat(self.t, self.q, self.v), ca.vertcat(self.t + self.h, q1, v)
        return ca.substitute(expression, old, new)

    def carried_back(self, u, momenta):
        """D(u)ᵀ m̄."""
        w = ca.SX.sym("w", self.v.shape[0])
        return ca.jtimes(self.L.manifold.dexp_inverse(u, w, self.map), w, momenta, True)

    def mean_momenta(self, q1):
        """m̄."""
        return (self.at_start(self.L.momenta, self.xi) + self.at_end(self.L.momenta, q1, self.xi)) / 2

    def rows(self, what):
        """g, psi or the Jacobian G of the rows in use."""
        f = self.f
        return f.jacobian()[f.keep, :] if what == "G" else f.stacked(what)[f.keep, :]

    def residual(self):
        """What is left of (2), and of the constraints, as velocities."""
        q1 = ca.densify(self.L.manifold.retract(self.q, self.h * self.xi, self.map))
        force = self.h / 2 * self.at_start(self.L.carried + self.L.applied, self.xi)
        momenta = self.carried_back(-self.h * self.xi, self.mean_momenta(q1)) - force  # (2)
        momenta -= self.rows("G").T @ self.impulses + self.pi
        g, psi = self.at_end(self.rows("g"), q1, self.xi), self.rows("psi")
        mean = (self.at_start(psi, self.xi) + self.at_end(psi, q1, self.xi)) / 2
        held = set(self.f.held())
        kept = [g[k] / self.h if k in held else mean[k] for k in range(len(self.f.keep))]
        return ca.densify(momenta), ca.densify(ca.vertcat(*kept, ca.SX(0, 1)))

    def leaving(self):
        """Momenta with which the step leaves: what stands in brackets in (4)."""
        force = self.h / 2 * self.at_start(self.L.carried + self.L.applied, self.xi)
        return self.pi + force + self.rows("G").T @ self.impulses

    def landing(self):
        """v₁ and π₁ at q₁: (3), with the momenta m of leaving."""
        end = lambda expression: self.at_end(expression, self.q1, self.xi)
        momenta = self.L.manifold.carried(self.q, self.q1, self.m)  # (4)
        momenta += self.h / 2 * end(self.L.carried + self.L.applied)  # (3)
        return self.velocities(momenta)

    def velocities(self, momenta):
        """v₁ of momenta at q₁ and of impulses that make ψ = 0, and momenta with these impulses. Velocities are refined once by what
        their momenta miss, since a reciprocal pivot of M is rounded the same way in every step."""
        f, nothing = self.f, ca.SX.zeros(self.v.shape)
        at = lambda expression, v: self.at_end(expression, self.q1, v)
        M, v, push = at(self.L.mass_matrix, nothing), nothing, nothing
        over_mass, held = inverse(M), lambda v: nothing
        if f.keep:
            factor = Factor(at(self.rows("G"), nothing), M, f.row_units())
            G, solve, over_mass = factor.read(factor.vector())
            held = lambda v: -(G.T @ solve(at(self.rows("psi"), v)))
        for _ in range(2):
            v = v + over_mass(momenta + push - at(self.L.momenta, v))
            more = held(v)
            v, push = v + over_mass(more), push + more
        return v, momenta + push


def functions(f, map):
    """The kernels of a step, as functions of flat vectors; d = (ξ, Λ₀).

    momenta       (t, q, v, p) → π
    leap_factor   (t, h, q, π, p, efforts, d) → L                   factors of Newton's equations for (2)
    leap          (t, h, q, π, p, efforts, d, L) → Δd               a step of Newton's method
    leaving       (t, h, q, π, p, efforts, d) → m                   momenta with which it leaves
    landing       (t, h, q, p, efforts, d, q₁, m) → v₁, π₁          (3); p and efforts of the end
    """
    step = Discrete(f, map)
    residual = step.residual()
    factor, solve = newton_equations(residual, step.xi, step.impulses)
    L = ca.SX.sym("L", factor.shape[0])
    given = {"t": step.t, "h": step.h, "q": step.q, "pi": step.pi, "p": step.p, "efforts": step.efforts, "d": step.d}
    at_end = {name: x for name, x in given.items() if name != "pi"} | {"q1": step.q1, "m": step.m}
    return {
        "momenta": named("momenta", {"t": step.t, "q": step.q, "v": step.v, "p": step.p}, step.L.momenta),
        "leap_factor": named("leap_factor", given, factor),
        "leap": named("leap", given | {"L": L}, solve(L, residual)),
        "leaving": named("leaving", given, step.leaving()),
        "landing": named("landing", at_end, ca.vertcat(*step.landing())),
    }
