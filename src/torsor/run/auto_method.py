"""`method="auto"`: whether a model is stiff, which method suits it, and why.

A model is stiff if something decays much faster than anything moves. Stability then limits an explicit method to short steps,
although the decay is over after a short time. The eigenvalues λ of ∂k/∂u, the Jacobian of the rates, show this:

    decay    max −Re λ                                       fastest decay                                 (1)
    motion   the largest of speeds, of what gravity makes of them, of |λ| where |Im λ| > |Re λ|, of Re λ         (2)

∂k/∂u is computed by differences of kernels that an explicit method needs anyway, so that a model that is not stiff needs no
further kernels.
[hairer1996], sec. IV.2
"""

import warnings
from typing import NamedTuple

import numpy as np

from ..prepare.velocity_block import state_of
from . import run_messages

AUTO, EXPLICIT, IMPLICIT = "auto", "rkmk54", "radau5"
STABLE_UP_TO = 3.3  # decay × step up to which the default method is stable
STIFF_FROM = 100.0  # decay / motion from which a model is stiff
STABILITY_STEPS = 10_000  # explicit steps required by stability from which the implicit method is chosen
STABILITY_CHECK_AFTER = 2.0  # seconds of a run after which the step is compared with the stability limit
LIMITED_FROM = 0.5  # decay × step from which stability limits the step
MOST_UNKNOWNS = 200  # unknowns up to which the Jacobian is computed
DIFFERENCE = 1e-7  # displacement for difference quotients / size


class Rates(NamedTuple):
    """Rates of decay (1) and of motion (2) of a model [1/s]."""

    decay: float
    motion: float

    @property
    def stiff(self):
        return self.decay > STIFF_FROM * self.motion


def rates(system, built, t, x, p):
    """Rates of decay and of motion at a state."""
    n, size = system.state.v, np.where(np.array(system.linear, bool), system.length, 1.0)
    speed = max(system.scales["rate"], np.abs(_rate(built, t, x, p)[:n] / size).max(initial=0.0))
    jacobian = _jacobian(system, built, t, x, p, size, max(speed, 1.0))
    if not np.all(np.isfinite(jacobian)):
        return Rates(0.0, speed)
    values = np.linalg.eigvals(jacobian)
    oscillation = np.abs(values[np.abs(values.imag) > np.abs(values.real)]).max(initial=0.0)
    return Rates(float((-values.real).max(initial=0.0)), float(max(speed, oscillation, values.real.max(initial=0.0))))


def _rate(built, t, x, p):
    t = np.array([t])
    return built["rate"](t, x, p, built["factor"](t, x, p)[0], np.zeros(4))[0]


def _jacobian(system, built, t, x, p, size, rate):
    """∂k/∂u at a state, by differences; without the work, on which no rate depends."""
    n, count, first = system.state.v, system.state.algebra, _rate(built, t, x, p)
    states = np.maximum(np.abs(x[system.state.q + n + 1 :]), 1.0)
    steps = DIFFERENCE * np.concatenate([size, size * rate, [1.0], states])
    jacobian = np.zeros((count, count))
    for m, step in enumerate(steps):
        u = np.zeros(count)
        u[m] = step
        (displaced,) = built["retract"](x, u)
        (k,) = built["differential"](u, _rate(built, t, displaced, p))
        jacobian[:, m] = (k - first) / step
    return np.delete(np.delete(jacobian, 2 * n, 0), 2 * n, 1)


def choose(system, built, until=None, step=None):
    """The method that suits a system, and the reason in words.

    until   length of the run [s]; None: not known
    step    fixed step [s]; None: the step is adaptive
    """
    count = system.state.algebra
    if count > MOST_UNKNOWNS:
        return EXPLICIT, (
            f"the model has {count} unknowns, and stiffness is examined up to {MOST_UNKNOWNS}; take method={IMPLICIT!r} if it is "
            "stiff"
        )
    x = state_of(built, system.state, system.t, system.q, system.v, system.p)
    found = rates(system, built, system.t, x, np.array(system.p))
    comparison = f"the fastest decay is {found.decay:.2g} 1/s, the fastest motion {found.motion:.2g} 1/s"
    if step is not None:
        if found.decay * step > STABLE_UP_TO:
            return IMPLICIT, f"{comparison}: an explicit step of {step:g} s would not be stable"
        return EXPLICIT, f"{comparison}: a step of {step:g} s is stable"
    if not found.stiff:
        return EXPLICIT, f"nothing is stiff: {comparison}"
    steps = (until or np.inf) * found.decay / STABLE_UP_TO
    if steps < STABILITY_STEPS:
        return EXPLICIT, f"{comparison}, but the run is short: some {steps:.2g} explicit steps are stable"
    limit = f"stability limits explicit steps to {STABLE_UP_TO / found.decay:.2g} s"
    return IMPLICIT, f"it is stiff: {comparison}; {limit}"


def check_stability(runner, seconds):
    """Warn if stability limits the steps of a run that has taken so many seconds. Returns whether it was time to check."""
    if seconds < STABILITY_CHECK_AFTER:
        return False
    run_messages.warn_of_tiny_steps(runner)
    if (message := stability_message(runner)) is not None:
        warnings.warn(message, stacklevel=3)
    return True


def stability_message(runner):
    """Message about a run whose explicit steps are limited by stability instead of by the motion; None if they are not."""
    state, system = runner.state, runner.system
    several = runner.plan.agree != 0
    if several or runner.needs or runner.plan.adaptive == 0 or system.state.algebra > MOST_UNKNOWNS:
        return None
    found = rates(system, runner.kernels_in_use(), state.time, state.x.copy(), state.p.copy())
    if not found.stiff or found.decay * state.step < LIMITED_FROM:
        return None
    return (
        f"the model is stiff: steps of {state.step:.2g} s at t = {state.time:.4g} s are as long as the stability of the method "
        f"allows. The fastest decay is {found.decay:.2g} 1/s, the fastest motion {found.motion:.2g} 1/s. Use method={IMPLICIT!r} "
        "or 'bdf', which take longer steps"
    )
