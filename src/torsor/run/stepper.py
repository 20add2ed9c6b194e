"""A prepared run that goes on as far as it is told, call by call, and whose present state can be looked at, kept and restored.

Times are counted: n calls of length dt lead from t₀ to t₀ + n dt, as outputs at these times would, and not to a sum of roundings.
Between calls nothing is lost: the length of steps, what multistep methods remember, what is known about events.
"""

import time as clock
from typing import Any

import numpy as np

from ..errors import ResultError, TorsorError
from ..methods.codes import FINISHED, RUNNING
from ..methods.records import Evaluation
from . import codes, endings
from .again import Prepared
from .restoring import refuse, refuse_unfit_log
from .runner import PATIENCE

LOG = ("time", "event", "energy", "slots")  # columns of the log of events
LOGGED = 16  # parts of the log of events that are kept, of some thousand events each
KEPT = 16384  # events that are kept where somebody looks at them


class Stopped(Exception):
    """A run came to an end before the time that it was to reach; as text why."""


class Stepper:
    """One run, driven from Python.

    ended    why the run is over, since an event has ended it; empty: it is not
    stale    whether outputs belong to an earlier state
    running  whether a call goes on, in which a function of the user, or another thread, may ask for something
    """

    def __init__(self, prepared: Prepared):
        self.prepared, self.runner, self.running = prepared, prepared.runner, False
        runner = self.runner
        self.state, self.out, self.eventful = runner.state, runner.out, hasattr(runner, "events")
        self.address, self.march = runner.run_.address, runner.march
        layout = prepared.own.state
        self.present: Any = Evaluation(
            which=np.zeros(1, np.int64), times=np.zeros(1), x=np.zeros((1, layout.x)), p=np.zeros((1, layout.p)),
            outputs=np.zeros((1, runner.sizes["outputs"])),
        )  # fmt: skip
        runner.begin(np.zeros(0))
        if self.eventful:
            runner.controllers.goes_on = True
        self._settle()
        self.begin()

    def begin(self):
        """From where the runner is now on."""
        self.budget = max(self.runner._first_slice(), 1)
        self.base, self.dt, self.count = self.state.time, 0.0, 0
        self.ended, self.stale, self.since = "", True, self.runner.system.t
        self.reach = self.runner.until if self.runner.bends is not None and self.runner.bends.found else np.inf

    def _look_ahead(self, end):
        """Where steps end since something bends there, beyond the time up to which that was known."""
        runner, self.reach = self.runner, 2.0 * end
        runner.plan.bends, runner.plan.beyond = runner.bends(runner.system.p, self.reach, self.since)

    def reset(self, **start):
        """To a start: see `Prepared.reset`."""
        self.prepared.reset(**start)
        self._settle()
        self.begin()

    def _settle(self):
        """Let what rests at the start close, so that forces and accelerations there are those of a result. What cannot be is told
        by the first call that goes on."""
        while self.eventful and (status := self.march(self.address, 0)) != RUNNING:
            if self.runner._answer(status) != RUNNING:
                break

    def advance(self, dt):
        """Go on by dt. Where that fails the state is that of the last step which could be taken. Returns whether dt can be told
        from the rounding of the time."""
        if dt != self.dt:
            self.base, self.dt, self.count = self.state.time, dt, 0
            if self.base + dt <= self.base:
                return False
        self.count += 1
        end = self.base + self.count * dt
        if end > self.reach:
            self._look_ahead(end)
        self.out.end, self.running = end, True
        try:
            status = self.march(self.address, self.budget)
            if status != FINISHED:
                self._go_on(status)
        finally:
            self.running, self.stale = False, True
        return True

    def _go_on(self, status):
        """Answer what the loop asks for, until the time is reached."""
        began, then, done = clock.perf_counter(), self.state.time, self.state.steps
        try:
            while status != FINISHED:
                self.stale = True  # since functions may look at it
                if (taken := clock.perf_counter() - began) > PATIENCE:
                    left, passed = self.out.end - self.state.time, self.state.time - then
                    if told := endings.hopeless(self.runner, left, taken, passed, self.state.steps - done):
                        raise Stopped(told)
                    began, then, done = clock.perf_counter(), self.state.time, self.state.steps
                if status == codes.ENDED:
                    self.ended = self.runner._message(status)
                answer = self.runner._answer(status)
                if answer != RUNNING:
                    raise Stopped(self.runner._message(answer))
                if status == codes.FULL:
                    del self.runner.logged[:-LOGGED]
                status = self.march(self.address, self.budget)
        except BaseException:  # also where somebody interrupts it
            self.dt = 0.0
            raise

    def put(self, place, value):
        """Another value of a number in p, which may jump: what methods remember ends there, and events look at it."""
        if self.state.p[place] != value:
            self.state.p[place], self.stale, self.runner.past.kept = value, True, 0
            if self.eventful:
                self.runner.events.pending = self.runner.events.passes = 1

    def outputs(self):
        """Outputs at the present state, in the order of the system's layout."""
        if self.stale:
            now, state = self.present, self.state
            now.times[0], now.x[0], now.p[0] = state.time, state.x, state.p
            now.structure = self.runner.events.structure if self.eventful else 0
            self.runner.evaluate(self.address, now.address)
            self.stale = False
        return self.present.outputs[0]

    def shown(self):
        """Places of the multipliers that results show: of rows that were in use."""
        return [k for k, _ in self.prepared.own.shown(self.runner._rows_used())]

    @property
    def by_events(self):
        """What events have changed the energy by since the start [J]."""
        return self.runner.events.energy

    def raised(self):
        """What a function of the user has raised, None where it has not."""
        return self.runner.controllers.failure if self.eventful else None

    @property
    def work(self):
        """Of forces without potential, since the start."""
        return float(self.state.x[self.runner.plan.configuration + self.runner.plan.velocities])

    def log(self):
        """What has happened: times, places in the program, changes of the energy, values in slots; the last ones, where it is
        much."""
        if not self.eventful:
            return np.zeros(0), np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 0))
        runner = self.runner
        runner._empty_log()
        time, event, energy, _, slots = (np.concatenate(column) for column in zip(*runner.logged))
        self._keep_log(time[-KEPT:], event[-KEPT:], energy[-KEPT:], slots[-KEPT:])
        time, event, energy, _, slots = runner.logged[0]
        return time, event, energy, slots

    def _keep_log(self, time, event, energy, slots):
        """A log as one part, without impulses, which nobody asks a simulation for."""
        self.runner.logged = [(time, event, energy, self.runner.log.impulse[:0], slots)]

    def snapshot(self):
        """Everything that the further run depends on, as plain facts and as arrays."""
        facts, arrays = self.runner.snapshot()
        log = dict(zip(LOG, self.log()))
        grid = (
            [self.state.time, 0.0, 0] if self.running else [self.base, self.dt, self.count]
        )  # amid a call: from here on
        facts |= {"grid": grid, "ended": self.ended}
        return facts, arrays | {f"log.{what}": x for what, x in log.items()}

    def restore(self, facts, arrays, trusted=False):
        """Go on from a snapshot. One that is not trusted, since a file has held it, is checked; where it is refused all stays."""
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
            raise ResultError("the stored state is damaged, or was changed; nothing was changed") from None

    def _refuse_unfit(self, facts, arrays):
        grid, ended = facts.get("grid"), facts.get("ended")
        numbers = isinstance(grid, (list, tuple)) and len(grid) == 3 and all(type(x) in (int, float) for x in grid)
        if not numbers or not np.isfinite(grid).all() or grid[1] < 0 or grid[2] < 0 or not isinstance(ended, str):
            refuse("its facts are not whole")
        refuse_unfit_log(self.runner, arrays, LOG)

    def _restore(self, facts, arrays, trusted=True):
        runner = self.runner
        runner.restore(facts, arrays, trusted)
        runner.equations.known = runner.equations.settled = 0  # factors that belong to another state
        self.begin()
        (self.base, self.dt, self.count), self.ended = facts["grid"], facts["ended"]
        if self.state.time < self.since and self.reach < np.inf:  # it may have begun anywhere
            self.since = None
            self._look_ahead(abs(self.reach))
        if self.eventful:
            runner.log.count = 0
            self._keep_log(*(arrays[f"log.{what}"] for what in LOG))
