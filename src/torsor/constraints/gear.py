"""A pair of gear wheels."""

from dataclasses import dataclass
from typing import Any, Self

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.element import REQUIRED
from ..elements.quantity import Number
from ..errors import ModelError
from ..joints.base import Joint
from ..lie import pose_stacks, se3
from ..registry import register
from .joint_relation import JointRelation, nonzero, numbers_of_teeth, require_joint

PARALLEL_WITHIN = 1e-6  # |a₁ × a₂| of unit axes, below which they are parallel


@register("gear")
@dataclass(frozen=True, eq=False)
class Gear(JointRelation):
    """Two wheels that roll on each other: spur, internal, bevel and worm gears.

        0 = q − i q'                     with a ratio, in the joints' own coordinates               (1)
        0 = z φ + z' φ'                  external teeth, φ and φ' relative to the carrier           (2)
        0 = z φ − z' φ'                  internal teeth: one of the two is a ring                   (3)

    In (2) and (3) the axes are parallel and both angles count about the same direction; the carrier is the body that both joints
    share, or the moving body of the joint `carrier`, whose coordinate is then subtracted from that of a joint which starts from the
    same body as it. Bearings carry the torques, not the forces of the teeth. For axes that cross give the ratio.

    joint, other    the joints of the two wheels
    teeth           (z, z')                                                                   [-]
    ratio           i, instead of the teeth                                                   [-]
    internal        True: one of the wheels is a ring with teeth inside
    carrier         the joint of the arm that both axes sit on, where it moves
    index, other_index   which coordinates
    """

    variants = ({"ratio": -0.5}, {"ratio": 2.0, "index": 0})
    joint: Joint = REQUIRED
    other: Joint = REQUIRED
    teeth: Any = None
    ratio: Number | None = None
    internal: bool = False
    carrier: Any = None
    index: int = 0
    other_index: int = 0
    optional = ("carrier",)

    def attach(self) -> Self:
        if (self.teeth is None) == (self.ratio is None):
            raise ModelError(f"{self.owner}: give either teeth or ratio")
        if self.ratio is not None and (self.internal or self.carrier is not None):
            raise ModelError(f"{self.owner}: internal and carrier go with teeth; a ratio has the sign that you give it")
        for joint in (self.joint, self.other):
            require_joint(self, joint)
        return super().attach()

    def members(self) -> list[tuple[Joint, int, Any]]:
        pair = ((self.joint, self.index), (self.other, self.other_index))
        if self.ratio is not None:
            return [(*pair[0], 1.0), (*pair[1], -nonzero(self, "ratio", self.ratio))]  # (1)
        if self.joint is self.other and self.index == self.other_index:
            return [(*pair[0], 1.0), (*pair[1], 1.0)]  # refused when it is added
        z, z_other = numbers_of_teeth(self, self.teeth, 2)
        signs = self._directions(pair)
        coefficients = [z * signs[0], (-z_other if self.internal else z_other) * signs[1]]  # (2), (3)
        scaled = [c / z for c in coefficients]
        found = [(*one, c) for one, c in zip(pair, scaled)]
        return found if self.carrier is None else found + self._of_carrier(pair, scaled)

    def drawn_details(self) -> dict[str, Any]:
        return {"members": super().drawn_details()["members"][:2]}  # the carrier has no wheel

    def _carrier_body(self):
        if self.carrier is not None:
            require_joint(self, self.carrier)
            return self.carrier.second
        shared = [b for b in _ends(self.joint) if any(b is other for other in _ends(self.other))]
        if len(shared) != 1:
            raise ModelError(
                f"{self.owner}: joints {self.joint.name!r} and {self.other.name!r} share no body that could carry both axes; give "
                "the joint of the arm as carrier, or the ratio"
            )
        return shared[0]

    def _directions(self, pair):
        """+1 or −1 for each joint: whether its angle counts about the common direction, of its wheel relative to the carrier."""
        arm, signs, axes = self._carrier_body(), [], []
        for joint, index in pair:
            axes.append(_axis(self, joint, index))
            signs.append(-1.0 if joint.second is arm else 1.0)
        across = np.linalg.norm(np.cross(*axes))
        if not across < PARALLEL_WITHIN:
            raise ModelError(
                f"{self.owner}: the axes of a pair with teeth must be parallel; for axes that cross give the ratio"
            )
        return signs[0], signs[1] * float(np.sign(axes[0] @ axes[1]))

    def _of_carrier(self, pair, coefficients):
        """The coordinate of the carrier, subtracted from those that do not count from it."""
        arm = self.carrier.second
        total = 0.0
        along = _axis(self, self.carrier, 0)
        for (joint, index), coefficient in zip(pair, coefficients):
            if any(b is arm for b in _ends(joint)):
                continue
            if joint.first is not self.carrier.first:
                raise ModelError(
                    f"{self.owner}: joint {joint.name!r} must start from {self.carrier.first.name!r} or from the carrier "
                    f"{arm.name!r}"
                )
            total -= coefficient * float(np.sign(_axis(self, joint, index) @ along))
        return [(self.carrier, 0, total)] if total else []


def _ends(joint):
    return (joint.first, joint.second)


def _axis(element, joint, index):
    """The axis of a rotation in the world, in the reference configuration."""
    require_joint(element, joint)
    S = joint.motion(ca.SX.zeros(joint.dof))
    angular = quantity.numbers(se3.split(S)[0])[:, index]
    if not np.isfinite(angular).all() or not np.linalg.norm(angular) > 0:
        raise ModelError(f"{element.owner}: coordinate {index} of joint {joint.name!r} does not turn; give the ratio")
    frame = joint.placed_numbers
    R = np.eye(3) if frame is None else quantity.numbers(joint.first.reference[1]) @ pose_stacks.split(frame)[0][0]
    return R @ angular / np.linalg.norm(angular)
