"""Translation along one axis."""

from dataclasses import dataclass

import casadi as ca

from ..elements.quantity import Axis
from ..lie import se3
from ..registry import register
from .alignment import no_turn, normals
from .base import Joint
from .directions import X, direction
from .elementary_motion import ElementaryMotion


@register("prismatic")
@dataclass(frozen=True, eq=False)
class Prismatic(Joint):
    """Translation along one axis.

    H(q) = (1, q a)                                                (1)
    V    = S v,           S = (0, a)                               (2)
    0    = n₁·p,  0 = n₂·p,  0 = vee(R − Rᵀ)/2                     (3)
    """

    drawing = "slider"
    dof = 1
    axial = True
    angular = (False,)
    variants = ({}, {"axis": (1, -2, 0.5)})
    axis: Axis = (0, 0, 1)

    def pose(self, q: ca.SX) -> ca.SX:
        return se3.pose(ca.SX.eye(3), q * self.first_axis())  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        return se3.twist(angular=ca.SX.zeros(3), linear=self.first_axis())  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        _, p = se3.split_pose(H)
        return ca.dot(self.first_axis(), p)

    def residual(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        n1, n2 = normals(self.first_axis())
        return ca.vertcat(ca.dot(n1, p), ca.dot(n2, p), no_turn(R))  # (3)

    def directions(self) -> list[str]:
        names = [f"translation along {direction(n)}" for n in normals(self.first_axis())]
        return names + [f"rotation about {x}" for x in X]

    def sequence(self) -> list[ElementaryMotion]:
        return [ElementaryMotion("slide", self.first_axis())]
