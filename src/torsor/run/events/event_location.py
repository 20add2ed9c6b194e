"""The instant of an event within a step.

Looking through the step (`watching`) finds that something happens and nearly when. The instant itself is a root of the
method: of the watched function after a step of the method of just that length, from the same start. Nothing is lost by
interpolation that way, so that every method keeps its order across events. A function that is zero at the start of the
step, because it has just fired, is divided by θ, which leaves its next root however close that is.
"""

import numpy as np

from ...kernels.compiled import compiled
from ...methods.continuous_extension import begins, ends_here
from ...methods.status_codes import ACCEPTED, REJECTED, RUNNING
from ...methods.vector_functions import copy
from ...prepare.event_codes import NOT_A_NUMBER
from ...prepare.event_records import RATE, VALUE
from ..attempt import attempt
from ..step_outputs import output_within_step, write_outputs_within_step
from .event_tolerances import FALLING, FALLING_AGAIN, FLAT, RISING, RISING_AGAIN, go_back, is_watched, near
from .step_interpolation import dense, watch


@compiled
def margin(run, theta, phi):
    """The least of the functions that are due, each turned so that it falls and over its size, and its slope in θ: zero at
    the first. Not a number where a function is none."""
    events, least, slope = run.events, np.inf, np.nan
    for m in range(events.due.size):
        how = events.due[m]
        if how == 0:
            continue
        sign = -1.0 if how == RISING or how == RISING_AGAIN else 1.0
        size = events.scale[m] if events.scale[m] > 0.0 else 1.0
        x, r = sign * phi[VALUE, m] / size, sign * phi[RATE, m] * run.step.span / size
        if how == FALLING_AGAIN or how == RISING_AGAIN:
            x, r = (x / theta, (r - x / theta) / theta) if theta > 0.0 else (r, np.nan)
        if how == FLAT:
            x, r = x if x > 0.0 else -1e-300, np.nan
        if np.isnan(x):
            return x, x
        if x < least:
            least, slope = x, r if run.program.events[m].rated == 1 else np.nan
    return least, slope


@compiled
def step_to(run, i, t, delivers):
    """From the state before the step to time t, by the method itself; outputs on the way are written where the last step that
    leads there is taken. Returns a status."""
    go_back(run)
    for _ in range(40):
        if run.state.time >= t:
            return RUNNING
        begins(run, i)
        status = attempt(run, i, t)
        if status != ACCEPTED and status != REJECTED:
            return status
        if status == ACCEPTED:
            ends_here(run)
            if delivers:
                write_outputs_within_step(run)
    return RUNNING


@compiled
def look(run, i):
    """Watched functions at the state that a step has led to."""
    state = run.state
    watch(run, i, state.time, state.xs[state.at], state.p, run.scratch.xdot, run.step.phi)


@compiled
def on_dense_output(run, i):
    """The first instant as the dense output has it, by false position with halving."""
    step = run.step
    x, y = step.low, step.high
    dense(run, i, y, step.phi)
    fy, _ = margin(run, y, step.phi)
    if x == 0.0:
        fx, _ = margin(run, x, step.samples[0])
    else:
        dense(run, i, x, step.phi)
        fx, _ = margin(run, x, step.phi)
    theta, weight_x, weight_y = y, fx, fy
    for _ in range(40):
        theta = x + (y - x) * weight_x / (weight_x - weight_y) if weight_x > weight_y else 0.5 * (x + y)
        if not x < theta < y:
            theta = 0.5 * (x + y)
        dense(run, i, theta, step.phi)
        f, _ = margin(run, theta, step.phi)
        if abs(f) < 1e-11 or y - x < 1e-11 * y:
            break
        if f > 0.0:
            x, weight_x, weight_y = theta, f, 0.5 * weight_y
        else:
            y, weight_y, weight_x = theta, f, 0.5 * weight_x
    return theta


@compiled
def locate(run, i):
    """Go to the first instant of the events that are due, or of another one that turns out to be earlier. Returns a status."""
    status = root(run, i)
    for _ in range(run.events.due.size):
        if status != RUNNING or not earlier(run):
            break
        status = root(run, i)
    if status == RUNNING and output_within_step(run):
        if run.span.start > run.kept.time:  # several steps have led there: again, for outputs within each
            return step_to(run, i, run.state.time, True)
        write_outputs_within_step(run)
    return status


@compiled
def earlier(run):
    """Whether a function has fallen through zero before the instant that was found: then that is looked for instead."""
    events, step, t = run.events, run.step, run.state.time
    theta, found = (t - run.kept.time) / step.span, False
    for m in range(events.due.size):
        if events.due[m] != 0 or step.sides[m] != 1 or not is_watched(run, m, run.kept.p):
            continue
        close = near(run, m, t, step.phi[RATE, m])
        if step.phi[VALUE, m] < -100 * close and step.low < theta < step.high:
            if not found:
                for l in range(events.due.size):
                    events.due[l] = 0
            events.due[m], found = FALLING, True
    if found:
        step.high = theta
    return found


@compiled
def root(run, i):
    """Go to the first instant of the events that are due, by steps of the method. Returns a status."""
    events, step, t0, h = run.events, run.step, run.kept.time, run.step.span
    theta = on_dense_output(run, i)
    margins = 0.1 * (step.high - step.low)  # the root of the method may be a little off the bracket
    low, high = max(0.0, step.low - margins), min(1.0, step.high + margins)
    last, value, slope = theta, 0.0, np.nan
    flat = False
    for m in range(events.due.size):
        flat = flat or events.due[m] == FLAT
    for turn in range(60):
        status = step_to(run, i, t0 + theta * h, False)
        if status != RUNNING:
            return status
        look(run, i)
        f, rate = margin(run, theta, step.phi)
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
    if not due_here(run, False):  # the dense output has seen what is not there: on to its end
        status = step_to(run, i, t0 + high * h, False)
        if status != RUNNING:
            return status
        look(run, i)
    for row in range(3):
        copy(step.phi[row], events.phi[row])
    due_here(run, True)
    return RUNNING


@compiled
def due_here(run, mark):
    """Whether any of the events that are due in the step are due at the state reached, and not later; `mark`: only they are
    due from now on."""
    events, step, any = run.events, run.step, False
    for m in range(events.due.size):
        how = events.due[m]
        if how > 0:
            rises = how == RISING or how == RISING_AGAIN
            x, rate = -step.phi[VALUE, m] if rises else step.phi[VALUE, m], step.phi[RATE, m]
            close = near(run, m, run.state.time, rate)
            moves = (
                run.program.events[m].rated == 0 or how == FLAT or abs(rate * step.span) > 10 * close
            )  # or is held there
            here = (x <= 100 * close and moves) or x < -100 * close
            any = any or here
            if mark:
                events.due[m] = 1 if here else 0
    return any
