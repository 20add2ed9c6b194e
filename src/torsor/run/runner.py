"""Runs a prepared system: builds the arrays of the compiled loop, calls it in slices, keeps what was computed."""

import json
import time as clock
from dataclasses import dataclass, field

import numpy as np

from ..registry import lookup
from .interruption import abrupt, asked, never_lost
from .projections import Projection

SLICE = 0.1  # seconds for which compiled code runs without a look at what else happened
BOUNDLESS = 1e20  # times its size that a model would move in the run: no motion, but an unstable step

STATUS = {
    2: "the state is no longer finite",
    3: "the step became too small: the motion is too stiff for an explicit method, or singular",
    4: "the constraints could not be satisfied any more: the projection did not converge",
}


@dataclass
class Trajectory:
    """Raw results: states at output times, what was derived from them, and the events in between."""

    times: np.ndarray
    p: np.ndarray
    work: np.ndarray
    events_energy: np.ndarray  # changed by events so far, at output times
    outputs: np.ndarray
    counts: dict
    status: str  # "finished", "interrupted", "ended by …" or what went wrong
    reached: float
    wall: float
    used: list  # rows in use at any time
    events: dict = field(default_factory=dict)  # time, event, energy, impulse, slots

    @property
    def complete(self):
        return self.status == "finished" or self.status.startswith("ended")


