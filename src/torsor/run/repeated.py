"""Many runs of one system in compiled code: what each begins with goes in as arrays, outputs come back as arrays.

A run that compiled code does not carry to its end (its choice has to be made anew, its step becomes too small, it takes very long)
is left to `Runner`, which knows what to do or to say.
"""

import time as clock
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels.loops import loops
from ..methods.codes import FINISHED, RUNNING
from .held import Held
from .repetition import Repetition

SLICE = 0.1  # seconds for which compiled code runs without a look at what else happened
PATIENCE = 20.0  # seconds that one run may take here
KEPT = ("state", "past", "scales", "span", "equations")  # records that a run changes


@dataclass
class Beginnings:
    """Starts of many runs of one system, one row each.

    x, p      states, with velocities also where momenta are state, and what kernels take besides
    turning   whether turns are still to be counted, from the values in p near which they start
    length, mass, inertia, rate   what a run is measured against
    levers, units                 of bodies and of rows; None: as the system has them
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
        """Some of them."""
        if np.array_equal(which, np.arange(len(self))):
            return self
        parts = [getattr(self, name) for name in self.__dataclass_fields__]
        return Beginnings(*[None if x is None else x[which] for x in parts])


@dataclass
class Repeated:
    """What many runs left. Only those that are `over` have outputs: (run, output, number).

    energy   bound of the energies that step control has met, also between outputs; 0: it has looked at none
    """

    over: np.ndarray
    outputs: np.ndarray
    work: np.ndarray
    time: np.ndarray
    steps: np.ndarray
    rejections: np.ndarray
    energy: np.ndarray


class Repeater:
    """A prepared run that is carried out again and again, in one thread at a time."""

    def __init__(self, prepared):
        self.prepared, self.runner = prepared, prepared.runner
        self.loop = loops("torsor.run.march")["repeat"]
        self.budget = 4096

    def run(self, times, beginnings, held=None, stop=lambda: False):
        """Runs from these beginnings through these times; held: inputs of theirs (`held.py`)."""
        runner, n, m = self.runner, len(beginnings), len(times)
        self.prepared.reset()
        runner.begin(times)
        r = self._record(beginnings, n, m, held)
        left: dict[int, Any] = {}
        began, current, status = clock.perf_counter(), 0, RUNNING
        while status == RUNNING and not stop():
            before = clock.perf_counter()
            status = self.loop(runner.run_.address, r.address, self.budget)
            now = clock.perf_counter()
            self.budget = int(max(256, min(1e7, self.budget * min(4.0, SLICE / max(now - before, 1e-6)))))
            if r.run != current:
                began, current = before, r.run
            if status == RUNNING and now - began > PATIENCE:
                left[r.run], r.run, r.begun = None, r.run + 1, 0
                status = FINISHED if r.run == n else RUNNING
        over = r.status == FINISHED
        over[r.run :] = False
        over[list(left)] = False
        shape = (n, m, runner.sizes["outputs"])
        return Repeated(over, r.outputs.reshape(shape), r.work.reshape(n, m), r.time, r.steps, r.rejections, r.energy)

    def _record(self, beginnings, n, m, held):
        runner, system = self.runner, self.runner.system
        held = held or Held(np.zeros(0, np.int64), np.zeros(0), np.zeros((n, 0, 0)))
        words = {name: getattr(runner, name).words() for name in KEPT}  # as a run that was just reset has them
        before = words | {f"{name}_before": memory.copy() for name, memory in words.items()}
        return Repetition(
            x=beginnings.x, p=beginnings.p, turning=beginnings.turning, length=beginnings.length, mass=beginnings.mass,
            inertia=beginnings.inertia, rate=beginnings.rate, unit=system.unit, start=system.t, watches=system.watches,
            position_threshold=runner.thresholds[0] / system.unit, velocity_threshold=runner.thresholds[1] / system.unit,
            cautious=0.0 if runner.fixed_step else 0.3 * runner.plan.tolerance**0.2, **before,
            places=held.places, inputs=held.values.reshape(n * len(held.edges), len(held.places)), edges=held.edges,
            outputs=np.zeros((n * m, runner.sizes["outputs"])), work=np.zeros(n * m),
            status=np.zeros(n, np.int64), written=np.zeros(n, np.int64), time=np.zeros(n),
            steps=np.zeros(n, np.int64), rejections=np.zeros(n, np.int64), energy=np.zeros(n),
        )  # fmt: skip
