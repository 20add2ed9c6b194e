"""Many runs of one system one after the other, without a return to Python between them.

Each run begins as a single run does (`run/runner_start.py`), bit for bit: every record is set, and none keeps anything of an
earlier run.
"""

import numpy as np

from ...kernels import call
from ...kernels.compiled import compiled, inlined
from ...kernels.records import COUNT, INDICES, MATRIX, REAL, VECTOR, Record
from ...methods.status_codes import FINISHED
from ...methods.vector_functions import copy, rate
from ..breakpoints import add_work, potential_energy
from ..run_tolerances import POSITION_EXACT, VELOCITY_EXACT

LARGEST_FLOAT = 1.7976931348623157e308
REGULAR_FROM = 10.0  # pivot at the start / pivot at which rows are chosen again, for a start that is not singular


class Repetition(Record):
    """Starts and results of many runs: one row for each run, or for each run and output."""

    run: COUNT  # index of the present run
    begun: COUNT  # whether the present run has begun
    interval: COUNT  # index of the present interval of inputs
    x: MATRIX  # states at the start, with velocities even if the formulation has momenta
    p: MATRIX
    turning: INDICES  # whether turns have to be counted from the values near which they start
    length: VECTOR  # model size
    mass: VECTOR
    inertia: VECTOR  # sum of all inertias
    rate: VECTOR  # rate that gravity or prescribed motions cause [1/s]
    unit: REAL  # of lengths
    position_threshold: REAL  # violation from which the projection acts, in units of the rows
    velocity_threshold: REAL
    start: REAL  # time
    watches: REAL  # pivot / pivot at the start, below which rows and coordinates are chosen again
    first_step_factor: REAL  # first step × fastest rate; 0: steps are fixed
    state: INDICES  # words of the records that a run changes, each followed by their values before the run
    state_before: INDICES
    past: INDICES
    past_before: INDICES
    scales: INDICES
    scales_before: INDICES
    span: INDICES
    span_before: INDICES
    equations: INDICES
    equations_before: INDICES
    places: INDICES  # indices in p of inputs that are constant over intervals
    inputs: MATRIX  # values of these inputs, one row per run and interval
    edges: VECTOR  # ends of the intervals
    outputs: MATRIX
    work: VECTOR
    status: INDICES
    written: INDICES
    time: VECTOR  # reached
    steps: INDICES
    rejections: INDICES
    energy: VECTOR  # upper bound of the energy during the run


@inlined
def copy_words(source, target):
    for i in range(target.size):
        target[i] = source[i]


@compiled
def begin_run(run, r):
    """Set all records to the start of a run. Returns False if the choice of rows and coordinates has to be checked in Python."""
    i, k, s, plan, state = r.run, run.kernels[0], run.scratch, run.plan, run.state
    copy_words(r.state_before, r.state)
    copy_words(r.past_before, r.past)
    copy_words(r.scales_before, r.scales)
    copy_words(r.span_before, r.span)
    copy_words(r.equations_before, r.equations)
    state.time = r.start
    state.longest = np.inf
    state.least_pivot = 1.0
    run.scales.length = r.length[i]
    run.scales.angle = 1.0
    for m in range(run.scales.states.size):
        run.scales.states[m] = 0.0
    s.t[0] = r.start
    copy(r.p[i], state.p)
    count_turns(run, k, r, i)
    set_state(run, k, r, i)
    set_limits(run, r, i)
    state.step = plan.step if r.first_step_factor == 0.0 else first_step(run, k, r, i)
    run.out.written = 0
    r.interval = 0
    return set_pivot_bounds(run, k, r)


@inlined
def count_turns(run, k, r, i):
    """Count the turns of joints from the values near which they start."""
    s, p = run.scratch, run.state.p
    if r.turning[i] == 1 and s.turn.size > 0:
        call.turns(k, s, r.x[i], p, s.turn)
        for m in range(s.turn.size):
            p[p.size - s.turn.size + m] = s.turn[m]


