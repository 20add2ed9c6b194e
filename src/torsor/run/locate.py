"""Where within a step an event happens.

A step is looked through on a dense output, cubic in the algebra and in the velocities:

    u(θ) = h₁ u₁ + h₂ h v₀ + h₃ h dexp⁻¹(u₁) v₁,    q(θ) = q₀ · exp(u(θ))                               (1)
    v(θ) = (1 − h₁) v₀ + h₁ v₁ + h₂ h v̇₀ + h₃ h v̇₁                                                     (2)
    h₁ = 3θ² − 2θ³,   h₂ = θ − 2θ² + θ³,   h₃ = θ³ − θ²

which tells that something happens and nearly when; between two samples a function that has a rate is taken for the cubic
through its values and rates, so that a short dip is seen. The instant itself is a root of the method: of the watched
function after a step of the method of just that length, from the same start. Nothing is lost by interpolation that way, so
that every method keeps its order across events. A function that is zero at the start of the step, because it has just fired,
is divided by θ, which leaves its next root however close that is.
"""

import numpy as np
from numba import njit

from ..kernels.calls import call
from .codes import NOT_A_NUMBER
from .compiled import INLINE, PLAIN
from .loop import FINISHED, RUNNING, march
from .records import accelerate, copy
from .switch import (
    AT_START,
    FALLING,
    FALLING_AGAIN,
    FLAT,
    FOLLOWED,
    OFF,
    PLACES,
    QUIET,
    RISING,
    RISING_AGAIN,
    SAMPLES,
    enabled,
    kernels_of,
    near,
    restore,
)


@njit(**INLINE)
def watched(k, s, plan, table, i, t, q, v, p, phi):
    """Values and rates of all watched functions at a state; accelerations and multipliers are left in s.a and s.lam."""
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
    watched(k, s, plan, table, i, state.values[0], state.q, state.v, state.p, trial.samples[SAMPLES - 1])
    copy(s.a, trial.a1)


@njit(**PLAIN)
def quiet(program, events, trial, p):
    """Whether all functions stay far from zero in the step, compared with how they change: nothing to be looked for."""
    n, h, last = events.due.size, trial.target[1], SAMPLES - 1
    for m in range(n):
        if not enabled(program, events, m, p):
            continue
        x0, x1 = trial.samples[0, m], trial.samples[last, m]
        change = h * max(abs(trial.samples[0, n + m]), abs(trial.samples[last, n + m]))
        if program.events[m, 7] == 0:
            change = 5 * abs(x1 - x0)
        if not (x0 * x1 > 0.0 and change < QUIET * min(abs(x0), abs(x1))):
            return False
    return True


@njit(**PLAIN)
def samples(table, s, plan, i, state, trial):
    """Watched functions within the step, on the dense output."""
    k = kernels_of(table, i)
    call(k.differential, (trial.u1, state.v, trial.w1, s.work))
    for j in range(1, SAMPLES - 1):
        dense(table, s, plan, i, trial, PLACES[j], trial.samples[j])


@njit(**INLINE)
def dip(x0, r0, x1, r1):
    """Where in (0, 1) the cubic with these values and rates at its ends is least, where it falls first; else -1."""
    if not (r0 < 0.0 < r1):
        return -1.0
    a, b = r0 + r1 - 2 * (x1 - x0), 3 * (x1 - x0) - 2 * r0 - r1  # x0 + r0 z + b z² + a z³
    root = b**2 - 3 * a * r0
    if root < 0.0:
        return -1.0
    z = -r0 / (b + np.sqrt(root))
    return z if 0.0 < z < 1.0 and x0 + z * (r0 + z * (b + z * a)) < 0.0 else -1.0


@njit(**PLAIN)
def departure(program, events, trial, m, n):
    """How far a function is from the cubics through its samples, over its size.

    The middle value is compared with the cubic through the four others, and the inner ones with the cubics through values
    and rates of their neighbours: what does not follow them has not been seen well enough.
    """
    x, h = trial.samples, trial.target[1]
    others, guess = (0, 1, 3, 4), 0.0
    for a in others:
        weight = 1.0
        for b in others:
            if a != b:
                weight *= (PLACES[2] - PLACES[b]) / (PLACES[a] - PLACES[b])
        guess += weight * x[a, m]
    worst = abs(guess - x[2, m])
    if program.events[m, 7] == 1:
        for j in range(1, SAMPLES - 1):
            part = PLACES[j + 1] - PLACES[j - 1]
            z = (PLACES[j] - PLACES[j - 1]) / part
            ends = (1 - z) ** 2 * (1 + 2 * z) * x[j - 1, m] + z**2 * (3 - 2 * z) * x[j + 1, m]
            rates = z * (1 - z) ** 2 * x[j - 1, n + m] - z**2 * (1 - z) * x[j + 1, n + m]
            worst = max(worst, abs(ends + part * h * rates - x[j, m]))
    return worst / events.scale[m] if events.scale[m] > 0.0 else 0.0


