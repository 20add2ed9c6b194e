"""The description of a mechanism: bodies, joints, forces, parameters, and models inside models."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

import casadi as ca

from .. import quantity
from ..errors import ModelError
from ..forces import Force, Gravity
from ..joints import Constraint, Joint
from .body import Body, Ground
from .include import Instance, transplant

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")


@dataclass(frozen=True, eq=False)
class Parameter:
    """A named number that stays a run-time input of the compiled model."""

    name: str
    value: float
    symbol: ca.SX


class Model:
    """A mechanism, described in one world frame in its reference configuration.

    >>> import torsor as ts
    >>> model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    >>> bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    >>> hinge = model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    """

    def __init__(self, name: str, gravity=(0.0, 0.0, 0.0)):
        self.name = self._checked(name, "model")
        self.gravity = quantity.vector(gravity, "gravity", f"model {name!r}")
        self.ground = Ground("ground")
        self.grounds = [self.ground]
        self.bodies: list[Body] = []
        self.constraints: list[Constraint] = []
        self.forces: list[Force] = []
        self.parameters: dict[str, Parameter] = {}
        self.signals: dict[str, ca.SX] = {}
        self.ports: dict[str, object] = {}
        self._names: dict[str, object] = {}
        self._symbols = {"time"}
        self._compiled = False
        self._enter("ground", self.ground)

    # describe

    def body(
        self, name: str, mass=None, inertia=None, at=(0, 0, 0), rotation=None, velocity=None, angular_velocity=None, shape=None
    ) -> Body:
        """Add a rigid body; see `torsor.Body` for what the arguments mean."""
        self._free(name, "body")
        body = Body(name, mass, inertia, at, rotation, velocity, angular_velocity, shape)
        self.bodies.append(body)
        return self._enter(name, body)

    def add(self, element):
        """Add a joint, a constraint, a force or a further ground, and return it."""
        known = (Constraint, Force, Ground)
        if not isinstance(element, known):
            raise ModelError(
                f"model {self.name!r}: cannot add {quantity.show(element)}; give a joint, a constraint, a force or a Ground"
            )
        self._free(element.name, getattr(element, "key", "ground"))
        for body in (getattr(element, k, None) for k in ("first", "second", "body")):
            if body is not None and hasattr(body, "rotation") and self._names.get(body.name) is not body:
                raise ModelError(f"{element.owner}: body {body.name!r} does not belong to model {self.name!r}")
        joint = getattr(element, "joint", None)
        if isinstance(joint, Joint) and self._names.get(joint.name) is not joint:
            raise ModelError(f"{element.owner}: joint {joint.name!r} does not belong to model {self.name!r}")
        if not isinstance(element, Ground):
            element = element.located()
            self._known_symbols(element)
        where = self.constraints if isinstance(element, Constraint) else self.forces if isinstance(element, Force) else self.grounds
        where.append(element)
        return self._enter(element.name, element)

    def parameter(self, name: str, value: float, positive=False) -> ca.SX:
        """A named number that stays a run-time input; returns its symbol, to be used in any quantity."""
        self._free(name, "parameter")
        number = float(quantity.numbers(quantity.scalar(value, "value", f"parameter {name!r}")))
        if positive and number <= 0:
            raise ModelError(f"parameter {name!r}: must be positive, got {value!r}")
        self.parameters[name] = Parameter(name, number, ca.SX.sym(name))
        self._enter(name, self.parameters[name])
        return self.parameters[name].symbol

    def signal(self, name: str, expression) -> ca.SX:
        """A named expression of time, state and multipliers that is recorded in every run."""
        self._free(name, "signal")
        self.signals[name] = quantity.scalar(expression, "expression", f"signal {name!r}")
        self._enter(name, self.signals[name])
        return self.signals[name]

    def expose(self, port: str, thing) -> None:
        """Make a body, a joint or a signal reachable from outside under the name of a port."""
        self._checked(port, "port")
        if port in self.ports:
            raise ModelError(f"model {self.name!r}: port {port!r} exists already")
        self.ports[port] = thing

    def include(self, name: str, other: "Model", at=(0, 0, 0), rotation=None, **parameters) -> Instance:
        """Place a copy of another model in this one, under its own name, with parameters overridden."""
        self._free(name, "instance")
        if not isinstance(other, Model):
            raise ModelError(f"instance {name!r}: give a model to include, got {quantity.show(other)}")
        if other is self:
            raise ModelError(f"instance {name!r}: a model cannot include itself")
        unknown = set(parameters) - set(other.parameters)
        if unknown:
            known = ", ".join(other.parameters) or "none"
            raise ModelError(f"instance {name!r}: unknown parameter {sorted(unknown)[0]!r} of {other.name!r}. Known: {known}.")
        instance = transplant(self, name, other, at, rotation, parameters)
        return self._enter(name, instance)

    # look up

    @property
    def time(self) -> ca.SX:
        return quantity.time

    @property
    def joints(self) -> list[Joint]:
        return [c for c in self.constraints if isinstance(c, Joint)]

    @property
    def all_forces(self) -> list[Force]:
        """The forces and, where there is any, gravity."""
        heavy = not all(x.is_zero() for x in self.gravity.nonzeros())
        return ([Gravity("gravity", self.gravity, tuple(self.bodies))] if heavy else []) + self.forces

    def __getitem__(self, path: str):
        if path in self._names:
            return self._names[path]
        close = get_close_matches(str(path), self._names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ModelError(f"model {self.name!r} has nothing called {path!r}.{hint} Known: {', '.join(self._names)}.")

    def __contains__(self, path) -> bool:
        return path in self._names

    def __repr__(self):
        return f"<Model {self.name!r}: {len(self.bodies)} bodies, {len(self.constraints)} constraints, {len(self.forces)} forces>"

    def values(self, overrides: Mapping | None = None) -> dict[str, float]:
        """The parameters' values, some of them overridden."""
        values = {name: p.value for name, p in self.parameters.items()}
        for name, value in (overrides or {}).items():
            if name not in values:
                known = ", ".join(values) or "none"
                raise ModelError(f"model {self.name!r}: unknown parameter {name!r}. Known: {known}.")
            values[name] = float(quantity.numbers(quantity.scalar(value, "value", f"parameter {name!r}")))
        return values

    def seal(self):
        """From now on the description does not change: kernels were made from it."""
        self._compiled = True

    # checks

    def _checked(self, name, what):
        if not (isinstance(name, str) and NAME.match(name)):
            raise ModelError(
                f"{what} {name!r}: a name is letters, digits, '_' and '-', and starts with a letter or '_' "
                "(dots separate the names of included models)"
            )
        return name

    def _free(self, name, what):
        self._checked(name, what)
        if self._compiled:
            raise ModelError(f"model {self.name!r} has been compiled and cannot change; {what} {name!r} was not added")
        if name in self._names or name == "time":
            raise ModelError(f"{what} {name!r}: model {self.name!r} has something of that name already; names must differ")

    def _enter(self, name, thing):
        self._names[name] = thing
        self._symbols.update(s.name() for block in _signals_of(thing) for s in ca.symvar(block))
        return thing

    def _known_symbols(self, element):
        """Refuse expressions of signals that are not this model's."""
        known = self._symbols
        expressions = [getattr(element, k, None) for k in ("expression", "value", "force", "torque", "energy", "dissipated")]
        for given in expressions:
            for part in given if isinstance(given, (list, tuple)) else [given]:
                for s in ca.symvar(part) if isinstance(part, ca.SX) else []:
                    if s.name() not in known:
                        raise ModelError(f"{element.owner}: signal {s.name()!r} does not belong to model {self.name!r}")


def _signals_of(thing):
    """The symbols that an element brings into the model."""
    if isinstance(thing, Instance):
        return []
    if isinstance(thing, Parameter):
        return [thing.symbol]
    kinds = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration") if isinstance(
        thing, (Body, Ground)
    ) else ("coordinate", "rate", "reaction_force", "reaction_torque")  # fmt: skip
    return [getattr(thing, k) for k in kinds if isinstance(getattr(thing, k, None), ca.SX)]
