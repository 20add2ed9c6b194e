"""The runner of a prepared system: builds the records of the compiled loop, calls it in slices, keeps the results."""

import time as clock
from dataclasses import dataclass

import numpy as np

from ..errors import OptionError
from ..kernels.loops import loops
from ..kernels.records import VECTOR
from ..kernels.signatures import SIGNATURES
from ..methods.continuous_extension import span_of
from ..methods.elimination_of_steps import tables
from ..methods.integrator import integrator_of
from ..methods.projections import Projection
from ..methods.run_records import (
    KERNELS,
    Equations,
    Method,
    Outputs,
    Past,
    Plan,
    Run,
    Scales,
    Scratch,
    State,
    addresses,
)
from ..methods.status_codes import ILL_CHOSEN, RUNNING
from ..prepare.choice import Choice
from . import auto_method, run_messages
from .interrupt_signals import raise_signals_at_once, reraise_signals, stop_requested
from .record_reset import RecordReset
from .restore_checks import refuse_unfit_facts, refuse_unfit_records
from .runner_start import RunnerStart

SLICE_SECONDS = 0.1  # seconds of compiled code between returns to Python
RECHOOSE_BELOW = (
    0.3  # pivot / pivot when chosen, below which independent coordinates that are integrated are chosen again
)
PROGRESS_CHECK_AFTER = 20.0  # seconds between estimates of whether a run can finish
PIVOT_BOUNDS = ("poor", "rich", "best")  # fields of the kernel table that a run changes


@dataclass(frozen=True)
class RunOptions:
    """Options of a runner; `step` is None for adaptive steps, `until` the end of the run [s]."""

    method: str
    step: float | None
    tolerance: float
    projection: Projection
    until: float


