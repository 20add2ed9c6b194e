"""A function of the user is called in the middle of a run."""

from dataclasses import dataclass
from typing import Any

from ...registry import register
from .base import Action, Step


@register("ask")
@dataclass(frozen=True, eq=False)
class Ask(Action):
    """The function of a controller is called with the values of its inputs; its answer is in the controller's memories when
    the steps that follow take their values."""

    acts_on = "a controller"
    inputs: tuple = ()

    def accepts(self, model: Any, target: Any, owner: str) -> None:
        self.one_of([rule for rule in model.rules if hasattr(rule, "answers")], target, owner)

    def expressions(self) -> tuple:
        return self.inputs

    def steps(self, model: Any) -> list[Step]:
        return [Step("ask", controller, self.inputs) for controller in self.targets]
