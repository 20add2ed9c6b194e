"""Events: what is watched while a system runs, what happens then, and the numbers that are remembered.

An event watches one function φ of signals. It fires when φ falls through zero while the event is enabled:

    condition            φ                                    condition            φ
    a <= b,  a < b       a − b                                rising(e)            −e
    a >= b,  a > b       b − a                                falling(e)           e
    and, or              the larger, the smaller of two       crossing(e)          e, in both directions

A condition (first column) is a state of affairs: it also fires where it is true already when the event becomes enabled, at
the start or on entering a mode, and where it becomes true by a jump. A crossing (second column) is a change and needs one.

Everything discrete that a run remembers is a `Memory`: whether a constraint is engaged, in which mode a machine is, which
way a contact slides. Memories are run-time inputs of the kernels like parameters, so no switch touches the coordinates.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from ..elements import quantity
from ..elements.assignments import explain_assignments
from ..elements.element import Owned
from ..elements.names import unstorable
from ..errors import ModelError

ANSWERS = ("error", "end", "ignore")
PAST = 1e-9  # of a period
_HALVES = {ca.OP_AND: ca.fmax, ca.OP_OR: ca.fmin}


@dataclass(frozen=True, eq=False)
class Memory:
    """A number that events change: its name, its symbol in expressions, its value at the start."""

    name: str
    value: float = 0.0
    symbol: Any = field(default=None, repr=False)

    def __post_init__(self):
        if self.symbol is None:
            object.__setattr__(self, "symbol", quantity.symbol(self.name))


@dataclass(frozen=True, eq=False)
class State(Memory):
    """A number that follows its rate, an expression of signals; events may set it."""

    rate: Any = field(default=None, repr=False)


@dataclass(frozen=True)
class Watch:
    """A function φ of signals, and how it fires.

    state    a condition, which holds or not; False: a crossing
    strict   whether φ = 0 is still false
    both     whether rising through zero counts too
    halves   of an "and" or an "or": the functions that it is made of, whose own zeros are instants to look at
    """

    phi: ca.SX
    state: bool = False
    strict: bool = False
    both: bool = False
    halves: tuple = ()


@dataclass(frozen=True)
class Clock(Watch):
    """Rings at instants that are known beforehand, at which steps end: whatever it brings about happens exactly there.

        t_n = (n + first) period + rest                                (1)

    n is how often its event has happened, φ = t_n − t. Sums of many periods are products, so that clocks whose periods are
    multiples of each other ring together.

    since    a run that begins after this time counts the periods that are past [s]
    """

    period: float = 1.0
    first: int = 0
    rest: float = 0.0
    since: float = 0.0

    @classmethod
    def of(cls, count: Memory, period: float, first: int = 0, rest: float = 0.0, since: float = 0.0) -> "Clock":
        """The clock of an event with this count."""
        phi = (count.symbol + first) * period + rest - quantity.time
        return cls(phi, True, False, False, (), period, first, rest, since)

    def instant(self, n: float) -> float:
        """When it rings after n times [s]."""
        return (n + self.first) * self.period + self.rest  # (1)

    def count_missed(self, t: float) -> int:
        """How often it has not rung in a run that begins at t."""
        return max(0, math.ceil((t - self.since) / self.period - PAST))


def _expression(value, what):
    given = quantity.scalar(value, what, "event")
    if given.is_constant():
        raise ModelError(f"event: {what} is a constant, {quantity.show(value)}; it must contain a signal")
    return given


def falling(expression: ca.SX) -> Watch:
    """An event where an expression falls through zero."""
    return Watch(_expression(expression, "the expression of falling"))


def rising(expression: ca.SX) -> Watch:
    """An event where an expression rises through zero."""
    return Watch(-_expression(expression, "the expression of rising"))


def crossing(expression: ca.SX) -> Watch:
    """An event where an expression passes through zero in either direction."""
    return Watch(_expression(expression, "the expression of crossing"), both=True)


def watch(condition, owner) -> Watch:
    """What `Model.when` was given, as a function that is watched."""
    if isinstance(condition, Watch):
        return condition
    allowed = "a comparison of signals such as `joint.coordinate <= 0`, or falling(...), rising(...), crossing(...)"
    if not isinstance(condition, ca.SX) or condition.shape != (1, 1):
        raise ModelError(f"{owner}: give {allowed}, got {quantity.show(condition)}")
    phi, strict = _boundary(condition, owner, allowed)
    if phi.is_constant():
        raise ModelError(f"{owner}: its condition contains no signal, so that it never changes: {condition}")
    return Watch(phi, state=True, strict=strict, halves=_halves(condition, owner, allowed))


def _halves(condition, owner, allowed):
    """The comparisons that a condition is made of; none where it is a comparison itself."""
    operation = condition.op()
    if operation == ca.OP_NOT:
        return _halves(condition.dep(0), owner, allowed)
    if operation not in _HALVES:
        return ()
    parts = [condition.dep(k) for k in range(2)]
    return tuple(half for x in parts for half in (_halves(x, owner, allowed) or (_boundary(x, owner, allowed)[0],)))


def _boundary(condition, owner, allowed):
    """φ with φ ≤ 0 where the condition holds, and whether the condition is strict."""
    operation = condition.op() if not condition.is_constant() and not condition.is_symbolic() else None
    if operation in (ca.OP_LE, ca.OP_LT):
        return condition.dep(0) - condition.dep(1), operation == ca.OP_LT
    if operation in _HALVES:
        (a, strict_a), (b, strict_b) = (_boundary(condition.dep(k), owner, allowed) for k in range(2))
        return _HALVES[operation](a, b), strict_a or strict_b
    if operation == ca.OP_NOT:
        phi, strict = _boundary(condition.dep(0), owner, allowed)
        return -phi, not strict
    if operation in (ca.OP_EQ, ca.OP_NE):
        raise ModelError(
            f"{owner}: equality is met at single instants only; give a crossing, as in crossing(a - b), or <= or >="
        )
    raise ModelError(f"{owner}: give {allowed}, got {condition}")


@dataclass(frozen=True, eq=False)
class Event(Owned):
    """A condition, what is done when it is met, and when it is looked at.

    watch       the function that is watched
    actions     what is done, in this order
    during      pairs (memory, value) that must hold for the event to be enabled
    accumulate  answer to events that follow each other faster and faster, or without time passing: "error" (the run stops
                and keeps what it computed), "end" (the run ends there), "ignore" (this event is not looked at any more)
    half        stands for half of the condition of another event: nothing happens, but the other is looked at there
    undecided_near_zero   a value near zero on becoming enabled is neither true nor false: the next instant decides
    source      the element that brought it along; None: a user
    remember    how its model takes note of the memories `time` and `count` when they are first used
    extend      how its model adds actions to it
    """

    name: str
    watch: Watch
    actions: tuple = ()
    during: tuple = ()
    accumulate: str = "error"
    undecided_near_zero: bool = False
    half: bool = False
    source: Any = None
    remembered: dict = field(default_factory=dict, repr=False)
    remember: Any = field(default=None, repr=False)
    extend: Any = field(default=None, repr=False)

    kind = key = "event"
    _frozen = True

    @property
    def owner(self) -> str:
        return f"event {self.name!r}"

    @property
    def responsible(self) -> str:
        """Who is named where something is wrong with it: the element that brought it along, or itself."""
        return self.owner if self.source is None else self.source.owner

    def _memory(self, what):
        if what not in self.remembered:
            if self.remember is None:
                raise ModelError(f"{self.owner}: belongs to no model yet")
            self.remembered[what] = self.remember(Memory(f"{self.name}.{what}"))
        return self.remembered[what].symbol

    def then(self, *actions: Any) -> "Event":
        """Further actions, for what could not be named before: a force that uses the `time` of the event that switches it."""
        if self.extend is None:
            raise ModelError(f"{self.owner}: belongs to no model yet")
        self.extend(self, actions)
        return self

    @property
    def time(self) -> ca.SX:
        """Signal: when the event fired last; 0 before."""
        return self._memory("time")

    @property
    def count(self) -> ca.SX:
        """Signal: how often the event has fired."""
        return self._memory("count")


explain_assignments(Event)


class Modes(Owned):
    """A machine that is in one of several named modes at any time; the first one at the start."""

    def __init__(self, name, modes):
        owner = f"modes {name!r}"
        if len(modes) < 2 or not all(isinstance(m, str) and m for m in modes) or len(set(modes)) != len(modes):
            raise ModelError(f"{owner}: give two or more different names, got {quantity.show(modes)}")
        for mode in modes:
            if why := unstorable(mode):
                raise ModelError(f"{owner}: {quantity.show(mode)} cannot be the name of a mode: {why}")
        self.name, self.names, self.memory = name, tuple(modes), Memory(name)

    def __getitem__(self, mode) -> "Mode":
        if mode not in self.names:
            raise ModelError(f"modes {self.name!r} have no {mode!r}. Known: {', '.join(self.names)}.")
        return Mode(self, mode)

    @property
    def number(self) -> ca.SX:
        """Signal: the place of the present mode in the list of names."""
        return self.memory.symbol

    def __repr__(self):
        return f"<Modes {self.name!r}: {', '.join(self.names)}>"


@dataclass(frozen=True, eq=False)
class Mode:
    """One mode of a machine."""

    machine: Modes
    name: str

    @property
    def number(self):
        return self.machine.names.index(self.name)
