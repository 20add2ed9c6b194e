"""Runs side by side in compiled code: where their steps are fixed and explicit, and nothing holds or counts on the way."""

import time as clock

import numpy as np

from .. import kernels
from ..kernels.backends.llvm import usual_level
from ..kernels.deriving import DERIVING
from ..kernels.lanes import Lanes
from ..kernels.loops import loops
from ..methods.codes import FINISHED, RUNNING
from ..methods.records import Evaluation
from .abreast import Abreast
from .held import Held
from .repeated import SLICE, Repeated
from .waist import kernels_of

LANES = 4
NEEDED = ("factor", "rate", "stage", "advance")


def suited(runner):
    """Whether runs of a runner can go side by side, and are worth it: code that is generated with no effort fuses products and sums
    in other places. Lanes have no code for the search of tables."""
    system, built = runner.system, runner.built
    held = (
        system.keep
        or system.watches
        or runner.sizes["turns"]
        or runner.plan.bends.size
        or "stored" in built
        or built.looked_up
    )
    fixed = runner.fixed_step and runner.integrator.loop == ("torsor.methods.explicit", "explicit")
    return bool(fixed and not held and "stage" in built and usual_level() > 0)


def laned(told, choice):
    """Kernels with lanes, of what was derived from a model: known there, on the disk, or built now."""
    backend = Lanes(lanes=LANES)
    key = kernels.cache.digest("lanes", told.key, repr(choice))
    with DERIVING:
        if key not in told.libraries:
            told.libraries[key] = kernels.load(key, backend) or _built(told, choice, backend, key)
        return told.libraries[key]


def _built(told, choice, backend, key):
    every = kernels_of(choice.write(told.equations), choice.map, choice.baumgarte, told.signals, None, choice.needs)
    return kernels.build({name: every[name] for name in NEEDED}, backend=backend, key=key)


class SideBySide:
    """A prepared run that is carried out again and again, several at a time, in one thread."""

    def __init__(self, prepared, library):
        self.prepared, self.runner, self.library = prepared, prepared.runner, library
        self.loop = loops("torsor.run.abreast")["abreast"]

    def run(self, times, beginnings, held=None, stop=lambda: False):
        """Runs from these beginnings through these times, as `Repeater.run`."""
        n, m, system = len(beginnings), len(times), self.runner.system
        held = held or Held(np.zeros(0, np.int64), np.array([self.runner.until]), np.zeros((n, 1, 0)))
        r = self._record(np.ascontiguousarray(times, float), beginnings, held)
        status, count = RUNNING, 1
        while status == RUNNING and not stop():
            began = clock.perf_counter()
            status = self.loop(r.address, count)
            count = int(max(1, min(1e6, count * min(8.0, SLICE / max(clock.perf_counter() - began, 1e-6)))))
        x, p = (_apart(rows, n, m) for rows in (r.xs, r.ps))
        outputs = np.zeros((n * m, self.runner.sizes["outputs"]))
        every = np.arange(n * m) if status == FINISHED else np.zeros(0, np.int64)
        wanted = Evaluation(structure=0, which=every, times=np.tile(times, n), x=x, p=p, outputs=outputs)
        self.runner.evaluate(self.runner.run_.address, wanted.address)
        over = np.full(n, status == FINISHED) & np.isfinite(x).reshape(n, -1).all(axis=1)
        work = x[:, system.state.q + system.state.v].reshape(n, m)
        steps, end = np.full(n, r.steps), np.full(n, self.runner.until)
        return Repeated(over, outputs.reshape(n, m, -1), work, end, steps, np.zeros(n, np.int64), np.zeros(n))

    def _record(self, times, beginnings, held):
        runner, library = self.runner, self.library
        method, rate, groups = runner.method, library["rate"], -(-len(beginnings) // LANES)
        sizes = {"x": rate.size_in(1), "p": rate.size_in(2), "u": rate.size_out(0)}
        wide = {name: LANES * size for name, size in sizes.items()}
        rows = groups * len(times)
        work = max(1, *(library[name].work_size for name in NEEDED))
        return Abreast(
            lanes=LANES, **{name: library[name].address for name in NEEDED},
            start=runner.system.t, end=runner.until, step=runner.fixed_step, A=method.A, b=method.b, c=method.c,
            times=times, places=held.places, edges=held.edges,
            inputs=_together(held.values, groups),
            x=_together(beginnings.x[:, None], groups), p=_together(beginnings.p[:, None], groups),
            xs=np.zeros((rows, wide["x"])), ps=np.zeros((rows, wide["p"])), states=np.zeros((2, wide["x"])),
            now=np.zeros(wide["p"]), t=np.zeros(LANES), u=np.zeros(wide["u"]), K=np.zeros((method.b.size, wide["u"])),
            F=np.zeros(max(1, LANES * library["factor"].size_out(0))), lam=np.zeros(max(1, LANES * rate.size_out(1))),
            gains=np.zeros(4 * LANES), work=np.zeros(work),
        )  # fmt: skip


def _together(rows, groups):
    """Rows of runs (run, part, number) as rows of groups and parts: lanes of the first number, then of the second; the last run
    fills lanes that are left."""
    _, parts, size = rows.shape
    if left := groups * LANES - len(rows):
        rows = np.concatenate([rows, rows[-1:].repeat(left, axis=0)])
    lanes = rows.reshape(groups, LANES, parts, size).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(lanes).reshape(groups * parts, size * LANES)


def _apart(rows, n, m):
    """Rows of groups and outputs as rows of runs and outputs."""
    groups = len(rows) // max(m, 1)
    lanes = rows.reshape(groups, m, -1, LANES).transpose(0, 3, 1, 2).reshape(groups * LANES, m, -1)
    return np.ascontiguousarray(lanes[:n]).reshape(n * m, -1)
