"""Rotation about two axes that cross."""

from dataclasses import dataclass

import casadi as ca

from ..elements.quantity import Axis
from ..errors import ModelError
from ..lie import se3, so3
from ..registry import register
from .base import Joint
from .directions import TRANSLATIONS, direction
from .elementary_motion import ElementaryMotion


@register("universal")
@dataclass(frozen=True, eq=False)
class Universal(Joint):
    """Two crossing perpendicular axes: `axis` fixed in the first body, `second_axis` in the second (Hooke, Cardan).

    H(q) = (exp(q₀ â) exp(q₁ b̂), 0)                                (1)
    V    = S v,           S = [(exp(−q₁ b̂) a, 0), (b, 0)]          (2)
    0    = p,  0 = a·R b                                           (3)
    """

    drawing = "universal"
    anchored = True
    dof = 2
    angular = (True, True)
    variants = ({}, {"axis": (1, -2, 0.5), "second_axis": (2, 1, 0)})
    axis: Axis = (1, 0, 0)
    second_axis: Axis = (0, 1, 0)

    def axes(self) -> tuple[ca.SX, ca.SX]:
        a, b = self.first_axis(), self.first_axis("second_axis")
        slant = ca.dot(a, b)
        if slant.is_constant() and abs(float(slant)) > 1e-9:
            raise ModelError(f"{self.owner}: axis and second_axis must be perpendicular, a·b = {float(slant):.3g}")
        return a, b

    def pose(self, q: ca.SX) -> ca.SX:
        a, b = self.axes()
        return se3.pose(so3.rotation(a, q[0]) @ so3.rotation(b, q[1]), ca.SX.zeros(3))  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        a, b = self.axes()
        first = so3.rotation(b, -q[1]) @ a
        return se3.twist(angular=ca.horzcat(first, b), linear=ca.SX.zeros(3, 2))  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        R, _ = se3.split_pose(H)
        a, b = self.axes()
        c = ca.cross(a, b)
        turned, back = R @ b, R.T @ a  # R b = exp(q₀ â) b,  Rᵀ a = exp(−q₁ b̂) a
        return ca.vertcat(ca.atan2(ca.dot(c, turned), ca.dot(b, turned)), ca.atan2(ca.dot(c, back), ca.dot(a, back)))

    def residual(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        a, b = self.axes()
        return ca.vertcat(p, ca.dot(a, R @ b))  # (3)

    def directions(self) -> list[str]:
        a, b = self.axes()
        return TRANSLATIONS + [f"rotation about {direction(ca.cross(a, b))}"]

    def sequence(self) -> list[ElementaryMotion]:
        return [ElementaryMotion("hinge", a) for a in self.axes()]