@njit(**PLAIN)
def too_long(program, events, trial, p):
    """Whether the step is too long for the functions that are watched; keeps the longest step that is not."""
    worst, h = 0.0, trial.target[1]
    for m in range(events.due.size):
        if enabled(program, events, m, p):
            worst = max(worst, departure(program, events, trial, m, events.due.size))
    if worst > FOLLOWED and events.marks[7] < 12:
        events.values[6] = 0.5 * h
        events.marks[7] += 1
        return True
    if worst < 0.05 * FOLLOWED and h >= 0.9 * events.values[6]:
        events.values[6] *= 2.0
    events.marks[7] = 0
    return False


@njit(**PLAIN)
def start_side(program, events, m, t, rate, after):
    """The side on which a function leaves zero, where it stood at the start of the step."""
    close = near(events, m, t, rate)
    if program.events[m, 7] == 1 and abs(rate) > close:
        return 1 if rate > 0.0 else -1
    return 1 if after > close else (-1 if after < -close else 0)


@njit(**PLAIN)
def first(program, table, s, plan, i, events, trial, p):
    """Whether some event fires in the step: 1, and where in trial.bracket; 0 if none does; -1 where a function is no number.

    Marks the events concerned as due: falling, rising, either of them again, or at the very start.
    """
    n = events.due.size
    for m in range(n):
        events.due[m], trial.sides[m] = 0, events.side[m]
    for j in range(1, SAMPLES):
        found, low, high = False, PLACES[j - 1], PLACES[j]
        width = high - low
        part = trial.target[1] * width
        for m in range(n):
            if not enabled(program, events, m, p):
                continue
            x0, x1 = trial.samples[j - 1, m], trial.samples[j, m]
            r0, r1 = part * trial.samples[j - 1, n + m], part * trial.samples[j, n + m]
            if np.isnan(x1):
                events.marks[5] = m
                return -1
            side = trial.sides[m]
            close = near(events, m, trial.values0[0], trial.samples[j, n + m])
            if side == 0:
                side = start_side(program, events, m, trial.values0[0], r0, x1)
                if side == -1:
                    events.due[m], found = AT_START, True
                    continue
            again = abs(trial.samples[0, m]) <= near(events, m, trial.values0[0], trial.samples[0, n + m])
            falls, rises = (FALLING_AGAIN, RISING_AGAIN) if again else (FALLING, RISING)
            if side == 1 and x1 < -close:
                events.due[m], found = falls, True
            elif side == 1 and x1 == 0.0 and program.events[m, 0] == 1 and program.events[m, 1] == 0:
                events.due[m], found = FLAT, True
            elif side == -1 and x1 > close and program.events[m, 2] == 1:
                events.due[m], found = rises, True
            elif program.events[m, 7] == 1 and (side == 1 or (side == -1 and program.events[m, 2] == 1)):
                z = dip(side * x0, side * r0, side * x1, side * r1)
                if z > 0.0:
                    dense(table, s, plan, i, trial, low + z * width, trial.phi)
                    if side * trial.phi[m] < -close:
                        events.due[m], found = (falls if side == 1 else rises), True
                        high = min(high, low + z * width)
            # on the dense output what is held at zero is off it: that does not make a condition false again
            if side >= 0 or j == SAMPLES - 1 or x1 > OFF * events.scale[m]:
                trial.sides[m] = 1 if x1 > close else (-1 if x1 < -close else side)
        if found:
            trial.bracket[0], trial.bracket[1] = low, high
            return 1
    return 0


@njit(**PLAIN)
def margin(program, events, trial, theta, phi):
    """The least of the functions that are due, each turned so that it falls and over its size, and its slope in θ: zero at
    the first. Not a number where a function is none."""
    n, least, slope = events.due.size, np.inf, np.nan
    for m in range(n):
        if events.due[m] == 0:
            continue
        sign = -1.0 if events.due[m] == RISING or events.due[m] == RISING_AGAIN else 1.0
        size = events.scale[m] if events.scale[m] > 0.0 else 1.0
        x, r = sign * phi[m] / size, sign * phi[n + m] * trial.target[1] / size
        if events.due[m] == FALLING_AGAIN or events.due[m] == RISING_AGAIN:
            x, r = (x / theta, (r - x / theta) / theta) if theta > 0.0 else (r, np.nan)
        if events.due[m] == FLAT:
            x, r = x if x > 0.0 else -1e-300, np.nan
        if np.isnan(x):
            return x, x
        if x < least:
            least, slope = x, r if program.events[m, 7] == 1 else np.nan
    return least, slope


