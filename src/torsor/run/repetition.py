"""Many runs of one system one after the other, without a way back to Python between them.

Each run begins as one alone does (`departure.py`), bit for bit: every record is set, and nothing of an earlier run is left.
"""

import numpy as np

from ..kernels import ask
from ..kernels.compiled import compiled, inlined
from ..kernels.record import COUNT, INDICES, MATRIX, REAL, VECTOR, Record
from ..methods.codes import FINISHED
from ..methods.vectors import copy, rate
from .within import EXACT

HUGE = 1.7976931348623157e308
WHOLE = 10.0  # a start whose conditioning is this much more than what is put up with is no singular position


class Repetition(Record):
    """What each run begins with, and what it leaves: one row per run, or per run and output.

    run        that is carried out, begun: whether it goes on; interval: of its inputs
    """

    run: COUNT
    begun: COUNT
    interval: COUNT
    x: MATRIX  # states at the start, with velocities also where momenta are state
    p: MATRIX
    turning: INDICES  # whether turns are still to be counted from the values near which they start
    length: (
        VECTOR  # size of the model, its mass and the sum of its inertias, and how fast gravity or given motions move it
    )
    mass: VECTOR
    inertia: VECTOR
    rate: VECTOR
    unit: REAL  # of lengths
    position_threshold: REAL  # of violations that are corrected, in units of the rows
    velocity_threshold: REAL
    start: REAL  # time
    watches: REAL  # part of its conditioning down to which what was chosen is kept
    cautious: REAL  # way of a first step, over the speed; 0: steps are fixed
    state: INDICES  # the words of records that a run leaves changed, and as they are before it,
    state_before: INDICES
    past: INDICES
    past_before: INDICES
    scales: INDICES
    scales_before: INDICES
    span: INDICES
    span_before: INDICES
    equations: INDICES
    equations_before: INDICES
    places: INDICES  # in p of inputs that are held over intervals,
    inputs: MATRIX  # their values, one row per run and interval,
    edges: VECTOR  # and when intervals end
    outputs: MATRIX
    work: VECTOR
    status: INDICES
    written: INDICES
    time: VECTOR  # reached
    steps: INDICES
    rejections: INDICES
    energy: VECTOR  # bound of the energies that step control has met


@inlined
def words(source, target):
    for i in range(target.size):
        target[i] = source[i]


@compiled
def begin(run, r):
    """Set everything to the start of a run. False where its choice has to be looked at."""
    i, k, s, plan, state = r.run, run.kernels[0], run.scratch, run.plan, run.state
    words(r.state_before, r.state)
    words(r.past_before, r.past)
    words(r.scales_before, r.scales)
    words(r.span_before, r.span)
    words(r.equations_before, r.equations)
    state.time, state.longest, state.least_pivot = r.start, np.inf, 1.0
    run.scales.length, run.scales.angle = r.length[i], 1.0
    for m in range(run.scales.states.size):
        run.scales.states[m] = 0.0
    s.t[0] = r.start
    copy(r.p[i], state.p)
    counted(run, k, r, i)
    placed(run, k, r, i)
    limited(run, r, i)
    state.step = plan.step if r.cautious == 0.0 else first_step(run, k, r, i)
    run.out.written, r.interval = 0, 0
    return watching(run, k, r)


@inlined
def counted(run, k, r, i):
    """Count turns, from values near which they start."""
    s, p = run.scratch, run.state.p
    if r.turning[i] == 1 and s.turn.size > 0:
        ask.turns(k, s, r.x[i], p, s.turn)
        for m in range(s.turn.size):
            p[p.size - s.turn.size + m] = s.turn[m]


@inlined
def placed(run, k, r, i):
    """The state, with momenta where these are state."""
    if k.stored != 0:
        ask.stored(k, run.scratch, r.x[i], run.state.p, run.state.xs[0])
    else:
        copy(r.x[i], run.state.xs[0])


@inlined
def limited(run, r, i):
    """What is small in this run."""
    plan, y = run.plan, run.state.xs[0]
    size, fastest = r.length[i] / r.unit, r.rate[i]
    for m in range(plan.velocities):
        extent = r.length[i] if plan.linear[m] == 1 else 1.0
        at = plan.configuration + m
        fastest = max(fastest, max(abs(r.x[i, at] / extent), abs(y[at] / extent)))
    plan.position_tolerance = EXACT * size
    plan.velocity_tolerance = 1e-14 * size * max(fastest, 1 / abs(run.out.end))
    plan.position_threshold = max(plan.position_tolerance, r.position_threshold)
    plan.velocity_threshold = max(plan.velocity_tolerance, r.velocity_threshold)
    plan.mass, plan.inertia = r.mass[i], r.inertia[i]


@inlined
def first_step(run, k, r, i):
    """A cautious first step, as `departure.py` has it."""
    s, state, n = run.scratch, run.state, run.plan.velocities
    span = run.out.end - r.start
    rate(run, k, r.start, state.xs[0], state.p, s.xdot)
    fastest = 1 / span
    for m in range(n):
        extent = r.length[i] if run.plan.linear[m] == 1 else 1.0
        pushed = abs(s.xdot[n + m])
        pushed = 0.0 if pushed != pushed else min(pushed, HUGE)
        fastest = max(fastest, max(abs(s.xdot[m]) / extent, np.sqrt(pushed / extent)))
    return min(span, r.cautious / fastest)


@inlined
def watching(run, k, r):
    """How far the conditioning of what was chosen may fall. False where it is poor from the start."""
    if k.watched == 0:
        return True
    ask.factor(k, run.scratch, run.state.xs[0], run.state.p, run.scratch.F)
    pivot = run.scratch.F[k.last]
    k.poor, k.rich, k.best = r.watches * pivot, np.inf, pivot
    return pivot > 0.0 and WHOLE * r.watches < 1.0


@inlined
def hold(run, r):
    """Set the inputs of an interval; where they jump, what methods keep of the past does not belong to it."""
    row, p = r.run * r.edges.size + r.interval, run.state.p
    for m in range(r.places.size):
        if p[r.places[m]] != r.inputs[row, m]:
            p[r.places[m]], run.past.kept = r.inputs[row, m], 0


@compiled
def leave(run, r, status):
    """Outputs and counts of a run that is over."""
    i, k, s, out, m = r.run, run.kernels[0], run.scratch, run.out, run.out.times.size
    r.status[i], r.written[i], r.time[i] = status, out.written, run.state.time
    r.steps[i], r.rejections[i] = run.state.steps, run.state.rejections
    fastest = run.scales.speed + run.scales.length * run.scales.spin
    r.energy[i] = max(run.scales.energy, r.mass[i] * fastest**2)
    if status == FINISHED:
        for j in range(out.written):
            row = i * m + j
            rate(run, k, out.times[j], out.x[j], out.p[j], s.xdot)
            ask.outputs(k, s, out.x[j], out.p[j], s.xdot, s.lam, r.outputs[row])
            r.work[row] = out.x[j, run.plan.configuration + run.plan.velocities]
