"""Constraints are hit from one side, and dry friction decides between sticking and sliding.

    M (v⁺ − v⁻) = Gᵀ Λ,     G v⁺ + g_t = −e (G v⁻ + g_t)                                             (1)

with the coefficient of restitution e.
"""

from dataclasses import dataclass
from typing import Any

import casadi as ca

from ...elements import quantity
from ...elements.quantity import Number
from ...errors import ModelError
from ...registry import register
from .base import Action, Step


@register("strike")
@dataclass(frozen=True, eq=False)
class Strike(Action):
    """A constraint is hit from one side: it rebounds with a coefficient of restitution, or stays closed.

    The side is that of the event: where its watched function is positive. If that function has nothing to do with the
    constraint (a clock), it is the side from which the constraint is approached.

    restitution     e of (1), 0 to 1
    before          pairs (memory, value) that are set before the constraint is looked at
    """

    acts_on = "constraints or joints"
    restitution: object = 0.0
    before: tuple = ()

    def accepts(self, model: Any, target: Any, owner: str) -> None:
        self.one_of(model.constraints, target, owner)
        quantity.scalar(self.restitution, "restitution", owner)
        self.check(model, {}, owner)
        stated = target.equations()
        if stated.position is None or len(stated.directions) != 1:
            has = "holds velocities" if stated.position is None else f"has {len(stated.directions)} equations"
            raise ModelError(
                f"{owner}: action 'strike': needs a constraint with one equation at position level; {target.owner} {has}"
            )

    def bounds(self) -> tuple:
        return (("restitution", *self.expressions(), 0.0, 1.0),)

    def switches(self) -> tuple:
        return self.targets

    def expressions(self) -> tuple:
        return (quantity.scalar(self.restitution, "restitution", "strike"),)

    def steps(self, model: Any) -> list[Step]:
        armable = {id(element) for element in model.armable}
        prior = [Step("set", c.armed, (ca.SX(1),)) for c in self.targets if id(c) in armable]
        prior += [Step("set", m, (ca.SX(value),)) for m, value in self.before]
        return [*prior, *[Step("strike", c, self.expressions()) for c in self.targets]]


@register("land")
@dataclass(frozen=True, eq=False)
class Land(Action):
    """Dry friction sticks where nothing slides any more, and slides on where something does."""

    def switches(self) -> tuple:
        return self.targets

    def steps(self, model: Any) -> list[Step]:
        return [Step("land", f) for f in self.targets]


def strike(*constraints: Any, restitution: Number = 0.0) -> Strike:
    """Constraints are hit from one side: they rebound with `restitution` (0 to 1), or stay closed. Give elements or their names."""
    return Strike(constraints, restitution)
