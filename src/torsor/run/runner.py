"""Runs a prepared system: builds the records of the compiled loop, calls it in slices, keeps what was computed."""

import time as clock

import numpy as np

from ..errors import OptionError
from ..kernels.loops import loops
from ..kernels.record import VECTOR
from ..kernels.signatures import SIGNATURES
from ..methods.codes import ILL_CHOSEN, RUNNING
from ..methods.elimination import tables
from ..methods.extension import span_of
from ..methods.integrator import integrator_of
from ..methods.projections import Projection
from ..methods.records import KERNELS, Equations, Method, Outputs, Past, Plan, Run, Scales, Scratch, State, addresses
from . import endings, stiffness
from .blank import Blank
from .choice import Choice
from .departure import Departing
from .interruption import abrupt, asked, never_lost
from .restoring import refuse_unfit_facts, refuse_unfit_records

SLICE = 0.1  # seconds for which compiled code runs without a look at what else happened
SOON = 0.3  # part of its conditioning below which a choice of independent coordinates is looked at again
PATIENCE = 20.0  # seconds after which it is asked whether a run has a chance


class Runner(Departing):
    """One run of one system; `begin` gives it the times that are wanted, once or in several portions."""

    record, loop = Run, ("torsor.run.march", "march")

    def __init__(
        self,
        system,
        built,
        method,
        step,
        tolerance,
        projection: Projection,
        until,
        renew=None,
        library=None,
        blame=None,
    ):
        self.until, self.fixed_step, self.blame, self.system = float(until), step, blame, system
        self.renew, self.library = renew, library
        integrator = integrator_of(method)
        module, name = self._refuse_rotations(projection, built).stages or integrator.loop
        at_velocities = projection.threshold if projection.velocity_threshold is None else projection.velocity_threshold
        self.thresholds = float(projection.threshold), float(at_velocities)
        self.thorough = projection.stages is not None
        self.integrator, self.needs = integrator, integrator.needs
        self.sizes = {**system.sizes, "p": len(system.p), "outputs": sum(size for _, size in system.layout)}
        control = {"order": integrator.estimated or integrator.order, "gain": 1.0, "steady": 1.0, "growth": 5.0}
        control["implicit"] = "slope" in self.needs
        self.method = Method(step=loops(module)[name].address, **control | integrator.tables())
        self.past = Past(
            times=np.zeros(integrator.history), xs=np.zeros((integrator.history, system.state.x)),
            rates=np.zeros((integrator.history, system.state.algebra)),
            ways=np.zeros((3 if "slope" in self.needs else 0, system.state.algebra)),
        )  # fmt: skip
        self.plan = self._planned(step, tolerance, projection)
        own = {name: np.zeros(len(system.state.states)) for name in ("states", "state_rates", "state_damping")}
        self.scales = Scales(**own)
        self.state = State(p=np.zeros(len(system.p)), xs=np.zeros((3, system.state.x)))
        self.scratch, self.equations = self._scratch(), Equations()
        self.span, self.out = span_of(self.method, self.scratch, system.state, self.state.p), Outputs()
        self.run_ = self.record(
            plan=self.plan, method=self.method, state=self.state, past=self.past, scales=self.scales, scratch=self.scratch,
            equations=self.equations, span=self.span, out=self.out, **self._further(),
        )  # fmt: skip
        self.march, self.evaluate = loops(self.loop[0])[self.loop[1]], loops("torsor.run.march")["evaluate"]
        self.built, self.seen = None, {}
        self.cleared = Blank(*self._forgotten())
        self.restart(system, built)

    def _refuse_rotations(self, projection, built):
        """The projection; refused where it solves for dependent coordinates in stages and coordinates are no numbers."""
        if projection.stages is not None and (self.system.state.q != self.system.state.v or "stored" in built):
            raise OptionError(
                f"projection {projection.key!r} integrates joint coordinates: use formulation='relative' or 'woronetz', and "
                "joints without spherical or free motion; this model has rotations or momenta in its state"
            )
        return projection

    def _further(self):
        """What else the record of a run holds."""
        return {}

    def _forgotten(self):
        """Records in which a run leaves something that the next must not find."""
        return [self.state, self.past, self.scales, self.span]

    def _planned(self, step, tolerance, projection):
        system = self.system
        return Plan(
            adaptive=step is None, dense=step is None and self.method.dense.size > 0,
            projects=projection.projects and not self.integrator.meets, corrections=projection.corrections,
            step=step or 0.0, tolerance=tolerance,
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
            ways=np.zeros(self.past.ways.shape),
        )  # fmt: skip

    def _take(self, chosen):
        """Use these kernels from now on, one row of the table each, with scratch vectors that are large enough for them.

        chosen   libraries, with their rows in use, and whether their conditioning is watched
        """
        self.built = chosen[0][0]
        table = np.empty(len(chosen), KERNELS)
        for k, one in enumerate(chosen):
            table[k : k + 1] = self._row(*one)
        before = self.run_.kernels
        for name in ("poor", "rich", "best"):
            table[name][: len(before)] = before[name][: len(table)]
        if "slope" in self.needs:
            self._eliminate(table, [built.get("slope") or built["push"] for built, _, _ in chosen])
        self.run_.kernels = table

    def _row(self, built, keep, watches):
        """The row of the table for a library with these rows in use; made once, with room for what its kernels take and give."""
        known = self.seen.get((id(built), len(keep), watches))
        if known is None:
            row = addresses(built)
            row["constrained"] = self._agreed(len(keep) > 0)
            row["rows"], row["last"] = len(keep), max(built["factor"].size_out(0), 1) - 1
            row["efforts"] = built["rate"].size_out(1) - len(keep)
            row["watched"], row["poor"], row["rich"] = watches > 0, 0.0, np.inf
            self._make_room(built)
            known = self.seen[id(built), len(keep), watches] = built, row  # which stays as long as its address does
        return known[1]

    def _eliminate(self, table, slopes):
        """How the equations of implicit steps are solved with these kernels; what was kept of earlier ones is forgotten."""
        arrays, table["slopes"], table["source"] = tables(slopes)
        for name, array in arrays.items():
            setattr(self.equations, name, array)
        self.past.slope, self.past.sloped, self.equations.known = np.zeros(max(table["slopes"])), 0, 0
        self.cleared = Blank(*self._forgotten())

    def _make_room(self, built):
        for name, size in sizes_of(built):
            if Scratch.fields.get(name) is VECTOR and size > getattr(self.scratch, name).size:
                setattr(self.scratch, name, np.zeros(size))

    def _watch(self, row, built, x, watches, p=None):
        """What was chosen is chosen anew when it is conditioned much worse than it was at best, or again better. Where no step was
        taken since the last look, trials of different length end at places of different conditioning: all are put up with."""
        pivot = built["factor"](self.scratch.t.copy(), x, self.state.p if p is None else p)[0][-1]
        k = self.run_.kernels[row]
        poor, rich, k["best"] = window(pivot, k["best"], watches)
        if self.thorough:  # independent coordinates alone are integrated: they must be good ones
            poor, rich = SOON * pivot, pivot / SOON**3
        again = self.looked == self.state.steps
        k["poor"], k["rich"] = (min(poor, k["poor"]), max(rich, k["rich"])) if again else (poor, rich)
        self.looked = self.state.steps

    def _choose_anew(self):
        """Other rows or dependent coordinates, and kernels for them; where the same ones are best, more is put up with."""
        self._catch_up()
        tried = self.scratch.tried.copy()
        with abrupt(), never_lost():
            now = float(self.scratch.t[0])  # of the trial, which a ground that moves may have carried along
            q = tried[: self.plan.configuration]
            choice = self.renew(self.choice, now, q, self.state.p)
            built = self.built if choice == self.choice else self.library(choice)
        if choice != self.choice:
            self.choices += 1
            self._choose(choice, built)
        self._watch(0, self.built, tried, self.system.watches)

    def _choose(self, choice, built):
        """Use these kernels from now on."""
        self.choice, self.used = choice, self.used | set(choice.keep)
        self._take([(built, choice.keep, self.system.watches)])

    def _advance(self, budget):
        """Some steps. Returns a status."""
        return self.march(self.run_.address, budget)

    def _answer(self, status):
        """What a status asks for beyond going on. Returns RUNNING where that could be done."""
        if status != ILL_CHOSEN:
            return status
        self._choose_anew()
        return RUNNING

    def run(self, progress=None, stop=None, stride=np.inf):
        """March through all outputs; an interruption or a failure keeps what was reached. Returns a message.

        Steps and outputs are computed in slices of about a tenth of a second, between which Python hears of signals.

        progress, stop   called between slices: with time and steps; to ask whether to stop here ("paused"). Where no
                         `stop` is given, a signal that was noted stops the run ("interrupted")
        stride           simulated time that a slice should not exceed by much [s]
        """
        start, status, looked = clock.perf_counter(), RUNNING, False
        marched, then, done = 0.0, self.state.time, self.state.steps
        budget = self._first_slice() if stride == np.inf else 16  # the first steps may be short
        message = None
        try:
            while status == RUNNING and message is None:
                before, since = clock.perf_counter(), self.state.time
                status = self._advance(budget)
                marched += self._agreed(clock.perf_counter() - before)
                status = self._answer(status)
                self._catch_up()
                taken, passed = self._agreed(clock.perf_counter() - before), self.state.time - since
                most = budget * stride / passed if passed > 0 else np.inf
                budget = int(max(1, min(10_000_000, budget * min(8.0, SLICE / max(taken, 1e-6)), most)))
                if progress is not None:
                    progress(self.state.time, self.state.steps)
                looked = looked or (status == RUNNING and stiffness.looked_at(self, marched))
                if status == RUNNING and marched > PATIENCE:
                    left = self.until - self.state.time
                    message = endings.hopeless(self, left, marched, self.state.time - then, self.state.steps - done)
                    marched, then, done = 0.0, self.state.time, self.state.steps
                if status == RUNNING and message is None and self._agreed(asked() if stop is None else stop()):
                    message = "interrupted" if stop is None else "paused"
        except KeyboardInterrupt as error:
            message = self._interrupted(error)
        self.wall += clock.perf_counter() - start
        return message or self._message(status)

    def kernels_in_use(self):
        """The kernels of the present structure."""
        return self.built

    def _interrupted(self, error):
        """What is said of a run that was broken off at once."""
        return "interrupted"

    def _first_slice(self):
        """Steps that surely take less than a slice: so many operations, a nanosecond each."""
        operations = sum(self.built[k].instructions for k in ("factor", "rate", "positions", "velocities"))
        return int(self._agreed(max(1, min(256, SLICE / (1e-9 * self.method.stages * max(operations, 1))))))

    def _message(self, status):
        return endings.message(self, status)

    def snapshot(self):
        """Everything that the further run depends on, as plain facts and as arrays."""
        chosen = {"choice": self.choice.facts, "used": sorted(self.used)}
        facts = chosen | {"choices": self.choices, "wall": self.wall, "looked": self.looked}
        arrays = {f"{part}.{n}": x for part, record in self._lasting().items() for n, x in record.snapshot().items()}
        return facts, arrays | {f"kernels.{name}": self.run_.kernels[name].copy() for name in ("poor", "rich", "best")}

    def _lasting(self):
        """Records that a further run depends on."""
        return {"state": self.state, "past": self.past, "scales": self.scales, "span": self.span}

    def restore(self, facts, arrays, trusted=False):
        """Go on from a snapshot; trusted: one of this process, which no file has held."""
        refuse_unfit_facts(self, facts, trusted)
        same = facts["choice"] is self.choice.facts  # as where a simulation goes back and forth
        choice = self.choice if same else Choice.restored(facts["choice"])
        if choice != self.choice:
            self._choose(choice, self.library(choice))
        self.used |= set(facts["used"])
        self.choices, self.wall, self.looked = facts["choices"], facts["wall"], facts["looked"]
        self._restore_records(arrays, trusted)

    def _restore_records(self, arrays, trusted):
        refuse_unfit_records(self, arrays, trusted)
        parts: dict = {}
        for name, x in arrays.items():
            part, _, own = name.partition(".")
            parts.setdefault(part, {})[own] = x
        for part, record in self._lasting().items():
            record.restore(parts[part])
        for name, x in parts["kernels"].items():
            self.run_.kernels[name] = x


def sizes_of(built):
    """Names and sizes of the vectors of all kernels."""
    for name, kernel in built.items():
        yield "work", kernel.work_size
        yield from zip(SIGNATURES[name].takes, map(kernel.size_in, range(kernel.n_in)))
        yield from zip(SIGNATURES[name].gives, map(kernel.size_out, range(kernel.n_out)))


def window(pivot, best, part):
    """Conditioning below and above which to choose anew, and the best one so far: what was chosen near a singular position,
    where every choice is poor, is looked at again further on."""
    best = max(best, pivot)
    if pivot > 10 * part * best:
        return part * best, np.inf, best
    return (0.1 * pivot if pivot > 0 else -np.inf), max(30 * pivot, 1e-13), best
