"""How an FMU stands in a model: what is remembered, its events, and its outputs as signals.

Its binary is called as the functions of controllers are, in the middle of a run (`run/events/python_controllers.py`), and for
model exchange also in every evaluation of the equations (`model_exchange.py`).
"""

import math
import pickle
from typing import Any

import casadi as ca
import numpy as np

from ..elements import quantity
from ..events.actions.assignment import Assign
from ..events.actions.call_function import Ask
from ..events.actions.record_and_end import End
from ..events.event import Clock, Event, Memory, State, Watch
from ..events.value_structure import LIST, NOTHING, Bundle
from ..lookup.foreign_calls import call_function
from .co_simulation import Slave
from .fmu_settings import Settings
from .model_exchange import INITIAL, NEVER, Equations, equations_of

ENDED = 0.5  # threshold of a flag
DISCRETE = ".discrete"  # end of the name of the memory that says which discrete state an FMU has
EVENT, STEP = 0.0, 1.0  # why the binary is called


class Coupling:
    """What both kinds have in common."""

    def __init__(self, name: str, settings: Settings):
        self.name, self.settings = name, settings
        self.remembers, self.states, self.held = NOTHING, dict[str, Memory](), dict[str, Memory]()
        self.given: list[ca.SX] = []  # the inputs, once the element is added
        self.period = math.inf
        self.ended = Memory(f"{name}.ended")
        self.make()

    def make(self) -> None:
        """The memories."""

    def connect(self, inputs: list[ca.SX], period: float) -> None:
        """Take the inputs as expressions; period: the argument `step`."""
        self.given, self.period = inputs, period

    @property
    def inputs(self) -> tuple[ca.SX, ...]:
        """What its function is called with."""
        return tuple(self.given)

    @property
    def signals(self) -> dict[str, ca.SX]:
        """The outputs by name."""
        return {}

    @property
    def state_signals(self) -> dict[str, ca.SX]:
        """The continuous states by name."""
        return {}

    def rates(self) -> list[tuple[Any, ca.SX]]:
        return []

    def _answers(self, count: int) -> tuple[Memory, ...]:
        return tuple(Memory(f"{self.name}.answer[{k}]") for k in range(count))

    @property
    def form(self) -> Bundle:
        """In which the inputs are passed: one column."""
        return Bundle(LIST, (("inputs", (len(self.inputs),)),))

    def _end(self):
        """The event at which the FMU ends the run."""
        return Event(f"{self.name}.end", Watch(ENDED - self.ended.symbol, state=True), (End(),))

    def take_apart(self, returned: Any) -> tuple[list[float], list[float], Any]:
        """Answers, and what is kept until the next call, as `Controller.take_apart`."""
        answers, rest = returned
        return [float(x) for x in answers], [], rest


class Coupled(Coupling):
    """Co-simulation: outputs are polynomials in time between communication points, equation (1) of `co_simulation.py`."""

    def make(self) -> None:
        order, outputs = self.settings.extrapolation, self.settings.outputs
        one = lambda what: Memory(f"{self.name}.{what}")
        powers = [".value", *[f".slope{k or ''}" for k in range(order)]]
        self.rows = [[one(f"{name}{power}") for name in outputs] for power in powers]  # values, slopes …
        self.time, self.before = one("time"), one("time_before")
        self.results = [*[memory for row in self.rows for memory in row], self.time, self.before, self.ended]
        self.held = {memory.name: memory for memory in self.results}
        self.answers = self._answers(len(self.results))
        self.counts = (one("count"),)
        self.initial = pickle.dumps(Slave(self.settings))

    @property
    def signals(self) -> dict[str, ca.SX]:
        return {name: self._output(k) for k, name in enumerate(self.settings.outputs)}

    def _output(self, k):
        """y(t), in memories of this FMU."""
        s, factor = quantity.time - self.time.symbol, ca.SX(1)
        found = self.rows[0][k].symbol
        if self.settings.fmu.variables[self.settings.outputs[k]].continuous:
            for row, step in zip(self.rows[1:], (s, quantity.time - self.before.symbol)):
                factor = factor * step
                found = found + row[k].symbol * factor
        return found

    @property
    def samples(self) -> Clock:
        return Clock.of(self.counts[0], self.period)

    def instant(self, count: float, inputs: np.ndarray) -> float:
        return self.samples.instant(count)

    def function(self, t: float, inputs: np.ndarray, slave: Slave) -> tuple[np.ndarray, Slave]:
        """Go on to a communication point."""
        return slave.advance(t, inputs), slave

    def memories(self) -> list[Any]:
        return [*self.results, *self.answers, *self.counts]

    def events(self, element: Any) -> list[Event]:
        takes = [Assign((memory,), answer.symbol) for memory, answer in zip(self.results, self.answers)]
        asks = Ask((element,), self.inputs)
        sample = Event(f"{self.name}.sample", self.samples, (asks, *takes), remembered={"count": self.counts[0]})
        return [sample, self._end()]


