"""Fixed steps of explicit methods for several runs side by side, with kernels that have a lane for each run (`kernels/lanes.py`).

Runs go abreast where all of them take the same steps: nothing is projected, counted or watched on the way, and steps end at outputs
and where inputs change. Each run has the bits that it has alone.
"""

import numpy as np

from ..kernels.compiled import BUILDING, compiled, entry, inlined, reference
from ..kernels.record import COUNT, INDICES, MATRIX, REAL, VECTOR, Record
from ..methods.codes import FINISHED, RUNNING
from ..methods.explicit import combined
from ..methods.vectors import copy

if BUILDING:
    from ..kernels.calls import call


class Abreast(Record):
    """Groups of runs, with a lane for each: arrays hold the lanes of their first number, then those of the second, and so on."""

    group: COUNT  # that is next
    lanes: COUNT
    steps: COUNT  # that each run of the last group took
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
    times: VECTOR  # of outputs
    places: INDICES  # of inputs in p,
    inputs: MATRIX  # their values, one row per group and interval,
    edges: VECTOR  # and the ends of these; one where there are no inputs
    x: MATRIX  # states at the start, one row per group
    p: MATRIX
    xs: MATRIX  # at outputs: one row per group and output
    ps: MATRIX
    states: MATRIX  # to work with: the present state and the next one
    now: VECTOR  # p
    t: VECTOR
    u: VECTOR
    K: MATRIX
    F: VECTOR
    lam: VECTOR
    gains: VECTOR
    work: VECTOR


at = reference(Abreast)


@entry("int64", "int64")
def abreast(wanted, count):
    """Carry out at most so many groups. Returns FINISHED after the last."""
    r = at(wanted)
    for _ in range(count):
        if r.group < r.x.shape[0]:
            together(r)
            r.group += 1
    return FINISHED if r.group == r.x.shape[0] else RUNNING


@compiled
def together(r):
    """All runs of a group, from start to end."""
    place, time, written = 0, r.start, 0
    copy(r.x[r.group], r.states[0])
    copy(r.p[r.group], r.now)
    r.steps = 0
    for interval in range(r.edges.size):
        hold(r, interval)
        while True:
            while written < r.times.size and time >= r.times[written]:
                row = r.group * r.times.size + written
                copy(r.states[place], r.xs[row])
                copy(r.now, r.ps[row])
                written += 1
            if time >= r.edges[interval]:
                break
            goal = min(r.times[written] if written < r.times.size else r.end, r.edges[interval])
            way = goal - time
            parts = np.ceil(way / r.step * (1 - 1e-9))
            h = way if parts <= 1.0 else way / parts
            stepped(r, place, time, h)
            place, time, r.steps = 1 - place, goal if parts <= 1.0 else time + h, r.steps + 1


@inlined
def hold(r, interval):
    """Set the inputs of an interval."""
    row = r.group * r.edges.size + interval
    for m in range(r.places.size):
        for lane in range(r.lanes):
            r.now[r.places[m] * r.lanes + lane] = r.inputs[row, m * r.lanes + lane]


@inlined
def set_time(r, t):
    for lane in range(r.lanes):
        r.t[lane] = t


@inlined
def stepped(r, place, time, h):
    """A step of an explicit tableau, as `methods/explicit.py` takes it."""
    x, x1, K, u = r.states[place], r.states[1 - place], r.K, r.u
    set_time(r, time)
    call(r.factor, (r.t, x, r.now, r.F, r.work))
    call(r.rate, (r.t, x, r.now, r.F, r.gains, K[0], r.lam, r.work))
    for i in range(1, r.b.size):
        combined(h, r.A[i], i, K, u)
        set_time(r, time + r.c[i] * h)
        call(r.stage, (r.t, x, u, r.now, K[i], r.work))
    combined(h, r.b, r.b.size, K, u)
    call(r.advance, (x, u, x1, r.work))
