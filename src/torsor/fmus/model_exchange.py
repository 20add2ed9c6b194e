"""An FMU for model exchange in the equations of a run: a function without a memory, and what happens at events.

    (ẋ, y, z) = f(d, t, x, u)                                                                              (1)

    x, u, y   continuous states, inputs, outputs, in SI units
    z         event indicators
    d         the number of the discrete state: every event makes a new one, which is kept, so that the FMU can be evaluated
              before and after it in any order

Derivatives of (1) are the FMU's own, or differences of order 2.
"""

import itertools
import math
import os
import threading
from functools import cached_property

import numpy as np

from ..lookup.foreign_calls import ForeignContent, store_function
from ..lookup.interval_search import number_of, stored_table
from .fmi_calls import FmuFailure, Instance
from .fmu_settings import Settings
from .watched_call import Caller

INITIAL = 0.0  # the number of the discrete state at the start
KEPT = 20_000  # discrete states
DIFFERENCE = 6e-6  # of a differenced argument: about the third root of the rounding
PASSES = 100  # of one event
BEFORE = 1e-9  # how far a state before an event is away from it, as a share of its size
PAST_ZERO = (
    0.0,
    1e-15,
    1e-13,
    1e-11,
    1e-9,
)  # likewise, how far it is carried on until an indicator has changed its sign
FEWEST_RESULTS = 2
NEVER = 1e99  # the time of no event [s]
_KNOWN: dict[float, "Equations"] = {}
_NUMBERS = itertools.count(1)
_FIRST = float(int.from_bytes(os.urandom(3)) * 2**29)  # numbers of different processes differ


def equations_of(settings: Settings) -> "Equations":
    """The equations of an FMU with these settings, which are made once in a process."""
    numbers = [str(x) for x in (settings.digest, settings.parameters, settings.inputs, settings.outputs)]
    number = number_of("fmu", *numbers)
    if number not in _KNOWN:
        _KNOWN[number] = Equations(number, settings)
    return _KNOWN[number]


def restore_content(settings):
    """The content of the stored function, in a process that may not know it yet."""
    return stored_table(equations_of(settings).number).content