class Exchanged(Coupling):
    """Model exchange: equations and events of the run."""

    initial = None

    @property
    def equations(self) -> Equations:
        return equations_of(self.settings)

    def make(self) -> None:
        names, e = self.settings.fmu.state_names, self.equations
        one = lambda what, value=0.0: Memory(f"{self.name}.{what}", value)
        self.x = [State(f"{self.name}.{name}", float(x)) for name, x in zip(names, e.x_start)]
        self.discrete = one(DISCRETE[1:], INITIAL)
        self.next = one("next_event", min(e.next_start, NEVER) - 1.0)
        self.counts = (one("count"),)
        self.step_count, self.began = one("step_count"), one("began")
        self.results = [*self.x, self.discrete, self.next, self.ended]
        self.answers = self._answers(len(self.results))
        self._called: tuple[list[ca.SX], list[ca.SX]] = ([], [])

    @property
    def state_signals(self) -> dict[str, ca.SX]:
        return {name: state.symbol for name, state in zip(self.settings.fmu.state_names, self.x)}

    @property
    def inputs(self) -> tuple[ca.SX, ...]:
        x = self.state_signals.values()
        return (self.discrete.symbol, quantity.time, *x, *self.given, self.next.symbol, ca.SX(EVENT))

    def _results(self) -> list[ca.SX]:
        """The results of the equations: one call of the FMU for all expressions."""
        e = self.equations
        smooth = [self.given[k] for k in e.smooth]
        given = [self.discrete.symbol, quantity.time, *self.state_signals.values(), *smooth, *[ca.SX(0)] * e.padding]
        before, found = self._called
        if len(before) != len(given) or not all(map(ca.is_equal, before, given)):
            found = call_function(e.number, given, e.width)
            self._called = given, found
        return found

    @property
    def signals(self) -> dict[str, ca.SX]:
        return dict(zip(self.settings.outputs, self._results()[self.equations.states :]))

    def rates(self) -> list[tuple[Any, ca.SX]]:
        return list(zip(self.x, self._results()))

    @property
    def samples(self) -> Clock:
        return Clock.of(self.step_count, self.period, first=1)

    def instant(self, count: float, inputs: np.ndarray) -> float:
        return float(inputs[1])

    def function(self, t: float, inputs: np.ndarray) -> tuple[np.ndarray, None]:
        """An event, or the end of a step."""
        return self.equations.happen(inputs[:-1], inputs[-1] == STEP), None

    def saved_state(self, place: Any, p: np.ndarray) -> bytes | None:
        """The discrete state that p names, with its number; None where it need not or cannot be saved."""
        discrete = float(p[place(self.discrete)])
        content = self.equations.discrete_bytes(discrete)
        return None if content is None else pickle.dumps((discrete, content))

    def restore_state(self, content: bytes) -> None:
        """Know a discrete state that was saved."""
        self.equations.restore_discrete(*pickle.loads(content))

    def memories(self) -> list[Any]:
        own = [self.discrete, self.next, self.ended, self.began, self.step_count, *self.counts]
        return [*self.x, *own, *self.answers]

    def events(self, element: Any) -> list[Event]:
        """Zeros of event indicators, time events, the ends of steps, and the first event at the start."""
        e, facts, found = self.equations, self.settings.facts, []

        def event(what, watch, kind=EVENT, more=(), **options):
            inputs = (*self.inputs[:-1], ca.SX(kind))
            takes = [Assign((memory,), answer.symbol) for memory, answer in zip(self.results, self.answers)]
            found.append(Event(f"{self.name}.{what}", watch, (Ask((element,), inputs), *takes, *more), **options))

        if self.settings.inputs and e.can_go_back:
            event("begin", Watch(self.began.symbol - ENDED, state=True), more=[Assign((self.began,), ca.SX(1))])
        for k, phi in enumerate(self._results()[e.indicating]):
            event(f"event{k or ''}", Watch(phi, both=True))
        late = [Assign((self.next,), self.answers[self.results.index(self.next)].symbol - 1)]  # it is counted on by one
        event("time_event", Clock.of(self.next, 1.0, since=NEVER), more=late, remembered={"count": self.next})
        needs = (
            facts.needsCompletedIntegratorStep
            if self.settings.fmu.version == 3
            else not facts.completedIntegratorStepNotNeeded
        )
        if needs:
            event("step", self.samples, STEP, remembered={"count": self.step_count})
        return [*found, self._end()]
