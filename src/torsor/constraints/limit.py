"""Stops of a joint."""

from dataclasses import dataclass
from typing import Self

import casadi as ca

from ..elements import quantity
from ..elements.element import REQUIRED
from ..elements.quantity import Number
from ..errors import ModelError
from ..joints.base import Joint, existing_coordinate
from ..registry import register
from .unilateral import Unilateral


@register("limit")
@dataclass(frozen=True, eq=False)
class Limit(Unilateral):
    """Stops of a joint coordinate.

        lower ≤ q_k ≤ upper                                            (1)

    joint, index   whose coordinate it is, and k
    lower, upper   the stops; None: no stop on that side               [m or rad]
    """

    drawing = "limit"
    variants = ({"lower": -0.5, "upper": 0.7}, {"upper": 0.7, "restitution": 0.5}, {"lower": -1.0})
    joint: Joint = REQUIRED
    lower: Number | None = None
    upper: Number | None = None
    index: int = 0

    @property
    def limited_coordinate(self) -> tuple[Joint, int]:
        return self.joint, self.index

    def labels(self) -> tuple[str, ...]:
        return tuple(what for what in ("lower", "upper") if getattr(self, what) is not None)

    def attach(self) -> Self:
        existing_coordinate(self)
        given = [getattr(self, what) for what in self.labels()]
        if not given:
            raise ModelError(f"{self.owner}: give `lower`, `upper` or both")
        numbers = [quantity.scalar(x, "stop", self.owner) for x in given]
        if len(given) == 2 and all(x.is_constant() for x in numbers) and float(numbers[0]) >= float(numbers[1]):
            raise ModelError(f"{self.owner}: lower must be below upper, got {given[0]!r} and {given[1]!r}")
        return self

    def gaps(self) -> list[ca.SX]:
        q = self.joint.coordinate[self.index]
        below = [] if self.lower is None else [q - quantity.scalar(self.lower, "lower", self.owner)]
        return below + ([] if self.upper is None else [quantity.scalar(self.upper, "upper", self.owner) - q])

    def violation(self, side: str, verb: str, depth: float) -> str:
        unit = "rad" if self.joint.angular[self.index] else "m"
        return f"{self.joint.owner} {verb} {depth:.3g} {unit} beyond the {side} limit of {self.name!r}"

    def directions(self) -> list[str]:
        return [f"stop of {self.joint.name}"]
