"""Many runs of a study in one call of compiled code: for models without events whose starts are found without special cases.

Other runs are computed one by one (`run_session.py`); the numbers are the same.
"""

import warnings
from dataclasses import replace
from threading import Lock

import numpy as np

from ..checks.continuity import depends_on_inputs, refuse_jumps
from ..errors import TorsorError
from ..kernels.derivation_lock import DERIVING
from ..look.dataset import at_outputs, attributes, in_use, labels, manifest, unique
from ..look.energy_balance import losses
from ..prepare import large_systems
from ..prepare.prepare import prepare
from ..prepare.requested_start import Starts
from ..run import auto_method
from ..run.many.batch_starts import BatchStarts
from ..run.many.batch_verdict import BatchVerdict
from ..run.many.lane_runner import LaneRunner, lane_library, reason_against_lanes
from ..run.many.repeated_runs import Repeater, RunStarts
from ..run.reusable_run import PreparedRun
from ..run.runner import Runner
from ..run.task import refuse_too_fast_start
from .finished_runs import accuracy_measures
from .run_portion import ENERGY_LOST

LANES_FROM = 32  # runs of a study from which it pays to compile kernels with lanes
BATCH_BYTES = 2**26  # bytes of outputs that are computed at once


class CompiledBatch:
    """Computes many runs of a request in compiled code, from any number of threads.

    available    True if compiled code can compute runs of this request
    refusal      why it cannot, in words
    batch_size   largest number of runs in one call
    """

    def __init__(self, request, task):
        self.request = request
        self.task = task
        self.lock = Lock()
        self.idle: list = []  # repeaters that no thread uses
        self.available = False
        self._description = None
        self._latest_starts = None
        with DERIVING:
            method = task.method  # as requested: preparation replaces "auto"
            first = PreparedRun(task)
            self.columns = [list(task.model.parameters).index(name) for name in request.names]
            self.system = first.own
            self.refusal = self._reason_against(first.runner, method)
            self.available = not self.refusal
            if self.available:
                self.lane_refusal = reason_against_lanes(first.runner)
                if request.runs < LANES_FROM:
                    self.lane_refusal = f"lanes are compiled for {LANES_FROM} runs or more"
                self.library = None if self.lane_refusal else lane_library(task.derivation(), first.own.choice)
                self.idle.append(self._make_repeater(first))
                base = np.array([*task.model.values(task.parameters).values()], float)
                self.batch_starts = BatchStarts(task.derivation(), first.own, task.until, base, self.columns)
                self.verdict = BatchVerdict(task)
                self.base = base
                self.motions_vary = depends_on_inputs(task.model, self.columns)
        row = self.system.outputs.size * len(request.times) * 8
        self.batch_size = int(max(1, min(4096, BATCH_BYTES // max(row, 1))))

    def carry_out(self, values, inputs, stop):
        """Compute runs. Returns a mask of those that are done, their variables (run, time, …) by name, and their numbers."""
        starts, possible = self._find_starts(values)
        repeater = self._take_repeater()
        try:
            which = np.flatnonzero(possible)
            result = repeater.run(self.request.times, starts.some(which), inputs and inputs.some(which), stop)
        finally:
            with self.lock:
                self.idle.append(repeater)
        done = np.zeros(len(values), bool)
        good = result.over & np.isfinite(result.outputs).all(axis=(1, 2))
        variables = self._variables(result.outputs, result.work)
        start = starts.some(which)
        good &= self.verdict.right(
            self.request.times, variables, start.length, start.p, np.full(len(start), bool(self.system.redundant))
        )
        done[which] = good
        counts = accuracy_measures(variables)
        counts |= {"steps": result.steps, "rejections": result.rejections, "time_reached": result.time}
        sizes = (start.mass, start.length, start.rate)
        options = (self.task.until, self.task.tolerance, self.task.step)
        counts[ENERGY_LOST] = losses(self.request.times, variables, result.steps, result.energy, sizes, options)

        def pick(x):
            return x if good.all() else x[good]

        return done, {n: (dims, pick(x)) for n, (dims, x) in variables.items()}, {n: pick(x) for n, x in counts.items()}

    @property
    def used(self):
        """Labels of the constraint rows in use."""
        return in_use(self.system, self.system.multiplier_rows)

    def description(self):
        """Labels, attributes of variables by name, and the manifest of a run."""
        if self._description is None:
            empty = self._variables(np.zeros((1, 0, self.system.outputs.size)), np.zeros((1, 0)))
            options = self.task.options() | self._path()
            facts = manifest(self.system, _NoEvents(self.system.multiplier_rows), options)
            names = [*empty, *unique(self.system, self.system.multiplier_rows)]
            self._description = (
                labels(self.system, self.system.multiplier_rows),
                {name: attributes(name) for name in names},
                facts,
            )
        return self._description

    def _path(self):
        """How the runs are computed, and why, as options."""
        if self.library is not None:
            return {"path": "lanes", "path_reason": f"{self.request.runs} runs, several at a time in vector registers"}
        return {"path": "batch", "path_reason": f"many runs in one call of compiled code: {self.lane_refusal}"}

    def _reason_against(self, runner, method):
        """Why compiled code cannot compute many runs of this request in one call, in words; empty if it can."""
        if type(runner) is not Runner:
            return "the model has events"
        if large_systems.runs_through_tables(self.task):
            return "the model runs through tables"
        if method == auto_method.AUTO:
            return "method='auto' is decided for each run"
        if _breakpoints_vary(runner, self.columns):
            return "breakpoints, at which steps end, depend on a parameter that varies"
        return ""

    def _take_repeater(self):
        """A repeater that no other thread uses."""
        with self.lock:
            if self.idle:
                return self.idle.pop()
        with DERIVING:
            return self._make_repeater(PreparedRun(replace(self.task)))

    def _make_repeater(self, prepared):
        """An object that computes runs in one thread: several at a time in lanes, if the kernels with lanes are compiled."""
        return Repeater(prepared) if self.library is None else LaneRunner(prepared, self.library)

    def _find_starts(self, values):
        """Starts of the runs, and a mask of the runs that compiled code can compute."""
        same = len(values) > 1 and np.all(values == values[0])  # only inputs differ between the runs
        different = values[:1] if same else values
        parameters = np.tile(self.base, (len(different), 1))
        parameters[:, self.columns] = different[:, : len(self.columns)]
        with DERIVING, np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            starts, possible = self.batch_starts.find(parameters)
            possible &= not self.request.starts and (self.request.start is None)
            for i in np.flatnonzero(~possible if not self.motions_vary else np.full(len(different), True)):
                possible[i] = self._find_single_start(parameters[i], different[i], starts, i, possible[i])
        repeated = np.zeros(len(values), np.int64)
        return (starts.some(repeated), possible[repeated]) if same else (starts, possible)

    def _find_single_start(self, parameters, row, starts: RunStarts, i, is_found):
        """Prepare run i alone and write its start to `starts`. Returns False if it fails, or needs other kernels than the batch."""
        task = self.task
        model = task.model
        try:
            values = model.values(dict(zip(model.parameters, parameters.tolist())))
            refuse_jumps(model, values, task.until)
            if is_found:
                return True
            options = task.kernel_options()
            system, built = prepare(model, task.formulation, options, task.signals, values)
            if (start := self.request.start_of(row)) is not None:
                system, _ = self._starts(values, system, built, options).at(start)
            refuse_too_fast_start(model, system, task.until)
        except TorsorError:
            return False
        if system.choice != self.system.choice or system.watches != self.system.watches:
            return False
        starts.x[i] = system.state.join_blocks(system.q, system.v, system.p)
        starts.p[i] = system.p
        starts.turning[i] = 0
        starts.length[i] = system.length
        starts.mass[i] = system.mass
        starts.inertia[i] = system.inertia
        starts.rate[i] = system.scales["rate"]
        return True

    def _starts(self, values, *arguments):
        """Solver for requested starts with these parameter values; the latest one is kept."""
        if self._latest_starts is None or self._latest_starts[0] != values:
            self._latest_starts = values, Starts(replace(self.task, parameters=values), *arguments)
        return self._latest_starts[1]

    def _variables(self, outputs, work):
        """Variables over time, by name, with the run as first dimension."""
        n, m, width = outputs.shape
        flat = at_outputs(
            self.system, outputs.reshape(n * m, width), work.ravel(), None, _NoEvents(self.system.multiplier_rows)
        )
        return {name: (dims, x.reshape(n, m, *x.shape[1:])) for name, (dims, x) in flat.items()}


class _NoEvents:
    """The attributes of a trajectory without events that `at_outputs` and `manifest` read."""

    events: dict = {}
    status = ""
    reached = 0.0
    wall = 0.0

    def __init__(self, used):
        self.used = used


def _breakpoints_vary(runner, columns):
    """True if breakpoints, at which steps end, depend on a parameter that varies."""
    return runner.bends is not None and runner.bends.depends_on(columns)
