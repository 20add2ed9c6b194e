"""Results of a run: states at the output times, and the outputs that are evaluated there."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..kernels.loops import Loop
from ..methods.run_records import Evaluation, Outputs, Plan, Run, Scales, State
from ..prepare.system import System


@dataclass
class Trajectory:
    """Raw results: states at output times, outputs evaluated there, and the events in between."""

    times: np.ndarray
    p: np.ndarray
    work: np.ndarray
    events_energy: np.ndarray  # energy added by events since the start, at output times
    outputs: np.ndarray
    counts: dict
    status: str  # "finished", "interrupted", "ended by …" or why the run failed
    reached: float
    wall: float
    used: list  # constraint rows that were in use at any time
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
    choice: Any  # the kernels in use: a `Choice`
    choices: int
    used: set
    undefined: tuple | None  # name and time of the first output that is not a number

    def begin(self, times, last=True):
        """Set the next output times. After the last portion of times the run continues to its end.

        last   whether this is the last portion
        """
        self.times = np.ascontiguousarray(times, float)
        m, out = len(times), self.out
        out.times = self.times
        out.end = self.until
        out.more = not last
        out.x = np.zeros((m, self.system.state.x))
        out.p = np.zeros((m, self.sizes["p"]))
        out.by_events = np.zeros(m)
        out.written = self.outputs_evaluated = self.outputs_taken = 0
        self.outputs = np.zeros((m, self.sizes["outputs"]))
        self.evaluation = Evaluation(times=self.times, x=out.x, p=out.p, outputs=self.outputs)

    def result_attributes(self):
        """Further attributes of the dataset."""
        return {}

    @property
    def output_system(self):
        """The system that the outputs belong to."""
        return self.system

    @property
    def written(self):
        """Number of output times reached so far."""
        return self.out.written

    def collect(self, message):
        """The results up to the time that was reached, as a `Trajectory`."""
        done = self.written
        self._evaluate_new_outputs()
        events = self._events()
        message = self.verdict(message)
        return Trajectory(
            self.times[:done], self.out.p[:done], self._work(slice(done)), self.out.by_events[:done], self.outputs[:done],
            self.counts(), message, self.state.time, self.wall, self._used_rows(), events,
        )  # fmt: skip

    def _work(self, which):
        """Work of forces without potential, at some outputs [J]."""
        return self.out.x[which, self.plan.configuration + self.plan.velocities]

    def _evaluate_new_outputs(self):
        """Evaluate the outputs at the states written since the last call, with the kernels that produced these states."""
        new = slice(self.outputs_evaluated, self.written)
        if new.start == new.stop:
            return
        self._evaluate(np.arange(new.start, new.stop))
        self._find_undefined(self.times[new], self.outputs[new])
        self.outputs_evaluated = new.stop

    def _evaluate(self, which: np.ndarray, structure: int = 0) -> None:
        self.evaluation.structure = structure
        self.evaluation.which = which
        self.evaluate(self.run_.address, self.evaluation.address)

    def _find_undefined(self, times, outputs):
        """Store name and time of the first output that is not a number."""
        bad = ~np.isfinite(outputs)
        if self.undefined is None and bad.any():
            k = int(np.argmax(bad.any(axis=1)))
            self.undefined = (self.output_system.output_name(int(np.argmax(bad[k]))), float(times[k]))

    def verdict(self, message):
        """The status of the run: the message, or an error if the run came to its end but an output is not a number."""
        if self.undefined is None or message not in ("finished", "interrupted") and not message.startswith("ended"):
            return message
        what, when = self.undefined
        return f"{what} is not a number at t = {when:.9g} s"

    def take(self):
        """Rows [time, work, change by events, outputs] that were reached since the last call."""
        self._evaluate_new_outputs()
        new = slice(self.outputs_taken, self.written)
        self.outputs_taken = new.stop
        return np.column_stack([self.times[new], self._work(new), self.out.by_events[new], self.outputs[new]])

    def take_events(self):
        """Rows [time, event, change of energy, impulses, slots] of the events since the last call; None without events."""
        return None

    @property
    def backlog(self):
        """Number of events in the log that `take_events` has not returned yet."""
        return 0

    def counts(self):
        """Numbers of the certificate: steps, rejections, smallest pivot, corrections."""
        state, unit = self.state, self.system.unit
        return {
            "steps": state.steps, "rejections": state.rejections, "evaluations": state.evaluations, "cut_steps": state.cuts,
            "projections": state.projections, "choices": self.choices, "structures": 1, "smallest_pivot": state.least_pivot,
            "corrected_position": state.position_residual * unit, "corrected_velocity": state.velocity_residual * unit,
            "energy": self._energy(),
        }  # fmt: skip

    def _energy(self):
        """An upper bound of the energy during the run, also between outputs, from the speeds of step control: m (v + l ω)²."""
        s = self.scales
        return float(max(s.energy, self.system.mass * (s.speed + s.length * s.spin) ** 2))

    def _used_rows(self):
        """Constraint rows that were in use, and the redundant ones if reactions are shared among them."""
        return sorted({*self.used, *(self.system.redundant if self.choice.shares else ())})

    def _events(self):
        """Events of the run as columns by name."""
        return {}
