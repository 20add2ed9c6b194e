"""A force along a length that is an expression of signals, such as that of a tendon."""

from dataclasses import dataclass

import casadi as ca

from ..elements import quantity
from ..elements.quantity import Number
from ..forces import Force


@dataclass(frozen=True, eq=False)
class LengthForce(Force):
    """A force f along a length l: its power is f l̇.

    rate    l̇, an expression that is linear in the velocities   [m/s or rad/s]
    value   f   [N or N m]
    """

    drawing = "none"
    not_drawn = "an expression of signals, which has no place"
    rate: Number = 0.0
    value: Number = 0.0

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        rate, value = (quantity.scalar(getattr(self, what), what, self.owner) for what in ("rate", "value"))
        return [(rate, value)]
