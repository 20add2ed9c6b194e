"""The part of a model that changes while it runs: events, modes, memories, and which elements may be switched."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.assignments import part
from ..elements.element import ANYTHING, Element, Rule, fill_in
from ..errors import ModelError, TorsorError
from ..events import ANSWERS, Event, Memory, Mode, Modes, State, Watch, watch
from ..events.actions.base import Action
from ..forces import Force
from ..joints import Constraint
from . import element_checks
from .input_layout import InputLayout


def has_states(element: Any) -> bool:
    """True if an element may have states of its own."""
    return type(element).rates is not Element.rates


class WithEvents:
    """The part of a Model that is about events: memories, states, modes, switched elements."""

    name: str
    constraints: list[Constraint]
    forces: list[Force]
    rules: list[Rule]
    parameters: dict
    signals: dict[str, ca.SX]
    memory: dict[str, Memory]
    events: list[Event]
    machines: dict[str, Modes]
    _names: dict[str, object]
    _symbols: dict[int, str]
    _compiled: bool
    derived: dict
    _free: Callable
    _enter: Callable
    _note: Callable

    def when(
        self,
        condition: ca.SX | Watch,
        *actions: Action,
        name: str | None = None,
        during: Any = None,
        accumulate: str = "error",
    ) -> Event:
        """Do something when a condition becomes true: `model.when(signal <= 0, ts.release(joint))`.

        condition    a comparison of signals, or ts.rising(e), ts.falling(e), ts.crossing(e); any signal will do: time,
                     positions, velocities, multipliers, reactions, expressions of them
        actions      what is done, in this order: ts.release, engage, strike, switch, assign, enter, record, end
        name         under which it is reported; None: event1, event2, …
        during       a mode, or several modes of different machines, in which the event is enabled; None: always
        accumulate   answer to firing again and again without end: "error", "end" or "ignore"

        Returns the event, whose `time` and `count` are signals.
        """
        if name is None:
            name = next(f"event{k}" for k in range(1, len(self.events) + 2) if f"event{k}" not in self._names)
        self._free(name, "event")
        owner = f"event {name!r}"
        found = watch(condition, owner)
        element_checks.contents(self, owner, "its condition", found.phi, ANYTHING)
        self._check_actions(owner, actions)
        if accumulate not in ANSWERS:
            allowed = ", ".join(repr(x) for x in ANSWERS)
            raise ModelError(f"{owner}: accumulate must be one of {allowed}, got {accumulate!r}")
        when = self._during(during, owner)
        for k, half in enumerate(found.halves):
            if not half.is_constant():
                self._occasion(Event(f"{name}.half{k}", Watch(half, both=True), during=when, half=True))
        return self._occasion(Event(name, found, actions, when, accumulate))

    def _check_actions(self, owner, actions):
        """Refuse what is no action, or acts on what is not the model's."""
        if not actions:
            raise ModelError(f"{owner}: does nothing; give an action, or ts.record(name, expression)")
        for action in actions:
            if not isinstance(action, Action):
                raise ModelError(f"{owner}: give actions such as ts.release(...), got {quantity.show(action)}")
            action.refers(self, owner)
            for expression in action.expressions():
                element_checks.contents(self, owner, f"action {action.key!r}", expression, ANYTHING)

    def _extend(self, event, actions):
        if self._compiled:
            raise ModelError(f"model {self.name!r} has been compiled and cannot change; {event.owner} stays as it was")
        self._check_actions(event.owner, actions)
        self.derived.clear()
        self._join_actions(event, actions, len(event.actions))
        fill_in(event, actions=(*event.actions, *actions))

    def _join_actions(self, event, actions, first=0):
        """Let actions of an event add what they need; their names count from `first`."""
        for k, action in enumerate(actions, first):
            action.join(self, f"{event.name}.{action.key}{k or ''}")

    def state(self, name: str, rate: Any, start: Any = 0.0) -> ca.SX:
        """A number, or a vector, that follows its rate from a start: the integral of an error, a filter, a current, a pressure.

        rate    an expression of any signals, or a function of the state that returns one: `lambda x: (u - x) / T`
        start   a number, or as many as there are

        Returns its symbol, a signal for forces, events and other states; it is recorded in every run under its name.
        """
        self._free(name, "state")
        owner, before = f"state {name!r}", dict(self._symbols)
        begin = quantity.column(start, "start", owner)
        if not begin.is_constant():
            raise ModelError(f"{owner}: start must be made of numbers, got {quantity.show(start)}")
        count = begin.shape[0]
        names = [name] if count == 1 else [f"{name}[{k}]" for k in range(count)]
        symbols = [quantity.symbol(own) for own in names]
        self._symbols.update({s.element_hash(): "state" for s in symbols})
        whole = ca.vertcat(*symbols)
        try:
            value = quantity.column(self._call_rate(rate, whole, owner) if callable(rate) else rate, "rate", owner)
            if value.shape[0] != count:
                raise ModelError(
                    f"{owner}: the rate has {value.shape[0]} components, the start {count}; they must agree"
                )
            element_checks.contents(self, owner, "rate", value, ANYTHING)
        except ModelError:
            self._symbols = before
            raise
        for own, symbol, first, speed in zip(names, symbols, ca.vertsplit(begin), ca.vertsplit(value)):
            self._remember(State(own, float(first), symbol, speed))
            dict.__setitem__(self.signals, own, symbol)
        return self._enter(name, whole)

    @staticmethod
    def _call_rate(rate, whole, owner):
        """What a function that gives the rate of a state returns."""
        try:
            return rate(whole)
        except TorsorError:
            raise
        except Exception as error:  # whatever a function of the user raises
            why = f"{type(error).__name__}: {error}"
            raise ModelError(
                f"{owner}: rate is called with the state and must return an expression; it raised {why}"
            ) from error

    @property
    def states(self) -> list[State]:
        """The states that follow rates of their own, in the order of `memories`."""
        if "states" not in self.derived:
            self._fill_in_rates()
            self.derived["states"] = [memory for memory in self.memories if isinstance(memory, State)]
        return part("memory", list(self.derived["states"]))

    def _fill_in_rates(self):
        """Write the rates of states that belong to elements, which may depend on whether these act."""
        elements = {id(e): e for e in [*self.constraints, *self.forces, *self.rules] if has_states(e)}.values()
        switched = {id(e) for e in self.switched_elements} if elements else set()
        for element in elements:
            gates = [x.active.symbol for x in (*element.within(), element) if id(x) in switched]
            for state, rate in element.rates(math.prod(gates, start=ca.SX(1))):
                fill_in(state, rate=rate)

    def modes(self, name: str, *modes: str) -> Modes:
        """A machine with named modes, in the first of them at the start: `machine["name"]` is one of them."""
        self._free(name, "modes")
        return self.modes_of(name, modes)

    def modes_of(self, name: str, modes: tuple[str, ...]) -> Modes:
        """The same under any name, such as that of an included model's machine."""
        machine = Modes(name, modes)
        self._remember(machine.memory)
        dict.__setitem__(self.machines, name, machine)
        return self._enter(name, machine)

    def _during(self, given, owner):
        """Pairs (memory, value) of the modes in which an event is enabled."""
        pairs = []
        for mode in () if given is None else given if isinstance(given, (tuple, list)) else (given,):
            if not isinstance(mode, Mode) or self._names.get(mode.machine.name) is not mode.machine:
                raise ModelError(f"{owner}: during must be modes of this model, got {quantity.show(mode)}")
            pairs.append((mode.machine.memory, float(mode.number)))
        return tuple(pairs)

    def _occasion(self, event):
        fill_in(event, remember=self._remember, extend=self._extend)
        self._join_actions(event, event.actions)
        list.append(self.events, event)
        return self._enter(event.name, event)

    def _remember(self, memory: Memory) -> Memory:
        if self._compiled:
            raise ModelError(f"model {self.name!r} has been compiled and cannot change; {memory.name!r} was not added")
        self.derived.clear()
        dict.__setitem__(self.memory, memory.name, memory)
        self._symbols[memory.symbol.element_hash()] = "state" if isinstance(memory, State) else "memory"
        return memory

    def _prepare(self, element, active=None):
        """Symbols of an element that is about to be added: whether it acts, what it remembers."""
        if active is not None and not isinstance(active, (bool, np.bool_)):
            raise ModelError(f"{element.owner}: active must be True or False, got {quantity.show(active)}")
        on = active is None or bool(active)
        if element.armable:
            fill_in(element, acts=element.starts_active, starts_armed=on, _home=self)
        else:
            fill_in(element, acts=on, _home=self)
        self._note(element)
        for memory in element.memories():
            self._symbols[memory.symbol.element_hash()] = "state" if isinstance(memory, State) else "memory"

    def _complete(self, element):
        """What an element has once its equations are known to be sound: one multiplier per row."""
        if isinstance(element, Constraint):
            fill_in(element, rows_kept=len((element.trace() or element.equations()).directions))

    def _events_of(self, element):
        """Memories and events that an added element brings along."""
        for memory in element.memories():
            self._remember(memory)
        for event in element.events():
            self._occasion(fill_in(event, source=element))
        dict.update(self.signals, element.recorded_signals())

    @property
    def switched_elements(self) -> list:
        """Elements that events switch, or that do not act from the start, in the order of the model."""
        if "switched" not in self.derived:
            named = {id(target) for event in self.events for action in event.actions for target in action.switches()}
            every = {id(e): e for e in [*self.constraints, *self.forces]}  # dry friction is both
            self.derived["switched"] = [e for e in every.values() if e.acts is False or id(e) in named]
        return list(self.derived["switched"])

    def may_act(self, element: Any) -> bool:
        """True if an element acts from the start, or an event engages or arms it that is not its own."""
        if not element.inactive:
            return True
        actions = [action for event in self.events if event.source is not element for action in event.actions]
        return any(target is element for action in actions for target in (*action.switches(), *action.arms()))

    @property
    def armable(self) -> list:
        """Elements that events arm or disarm, or that are disarmed at the start, in the order of the model."""
        if "armable" not in self.derived:
            named = {id(target) for event in self.events for action in event.actions for target in action.arms()}
            every = {id(e): e for e in [*self.constraints, *self.rules] if e.armable}
            self.derived["armable"] = [e for e in every.values() if not e.starts_armed or id(e) in named]
        return list(self.derived["armable"])

    @property
    def memories(self) -> list[Memory]:
        """Everything that a run remembers: what events name, whether switched elements act, and whether armable ones are armed."""
        switches = [*[e.active for e in self.switched_elements], *[e.armed for e in self.armable]]
        return list({id(m): m for m in [*self.memory.values(), *switches]}.values())

    @property
    def inputs(self) -> list:
        """Symbols of the numbers that kernels take besides the state: parameters, then memories."""
        return [p.symbol for p in self.parameters.values()] + [m.symbol for m in self.memories]

    @property
    def input_layout(self) -> InputLayout:
        """Places of these numbers in the vector p of kernels."""
        return InputLayout(self)

    def input_values(self, values: Mapping[str, Any]) -> list[float]:
        """Their values at the start."""
        return [*values.values(), *[m.value for m in self.memories]]
