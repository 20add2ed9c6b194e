"""Hamilton's equations in joint coordinates and in those of the bodies: momenta are state (Bai, eq. 40 to 46 [bai2024]).

    q̇ = q v,      v = M⁻¹ (π − m)                                                                    (1)
    π̇ = ad(v)ᵀ π + ∂T/∂q + Q + Gᵀ λ                                                                 (2)

The configuration and its constraints are those of the formulation with velocities; the momenta are conjugate to its velocities
(`formulations/algebra/momenta.py`). If neither the energy nor the forces depend on a coordinate, its momentum is constant
except for rounding.
"""

import casadi as ca

from ..registry import register
from .absolute import Absolute
from .algebra import recursions
from .algebra.factorisation import mass_solver
from .relative import Relative


@register("hamiltonian")
class Hamiltonian(Relative):
    """Joint coordinates and their conjugate momenta: for trees, and where momenta matter."""

    conjugate = True
    switches = "dependent"

    def schedules(self, layout):
        return {}  # the schedules of joint coordinates support velocities only

    def factorise(self, G):
        """As in joint coordinates; without constraints, M⁻¹ b by the articulated-body algorithm: (1)."""
        factor, read = super().factorise(G)
        if self.keep:
            return factor, read
        over_mass = mass_solver(self.mass_matrix()) if self.coupled else lambda b: self._recursion(b)[0]
        return factor, lambda F: read(F)._replace(over_mass=over_mass)

    def inertias(self):
        inertias = self._recursion(ca.SX.zeros(self.v.shape))[1]
        return ca.substitute(inertias, self.q, ca.DM(self.manifold.identity()))

    def _recursion(self, b):
        """M⁻¹ b, and the diagonal of the articulated inertia of each joint."""
        ends = [self.offset[id(link)] for link in self.links]
        b_of_link = dict(zip(map(id, self.links), ca.vertsplit(b, [*ends, b.shape[0]])))
        rates, inertias = recursions.inverse_mass_product(self.links, b_of_link)
        columns = [[rates[id(link)], ca.diag(inertias[id(link)])] for link in self.links]
        return [ca.densify(ca.vertcat(*column)) for column in zip(*columns)]


@register("hamiltonian-rotations")
class HamiltonianRotations(Hamiltonian):
    """As hamiltonian, with rotation matrices instead of angles: 30 unknowns of the platform instead of 6. For comparison;
    [bai2024], eq. 43 and 44."""

    switches = "dependent"
    rotations = True


@register("hamiltonian-absolute")
class HamiltonianAbsolute(Absolute):
    """Coordinates of every body and their momenta (m ẋ, J ω); joints are constraints."""

    conjugate = True
    switches = "dependent"

    def inertias(self):
        return ca.diag(self.mass_of_bodies())
