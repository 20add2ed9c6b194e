"""Runs a system whose structure changes: as `Runner`, with a table of structures and a log of events."""

import time as clock

import numpy as np

from ...errors import TorsorError
from ...formulations.algebra.scales import nearest_unit
from ...kernels.loops import loops
from ...methods.status_codes import ILL_CHOSEN, RUNNING
from ...prepare import event_codes
from ...prepare.event_records import (
    HISTORY,
    LAST_SAMPLE,
    SLIDING,
    STRUCK,
    ContactProblem,
    EventRun,
    Events,
    FrictionProblem,
    Log,
    Program,
    SavedState,
    Step,
    Structures,
    Trial,
)
from ...prepare.prepare import run_kernels
from ...prepare.structures import NOWHERE
from ...prepare.velocity_block import motion_of
from ..contacts.stick_slip import SLOW
from ..interrupt_signals import raise_signals_at_once, reraise_signals
from ..record_reset import RecordReset
from ..restore_checks import refuse_unfit_facts
from ..runner import SLICE_SECONDS, Runner
from . import event_messages
from .event_tolerances import CRAWL
from .event_units import function_units, row_units
from .python_controllers import Controllers, start_clocks

FEW = 8  # structures whose table is kept for the next run
LOGGED = 1024  # events that fit in the log before it is emptied
LOGGED_IMPULSES = 2**22  # numbers of impulses in the log: a system with many rows has room for fewer events


