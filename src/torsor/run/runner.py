"""Runs a prepared system: builds the arrays of the compiled loop, calls it in slices, keeps what was computed."""

import time as clock
from dataclasses import dataclass

import numpy as np

from ..registry import lookup
from .projections import Projection

STATUS = {
    2: "the state is no longer finite",
    3: "the step became too small: the motion is too stiff for an explicit method, or singular",
    4: "the constraints could not be satisfied any more: the projection did not converge",
}


@dataclass
class Trajectory:
    """Raw results: states at output times, and what was derived from them."""

    times: np.ndarray
    q: np.ndarray
    v: np.ndarray
    p: np.ndarray
    work: np.ndarray
    accelerations: np.ndarray
    multipliers: np.ndarray
    outputs: np.ndarray
    counts: dict
    status: str  # "finished", "interrupted" or what went wrong
    reached: float
    wall: float


class Runner:
    """One run of one system."""

    def __init__(self, system, built, method, step, tolerance, projection: Projection, times, renew=None):
        from . import loop

        self.choices = 0
        self.loop, self.system, self.times = loop, system, np.asarray(times, float)
        A, b, c, estimate = (np.ascontiguousarray(x) for x in lookup("integrator", method).tableau())
        adaptive = step is None
        n = {**system.sizes, "p": len(system.p), "outputs": sum(size for _, size in system.layout)}
        empty = lambda size: np.zeros(max(size, 1))
        self.renew, self.dependent = renew, system.dependent
        self._take(built)
        F = empty(built["factor"].size_out(0))
        work = empty(max(kernel.work_size for kernel in built.values()))
        speed = max(1e-3 * system.length, np.abs(system.v).max(initial=0.0))
        numbers = [step or 0.0, tolerance, 1e-15 * system.length, 1e-14 * max(speed, 1.0)]
        numbers += [1e-13 * max(1.0, abs(float(self.times[-1]))), system.mass, system.inertia, 1e-4]
        projecting = projection.projects and n["multipliers"] > 0
        choices = [adaptive, projecting, projection.baumgarte, n["turns"], "stage" in built, system.watches]
        order = lookup("integrator", method).order
        self.plan = loop.Plan(
            A, b, c, estimate, np.array(numbers), np.array(choices, np.int64), np.array(system.linear, np.int64),
            np.array([order], float),
        )  # fmt: skip
        stages, nv, nq, nl = len(b), n["v"], n["q"], n["multipliers"]
        self.scratch = loop.Scratch(
            t=np.zeros(1), F=F, work=work, power=np.zeros(1),
            K=np.zeros((stages, nv)), A=np.zeros((stages, nv)), P=np.zeros(stages), turn=empty(n["turns"]),
            ab=np.array(projection.gains(step), float), scale=np.array([system.length, 1.0, 0.0, 0.0, 0.0]),
            **{name: empty(nq) for name in ("q0", "q1", "q2", "trial")},
            **{name: empty(nv) for name in ("v0", "v1", "v2", "u", "eu", "ev", "tu", "tv", "a")},
            **{name: empty(nl) for name in ("lam", "g", "psi")},
        )  # fmt: skip
        first = step if step else self._first_step(system, tolerance)
        self.state = loop.State(
            np.array([system.t, first, 0.0, 1.0, 0.0, 0.0, 0.0]), np.zeros(6, np.int64),
            np.array(system.q), np.array(system.v), np.array(system.p),
        )  # fmt: skip
        m = len(self.times)
        self.out = (np.zeros((m, nq)), np.zeros((m, nv)), np.zeros((m, n["p"])), np.zeros(m))
        self.sizes = n
        if system.watches:
            self._watch(self.state.q)
        # no steps yet: the loop is compiled or loaded before the clock of the run starts
        loop.march(self.kernels, self.scratch, self.plan, self.state, self.times, *self.out, 0)

    def _take(self, built):
        """Use these kernels from now on."""
        self.built = built
        address = {name: np.int64(kernel.address) for name, kernel in built.items()}
        address.setdefault("stage", np.int64(0))
        self.kernels = self.loop.Kernels(**{name: address[name] for name in self.loop.Kernels._fields})

    def _watch(self, q):
        """Dependent coordinates are chosen anew when they are conditioned much worse than where they were chosen."""
        t = self.state.values[:1].copy()
        self.plan.numbers[7] = 0.02 * self.built["factor"](t, q, self.state.p)[0][-1]

    def _choose_anew(self):
        """Other dependent coordinates, and kernels for them; where the same ones are best, more is put up with."""
        trial = self.scratch.trial[: self.state.q.size].copy()
        built, dependent = self.renew(self.state.values[0], trial, self.state.p)
        if dependent == self.dependent:
            self.plan.numbers[7] *= 0.1
            return
        self.dependent, self.choices = dependent, self.choices + 1
        self._take(built)
        size = max(1, built["factor"].size_out(0))
        work = max(1, max(kernel.work_size for kernel in built.values()))
        self.scratch = self.scratch._replace(F=np.zeros(size), work=np.zeros(work))
        self._watch(trial)

    def _first_step(self, system, tolerance):
        """A cautious first step from the size of the start velocities and accelerations."""
        fastest = max(np.abs(system.v).max(initial=0.0) / max(system.length, 1.0), 1e-3)
        span = float(self.times[-1]) - system.t
        return min(span, 0.1 * tolerance**0.2 / fastest) if span > 0 else 1.0

    def run(self, progress=None):
        """March through all outputs; an interruption or a failure keeps what was reached."""
        start, budget, status = clock.perf_counter(), 256, self.loop.RUNNING
        message = "finished"
        try:
            while status == self.loop.RUNNING:
                before = clock.perf_counter()
                status = self.loop.march(
                    self.kernels, self.scratch, self.plan, self.state, self.times, *self.out, budget
                )
                if status == self.loop.ILL_CHOSEN:
                    self._choose_anew()
                    status = self.loop.RUNNING
                taken = clock.perf_counter() - before
                budget = int(min(10_000_000, max(64, budget * min(4.0, 0.1 / max(taken, 1e-6)))))
                if progress is not None:
                    progress(self.state.values[0], self.state.counts)
        except KeyboardInterrupt:
            message = "interrupted"
        wall = clock.perf_counter() - start
        if status in STATUS:
            message = STATUS[status]
            if self.state.values[3] < 1e-9:
                message += (
                    f" (the constraints were nearly dependent on the way, smallest pivot {self.state.values[3]:.1e}: the "
                    "mechanism passes a singular position; a larger tolerance steps over it)"
                )
        return self._collect(message, wall)

    def _collect(self, message, wall):
        done = int(self.state.counts[2])
        times = self.times[:done]
        q, v, p, work = (x[:done] for x in self.out)
        accelerations = np.zeros((done, self.sizes["v"]))
        multipliers = np.zeros((done, self.sizes["multipliers"]))
        outputs = np.zeros((done, self.sizes["outputs"]))
        row = np.zeros(max(self.sizes["outputs"], 1))
        self.loop.evaluate(
            self.kernels, self.scratch, self.plan, times, q, v, p, accelerations, multipliers, outputs, row
        )
        steps, rejections, _, evaluations, projections, _ = (int(x) for x in self.state.counts)
        values = self.state.values
        counts = {
            "steps": steps, "rejections": rejections, "evaluations": evaluations, "projections": projections,
            "choices": self.choices,
            "smallest_pivot": float(values[3]), "corrected_position": float(values[4]), "corrected_velocity": float(values[5]),
        }  # fmt: skip
        return Trajectory(
            times, q, v, p, work, accelerations, multipliers, outputs, counts, message, float(values[0]), wall
        )
