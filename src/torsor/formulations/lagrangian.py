"""The Lagrangian of a model in the state of a formulation: momenta, and what changes them, by differentiation.

With v the body velocity of the configuration q on its group, T(t, q, v) the kinetic energy and Q the generalised applied forces,
gravity and potentials included, motions make the action stationary where (Euler and Poincaré)

    π = ∂T/∂v,      π̇ = ad(v)ᵀ π + ∂T/∂q + Q + Gᵀ λ                                                (1)

∂/∂q is the derivative along x → x · exp(η): in coordinates where q̇ = v it is the partial one and ad(v) = 0, which gives
Lagrange's equations; for a rotation ad(v)ᵀ π = π × ω, which gives Euler's.
"""

from functools import cached_property

import casadi as ca

from ..describe.quantity import time


class Lagrangian:
    """T and what follows from it, as expressions of t, q, v, p of a formulation, and of efforts that depend on reactions (the
    unknowns of its loads), where it has any."""

    def __init__(self, formulation):
        self.f = formulation
        self.t, self.q, self.v, self.p = time, formulation.q, formulation.v, formulation.p
        self.manifold = formulation.manifold
        u = ca.SX.sym("u", self.v.shape[0])
        moved = ca.densify(self.manifold.retract(self.q, u, "cayley"))  # to first order every map is the same
        self.along = ca.substitute(ca.jacobian(moved, u), u, ca.SX.zeros(u.shape))

    @cached_property
    def kinetic_energy(self):
        """T(t, q, v)."""
        return self.f.placed(self.f.kinetic_energy())

    @cached_property
    def momenta(self):
        """π(t, q, v): (1)."""
        return ca.densify(ca.gradient(self.kinetic_energy, self.v))

    @cached_property
    def mass_matrix(self):
        """∂π/∂v, sparse: that of the formulation, which knows its structure."""
        return self.f.mass_matrix()

    @cached_property
    def carried(self):
        """∂T/∂q along the group: (1)."""
        return self.gradient(self.kinetic_energy)

    @cached_property
    def applied(self):
        """Q(t, q, v): (1)."""
        return ca.densify(self.f.applied())

    @cached_property
    def transported(self):
        """ad(v)ᵀ π: (1)."""
        return ca.densify(self.manifold.ad(self.v).T @ self.momenta)

    def gradient(self, expression):
        """The derivative of a scalar expression along x → x · exp(η), as a column."""
        return ca.densify(self.along.T @ ca.gradient(expression, self.q))

    def rate(self, expression, a):
        """How fast a column of expressions of t, q, v changes along a motion with v̇ = a."""
        states = ca.vertcat(self.q, self.v, self.t)
        return ca.jtimes(expression, states, ca.vertcat(self.along @ self.v, a, 1))

    def momentum_rate(self, lam):
        """π̇ with multipliers of the rows in use: (1)."""
        G = self.f.jacobian()[self.f.keep, :]
        return self.transported + self.carried + self.applied + G.T @ lam
