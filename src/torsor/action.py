"""What an event does. An action is one class that says which elementary steps it consists of:

    set       a memory or a parameter takes the value of an expression, as it is just before the event
    engage    a constraint begins to hold: the velocities jump as momentum demands
    release   a constraint ceases to hold; nothing jumps
    strike    a one-sided constraint is hit: rebound or contact
    land      dry friction decides between sticking and sliding
    record    the value of an expression is kept with the event
    end       the run ends here

At an engagement the impulses Λ act that change the velocities least in the mass metric ([aslanov2011] leaves the jump open;
it follows from integrating (1) there over the instant):

    M (v⁺ − v⁻) = Gᵀ Λ,     G v⁺ + g_t = −e (G v⁻ + g_t)                                             (1)

with the coefficient of restitution e, 0 for a constraint that stays engaged.
"""

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from . import quantity
from .errors import ModelError
from .event import Memory, Mode
from .names import unstorable
from .registry import register


@dataclass(frozen=True, eq=False)
class Step:
    """An elementary step: what it is, on what, with which expressions."""

    kind: str
    target: object = None
    values: tuple = ()


@dataclass(frozen=True, eq=False)
class Action:
    """Base of all actions.

    acts_on   what its targets are, in words, where it needs any
    """

    kind = key = "action"
    acts_on: ClassVar[str | None] = None
    targets: tuple = ()

    def switches(self):
        """Constraints and forces that it engages, releases or switches."""
        return ()

    def steps(self, model):
        """The elementary steps, in order."""
        raise NotImplementedError

    def expressions(self):
        """What it evaluates."""
        return ()

    def refers(self, model, owner):
        """Refuse targets that are not the model's, and no targets where some are needed."""
        if self.acts_on is not None and not self.targets:
            raise ModelError(f"{owner}: action {self.key!r}: acts on nothing; give {self.acts_on}")
        for target in self.targets:
            if not any(target is known for known in model._names.values()):
                name = getattr(target, "name", None) or quantity.show(target)
                raise ModelError(f"{owner}: action {self.key!r}: {name!r} does not belong to model {model.name!r}")
            self.accepts(model, target, owner)

    def accepts(self, model, target, owner):
        """Refuse a target of the wrong kind."""

    def check(self, model, values, owner):
        """Refuse what it cannot do with the values of parameters of a run."""


def _of(action, known, target, owner):
    if not any(target is one for one in known):
        raise ModelError(f"{owner}: action {action.key!r}: give {action.acts_on}, got {quantity.show(target)}")


@register("release")
@dataclass(frozen=True, eq=False)
class Release(Action):
    """Constraints and joints cease to hold."""

    acts_on = "constraints or joints"

    def accepts(self, model, target, owner):
        _of(self, model.constraints, target, owner)

    def switches(self):
        return self.targets

    def steps(self, model):
        return [Step("release", c) for c in self.targets]


@register("engage")
@dataclass(frozen=True, eq=False)
class Engage(Action):
    """Constraints and joints begin to hold; the velocities jump as momentum demands.

    snap   whether a constraint that is far from satisfied may move the bodies; False: that is an error
    """

    acts_on = "constraints or joints"
    snap: bool = False

    def accepts(self, model, target, owner):
        _of(self, model.constraints, target, owner)

    def switches(self):
        return self.targets

    def steps(self, model):
        captured = [Step("set", m, (e,)) for c in self.targets for m, e in c.captures()]
        return [*captured, *[Step("engage", c, (ca.SX(float(self.snap)),)) for c in self.targets]]


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

    def accepts(self, model, target, owner):
        _of(self, model.constraints, target, owner)
        self.check(model, {}, owner)
        told = target.equations()
        if told.position is None or len(told.directions) != 1:
            has = "holds velocities" if told.position is None else f"has {len(told.directions)} equations"
            raise ModelError(
                f"{owner}: action 'strike': needs a constraint with one equation at position level; {target.owner} {has}"
            )

    def check(self, model, values, owner):
        e = quantity.scalar(self.restitution, "restitution", owner)
        symbols = [] if e.is_constant() else ca.symvar(e)
        if any(model.kind_of(s) != "parameter" or s.name() not in values for s in symbols):
            return  # known when it is struck
        if not 0 <= (value := quantity.numbers(e, values).item()) <= 1:
            raise ModelError(f"{owner}: restitution must lie between 0 and 1, got {value:g}")

    def switches(self):
        return self.targets

    def expressions(self):
        return (quantity.scalar(self.restitution, "restitution", "strike"),)

    def steps(self, model):
        prior = [Step("set", m, (ca.SX(value),)) for m, value in self.before]
        return [*prior, *[Step("strike", c, self.expressions()) for c in self.targets]]


