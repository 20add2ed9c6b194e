"""Many runs of one system in compiled code: starts go in as arrays, outputs come back as arrays.

A run that compiled code does not finish (rows or coordinates have to be chosen again, the step becomes too small, it takes very
long) is left to `Runner`, which handles these cases or reports them.
"""

import time as clock
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernels.loops import loops
from ...methods.status_codes import FINISHED, RUNNING
from ..runner import SLICE_SECONDS
from .held_inputs import PiecewiseConstantInputs
from .repeat_loop import Repetition

LONGEST_RUN = 20.0  # wall time that one run may take here [s]
CHANGED_RECORDS = ("state", "past", "scales", "span", "equations")  # records that a run changes


@dataclass
class RunStarts:
    """Starts of many runs of one system, one row each.

    x          states, with velocities even if the formulation has momenta
    p          inputs of the kernels besides the state
    turning    whether turns of joints have to be counted, from the values in p near which they start
    length, mass, inertia, rate   model size, mass, sum of inertias, characteristic rate
    levers     lever arms of bodies; None: those of the system
    units      units of constraint rows; None: those of the system
    """

    x: np.ndarray
    p: np.ndarray
    turning: np.ndarray
    length: np.ndarray
    mass: np.ndarray
    inertia: np.ndarray
    rate: np.ndarray
    levers: Any = None
    units: Any = None

    def __len__(self):
        return len(self.x)

    def some(self, which):
        """The starts of some of the runs."""
        if np.array_equal(which, np.arange(len(self))):
            return self
        parts: list[Any] = [getattr(self, name) for name in self.__dataclass_fields__]
        chosen: list[Any] = [None if x is None else x[which] for x in parts]
        return RunStarts(*chosen)


@dataclass
class RepeatedResults:
    """Results of many runs, one row each.

    over      whether the run finished here; only then its outputs are valid
    outputs   (run, output, number)
    energy    upper bound of the energy during the run, also between outputs; 0: not known
    """

    over: np.ndarray
    outputs: np.ndarray
    work: np.ndarray
    time: np.ndarray
    steps: np.ndarray
    rejections: np.ndarray
    energy: np.ndarray


class Repeater:
    """Carries out many runs of a prepared model one after the other, in one thread at a time."""

    def __init__(self, prepared):
        self.prepared = prepared
        self.runner = prepared.runner
        self.loop = loops("torsor.run.time_loop")["repeat"]
        self.budget = 4096

    def run(self, times, starts, inputs=None, stop=lambda: False):
        """Run from each of these starts through the output times. Returns `RepeatedResults`.

        inputs   piecewise constant inputs of the runs (`held_inputs.py`); None: there are none
        stop     called between slices; returns whether to stop
        """
        runner, n, m = self.runner, len(starts), len(times)
        self.prepared.reset()
        runner.begin(times)
        r = self._record(starts, n, m, inputs)
        skipped: list[int] = []  # runs that took too long
        began, current, status = clock.perf_counter(), 0, RUNNING
        while status == RUNNING and not stop():
            before = clock.perf_counter()
            status = self.loop(runner.run_.address, r.address, self.budget)
            now = clock.perf_counter()
            self.budget = int(max(256, min(1e7, self.budget * min(4.0, SLICE_SECONDS / max(now - before, 1e-6)))))
            if r.run != current:
                began, current = before, r.run
            if status == RUNNING and now - began > LONGEST_RUN:
                skipped.append(r.run)
                r.run += 1
                r.begun = 0
                status = FINISHED if r.run == n else RUNNING
        over = r.status == FINISHED
        over[r.run :] = False
        over[skipped] = False
        shape = (n, m, runner.sizes["outputs"])
        work = r.work.reshape(n, m)
        return RepeatedResults(over, r.outputs.reshape(shape), work, r.time, r.steps, r.rejections, r.energy)

    def _record(self, starts, n, m, inputs):
        """The record of the compiled loop."""
        runner, system = self.runner, self.runner.system
        inputs = inputs or PiecewiseConstantInputs(np.zeros(0, np.int64), np.zeros(0), np.zeros((n, 0, 0)))
        words = {name: getattr(runner, name).words() for name in CHANGED_RECORDS}  # the runner has just been reset
        words |= {f"{name}_before": memory.copy() for name, memory in words.items()}
        return Repetition(
            x=starts.x, p=starts.p, turning=starts.turning, length=starts.length, mass=starts.mass,
            inertia=starts.inertia, rate=starts.rate, unit=system.unit, start=system.t, watches=system.watches,
            position_threshold=runner.thresholds[0] / system.unit, velocity_threshold=runner.thresholds[1] / system.unit,
            first_step_factor=0.0 if runner.fixed_step else 0.3 * runner.plan.tolerance**0.2, **words,
            places=inputs.places, inputs=inputs.values.reshape(n * len(inputs.edges), len(inputs.places)), edges=inputs.edges,
            outputs=np.zeros((n * m, runner.sizes["outputs"])), work=np.zeros(n * m),
            status=np.zeros(n, np.int64), written=np.zeros(n, np.int64), time=np.zeros(n),
            steps=np.zeros(n, np.int64), rejections=np.zeros(n, np.int64), energy=np.zeros(n),
        )  # fmt: skip
