"""The instant of an event within a step.

The search of the step (`event_detection`) finds that an event fires, and nearly when. The instant itself is a root of the watched
function at the end of a step of that length from the same start. No interpolation error enters, so every method keeps its order
across events. A function that is zero at the start of the step, because its event has just fired, is divided by θ: this removes
the root at θ = 0 and keeps the next one, however close it is.
"""

import numpy as np

from ...kernels.compiled import compiled
from ...methods.continuous_extension import begin_step, end_step
from ...methods.status_codes import ACCEPTED, REJECTED, RUNNING
from ...methods.vector_functions import copy
from ...prepare.event_codes import NOT_A_NUMBER
from ...prepare.event_records import RATE, VALUE
from ..attempt import attempt
from ..step_outputs import output_within_step, write_outputs_within_step
from .event_tolerances import (
    FALLING,
    FALLING_AGAIN,
    FLAT,
    RISING,
    RISING_AGAIN,
    is_watched,
    restore_step_start,
    zero_tolerance,
)
from .step_interpolation import evaluate_guards, evaluate_within_step


@compiled
def smallest_margin(run, theta, phi):
    """The smallest value of the functions of due events, and its slope in θ. It is zero at the first event.

    Each function is divided by its size; the sign of rising functions is changed, so that all fall. Both are nan if a function is.
    """
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
    """Integrate from the start of the step to time t with the method. Returns a status.

    delivers   whether outputs on the way are written
    """
    restore_step_start(run)
    for _ in range(40):
        if run.state.time >= t:
            return RUNNING
        begin_step(run, i)
        status = attempt(run, i, t)
        if status != ACCEPTED and status != REJECTED:
            return status
        if status == ACCEPTED:
            end_step(run)
            if delivers:
                write_outputs_within_step(run)
    return RUNNING


@compiled
def evaluate_watched(run, i):
    """Evaluate the watched functions at the present state."""
    state = run.state
    evaluate_guards(run, i, state.time, state.xs[state.at], state.p, run.scratch.xdot, run.step.phi)


@compiled
def root_on_dense_output(run, i):
    """The first root on the dense output, by false position with halving."""
    step = run.step
    x, y = step.low, step.high
    evaluate_within_step(run, i, y, step.phi)
    fy, _ = smallest_margin(run, y, step.phi)
    if x == 0.0:
        fx, _ = smallest_margin(run, x, step.samples[0])
    else:
        evaluate_within_step(run, i, x, step.phi)
        fx, _ = smallest_margin(run, x, step.phi)
    theta, weight_x, weight_y = y, fx, fy
    for _ in range(40):
        theta = x + (y - x) * weight_x / (weight_x - weight_y) if weight_x > weight_y else 0.5 * (x + y)
        if not x < theta < y:
            theta = 0.5 * (x + y)
        evaluate_within_step(run, i, theta, step.phi)
        f, _ = smallest_margin(run, theta, step.phi)
        if abs(f) < 1e-11 or y - x < 1e-11 * y:
            break
        if f > 0.0:
            x, weight_x, weight_y = theta, f, 0.5 * weight_y
        else:
            y, weight_y, weight_x = theta, f, 0.5 * weight_x
    return theta


@compiled
def locate(run, i):
    """Go to the first instant of the due events, or of an event that proves to be earlier. Returns a status."""
    status = go_to_root(run, i)
    for _ in range(run.events.due.size):
        if status != RUNNING or not select_earlier_events(run):
            break
        status = go_to_root(run, i)
    if status == RUNNING and output_within_step(run):
        if run.span.start > run.kept.time:  # several steps were taken: repeat them, to write the outputs within each
            return step_to(run, i, run.state.time, True)
        write_outputs_within_step(run)
    return status


@compiled
def select_earlier_events(run):
    """True if another function has become negative before the instant that was found. Then its event is due instead."""
    events, step, t = run.events, run.step, run.state.time
    theta, found = (t - run.kept.time) / step.span, False
    for m in range(events.due.size):
        if events.due[m] != 0 or step.sides[m] != 1 or not is_watched(run, m, run.kept.p):
            continue
        close = zero_tolerance(run, m, t, step.phi[RATE, m])
        if step.phi[VALUE, m] < -100 * close and step.low < theta < step.high:
            if not found:
                for l in range(events.due.size):
                    events.due[l] = 0
            events.due[m], found = FALLING, True
    if found:
        step.high = theta
    return found


@compiled
def go_to_root(run, i):
    """Go to the first instant of the due events by Newton's method with bisection, with steps of the method. Returns a status."""
    events, step, t0, h = run.events, run.step, run.kept.time, run.step.span
    theta = root_on_dense_output(run, i)
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
        evaluate_watched(run, i)
        f, rate = smallest_margin(run, theta, step.phi)
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
        elif turn == 0:  # no slope yet: a small step towards the root gives one
            theta = min(1.0, last * (1 + 1e-7)) if f > 0.0 else last * (1 - 1e-7)
        else:
            theta = 0.5 * (low + high)
        if abs(theta - last) <= least:
            break
        if not low < theta < high or turn > 15:
            theta = 0.5 * (low + high)
    if not is_any_due_here(
        run, False
    ):  # the root of the dense output is none of the method: go to the end of the bracket
        status = step_to(run, i, t0 + high * h, False)
        if status != RUNNING:
            return status
        evaluate_watched(run, i)
    for row in range(3):
        copy(step.phi[row], events.phi[row])
    is_any_due_here(run, True)
    return RUNNING


@compiled
def is_any_due_here(run, mark):
    """True if an event of those due in the step is due at the present state.

    mark   whether only the events that are due here stay due
    """
    events, step, any = run.events, run.step, False
    for m in range(events.due.size):
        how = events.due[m]
        if how > 0:
            rises = how == RISING or how == RISING_AGAIN
            x, rate = -step.phi[VALUE, m] if rises else step.phi[VALUE, m], step.phi[RATE, m]
            close = zero_tolerance(run, m, run.state.time, rate)
            moves = (
                run.program.events[m].rated == 0 or how == FLAT or abs(rate * step.span) > 10 * close
            )  # else it stays at zero
            here = (x <= 100 * close and moves) or x < -100 * close
            any = any or here
            if mark:
                events.due[m] = 1 if here else 0
    return any
