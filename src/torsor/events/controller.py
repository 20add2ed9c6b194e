"""Controllers: programs that look at a mechanism at regular instants, and whose answers are held in between.

A controller is two clocks and a few memories, whichever way its law is written. At its sample instants the law is evaluated; a
law in Python leaves its answer in memories of its own, one that consists of expressions is evaluated where it is needed. With a
delay, answers wait in a line, and a second clock takes them out of it. Everything that a controller knows is a memory, so that
it is saved, restored and copied with the rest of a run; a state that is not made of numbers is stored as an object
(`run/events/python_controllers.py`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import ANYTHING, REQUIRED, Rule, Statement, fill_in
from ..elements.names import unstorable
from ..errors import ModelError, SymbolError, TorsorError
from ..registry import register
from .actions.assignment import Assign
from .actions.call_function import Ask
from .controller_checks import MOST, behind, list_known, refuse_function, seconds, split_state, starts
from .event import PAST, Clock, Event, Memory
from .value_structure import NAMED, NOTHING, Bundle, array, entries, scalars


@register("controller")
@dataclass(frozen=True, eq=False)
class Controller(Rule):
    """A law that is evaluated at sample instants; its outputs are numbers that are held until the next ones take effect.

        y(t) = y_k    for  t_k + d ≤ t < t_{k+1} + d,     t_k = φ + k T            (1)
        (y_k, s_{k+1}) = f(t_k, u(t_k), s_k),             k = 0, 1, …              (2)

    T, φ, d  period, phase and delay [s]; before φ + d the outputs are `start`
    u, s     inputs, signals just before the instant; the controller's own state
    f        `function(t, inputs)`, or `function(t, inputs, state)` that returns outputs and the next state

    inputs    signals, or names of signals, in a list: the function gets an array of numbers; or by name: a dictionary
    outputs   names; or expressions of signals by name, instead of a function
    function  called at every sample instant, with numbers; with `compiled=True` once, with arrays of expressions
    state     what the controller remembers at the start: a number, several, or several by name; or any object that can be pickled,
              which each run has a copy of
    delay     from a sample to the instant when what was computed takes effect [s]
    phase     instant of the first sample [s]
    start     outputs until the first ones take effect: one number for all, one for each, or by name

    `controller["name"]` is an output as a signal, for forces, drives, events and other controllers. Outputs and state are
    recorded in every run as `controller.name`, but for a state that is an object. [astrom1997], ch. 2: systems that are sampled,
    with a zero-order hold.
    """

    drawing = "none"
    not_drawn = "a rule without a place"
    texts = ("outputs",)
    variants: ClassVar[tuple[Any, ...]] = (
        {"period": 0.1, "outputs": {"level": 2.0}},
        {
            "period": 0.1,
            "outputs": ["sum"],
            "function": lambda t, u, s: (s + t, s + t),
            "state": 1.0,
            "delay": 0.25,
            "phase": 0.03,
        },
    )
    remembers: ClassVar[Bundle]  # each element has its own
    initial: ClassVar[bytes | None] = None  # a state that is an object, pickled
    held: ClassVar[dict[str, Memory]]
    states: ClassVar[dict[str, Memory]]
    answers: ClassVar[tuple[Memory, ...]]
    waiting: ClassVar[tuple[tuple[Memory, ...], ...]]
    counts: ClassVar[tuple[Memory, ...]]

    period: float = REQUIRED
    inputs: Any = ()
    outputs: Any = ()
    function: Callable[..., Any] | None = None
    state: Any = None
    delay: float = 0.0
    start: Any = 0.0
    compiled: bool = False
    phase: float = 0.0
    # once it is added: form and signals of the inputs; symbols of the state, and outputs and next state in them
    found: Any = field(default=None, repr=False)

    def __post_init__(self):
        period, delay, phase = (
            seconds(self, "period"),
            seconds(self, "delay", zero=True),
            seconds(self, "phase", zero=True),
        )
        if delay > MOST * period:
            raise ModelError(
                f"{self.owner}: delay must be at most {MOST} periods, {MOST * period:g} s, got {delay:g} s"
            )
        remembers, begin, initial = split_state(self)
        names = self._names(remembers)
        first = starts(self, names)
        if self.found is None:
            refuse_function(self)
        elif not isinstance(self.found, tuple) or len(self.found) != 5 or not isinstance(self.found[0], Bundle):
            raise ModelError(f"{self.owner}: found is what is worked out when it is added; leave it out")
        one = lambda name, value=0.0: Memory(f"{self.name}.{name}", value)
        asks = self.function is not None and not self.compiled
        all_names = [*names, *remembers.names]
        line = range(behind(period, delay)[0] + 1 if delay else 0)
        fill_in(
            self, period=period, delay=delay, phase=phase, remembers=remembers, initial=initial,
            held={name: one(name, value) for name, value in zip(names, first)},
            states={name: one(name, value) for name, value in zip(remembers.names, begin)},
            answers=tuple(one(f"{name}.answer") for name in all_names if asks),
            waiting=tuple(tuple(one(f"{name}.waiting[{k}]") for name in names) for k in line),
            counts=tuple(one(f"{what}.count") for what in ("sample", "effect")[: 2 if delay else 1]),
        )  # fmt: skip

    def _names(self, remembers):
        """Names of the outputs, checked."""
        given = [self.outputs] if isinstance(self.outputs, str) else self.outputs
        names = tuple(given) if isinstance(given, (tuple, list, Mapping)) else ()
        if not names or not all(isinstance(name, str) and name.isidentifier() for name in names):
            raise ModelError(
                f"{self.owner}: outputs must be names such as ['torque'], or expressions by name, got {quantity.show(self.outputs)}"
            )
        for name in (*names, *remembers.names):
            if (names + tuple(remembers.names)).count(name) > 1:
                raise ModelError(f"{self.owner}: outputs and state have {name!r} twice; names must differ")
            if why := unstorable(f"{self.name}.{name}"):
                raise ModelError(f"{self.owner}: {quantity.show(name)} cannot be a name: {why}")
        return names

    def __getitem__(self, name: str) -> ca.SX:
        """Signal: an output that is in effect."""
        if name not in self.held:
            raise ModelError(f"{self.owner} has no output {quantity.show(name)}.{list_known(name, self.held)}")
        return self.held[name].symbol

    @property
    def output(self) -> ca.SX:
        """Signal: all outputs in a column."""
        return ca.vertcat(*[memory.symbol for memory in self.held.values()])

    def attach(self) -> Self:
        """Replace names of signals by the signals. A law that is to run compiled becomes expressions."""
        if self.found is not None:
            return self
        if isinstance(self.outputs, Mapping):
            laws = tuple(quantity.scalar(x, f"output {name!r}", self.owner) for name, x in self.outputs.items())
            return fill_in(self, found=(NOTHING, (), (), laws, ()), outputs=tuple(self.held))
        form, column = Bundle.of(self._looked_up(), "inputs", True, self.owner)
        if self.compiled:
            return fill_in(self, found=(NOTHING, (), *self._trace_law(form, column)), function=None, inputs=())
        return fill_in(self, found=(form, scalars(column), (), (), ()), inputs=())

    def _looked_up(self):
        """The inputs, with signals in the place of their names."""
        signals, given = self._home.signals, self.inputs
        if isinstance(given, Mapping):
            return {name: self._signal(x, signals) for name, x in given.items()}
        if isinstance(given, (list, tuple)):
            return [self._signal(x, signals) for x in given]
        return self._signal(given, signals)

    def _signal(self, given, signals):
        if not isinstance(given, str):
            return given
        if parts := [x for name, x in signals.items() if name.rpartition("[")[0] == given]:
            return ca.vertcat(*parts)  # a vector, which is known by its components
        if given not in signals:
            where = f"model {self._home.name!r} has no signal {given!r}"
            others = "Signals of bodies and joints are given themselves, as in hinge.rate"
            raise ModelError(f"{self.owner}: inputs: {where}.{list_known(given, signals)} {others}")
        return signals[given]

    def _trace_law(self, form, column):
        """The law as expressions: symbols of the state, outputs, next state."""
        assert self.function is not None
        symbols = [quantity.symbol(name) for name in self.states]
        given = [quantity.time, form.restore_form(array(scalars(column)))]
        if self.state is not None:
            given.append(self.remembers.restore_form(array(symbols)))
        try:
            outputs, after, _ = self.take_apart(self.function(*given))
        except SymbolError as error:
            raise SymbolError(f"{self.owner}: its function cannot be compiled: {error}") from error
        except TorsorError:
            raise
        except Exception as error:
            raise ModelError(
                f"{self.owner}: its function cannot be compiled: {type(error).__name__}: {error}. It is called once with "
                "expressions, so that it may contain arithmetic, numpy.sin and the like, casadi.fmin, fmax, if_else; without "
                "compiled=True it may contain anything"
            ) from error
        return tuple(symbols), tuple(map(quantity.constant, outputs)), tuple(map(quantity.constant, after))

    def take_apart(self, returned: Any) -> tuple[list[Any], list[Any], Any]:
        """Outputs and next state of what the function returned, the state as numbers and as it is; a ValueError where it is
        anything else."""
        after: list[Any] = []
        rest = None
        if self.state is not None:
            if not isinstance(returned, (tuple, list)) or len(returned) != 2:
                raise ValueError(
                    f"the function returned {quantity.show(returned)}; with a state it returns outputs and the next state"
                )
            returned, rest = returned
            try:
                after = [] if self.initial else self.remembers.flatten(rest)
            except ValueError as error:
                raise ValueError(f"the function returned as next state {error}") from None
        try:
            if isinstance(returned, Mapping):
                return Bundle(NAMED, tuple((name, ()) for name in self.held)).flatten(returned), after, rest
            return entries(returned, len(self.held)), after, rest
        except ValueError as error:
            names = ", ".join(map(repr, self.held))
            raise ValueError(f"the function returned as outputs {names}: {error}") from None

    def _laws(self):
        """What outputs and state become at a sample, in symbols of this controller."""
        _, _, symbols, outputs, after = self.found
        own, laws = [memory.symbol for memory in self.states.values()], [*outputs, *after]
        if self.answers:
            laws = [memory.symbol for memory in self.answers]
        elif symbols:
            laws = ca.substitute(laws, list(symbols), own)
        return laws[: len(self.held)], laws[len(self.held) :]

    @property
    def form(self) -> Bundle:
        """In which the function gets its inputs."""
        return self.found[0]

    @property
    def signals(self) -> tuple[ca.SX, ...]:
        """The inputs of the function, one by one."""
        return self.found[1]

    def instant(self, count: float, inputs: Any) -> float:
        """When it is called after so many calls [s]."""
        return self.samples.instant(count)

    def statements(self) -> list[Statement]:
        column = lambda x: ca.vertcat(ca.SX(0, 1), *x)
        outputs, after = self._laws()
        columns = {"inputs": self.signals, "outputs": outputs, "the next state": after}
        return [Statement(what, column(x), ANYTHING) for what, x in columns.items()]

    def memories(self) -> list[Any]:
        waiting = [memory for place in self.waiting for memory in place]
        return [*self.held.values(), *self.states.values(), *self.answers, *waiting, *self.counts]

    def captures(self) -> list[tuple[Any, ca.SX]]:
        """Engaged, it samples from the next of its instants on; samples that have not taken effect before are dropped."""
        clock, armed, sampled = self.samples, self.armed.symbol > 0.5, self.counts[0].symbol
        missed = ca.ceil((quantity.time - clock.since) / clock.period - PAST)
        begins = ca.fmax(sampled, missed)
        return [(count, ca.if_else(armed, count.symbol, begins)) for count in self.counts]

    def resets(self) -> list[tuple[Any, ca.SX]]:
        """Released, its outputs are those of the start; its state is kept."""
        return [(memory, ca.SX(memory.value)) for memory in self.held.values()]

    def recorded_signals(self) -> dict[str, ca.SX]:
        return {memory.name: memory.symbol for memory in (*self.held.values(), *self.states.values())}

    def events(self) -> list[Any]:
        outputs, after = self._laws()
        asks = [Ask((self,), self.signals)] if self.answers else []
        set_ = lambda memories, values: [Assign((m,), x) for m, x in zip(memories, values)]
        symbols = lambda memories: [memory.symbol for memory in memories]
        moves = [a for old, new in zip(self.waiting, self.waiting[1:]) for a in set_(new, symbols(old))]
        to = self.waiting[0] if self.delay else self.held.values()
        sample = (*asks, *set_(to, outputs), *moves, *set_(self.states.values(), after))
        found = [self._event("sample", self.samples, sample)]
        if self.delay:
            age = self.counts[0].symbol - self.counts[1].symbol - 1  # samples since the one that takes effect
            values = symbols(self.waiting[-1])
            for k, place in reversed(list(enumerate(self.waiting[:-1]))):
                values = [ca.if_else(age == k, x, y) for x, y in zip(symbols(place), values)]
            found.append(self._event("effect", self._clock(1, self.delay), set_(self.held.values(), values)))
        return found

    @property
    def samples(self) -> Clock:
        """The clock that rings at sample instants."""
        return self._clock(0, 0.0)

    def _clock(self, which, delay):
        """Rings at whole periods after 0, plus the phase and a delay."""
        parts = [behind(self.period, x) for x in (self.phase, delay)]
        first, rest = behind(self.period, sum(rest for _, rest in parts))
        first += sum(whole for whole, _ in parts)
        return Clock.of(self.counts[which], self.period, first, rest, self.phase)

    def _event(self, what, clock, actions):
        count = self.counts[0 if what == "sample" else 1]
        return Event(f"{self.name}.{what}", clock, tuple(actions), remembered={"count": count})
