"""Actions that record a value with the event, and that end the run."""

from dataclasses import dataclass
from typing import Any

from ...elements import quantity
from ...elements.names import unstorable
from ...elements.quantity import Number
from ...errors import ModelError
from ...registry import register
from .base import Action, Step


@register("record")
@dataclass(frozen=True, eq=False)
class Record(Action):
    """The value of an expression just before the event is kept with it, under a name."""

    label: str = ""
    value: object = 0.0

    @property
    def result_name(self) -> str:
        return self.label

    def refers(self, model: Any, owner: str) -> None:
        if why := unstorable(self.label):
            given = quantity.show(self.label)
            raise ModelError(f"{owner}: action 'record': {given} cannot be the name of a result: {why}")
        quantity.scalar(self.value, self.label, owner)

    def expressions(self) -> tuple:
        return (quantity.scalar(self.value, self.label, "record"),)

    def steps(self, model: Any) -> list[Step]:
        return [Step("record", self.label, self.expressions())]


@register("end")
@dataclass(frozen=True, eq=False)
class End(Action):
    """The run ends at this event."""

    def steps(self, model: Any) -> list[Step]:
        return [Step("end")]


def record(name: str, expression: Number) -> Record:
    """Keep the value of an expression with the event, under a name in the result."""
    return Record((), name, expression)


def end() -> End:
    """The run ends."""
    return End()
