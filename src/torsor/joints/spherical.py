"""Rotation about a point."""

from dataclasses import dataclass

import casadi as ca

from ..lie import se3, so3
from ..registry import register
from .base import Joint
from .directions import TRANSLATIONS
from .elementary_motion import ElementaryMotion


@register("spherical")
@dataclass(frozen=True, eq=False)
class Spherical(Joint):
    """Rotation about a common point; coordinates: rotation vector of R, velocities: relative angular velocity.

    H(q) = (exp(q~), 0)                                            (1)
    V    = S v,           S = (1, 0),   v = dexp(−q) q̇             (2)
    0    = p                                                       (3)
    """

    drawing = "ball"
    anchored = True
    dof = 3
    angular = (False, False, False)
    quasi = True

    def pose(self, q: ca.SX) -> ca.SX:
        return se3.pose(so3.exp(q), ca.SX.zeros(3))  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        return se3.twist(angular=ca.SX.eye(3), linear=ca.SX.zeros(3, 3))  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        R, _ = se3.split_pose(H)
        return so3.log(R)

    def residual(self, H: ca.SX) -> ca.SX:
        _, p = se3.split_pose(H)
        return p  # (3)

    def directions(self) -> list[str]:
        return list(TRANSLATIONS)

    def sequence(self) -> list[ElementaryMotion]:
        return [ElementaryMotion("ball")]
