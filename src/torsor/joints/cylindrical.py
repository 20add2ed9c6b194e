"""Rotation about and translation along one axis."""

from dataclasses import dataclass

import casadi as ca

from ..elements.quantity import Axis
from ..lie import se3, so3
from ..registry import register
from .alignment import about, normals, tilt
from .base import Joint
from .directions import direction, rotation_rows
from .elementary_motion import ElementaryMotion


@register("cylindrical")
@dataclass(frozen=True, eq=False)
class Cylindrical(Joint):
    """Rotation about and translation along one axis: coordinates (angle, displacement).

    H(q) = (exp(q₀ â), q₁ a)                                       (1)
    V    = S v,           S = [(a, 0), (0, a)]                     (2)
    0    = n₁·p,  0 = n₂·p,  0 = n₁·R a,  0 = n₂·R a               (3)
    """

    drawing = "cylinder"
    dof = 2
    axial = True
    angular = (True, False)
    forms_group = True
    variants = ({}, {"axis": (1, -2, 0.5)})
    axis: Axis = (0, 0, 1)

    def pose(self, q: ca.SX) -> ca.SX:
        return se3.pose(so3.rotation(self.first_axis(), q[0]), q[1] * self.first_axis())  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        a, none = self.first_axis(), ca.SX.zeros(3)
        return ca.horzcat(se3.twist(angular=a, linear=none), se3.twist(angular=none, linear=a))  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        return ca.vertcat(about(R, self.first_axis()), ca.dot(self.first_axis(), p))

    def residual(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        n1, n2 = normals(self.first_axis())
        return ca.vertcat(ca.dot(n1, p), ca.dot(n2, p), tilt(R, self.first_axis()))  # (3)

    def directions(self) -> list[str]:
        names = [f"translation along {direction(n)}" for n in normals(self.first_axis())]
        return names + rotation_rows(self.first_axis())

    def sequence(self) -> list[ElementaryMotion]:
        a = self.first_axis()
        return [ElementaryMotion("hinge", a), ElementaryMotion("slide", a)]
