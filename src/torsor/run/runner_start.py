"""The part of a runner that depends on the start of its run. It sets every record, and the records keep their addresses.

A runner that has run before starts again exactly as a new one, bit for bit: its records keep nothing of the earlier run.
"""

from typing import Any

import numpy as np

from ..checks.potential_jumps import potential_may_jump
from ..methods.continuous_extension import longest
from ..prepare.choice import Choice
from ..prepare.velocity_block import state_of
from .run_results import Results
from .run_tolerances import POSITION_EXACT, SMALLEST_STEP, VELOCITY_EXACT


class RunnerStart(Results):
    """Start of a run: state, limits, kernels and first step."""

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
    thresholds: tuple[float, float]  # violations of positions and velocities from which the projection acts
    looked: int  # number of steps at the last check of the choice of rows and coordinates
    cleared: Any  # function that sets to zero what a run writes to its records
    moving: float  # characteristic rate of the motion at the start [1/s]
    bends: Any = None  # function of parameters and end time that gives the breakpoints; None: there are none
    jump_search: Any = None  # `Bends`: finds forces that jump as functions of a rate
    _take: Any
    _watch: Any

    def restart(self, system, built=None, until=None):
        """Begin at the start of a system.

        system   of the same model, formulation and method as the runner; start, parameters and choice of rows and coordinates
                 may differ
        built    kernels for the choice of the system; None: the present ones if the choice is the same, else from the library
        until    end of the run; None: unchanged
        """
        if built is None:
            built = self.built if system.choice == self.choice else self.library(system.choice)
        self.system = system
        self.until = self.until if until is None else float(until)
        self.choices = 0
        self.wall = 0.0
        self.looked = -1
        self.undefined = None
        self.choice = system.choice
        self.used = set(system.keep)
        self.start = state_of(built, system.state, system.t, system.q, system.v, system.p)
        self.cleared()
        state, scales = self.state, self.scales
        state.time = system.t
        state.longest = np.inf
        state.least_pivot = 1.0
        state.p[:] = system.p
        state.xs[0] = self.start
        scales.length = system.length
        scales.angle = 1.0
        self.scratch.t[0] = system.t
        self.equations.known = 0
        self.equations.found_motion = 0
        self.moving = self._start_rate()
        self._set_limits()
        self._begin_with(built)
        state.step = self.fixed_step or self._first_step()
        if system.watches:
            self._watch(0, built, state.x, system.watches)

    def _begin_with(self, built):
        """Use these kernels, without the conditioning that an earlier run recorded for them."""
        table = self.run_.kernels
        if built is self.built and len(table) == 1:
            table["poor"] = 0.0
            table["rich"] = np.inf
            table["best"] = 0.0
        else:
            self.run_.kernels = table[:0]
            self._take([(built, self.system.keep, self.system.watches)])

    def _set_limits(self):
        """Set tolerances, thresholds, limits of the step and breakpoints for this start."""
        plan, system, until = self.plan, self.system, abs(self.until)
        size = system.length / system.unit  # residuals of kernels are in units of their rows
        plan.position_tolerance = POSITION_EXACT * size
        plan.velocity_tolerance = VELOCITY_EXACT * size * max(self._characteristic_rate(), 1 / until)
        at_positions, at_velocities = (x / system.unit for x in self.thresholds)
        plan.position_threshold = max(plan.position_tolerance, at_positions)
        plan.velocity_threshold = max(plan.velocity_tolerance, at_velocities)
        plan.smallest_step = SMALLEST_STEP * until
        plan.longest_step = until * longest(self.integrator, self.method, plan.tolerance)
        plan.mass = system.mass
        plan.inertia = system.inertia
        if self.bends is not None and self.bends.any:
            plan.bends, plan.beyond = self.bends(system.p, until, system.t)

    def set_breakpoints(self, bends):
        """End steps at the breakpoints that `bends` gives. Returns the runner."""
        self.jump_search = bends
        self.plan.potential_jumps = "energies" in self.built and potential_may_jump(bends.model)
        if bends.any:
            self.bends = bends
            self._set_limits()
        return self

    def _characteristic_rate(self):
        """Rate of the motion at the start, or the rate that gravity would give it if that is larger [1/s]."""
        return max(self.system.scales["rate"], self.moving)

    def _largest_over_ranks(self, number):
        """The largest value of a number over all ranks, so that they decide alike; the number itself without ranks."""
        return number

    def _start_rate(self):
        """Largest rate at the start [1/s]: speeds over the model size, angular velocities as they are.

        Momenta scaled to velocity units count as well, since a moving ground contributes to them.
        """
        sizes = np.where(np.array(self.system.linear, bool), self.system.length, 1.0)
        speeds = np.array(self.system.v), self.system.state.split_blocks(self.start)[1]
        return self._largest_over_ranks(np.abs(speeds / sizes).max(initial=0.0))

    def _first_step(self):
        """A cautious first step [s], from velocities and accelerations at the start.

        It is small compared with the time in which anything turns by one radian or moves by the model size, and with the run.
        """
        system, span, n = self.system, self.until - self.system.t, self.plan.velocities
        if not span > 0:
            return 1.0
        size = np.where(np.array(system.linear, bool), system.length, 1.0)
        t, x, p = np.array([system.t]), self.state.x, self.state.p
        xdot = self.built["rate"](t, x, p, self.built["factor"](t, x, p)[0], self.plan.gains)[0]
        accelerations = xdot[n : 2 * n]
        accelerations = accelerations if np.isfinite(accelerations).all() else np.nan_to_num(accelerations)
        rates = np.abs(xdot[:n]) / size, np.sqrt(np.abs(accelerations) / size)
        fastest = self._largest_over_ranks(np.concatenate([*rates, [1 / span]]).max())
        return min(span, 0.3 * self.plan.tolerance**0.2 / fastest)
