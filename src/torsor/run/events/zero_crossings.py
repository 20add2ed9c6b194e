"""Zero crossings of watched functions between two samples of a step.

If the extremum of a function with a rate comes near zero, it is located, so that a dip below zero is found however short it is.
"""

import numpy as np

from ...kernels.compiled import compiled, inlined
from ...prepare.event_records import LAST_SAMPLE, RATE, VALUE
from .event_tolerances import (
    AT_START,
    FALLING,
    FALLING_AGAIN,
    FLAT,
    LEAVES,
    RISING,
    RISING_AGAIN,
    is_watched,
    zero_tolerance,
)
from .step_interpolation import evaluate_within_step

TOUCHES = 0.02  # extremum / size of the function, above which it is not located
OFF = 1e-3  # value / size, up to which a function that stays at zero may differ from it on the dense output


@inlined
def minimum_of_cubic(x0, r0, x1, r1):
    """Place in (0, 1) and value of the minimum of the cubic with these values and rates at its ends; place -1 if there is none."""
    if not (r0 < 0.0 < r1):
        return -1.0, 0.0
    a, b = r0 + r1 - 2 * (x1 - x0), 3 * (x1 - x0) - 2 * r0 - r1  # x0 + r0 z + b z² + a z³
    root = b**2 - 3 * a * r0
    if root < 0.0:
        return -1.0, 0.0
    z = -r0 / (b + np.sqrt(root))
    return (z, x0 + z * (r0 + z * (b + z * a))) if 0.0 < z < 1.0 else (-1.0, 0.0)


@compiled
def find_dip(run, i, m, sign, low, high, a, b):
    """Place between two samples at which a function, times `sign`, is below zero on the dense output; -1 if there is none."""
    step, h = run.step, run.step.span
    x0, r0 = sign * step.samples[a, VALUE, m], sign * h * step.samples[a, RATE, m]
    x1, r1 = sign * step.samples[b, VALUE, m], sign * h * step.samples[b, RATE, m]
    size = max(abs(x0), abs(x1))
    for turn in range(10):
        part = high - low
        z, least = minimum_of_cubic(x0, part * r0, x1, part * r1)
        if z < 0.0 or least > (TOUCHES * size if turn == 0 else 0.5 * min(x0, x1)):
            return -1.0
        theta = low + z * part
        if not low < theta < high:
            return -1.0
        evaluate_within_step(run, i, theta, step.phi)
        x, r = sign * step.phi[VALUE, m], sign * h * step.phi[RATE, m]
        if x < -zero_tolerance(run, m, run.kept.time, step.phi[RATE, m]):
            return theta
        if r < 0.0:
            low, x0, r0 = theta, x, r
        else:
            high, x1, r1 = theta, x, r
    return -1.0


@inlined
def stays_zero(run, m):
    """True if a function and its rate are zero at the start of the step."""
    x, rate = run.step.samples[0, VALUE, m], run.step.samples[0, RATE, m]
    return abs(x) <= zero_tolerance(run, m, run.kept.time, rate) and not abs(rate) > LEAVES * run.events.speed[m]


@compiled
def side_after_start(run, m, weak, x):
    """The side on which a function that was zero at the start of the step leaves zero; x is a later sample."""
    rate = run.step.samples[0, RATE, m]
    close = zero_tolerance(run, m, run.kept.time, rate)
    if run.program.events[m].rated == 1 and not weak and abs(rate) * run.step.span > close:
        return 1 if rate > 0.0 else -1
    return 1 if x > close else (-1 if x < -close else 0)


@compiled
def classify_crossing(run, m, a, b):
    """How an event fires between two samples: FALLING, RISING …; 0 if it does not."""
    step, watch, t = run.step, run.program.events[m], run.kept.time
    if run.events.parting[m] == 1:
        return 0
    x, side = step.samples[b, VALUE, m], step.sides[m]
    start, rate, weak = step.samples[0, VALUE, m], step.samples[0, RATE, m], stays_zero(run, m)
    at_zero = abs(start) / zero_tolerance(run, m, t, rate)
    again = at_zero <= 100 and side * rate >= 0.0 and (watch.rated == 1 or at_zero > 1)  # its event has just fired
    # a function that stays at zero differs from it on the dense output, which means nothing
    if weak and b != LAST_SAMPLE and abs(x) < OFF * run.events.scale[m]:
        return 0
    close = zero_tolerance(run, m, t, step.samples[b, RATE, m])
    if side == 0:
        side = side_after_start(run, m, weak, x)
        if side == -1:
            return AT_START
    elif a == 0 and at_zero <= 1 and not weak and side * rate < 0.0 and (side == 1 or watch.both == 1):
        return AT_START  # it crosses zero at the sample itself
    if side == 1 and x < -close:
        return FALLING_AGAIN if again else FALLING
    if side == 1 and x == 0.0 and watch.condition == 1 and watch.strict == 0:
        return FLAT
    if side == -1 and x > close and watch.both == 1:
        return RISING_AGAIN if again else RISING
    step.sides[m] = 1 if x > close else (-1 if x < -close else side)
    return 0


@compiled
def find_crossings(run, low, high, a, b, p):
    """Find the events that fire between two samples, and mark them as due with how they fire.

    Returns 1 if there are any (the bracket is stored in the step), 0 if there are none, -1 if a function is not a number.
    """
    events, found = run.events, 0
    for m in range(events.due.size):
        if not is_watched(run, m, p):
            continue
        if np.isnan(run.step.samples[b, VALUE, m]):
            events.failed = m
            return -1
        how = classify_crossing(run, m, a, b)
        if how != 0:
            events.due[m], found = how, 1
    if found == 1:
        run.step.low, run.step.high = low, high
    return found


@compiled
def find_crossings_and_dips(run, i, low, high, a, b, p):
    """As `find_crossings`, with further samples where functions cross zero and return."""
    n, spare, step = run.events.due.size, 4, run.step
    for _ in range(2 * n):
        split = high
        for m in range(n):
            if run.program.events[m].rated == 1 and is_watched(run, m, p) and not stays_zero(run, m):
                side = step.sides[m] if step.sides[m] != 0 else 1
                theta = find_dip(run, i, m, side, low, high, a, b)
                split = theta if 0.0 < theta < split else split
        if split == high:
            break
        evaluate_within_step(run, i, split, step.samples[spare])
        found = find_crossings(run, low, split, a, spare, p)
        if found != 0:
            return found
        low, a, spare = split, spare, 9 - spare
    return find_crossings(run, low, high, a, b, p)
