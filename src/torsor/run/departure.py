"""The part of a runner that depends on where its run starts: every record is set, and keeps its place.

A runner that has run begins again at any start as a new one would, bit for bit: nothing that it has met is left in its records.
"""

from typing import Any

import numpy as np

from ..methods.extension import longest
from .beside import state_of
from .choice import Choice
from .results import Results
from .within import EXACT


class Departing(Results):
    """What a runner does at the start of a run."""

    state: Any
    past: Any
    span: Any
    scratch: Any
    equations: Any
    method: Any
    integrator: Any
    built: Any
    choice: Choice
    library: Any
    fixed_step: float | None
    thresholds: tuple[float, float]  # of violations of positions and velocities that are corrected
    looked: int
    cleared: Any  # sets what a run leaves in its records to zero
    moving: float  # how fast the system moves at the start
    bends: Any = None  # gives the instants at which steps end, from parameters and the end of the run
    suspects: Any = None  # `Bends`, which knows forces that jump with a rate
    _take: Any
    _watch: Any

    def restart(self, system, built=None, until=None):
        """Begin at the start of a system.

        system   of the model, formulation and method that the runner was made for; its start and its parameters may be others,
                 and so may be what is chosen about its kernels
        built    these kernels; None: those that were used last, or of the choice of the system where that is another
        until    end of the run; None: as it was
        """
        if built is None:
            built = self.built if system.choice == self.choice else self.library(system.choice)
        self.system, self.until = system, self.until if until is None else float(until)
        self.choices, self.wall, self.looked, self.undefined = 0, 0.0, -1, None
        self.choice, self.used = system.choice, set(system.keep)
        self.start = state_of(built, system.state, system.t, system.q, system.v, system.p)
        self.cleared()
        state, scales = self.state, self.scales
        state.time, state.longest, state.least_pivot = system.t, np.inf, 1.0
        state.p[:], state.xs[0] = system.p, self.start
        scales.length, scales.angle = system.length, 1.0
        self.scratch.t[0], self.equations.known, self.equations.settled = system.t, 0, 0
        self.moving = self._moves()
        self._limit()
        self._begin_with(built)
        state.step = self.fixed_step or self._first_step()
        if system.watches:
            self._watch(0, built, state.x, system.watches)

    def _begin_with(self, built):
        """Use these kernels; how well they were conditioned in an earlier run is forgotten."""
        table = self.run_.kernels
        if built is self.built and len(table) == 1:
            table["poor"], table["rich"], table["best"] = 0.0, np.inf, 0.0
        else:
            self.run_.kernels = table[:0]
            self._take([(built, self.system.keep, self.system.watches)])

    def _limit(self):
        """What is small or large in this run."""
        plan, system, until = self.plan, self.system, abs(self.until)
        size = system.length / system.unit  # residuals of kernels are in units of their rows
        plan.position_tolerance = EXACT * size
        plan.velocity_tolerance = 1e-14 * size * max(self._rate(), 1 / until)
        at_positions, at_velocities = (x / system.unit for x in self.thresholds)
        plan.position_threshold = max(plan.position_tolerance, at_positions)
        plan.velocity_threshold = max(plan.velocity_tolerance, at_velocities)
        plan.smallest_step = 1e-13 * until
        plan.longest_step = until * longest(self.integrator, self.method, plan.tolerance)
        plan.mass, plan.inertia = system.mass, system.inertia
        if self.bends is not None and self.bends.found:
            plan.bends, plan.beyond = self.bends(system.p, until, system.t)

    def bending(self, bends):
        """The same, with steps that end where `bends` says."""
        self.suspects = bends
        if bends.found:
            self.bends = bends
            self._limit()
        return self

    def _rate(self):
        """How fast a system moves at the start, or would under gravity [1/s]."""
        return max(self.system.scales["rate"], self.moving)

    def _agreed(self, number):
        """A number that decides something: the largest, where several run a system together."""
        return number

    def _moves(self):
        """How fast a system moves at the start, momenta that a ground which moves gives it included: lengths over its size, angles
        as they are [1/s]."""
        sizes = np.where(np.array(self.system.linear, bool), self.system.length, 1.0)
        speeds = np.array(self.system.v), self.system.state.parted(self.start)[1]
        return self._agreed(np.abs(speeds / sizes).max(initial=0.0))

    def _first_step(self):
        """A cautious first step from the start velocities and accelerations: small against the time in which anything turns
        or moves by the size of the model, and against the whole run."""
        system, span, n = self.system, self.until - self.system.t, self.plan.velocities
        if not span > 0:
            return 1.0
        size = np.where(np.array(system.linear, bool), system.length, 1.0)
        t, x, p = np.array([system.t]), self.state.x, self.state.p
        xdot = self.built["rate"](t, x, p, self.built["factor"](t, x, p)[0], self.plan.gains)[0]
        pushed = xdot[n : 2 * n]
        pushed = pushed if np.isfinite(pushed).all() else np.nan_to_num(pushed)
        speeds = np.abs(xdot[:n]) / size, np.sqrt(np.abs(pushed) / size)
        return min(span, 0.3 * self.plan.tolerance**0.2 / self._agreed(np.concatenate([*speeds, [1 / span]]).max()))
