"""Looking through a step for events.

A step is looked through on its dense output in parts that follow from the watched functions alone. A part is at most as long as
the pace of each of them allows (see `pace`), and so short that a sample within it lies on the cubic through values and rates at
its ends; parts grow by and by where that holds well.
"""

import numpy as np

from ...kernels.compiled import compiled
from ...prepare.event_records import LAST_SAMPLE, PACE, RATE, VALUE
from .event_tolerances import MANY, is_watched, near
from .step_interpolation import dense, open_step
from .zero_crossings import between

MIDDLE = 0.47  # place within a part of a step where it is seen whether functions are followed well
PHASE = 1.0  # what phases of watched functions may go through in a part of a step
FOLLOWED = (
    0.02  # of its size: if a watched function is further from the cubic through its samples, the part is too long
)
BENT = 0.2  # likewise from a line, where a function has no rate
ROUGH = 1e-6  # of the largest value that it had: what is smaller is not followed
FINEST = 1e-4  # of a step, or of what paces allow: shorter parts are taken as they are, since a function may jump there
QUIET = 0.5  # change of a function in a step over its distance from zero, below which it is not looked at more closely


@compiled
def quiet(run, p):
    """Whether the step is no longer than functions have been followed in, and all stay far from zero compared with how they
    change: nothing to be looked for."""
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
def fastest_of(run, phi, p):
    """The largest pace of the functions that are watched."""
    pace = 0.0
    for m in range(run.events.due.size):
        if phi[PACE, m] > pace and is_watched(run, m, p):
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
    open_step(run, i)
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
        right = c if high < 1.0 else LAST_SAMPLE
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