class Runner:
    """One run of one system; `begin` gives it the times that are wanted, once or in several portions."""

    def __init__(self, system, built, method, step, tolerance, projection: Projection, until, renew=None, blame=None):
        from . import loop

        self.choices, self.wall, self.until = 0, 0.0, float(until)
        self.blame, self.undefined = blame, None
        self.loop, self.system = loop, system
        A, b, c, estimate = (np.ascontiguousarray(x) for x in lookup("integrator", method).tableau())
        adaptive = step is None
        n = {**system.sizes, "p": len(system.p), "outputs": sum(size for _, size in system.layout)}
        self.sizes = n
        self.renew, self.keep, self.dependent, self.used = renew, system.keep, system.dependent, set(system.keep)
        size = system.length / system.unit  # residuals of kernels are in units of their rows
        numbers = [step or 0.0, tolerance, 1e-15 * size, 1e-14 * size * max(self._rate(system), 1 / abs(until))]
        numbers += [1e-13 * abs(until), system.mass, system.inertia, 0.0, np.inf, 0.0]
        projecting = projection.projects and n["multipliers"] > 0
        choices = [adaptive, projecting, projection.baumgarte, n["turns"], "stage" in built, system.watches > 0]
        choices += [max(built["factor"].size_out(0), 1) - 1, n["multipliers"], projection.projects]
        order = lookup("integrator", method).order
        self.plan = loop.Plan(
            A, b, c, estimate, np.array(numbers), np.array(choices, np.int64), np.array(system.linear, np.int64),
            np.array([order], float),
        )  # fmt: skip
        self._scratch(len(b), projection.gains(step))
        self._take(built)
        first = step if step else self._first_step(system, tolerance, until)
        self.state = loop.State(
            np.array([system.t, first, 0.0, 1.0, 0.0, 0.0, 0.0, np.inf]), np.zeros(7, np.int64),
            np.array(system.q), np.array(system.v), np.array(system.p),
        )  # fmt: skip
        if system.watches:
            self._watch(self.state.q)

    def _scratch(self, stages, gains):
        nq, nv = self.sizes["q"], self.sizes["v"]
        empty = lambda size: np.zeros(max(size, 1))
        self.scratch = self.loop.Scratch(
            t=np.zeros(1), power=np.zeros(1), ab=np.array(gains, float),
            K=np.zeros((stages, nv)), A=np.zeros((stages, nv)), P=np.zeros(stages),
            scale=np.array([self.system.length, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
            **{name: empty(self.sizes["turns"]) for name in ("turn", "spin")},
            **{name: empty(nq) for name in ("q0", "q1", "q2", "trial")},
            **{name: empty(nv) for name in ("v0", "v1", "v2", "u", "eu", "ev", "tu", "tv", "a")},
            **{name: empty(0) for name in ("F", "work", "lam", "g", "psi")},
        )  # fmt: skip

    def _take(self, built):
        """Use these kernels from now on, with scratch arrays that are large enough for them."""
        self.built = built
        self.kernels = self.loop.Kernels(**addresses(built, self.loop.Kernels._fields))
        need = {
            "F": built["factor"].size_out(0), "work": max(kernel.work_size for kernel in built.values()),
            "lam": built["accelerations"].size_out(1), "g": built["positions"].size_out(1),
            "psi": built["velocities"].size_out(1),
        }  # fmt: skip
        larger = {k: np.zeros(size) for k, size in need.items() if size > getattr(self.scratch, k).size}
        self.scratch = self.scratch._replace(**larger)

    def _watch(self, q):
        """What was chosen is chosen anew when it is conditioned much worse than it was at best, or again better."""
        pivot = self.built["factor"](self.scratch.t.copy(), q, self.state.p)[0][-1]
        self.plan.numbers[7:10] = window(pivot, self.plan.numbers[9], self.system.watches)

    def _choose_anew(self):
        """Other rows or dependent coordinates, and kernels for them; where the same ones are best, more is put up with."""
        self._catch_up()
        trial = self.scratch.trial[: self.state.q.size].copy()
        with abrupt(), never_lost():
            now = float(self.scratch.t[0])  # of the trial, which a ground that moves may have carried along
            built, keep, dependent = self.renew(self.keep, self.dependent, now, trial, self.state.p)
        if (keep, dependent) != (self.keep, self.dependent):
            self.choices += 1
            self._choose(built, keep, dependent)
        self._watch(trial)

    def _choose(self, built, keep, dependent):
        """Use these rows and dependent coordinates from now on."""
        self.keep, self.dependent, self.used = keep, dependent, self.used | set(keep)
        self._take(built)
        self.plan.choices[4] = "stage" in built
        self.plan.choices[6], self.plan.choices[7] = max(built["factor"].size_out(0), 1) - 1, len(keep)

    @staticmethod
    def _rate(system):
        """How fast a system moves at the start, or would under gravity: lengths over its size, angles as they are [1/s]."""
        sizes = np.where(np.array(system.linear, bool), system.length, 1.0)
        return max(system.scales["rate"], np.abs(np.array(system.v) / sizes).max(initial=0.0))

    def _first_step(self, system, tolerance, until):
        """A cautious first step from the start velocities and accelerations: small against the time in which anything turns
        or moves by the size of the model, and against the whole run."""
        span = until - system.t
        if not span > 0:
            return 1.0
        size = np.where(np.array(system.linear, bool), system.length, 1.0)
        t, q, v, p = np.array([system.t]), *(np.array(x) for x in (system.q, system.v, system.p))
        given = [self.scratch.ab] if self.plan.choices[2] == 1 else []
        a = self.built["accelerations"](t, q, v, p, self.built["factor"](t, q, p)[0], *given)[0]
        rates = [np.abs(v) / size, np.sqrt(np.abs(np.nan_to_num(a)) / size), [1 / span]]
        return min(span, 0.3 * tolerance**0.2 / np.concatenate(rates).max())

    def begin(self, times, last=True):
        """These are the times at which results are wanted next; after the last of them the run goes on to its end."""
        self.times, m = np.asarray(times, float), len(times)
        self.end = self.until if last else float(self.times[-1]) if m else self.state.values[0]
        self.out = (np.zeros((m, self.sizes["q"])), np.zeros((m, self.sizes["v"])), np.zeros((m, self.sizes["p"])))
        self.out += (np.zeros(m), np.zeros(m))
        self.outputs, self.evaluated, self.taken = np.zeros((m, self.sizes["outputs"])), 0, 0
        self._start_writing()
        self._advance(0)  # no steps yet: the loop is compiled or loaded before the clock of the run starts

    def _start_writing(self):
        self.state.counts[2] = 0

    def _advance(self, budget):
        """Some steps. Returns a status."""
        return self.loop.march(
            self.kernels, self.scratch, self.plan, self.state, self.times, self.end, *self.out[:4], budget
        )  # fmt: skip

    def _answer(self, status):
        """What a status asks for beyond going on. Returns RUNNING where that could be done."""
        if status != self.loop.ILL_CHOSEN:
            return status
        self._choose_anew()
        return self.loop.RUNNING

    @property
    def written(self):
        """Outputs reached so far of those asked for."""
        return int(self.state.counts[2])

    def run(self, progress=None, stop=None, stride=np.inf):
        """March through all outputs; an interruption or a failure keeps what was reached. Returns a message.

        Steps and outputs are computed in slices of about a tenth of a second, between which Python hears of signals.

        progress, stop   called between slices: with time and counts; to ask whether to stop here ("paused"). Where no
                         `stop` is given, a signal that was noted stops the run ("interrupted")
        stride           simulated time that a slice should not exceed by much [s]
        """
        start, status = clock.perf_counter(), self.loop.RUNNING
        budget = self._first_slice() if stride == np.inf else 16  # the first steps may be short
        message = None
        try:
            while status == self.loop.RUNNING and message is None:
                before, since = clock.perf_counter(), self.state.values[0]
                status = self._answer(self._advance(budget))
                self._catch_up()
                taken, passed = clock.perf_counter() - before, self.state.values[0] - since
                most = budget * stride / passed if passed > 0 else np.inf
                budget = int(max(1, min(10_000_000, budget * min(8.0, SLICE / max(taken, 1e-6)), most)))
                if progress is not None:
                    progress(self.state.values[0], self.state.counts)
                if status == self.loop.RUNNING and (asked() if stop is None else stop()):
                    message = "interrupted" if stop is None else "paused"
        except KeyboardInterrupt:
            message = "interrupted"
        self.wall += clock.perf_counter() - start
        return message or self._message(status)

    def _first_slice(self):
        """Steps that surely take less than a slice: so many operations, a nanosecond each."""
        operations = sum(self.built[k].instructions for k in ("factor", "accelerations", "positions", "velocities"))
        return int(max(1, min(256, SLICE / (1e-9 * self.plan.b.size * max(operations, 1)))))

    def _message(self, status):
        if status == self.loop.FINISHED:
            return "finished"
        message = STATUS[status]
        blamed = self._blamed()
        if blamed or status == self.loop.NOT_FINITE:
            return message + (
                blamed or "; every element by itself is: accelerations or reactions have no solution here"
            )
        if self.state.values[3] < 1e-9:
            message += (
                f" (the constraints were nearly dependent on the way, smallest pivot {self.state.values[3]:.1e}: the "
                "mechanism passes a singular position; a larger tolerance steps over it)"
            )
        return message

    def _blamed(self):
        """Which element is not a number where the run came to its end, unless the motion itself grew beyond all bounds."""
        t, q, v, p = self.state.values[:1].copy(), *(self.state._asdict()[x] for x in "qvp")
        sizes = np.where(np.array(self.system.linear, bool), self.system.length, 1.0)
        if np.abs(v / sizes).max(initial=0.0) * self.until > BOUNDLESS:
            return ": the motion grew beyond all bounds; the step is too long, or the motion unstable"
        none = [np.zeros(self.sizes["v"]), np.zeros(self.built["accelerations"].size_out(1))]
        flat, at, found = self.built["outputs"](t, q, v, p, *none)[0], 0, {}
        for name, size in self.system.layout:
            found[name], at = flat[at : at + size], at + size
        parts = [
            found[name].reshape(len(self.system.bodies), -1)
            for name in ("position", "rotation", "velocity", "angular_velocity")
        ]
        return self.blame(self.until, float(t[0]), list(zip(*parts)), p[: self.sizes["parameters"]])

    def collect(self, message):
        """What was reached of the times asked for."""
        done = self.written
        times = self.times[:done]
        _, _, p, work, changed = (x[:done] for x in self.out)
        self._catch_up()
        events, message = self._events(), self.verdict(message)
        return Trajectory(
            times, p, work, changed, self.outputs[:done], self.counts(), message, float(self.state.values[0]), self.wall,
            self._rows_used(), events,
        )  # fmt: skip

    def _catch_up(self):
        """Evaluate what was reached since the last time: with the kernels it was reached with, however a run is divided."""
        new = slice(self.evaluated, self.written)
        if new.start == new.stop:
            return
        q, v, p = (x[new] for x in self.out[:3])
        self._evaluate(self.times[new], q, v, p, self.outputs[new])
        self._look(self.times[new], self.outputs[new])
        self.evaluated = new.stop

    def _look(self, times, outputs):
        """Take note of the first output that is not a number."""
        bad = ~np.isfinite(outputs)
        if self.undefined is None and bad.any():
            k = int(np.argmax(bad.any(axis=1)))
            self.undefined = (self.system.output_name(int(np.argmax(bad[k]))), float(times[k]))

    def verdict(self, message):
        """How a run ended: not well where something in its results is not a number."""
        if self.undefined is None or message not in ("finished", "interrupted") and not message.startswith("ended"):
            return message
        what, when = self.undefined
        return f"{what} is not a number at t = {when:.9g} s"

    def take(self):
        """Rows [time, work, change by events, outputs] that were reached since the last time."""
        self._catch_up()
        new = slice(self.taken, self.written)
        self.taken = new.stop
        return np.column_stack([self.times[new], self.out[3][new], self.out[4][new], self.outputs[new]])

    def take_events(self):
        """Rows [time, event, change of energy, impulses, slots] of the events since the last time; None where nothing happens."""
        return None

    @property
    def backlog(self):
        """Events that wait to be taken."""
        return 0

    def snapshot(self):
        """Everything that the further run depends on, as plain facts and as arrays."""
        chosen = {"keep": self.keep, "used": sorted(self.used), "dependent": self.dependent}
        facts = chosen | {"choices": self.choices, "wall": self.wall}
        arrays = {name: np.array(x) for name, x in self.state._asdict().items()}
        return facts, arrays | {"scale": self.scratch.scale.copy(), "numbers": self.plan.numbers.copy()}

    def restore(self, facts, arrays, rebuild):
        """Go on from a snapshot; rebuild: kernels of given dependent coordinates."""
        keep, dependent = facts["keep"], facts["dependent"]
        if (keep, dependent) != (self.keep, json.loads(json.dumps(self.dependent))):
            self._choose(rebuild(keep, dependent), keep, dependent)
        self.used |= set(facts["used"])
        self.choices, self.wall = facts["choices"], facts["wall"]
        for name, x in self.state._asdict().items():
            x[:] = arrays[name]
        self.scratch.scale[:], self.plan.numbers[:] = arrays["scale"], arrays["numbers"]

    def counts(self):
        steps, rejections, _, evaluations, projections, *_ = (int(x) for x in self.state.counts)
        values = self.state.values
        return {
            "steps": steps, "rejections": rejections, "evaluations": evaluations, "projections": projections,
            "choices": self.choices, "structures": 1,
            "smallest_pivot": float(values[3]), "corrected_position": float(values[4] * self.system.unit),
            "corrected_velocity": float(values[5] * self.system.unit),
            "energy": self._energy(),
        }  # fmt: skip

    def _energy(self):
        """An upper bound of the energies that were met, also between outputs, by the speeds that step control met: m (v + l ω)²."""
        length, _, linear, angular, work, *_ = self.scratch.scale
        return float(max(work, self.system.mass * (linear + length * angular) ** 2))

    def _evaluate(self, times, q, v, p, outputs):
        row = np.zeros(max(self.sizes["outputs"], 1))
        every = np.arange(len(times))
        self.loop.evaluate(self.kernels, self.scratch, self.plan, times, q, v, p, every, outputs, row)

    def _rows_used(self):
        return sorted(self.used)

    def _events(self):
        return {}


def window(pivot, best, part):
    """Conditioning below and above which to choose anew, and the best one so far: what was chosen near a singular position,
    where every choice is poor, is looked at again further on."""
    best = max(best, pivot)
    if pivot > 10 * part * best:
        return part * best, np.inf, best
    return (0.1 * pivot if pivot > 0 else -np.inf), max(30 * pivot, 1e-13), best


def addresses(built, names):
    """Addresses of kernels by name; 0 for one that is not there."""
    return {name: np.int64(built[name].address if name in built else 0) for name in names}
