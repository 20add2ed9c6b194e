"""Gravity of a planet on a satellite, with its torque."""

from dataclasses import dataclass
from typing import Any, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import REQUIRED, Posed
from ..elements.quantity import Number
from ..errors import ModelError
from ..registry import register
from .base import Force
from .motor import check_numbers

EARTH = 3.986004418e14  # G times the mass of the Earth [m³/s²]


@register("central-gravity")
@dataclass(frozen=True, eq=False)
class CentralGravity(Force):
    """Attraction of a rigid body by a sphere, force and torque, with the gravity gradient over the body (MacCullagh's formula).

        U = −μ m/r − μ/(2 r³) (tr J − 3 n·J n),   x = r n              (1)

    x is the way from the centre of `first` to that of `second`, J the inertia of `second` in the world. The torque is
    3 μ/r³ n × J n.

    first       the sphere: a body, or the ground
    second      the body that has an extent
    parameter   μ = G M; default: the Earth's                                                          [m³/s²]
    gradient    False: without the second term, as for a particle
    """

    drawing = "none"
    not_drawn = "it acts at a distance, in all of a body"
    variants = ({"parameter": 3.0}, {"parameter": 2.0, "gradient": False})
    first: Posed = REQUIRED
    second: Any = REQUIRED
    parameter: Number = EARTH
    gradient: bool = True

    def attach(self) -> Self:
        quantity.check_true_false_or_none(self.gradient, "gradient", self.owner)
        if not hasattr(self.second, "mass"):
            raise ModelError(f"{self.owner}: second must be a body, got {self.second.owner}")
        check_numbers(self, not_negative=("parameter",))
        return self

    @property
    def own_code(self) -> bool:
        return True  # mass and inertia of the body are in it

    def potential(self) -> ca.SX | None:
        mu = quantity.scalar(self.parameter, "parameter", self.owner)
        x = self.second.position - self.first.position
        r = ca.sqrt(ca.sumsqr(x))
        U = -mu * self.second.mass / r
        if self.gradient and not getattr(self.second, "particle", False):
            J, n = ca.SX(self.second.inertia), self.second.rotation.T @ x / r
            U -= mu / (2 * r**3) * (ca.trace(J) - 3 * ca.dot(n, J @ n))  # (1)
        return U
