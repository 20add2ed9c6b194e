"""Hamilton's equations in joint coordinates and in those of the bodies: momenta are state (Bai, eq. 40 to 46 [bai2024]).

    q̇ = q v,      v = M⁻¹ (π − m)                                                                    (1)
    π̇ = ad(v)ᵀ π + ∂T/∂q + Q + Gᵀ λ                                                                 (2)

The configuration and its constraints are those of the formulation with velocities; the momenta are conjugate to its velocities
(`momenta.py`). A coordinate that neither energy nor forces depend on has a constant momentum, here to the rounding of a sum.
"""

import casadi as ca

from ..registry import register
from . import recursions
from .absolute import Absolute
from .relative import Relative


@register("hamiltonian")
class Hamiltonian(Relative):
    """Joint coordinates and their conjugate momenta: for trees, and where momenta matter."""

    conjugate = True

    def schedules(self, layout):
        return {}  # those of joint coordinates are made for velocities

    def factored(self, G):
        """As in joint coordinates; without constraints M⁻¹ by the recursion of articulated bodies: (1)."""
        factor, read = super().factored(G)
        return factor, read if self.keep else lambda F: read(F)._replace(over_mass=lambda b: self._recursion(b)[0])

    def inertias(self):
        felt = self._recursion(ca.SX.zeros(self.v.shape))[1]
        return ca.substitute(felt, self.q, ca.DM(self.manifold.identity()))

    def _recursion(self, b):
        """M⁻¹ b, and the diagonal of the inertia that joints feel."""
        ends = [self.offset[id(link)] for link in self.links]
        parts = dict(zip(map(id, self.links), ca.vertsplit(b, [*ends, b.shape[0]])))
        rates, felt = recursions.over_mass(self.links, parts)
        columns = [[rates[id(link)], ca.diag(felt[id(link)])] for link in self.links]
        return [ca.densify(ca.vertcat(*column)) for column in zip(*columns)]


@register("hamiltonian-rotations")
class HamiltonianRotations(Hamiltonian):
    """As hamiltonian, with rotation matrices in the place of angles: 30 unknowns of the platform instead of 6. For comparison;
    [bai2024], eq. 43 and 44."""

    rotations = True


@register("hamiltonian-absolute")
class HamiltonianAbsolute(Absolute):
    """Coordinates of every body and their momenta (m ẋ, J ω); joints are constraints."""

    conjugate = True

    def inertias(self):
        return ca.diag(self.mass_matrix())
