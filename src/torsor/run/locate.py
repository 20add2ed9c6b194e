"""The instant of an event within a step.

Looking through the step (`watching`) tells that something happens and nearly when. The instant itself is a root of the
method: of the watched function after a step of the method of just that length, from the same start. Nothing is lost by
interpolation that way, so that every method keeps its order across events. A function that is zero at the start of the
step, because it has just fired, is divided by θ, which leaves its next root however close that is.
"""

import numpy as np
from numba import njit

from .codes import NOT_A_NUMBER
from .compiled import PLAIN
from .loop import FINISHED, RUNNING, march
from .records import copy
from .switch import FALLING, FALLING_AGAIN, FLAT, RISING, RISING_AGAIN, enabled, kernels_of, near, restore
from .watching import dense, watched


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
    """Go to the first instant of the events that are due, or of another one that turns out to be earlier. Returns a status."""
    status = root(program, table, raw, s, plan, state, events, i, trial)
    for _ in range(events.due.size):
        if status != RUNNING or not earlier(program, events, trial, state):
            break
        status = root(program, table, raw, s, plan, state, events, i, trial)
    return status


@njit(**PLAIN)
def earlier(program, events, trial, state):
    """Whether a function has fallen through zero before the instant that was found: then that is looked for instead."""
    theta, found = (state.values[0] - trial.values0[0]) / trial.target[1], False
    for m in range(events.due.size):
        if events.due[m] != 0 or trial.sides[m] != 1 or not enabled(program, events, m, trial.p0):
            continue
        close = near(events, m, state.values[0], trial.phi[events.due.size + m])
        if trial.phi[m] < -100 * close and trial.bracket[0] < theta < trial.bracket[1]:
            if not found:
                for l in range(events.due.size):
                    events.due[l] = 0
            events.due[m], found = FALLING, True
    if found:
        trial.bracket[1] = theta
    return found


@njit(**PLAIN)
def root(program, table, raw, s, plan, state, events, i, trial):
    """Go to the first instant of the events that are due, by steps of the method. Returns a status."""
    k = kernels_of(table, i)
    t0, h = trial.values0[0], trial.target[1]
    theta = on_dense_output(program, table, s, plan, events, i, trial)
    margins = 0.1 * (trial.bracket[1] - trial.bracket[0])  # the root of the method may be a little off the bracket
    low, high = max(0.0, trial.bracket[0] - margins), min(1.0, trial.bracket[1] + margins)
    last, value, slope = theta, 0.0, np.nan
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
    if not some(program, events, trial, state, False):  # the dense output has seen what is not there: on to its end
        status = step_to(table, raw, s, state, i, trial, t0 + high * h)
        if status != RUNNING:
            return status
        watched(k, s, plan, table, i, state.values[0], state.q, state.v, state.p, trial.phi)
    copy(trial.phi, events.phi)
    some(program, events, trial, state, True)
    return RUNNING


@njit(**PLAIN)
def some(program, events, trial, state, mark):
    """Whether any of the events that are due in the step are due at the state reached, and not later; `mark`: only they are
    due from now on."""
    any = False
    for m in range(events.due.size):
        if events.due[m] > 0:
            rises = events.due[m] == RISING or events.due[m] == RISING_AGAIN
            x, rate = -trial.phi[m] if rises else trial.phi[m], trial.phi[events.due.size + m]
            close = near(events, m, state.values[0], rate)
            change = abs(rate * trial.target[1])
            moves = program.events[m, 7] == 0 or events.due[m] == FLAT or change > 10 * close  # or is held there
            here = (x <= 100 * close and moves) or x < -100 * close
            any = any or here
            if mark:
                events.due[m] = 1 if here else 0
    return any
