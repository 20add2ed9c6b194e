"""Motion in a plane."""

from dataclasses import dataclass

import casadi as ca

from ..elements.quantity import Axis
from ..lie import se3, so3
from ..registry import register
from .alignment import about, normals, tilt
from .base import Joint
from .directions import direction, rotation_rows
from .elementary_motion import ElementaryMotion


@register("planar")
@dataclass(frozen=True, eq=False)
class Planar(Joint):
    """Motion in the plane normal to `axis`: coordinates (displacement along n₁, along n₂, angle).

    H(q) = (exp(q₂ â), q₀ n₁ + q₁ n₂)                              (1)
    V    = S v,   S = [(0, Rᵀ n₁), (0, Rᵀ n₂), (a, 0)]             (2)
    0    = a·p,  0 = n₁·R a,  0 = n₂·R a                           (3)
    """

    drawing = "plane"
    dof = 3
    angular = (False, False, True)
    forms_group = True
    variants = ({}, {"axis": (1, -2, 0.5)})
    axis: Axis = (0, 0, 1)

    def pose(self, q: ca.SX) -> ca.SX:
        n1, n2 = normals(self.first_axis())
        return se3.pose(so3.rotation(self.first_axis(), q[2]), q[0] * n1 + q[1] * n2)  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        a, none = self.first_axis(), ca.SX.zeros(3)
        back = so3.rotation(a, -q[2])
        slides = [se3.twist(angular=none, linear=back @ n) for n in normals(a)]
        return ca.horzcat(*slides, se3.twist(angular=a, linear=none))  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        n1, n2 = normals(self.first_axis())
        return ca.vertcat(ca.dot(n1, p), ca.dot(n2, p), about(R, self.first_axis()))

    def residual(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        return ca.vertcat(ca.dot(self.first_axis(), p), tilt(R, self.first_axis()))  # (3)

    def directions(self) -> list[str]:
        return [f"translation along {direction(self.first_axis())}"] + rotation_rows(self.first_axis())

    def sequence(self) -> list[ElementaryMotion]:
        a = self.first_axis()
        return [*[ElementaryMotion("slide", n) for n in normals(a)], ElementaryMotion("hinge", a)]
