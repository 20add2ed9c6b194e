"""A transmission with play."""

from dataclasses import dataclass
from typing import Any, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import REQUIRED
from ..elements.quantity import Number
from ..joints.base import Joint, existing_coordinate
from ..registry import register
from .unilateral import Unilateral, positive


@register("backlash")
@dataclass(frozen=True, eq=False)
class Backlash(Unilateral):
    """A transmission with play between two joints: gears, couplings, worn hinges.

        |q_k − i q'_l| ≤ play/2                                        (1)

    joint, other       whose coordinates q and q' they are
    ratio              i, of the transmission                          [-]
    play               [m or rad]
    index, other_index which coordinates
    """

    drawing = "gear"
    variants = (lambda scene: {"other": scene["joint"], "ratio": 0.5, "play": 0.1},)
    joint: Joint = REQUIRED
    other: Joint = REQUIRED
    ratio: Number = 1.0
    play: Number = 0.0
    index: int = 0
    other_index: int = 0

    def drawn_details(self) -> dict[str, Any]:
        pair = ((self.joint, self.index, 1.0), (self.other, self.other_index, -self.ratio))
        return {"members": [joint.drawn_member(index) | {"coefficient": c} for joint, index, c in pair]}

    def labels(self) -> tuple[str, ...]:
        return ("lower", "upper")

    def attach(self) -> Self:
        existing_coordinate(self)
        existing_coordinate(self, "other", "other_index")
        return self

    def gaps(self) -> list[ca.SX]:
        half = positive(self, "play") / 2
        ratio = quantity.scalar(self.ratio, "ratio", self.owner)
        lag = self.joint.coordinate[self.index] - ratio * self.other.coordinate[self.other_index]
        return [half + lag, half - lag]

    def violation(self, side: str, verb: str, depth: float) -> str:
        unit = "rad" if self.joint.angular[self.index] else "m"
        return f"{self.joint.owner} {verb} {depth:.3g} {unit} beyond the {side} end of the play of {self.owner}"

    def directions(self) -> list[str]:
        return [f"play between {self.joint.name} and {self.other.name}"]
