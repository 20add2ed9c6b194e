"""Looking through a step for events.

A step is looked through on a dense output, cubic in the algebra and in the velocities:

    u(θ) = h₁ u₁ + h₂ h v₀ + h₃ h dexp⁻¹(u₁) v₁,    q(θ) = q₀ · exp(u(θ))                               (1)
    v(θ) = (1 − h₁) v₀ + h₁ v₁ + h₂ h v̇₀ + h₃ h v̇₁                                                     (2)
    h₁ = 3θ² − 2θ³,   h₂ = θ − 2θ² + θ³,   h₃ = θ³ − θ²

in parts that follow from the watched functions alone. A part is at most as long as the pace of each of them allows (see
`pace`), and so short that a sample within it lies on the cubic through values and rates at its ends; parts grow by and by
where that holds well. Within a part a function that has a rate is searched for its extremum where that comes near zero, so
that a dip is seen however short it is.
"""

import numpy as np
from numba import njit

from ..kernels.calls import call
from .compiled import INLINE, PLAIN
from .records import accelerate, copy
from .switch import (
    AT_START,
    BENT,
    END,
    FALLING,
    FALLING_AGAIN,
    FINEST,
    FLAT,
    FOLLOWED,
    LEAVES,
    MANY,
    MIDDLE,
    OFF,
    PHASE,
    QUIET,
    RISING,
    RISING_AGAIN,
    ROUGH,
    enabled,
    kernels_of,
    near,
)


@njit(**INLINE)
def watched(k, s, plan, table, i, t, q, v, p, phi):
    """Values, rates and paces of all watched functions at a state; accelerations and multipliers are left in s.a, s.lam."""
    accelerate(k, s, plan, t, q, v, p, phi.size < 0, s.a)
    call(table.addresses[i, 11], (s.t, q, v, p, s.a, s.lam, phi, s.work))


@njit(**PLAIN)
def dense(table, s, plan, i, trial, theta, phi):
    """Watched functions on the dense output: (1), (2)."""
    k = kernels_of(table, i)
    t0, h = trial.values0[0], trial.target[1]
    h1, h2, h3 = (3 - 2 * theta) * theta**2, theta * (1 - theta) ** 2, (theta - 1) * theta**2
    for m in range(trial.v0.size):
        rates = h2 * trial.a0[m] + h3 * trial.a1[m]
        trial.vs[m] = (1 - h1) * trial.v0[m] + h1 * trial.v1[m] + h * rates  # (2)
        trial.us[m] = h1 * trial.u1[m] + h * (h2 * trial.v0[m] + h3 * trial.w1[m])  # (1)
    call(k.retract, (trial.q0, trial.us, trial.qs, s.work))
    watched(k, s, plan, table, i, t0 + theta * h, trial.qs, trial.vs, trial.p0, phi)


@njit(**PLAIN)
def ends(table, s, plan, i, state, events, trial):
    """Watched functions at both ends of the step just taken."""
    copy(events.phi, trial.samples[0])
    copy(s.A[0], trial.a0)
    copy(s.u, trial.u1)
    copy(state.v, trial.v1)
    trial.target[1] = state.values[0] - trial.values0[0]
    k = kernels_of(table, i)
    watched(k, s, plan, table, i, state.values[0], state.q, state.v, state.p, trial.samples[END])
    copy(s.a, trial.a1)


@njit(**PLAIN)
def quiet(program, events, trial, p):
    """Whether the step is no longer than functions have been followed in, and all stay far from zero compared with how they
    change: nothing to be looked for."""
    n, h = events.due.size, trial.target[1]
    if h > events.values[6]:
        return False
    for m in range(n):
        if not enabled(program, events, m, p):
            continue
        x0, x1 = trial.samples[0, m], trial.samples[END, m]
        change = h * max(abs(trial.samples[0, n + m]), abs(trial.samples[END, n + m]))
        if program.events[m, 7] == 0:
            change = 5 * abs(x1 - x0)
        if not (x0 * x1 > 0.0 and change < QUIET * min(abs(x0), abs(x1))):
            return False
        if h * max(trial.samples[0, 2 * n + m], trial.samples[END, 2 * n + m]) > PHASE:
            return False
    return True


@njit(**PLAIN)
def fastest(program, events, phi, p):
    """The largest pace of the functions that are watched."""
    n, pace = events.due.size, 0.0
    for m in range(n):
        if phi[2 * n + m] > pace and enabled(program, events, m, p):
            pace = phi[2 * n + m]
    return pace