class Runner(RunnerStart):
    """One run of one system; `begin` sets its output times, once or in several portions."""

    record, loop = Run, ("torsor.run.time_loop", "march")

    def __init__(self, system, built, options: RunOptions, rechoose=None, library=None, blame=None):
        projection, step = options.projection, options.step
        self.until = float(options.until)
        self.fixed_step = step
        self.blame = blame
        self.system = system
        self.rechoose = rechoose
        self.library = library
        integrator = integrator_of(options.method)
        module, name = self._refuse_rotations(projection, built).stages or integrator.loop
        at_velocities = projection.threshold if projection.velocity_threshold is None else projection.velocity_threshold
        self.thresholds = float(projection.threshold), float(at_velocities)
        self.integrates_independent = projection.stages is not None
        self.integrator = integrator
        self.needs = integrator.required_kernels()
        self.sizes = {**system.sizes, "p": len(system.p), "outputs": system.outputs.size}
        control = {"order": integrator.estimated or integrator.order, "gain": 1.0, "steady": 1.0, "growth": 5.0}
        control["implicit"] = "slope" in self.needs
        tables = integrator.tables()
        self.numbers = tables.pop("numbers", None)  # keeps the record that the method's step reads
        address = 0 if self.numbers is None else self.numbers.address
        self.method = Method(step=loops(module)[name].address, numbers=address, **control | tables)
        self.past = Past(
            times=np.zeros(integrator.history), xs=np.zeros((integrator.history, system.state.x)),
            rates=np.zeros((integrator.history, system.state.algebra)),
            ways=np.zeros((3 if "slope" in self.needs else 0, system.state.algebra)),
        )  # fmt: skip
        self.plan = self._make_plan(options)
        user_states = {name: np.zeros(len(system.state.states)) for name in ("states", "state_rates", "state_damping")}
        self.scales = Scales(**user_states)
        self.state = State(p=np.zeros(len(system.p)), xs=np.zeros((3, system.state.x)))
        self.scratch = self._scratch()
        self.equations = Equations()
        self.span = span_of(self.method, self.scratch, system.state, self.state.p)
        self.out = Outputs()
        self.run_ = self.record(
            plan=self.plan, method=self.method, state=self.state, past=self.past, scales=self.scales, scratch=self.scratch,
            equations=self.equations, span=self.span, out=self.out, **self._extra_records(),
        )  # fmt: skip
        self.march = loops(self.loop[0])[self.loop[1]]
        self.evaluate = loops("torsor.run.time_loop")["evaluate"]
        self.built = None
        self.kernel_rows: dict = {}  # rows of the kernel table by library, number of constraint rows and watching
        self.cleared = RecordReset(*self._records_to_clear())
        self.restart(system, built)

    def _refuse_rotations(self, projection, built):
        """Refuse a projection that solves for dependent coordinates in every stage if the state has rotations or momenta.

        Returns the projection.
        """
        if projection.stages is not None and (self.system.state.q != self.system.state.v or "stored" in built):
            raise OptionError(
                f"projection {projection.key!r} integrates joint coordinates: use formulation='relative' or 'woronetz', and "
                "joints without spherical or free motion; this model has rotations or momenta in its state"
            )
        return projection

    def _extra_records(self):
        """Further fields of the record of a run."""
        return {}

    def _records_to_clear(self):
        """Records that have to be cleared before the next run."""
        return [self.state, self.past, self.scales, self.span]

    def _make_plan(self, options):
        system, step, projection = self.system, options.step, options.projection
        return Plan(
            adaptive=step is None, dense=step is None and self.method.dense.size > 0,
            projects=projection.projects and not self.integrator.meets, corrections=projection.corrections,
            step=step or 0.0, tolerance=options.tolerance,
            configuration=system.state.q, velocities=system.state.v, linear=np.array(system.linear, np.int64),
            gains=np.array(projection.all_gains(step), float),
        )  # fmt: skip

    def _scratch(self):
        layout, turns = self.system.state, self.sizes["turns"]
        vectors = {name: np.zeros(layout.algebra) for name in ("u", "e", "rough", "left", "xdot")}
        stages = max(self.method.stages, len(self.method.dense))
        return Scratch(
            t=np.zeros(1), K=np.zeros((stages, layout.algebra)), tried=np.zeros(layout.x), turn=np.zeros(turns),
            spin=np.zeros(turns), points=np.zeros((self.past.times.size, layout.algebra)), **vectors,
            ways=np.zeros(self.past.ways.shape), state_pivots=np.zeros(len(layout.states)),
            state_change=np.zeros(len(layout.states)),
        )  # fmt: skip

    def _take(self, chosen):
        """Use these kernels from now on, one row of the kernel table each. Scratch vectors grow as needed.

        chosen   library, constraint rows in use, and threshold of its pivot (0: not watched), for each row
        """
        self.built = chosen[0][0]
        table = np.empty(len(chosen), KERNELS)
        for k, one in enumerate(chosen):
            table[k : k + 1] = self._kernel_row(*one)
        before = self.run_.kernels
        for name in PIVOT_BOUNDS:
            table[name][: len(before)] = before[name][: len(table)]
        if "slope" in self.needs:
            self._set_elimination(table, [built.get("slope") or built["push"] for built, _, _ in chosen])
        self.run_.kernels = table

    def _kernel_row(self, built, keep, watches):
        """The row of the kernel table for a library with these constraint rows in use. It is made once."""
        known = self.kernel_rows.get((id(built), len(keep), watches))
        if known is None:
            row = addresses(built)
            row["constrained"] = self._largest_over_ranks(len(keep) > 0)
            row["rows"] = len(keep)
            row["last"] = max(built["factor"].size_out(0), 1) - 1
            row["efforts"] = built["rate"].size_out(1) - len(keep)
            row["watched"] = watches > 0
            row["poor"] = 0.0
            row["rich"] = np.inf
            self._enlarge_scratch(built)
            # a reference to the library keeps its address, which is the key, from being used again
            known = self.kernel_rows[id(built), len(keep), watches] = built, row
        return known[1]

    def _set_elimination(self, table, slopes):
        """Set the tables by which implicit steps eliminate with these kernels, and discard stored factorisations."""
        arrays, table["slopes"], table["source"] = tables(slopes)
        for name, array in arrays.items():
            setattr(self.equations, name, array)
        self.past.slope = np.zeros(max(table["slopes"]))
        self.past.sloped = 0
        self.equations.known = 0
        self.cleared = RecordReset(*self._records_to_clear())

    def _enlarge_scratch(self, built):
        """Enlarge the scratch vectors to the sizes that these kernels need."""
        for name, size in sizes_of(built):
            if Scratch.fields.get(name) is VECTOR and size > getattr(self.scratch, name).size:
                setattr(self.scratch, name, np.zeros(size))

    def _watch(self, row, built, x, watches, p=None):
        """Set the bounds of the pivot at which rows and coordinates are chosen again, from the pivot at a state.

        If no step was accepted since the last call, trial steps of other lengths ended at states with other pivots. The
        bounds then widen only, so that the step cannot repeat for ever.
        """
        pivot = built["factor"](self.scratch.t.copy(), x, self.state.p if p is None else p)[0][-1]
        k = self.run_.kernels[row]
        poor, rich, k["best"] = pivot_bounds(pivot, k["best"], watches)
        if self.integrates_independent:  # only independent coordinates are integrated: they must be well chosen
            poor = RECHOOSE_BELOW * pivot
            rich = pivot / RECHOOSE_BELOW**3
        again = self.looked == self.state.steps
        k["poor"], k["rich"] = (min(poor, k["poor"]), max(rich, k["rich"])) if again else (poor, rich)
        self.looked = self.state.steps

    def _choose_again(self):
        """Choose rows and dependent coordinates at the state that was tried, and load kernels if the choice is another one."""
        self._evaluate_new_outputs()
        tried = self.scratch.tried.copy()
        with raise_signals_at_once(), reraise_signals():
            now = float(self.scratch.t[0])  # time of the trial: constraints may depend on time
            q = tried[: self.plan.configuration]
            choice = self.rechoose(self.choice, now, q, self.state.p)
            built = self.built if choice == self.choice else self.library(choice)
        if choice != self.choice:
            self.choices += 1
            self._choose(choice, built)
        self._watch(0, self.built, tried, self.system.watches)

    def _choose(self, choice, built):
        """Use the kernels of this choice from now on."""
        self.choice = choice
        self.used = self.used | set(choice.keep)
        self._take([(built, choice.keep, self.system.watches)])

    def _advance(self, budget):
        """Attempt at most `budget` steps. Returns a status."""
        return self._march(budget)

    def _march(self, budget):
        """Let the compiled loop attempt at most `budget` steps. Returns a status."""
        return self.march(self.run_.address, budget)

    def _answer(self, status):
        """Do what a status of the loop requires before the run can continue.

        Returns RUNNING if the run can continue, else the status with which it ends.
        """
        if status != ILL_CHOSEN:
            return status
        self._choose_again()
        return RUNNING

    def run(self, progress=None, stop=None, stride=np.inf):
        """Run through all output times. After an interruption or a failure the results so far are kept. Returns a message.

        Steps and outputs are computed in slices of about a tenth of a second; Python handles signals between them.

        progress   called between slices with time and number of steps
        stop       called between slices; returns whether to stop the run there (message "paused"). None: a signal that
                   was received stops the run (message "interrupted")
        stride     simulated time that a slice should not exceed by much [s]
        """
        start, status, stability_checked = clock.perf_counter(), RUNNING, False
        seconds, time_before, steps_before = 0.0, self.state.time, self.state.steps  # since the last progress check
        budget = self._first_slice() if stride == np.inf else 16  # the first steps may be short
        message = None
        try:
            while status == RUNNING and message is None:
                slice_start, slice_time = clock.perf_counter(), self.state.time
                status = self._advance(budget)
                seconds += self._largest_over_ranks(clock.perf_counter() - slice_start)
                status = self._answer(status)
                self._evaluate_new_outputs()
                taken = self._largest_over_ranks(clock.perf_counter() - slice_start)
                passed = self.state.time - slice_time
                most = budget * stride / passed if passed > 0 else np.inf
                budget = int(max(1, min(10_000_000, budget * min(8.0, SLICE_SECONDS / max(taken, 1e-6)), most)))
                if progress is not None:
                    progress(self.state.time, self.state.steps)
                if not stability_checked and status == RUNNING:
                    stability_checked = auto_method.check_stability(self, seconds)
                if status == RUNNING and seconds > PROGRESS_CHECK_AFTER:
                    left = self.until - self.state.time
                    message = run_messages.endless_run_message(
                        self, left, seconds, self.state.time - time_before, self.state.steps - steps_before
                    )
                    seconds, time_before, steps_before = 0.0, self.state.time, self.state.steps
                if status == RUNNING and message is None:
                    if self._largest_over_ranks(stop_requested() if stop is None else stop()):
                        message = "interrupted" if stop is None else "paused"
        except KeyboardInterrupt as error:
            message = self._interrupt_message(error)
        self.wall += clock.perf_counter() - start
        return message or self._message(status)

    def kernels_in_use(self):
        """The kernels of the present structure."""
        return self.built

    def _interrupt_message(self, error):
        """The message of a run that an exception interrupted."""
        return "interrupted"

    def _first_slice(self):
        """Number of steps that surely take less than a slice, at a nanosecond for each instruction of the kernels."""
        operations = sum(self.built[k].instructions for k in ("factor", "rate", "positions", "velocities"))
        return int(
            self._largest_over_ranks(max(1, min(256, SLICE_SECONDS / (1e-9 * self.method.stages * max(operations, 1)))))
        )

    def _message(self, status):
        return run_messages.message(self, status)

    def snapshot(self):
        """Everything that the rest of the run depends on: facts that JSON can store, and arrays."""
        chosen = {"choice": self.choice.facts, "used": sorted(self.used)}
        facts = chosen | {"choices": self.choices, "wall": self.wall, "looked": self.looked}
        arrays = {
            f"{part}.{n}": x for part, record in self._stored_records().items() for n, x in record.snapshot().items()
        }
        return facts, arrays | {f"kernels.{name}": self.run_.kernels[name].copy() for name in PIVOT_BOUNDS}

    def _stored_records(self):
        """Records that the rest of the run depends on."""
        return {"state": self.state, "past": self.past, "scales": self.scales, "span": self.span}

    def restore(self, facts, arrays, trusted=False):
        """Continue from a snapshot.

        trusted   whether the snapshot was made in this process; others are checked
        """
        refuse_unfit_facts(self, facts, trusted)
        same = facts["choice"] is self.choice.facts  # avoids a comparison when a simulation steps back and forth
        choice = self.choice if same else Choice.from_facts(facts["choice"])
        if choice != self.choice:
            self._choose(choice, self.library(choice))
        self.used |= set(facts["used"])
        self.choices = facts["choices"]
        self.wall = facts["wall"]
        self.looked = facts["looked"]
        self._restore_records(arrays, trusted)

    def _restore_records(self, arrays, trusted):
        refuse_unfit_records(self, arrays, trusted)
        parts: dict = {}
        for name, x in arrays.items():
            part, _, own = name.partition(".")
            parts.setdefault(part, {})[own] = x
        for part, record in self._stored_records().items():
            record.restore(parts[part])
        for name, x in parts["kernels"].items():
            self.run_.kernels[name] = x


def sizes_of(built):
    """Names and sizes of the vectors of all kernels."""
    for name, kernel in built.items():
        yield "work", kernel.work_size
        yield from zip(SIGNATURES[name].takes, map(kernel.size_in, range(kernel.n_in)))
        yield from zip(SIGNATURES[name].gives, map(kernel.size_out, range(kernel.n_out)))


def pivot_bounds(pivot, best, part):
    """Pivots below and above which rows and coordinates are chosen again, and the best pivot so far.

    A choice made near a singular position, where every choice has a small pivot, is made again once the pivot has grown.
    """
    best = max(best, pivot)
    if pivot > 10 * part * best:
        return part * best, np.inf, best
    return (0.1 * pivot if pivot > 0 else -np.inf), max(30 * pivot, 1e-13), best
