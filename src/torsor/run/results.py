"""What a run leaves: states at the times that are wanted, and what is derived from them."""

from dataclasses import dataclass, field

import numpy as np

from ..kernels.loops import Loop
from ..methods.records import Evaluation, Outputs, Plan, Run, Scales, State
from .system import System


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


class Results:
    """The part of a runner that is about results; the runner fills the records."""

    system: System
    sizes: dict
    plan: Plan
    state: State
    scales: Scales
    out: Outputs
    run_: Run
    evaluate: Loop
    until: float
    wall: float
    choices: int
    used: set
    undefined: tuple | None

    def begin(self, times, last=True):
        """These are the times at which results are wanted next; after the last of them the run goes on to its end."""
        self.times, m, out = np.ascontiguousarray(times, float), len(times), self.out
        out.times, out.end, out.more = self.times, self.until, not last
        out.x, out.p, out.by_events = np.zeros((m, self.system.state.x)), np.zeros((m, self.sizes["p"])), np.zeros(m)
        out.written = self.evaluated = self.taken = 0
        self.outputs = np.zeros((m, self.sizes["outputs"]))
        self.wanted = Evaluation(times=self.times, x=out.x, p=out.p, outputs=self.outputs)

    def told(self):
        """Further attributes of a result."""
        return {}

    @property
    def shown(self):
        """The system whose outputs results hold."""
        return self.system

    @property
    def written(self):
        """Outputs reached so far of those asked for."""
        return self.out.written

    def collect(self, message):
        """What was reached of the times asked for."""
        done = self.written
        self._catch_up()
        events, message = self._events(), self.verdict(message)
        return Trajectory(
            self.times[:done], self.out.p[:done], self._work(slice(done)), self.out.by_events[:done], self.outputs[:done],
            self.counts(), message, self.state.time, self.wall, self._rows_used(), events,
        )  # fmt: skip

    def _work(self, which):
        return self.out.x[which, self.plan.configuration + self.plan.velocities]

    def _catch_up(self):
        """Evaluate what was reached since the last time: with the kernels it was reached with, however a run is divided."""
        new = slice(self.evaluated, self.written)
        if new.start == new.stop:
            return
        self._evaluate(np.arange(new.start, new.stop))
        self._look(self.times[new], self.outputs[new])
        self.evaluated = new.stop

    def _evaluate(self, which, structure=0):
        self.wanted.structure, self.wanted.which = structure, which
        self.evaluate(self.run_.address, self.wanted.address)

    def _look(self, times, outputs):
        """Take note of the first output that is not a number."""
        bad = ~np.isfinite(outputs)
        if self.undefined is None and bad.any():
            k = int(np.argmax(bad.any(axis=1)))
            self.undefined = (self.shown.output_name(int(np.argmax(bad[k]))), float(times[k]))

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
        return np.column_stack([self.times[new], self._work(new), self.out.by_events[new], self.outputs[new]])

    def take_events(self):
        """Rows [time, event, change of energy, impulses, slots] of the events since the last time; None where nothing happens."""
        return None

    @property
    def backlog(self):
        """Events that wait to be taken."""
        return 0

    def counts(self):
        state, unit = self.state, self.system.unit
        return {
            "steps": state.steps, "rejections": state.rejections, "evaluations": state.evaluations, "cut_steps": state.cuts,
            "projections": state.projections, "choices": self.choices, "structures": 1, "smallest_pivot": state.least_pivot,
            "corrected_position": state.position_residual * unit, "corrected_velocity": state.velocity_residual * unit,
            "energy": self._energy(),
        }  # fmt: skip

    def _energy(self):
        """An upper bound of the energies that were met, also between outputs, by the speeds that step control met: m (v + l ω)²."""
        s = self.scales
        return float(max(s.energy, self.system.mass * (s.speed + s.length * s.spin) ** 2))

    def _rows_used(self):
        return sorted({*self.used, *(self.system.redundant if self.choice.shares else ())})

    def _events(self):
        return {}
