"""Looking through a step for events.

A step is looked through on a dense output, cubic in the algebra:

    u(θ) = h₁ u₁ + h₂ h ẋ₀ + h₃ h dexp⁻¹(u₁) ẋ₁,    x(θ) = x₀ · exp(u(θ))                               (1)
    h₁ = 3θ² − 2θ³,   h₂ = θ − 2θ² + θ³,   h₃ = θ³ − θ²

in parts that follow from the watched functions alone. A part is at most as long as the pace of each of them allows (see
`pace`), and so short that a sample within it lies on the cubic through values and rates at its ends; parts grow by and by
where that holds well. Within a part a function that has a rate is searched for its extremum where that comes near zero, so
that a dip is seen however short it is.
"""

import numpy as np

from ..kernels import ask
from ..kernels.compiled import compiled, inlined
from ..methods.vectors import copy, rate
from .event_records import END, PACE, RATE, VALUE
from .switches import (
    AT_START,
    FALLING,
    FALLING_AGAIN,
    FLAT,
    LEAVES,
    MANY,
    RISING,
    RISING_AGAIN,
    enabled,
    near,
)

MIDDLE = 0.47  # place within a part of a step where it is seen whether functions are followed well
PHASE = 1.0  # what phases of watched functions may go through in a part of a step
FOLLOWED = (
    0.02  # of its size: if a watched function is further from the cubic through its samples, the part is too long
)
BENT = 0.2  # likewise from a line, where a function has no rate
ROUGH = 1e-6  # of the largest value that it had: what is smaller is not followed
FINEST = 1e-4  # of a step, or of what paces allow: shorter parts are taken as they are, since a function may jump there
QUIET = 0.5  # change of a function in a step over its distance from zero, below which it is not looked at more closely
OFF = 1e-3  # of its size: what a function that is held at zero may be off it on the dense output


@inlined
def watched(run, i, t, x, p, xdot, phi):
    """Values, rates and paces of all watched functions at a state; its rate is left in xdot, multipliers in the scratch."""
    s, k = run.scratch, run.kernels[i]
    rate(run, k, t, x, p, xdot)
    ask.guards(k, s, x, p, xdot, s.lam, phi)


@compiled
def dense(run, i, theta, phi):
    """Watched functions on the dense output: (1)."""
    step, k, h = run.step, run.kernels[i], run.step.span
    u, u1, rate, k1 = step.u, step.u1, step.rate, step.k1
    h1, h2, h3 = (3 - 2 * theta) * theta**2, theta * (1 - theta) ** 2, (theta - 1) * theta**2
    for m in range(u.size):
        u[m] = h1 * u1[m] + h * (h2 * rate[m] + h3 * k1[m])
    ask.retract(k, run.scratch, run.kept.x, u, step.x)
    watched(run, i, run.kept.time + theta * h, step.x, run.kept.p, step.xdot, phi)


@compiled
def ends(run, i):
    """Watched functions at both ends of the step just taken."""
    step, state, s, plan = run.step, run.state, run.scratch, run.plan
    x = state.xs[state.at]
    for row in range(3):
        copy(run.events.phi[row], step.samples[0, row])
    copy(s.K[0], step.rate)
    copy(s.u, step.u1)
    for m in range(plan.velocities, s.u.size):  # as they are after the projection
        step.u1[m] = x[plan.configuration - plan.velocities + m] - run.kept.x[plan.configuration - plan.velocities + m]
    step.span = state.time - run.kept.time
    watched(run, i, state.time, x, state.p, s.xdot, step.samples[END])
    copy(s.xdot, step.rate1)


@compiled
def quiet(run, p):
    """Whether the step is no longer than functions have been followed in, and all stay far from zero compared with how they
    change: nothing to be looked for."""
    events, h, a, b = run.events, run.step.span, run.step.samples[0], run.step.samples[END]
    if h > events.followed:
        return False
    for m in range(events.due.size):
        if not enabled(run, m, p):
            continue
        x0, x1 = a[VALUE, m], b[VALUE, m]
        change = h * max(abs(a[RATE, m]), abs(b[RATE, m]))
        if run.program.events[m].rated == 0:
            change = 5 * abs(x1 - x0)
        if not (x0 * x1 > 0.0 and change < QUIET * min(abs(x0), abs(x1))):
            return False
        if h * max(a[PACE, m], b[PACE, m]) > PHASE:
            return False
    return True


