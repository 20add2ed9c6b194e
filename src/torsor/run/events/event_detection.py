"""Search of a step for events.

A step is searched on its dense output, in parts whose length follows from the watched functions alone. A part is at most as long as
the pace of each function allows (`prepare/rate_bounds.py`), and so short that a sample within it lies on the cubic through values
and rates at its ends. The parts become longer while that holds well.
"""

import numpy as np

from ...kernels.compiled import compiled
from ...prepare.event_records import LAST_SAMPLE, PACE, RATE, VALUE
from .event_tolerances import MANY, is_watched, zero_tolerance
from .step_interpolation import evaluate_within_step, prepare_interpolation
from .zero_crossings import find_crossings_and_dips

MIDDLE = 0.47  # place within a part of a step where the interpolation is checked
PHASE = 1.0  # largest change of phase of a watched function in a part of a step
FOLLOWED = 0.02  # error of the cubic through the samples / size of the function, above which the part is too long
BENT = 0.2  # the same for a line, if the function has no rate
ROUGH = 1e-6  # error / largest value so far, below which it is neglected
FINEST = (
    1e-4  # part / step, or part / length that the pace allows: shorter parts are not divided, since a function may jump
)
QUIET = 0.5  # change of a function in a step / its distance from zero, below which it cannot cross zero


@compiled
def is_quiet(run, p):
    """True if no watched function can cross zero in the step: the step is no longer than the parts in which functions were
    interpolated well, and all functions are far from zero compared with their change."""
    events, h, a, b = run.events, run.step.span, run.step.samples[0], run.step.samples[LAST_SAMPLE]
    if h > events.followed:
        return False
    for m in range(events.due.size):
        if not is_watched(run, m, p):
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
def largest_pace(run, phi, p):
    """The largest pace of the functions that are watched."""
    pace = 0.0
    for m in range(run.events.due.size):
        if phi[PACE, m] > pace and is_watched(run, m, p):
            pace = phi[PACE, m]
    return pace


@compiled
def interpolation_error(run, part, a, b, c, p):
    """The error of the interpolation within a part of length `part` over the allowed error; above 1 the part is too long.

    a, b, c   samples at its start, within it (at MIDDLE) and at its end

    A function with a rate is compared with the cubic through values and rates at the ends, others with the line.
    """
    events, z, worst = run.events, MIDDLE, 0.0
    first, within, last = run.step.samples[a], run.step.samples[b], run.step.samples[c]
    for m in range(events.due.size):
        if not is_watched(run, m, p):
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


@compiled
def sides_at_start(run):
    """Set the side of zero of each function at the start of the step."""
    events, step = run.events, run.step
    for m in range(events.due.size):
        events.due[m], step.sides[m] = 0, events.side[m]
        if (
            run.program.events[m].rated == 0 and events.side[m] == 1
        ):  # a function without a rate that is zero may leave on either side
            if abs(step.samples[0, VALUE, m]) <= zero_tolerance(run, m, run.kept.time, 0.0):
                step.sides[m] = 0


@compiled
def find_first_event(run, i, p):
    """Find the first event in the step: returns as `find_crossings`, or -2 if a fixed step is too long for a function."""
    events, step, h = run.events, run.step, run.step.span
    prepare_interpolation(run, i)
    sides_at_start(run)
    if not events.followed > 0.0:
        events.followed = 0.125 * h  # short parts at first
    low, a, c, parts, refused = 0.0, 0, 1, 0, False
    while low < 1.0:
        pace = largest_pace(run, step.samples[a], p)
        longest = events.followed = min(events.followed, PHASE / pace) if pace > 0.0 else events.followed
        part = longest / h
        high = 1.0 if part > 0.8 * (1.0 - low) else low + part
        if high < 1.0:
            evaluate_within_step(run, i, high, step.samples[c])
        right = c if high < 1.0 else LAST_SAMPLE
        middle = low + MIDDLE * (high - low)
        evaluate_within_step(run, i, middle, step.samples[3])
        off = interpolation_error(run, (high - low) * h, a, 3, right, p)
        parts += 1
        if off > 1.0 and high - low > FINEST * (min(1.0, PHASE / (h * pace)) if pace > 0.0 else 1.0):
            events.followed, refused = 0.5 * (high - low) * h, True
            continue
        if off < 0.05 and not refused and (high - low) * h >= 0.8 * longest:
            events.followed = 2.0 * longest
        refused = False
        found = find_crossings_and_dips(run, i, low, middle, a, 3, p)
        if found == 0:
            found = find_crossings_and_dips(run, i, middle, high, 3, right, p)
        if found != 0:
            return found
        if parts > 100 * MANY:
            return -2
        low, a, c = high, right, 3 - c
    return 0