@njit(**PLAIN)
def allowed(program, events, phi, p):
    """The longest part of a step that the paces of the functions allow from here on."""
    pace = fastest(program, events, phi, p)
    return min(events.values[6], PHASE / pace) if pace > 0.0 else events.values[6]


@njit(**PLAIN)
def departure(program, events, trial, part, a, b, c, p):
    """How far the functions are from what is expected within a part of length `part`, over what is allowed: 1 is too far.

    a, b, c: samples at its start, within it (at MIDDLE) and at its end. What has a rate is compared with the cubic through
    values and rates at the ends, what has none with the line.
    """
    x, n, z, worst = trial.samples, events.due.size, MIDDLE, 0.0
    for m in range(n):
        if not enabled(program, events, m, p):
            continue
        size = max(abs(x[a, m]), abs(x[b, m]), abs(x[c, m]))
        if program.events[m, 7] == 1:
            values = (1 - z) ** 2 * (1 + 2 * z) * x[a, m] + z**2 * (3 - 2 * z) * x[c, m]
            rates = z * (1 - z) ** 2 * x[a, n + m] - z**2 * (1 - z) * x[c, n + m]
            off, most = abs(values + part * rates - x[b, m]), FOLLOWED * size + ROUGH * events.scale[m]
        else:
            off, most = abs((1 - z) * x[a, m] + z * x[c, m] - x[b, m]), BENT * size + ROUGH * events.scale[m]
        if off > worst * most:
            worst = off / most
        if max(x[b, 2 * n + m], x[c, 2 * n + m]) * part > 2 * PHASE:
            return np.inf
    return worst


@njit(**INLINE)
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


@njit(**PLAIN)
def extremum(table, s, plan, events, i, trial, m, sign, low, high, a, b):
    """Where between two samples a function, times `sign`, dips below zero, as the dense output has it; -1 where it does not."""
    n, h = events.due.size, trial.target[1]
    x0, r0 = sign * trial.samples[a, m], sign * h * trial.samples[a, n + m]
    x1, r1 = sign * trial.samples[b, m], sign * h * trial.samples[b, n + m]
    size = max(abs(x0), abs(x1))
    for turn in range(10):
        part = high - low
        z, least = lowest(x0, part * r0, x1, part * r1)
        if z < 0.0 or least > (FOLLOWED * size if turn == 0 else 0.5 * min(x0, x1)):
            return -1.0
        theta = low + z * part
        if not low < theta < high:
            return -1.0
        dense(table, s, plan, i, trial, theta, trial.phi)
        x, r = sign * trial.phi[m], sign * h * trial.phi[n + m]
        if x < -near(events, m, trial.values0[0], trial.phi[n + m]):
            return theta
        if r < 0.0:
            low, x0, r0 = theta, x, r
        else:
            high, x1, r1 = theta, x, r
    return -1.0


@njit(**INLINE)
def held(events, trial, m):
    """Whether a function is zero at the start of the step and shows no tendency to leave."""
    x, rate = trial.samples[0, m], trial.samples[0, events.due.size + m]
    return abs(x) <= near(events, m, trial.values0[0], rate) and not abs(rate) > LEAVES * events.speed[m]


@njit(**PLAIN)
def start_side(program, events, trial, m, weak, x):
    """The side on which a function leaves zero, where it stood at the start of the step; x is a sample after it."""
    rate = trial.samples[0, events.due.size + m]
    close = near(events, m, trial.values0[0], rate)
    if program.events[m, 7] == 1 and not weak and abs(rate) * trial.target[1] > close:
        return 1 if rate > 0.0 else -1
    return 1 if x > close else (-1 if x < -close else 0)


