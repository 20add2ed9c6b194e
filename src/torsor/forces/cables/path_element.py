"""What all elements on a path of a cable share."""

import operator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import casadi as ca

from ...elements import quantity
from ...elements.argument_help import WORKED_OUT
from ...elements.element import fill_in
from ...errors import ModelError
from ...events import Event, Memory, State, Watch
from ...events.actions.assignment import Assign
from .cable_path import TURN, CablePath

COS_TURN = float(ca.cos(TURN))


@dataclass(frozen=True, eq=False)
class OnPath:
    """Mixed into elements with a `path`: keeps it in numbers, and the bearings of its directions.

    bearings   memories β of `cable_path`
    slips      how far the rope has slipped over each pulley with friction, where that is a state; modes: which way it slips
    counts     of bearings and slips
    """

    closed: ClassVar[bool] = False
    bearings: ClassVar[tuple[Memory, ...]] = ()
    slips: ClassVar[tuple[State, ...]] = ()
    modes: ClassVar[tuple[Memory, ...]] = ()
    name: str

    def lay(self) -> CablePath:
        """The path with its equations."""
        given: Any = self
        return CablePath(given, given.path, self.closed)

    def keep_path(self) -> Self:
        """The element with its path as bodies and numbers, and with a memory for each bearing."""
        given: Any = self
        found = self.lay()
        slips = sum(s.rubs for s in found.stops) if getattr(given, "stiffness", None) is not None else 0
        fill_in(self, path=found.kept())
        if given.counts is None:
            fill_in(self, counts=(len(found.bearings()), slips))
            self.remember()
        return self

    def remember(self) -> None:
        """Make the memories of an element whose path is kept: bearings, and for each pulley that it slips on a state and a mode."""
        given: Any = self
        if given.counts is None:
            return
        try:
            bearings, slips = (range(operator.index(n)) for n in given.counts)
        except (TypeError, ValueError):
            raise ModelError(f"{given.owner}: counts is {WORKED_OUT}") from None
        fill_in(self, bearings=tuple(Memory(f"{self.name}.bearing{k}") for k in bearings))
        fill_in(self, slips=tuple(State(f"{self.name}.slip{n}") for n in slips))
        fill_in(self, modes=tuple(Memory(f"{self.name}.slips{n}") for n in slips))

    def betas(self) -> list[ca.SX]:
        return [memory.symbol for memory in self.bearings]

    def turn_events(self) -> list[Any]:
        """Events that turn a bearing along, where the direction is too far from it for one branch of the arctangent."""
        path, found = self.lay(), []
        for k, (bearing, memory) in enumerate(zip(path.bearings(), self.bearings)):
            angle, cosine = path.direction(bearing, memory.symbol)
            follow = Assign((memory,), memory.symbol + angle)
            found.append(Event(f"{self.name}.turn{k}", Watch(cosine - COS_TURN, state=True), (follow,)))
        return found

    def check_rates(self, names: tuple[str, ...], positive: tuple[str, ...]) -> None:
        """Refuse negative numbers; of `positive`, zero too."""
        owner = getattr(self, "owner", self.name)
        for what in names:
            given = getattr(self, what)
            value = None if given is None else quantity.scalar(given, what, owner)
            if (
                value is not None
                and value.is_constant()
                and (float(value) < 0 or (what in positive and float(value) == 0))
            ):
                must = "must be positive" if what in positive else "must not be negative"
                raise ModelError(f"{owner}: {what} {must}, got {quantity.show(given)}")


def slack_of(element: Any, count: int) -> list[ca.SX]:
    """The slack of each part at the reference configuration, from one number or a list of them."""
    given = element.slack
    if not isinstance(given, (list, tuple)):
        if count > 1 and not (quantity.is_number(given) and given == 0):
            raise ModelError(
                f"{element.owner}: slack must be a list of {count}, one for each part between places that hold it, got "
                f"{quantity.show(given)}"
            )
        given = [given] * count
    if len(given) != count:
        raise ModelError(f"{element.owner}: slack must be a list of {count}, one for each part, got {len(given)}")
    return [quantity.scalar(x, "slack", element.owner) for x in given]
