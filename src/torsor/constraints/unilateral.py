"""Constraints that push and cannot pull: contacts, stops, slots, backlash, expressions of the user.

A one-sided constraint declares gaps, each of which must not become negative:

    gap ≥ 0,    λ ≥ 0,    gap λ = 0                                                                      (1)

While it is open it is watched: where a gap closes, the velocities jump with a coefficient of restitution, and unless it
rebounds the constraint is engaged, 0 = gap. While it is closed its multiplier λ is watched: where it would pull, it is
released. Both are events, located as any other; [aslanov2011], sec. 5, where λ ≤ 0 releases a contact.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import casadi as ca

from ..elements import quantity
from ..elements.element import CONSTANT, Statement, fill_in
from ..elements.quantity import Number
from ..errors import ModelError
from ..events import Event, Memory, Watch
from ..events.actions.engage_release import Lift
from ..events.actions.impact import Strike
from ..joints.constraint import Constraint


@dataclass(frozen=True, eq=False)
class Unilateral(Constraint):
    """Base of constraints with one or two gaps, of which at most one is closed at a time.

    restitution   speed after an impact over the speed before it, 0 to 1; a number or an expression of parameters
    """

    starts_active = False
    armable = True
    one_sided = True
    sides: ClassVar[tuple[Memory, ...]]  # which gap is closed; each element has its own
    loaded: ClassVar[Memory]  # 1 where it takes a share of a load that redundant contacts hold together, else 0
    restitution: Number = field(default=0.0, kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        count = len(self.labels())
        fill_in(self, sides=tuple(Memory(f"{self.name}.side{k}") for k in range(count)) if count > 1 else ())
        fill_in(self, loaded=Memory(f"{self.name}.loaded", 1.0))

    def labels(self) -> tuple[str, ...]:
        """What the event of each gap is called."""
        return ("touch",)

    def statements(self) -> list[Statement]:
        e = quantity.scalar(self.restitution, "restitution", self.owner)
        if e.is_constant() and not 0 <= float(e) <= 1:
            raise ModelError(
                f"{self.owner}: restitution must lie between 0 and 1, got {quantity.show(self.restitution)}"
            )
        return [*super().statements(), Statement("restitution", e, CONSTANT)]

    def gaps(self) -> list[ca.SX]:
        """The distances that must not become negative."""
        raise NotImplementedError

    @property
    def sliding_parts(self) -> int:
        """How many directions something slides in where the gap is closed: 0 where there is no surface, else 1 or 2."""
        return 0

    def sliding_velocity(self) -> ca.SX:
        """The velocity of sliding, a column with `sliding_parts` entries, where friction can act."""
        return ca.SX(0, 1)

    def normal_scale(self) -> ca.SX:
        """Normal force over the multiplier."""
        return ca.SX(1)

    def load(self) -> ca.SX:
        """The normal force."""
        return self.multiplier[0]

    def violation(self, side: str, verb: str, depth: float) -> str:
        """What is wrong where a gap is negative, in words.

        side: label of the gap; verb: "starts" or "is"; depth: size of the gap
        """
        return f"{self.owner} {verb} violated by {depth:.3g} ({side})"

    def memories(self) -> list[Any]:
        return [*self.sides, self.loaded]

    def position(self) -> ca.SX:
        gaps = self.gaps()
        if not self.sides:
            return gaps[0]
        return sum(side.symbol * gap for side, gap in zip(self.sides, gaps))

    def events(self) -> list[Any]:
        found, there = [], tuple((joint.active, 1.0) for joint in self.within())
        for k, (gap, label) in enumerate(zip(self.gaps(), self.labels())):
            which = tuple((side, float(k == m)) for m, side in enumerate(self.sides))
            strike = Strike((self,), self.restitution, which)
            open = ((self.active, 0.0), *there)
            found.append(
                Event(f"{self.name}.{label}", Watch(gap, state=True), (strike,), open, undecided_near_zero=True)
            )
        pulls = Watch(self.multiplier[0], state=True)
        return [
            *found,
            Event(f"{self.name}.lift", pulls, (Lift((self,)),), ((self.active, 1.0),), undecided_near_zero=True),
        ]


def positive(element, what):
    """A positive number that an element was given."""
    value = quantity.scalar(getattr(element, what), what, element.owner)
    if value.is_constant() and float(value) <= 0:
        raise ModelError(f"{element.owner}: {what} must be positive, got {quantity.show(getattr(element, what))}")
    return value