@compiled
def fastest_of(run, phi, p):
    """The largest pace of the functions that are watched."""
    pace = 0.0
    for m in range(run.events.due.size):
        if phi[PACE, m] > pace and enabled(run, m, p):
            pace = phi[PACE, m]
    return pace


@compiled
def departure(run, part, a, b, c, p):
    """How far the functions are from what is expected within a part of length `part`, over what is allowed: 1 is too far.

    a, b, c: samples at its start, within it (at MIDDLE) and at its end. What has a rate is compared with the cubic through
    values and rates at the ends, what has none with the line.
    """
    events, z, worst = run.events, MIDDLE, 0.0
    first, within, last = run.step.samples[a], run.step.samples[b], run.step.samples[c]
    for m in range(events.due.size):
        if not enabled(run, m, p):
            continue
        size = max(abs(first[VALUE, m]), abs(within[VALUE, m]), abs(last[VALUE, m]))
        if run.program.events[m].rated == 1:
            values = (1 - z) ** 2 * (1 + 2 * z) * first[VALUE, m] + z**2 * (3 - 2 * z) * last[VALUE, m]
            rates = z * (1 - z) ** 2 * first[RATE, m] - z**2 * (1 - z) * last[RATE, m]
            off, most = abs(values + part * rates - within[VALUE, m]), FOLLOWED * size + ROUGH * events.scale[m]
        else:
            off = abs((1 - z) * first[VALUE, m] + z * last[VALUE, m] - within[VALUE, m])
            most = BENT * size + ROUGH * events.scale[m]
        if off > worst * most:
            worst = off / most
        if max(within[PACE, m], last[PACE, m]) * part > 2 * PHASE:
            return np.inf
    return worst


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
        if z < 0.0 or least > (FOLLOWED * size if turn == 0 else 0.5 * min(x0, x1)):
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
def held(run, m):
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
    x, side = step.samples[b, VALUE, m], step.sides[m]
    start, rate, weak = step.samples[0, VALUE, m], step.samples[0, RATE, m], held(run, m)
    at_zero = abs(start) / near(run, m, t, rate)
    again = at_zero <= 100 and side * rate >= 0.0 and (watch.rated == 1 or at_zero > 1)  # it has just fired
    # on the dense output what is held at zero is off it: that tells nothing
    if weak and b != END and abs(x) < OFF * run.events.scale[m]:
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
        if not enabled(run, m, p):
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
            if run.program.events[m].rated == 1 and enabled(run, m, p) and not held(run, m):
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


@compiled
def sides_at_start(run):
    """Which side every function comes from."""
    events, step = run.events, run.step
    for m in range(events.due.size):
        events.due[m], step.sides[m] = 0, events.side[m]
        if (
            run.program.events[m].rated == 0 and events.side[m] == 1
        ):  # without a rate, what stands at zero may go either way
            if abs(step.samples[0, VALUE, m]) <= near(run, m, run.kept.time, 0.0):
                step.sides[m] = 0


@compiled
def first(run, i, p):
    """Whether some event fires in the step: as `crossings`; -2 where a fixed step is too long for a function."""
    events, step, h = run.events, run.step, run.step.span
    ask.differential(run.kernels[i], run.scratch, step.u1, step.rate1, step.k1)
    sides_at_start(run)
    if not events.followed > 0.0:
        events.followed = 0.125 * h  # cautiously
    low, a, c, parts, refused = 0.0, 0, 1, 0, False
    while low < 1.0:
        pace = fastest_of(run, step.samples[a], p)
        longest = events.followed = min(events.followed, PHASE / pace) if pace > 0.0 else events.followed
        part = longest / h
        high = 1.0 if part > 0.8 * (1.0 - low) else low + part
        if high < 1.0:
            dense(run, i, high, step.samples[c])
        right = c if high < 1.0 else END
        middle = low + MIDDLE * (high - low)
        dense(run, i, middle, step.samples[3])
        off = departure(run, (high - low) * h, a, 3, right, p)
        parts += 1
        if off > 1.0 and high - low > FINEST * (min(1.0, PHASE / (h * pace)) if pace > 0.0 else 1.0):
            events.followed, refused = 0.5 * (high - low) * h, True
            continue
        if off < 0.05 and not refused and (high - low) * h >= 0.8 * longest:
            events.followed = 2.0 * longest
        refused = False
        found = between(run, i, low, middle, a, 3, p)
        if found == 0:
            found = between(run, i, middle, high, 3, right, p)
        if found != 0:
            return found
        if parts > 100 * MANY:
            return -2
        low, a, c = high, right, 3 - c
    return 0
