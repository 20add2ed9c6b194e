"""Hamilton's equations in joint coordinates and in those of the bodies: momenta are state (Bai, eq. 40 to 46 [bai2024]).

    q̇ = q v,      v = M⁻¹ (π − m)                                                                    (1)
    π̇ = ad(v)ᵀ π + ∂T/∂q + Q + Gᵀ λ                                                                 (2)

The configuration and its constraints are those of the formulation with velocities; the momenta are conjugate to its velocities
(`momenta.py`). A coordinate that neither energy nor forces depend on has a constant momentum, here to the rounding of a sum.
"""

import casadi as ca

from ..registry import register
from . import momenta
from .absolute import Absolute
from .base import Solvers
from .factor import as_column, solver
from .relative import Relative


@register("hamiltonian")
class Hamiltonian(Relative):
    """Joint coordinates and their conjugate momenta: for trees, and where momenta matter."""

    conjugate = True

    def conjugates(self, solvers, inputs, gamma):
        return momenta.functions(self, solvers, inputs, gamma)

    def schedules(self, layout):
        return {}

    def factored(self, G):
        """As in joint coordinates; without constraints M = Lᵀ D L alone, tips before roots: (1)."""
        if self.keep:
            return super().factored(G)
        n = self.v.shape[0]
        order, M = list(range(n))[::-1], self.mass_matrix()
        D, LT, _ = ca.ldl(M[order, order], False)
        held, read = as_column([ca.sparsify(LT), 1 / D])

        def reading(F):
            upper, inverse = read(F)
            over_mass = solver(upper + ca.SX.eye(n), ca.densify(inverse), order)
            free = lambda gamma: (-over_mass(self.bias()), ca.SX(0, 1))
            return Solvers(free, lambda b: (ca.SX.zeros(n), b), over_mass=over_mass)

        return ca.vertcat(held, 1), reading


@register("hamiltonian-absolute")
class HamiltonianAbsolute(Absolute):
    """Coordinates of every body and their momenta (m ẋ, J ω); joints are constraints."""

    conjugate = True

    def conjugates(self, solvers, inputs, gamma):
        return momenta.functions(self, solvers, inputs, gamma)
