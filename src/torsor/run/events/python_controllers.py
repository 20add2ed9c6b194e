"""Functions that are called in the middle of a run: those of controllers, which a user has written, and those of FMUs.

The compiled loop stops at a sample instant with the values of the inputs in the slots of the trial state. The function is called,
its answer is written to the controller's memories, and the loop goes on with the same instant. A state that is not made of
numbers stays here, and is pickled where a run is saved.
"""

import os
import pickle
import time as clock
import traceback
import warnings

import casadi as ca
import numpy as np

from ...elements.conversion import LARGEST, show
from ...errors import OptionError, TimingWarning, TorsorError
from ...events.controller_checks import pickle_state

STATE = "controller:"  # before the names of what is saved
SEEN = 10  # late calls after which it is judged whether most are


def start_clocks(program, t, p):
    """Let the clocks of a run that begins at another time than 0 count from there on: what is past is not made up for."""
    for place, rings in program.clocks:
        p[place] = max(p[place], rings.count_missed(t))


class Controllers:
    """All controllers of a run whose functions are called.

    failure   what a function raised, None as long as all is well; reason: the same in words
    goes_on   whether a run goes on after a function has failed: what it has changed of its state is taken back
    """

    def __init__(self, program):
        self.failure, self.reason, self.goes_on = None, "", False
        self.calls = {event: ControllerCall(program, event, *facts) for event, facts in program.calls.items()}
        self.objects = {a.controller.name: a for a in self.calls.values() if a.controller.initial}
        self.others = {a.controller.name: a for a in self.calls.values() if hasattr(a.controller, "saved_state")}

    def begin(self):
        """As at the start of a run."""
        self.failure = None
        for call in self.objects.values():
            call.object = pickle.loads(call.controller.initial)

    def snapshot(self, p):
        """States that are objects, and those of other programs that p names, as arrays of bytes."""
        saved = {name: call.controller.saved_state(call.place, p) for name, call in self.others.items()}
        saved = {name: content for name, content in saved.items() if content is not None}
        saved |= {name: pickle_state(call.object, call.controller.owner) for name, call in self.objects.items()}
        return {f"{STATE}{name}": np.frombuffer(content, np.uint8) for name, content in saved.items()}

    def restore(self, arrays):
        """Go on with the states of a snapshot."""
        for name, call in self.objects.items():
            if (content := arrays.get(f"{STATE}{name}")) is None:
                raise OptionError(f"{call.controller.owner}: there is no state of it in what was saved")
            try:
                call.object = pickle.loads(content.tobytes())
            except Exception as error:  # whatever a user's class raises
                why = f"{type(error).__name__}: {error}"
                raise OptionError(f"{call.controller.owner}: its state cannot be restored, {why}") from error
        for name, call in self.others.items():
            if (content := arrays.get(f"{STATE}{name}")) is not None:
                call.controller.restore_state(content.tobytes())

    def answer(self, event, slots, p):
        """Call the function of an event, and write its answer to p. Returns whether there is one."""
        call = self.calls[event]
        self.failure, kept = None, call.state_bytes() if self.goes_on else None
        try:
            p[call.answers], call.object = call.values(slots, p)
        except BaseException as error:  # whatever a function of the user raises; or somebody interrupts it
            if kept is not None:
                call.object = pickle.loads(kept)
            if not isinstance(error, Exception):
                raise
            self.failure = call.raised
            text = str(error).removeprefix(f"{call.controller.owner}: ")
            self.reason = f"{call.controller.owner}: {text} at t = {call.time:.9g} s"
            return False
        if call.slow():
            warnings.warn(call.pace(), TimingWarning, stacklevel=2)
        return True


class ControllerCall:
    """One controller: where its inputs are, and where its answer goes."""

    def __init__(self, program, event, controller, slot):
        self.place = place = lambda memory: program.places[id(memory)]
        self.controller, self.inputs = controller, slice(slot, slot + len(controller.signals))
        self.answers = np.array([place(memory) for memory in controller.answers], np.int64)
        self.states = np.array([place(memory) for memory in controller.states.values()], np.int64)
        self.count, self.period = place(controller.counts[0]), getattr(controller, "period", np.inf)
        self.time, self.raised, self.object = 0.0, None, None
        self.calls, self.late, self.seconds, self.warned = 0, 0, 0.0, False  # seconds: of calls that were late

    def values(self, slots, p):
        """Outputs and next state, as numbers, and the state as an object; an error that says what is wrong with them."""
        c, self.raised = self.controller, None
        self.time = c.instant(float(p[self.count]), slots[self.inputs])
        given = [self.time, c.form.restore_form(slots[self.inputs].copy())]
        if c.initial or c.remembers.parts:
            given.append(self.object if c.initial else c.remembers.restore_form(p[self.states]))
        found, after, rest = c.take_apart(self.call(given))
        if open_ := [x for x in found + after if isinstance(x, ca.SX) and not x.is_constant()]:
            raise ValueError(f"the function returned the expression {show(open_[0])}, and not a number")
        if not all(abs(x) <= LARGEST for x in found + after):
            names = [*c.held, *c.states]
            bad = next(k for k, x in enumerate(found + after) if not abs(x) <= LARGEST)
            message = f"the function returned {(found + after)[bad]} for {names[bad]!r}"
            raise ValueError(f"{message}, where numbers of up to {LARGEST:g} are allowed")
        return found + after, rest

    def state_bytes(self):
        """The state as bytes, None where it is made of numbers, which a function gets copies of, or cannot be pickled."""
        try:
            return pickle.dumps(self.object, pickle.HIGHEST_PROTOCOL) if self.controller.initial else None
        except Exception:  # whatever a user's class raises; saving a state reports it
            return None

    def call(self, given):
        """What the function returns; how long it took is noted."""
        begin = clock.perf_counter()
        try:
            return self.controller.function(*given)
        except Exception as error:
            self.raised = error
            if isinstance(error, TorsorError):  # of an FMU
                raise
            *_, last = traceback.extract_tb(error.__traceback__)
            where = f"{os.path.basename(last.filename)}, line {last.lineno}"
            raise ValueError(f"the function raised {type(error).__name__}: {error} ({where})") from error
        finally:
            taken = clock.perf_counter() - begin
            self.calls += 1
            if taken > self.period:
                self.late, self.seconds = self.late + 1, self.seconds + taken

    def slow(self):
        """Whether most calls take longer than a period, with one warning; some may have something to prepare."""
        late = self.late > SEEN and 2 * self.late > self.calls and not self.warned
        self.warned = self.warned or late
        return late

    def pace(self):
        return (
            f"{self.controller.owner}: a call of its function takes {self.seconds / self.late:.2g} s, longer than its period of "
            f"{self.period:g} s: in real time it would not keep up. Give the time that it takes as `delay`, write it with "
            "compiled=True, or sample less often"
        )
