"""Runs a system whose structure changes: as `Runner`, with a table of structures and a log of events."""

import numpy as np

from ..errors import TorsorError
from .interruption import abrupt, never_lost
from .runner import Runner, addresses, window

EXTRA = ("guards", "slots", "energies", "impulse")
LOGGED = 1024  # events that fit in the log before it is emptied


class EventRunner(Runner):
    """One run with events."""

    def __init__(self, structures, system, built, method, step, tolerance, projection, until, blame=None):
        from . import codes, switch, switching

        self.codes, self.switch, self.switching, self.structures = codes, switch, switching, structures
        super().__init__(system, built, method, step, tolerance, projection, until, blame=blame)
        arrays, n = structures.program.arrays, len(structures.program.names)
        rows, slots, bits = len(system.rows), max(len(structures.program.slots), 1), len(arrays["bits"])
        self.program = switch.Program(**arrays)
        whole = lambda size: np.zeros(size, np.int64)
        speed = np.abs(system.v).max(initial=1e-3 * system.length)
        values = np.array([0.0, 0.0, system.length, speed, 0.0, 0.0, 0.0, 0.0, 0.0])
        history = np.zeros((n, 4))
        history[:, 0] = -np.inf
        self.events = switch.Events(
            side=whole(n), due=whole(n), fired=whole(n), enabled=whole(n), disabled=whole(n), armed=whole(n), history=history,
            phi=np.zeros(3 * n), scale=np.zeros(n), speed=np.zeros(n), marks=np.array([0, 1, 0, 0, 0, 0, 1, 0], np.int64),
            values=values, wanted=np.zeros(bits),
        )  # fmt: skip
        room = max(LOGGED, 2 * n)  # all events may happen at one instant
        self.log = switch.Log(
            np.zeros(room), np.zeros(room, np.int64), np.zeros(room), np.zeros((room, rows)), np.zeros((room, slots)),
        )  # fmt: skip
        self.logged, self.drained = [], 0  # parts of the log in memory; events that were taken from it
        self.state.p[arrays["crawls"]] = switch.CRAWL * speed
        self._trial(n, rows, slots, max(len(arrays["ops"]), 1), max(2 * len(arrays["lands"]), 1))
        self._tabulate()
        self._land()

    def _trial(self, n, rows, slots, struck, sliding):
        nq, nv, np_ = self.state.q.size, self.state.v.size, self.state.p.size
        of = lambda size, *names: {name: np.zeros(size) for name in names}
        self.trial = self.switch.Trial(
            **of(nq, "q0", "qs", "q", "other"), **of(nv, "v0", "a0", "v1", "a1", "u1", "w1", "vs", "us", "v", "vother", "dv"),
            **of(np_, "p0", "p"), values0=np.zeros_like(self.state.values),
            counts0=np.zeros_like(self.state.counts), scale0=np.zeros_like(self.scratch.scale), target=np.zeros(2),
            oq=np.zeros((1, nq)), ov=np.zeros((1, nv)), op=np.zeros((1, np_)), ow=np.zeros(1),
            phi=np.zeros(3 * n), samples=np.zeros((self.switch.END + 1, 3 * n)),
            sides=np.zeros(n, np.int64), bracket=np.zeros(2), **of(slots, "slots", "later"),
            **of(max(rows, 1), "r", "r0", "r1", "unit", "impulse", "own", "rubbed", "rubbing"), **of(rows, "impulses"),
            group=np.zeros(max(rows, 1), np.int64), creating=np.zeros(max(rows, 1), np.int64),
            sliding=np.zeros((sliding, 3)), matrix=np.zeros((sliding, sliding + 1)), ways=np.zeros((sliding, 3)),
            energies=np.zeros(2), struck=np.zeros((struck, 8)), tries=np.zeros(sliding, np.int64), grip=np.zeros(sliding),
            want=np.zeros(2), **of(0, "A", "B", "before", "after", "after1", "lam", "lam1", "bounce"),
        )  # fmt: skip

    def _tabulate(self):
        """The table of all structures that are known by now."""
        known, rows = self.structures.known, max(len(self.system.rows), 1)
        names = (*self.loop.Kernels._fields[:11], *EXTRA, *self.loop.Kernels._fields[11:], "meeting")
        for structure in known:
            self._take(structure.built)
        meeting = int(self.program.meets.max(initial=-1)) + 1
        if self.trial.after.size < meeting and any("meeting" in s.built for s in known):
            room = {name: np.zeros(meeting) for name in ("before", "after", "after1", "lam", "lam1", "bounce")}
            room |= {"A": np.zeros(meeting**2), "B": np.zeros(meeting * self.state.v.size)}
            self.trial = self.trial._replace(**room)
        before = {} if not hasattr(self, "table") else dict(zip(map(tuple, self.table.keys), self.table.numbers))
        self.table = self.switch.Table(
            keys=np.array([s.key for s in known], float).reshape(len(known), len(self.structures.bits)),
            addresses=np.array([list(addresses(s.built, names).values()) for s in known], np.int64),
            sizes=np.array(
                [
                    [
                        max(s.built["factor"].size_out(0), 1) - 1,
                        len(s.keep),
                        s.watches,
                        "stage" in s.built,
                        "meeting" in s.built,
                    ]
                    for s in known
                ],
                np.int64,
            ),
            rows=np.array([[*s.keep, *[-1] * (rows - len(s.keep))] for s in known], np.int64),
            numbers=np.array([before.get(s.key, self.plan.numbers[7:10]) for s in known], float),
        )

    def _land(self):
        """Dry friction at the start: it sticks where nothing slides."""
        structures, p = self.structures, self.state.p
        lands = structures.program.arrays["lands"]
        if not len(lands):
            return
        t, a = np.array([self.state.values[0]]), np.zeros(self.sizes["v"])
        built = structures.known[0].built
        lam = np.zeros(built["accelerations"].size_out(1))
        slots = built["slots"](t, self.state.q, self.state.v, p, a, lam)[0]
        slow = self.switch.SLOW * np.abs(self.state.v).max(initial=0.0)
        for stick, slip, heading, slot, parts, host, *_ in lands:
            sticks = slots[slot] <= slow and (host < 0 or p[host] == 1.0)
            p[stick], p[slip] = (1.0, 0.0) if sticks else (0.0, 1.0)
            if slots[slot] > 0.0:
                p[heading : heading + parts] = slots[slot + 1 : slot + 1 + parts]
        self._enter(self._want(structures.key_of(p), self.state))

    def _want(self, key, at):
        """The structure with this key, in the table; `at` holds the state at which it is met."""
        with abrupt(), never_lost():
            found = self.structures.want(key, self.state.values[0], at.q, at.v, at.p)
        self._tabulate()
        if found.watches:
            self._watch_structure(found, at.q, at.p)
        return found

    def _watch_structure(self, structure, q, p):
        k = self.structures.known.index(structure)
        pivot = structure.built["factor"](self.scratch.t.copy(), q, p)[0][-1]
        self.table.numbers[k] = window(pivot, self.table.numbers[k, 2], structure.watches)

    def _enter(self, structure):
        self.events.marks[0] = self.structures.known.index(structure)

    def _start_writing(self):
        self.events.marks[3] = 0

    @property
    def written(self):
        return int(self.events.marks[3])

    def _advance(self, budget):
        given = (self.program, self.events, self.trial)
        raw = (self.scratch, self.plan, self.state)
        return self.switching.march_events(given, self.table, raw, self.log, self.times, self.end, self.out, budget)

    def _answer(self, status):
        if status == self.codes.WANTED:
            try:
                self._want(tuple(self.events.wanted.tolist()), self.trial)
            except TorsorError as error:
                self.refused = str(error)
                return status
            return self.loop.RUNNING
        if status == self.codes.FULL:
            self._empty_log()
            return self.loop.RUNNING
        if status == self.loop.ILL_CHOSEN:
            self._catch_up()
            structure = self.structures.known[self.events.marks[0]]
            trial = self.scratch.trial[: self.state.q.size].copy()
            with abrupt(), never_lost():
                better = self.structures.rechosen(structure, float(self.scratch.t[0]), trial, self.state.p)
            if better:
                self.choices += 1
                self._tabulate()
            self._watch_structure(structure, trial, self.state.p)
            return self.loop.RUNNING
        return status

    def _empty_log(self):
        n = int(self.events.marks[4])
        self.logged.append(tuple(x[:n].copy() for x in self.log))
        self.events.marks[4] = 0

    def _message(self, status):
        w, t = self.codes, self.state.values[0]
        if not w.WANTED <= status <= w.UNSEEN:
            return super()._message(status)
        name = self.structures.program.names[self.events.marks[5]]
        off = f"{self.events.values[1]:.3g}"
        return {
            w.ENDED: f"ended by event {name!r}",
            w.WANTED: f"event {name!r} cannot happen: {getattr(self, 'refused', '')}",
            w.NOT_A_NUMBER: f"event {name!r}: its condition, or a value that it sets, is not a number at t = {t:.9g} s",
            w.NOT_SATISFIED: (
                f"event {name!r} engages constraints that are far from satisfied, or moves them: the largest residual is {off}. "
                "Engage them where they hold, or allow the bodies to be moved with engage(..., snap=True)"
            ),
            w.UNSEEN: (
                f"event {name!r}: its function changes too fast to be looked through in steps of {off} s; take a shorter step"
            ),
            w.RESTITUTION: f"event {name!r}: restitution must lie between 0 and 1, it is {off}",
            w.UNDECIDED: (
                f"event {name!r}: it cannot be decided which dry friction sticks and which slides (t = {t:.12g} s): "
                f"{', '.join(x for x, tried in zip(self.structures.program.frictions, self.trial.tries) if tried)}"
            ),
            w.PENETRATES: f"event {name!r} strikes a constraint that is broken by {off} there; it must hold where it is struck",
            w.CHATTERS: (
                f"event {name!r} and others that follow from it fire again and again without time passing (t = {t:.12g} s): "
                "the conditions call for each other. Let them differ (hysteresis), or choose accumulate='end' or 'ignore' "
                "for the event"
            ),
            w.ACCUMULATES: (
                f"event {name!r} fires at ever shorter intervals, which end at about t = {self.events.values[1]:.12g} s. "
                "Choose accumulate='end' to end there, accumulate='ignore' to go on without the event, or a constraint "
                "that stays engaged (ts.strike does that by itself)"
            ),
        }[status]  # fmt: skip

    def counts(self):
        return {**super().counts(), "structures": len(self.structures.known), "events": self.drained + self.backlog}

    @property
    def backlog(self):
        return sum(len(part[0]) for part in self.logged) + int(self.events.marks[4])

    def take_events(self):
        self._empty_log()
        time, event, energy, impulse, slots = (np.concatenate(parts) for parts in zip(*self.logged))
        for label, k, slot in self.structures.program.records:
            self._look_at_record(label, k, time, event, slots[:, slot])
        self.logged, self.drained = [], self.drained + len(time)
        return np.column_stack([time, event, energy, impulse, slots])

    def snapshot(self):
        facts, arrays = super().snapshot()
        facts["structures"] = [[s.key, s.keep, s.dependent, s.watches] for s in self.structures.known]
        events = {f"events.{name}": x.copy() for name, x in self.events._asdict().items()}
        return facts | {"drained": self.drained}, arrays | events | {"conditioning": self.table.numbers.copy()}

    def restore(self, facts, arrays, rebuild):
        super().restore(facts, arrays, rebuild)
        self.structures.known = [self.structures.rebuilt(tuple(key), *rest) for key, *rest in facts["structures"]]
        self._tabulate()
        self.table.numbers[:] = arrays["conditioning"]
        self.drained = facts["drained"]
        for name, x in self.events._asdict().items():
            x[...] = arrays[f"events.{name}"]

    def _evaluate(self, times, q, v, p, outputs):
        row = np.zeros(max(self.sizes["outputs"], 1))
        keys = p[:, self.structures.bits]
        for structure in self.structures.known:
            rows = np.flatnonzero((keys == np.array(structure.key)).all(axis=1))
            if rows.size:
                kernels = self.loop.Kernels(**addresses(structure.built, self.loop.Kernels._fields))
                self.loop.evaluate(kernels, self.scratch, self.plan, times, q, v, p, rows, outputs, row)

    def _look_at_record(self, label, k, time, event, values):
        """Take note of a recorded value that is not a number."""
        bad = np.flatnonzero((event == k) & ~np.isfinite(values))
        if self.undefined is None and bad.size:
            name = self.structures.program.names[k]
            self.undefined = (f"record {label!r} of event {name!r}", float(time[bad[0]]))

    def _rows_used(self):
        """Rows that were in use, and all rows of constraints that events switch."""
        switched = {c.name for c in self.structures.program.constraints}
        named = {k for k, (label, _) in enumerate(self.system.rows) if label.rsplit("[", 1)[0] in switched}
        return sorted(named.union(self.structures.used, *[s.keep for s in self.structures.known]))

    def _events(self):
        """Everything in the log, with names and recorded values."""
        self._empty_log()
        time, event, energy, impulse, slots = (np.concatenate(parts) for parts in zip(*self.logged))
        program = self.structures.program
        recorded = {}
        for label, k, slot in program.records:
            values = recorded.setdefault(label, np.full(len(time), np.nan))
            values[event == k] = slots[event == k, slot]
            self._look_at_record(label, k, time, event, slots[:, slot])
        names = np.array(program.names, dtype=str)[event] if len(event) else np.zeros(0, str)
        return {"time": time, "name": names, "energy": energy, "impulse": impulse, "recorded": recorded}