class EventRunner(Runner):
    """One run with events."""

    record, loop = EventRun, ("torsor.run.events.event_loop", "march_events")

    def __init__(self, structures, system, built, options, blame=None):
        self.structures, self.controllers = structures, Controllers(structures.program)
        self.tabulated: dict = {}  # tables of keys and rows, by the structures in them

        def library(choice):
            return structures.derivation.library(choice, run_kernels)

        super().__init__(system, built, options, library=library, blame=blame)

    def restart(self, system, built=None, until=None):
        self.refused = ""
        self.controllers.begin()
        self.logged, self.drained = [], 0  # parts of the log in memory; events that were taken from it
        if self.built is not None:  # in an earlier run
            built = self.structures.restart(system, built)
        super().restart(system, built, until)
        start_clocks(self.structures.program, system.t, self.state.p)
        events, self.log.count = self.events, 0
        events.pending = events.beginning = 1
        events.fastest = max(self.moving, 1e-3 * max(system.scales["rate"], 1 / abs(self.until)))
        events.history["time"] = -np.inf
        self.table.confirmed[:] = NOWHERE
        self._measure(events.fastest)
        headings = self.program.headings
        self.state.p[headings["crawl"]] = CRAWL * self.program.units[headings["row"]] * events.fastest
        self._land()
        if (key := self.structures.key_of(self.state.p)) != self.structures.first:
            self._enter(self._want(key, self.state.x, self.state.p))

    def _records_to_clear(self):
        return [*super()._records_to_clear(), self.events, self.kept, self.trial, self.step, self.rubbing, self.met]

    def _begin_with(self, built):
        self.run_.kernels = self.run_.kernels[:0]  # how well they were conditioned in an earlier run is forgotten
        self._tabulate()

    def _extra_records(self):
        tables, system, layout = self.structures.program.tables, self.system, self.system.state
        n, rows, slots = len(tables["events"]), len(system.rows), max(len(self.structures.program.slots), 1)
        sliding = max(2 * len(tables["frictions"]), 1)
        some, whole = lambda *sizes: np.zeros(sizes), lambda size: np.zeros(size, np.int64)
        of = lambda size, *names: {name: np.zeros(size) for name in names}
        self.program = Program(
            **{**tables, "events": tables["events"].copy(), "units": some(rows), "rounded": some(rows)},
            steps=np.array([loops(module)[name].address for module, name in self.structures.program.steps], np.int64),
        )
        entries = max(min(LOGGED, LOGGED_IMPULSES // max(rows, 1)), 2 * n)  # all events may happen at one instant
        self.events = Events(
            **{name: whole(n) for name in "side due fired enabled disabled idle parting armed".split()}, phi=some(3, n),
            **of(n, "scale", "speed", "largest_slip"), **of(len(tables["bits"]), "wanted"), history=np.zeros(n, HISTORY),
        )  # fmt: skip
        self.log = Log(
            **of(entries, "time", "energy"),
            event=whole(entries),
            impulse=some(entries, rows),
            slots=some(entries, slots),
        )
        self.trial = Trial(
            **of(layout.x, "x", "other", "before"), p=some(layout.p), **of(slots, "slots", "later"), phi=some(3, n), at=some(n),
            **of(max(rows, 1), "r", "r0", "r1", "unit", "impulse"), **of(rows, "impulses", "given", "lam"),
            dv=some(layout.v), energies=some(2), rate=some(layout.algebra), inputs=some(layout.p),
            struck=np.zeros(max(len(tables["ops"]), 1), STRUCK),
        )  # fmt: skip
        self.step = Step(
            **of(layout.algebra, "rate", "rate1", "k1", "u1", "off", "u", "xdot"), x=some(layout.x), phi=some(3, n),
            K=some(len(self.method.dense), layout.algebra),
            samples=some(LAST_SAMPLE + 1, 3, n), sides=whole(n),
        )  # fmt: skip
        self.rubbing = FrictionProblem(
            slides=whole(sliding), way=some(sliding, 2), sliding=np.zeros(sliding, SLIDING), matrix=some(sliding, sliding + 1),
            tries=whole(sliding), grip=some(sliding), want=some(2), **of(max(rows, 1), "own", "coupling", "rubbed", "rubbing"),
            chain=whole(max(rows, 1)), group=whole(max(rows, 1)), creating=whole(max(rows, 1)),
        )  # fmt: skip
        self.met, self.table = ContactProblem(), Structures(confirmed=some(len(tables["bits"])), flagged=-1, soft=-1)
        self.kept = SavedState(states=some(len(layout.states)), x=some(layout.x), p=some(layout.p))
        return {
            "program": self.program, "structures": self.table, "events": self.events, "log": self.log, "kept": self.kept,
            "step": self.step, "trial": self.trial, "rub": self.rubbing, "meeting": self.met,
        }  # fmt: skip

    def _measure(self, rate):
        """The units of the program at the start."""
        built, rows = self.structures.known[0].built, row_units(self.system, self.program.frictions)
        x, p, multipliers = self.state.x, self.state.p, built["rate"].size_out(1)
        self.program.units[:], self.program.rounded[:] = rows, [nearest_unit(unit) for unit in rows]
        self.program.events["unit"] = function_units(
            self.structures.program,
            self.system,
            rows,
            built["guards"],
            x,
            p,
            multipliers,
            rate,
            self._velocities_of_whole(),
        )

    def _velocities_of_whole(self):
        """For each velocity of the model 1 if it is linear, and which of them are in the state of this runner."""
        return self.system.linear, np.arange(len(self.system.linear))

    def _tabulate(self):
        """The table of all structures that are known by now."""
        known, rows = self.structures.known, max(len(self.system.rows), 1)
        self._take([(s.built, s.choice.keep, s.watches) for s in known])
        for k, s in enumerate(known):
            self.run_.kernels["meeting"][k] = s.contacts["meeting"].address if s.contacts else 0
        self._enlarge_contact_memory(known)
        key = tuple((s.key, s.choice.keep) for s in known)
        several = (k for k, s in enumerate(known) if s.choice.flagged and not s.choice.soft)
        self.table.flagged = 0 if self.structures.only else next(several, -1)
        self.table.soft = next((k for k, s in enumerate(known) if s.choice.soft), -1)
        self.table.only = int(self.structures.only)
        if key in self.tabulated:
            self.table.keys, self.table.rows, self.table.places = self.tabulated[key]
            return
        self.table.keys = np.array([s.key for s in known], float).reshape(len(known), len(self.structures.bits))
        self.table.rows = np.array([[*s.keep, *[-1] * (rows - len(s.keep))] for s in known], np.int64)
        self.table.places = np.full((len(known), rows), -1, np.int64)
        for places, s in zip(self.table.places, known):
            places[s.keep] = np.arange(len(s.keep))
        if len(known) <= FEW:
            self.tabulated[key] = self.table.keys, self.table.rows, self.table.places

    def _land(self):
        """Dry friction at the start: it sticks where nothing slides."""
        structures, p = self.structures, self.state.p
        if not len(self.program.frictions):
            return
        t, xdot = np.array([self.state.time]), np.zeros(self.system.state.algebra)
        built = structures.known[0].built
        slots = built["slots"](t, self.state.x, p, xdot, np.zeros(built["rate"].size_out(1)))[0]
        slow = SLOW * self.moving
        for f in self.program.frictions:
            speed, heading, parts = f["speed"], f["heading"], f["parts"]
            sticks = slots[speed] <= slow * self.program.units[f["row"]] and (f["host"] < 0 or p[f["host"]] == 1.0)
            armed = f["armed"] < 0 or p[f["armed"]] == 1.0
            p[f["stick"]], p[f["slip"]] = float(sticks and armed), float(armed and not sticks)
            if slots[speed] > 0.0:
                p[heading : heading + parts] = slots[speed + 1 : speed + 1 + parts]

    def _want(self, key, x, p):
        """The structure with this key, in the table, where it is met at a state."""
        with raise_signals_at_once(), reraise_signals():
            q, v = motion_of(self.built, self.system.state, self.state.time, x, p)
            dependent = bool(self.table.dependent)
            self.table.dependent = 0
            found = self.structures.want(key, self.state.time, q, v, p, dependent)
        self._tabulate()
        if found.watches:
            self._watch_structure(found, x, p)
        return found

    def _add_contacts(self, structure):
        """Bring along the kernel of what forces at contacts do in a structure, with room for its results."""
        with raise_signals_at_once(), reraise_signals():
            structure.contacts = self.structures.contact_library(structure)
        self._tabulate()

    def _enlarge_contact_memory(self, known):
        """Room for what the kernels of contacts take and give, where there are any."""
        for s in known:
            if s.contacts:
                self._enlarge_scratch(s.contacts)
        n, met = int(self.program.meets.max(initial=-1)) + 1, self.met
        if met.after.size < n and any(s.contacts for s in known):
            for name in ("before", "after", "after1", "lam", "lam1", "bounce", "soft"):
                setattr(met, name, np.zeros(n))
            met.A, met.B, met.M = np.zeros(n**2), np.zeros(n * self.plan.velocities), np.zeros((n, n + 1))
            met.state, met.order = np.zeros(n, np.int64), np.zeros(n, np.int64)
            self.cleared = RecordReset(*self._records_to_clear())

    def _watch_structure(self, structure, x, p):
        self._watch(self.structures.known.index(structure), structure.built, x, structure.watches, p)

    def kernels_in_use(self):
        return self.structures.known[self.events.structure].built

    def _enter(self, structure):
        self.events.structure = self.structures.known.index(structure)

    def _advance(self, budget):
        """Some steps, with the answers that functions give on the way, and structures that an earlier run has met."""
        begin, done = clock.perf_counter(), self.state.steps + self.state.rejections
        status = super()._advance(budget)
        while status == event_codes.NEEDS_CONTROLLER or (
            status == event_codes.NEEDS_STRUCTURE and self.structures.is_known(self.events.wanted)
        ):
            if (status := self._answer(status)) != RUNNING:
                return status
            taken = self.state.steps + self.state.rejections - done
            if taken >= budget or self._largest_over_ranks(clock.perf_counter() - begin) > SLICE_SECONDS:
                return RUNNING
            status = super()._advance(budget - taken)
        return status

    def _answer(self, status):
        if status == event_codes.NEEDS_CONTROLLER:
            if not self._call_controller():
                return event_codes.CONTROLLER_FAILED
            self.events.answered = 1
            return RUNNING
        if status == event_codes.NEEDS_STRUCTURE:
            try:
                self._want(tuple(self.events.wanted.tolist()), self.trial.x, self.trial.p)
            except TorsorError as error:
                self.refused = str(error)
                return status
            return RUNNING
        if status == event_codes.LOG_FULL:
            self._empty_log()
            return RUNNING
        if status == event_codes.NEEDS_CONTACT_KERNEL:
            self._add_contacts(self.structures.known[self.events.contacts_of])
            return RUNNING
        if status == ILL_CHOSEN:
            self._choose_structure_again()
            return RUNNING
        return status

    def _call_controller(self):
        """Let a function of the user answer. Returns whether there is an answer."""
        return self.controllers.answer(self.events.failed, self.trial.slots, self.state.p)

    def _choose_structure_again(self):
        self._evaluate_new_outputs()
        structure = self.structures.known[self.events.structure]
        tried = self.scratch.tried.copy()
        with raise_signals_at_once(), reraise_signals():
            q, _ = self.system.state.split_blocks(tried)
            better = self.structures.choose_again(structure, float(self.scratch.t[0]), q, self.state.p)
        if better:
            self.choices += 1
            self._tabulate()
        self._watch_structure(structure, tried, self.state.p)

    def _empty_log(self):
        n, log = self.log.count, self.log
        self.logged.append(tuple(x[:n].copy() for x in (log.time, log.event, log.energy, log.impulse, log.slots)))
        log.count = 0

    def _message(self, status):
        return event_messages.message(self, status) or super()._message(status)

    def counts(self):
        return {**super().counts(), "structures": len(self.structures.known), "events": self.drained + self.backlog}

    def _energy(self):
        """Rates are met with fixed steps, too."""
        return max(super()._energy(), float(self.system.mass * (self.system.length * self.events.fastest) ** 2))

    @property
    def backlog(self):
        return sum(len(part[0]) for part in self.logged) + self.log.count

    def take_events(self):
        self._empty_log()
        time, event, energy, impulse, slots = (np.concatenate(parts) for parts in zip(*self.logged))
        for label, k, slot in self.structures.program.records:
            self._look_at_record(label, k, time, event, slots[:, slot])
        self.logged, self.drained = [], self.drained + len(time)
        return np.column_stack([time, event, energy, impulse, slots])

    def snapshot(self):
        facts, arrays = super().snapshot()
        facts["structures"] = [[s.key, s.choice.facts, s.watches] for s in self.structures.known]
        return facts | {"drained": self.drained}, arrays | self.controllers.snapshot(self.state.p)

    def _stored_records(self):
        return super()._stored_records() | {"events": self.events}

    def _restore_records(self, arrays, trusted):
        self._tabulate()
        super()._restore_records(arrays, trusted)

    def restore(self, facts, arrays, trusted=False):
        refuse_unfit_facts(self, facts, trusted)
        self.controllers.restore(arrays)
        self.structures.restore(facts["structures"])
        super().restore(facts, arrays, trusted)
        self.drained = facts["drained"]

    def _evaluate(self, which, structure=None):
        keys = self.out.p[which][:, self.structures.bits]
        for k, structure in enumerate(self.structures.known):
            own = which[(keys == np.array(structure.key)).all(axis=1)]
            if own.size:
                super()._evaluate(own, k)
                which, keys = (x[(keys != np.array(structure.key)).any(axis=1)] for x in (which, keys))
        if which.size:
            super()._evaluate(which, self.table.soft if self.table.soft >= 0 else self.table.flagged)

    def _look_at_record(self, label, k, time, event, values):
        """Take note of a recorded value that is not a number."""
        bad = np.flatnonzero((event == k) & ~np.isfinite(values))
        if self.undefined is None and bad.size:
            self.undefined = (f"record {label!r} of event {self.structures.program.names[k]!r}", float(time[bad[0]]))

    def _used_rows(self):
        """Rows that were in use, and all rows of constraints that events switch."""
        switched = {c.name for c in self.structures.program.constraints}
        named = {k for k, (label, _) in enumerate(self.system.rows) if label.rsplit("[", 1)[0] in switched}
        spare = self.system.redundant if self.system.choice.shares else ()
        return sorted(named.union(spare, self.structures.used, *[s.keep for s in self.structures.known]))

    def _events(self):
        """Everything in the log, with names and recorded values."""
        self._empty_log()
        time, event, energy, impulse, slots = (np.concatenate(parts) for parts in zip(*self.logged))
        program, recorded = self.structures.program, dict[str, np.ndarray]()
        for label, k, slot in program.records:
            values = recorded.setdefault(label, np.full(len(time), np.nan))
            values[event == k] = slots[event == k, slot]
            self._look_at_record(label, k, time, event, slots[:, slot])
        names = np.array(program.names, dtype=str)[event] if len(event) else np.zeros(0, str)
        return {"time": time, "name": names, "energy": energy, "impulse": impulse, "recorded": recorded}
