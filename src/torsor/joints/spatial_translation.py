"""Translation in space."""

from dataclasses import dataclass

import casadi as ca

from ..lie import se3
from ..registry import register
from .alignment import no_turn
from .base import Joint
from .directions import X
from .elementary_motion import ElementaryMotion


@register("spatial-translation")
@dataclass(frozen=True, eq=False)
class SpatialTranslation(Joint):
    """Translation in all directions, without rotation: coordinates (displacement along x, y, z of the reference configuration).

    H(q) = (1, q)                                                  (1)
    V    = S v,   S = (0, 1)                                       (2)
    0    = vee(R − Rᵀ)/2                                           (3)

    q, p       displacement of the second frame, in axes of the first   [m]

    [mueller2009], Tables 1 and 2.
    """

    drawing = "other"
    dof = 3
    angular = (False, False, False)

    def pose(self, q: ca.SX) -> ca.SX:
        return se3.pose(ca.SX.eye(3), q)  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        return se3.twist(angular=ca.SX.zeros(3, 3), linear=ca.SX.eye(3))  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        _, p = se3.split_pose(H)
        return p

    def residual(self, H: ca.SX) -> ca.SX:
        R, _ = se3.split_pose(H)
        return no_turn(R)  # (3)

    def directions(self) -> list[str]:
        return [f"rotation about {x}" for x in X]

    def sequence(self) -> list[ElementaryMotion]:
        return [ElementaryMotion("slide", x) for x in ca.horzsplit(ca.SX.eye(3))]
