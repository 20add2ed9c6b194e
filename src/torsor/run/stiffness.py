"""`method="auto"`: whether a model is stiff, and which method suits it, in words.

Stiff is what settles much faster than anything moves: an explicit method is then bound to short steps by its stability, although
nothing is to be seen of what settles. This is read off the eigenvalues λ of ∂k/∂u, the slope of the rates:

    decay    max −Re λ                                       what settles                                  (1)
    motion   the largest of speeds, of what gravity makes of them, of |λ| where |Im λ| > |Re λ|, of Re λ         (2)

∂k/∂u is taken by differences of the kernels that an explicit method needs anyway, so that who is not stiff waits for nothing.
[hairer1996], sec. IV.2
"""

import warnings
from typing import NamedTuple

import numpy as np

from . import endings
from .beside import state_of

AUTO, EXPLICIT, IMPLICIT = "auto", "rkmk54", "radau5"
STABLE = 3.3  # decay times the step, up to which the default method is stable
FASTER = 100.0  # decay over motion, from which a model is stiff,
STEPS = 10_000  # where an explicit method would take more steps than these for its stability alone
PATIENT = 2.0  # seconds after which it is looked whether a run is bound by stability,
BOUND = 0.5  # which shows where decay times the step is more than this
MOST = 200  # unknowns up to which their slope is compiled without being asked for
SMALL = 1e-7  # of its size: how far something is moved to see what changes


class Rates(NamedTuple):
    """How fast a model settles, and how fast it moves [1/s]: (1), (2)."""

    decay: float
    motion: float

    @property
    def stiff(self):
        return self.decay > FASTER * self.motion


def rates(system, built, t, x, p):
    """How fast a model settles and moves at a state."""
    n, size = system.state.v, np.where(np.array(system.linear, bool), system.length, 1.0)
    moves = max(system.scales["rate"], np.abs(_rate(built, t, x, p)[:n] / size).max(initial=0.0))
    slope = _slope(system, built, t, x, p, size, max(moves, 1.0))
    if not np.all(np.isfinite(slope)):
        return Rates(0.0, moves)
    values = np.linalg.eigvals(slope)
    swings = np.abs(values[np.abs(values.imag) > np.abs(values.real)]).max(initial=0.0)
    return Rates(float((-values.real).max(initial=0.0)), float(max(moves, swings, values.real.max(initial=0.0))))


def _rate(built, t, x, p):
    t = np.array([t])
    return built["rate"](t, x, p, built["factor"](t, x, p)[0], np.zeros(4))[0]


def _slope(system, built, t, x, p, size, rate):
    """∂k/∂u at a state, by differences; without the work, on which nothing depends."""
    n, count, first = system.state.v, system.state.algebra, _rate(built, t, x, p)
    states = np.maximum(np.abs(x[system.state.q + n + 1 :]), 1.0)
    steps = SMALL * np.concatenate([size, size * rate, [1.0], states])
    slope = np.zeros((count, count))
    for m, step in enumerate(steps):
        u = np.zeros(count)
        u[m] = step
        (moved,) = built["retract"](x, u)
        (k,) = built["differential"](u, _rate(built, t, moved, p))
        slope[:, m] = (k - first) / step
    return np.delete(np.delete(slope, 2 * n, 0), 2 * n, 1)


def choose(system, built, until=None, step=None):
    """The method that suits a system, and why: the rest of a sentence.

    until   length of the run; None: not known;  step: a fixed one
    """
    count = system.state.algebra
    if count > MOST:
        return EXPLICIT, (
            f"{count} unknowns are many to look at, and their slope takes long to compile; {IMPLICIT!r} is there if it is stiff"
        )
    x = state_of(built, system.state, system.t, system.q, system.v, system.p)
    found = rates(system, built, system.t, x, np.array(system.p))
    told = f"what settles fastest does so with {found.decay:.2g} 1/s, what moves with {found.motion:.2g} 1/s"
    if step is not None:
        if found.decay * step > STABLE:
            return IMPLICIT, f"{told}: an explicit step of {step:g} s would not be stable"
        return EXPLICIT, f"{told}: a step of {step:g} s is stable"
    if not found.stiff:
        return EXPLICIT, f"nothing is stiff: {told}"
    steps = (until or np.inf) * found.decay / STABLE
    if steps < STEPS:
        return EXPLICIT, f"{told}, but the run is short: some {steps:.2g} explicit steps are stable"
    bound = f"explicit steps would be bound to {STABLE / found.decay:.2g} s by their stability"
    return IMPLICIT, f"it is stiff: {told}, so that {bound}"


def looked_at(runner, seconds):
    """Look at a run that has taken so many seconds, and warn where stability binds it. Returns whether it was time to."""
    if seconds < PATIENT:
        return False
    endings.hint_at_collapse(runner)
    if (told := bound(runner)) is not None:
        warnings.warn(told, stacklevel=3)
    return True


def bound(runner):
    """What to say of a run whose explicit steps are as long as stability allows, and not the motion; None where they are not."""
    state, system = runner.state, runner.system
    several = runner.plan.agree != 0
    if several or runner.needs or runner.plan.adaptive == 0 or system.state.algebra > MOST:
        return None
    found = rates(system, runner.kernels_in_use(), state.time, state.x.copy(), state.p.copy())
    if not found.stiff or found.decay * state.step < BOUND:
        return None
    return (
        f"steps of {state.step:.2g} s at t = {state.time:.4g} s are as long as the stability of the method allows, since something "
        f"settles with {found.decay:.2g} 1/s; what moves does so with {found.motion:.2g} 1/s. It is stiff: method={IMPLICIT!r} or "
        "'bdf' take longer steps"
    )
