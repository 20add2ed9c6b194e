"""A prepared run that advances call by call. Its present state can be read, stored and restored.

Calls are counted: n calls of length dt lead from t₀ to t₀ + n dt, as outputs at these times would, without a sum of rounding
errors. Step length, history of multistep methods and state of events persist between calls.
"""

import time as clock
from typing import Any

import numpy as np

from ..errors import ResultError, TorsorError
from ..methods.run_records import Evaluation
from ..methods.status_codes import FINISHED, RUNNING
from ..prepare import event_codes
from . import run_messages
from .many.held_inputs import add_work, potential_energy
from .restore_checks import refuse, refuse_unfit_log
from .reusable_run import PreparedRun
from .runner import PROGRESS_CHECK_AFTER

LOG = ("time", "event", "energy", "slots")  # columns of the log of events
LOG_PARTS = 16  # parts of the log of events that are kept, of some thousand events each
LOG_LENGTH = 16384  # events that are kept when the log is read


class StepperStopped(Exception):
    """The run ended before the requested time; the text says why."""


class Stepper:
    """One run, driven from Python.

    ended    why an event ended the run; empty: the run can continue
    stale    whether the stored outputs belong to an earlier state
    running  whether a call of `advance` is in progress, in which a user's function, or another thread, may read values
    potential_jumps  True if the potential energy may jump with an input
    """

    def __init__(self, prepared: PreparedRun):
        self.prepared = prepared
        self.runner = prepared.runner
        self.running = False
        runner = self.runner
        self.state = runner.state
        self.out = runner.out
        self.has_events = hasattr(runner, "events")
        self.address = runner.run_.address
        self.march = runner.march
        self.potential_jumps = bool(runner.plan.potential_jumps)
        layout = prepared.own.state
        self.present: Any = Evaluation(
            which=np.zeros(1, np.int64), times=np.zeros(1), x=np.zeros((1, layout.x)), p=np.zeros((1, layout.p)),
            outputs=np.zeros((1, runner.sizes["outputs"])),
        )  # fmt: skip
        runner.begin(np.zeros(0))
        if self.has_events:
            runner.controllers.goes_on = True
        self._apply_start_events()
        self.begin()

    def begin(self):
        """Count calls from the present state of the runner."""
        self.budget = max(self.runner._first_slice(), 1)
        self.base = self.state.time
        self.dt = 0.0
        self.count = 0
        self.end_reason = ""
        self.stale = True
        self.since = self.runner.system.t
        has_breakpoints = self.runner.bends is not None and self.runner.bends.any
        self.reach = self.runner.until if has_breakpoints else np.inf  # time up to which breakpoints are known

    def _extend_breakpoints(self, end):
        """Compute breakpoints beyond the time up to which they are known."""
        runner = self.runner
        self.reach = 2.0 * end
        runner.plan.bends, runner.plan.beyond = runner.bends(runner.system.p, self.reach, self.since)

    def reset(self, **start):
        """Go to a start: see `Prepared.reset`."""
        self.prepared.reset(**start)
        self._apply_start_events()
        self.begin()

    def _apply_start_events(self):
        """Close contacts that rest at the start, so that forces and accelerations there are those of a result.

        A failure is reported by the first call of `advance`.
        """
        while self.has_events and (status := self.march(self.address, 0)) != RUNNING:
            if self.runner._answer(status) != RUNNING:
                break

    def advance(self, dt):
        """Advance by dt. After a failure the state is that of the last accepted step.

        Returns False if dt is lost in the rounding of the time.
        """
        if dt != self.dt:
            self.base = self.state.time
            self.dt = dt
            self.count = 0
            if self.base + dt <= self.base:
                return False
        self.count += 1
        end = self.base + self.count * dt
        if end > self.reach:
            self._extend_breakpoints(end)
        self.out.end = end
        self.running = True
        try:
            status = self.march(self.address, self.budget)
            if status != FINISHED:
                self._finish_call(status)
        finally:
            self.running = False
            self.stale = True
        return True

    def _finish_call(self, status):
        """Handle each status of the loop and continue, until the requested time is reached."""
        began, time_before, steps_before = clock.perf_counter(), self.state.time, self.state.steps
        try:
            while status != FINISHED:
                self.stale = True  # user's functions may read outputs
                if (taken := clock.perf_counter() - began) > PROGRESS_CHECK_AFTER:
                    left, passed = self.out.end - self.state.time, self.state.time - time_before
                    steps = self.state.steps - steps_before
                    if message := run_messages.endless_run_message(self.runner, left, taken, passed, steps):
                        raise StepperStopped(message)
                    began, time_before, steps_before = clock.perf_counter(), self.state.time, self.state.steps
                if status == event_codes.ENDED:
                    self.end_reason = self.runner._message(status)
                answer = self.runner._answer(status)
                if answer != RUNNING:
                    raise StepperStopped(self.runner._message(answer))
                if status == event_codes.LOG_FULL:
                    del self.runner.logged[:-LOG_PARTS]
                status = self.march(self.address, self.budget)
        except BaseException:  # an interruption as well
            self.dt = 0.0
            raise

    def put(self, place, value):
        """Set a number in p. Since it may jump, the history of multistep methods is discarded and events are evaluated."""
        if self.state.p[place] != value:
            before = potential_energy(self.runner) if self.potential_jumps else 0.0
            self.state.p[place] = value
            self.stale = True
            self.runner.past.kept = 0
            if self.potential_jumps:
                add_work(self.runner, potential_energy(self.runner) - before)
            if self.has_events:
                self.runner.events.pending = self.runner.events.passes = 1

    def outputs(self):
        """Outputs at the present state, in the order of the system's layout."""
        if self.stale and self._is_undecided():
            self._evaluate_decided()
        elif self.stale:
            self._evaluate()
        return self.present.outputs[0]

    def _evaluate(self):
        """Compute the outputs at the present state."""
        now, state = self.present, self.state
        now.times[0], now.x[0], now.p[0] = state.time, state.x, state.p
        now.structure = self.runner.events.structure if self.has_events else 0
        self.runner.evaluate(self.address, now.address)
        self.stale = False

    def _is_undecided(self):
        """True at the start, or if an input was set, so that contacts or friction may change at this instant, and no call has
        followed yet."""
        if not self.has_events or self.running or not self.runner.events.pending:
            return False
        program = self.runner.program
        return bool(len(program.onesided) + len(program.frictions)) and not len(program.clocks)

    def _evaluate_decided(self):
        """Compute the outputs as they are once contacts and friction have reacted to the start or to an input, and keep the present
        state: further inputs may follow. Controllers are not called for this."""
        facts, arrays = self.snapshot()
        try:
            while self.runner.events.pending and self._decide():
                pass
            self._evaluate()
        finally:
            self._restore(facts, arrays)
            self.stale = False

    def _decide(self):
        """Let what is due happen, as far as possible. Returns False where it ends the run, or fails: the next call reports it."""
        status = self.march(self.address, -1)
        return status == RUNNING or (status != event_codes.ENDED and self.runner._answer(status) == RUNNING)

    def multiplier_indices(self):
        """Indices of the multipliers that results contain: of rows that were in use."""
        return [k for k, _ in self.prepared.own.multiplier_pairs(self.runner._used_rows())]

    @property
    def by_events(self):
        """Energy that events have added since the start [J]."""
        return self.runner.events.energy

    def controller_error(self):
        """The exception that a user's function has raised, or None."""
        return self.runner.controllers.failure if self.has_events else None

    @property
    def work(self):
        """Work of forces without potential since the start [J]."""
        return float(self.state.x[self.runner.plan.configuration + self.runner.plan.velocities])

    def log(self):
        """The last events: times, indices in the program, changes of the energy, values in slots."""
        if not self.has_events:
            return np.zeros(0), np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 0))
        runner = self.runner
        runner._empty_log()
        time, event, energy, _, slots = (np.concatenate(column) for column in zip(*runner.logged))
        self._set_log(time[-LOG_LENGTH:], event[-LOG_LENGTH:], energy[-LOG_LENGTH:], slots[-LOG_LENGTH:])
        time, event, energy, _, slots = runner.logged[0]
        return time, event, energy, slots

    def _set_log(self, time, event, energy, slots):
        """Replace the log by one part, without impulses, which a simulation does not show."""
        self.runner.logged = [(time, event, energy, self.runner.log.impulse[:0], slots)]

    def snapshot(self):
        """Everything that the rest of the run depends on: facts that JSON can store, and arrays."""
        facts, arrays = self.runner.snapshot()
        log = dict(zip(LOG, self.log()))
        # within a call, later calls count from the present time
        grid = [self.state.time, 0.0, 0] if self.running else [self.base, self.dt, self.count]
        facts |= {"grid": grid, "ended": self.end_reason}
        return facts, arrays | {f"log.{what}": x for what, x in log.items()}

    def restore(self, facts, arrays, trusted=False):
        """Continue from a snapshot. If it is refused, the present state stays.

        trusted   whether the snapshot was made in this process; others are checked
        """
        if trusted:
            self._restore(facts, arrays)
            return
        before = self.snapshot()
        try:
            self._refuse_unfit(facts, arrays)
            self._restore(facts, arrays, trusted)
        except BaseException as error:
            self._restore(*before)
            if isinstance(error, TorsorError) or not isinstance(error, Exception):
                raise
            raise ResultError("the stored state is damaged or was edited. It was not loaded") from None

    def _refuse_unfit(self, facts, arrays):
        grid, ended = facts.get("grid"), facts.get("ended")
        numbers = isinstance(grid, (list, tuple)) and len(grid) == 3 and all(type(x) in (int, float) for x in grid)
        if not numbers or not np.isfinite(grid).all() or grid[1] < 0 or grid[2] < 0 or not isinstance(ended, str):
            refuse("its facts are incomplete")
        refuse_unfit_log(self.runner, arrays, LOG)

    def _restore(self, facts, arrays, trusted=True):
        runner = self.runner
        runner.restore(facts, arrays, trusted)
        runner.equations.known = runner.equations.found_motion = 0  # factorisations of another state
        self.begin()
        self.base, self.dt, self.count = facts["grid"]
        self.end_reason = facts["ended"]
        if self.state.time < self.since and self.reach < np.inf:  # the stored run may have begun at any time
            self.since = None
            self._extend_breakpoints(abs(self.reach))
        if self.has_events:
            runner.log.count = 0
            self._set_log(*(arrays[f"log.{what}"] for what in LOG))
