"""Outputs within a step that was taken: from its continuous extension, brought onto the constraints.

Steps are as long as their errors allow, whichever outputs are wanted, so that these change nothing in the motion.
"""

from ..kernels import ask
from ..kernels.compiled import compiled, inlined
from ..methods.agreement import alone
from ..methods.correction import correct_positions, correct_velocities, singular
from ..methods.extension import along, fill
from ..methods.vectors import copy


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
    out, state = run.out, run.state
    while out.written < out.times.size and state.time >= out.times[out.written]:
        i = out.written
        copy(state.xs[state.at], out.x[i])
        copy(state.p, out.p[i])
        out.written += 1
    return out.times[out.written] if run.plan.dense == 0 and out.written < out.times.size else out.end


@inlined
def wanted(run):
    """Whether an output lies before the present time."""
    out = run.out
    return out.written < out.times.size and out.times[out.written] < run.state.time


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
    k, x, y, p = run.kernels[span.structure], span.x, span.y, out.p[i]
    copy(span.p, p)
    along(run, (t - span.start) / span.length, span.length, s.K, span.u)
    ask.advance(k, s, run.state.xs[span.at], span.u, x)
    s.t[0] = t
    if run.plan.projects == 1 and k.constrained == 1:
        ask.factor(k, s, x, p, s.F)
        if not singular(run, s.F[k.last]) and onto_constraints(run, k, x, y, p):
            x, y = y, x
    if s.turn.size > 0 or not alone(run):
        ask.turns(k, s, x, span.p, s.turn)
        for m in range(s.turn.size):
            p[p.size - s.turn.size + m] = s.turn[m]
    copy(x, out.x[i])


@inlined
def onto_constraints(run, k, x, y, p):
    """Bring the state x onto the constraints, with the factor at it. Returns whether that has led to y; where it fails, x is as it
    was. What is taken away here is no drift of the run."""
    span, s, state = run.span, run.scratch, run.state
    drift = state.position_residual, state.velocity_residual
    swaps = correct_positions(run, k, x, y, p, run.plan.corrections)
    if swaps < 0:
        ask.advance(k, s, state.xs[span.at], span.u, x)
        swaps = 0
    else:
        if swaps % 2 == 1:
            x, y = y, x
        if swaps > 0:
            ask.factor(k, s, x, p, s.F)
        swaps += correct_velocities(run, k, x, y, p)
    state.position_residual, state.velocity_residual = drift
    return swaps % 2 == 1
