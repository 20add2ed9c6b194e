"""A pin in a slot."""

from dataclasses import dataclass

import casadi as ca

from ..elements import quantity
from ..elements.quantity import Axis, Number
from ..joints.base import Connection
from ..joints.directions import direction
from ..registry import register
from .elementary import on_plane
from .unilateral import Unilateral, positive


@register("slot")
@dataclass(frozen=True, eq=False)
class Slot(Unilateral, Connection):
    """A point of the second body moves between two parallel planes of the first: a pin in a slot with clearance.

        |n·p| ≤ c/2                                                    (1)

    normal      n, across the slot, fixed in the first body                                    [-]
    clearance   c, width of the slot less that of the pin                                      [m]
    """

    drawing, drawn_axis = "contact", "normal"
    variants = ({"clearance": 0.3}, {"normal": (1, -2, 0.5), "clearance": 0.2, "restitution": 0.5})
    normal: Axis = (0, 0, 1)
    clearance: Number = 0.0

    def labels(self) -> tuple[str, ...]:
        return ("lower", "upper")

    def gaps(self) -> list[ca.SX]:
        half = positive(self, "clearance") / 2
        across = on_plane(self.relative_pose(), quantity.unit(self.normal, "normal", self.owner))
        return [half + across, half - across]

    def violation(self, side: str, verb: str, depth: float) -> str:
        return f"{self.second.owner} {verb} {depth:.3g} m beyond the {side} plane of {self.owner}"

    def directions(self) -> list[str]:
        return [f"translation along {direction(quantity.unit(self.normal, 'normal', self.owner))}"]
