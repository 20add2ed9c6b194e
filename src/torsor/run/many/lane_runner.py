"""Runs in parallel SIMD lanes of compiled code: with fixed explicit steps, without projection, watching or counting of turns."""

import time as clock

import numpy as np

from ... import kernels
from ...kernels.backends.llvm import LLVM, usual_level
from ...kernels.derivation_lock import DERIVING
from ...kernels.loops import loops
from ...methods.integrator import EXPLICIT_STEP
from ...methods.run_records import Evaluation
from ...methods.status_codes import FINISHED, RUNNING
from ...prepare.state_space import kernels_of
from ..runner import SLICE_SECONDS, Runner
from .held_inputs import PiecewiseConstantInputs
from .lane_loop import LaneGroups
from .repeated_runs import RepeatedResults

LANES = 4
LANE_KERNELS = ("factor", "rate", "stage", "advance")


def reason_against_lanes(runner):
    """Why the runs of a runner cannot use lanes with the same bits, in words; empty if they can.

    At optimisation level 0 products and sums are fused in other places than with lanes.
    """
    system, built = runner.system, runner.built
    reasons = {
        "lanes do not support events": type(runner) is not Runner,
        "lanes need a fixed step": not runner.fixed_step,
        "lanes need an explicit method with a tableau": runner.integrator.loop != EXPLICIT_STEP,
        "lanes do not project onto constraints": system.keep or system.watches,
        "lanes do not count full turns of joints that close loops": runner.sizes["turns"],
        "lanes do not end steps at breakpoints": runner.plan.bends.size or runner.plan.potential_jumps,
        "lanes do not support momenta as state": "stored" in built,
        "lanes do not support lookup tables": built.looked_up,
        "lanes need an evaluation that is compiled as one kernel": "stage" not in built,
        "lanes need compiler optimisation": usual_level() == 0,
    }
    return next((text for text, applies in reasons.items() if applies), "")


def lane_library(derivation, choice):
    """Kernels with lanes: from memory, from the cache on disk, or built now.

    derivation   of the model (`prepare/derivation.py`)
    """
    backend = LLVM(lanes=LANES)
    key = kernels.cache.digest("lanes", derivation.key, repr(choice))
    with DERIVING:
        if key not in derivation.libraries:
            derivation.libraries[key] = kernels.load(key, backend) or _build(derivation, choice, backend, key)
        return derivation.libraries[key]


def _build(derivation, choice, backend, key):
    equations, signals = derivation.equations.with_choice(choice), derivation.signals
    every = kernels_of(equations, choice.map, choice.baumgarte, signals, None, choice.needs)
    return kernels.build({name: every[name] for name in LANE_KERNELS}, backend=backend, key=key)


class LaneRunner:
    """Carries out many runs of a prepared model, several at a time in SIMD lanes, in one thread."""

    def __init__(self, prepared, library):
        self.prepared = prepared
        self.runner = prepared.runner
        self.library = library

    def run(self, times, starts, inputs=None, stop=lambda: False):
        """Run from each of these starts through the output times, as `Repeater.run` does."""
        n, m, system = len(starts), len(times), self.runner.system
        inputs = inputs or PiecewiseConstantInputs(
            np.zeros(0, np.int64), np.array([self.runner.until]), np.zeros((n, 1, 0))
        )
        r = self._record(np.ascontiguousarray(times, float), starts, inputs)
        status = run_groups(r, stop)
        x, p = (split_lanes(rows, n, m) for rows in (r.xs, r.ps))
        outputs = np.zeros((n * m, self.runner.sizes["outputs"]))
        every = np.arange(n * m) if status == FINISHED else np.zeros(0, np.int64)
        evaluation = Evaluation(structure=0, which=every, times=np.tile(times, n), x=x, p=p, outputs=outputs)
        self.runner.evaluate(self.runner.run_.address, evaluation.address)
        over = np.full(n, status == FINISHED) & np.isfinite(x).reshape(n, -1).all(axis=1)
        work = x[:, system.state.q + system.state.v].reshape(n, m)
        steps, end = np.full(n, r.steps), np.full(n, self.runner.until)
        rejections, energy = np.zeros(n, np.int64), np.zeros(n)
        return RepeatedResults(over, outputs.reshape(n, m, -1), work, end, steps, rejections, energy)

    def _record(self, times, starts, inputs):
        """The record of the compiled loop."""
        runner, groups = self.runner, -(-len(starts) // LANES)
        return lane_groups(
            runner, self.library, times, join_lanes(starts.x[:, None], groups), join_lanes(starts.p[:, None], groups),
            start=runner.system.t, end=runner.until,
            places=inputs.places, edges=inputs.edges, inputs=join_lanes(inputs.values, groups),
        )  # fmt: skip


def run_groups(record, stop=lambda: False):
    """Carry out the groups of a record in slices of the compiled loop. Returns FINISHED, or RUNNING if it was stopped."""
    loop, status, count = loops("torsor.run.many.lane_loop")["run_groups"], RUNNING, 1
    while status == RUNNING and not stop():
        began = clock.perf_counter()
        status = loop(record.address, count)
        count = int(max(1, min(1e6, count * min(8.0, SLICE_SECONDS / max(clock.perf_counter() - began, 1e-6)))))
    return status


def lane_groups(runner, library, times, x, p, **fields):
    """The record of the compiled loop for starts x, p: one row per group, the lanes of the first number, then of the second, …"""
    method, rate, groups = runner.method, library["rate"], len(x)
    rows, width, change = groups * len(times), x.shape[1], LANES * rate.size_out(0)
    return LaneGroups(
        lanes=LANES, **{name: library[name].address for name in LANE_KERNELS},
        step=runner.fixed_step, A=method.A, b=method.b, c=method.c, times=times, x=x, p=p, shifts=np.zeros((groups, LANES)),
        xs=np.zeros((rows, width)), ps=np.zeros((rows, p.shape[1])), states=np.zeros((2, width)),
        now=np.zeros(p.shape[1]), t=np.zeros(LANES), u=np.zeros(change), K=np.zeros((method.b.size, change)),
        F=np.zeros(max(1, LANES * library["factor"].size_out(0))), lam=np.zeros(max(1, LANES * rate.size_out(1))),
        gains=np.zeros(4 * LANES), work=np.zeros(max(1, *(library[name].work_size for name in LANE_KERNELS))), **fields,
    )  # fmt: skip


def join_lanes(rows, groups):
    """Rows of runs (run, part, number) as rows of groups and parts: lanes of the first number, then of the second, …

    The last run fills the lanes that are left over.
    """
    _, parts, size = rows.shape
    if left := groups * LANES - len(rows):
        rows = np.concatenate([rows, rows[-1:].repeat(left, axis=0)])
    lanes = rows.reshape(groups, LANES, parts, size).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(lanes).reshape(groups * parts, size * LANES)


def split_lanes(rows, n, m):
    """Rows of groups and outputs as rows of n runs and m outputs."""
    groups = len(rows) // max(m, 1)
    lanes = rows.reshape(groups, m, -1, LANES).transpose(0, 3, 1, 2).reshape(groups * LANES, m, -1)
    return np.ascontiguousarray(lanes[:n]).reshape(n * m, -1)
