"""Any motion."""

from dataclasses import dataclass

import casadi as ca

from ..lie import se3, so3
from ..registry import register
from .base import Joint
from .elementary_motion import ElementaryMotion


@register("free")
@dataclass(frozen=True, eq=False)
class Free(Joint):
    """No constraint: names the relative pose of two bodies. Coordinates: rotation vector, then position.

    H(q) = (exp(q₀₁₂ ~), q₃₄₅)                                     (1)
    V    = S v,   S = 1                                            (2)
    """

    drawing = "free"
    dof = 6
    angular = (False,) * 6
    quasi = True

    def pose(self, q: ca.SX) -> ca.SX:
        turn, shift = se3.split(q)
        return se3.pose(so3.exp(turn), shift)  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        return ca.SX.eye(6)  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        return se3.twist(so3.log(R), p)

    def residual(self, H: ca.SX) -> ca.SX:
        return ca.SX(0, 1)

    def directions(self) -> list[str]:
        return []

    def sequence(self) -> list[ElementaryMotion]:
        return [ElementaryMotion("free")]
