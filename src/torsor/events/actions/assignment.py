"""Numbers that a run remembers take new values: whether a force acts, a parameter, the mode of a machine."""

from dataclasses import dataclass
from typing import Any

import casadi as ca

from ...elements import quantity
from ...elements.quantity import Number
from ...errors import ModelError
from ...registry import register
from ..event import Memory, Mode
from .base import Action, Step
from .engage_release import engage_steps, release_steps


@register("switch")
@dataclass(frozen=True, eq=False)
class Switch(Action):
    """Forces and rules are switched on or off: the same as to engage and to release them."""

    acts_on = "forces, controllers or other rules"
    on: bool = True

    def accepts(self, model: Any, target: Any, owner: str) -> None:
        self.one_of([*model.forces, *model.rules], target, owner)
        self.flag("on", owner)

    def switches(self) -> tuple:
        return self.targets

    def arms(self) -> tuple:
        return self.targets

    def steps(self, model: Any) -> list[Step]:
        steps = engage_steps if self.on else release_steps
        return [step for element in self.targets for step in steps(element)]


@register("assign")
@dataclass(frozen=True, eq=False)
class Assign(Action):
    """A parameter or a state (given by its name or its symbol) or a memory takes the value of an expression."""

    value: object = 0.0

    def refers(self, model: Any, owner: str) -> None:
        self._target(model, owner)
        quantity.scalar(self.value, "value", owner)

    def expressions(self) -> tuple:
        return (quantity.scalar(self.value, "value", "assign"),)

    def _target(self, model, owner):
        (given,) = self.targets
        if isinstance(given, Memory):
            return given
        for parameter in (*model.parameters.values(), *model.states):
            named = isinstance(given, str) and given == parameter.name
            if named or (isinstance(given, ca.SX) and given.is_scalar() and ca.is_equal(given, parameter.symbol)):
                return parameter
        known = ", ".join([*model.parameters, *[state.name for state in model.states]]) or "none"
        name = given if isinstance(given, str) else quantity.show(given)
        raise ModelError(f"{owner}: action 'assign': unknown parameter {name!r}. Known: {known}.")

    def steps(self, model: Any) -> list[Step]:
        return [Step("set", self._target(model, "event"), self.expressions())]


@register("enter")
@dataclass(frozen=True, eq=False)
class Enter(Action):
    """A machine enters a mode."""

    def refers(self, model: Any, owner: str) -> None:
        for mode in self.targets:
            if not isinstance(mode, Mode) or model._names.get(mode.machine.name) is not mode.machine:
                raise ModelError(
                    f"{owner}: action 'enter': give a mode of this model, as in machine['name'], got {quantity.show(mode)}"
                )

    def steps(self, model: Any) -> list[Step]:
        return [Step("set", mode.machine.memory, (ca.SX(mode.number),)) for mode in self.targets]


def switch(*forces: Any, on: bool = True) -> Switch:
    """Forces and rules, such as controllers, are switched on or off (`on=False`). Give elements or their names."""
    return Switch(forces, on)


def assign(parameter: str | ca.SX, value: Number) -> Assign:
    """A parameter or a state takes a new value, which may be an expression of signals."""
    return Assign((parameter,), value)


def enter(mode: Mode) -> Enter:
    """A machine enters a mode."""
    return Enter((mode,))
