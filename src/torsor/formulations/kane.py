"""Kane's equations: partial velocities with generalised speeds that may be chosen (Kane and Levinson, ch. 4 and 6 [kane1985]).

    u  = Y(q) v + …                              generalised speeds, Y invertible                        (1)
    V̇ₖ = ∂Vₖ/∂v v̇ + aₖ,     V_r = ∂V/∂v Y⁻¹      partial velocities, V = (ẋ, ω) of every body             (2)
    F_r + F_r* + Gᵀ λ = 0:     V_rᵀ D V_r s = V_rᵀ (f − D a − ω × J ω) + Y⁻ᵀ Gᵀ λ,     v̇ = Y⁻¹ s         (3)

v   joint velocities, which are state       aₖ   rate of Vₖ at constant v       [m/s², rad/s²]
D   masses and inertias of the bodies       f    applied forces and torques     [N, N m]

The matrix that is factored is that of the speeds: it is sparse where they suit the mechanism. λ follows as in joint coordinates.
"""

import casadi as ca

from ..registry import register
from .algebra.factorisation import Factor, column, mass_solver, spreading
from .base import Solvers
from .graphs.run_kernels import replace_conditioning
from .relative import Relative


@register("kane")
class Kane(Relative):
    """Kane's equations in joint coordinates, by partial velocities. A class derived from it may choose the generalised `speeds`."""

    switches = "dependent"

    def speeds(self) -> ca.SX:
        """Generalised speeds u, linear in the joint velocities `self.v`; by default these themselves."""
        return self.v

    def schedules(self, layout):
        return {}

    def partial_velocities(self):
        """Velocities (ẋ, ω) of all bodies in one column, and their derivatives by the joint velocities."""
        V = ca.vertcat(*[ca.vertcat(*self.motion.body(link)[2:]) for link in self.links])
        return V, ca.sparsify(ca.jacobian(V, self.v))

    def inertia(self):
        """D: masses and moments of inertia of all bodies."""
        return ca.diagcat(*[ca.diagcat(link.body.mass * ca.SX.eye(3), link.body.inertia) for link in self.links])

    def mass_matrix(self):
        _, J = self.partial_velocities()
        rotors = ca.diagcat(
            *[sum(map(ca.diag, link.armature), ca.SX(link.v.shape[0], link.v.shape[0])) for link in self.links]
        )
        return self.add_coupled_rotors(ca.sparsify(J.T @ self.inertia() @ J + rotors))

    def inverse_dynamics(self, a):
        V, J = self.partial_velocities()
        gyroscopic = []
        for link in self.links:
            w = self.motion.body(link)[3]
            gyroscopic += [ca.SX.zeros(3), ca.cross(w, link.body.inertia @ w)]
        inertia_forces = self.inertia() @ (J @ a + self.rate_of(V)) + ca.vertcat(*gyroscopic)  # (2)
        forces = ca.densify(J.T @ inertia_forces) - self.applied_forces()
        return forces + self._forces_of_rotors(a)

    def _forces_of_rotors(self, a):
        """A v̇ of the rotors in links, and the forces of all others."""
        total = self.forces_of_coupled_rotors(a)
        for link in self.links:
            own = range(self.offset[id(link)], self.offset[id(link)] + link.v.shape[0])
            for A in link.armature:
                total[own] += A * a[own]
        return total

    def factorise(self, G):
        """Y⁻¹, the factors of the speeds' mass matrix and of S as one column, and a function that makes the solvers: (3)."""
        n = self.v.shape[0]
        Y = ca.jacobian(self.speeds(), self.v)
        inverse = ca.sparsify(ca.solve(Y, ca.SX.eye(n)))  # (1)
        M = ca.sparsify(inverse.T @ self.mass_matrix() @ inverse)
        if not self.keep:

            def free(gamma):
                return inverse @ mass_solver(M)(-(inverse.T @ self.bias())), ca.SX(0, 1)  # (3)

            return ca.SX.ones(1), lambda F: Solvers(free, lambda b: (ca.SX.zeros(n), b))
        factor, stored = (
            Factor(ca.sparsify(G @ inverse), M, self.row_units(), self.activity(self.keep), self.softness(self.keep)),
            column(inverse),
        )

        def read(F):
            own = ca.SX(inverse.sparsity(), F[: stored.shape[0]])
            partial_G, solve, over_mass = factor.read(F[stored.shape[0] :])

            def accelerations(gamma):
                s = over_mass(-(own.T @ self.bias()))
                lam = solve(gamma - partial_G @ s)
                return own @ (s + over_mass(partial_G.T @ lam)), lam  # (3)

            def spread(lam):
                return own @ over_mass(partial_G.T @ lam)

            return Solvers(
                accelerations,
                spreading(solve, spread),
                G=ca.SX(G.sparsity(), F[-G.nnz() - 1 : -1]),
                over_mass=lambda b: own @ over_mass(own.T @ b),
            )

        vector = factor.vector()
        return replace_conditioning(self, ca.densify(ca.vertcat(stored, vector[:-1], column(G), vector[-1])), G), read
