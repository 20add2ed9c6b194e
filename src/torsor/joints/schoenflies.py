"""Translation in space and rotation about one direction."""

from dataclasses import dataclass

import casadi as ca

from ..elements.quantity import Axis
from ..lie import se3, so3
from ..registry import register
from .alignment import about, tilt
from .base import Joint
from .directions import rotation_rows
from .elementary_motion import ElementaryMotion


@register("schoenflies")
@dataclass(frozen=True, eq=False)
class Schoenflies(Joint):
    """Translation in all directions and rotation about `axis` (Schoenflies motion; "planar motion + spatial translation" in
    [mueller2009]): coordinates (displacement along x, y, z of the reference configuration, angle).

    H(q) = (exp(q₃ â), p),   p = (q₀, q₁, q₂)                      (1)
    V    = S v,   S = [(0, Rᵀ), (a, 0)]                            (2)
    0    = n₁·R a,  0 = n₂·R a                                     (3)

    a          unit axis, equal in both frames; n₁, n₂ ⟂ a         [-]
    p          displacement of the second frame, in axes of the first   [m]

    [mueller2009], Tables 1 and 2. The selector that Table 2 prints there belongs to a translation across the axis; the rows
    of Table 1 are meant, and are those here.
    """

    drawing = "cylinder"
    dof = 4
    angular = (False, False, False, True)
    forms_group = True
    variants = ({}, {"axis": (1, -2, 0.5)})
    axis: Axis = (0, 0, 1)

    def pose(self, q: ca.SX) -> ca.SX:
        return se3.pose(so3.rotation(self.first_axis(), q[3]), ca.vertcat(q[0], q[1], q[2]))  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        a = self.first_axis()
        slides = se3.twist(angular=ca.SX.zeros(3, 3), linear=so3.rotation(a, -q[3]))
        return ca.horzcat(slides, se3.twist(angular=a, linear=ca.SX.zeros(3)))  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        return ca.vertcat(p, about(R, self.first_axis()))

    def residual(self, H: ca.SX) -> ca.SX:
        R, _ = se3.split_pose(H)
        return tilt(R, self.first_axis())  # (3)

    def directions(self) -> list[str]:
        return rotation_rows(self.first_axis())

    def sequence(self) -> list[ElementaryMotion]:
        slides = [ElementaryMotion("slide", x) for x in ca.horzsplit(ca.SX.eye(3))]
        return [*slides, ElementaryMotion("hinge", self.first_axis())]
