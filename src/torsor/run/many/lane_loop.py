"""Fixed steps of explicit methods for several runs in parallel, with kernels that have a SIMD lane for each run
(`kernels/number_type.py`).

All runs of a group take the same steps: nothing is projected, no turns are counted, no pivots are watched, and steps end at outputs
and where inputs change. Each run has the same bits as alone.
"""

import numpy as np

from ...kernels.compiled import BUILDING, compiled, entry, inlined, reference
from ...kernels.records import COUNT, INDICES, MATRIX, REAL, VECTOR, Record
from ...methods.explicit_step import combine
from ...methods.status_codes import FINISHED, RUNNING
from ...methods.vector_functions import copy
from ..run_tolerances import STEP_COUNT_EQUAL

if BUILDING:
    from ...kernels.kernel_address import call


class LaneGroups(Record):
    """Groups of runs with a lane for each run. Arrays contain the lanes of their first number, then those of the second, …"""

    group: COUNT  # index of the next group
    lanes: COUNT
    steps: COUNT  # steps of each run of the last group
    factor: COUNT  # addresses of kernels
    rate: COUNT
    stage: COUNT
    advance: COUNT
    start: REAL  # time
    end: REAL
    step: REAL
    A: MATRIX  # of the method
    b: VECTOR
    c: VECTOR
    shifts: MATRIX  # time of each run less that of the loop, one row per group
    times: VECTOR  # of outputs
    places: INDICES  # indices of inputs in p
    inputs: MATRIX  # values of the inputs, one row per group and interval
    edges: VECTOR  # ends of the intervals; the end of the run alone if there are no inputs
    x: MATRIX  # states at the start, one row per group
    p: MATRIX
    xs: MATRIX  # at outputs: one row per group and output
    ps: MATRIX
    states: MATRIX  # scratch: the present state and the next one
    now: VECTOR  # present p
    t: VECTOR
    u: VECTOR
    K: MATRIX
    F: VECTOR
    lam: VECTOR
    gains: VECTOR
    work: VECTOR


at = reference(LaneGroups)


@entry("int64", "int64")
def run_groups(address, count):
    """Carry out at most `count` groups. Returns FINISHED after the last."""
    r = at(address)
    for _ in range(count):
        if r.group < r.x.shape[0]:
            run_group(r)
            r.group += 1
    return FINISHED if r.group == r.x.shape[0] else RUNNING


@compiled
def run_group(r):
    """Carry out all runs of a group, from start to end."""
    index, time, written = 0, r.start, 0
    copy(r.x[r.group], r.states[0])
    copy(r.p[r.group], r.now)
    r.steps = 0
    for interval in range(r.edges.size):
        set_inputs(r, interval)
        while True:
            while written < r.times.size and time >= r.times[written]:
                row = r.group * r.times.size + written
                copy(r.states[index], r.xs[row])
                copy(r.now, r.ps[row])
                written += 1
            if time >= r.edges[interval]:
                break
            goal = min(r.times[written] if written < r.times.size else r.end, r.edges[interval])
            distance = goal - time
            parts = np.ceil(distance / r.step * (1 - STEP_COUNT_EQUAL))
            h = distance if parts <= 1.0 else distance / parts
            take_step(r, index, time, h)
            index = 1 - index
            time = goal if parts <= 1.0 else time + h
            r.steps += 1


@inlined
def set_inputs(r, interval):
    """Set the inputs of an interval."""
    row = r.group * r.edges.size + interval
    for m in range(r.places.size):
        for lane in range(r.lanes):
            r.now[r.places[m] * r.lanes + lane] = r.inputs[row, m * r.lanes + lane]


@inlined
def set_time(r, t):
    for lane in range(r.lanes):
        r.t[lane] = t + r.shifts[r.group, lane]


@inlined
def take_step(r, index, time, h):
    """Take a step of an explicit tableau, as `methods/explicit_step.py` does."""
    x, x1, K, u = r.states[index], r.states[1 - index], r.K, r.u
    set_time(r, time)
    call(r.factor, (r.t, x, r.now, r.F, r.work))
    call(r.rate, (r.t, x, r.now, r.F, r.gains, K[0], r.lam, r.work))
    for i in range(1, r.b.size):
        combine(h, r.A[i], i, K, u)
        set_time(r, time + r.c[i] * h)
        call(r.stage, (r.t, x, u, r.now, K[i], r.work))
    combine(h, r.b, r.b.size, K, u)
    call(r.advance, (x, u, x1, r.work))
