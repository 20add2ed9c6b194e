"""Output of states: at the end of a step, and within it by dense output projected onto the constraints.

Dense output leaves the length of steps to error control, so that the choice of output times does not change the motion.
"""

from ..kernels import call
from ..kernels.compiled import compiled, inlined
from ..methods.constraint_projection import correct_positions, correct_velocities
from ..methods.continuous_extension import compute_extra_stages, interpolate
from ..methods.rank_agreement import alone, overall
from ..methods.vector_functions import copy
from .breakpoints import next_breakpoint
from .run_tolerances import POSITION_EXACT

MAGNIFICATION = 10.0  # distance by which a projection may move a state within a step / (its residual + tolerance)
TIMES_EQUAL = 4e-15  # difference of two instants / time: closer instants are equal


@inlined
def portion_is_complete(run):
    """True if all outputs of this portion are written and another portion follows."""
    out = run.out
    return out.more == 1 and out.written == out.times.size


@inlined
def outputs_are_complete(run):
    """True if all outputs are written, and the end of the run is reached or belongs to the next portion."""
    out = run.out
    return out.written == out.times.size and (out.more == 1 or run.state.time >= out.end)


@inlined
def output_is_due(run):
    """True if the present state is an output, or the last state of the run."""
    out, time = run.out, run.state.time
    return time >= out.end or (out.written < out.times.size and time >= out.times[out.written])


@inlined
def write_due_outputs(run):
    """Write the present state to all outputs that are due. Returns the time at which the next step has to end at the latest."""
    out, state, following = run.out, run.state, next_breakpoint(run)
    while out.written < out.times.size and state.time >= out.times[out.written]:
        i = out.written
        copy(state.xs[state.at], out.x[i])
        copy(state.p, out.p[i])
        out.written += 1
    goal = out.times[out.written] if run.plan.dense == 0 and out.written < out.times.size else out.end
    return min(goal, following)


@inlined
def output_within_step(run):
    """True if the next output lies within the last step. An output that differs from its end by rounding belongs to the end."""
    out, t = run.out, run.state.time
    return out.written < out.times.size and out.times[out.written] < t - TIMES_EQUAL * abs(t)


@compiled
def write_outputs_within_step(run):
    """Write the outputs that lie within the last step."""
    if run.plan.dense == 1 and output_within_step(run):
        compute_extra_stages(run)
        while output_within_step(run):
            write_dense_output(run, run.out.times[run.out.written], run.out.written)
            run.out.written += 1
        run.state.fresh = 0
        run.scratch.t[0] = run.state.time


@compiled
def write_dense_output(run, t, i):
    """Write the state at time t within the last step as output i."""
    span, s, out = run.span, run.scratch, run.out
    k, x, p = run.kernels[span.structure], out.x[i], out.p[i]
    copy(span.p, p)
    interpolate(run, span.poor, (t - span.start) / span.length, span.length, s.K, span.u)
    call.advance(k, s, run.state.xs[span.at], span.u, x)
    s.t[0] = t
    if run.plan.projects == 1 and k.constrained == 1:
        project_output(run, k, x, p)
    if s.turn.size > 0 or not alone(run):
        call.turns(k, s, x, span.p, s.turn)
        for m in range(s.turn.size):
            p[p.size - s.turn.size + m] = s.turn[m]


@inlined
def project_output(run, k, output, p):
    """Project a state within a step onto the constraints, unless that moves it by much more than its residual.

    Near a singular position a projection magnifies the residual that it removes. The drift of the run does not include the
    residuals found here.
    """
    s, state, plan = run.scratch, run.state, run.plan
    x, y, drift = run.span.x, run.span.y, (state.position_residual, state.velocity_residual)
    state.position_residual = 0.0
    copy(output, x)
    call.factor(k, s, x, p, s.F)
    swaps = correct_positions(run, k, x, y, p, plan.corrections)
    residual = POSITION_EXACT * state.position_residual / plan.position_tolerance
    if swaps >= 0:
        if swaps % 2 == 1:
            x, y = y, x
        if swaps > 0:
            call.factor(k, s, x, p, s.F)
        if correct_velocities(run, k, x, y, p) % 2 == 1:
            x, y = y, x
        if overall(run, largest_change(run, output, x)) <= MAGNIFICATION * (residual + plan.tolerance):
            copy(x, output)
    state.position_residual, state.velocity_residual = drift


@inlined
def largest_change(run, x, y):
    """Largest difference of a coordinate between two states, divided by the model size if that is larger than 1."""
    largest = 0.0
    for m in range(run.plan.configuration):
        largest = max(largest, abs(y[m] - x[m]))
    return largest / max(run.scales.length, 1.0)
