"""The Lagrangian of a model in the state of a formulation: momenta and their rates, by differentiation.

With v the body velocity of the configuration q on its group, T(t, q, v) the kinetic energy and Q the generalised applied forces,
gravity and potentials included, the Euler–Poincaré equations are

    π = ∂T/∂v,      π̇ = ad(v)ᵀ π + ∂T/∂q + Q + Gᵀ λ                                                (1)

∂/∂q is the derivative along x → x · exp(η): in coordinates where q̇ = v it is the partial one and ad(v) = 0, which gives
Lagrange's equations; for a rotation ad(v)ᵀ π = π × ω, which gives Euler's.
"""

from functools import cached_property

import casadi as ca

from ...elements.quantity import time


class Lagrangian:
    """T and its derivatives, as expressions of t, q, v, p of a formulation, and of the unknown efforts of its loads.

    along   the matrix of q̇ = along v, where q are the stored coordinates
    """

    def __init__(self, formulation):
        self.f = formulation
        self.t, self.q, self.v, self.p = time, formulation.q, formulation.v, formulation.p
        self.manifold = formulation.manifold
        u = ca.SX.sym("u", self.v.shape[0])
        q_of_u = ca.densify(self.manifold.retract(self.q, u, "cayley"))  # all maps agree to first order
        self.along = ca.substitute(ca.jacobian(q_of_u, u), u, ca.SX.zeros(u.shape))

    @cached_property
    def kinetic_energy(self):
        """T(t, q, v)."""
        return self.f.to_state_symbols(self.f.kinetic_energy())

    @cached_property
    def momenta(self):
        """π(t, q, v): (1)."""
        return ca.densify(ca.gradient(self.kinetic_energy, self.v))

    @cached_property
    def mass_matrix(self):
        """∂π/∂v, sparse: the mass matrix of the formulation."""
        return self.f.mass_matrix()

    @cached_property
    def energy_gradient(self):
        """∂T/∂q along the group: (1)."""
        return self.gradient(self.kinetic_energy)

    @cached_property
    def applied_forces(self):
        """Q(t, q, v): (1)."""
        return ca.densify(self.f.applied_forces())

    @cached_property
    def coadjoint_term(self):
        """ad(v)ᵀ π: (1)."""
        return ca.densify(self.manifold.ad(self.v).T @ self.momenta)

    def gradient(self, expression):
        """The derivative of a scalar expression along x → x · exp(η), as a column."""
        return ca.densify(self.along.T @ ca.gradient(expression, self.q))

    def rate(self, expression, a):
        """The rate of a column of expressions of t, q, v along a motion with v̇ = a."""
        states = ca.vertcat(self.q, self.v, self.t)
        return ca.jtimes(expression, states, ca.vertcat(self.along @ self.v, a, 1))

    def momentum_rate(self, lam):
        """π̇ with multipliers of the rows in use: (1)."""
        G = self.f.jacobian()[self.f.keep, :]
        return self.coadjoint_term + self.energy_gradient + self.applied_forces + G.T @ lam
