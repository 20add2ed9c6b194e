"""Translation in a plane."""

from dataclasses import dataclass

import casadi as ca

from ..elements.quantity import Axis
from ..lie import se3
from ..registry import register
from .alignment import no_turn, normals
from .base import Joint
from .directions import X, direction
from .elementary_motion import ElementaryMotion


@register("planar-translation")
@dataclass(frozen=True, eq=False)
class PlanarTranslation(Joint):
    """Translation in the plane normal to `axis`, without rotation: coordinates (displacement along n₁, along n₂).

    H(q) = (1, q₀ n₁ + q₁ n₂)                                      (1)
    V    = S v,   S = [(0, n₁), (0, n₂)]                           (2)
    0    = a·p,  0 = vee(R − Rᵀ)/2                                 (3)

    a          unit normal of the plane, equal in both frames; n₁, n₂ ⟂ a   [-]

    [mueller2009], Tables 1 and 2.
    """

    drawing = "plane"
    dof = 2
    angular = (False, False)
    variants = ({}, {"axis": (1, -2, 0.5)})
    axis: Axis = (0, 0, 1)

    def pose(self, q: ca.SX) -> ca.SX:
        n1, n2 = normals(self.first_axis())
        return se3.pose(ca.SX.eye(3), q[0] * n1 + q[1] * n2)  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        n1, n2 = normals(self.first_axis())
        return se3.twist(angular=ca.SX.zeros(3, 2), linear=ca.horzcat(n1, n2))  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        _, p = se3.split_pose(H)
        return ca.vertcat(*[ca.dot(n, p) for n in normals(self.first_axis())])

    def residual(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        return ca.vertcat(ca.dot(self.first_axis(), p), no_turn(R))  # (3)

    def directions(self) -> list[str]:
        return [f"translation along {direction(self.first_axis())}", *[f"rotation about {x}" for x in X]]

    def sequence(self) -> list[ElementaryMotion]:
        return [ElementaryMotion("slide", n) for n in normals(self.first_axis())]