@njit(**PLAIN)
def crossings(program, events, trial, low, high, a, b, p):
    """Whether some event fires between two samples: 1, and where in trial.bracket; 0 if none does; -1 where a function is no
    number. Marks the events concerned as due: falling, rising, either of them again, or at the very start."""
    n, found = events.due.size, False
    for m in range(n):
        if not enabled(program, events, m, p):
            continue
        x = trial.samples[b, m]
        if np.isnan(x):
            events.marks[5] = m
            return -1
        side = trial.sides[m]
        start, rate, weak = trial.samples[0, m], trial.samples[0, n + m], held(events, trial, m)
        at_zero = abs(start) / near(events, m, trial.values0[0], rate)
        rated = program.events[m, 7] == 1
        again = at_zero <= 100 and side * rate >= 0.0 and (rated or at_zero > 1)  # it has just fired
        # on the dense output what is held at zero is off it: that tells nothing
        if weak and b != END and abs(x) < OFF * events.scale[m]:
            continue
        close = near(events, m, trial.values0[0], trial.samples[b, n + m])
        if side == 0:
            side = start_side(program, events, trial, m, weak, x)
            if side == -1:
                events.due[m], found = AT_START, True
                continue
        elif a == 0 and at_zero <= 1 and not weak and side * rate < 0.0 and (side == 1 or program.events[m, 2] == 1):
            events.due[m], found = AT_START, True  # it passes zero just there
            continue
        if side == 1 and x < -close:
            events.due[m], found = FALLING_AGAIN if again else FALLING, True
        elif side == 1 and x == 0.0 and program.events[m, 0] == 1 and program.events[m, 1] == 0:
            events.due[m], found = FLAT, True
        elif side == -1 and x > close and program.events[m, 2] == 1:
            events.due[m], found = RISING_AGAIN if again else RISING, True
        else:
            trial.sides[m] = 1 if x > close else (-1 if x < -close else side)
    if found:
        trial.bracket[0], trial.bracket[1] = low, high
    return 1 if found else 0


@njit(**PLAIN)
def between(program, table, s, plan, i, events, trial, low, high, a, b, p):
    """As `crossings`, with further samples where functions pass zero and come back."""
    n, spare = events.due.size, 4
    for _ in range(2 * n):
        split = high
        for m in range(n):
            if program.events[m, 7] == 1 and enabled(program, events, m, p) and not held(events, trial, m):
                side = trial.sides[m] if trial.sides[m] != 0 else 1
                theta = extremum(table, s, plan, events, i, trial, m, side, low, high, a, b)
                split = theta if 0.0 < theta < split else split
        if split == high:
            break
        dense(table, s, plan, i, trial, split, trial.samples[spare])
        found = crossings(program, events, trial, low, split, a, spare, p)
        if found != 0:
            return found
        low, a, spare = split, spare, 9 - spare
    return crossings(program, events, trial, low, high, a, b, p)


@njit(**PLAIN)
def first(program, table, s, plan, i, state, events, trial, p):
    """Whether some event fires in the step: as `crossings`; -2 where a fixed step is too long for a function."""
    n, h, k = events.due.size, trial.target[1], kernels_of(table, i)
    call(k.differential, (trial.u1, state.v, trial.w1, s.work))
    for m in range(n):
        events.due[m], trial.sides[m] = 0, events.side[m]
        if program.events[m, 7] == 0 and events.side[m] == 1:  # without a rate, what stands at zero may go either way
            if abs(trial.samples[0, m]) <= near(events, m, trial.values0[0], 0.0):
                trial.sides[m] = 0
    if not events.values[6] > 0.0:
        events.values[6] = 0.125 * h  # cautiously
    low, a, c, parts, refused = 0.0, 0, 1, 0, False
    while low < 1.0:
        longest = events.values[6] = allowed(program, events, trial.samples[a], p)
        part = longest / h
        high = 1.0 if part > 0.8 * (1.0 - low) else low + part
        if high < 1.0:
            dense(table, s, plan, i, trial, high, trial.samples[c])
        right = c if high < 1.0 else END
        middle = low + MIDDLE * (high - low)
        dense(table, s, plan, i, trial, middle, trial.samples[3])
        off = departure(program, events, trial, (high - low) * h, a, 3, right, p)
        parts += 1
        if off > 1.0 and high - low > FINEST * min(1.0, PHASE / (h * fastest(program, events, trial.samples[a], p))):
            events.values[6], refused = 0.5 * (high - low) * h, True
            continue
        if off < 0.05 and not refused and (high - low) * h >= 0.8 * longest:
            events.values[6] = 2.0 * longest
        refused = False
        found = between(program, table, s, plan, i, events, trial, low, middle, a, 3, p)
        if found == 0:
            found = between(program, table, s, plan, i, events, trial, middle, high, 3, right, p)
        if found != 0:
            return found
        if parts > 100 * MANY:
            return -2
        low, a, c = high, right, 3 - c
    return 0