@register("land")
@dataclass(frozen=True, eq=False)
class Land(Action):
    """Dry friction sticks where nothing slides any more, and slides on where something does."""

    def switches(self):
        return self.targets

    def steps(self, model):
        return [Step("land", f) for f in self.targets]


@register("switch")
@dataclass(frozen=True, eq=False)
class Switch(Action):
    """Forces are switched on or off."""

    acts_on = "forces"
    on: bool = True

    def accepts(self, model, target, owner):
        _of(self, model.forces, target, owner)

    def switches(self):
        return self.targets

    def steps(self, model):
        return [Step("set", f.active, (ca.SX(float(self.on)),)) for f in self.targets]


@register("assign")
@dataclass(frozen=True, eq=False)
class Assign(Action):
    """A parameter (given by its name or its symbol) or a memory takes the value of an expression."""

    value: object = 0.0

    def refers(self, model, owner):
        self._target(model, owner)
        quantity.scalar(self.value, "value", owner)

    def expressions(self):
        return (quantity.scalar(self.value, "value", "assign"),)

    def _target(self, model, owner):
        (given,) = self.targets
        if isinstance(given, Memory):
            return given
        for parameter in model.parameters.values():
            named = isinstance(given, str) and given == parameter.name
            if named or (isinstance(given, ca.SX) and given.is_scalar() and ca.is_equal(given, parameter.symbol)):
                return parameter
        known = ", ".join(model.parameters) or "none"
        name = given if isinstance(given, str) else quantity.show(given)
        raise ModelError(f"{owner}: action 'assign': unknown parameter {name!r}. Known: {known}.")

    def steps(self, model):
        return [Step("set", self._target(model, "event"), self.expressions())]


@register("enter")
@dataclass(frozen=True, eq=False)
class Enter(Action):
    """A machine enters a mode."""

    def refers(self, model, owner):
        for mode in self.targets:
            if not isinstance(mode, Mode) or model._names.get(mode.machine.name) is not mode.machine:
                raise ModelError(
                    f"{owner}: action 'enter': give a mode of this model, as in machine['name'], got {quantity.show(mode)}"
                )

    def steps(self, model):
        return [Step("set", mode.machine.memory, (ca.SX(mode.number),)) for mode in self.targets]


@register("record")
@dataclass(frozen=True, eq=False)
class Record(Action):
    """The value of an expression just before the event is kept with it, under a name."""

    label: str = ""
    value: object = 0.0

    def refers(self, model, owner):
        if why := unstorable(self.label):
            given = quantity.show(self.label)
            raise ModelError(f"{owner}: action 'record': {given} cannot be the name of a result: {why}")
        quantity.scalar(self.value, self.label, owner)

    def expressions(self):
        return (quantity.scalar(self.value, self.label, "record"),)

    def steps(self, model):
        return [Step("record", self.label, self.expressions())]


@register("end")
@dataclass(frozen=True, eq=False)
class End(Action):
    """The run ends at this event."""

    def steps(self, model):
        return [Step("end")]


def release(*constraints) -> Release:
    """Constraints or joints cease to hold."""
    return Release(constraints)


def engage(*constraints, snap=False) -> Engage:
    """Constraints or joints begin to hold; with `snap` also from far off."""
    return Engage(constraints, snap)


def strike(*constraints, restitution=0.0) -> Strike:
    """Constraints are hit from one side: they rebound, or stay closed."""
    return Strike(constraints, restitution)


def switch(*forces, on=True) -> Switch:
    """Forces are switched on or off."""
    return Switch(forces, on)


def assign(parameter, value) -> Assign:
    """A parameter takes a new value, which may be an expression of signals."""
    return Assign((parameter,), value)


def enter(mode) -> Enter:
    """A machine enters a mode."""
    return Enter((mode,))


def record(name, expression) -> Record:
    """Keep the value of an expression with the event."""
    return Record((), name, expression)


def end() -> End:
    """The run ends."""
    return End()
