"""No relative motion."""

from dataclasses import dataclass

import casadi as ca

from ..lie import se3
from ..registry import register
from .alignment import no_turn
from .base import Joint
from .directions import TRANSLATIONS, X
from .elementary_motion import ElementaryMotion


@register("fixed")
@dataclass(frozen=True, eq=False)
class Fixed(Joint):
    """No relative motion: two bodies as one.

    H = 1                                                          (1)
    0 = p,  0 = vee(R − Rᵀ)/2                                      (2)
    """

    drawing = "fixed"
    anchored = True
    dof = 0

    def pose(self, q: ca.SX) -> ca.SX:
        return ca.SX.eye(4)  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        return ca.SX(6, 0)

    def coordinates(self, H: ca.SX) -> ca.SX:
        return ca.SX(0, 1)

    def residual(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        return ca.vertcat(p, no_turn(R))  # (2)

    def directions(self) -> list[str]:
        return TRANSLATIONS + [f"rotation about {x}" for x in X]

    def sequence(self) -> list[ElementaryMotion]:
        return []
