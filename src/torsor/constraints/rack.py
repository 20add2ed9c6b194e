"""A pinion on a rack, and a screw that drives a slide."""

from dataclasses import dataclass
from typing import Any

import casadi as ca

from ..elements.element import REQUIRED
from ..elements.quantity import Number
from ..joints.base import Joint
from ..registry import register
from .joint_relation import JointRelation, nonzero


@register("rack")
@dataclass(frozen=True, eq=False)
class Rack(JointRelation):
    """A pinion rolls on a rack, a drum on a belt: the displacement of a slide follows an angle.

        0 = x − r φ                                                    (1)

    joint, other   the slide, x, and the pinion, φ
    radius         r of the pitch circle; negative where the slide moves the other way      [m]
    index, other_index   which coordinates
    """

    variants = ({"radius": 0.2}, {"radius": -0.05})
    joint: Joint = REQUIRED
    other: Joint = REQUIRED
    radius: Number = REQUIRED
    index: int = 0
    other_index: int = 0

    def members(self) -> list[tuple[Joint, int, Any]]:
        radius = nonzero(self, "radius", self.radius)
        return [(self.joint, self.index, 1.0), (self.other, self.other_index, -radius)]  # (1)


@register("screw-drive")
@dataclass(frozen=True, eq=False)
class ScrewDrive(JointRelation):
    """A spindle that is turned in one joint moves a nut in another: lead screws, ball screws, jacks.

        0 = φ − 2π x / h                                               (1)

    An `efficiency` below ½ makes it self-locking: the load does not turn the spindle.

    joint, other   the spindle, φ, and the slide of the nut, x
    lead           h, displacement in one turn; negative for a left-hand thread             [m]
    index, other_index   which coordinates
    """

    variants = ({"lead": 0.3},)
    joint: Joint = REQUIRED
    other: Joint = REQUIRED
    lead: Number = REQUIRED
    index: int = 0
    other_index: int = 0

    def members(self) -> list[tuple[Joint, int, Any]]:
        lead = nonzero(self, "lead", self.lead)
        return [(self.joint, self.index, 1.0), (self.other, self.other_index, -2 * ca.pi / lead)]  # (1)