@inlined
def set_state(run, k, r, i):
    """Set the state at the start, with momenta instead of velocities if the formulation has momenta."""
    if k.stored != 0:
        call.stored(k, run.scratch, r.x[i], run.state.p, run.state.xs[0])
    else:
        copy(r.x[i], run.state.xs[0])


@inlined
def set_limits(run, r, i):
    """Set tolerances and thresholds, as `run/runner_start.py` does."""
    plan, y = run.plan, run.state.xs[0]
    size, fastest = r.length[i] / r.unit, r.rate[i]
    for m in range(plan.velocities):
        extent = r.length[i] if plan.linear[m] == 1 else 1.0
        at = plan.configuration + m
        fastest = max(fastest, max(abs(r.x[i, at] / extent), abs(y[at] / extent)))
    plan.position_tolerance = POSITION_EXACT * size
    plan.velocity_tolerance = VELOCITY_EXACT * size * max(fastest, 1 / abs(run.out.end))
    plan.position_threshold = max(plan.position_tolerance, r.position_threshold)
    plan.velocity_threshold = max(plan.velocity_tolerance, r.velocity_threshold)
    plan.mass = r.mass[i]
    plan.inertia = r.inertia[i]


@inlined
def first_step(run, k, r, i):
    """A cautious first step [s], as in `run/runner_start.py`."""
    s, state, n = run.scratch, run.state, run.plan.velocities
    span = run.out.end - r.start
    rate(run, k, r.start, state.xs[0], state.p, s.xdot)
    fastest = 1 / span
    for m in range(n):
        extent = r.length[i] if run.plan.linear[m] == 1 else 1.0
        acceleration = abs(s.xdot[n + m])
        acceleration = 0.0 if acceleration != acceleration else min(acceleration, LARGEST_FLOAT)  # NaN becomes 0
        fastest = max(fastest, max(abs(s.xdot[m]) / extent, np.sqrt(acceleration / extent)))
    return min(span, r.first_step_factor / fastest)


@inlined
def set_pivot_bounds(run, k, r):
    """Set the bounds of the pivot at which rows and coordinates are chosen again. Returns False if it is small at the start."""
    if k.watched == 0:
        return True
    call.factor(k, run.scratch, run.state.xs[0], run.state.p, run.scratch.F)
    pivot = run.scratch.F[k.last]
    k.poor = r.watches * pivot
    k.rich = np.inf
    k.best = pivot
    return pivot > 0.0 and REGULAR_FROM * r.watches < 1.0


@inlined
def set_inputs(run, r):
    """Set the inputs of an interval. If they jump, the history of multistep methods is discarded."""
    row, p = r.run * r.edges.size + r.interval, run.state.p
    jumps = run.plan.potential_jumps == 1 and r.interval > 0
    before = potential_energy(run) if jumps else 0.0
    for m in range(r.places.size):
        if p[r.places[m]] != r.inputs[row, m]:
            p[r.places[m]] = r.inputs[row, m]
            run.past.kept = 0
    if jumps:
        add_work(run, potential_energy(run) - before)


@compiled
def store_results(run, r, status):
    """Store status, counts and outputs of a run that has ended."""
    i, k, s, out, m = r.run, run.kernels[0], run.scratch, run.out, run.out.times.size
    r.status[i] = status
    r.written[i] = out.written
    r.time[i] = run.state.time
    r.steps[i] = run.state.steps
    r.rejections[i] = run.state.rejections
    fastest = run.scales.speed + run.scales.length * run.scales.spin
    r.energy[i] = max(run.scales.energy, r.mass[i] * fastest**2)
    if status == FINISHED:
        for j in range(out.written):
            row = i * m + j
            rate(run, k, out.times[j], out.x[j], out.p[j], s.xdot)
            call.outputs(k, s, out.x[j], out.p[j], s.xdot, s.lam, r.outputs[row])
            r.work[row] = out.x[j, run.plan.configuration + run.plan.velocities]
