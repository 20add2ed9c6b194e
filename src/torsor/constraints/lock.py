"""A joint that can be held."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import casadi as ca

from ..elements.element import REQUIRED, fill_in
from ..events import Memory
from ..joints.base import Joint, existing_coordinate
from ..joints.constraint import Constraint
from ..registry import register


@register("lock")
@dataclass(frozen=True, eq=False)
class Lock(Constraint):
    """A joint coordinate is held where it is when the lock is engaged.

        0 = q_k − q_k(engaged)                                         (1)

    Engage and release it by events; active from the start it holds the start.
    """

    drawing = "lock"
    variants = ({},)
    held: ClassVar[Memory]  # each element has its own
    joint: Joint = REQUIRED
    index: int = 0

    def __post_init__(self):
        fill_in(self, held=Memory(f"{self.name}.held"))

    def attach(self) -> Self:
        existing_coordinate(self)
        return self

    def memories(self) -> list[Any]:
        return [self.held]

    def captures(self) -> list[tuple[Any, ca.SX]]:
        return [(self.held, self.joint.coordinate[self.index])]

    def position(self) -> ca.SX:
        return self.joint.coordinate[self.index] - self.held.symbol  # (1)

    def directions(self) -> list[str]:
        return [f"motion of {self.joint.name}"]