class Equations:
    """Equation (1), and events."""

    def __init__(self, number: float, settings: Settings):
        self.number, self.settings = number, settings
        self.lock = threading.RLock()
        self.inputs, self.outputs = settings.group(settings.inputs), settings.group(settings.outputs)
        self.smooth = [k for k, v in enumerate(self.inputs.variables) if v.continuous and v.code in "df"]
        self.smooth_inputs = settings.group(tuple(settings.inputs[k] for k in self.smooth))
        self.watched = Caller(settings.owner, settings.timeout)
        self.instance, self.x_start, self.next_start, self.indicators = self.watched(self._begin)
        self.states = len(self.x_start)
        self.discrete, self.saved = INITIAL, {INITIAL: self._save()}
        self.x, self.rates, self.z = np.zeros(self.states), np.zeros(self.states), np.zeros(self.indicators)
        self.x_at, self.rates_at, self.z_at = (array.ctypes.data for array in (self.x, self.rates, self.z))
        self.content = ForeignContent(f"the FMU {settings.path}", restore_content, (settings,))
        self.padding = max(0, 1 - self.states - len(self.smooth))  # a function has three arguments or more
        self.arguments = 2 + self.states + len(self.smooth) + self.padding
        self.results = self.states + len(settings.outputs) + self.indicators
        self.indicating = slice(self.results - self.indicators, self.results)
        self.width = max(self.results, FEWEST_RESULTS)
        store_function(number, self.arguments, self.width, self.values, self.jacobian, self.content)

    # ---- instances and discrete states

    def _begin(self):
        instance = self.settings.start(0.0, None)
        instance.call("ExitInitializationMode")
        next_time, _, _ = _iterate(instance)
        instance.call("EnterContinuousTimeMode")
        x = instance.vector("GetContinuousStates", np.zeros(len(self.settings.fmu.states)))
        return instance, x, next_time, instance.indicators()

    @cached_property
    def can_go_back(self) -> bool:
        return bool(self.settings.facts.canGetAndSetFMUstate)

    def _save(self):
        return self.instance.get_state() if self.can_go_back else None

    def _select(self, discrete):
        if self.instance.fatal and discrete == INITIAL:  # of an earlier run
            self.instance.free()
            self.instance, self.discrete = self._begin()[0], INITIAL
            self.saved = {INITIAL: self._save()}
        if discrete == self.discrete:
            return
        if not self.can_go_back:
            if discrete != INITIAL:
                raise FmuFailure(
                    f"{self.settings.owner}: {self.settings.path} cannot save its state (canGetAndSetFMUstate), and has had an "
                    "event after this time; use interface='co-simulation'"
                )
            self.instance = self._begin()[0]
        elif discrete not in self.saved:
            raise FmuFailure(f"{self.settings.owner}: its discrete state at this time is not known in this process")
        else:
            self.instance.set_state(self.saved[discrete])
        self.discrete = discrete

    def _keep_new(self):
        self.discrete = _FIRST + next(_NUMBERS)
        self.saved[self.discrete] = self._save()
        if len(self.saved) > KEPT:
            old = next(k for k in self.saved if k != INITIAL)
            state = self.saved.pop(old)
            if state is not None:
                self.instance.free_state(state)

    def discrete_bytes(self, discrete: float) -> bytes | None:
        """A discrete state to be stored; None where it is the initial one, or the FMU cannot."""
        if discrete == INITIAL or not (self.can_go_back and self.settings.facts.canSerializeFMUstate):
            return None
        with self.lock:
            self._select(discrete)
            return self.instance.state_bytes()

    def restore_discrete(self, discrete: float, content: bytes) -> None:
        """Take a discrete state that was stored, under its number."""
        with self.lock:
            if discrete not in self.saved:
                self.saved[discrete] = self.instance.state_of_bytes(content)

    # ---- equation (1)

    def _move(self, arguments):
        self._select(arguments[0])
        instance, n = self.instance, self.states
        instance.call("SetTime", float(arguments[1]))
        if n:
            self.x[:] = arguments[2 : 2 + n]
            instance.call("SetContinuousStates", self.x_at, n)
        if self.smooth:
            instance.write(self.smooth_inputs, arguments[2 + n : 2 + n + len(self.smooth)])

    def _evaluate(self, arguments):
        self._move(arguments)
        instance, n, found = self.instance, self.states, np.zeros(self.width)
        if n:
            instance.call("GetContinuousStateDerivatives", self.rates_at, n)
            found[:n] = self.rates
        if self.settings.outputs:
            found[n : n + len(self.settings.outputs)] = instance.read(self.outputs)
        if self.indicators:
            instance.call("GetEventIndicators", self.z_at, self.indicators)
            found[self.indicating] = self.z
        return found

    def values(self, arguments: np.ndarray) -> np.ndarray:
        """Equation (1); not a number where the FMU fails, and its content says why."""
        if not math.isfinite(arguments.sum()):
            return np.full(self.width, np.nan)
        with self.lock:
            try:
                found = self._evaluate(arguments)
            except FmuFailure as error:
                self.content.failure = str(error)
                return np.full(self.width, np.nan)
            if not math.isfinite(found.sum()):
                k = int(np.flatnonzero(~np.isfinite(found))[0])
                self.content.failure = (
                    f"{self.settings.owner}: {self._name(k)} of the FMU is {found[k]} at t = {arguments[1]:g} s"
                )
            return found

    def _name(self, k):
        names = [f"the rate of {name!r}" for name in self.settings.fmu.state_names]
        names += [f"output {name!r}" for name in self.settings.outputs]
        return names[k] if k < len(names) else f"event indicator {k - len(names)}"

    def jacobian(self, arguments: np.ndarray) -> np.ndarray:
        """Derivatives of (1), row by row, by differences of order 2; that of d is zero."""
        J = np.zeros((self.width, self.arguments))
        with self.lock:
            for k in range(1, self.arguments - self.padding):
                h = DIFFERENCE * max(1.0, abs(arguments[k]))
                above, below = arguments.copy(), arguments.copy()
                above[k] += h
                below[k] -= h
                J[:, k] = (self.values(above) - self.values(below)) / (above[k] - below[k])
        return J.ravel()

    # ---- events

    def happen(self, given: np.ndarray, step: bool) -> np.ndarray:
        """What `_happen` returns; a failure where the FMU does not answer in time."""
        try:
            return self.watched(self._happen, given, step)
        except FmuFailure:
            if self.watched.stuck:
                self.instance.fatal = True  # nothing is called any more
                self.watched, self.lock = Caller(self.settings.owner, self.settings.timeout), threading.RLock()
            raise

    def _happen(self, given, step):
        """An event, or the end of a step of the integrator, at (d, t, x, u): states after it, d, the time of the next time
        event, whether there was an event, whether the FMU wants to end."""
        with self.lock:
            n, m = self.states, len(self.inputs.variables)
            arguments = np.concatenate([given[: 2 + n], given[2 + n : 2 + n + m][self.smooth], np.zeros(self.padding)])
            x, next_time, ended, needed = arguments[2 : 2 + n], float(given[2 + n + m]), False, True
            self._move(arguments)
            if step:
                needed, ended = self.instance.completed_step()
            else:
                self._pass_zero(arguments)
            if needed:
                self.instance.call("EnterEventMode")
                if m:
                    self.instance.write(self.inputs, given[2 + n : 2 + n + m])
                next_time, ends, changed = _iterate(self.instance)
                if changed:
                    x = self.instance.vector("GetContinuousStates", np.zeros(n))
                self.instance.call("EnterContinuousTimeMode")
                ended = ended or ends
            if needed or self.can_go_back:
                self._keep_new()
            return np.concatenate([x, [self.discrete, min(next_time, NEVER), float(ended)]])

    def _pass_zero(self, arguments):
        """Carry time and states on along their rates until an indicator has changed its sign: an FMU sees an event when it has
        passed, and torsor locates it to rounding."""
        if not self.indicators:
            return
        n = self.states
        self._evaluate(arguments)
        x, rates = arguments[2 : 2 + n], self.rates.copy()
        length = np.min(
            np.maximum(np.abs(x), 1.0) / np.maximum(np.abs(rates), 1e-300), initial=max(1.0, abs(arguments[1]))
        )

        def signs(share):
            moved = arguments.copy()
            moved[1] += share * length
            moved[2 : 2 + n] = x + rates * (share * length)
            return np.sign(self._evaluate(moved)[self.indicating])

        before = signs(-BEFORE)
        if not any((signs(share) * before < 0).any() for share in PAST_ZERO):
            self._move(arguments)


def _iterate(instance: Instance) -> tuple[float, bool, bool]:
    """The passes of one event: time of the next time event, whether to end, whether states changed."""
    changed = ended = False
    for _ in range(PASSES):
        needed, terminate, states, next_time = instance.update_discrete()
        changed, ended = changed or states, ended or terminate
        if not needed or ended:
            return next_time, ended, changed
    raise FmuFailure(f"{instance.owner}: an event of the FMU does not end: more than {PASSES} passes")
