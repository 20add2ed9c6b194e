"""Where watched functions pass zero between two samples of a step.

A function that has a rate is searched for its extremum where that comes near zero, so that a dip is seen however short it is.
"""

import numpy as np

from ...kernels.compiled import compiled, inlined
from ...prepare.event_records import LAST_SAMPLE, RATE, VALUE
from .event_tolerances import AT_START, FALLING, FALLING_AGAIN, FLAT, LEAVES, RISING, RISING_AGAIN, is_watched, near
from .step_interpolation import dense

TOUCHES = 0.02  # of its size: an extremum further from zero than that is not looked at more closely
OFF = 1e-3  # of its size: what a function that is held at zero may be off it on the dense output


@inlined
def lowest(x0, r0, x1, r1):
    """Where in (0, 1) the cubic with these values and rates at its ends is least, where it falls first, and its value there;
    else -1."""
    if not (r0 < 0.0 < r1):
        return -1.0, 0.0
    a, b = r0 + r1 - 2 * (x1 - x0), 3 * (x1 - x0) - 2 * r0 - r1  # x0 + r0 z + b z² + a z³
    root = b**2 - 3 * a * r0
    if root < 0.0:
        return -1.0, 0.0
    z = -r0 / (b + np.sqrt(root))
    return (z, x0 + z * (r0 + z * (b + z * a))) if 0.0 < z < 1.0 else (-1.0, 0.0)


@compiled
def extremum(run, i, m, sign, low, high, a, b):
    """Where between two samples a function, times `sign`, dips below zero, as the dense output has it; -1 where it does not."""
    step, h = run.step, run.step.span
    x0, r0 = sign * step.samples[a, VALUE, m], sign * h * step.samples[a, RATE, m]
    x1, r1 = sign * step.samples[b, VALUE, m], sign * h * step.samples[b, RATE, m]
    size = max(abs(x0), abs(x1))
    for turn in range(10):
        part = high - low
        z, least = lowest(x0, part * r0, x1, part * r1)
        if z < 0.0 or least > (TOUCHES * size if turn == 0 else 0.5 * min(x0, x1)):
            return -1.0
        theta = low + z * part
        if not low < theta < high:
            return -1.0
        dense(run, i, theta, step.phi)
        x, r = sign * step.phi[VALUE, m], sign * h * step.phi[RATE, m]
        if x < -near(run, m, run.kept.time, step.phi[RATE, m]):
            return theta
        if r < 0.0:
            low, x0, r0 = theta, x, r
        else:
            high, x1, r1 = theta, x, r
    return -1.0


@inlined
def stays_zero(run, m):
    """Whether a function is zero at the start of the step and shows no tendency to leave."""
    x, rate = run.step.samples[0, VALUE, m], run.step.samples[0, RATE, m]
    return abs(x) <= near(run, m, run.kept.time, rate) and not abs(rate) > LEAVES * run.events.speed[m]


@compiled
def start_side(run, m, weak, x):
    """The side on which a function leaves zero, where it stood at the start of the step; x is a sample after it."""
    rate = run.step.samples[0, RATE, m]
    close = near(run, m, run.kept.time, rate)
    if run.program.events[m].rated == 1 and not weak and abs(rate) * run.step.span > close:
        return 1 if rate > 0.0 else -1
    return 1 if x > close else (-1 if x < -close else 0)


@compiled
def crossing(run, m, a, b):
    """How an event fires between two samples, 0 where it does not."""
    step, watch, t = run.step, run.program.events[m], run.kept.time
    if run.events.parting[m] == 1:
        return 0
    x, side = step.samples[b, VALUE, m], step.sides[m]
    start, rate, weak = step.samples[0, VALUE, m], step.samples[0, RATE, m], stays_zero(run, m)
    at_zero = abs(start) / near(run, m, t, rate)
    again = at_zero <= 100 and side * rate >= 0.0 and (watch.rated == 1 or at_zero > 1)  # it has just fired
    # on the dense output what is held at zero is off it, which has no meaning
    if weak and b != LAST_SAMPLE and abs(x) < OFF * run.events.scale[m]:
        return 0
    close = near(run, m, t, step.samples[b, RATE, m])
    if side == 0:
        side = start_side(run, m, weak, x)
        if side == -1:
            return AT_START
    elif a == 0 and at_zero <= 1 and not weak and side * rate < 0.0 and (side == 1 or watch.both == 1):
        return AT_START  # it passes zero just there
    if side == 1 and x < -close:
        return FALLING_AGAIN if again else FALLING
    if side == 1 and x == 0.0 and watch.condition == 1 and watch.strict == 0:
        return FLAT
    if side == -1 and x > close and watch.both == 1:
        return RISING_AGAIN if again else RISING
    step.sides[m] = 1 if x > close else (-1 if x < -close else side)
    return 0


@compiled
def crossings(run, low, high, a, b, p):
    """Whether some event fires between two samples: 1, and where it is left with the step; 0 if none does; -1 where a function
    is no number. Marks the events concerned as due: falling, rising, either of them again, or at the very start."""
    events, found = run.events, 0
    for m in range(events.due.size):
        if not is_watched(run, m, p):
            continue
        if np.isnan(run.step.samples[b, VALUE, m]):
            events.failed = m
            return -1
        how = crossing(run, m, a, b)
        if how != 0:
            events.due[m], found = how, 1
    if found == 1:
        run.step.low, run.step.high = low, high
    return found


@compiled
def between(run, i, low, high, a, b, p):
    """As `crossings`, with further samples where functions pass zero and come back."""
    n, spare, step = run.events.due.size, 4, run.step
    for _ in range(2 * n):
        split = high
        for m in range(n):
            if run.program.events[m].rated == 1 and is_watched(run, m, p) and not stays_zero(run, m):
                side = step.sides[m] if step.sides[m] != 0 else 1
                theta = extremum(run, i, m, side, low, high, a, b)
                split = theta if 0.0 < theta < split else split
        if split == high:
            break
        dense(run, i, split, step.samples[spare])
        found = crossings(run, low, split, a, spare, p)
        if found != 0:
            return found
        low, a, spare = split, spare, 9 - spare
    return crossings(run, low, high, a, b, p)