@njit(**PLAIN)
def step_to(table, raw, s, state, i, trial, t):
    """From the state before the step to time t, by the method itself. Returns a status."""
    restore(s, state, trial)
    trial.target[0] = t
    for _ in range(40):
        if state.values[0] >= t:
            return RUNNING
        state.counts[2] = 0
        status = march(kernels_of(table, i), *raw, trial.target[:1], t, trial.oq, trial.ov, trial.op, trial.ow, 1)
        if status != RUNNING and status != FINISHED:
            return status
    return RUNNING


@njit(**PLAIN)
def on_dense_output(program, table, s, plan, events, i, trial):
    """The first instant as the dense output has it, by false position with halving."""
    x, y = trial.bracket[0], trial.bracket[1]
    dense(table, s, plan, i, trial, y, trial.phi)
    fy, _ = margin(program, events, trial, y, trial.phi)
    if x == 0.0:
        fx, _ = margin(program, events, trial, x, trial.samples[0])
    else:
        dense(table, s, plan, i, trial, x, trial.phi)
        fx, _ = margin(program, events, trial, x, trial.phi)
    theta, weight_x, weight_y = y, fx, fy
    for _ in range(40):
        theta = x + (y - x) * weight_x / (weight_x - weight_y) if weight_x > weight_y else 0.5 * (x + y)
        if not x < theta < y:
            theta = 0.5 * (x + y)
        dense(table, s, plan, i, trial, theta, trial.phi)
        f, _ = margin(program, events, trial, theta, trial.phi)
        if abs(f) < 1e-11 or y - x < 1e-11 * y:
            break
        if f > 0.0:
            x, weight_x, weight_y = theta, f, 0.5 * weight_y
        else:
            y, weight_y, weight_x = theta, f, 0.5 * weight_x
    return theta


@njit(**PLAIN)
def locate(program, table, raw, s, plan, state, events, i, trial):
    """Go to the first instant of the events that are due. Returns a status."""
    k = kernels_of(table, i)
    t0, h = trial.values0[0], trial.target[1]
    theta = on_dense_output(program, table, s, plan, events, i, trial)
    low, high, last, value, slope = 0.0, 1.0, theta, 0.0, np.nan
    flat = False
    for m in range(events.due.size):
        flat = flat or events.due[m] == FLAT
    for turn in range(60):
        status = step_to(table, raw, s, state, i, trial, t0 + theta * h)
        if status != RUNNING:
            return status
        watched(k, s, plan, table, i, state.values[0], state.q, state.v, state.p, trial.phi)
        f, rate = margin(program, events, trial, theta, trial.phi)
        if np.isnan(f):
            return NOT_A_NUMBER
        slope = rate if not np.isnan(rate) else ((f - value) / (theta - last) if turn > 0 and theta != last else np.nan)
        if f > 0.0:
            low = max(low, theta)
        else:
            high = min(high, theta)
        last, value = theta, f
        least = 2.3e-16 * max(abs(t0 + theta * h), h) / h
        if f == 0.0 or high - low <= least:
            break
        if flat:
            theta = 0.5 * (low + high)
        elif slope < 0.0:
            theta = last - value / slope
        elif turn == 0:  # no slope yet: a little further in the direction of the root
            theta = min(1.0, last * (1 + 1e-7)) if f > 0.0 else last * (1 - 1e-7)
        else:
            theta = 0.5 * (low + high)
        if abs(theta - last) <= least:
            break
        if not low < theta < high or turn > 15:
            theta = 0.5 * (low + high)
    copy(trial.phi, events.phi)
    for m in range(events.due.size):  # those that are due at this instant, and not later in the step
        if events.due[m] > 0:
            rises = events.due[m] == RISING or events.due[m] == RISING_AGAIN
            x = -trial.phi[m] if rises else trial.phi[m]
            rate = trial.phi[events.due.size + m]
            close = near(events, m, state.values[0], rate)
            moves = program.events[m, 7] == 0 or events.due[m] == FLAT or abs(rate * h) > 10 * close  # or is held there
            events.due[m] = 1 if x <= 100 * close and moves else 0
    return RUNNING
