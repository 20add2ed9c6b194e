"""Parameters of a model: numbers that stay run-time inputs, and what they may be."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.assignments import explain_assignments, refuse
from ..errors import ModelError


class Value:
    """Base of parameters: nothing can be assigned to them."""

    name: str
    kind: ClassVar[str]

    @property
    def owner(self) -> str:
        """Kind and name, as messages give them."""
        return f"{self.kind} {self.name!r}"

    def __setattr__(self, name, value):
        refuse(self, name, ("name", "positive", "symbol"), hint=f"give parameters={{{self.name!r}: …}} to ts.simulate")

    def __delattr__(self, name):
        self.__setattr__(name, None)


@dataclass(frozen=True, eq=False)
class Parameter(Value):
    """A named number that stays a run-time input of the compiled model."""

    kind: ClassVar[str] = "parameter"
    name: str
    value: float
    symbol: ca.SX
    positive: bool = False

    def check_value(self, value: Any) -> float:
        """`value` as a number that this parameter may have."""
        given = quantity.scalar(value, "value", f"{self.kind} {self.name!r}")
        if not given.is_constant():
            raise ModelError(f"{self.kind} {self.name!r}: value must be a number, got {quantity.show(value)}")
        if self.positive and float(given) <= 0:
            raise ModelError(f"{self.kind} {self.name!r}: must be positive, got {value!r}")
        return float(given)


@dataclass(frozen=True, eq=False)
class Input(Parameter):
    """A parameter that may change while a model runs, without a new start: a torque, a voltage, a set point."""

    kind = "input"
    REFUSED: ClassVar = (
        "dt",
        "start",
        "time",
        "self",
    )  # names of what `advance` and `reset` of a simulation take besides inputs


explain_assignments(Input)


class WithParameters:
    """The part of a model that keeps its parameters."""

    name: str
    parameters: dict[str, Parameter]
    bodies: list[Any]
    events: list[Any]
    derived: dict
    _free: Any
    _enter: Any

    def parameter(self, name: str, value: float, positive: bool = False) -> ca.SX:
        """A named number that stays a run-time input; returns its symbol, to be used in any quantity."""
        self._free(name, "parameter")
        if not isinstance(positive, (bool, np.bool_)):
            raise ModelError(f"parameter {name!r}: positive must be True or False, got {quantity.show(positive)}")
        return self._declare(Parameter(name, 0.0, ca.SX.sym(name), bool(positive)), value)

    def input(self, name: str, value: float = 0.0) -> ca.SX:
        """A named number that is held at `value` until somebody changes it while the model runs: `Simulation.advance` or an
        event; returns its symbol, to be used in forces, gravity, rates of states, events and signals.

        Otherwise it is a parameter, which `simulate(parameters=…)` and `include` give another value; in a component that is
        included it may become any signal of the model around it.
        """
        if isinstance(name, str) and name in Input.REFUSED:
            raise ModelError(
                f"input {name!r}: Simulation.advance and Simulation.reset take something else by that name; choose another, not "
                f"{', '.join(Input.REFUSED)}"
            )
        self._free(name, "input")
        return self._declare(Input(name, 0.0, ca.SX.sym(name)), value)

    def _declare(self, entry, value):
        entry = replace(entry, value=entry.check_value(value))
        dict.__setitem__(self.parameters, entry.name, entry)
        return self._enter(entry.name, entry).symbol

    @property
    def declared_inputs(self) -> dict[str, Input]:
        """The parameters that are inputs, by name."""
        return {name: p for name, p in self.parameters.items() if isinstance(p, Input)}

    def values(self, overrides: Mapping | None = None) -> dict[str, float]:
        """The parameters' values, some of them overridden."""
        values = {name: p.value for name, p in self.parameters.items()}
        overrides = {} if overrides is None else overrides
        if not isinstance(overrides, Mapping):
            raise ModelError(f"model {self.name!r}: parameters must be values by name, got {quantity.show(overrides)}")
        for name, value in overrides.items():
            if name not in values:
                known = ", ".join(values) or "none"
                raise ModelError(f"model {self.name!r}: unknown parameter {name!r}. Known: {known}.")
            values[name] = self.parameters[name].check_value(value)
        if values:  # without parameters everything was checked when it was added
            self._check_bodies(values)
        for event in self.events if values else ():
            for action in event.actions:
                action.check(self, values, event.responsible)
        return values

    def _check_bodies(self, values):
        """Refuse values with which a mass or an inertia is none."""
        if "masses" not in self.derived:
            depending = [b for b in self.bodies if not b.has_numeric_inertia]
            column = ca.vertcat(*[ca.vec(x) for b in depending for x in b.weights], ca.SX(0, 1))
            symbols = ca.vertcat(*[p.symbol for p in self.parameters.values()])
            self.derived["masses"] = depending, ca.Function("masses", [symbols], [column])
        depending, f = self.derived["masses"]
        if depending:
            found = f(list(values.values())).full().ravel()
            for body in depending:
                size = sum(x.numel() for x in body.weights)
                body.check(found[:size])
                found = found[size:]
