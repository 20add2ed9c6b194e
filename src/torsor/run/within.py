"""Outputs within a step that was taken: from its continuous extension, brought onto the constraints.

Steps are as long as their errors allow, whichever outputs are wanted, so that these change nothing in the motion.
"""

from ..kernels import ask
from ..kernels.compiled import compiled, inlined
from ..methods.agreement import alone, overall
from ..methods.correction import correct_positions, correct_velocities
from ..methods.extension import along, fill
from ..methods.vectors import copy
from .bends import bend

MAGNIFIED = 10.0  # way that a projection may move a state within a step, over what it is off
SAME = 4e-15  # of the time: instants that are closer are one
EXACT = 1e-15  # residual over the size of the model that `position_tolerance` stands for


@inlined
def full(run):
    """Whether all outputs of this portion are written, and others follow."""
    out = run.out
    return out.more == 1 and out.written == out.times.size


@inlined
def finished(run):
    """Whether all outputs are written, and the end of the run is reached or left to the next portion."""
    out = run.out
    return out.written == out.times.size and (out.more == 1 or run.state.time >= out.end)


@inlined
def deliver(run):
    """Write the present state where its time is wanted. Returns the time to go to next."""
    out, state, next = run.out, run.state, bend(run)
    while out.written < out.times.size and state.time >= out.times[out.written]:
        i = out.written
        copy(state.xs[state.at], out.x[i])
        copy(state.p, out.p[i])
        out.written += 1
    goal = out.times[out.written] if run.plan.dense == 0 and out.written < out.times.size else out.end
    return min(goal, next)


@inlined
def wanted(run):
    """Whether an output lies before the present time, and not only by rounding: then it belongs to the present state."""
    out, t = run.out, run.state.time
    return out.written < out.times.size and out.times[out.written] < t - SAME * abs(t)


@compiled
def deliver_within(run):
    """Write the states that are wanted within the last step."""
    if run.plan.dense == 1 and wanted(run):
        fill(run)
        while wanted(run):
            inside(run, run.out.times[run.out.written], run.out.written)
            run.out.written += 1
        run.state.fresh, run.scratch.t[0] = 0, run.state.time


@compiled
def inside(run, t, i):
    """The state at time t, as output i."""
    span, s, out = run.span, run.scratch, run.out
    k, x, p = run.kernels[span.structure], out.x[i], out.p[i]
    copy(span.p, p)
    along(run, span.poor, (t - span.start) / span.length, span.length, s.K, span.u)
    ask.advance(k, s, run.state.xs[span.at], span.u, x)
    s.t[0] = t
    if run.plan.projects == 1 and k.constrained == 1:
        onto_constraints(run, k, x, p)
    if s.turn.size > 0 or not alone(run):
        ask.turns(k, s, x, span.p, s.turn)
        for m in range(s.turn.size):
            p[p.size - s.turn.size + m] = s.turn[m]


@inlined
def onto_constraints(run, k, found, p):
    """Bring a state onto the constraints, unless that would move it by much more than it is off, or may be: near a singular
    position a projection magnifies what it takes away. What that is here is no drift of the run."""
    s, state, plan = run.scratch, run.state, run.plan
    x, y, drift = run.span.x, run.span.y, (state.position_residual, state.velocity_residual)
    state.position_residual = 0.0
    copy(found, x)
    ask.factor(k, s, x, p, s.F)
    swaps = correct_positions(run, k, x, y, p, plan.corrections)
    off = EXACT * state.position_residual / plan.position_tolerance
    if swaps >= 0:
        if swaps % 2 == 1:
            x, y = y, x
        if swaps > 0:
            ask.factor(k, s, x, p, s.F)
        if correct_velocities(run, k, x, y, p) % 2 == 1:
            x, y = y, x
        if overall(run, moved(run, found, x)) <= MAGNIFIED * (off + plan.tolerance):
            copy(x, found)
    state.position_residual, state.velocity_residual = drift


@inlined
def moved(run, x, y):
    """The largest change of a coordinate, over the size of the model where that is larger than 1."""
    largest = 0.0
    for m in range(run.plan.configuration):
        largest = max(largest, abs(y[m] - x[m]))
    return largest / max(run.scales.length, 1.0)
