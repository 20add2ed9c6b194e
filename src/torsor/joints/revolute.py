"""Rotation about one axis."""

from dataclasses import dataclass

import casadi as ca

from ..elements.quantity import Axis
from ..lie import se3, so3
from ..registry import register
from .alignment import about, tilt
from .base import Joint
from .directions import TRANSLATIONS, rotation_rows
from .elementary_motion import ElementaryMotion


@register("revolute")
@dataclass(frozen=True, eq=False)
class Revolute(Joint):
    """Rotation about one axis that is fixed in both bodies.

        H(q) = (exp(q â), 0)                                           (1)
        V    = S v,           S = (a, 0)                               (2)
        0    = p,  0 = n₁·R a,  0 = n₂·R a                             (3)

    H = (R, p)  pose of the second body's joint frame in the first's   [-, m]
    a           unit axis, equal in both frames; n₁, n₂ ⟂ a            [-]
    """

    drawing = "hinge"
    anchored = True
    dof = 1
    axial = True
    angular = (True,)
    variants = ({}, {"axis": (1, -2, 0.5)})
    axis: Axis = (0, 0, 1)

    def pose(self, q: ca.SX) -> ca.SX:
        return se3.pose(so3.rotation(self.first_axis(), q), ca.SX.zeros(3))  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        return se3.twist(angular=self.first_axis(), linear=ca.SX.zeros(3))  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        R, _ = se3.split_pose(H)
        return about(R, self.first_axis())

    def residual(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        return ca.vertcat(p, tilt(R, self.first_axis()))  # (3)

    def directions(self) -> list[str]:
        return TRANSLATIONS + rotation_rows(self.first_axis())

    def sequence(self) -> list[ElementaryMotion]:
        return [ElementaryMotion("hinge", self.first_axis())]
