"""One attempt of a step: its length, the step of the method, its error, the projection, and whether it is accepted.

The time loops and the location of events take all their steps through `attempt`.
"""

import numpy as np

from ..kernels import call
from ..kernels.compiled import call_step, compiled, inlined
from ..methods.constraint_projection import correct_positions, correct_velocities, dips, left_window
from ..methods.error_control import error_of, finite, propose_step, relearn_states, resolution
from ..methods.rank_agreement import alone, overall, same_trunk
from ..methods.status_codes import ACCEPTED, ILL_CHOSEN, NOT_FINITE, NOT_PROJECTED, NOT_SOLVED, REJECTED, STEP_TOO_SMALL
from ..methods.vector_functions import copy, largest
from .run_tolerances import STEP_COUNT_EQUAL

STEP_ANGLE = (
    1.5  # angle by which a step may turn a joint, predicted from its rate, so that full turns are counted [rad]
)
STEP_ANGLE_LIMIT = 2.5  # angle of a finished step beyond which the step is repeated [rad]
REDUCTION = 0.9  # largest ratio of a repeated step to the rejected one
MOST_PARTS = 1000  # parts into which a fixed step may be divided if Newton's method does not solve an implicit step

RETRY_SHORTER, PROJECTION_FAILED = -1, -2  # returned by `project` instead of the index of a state


@inlined
def next_step_length(run, k, goal):
    """Length of the next step, and whether the step ends at the goal.

    An adaptive step is as long as the error allows. A fixed step divides the distance to the goal into equal parts.
    """
    plan, state, s = run.plan, run.state, run.scratch
    distance = goal - state.time
    h = min(plan.step if plan.adaptive == 0 else min(state.step, plan.longest_step), state.longest)
    if s.turn.size > 0 or not alone(run):
        s.t[0] = state.time
        call.spin(k, s, state.xs[state.at], state.p, s.spin)
        h = min(h, STEP_ANGLE / max(overall(run, largest(s.spin, 0, s.spin.size)), STEP_ANGLE / h))
    parts = np.ceil(distance / h * (1 - STEP_COUNT_EQUAL))
    last = parts <= 1.0
    return (distance if last else distance / parts if (plan.adaptive == 0 or parts <= 2.0) else h), last


@inlined
def turns_too_far(run, k, x1, h):
    """True if a joint angle changed so much that its full turns cannot be counted. The next step is then shorter."""
    s, p, worst = run.scratch, run.state.p, 0.0
    call.turns(k, s, x1, p, s.turn)
    for m in range(s.turn.size):
        worst = max(worst, abs(s.turn[m] - p[p.size - s.turn.size + m]))
    worst = overall(run, worst)
    if worst > STEP_ANGLE_LIMIT:
        run.state.longest = 0.5 * h
    return worst > STEP_ANGLE_LIMIT


@inlined
def judge_error(run, k, h, last, x1, usable, projecting):
    """Compare the error of a step with the tolerance, and set the length of the next step.

    Returns ACCEPTED, REJECTED, or the status with which the run ends.
    """
    plan, state, s = run.plan, run.state, run.scratch
    x = state.xs[state.at]
    error = error_of(run, k, h, x, x1, projecting) if usable else np.inf
    proposal, factor = propose_step(run, h, error)
    if error <= 1.0 and projecting and not last and dips(run, s.F[k.last]):
        state.step = 0.8 * h
        state.dodged += 1
        return REJECTED
    if not error <= 1.0:
        if usable and state.rejected == 1:  # an error that does not shrink with the step may be rounding
            resolution(run, k, state.time, h, x, x1)
        if usable:
            relearn_states(run, k, state.time, h, x, x1)
        proposal = min(proposal, REDUCTION * h)
        state.step = proposal
        state.rejected += 1
        if proposal < plan.smallest_step:
            return STEP_TOO_SMALL if usable else NOT_FINITE
        return REJECTED
    # the error of a step that was shortened to meet an output says little about how long the step could have been
    shortened = h < 0.99 * state.step and factor >= run.method.growth
    state.step = max(state.step, proposal) if shortened else max(proposal, run.method.hold * h)
    return ACCEPTED


@inlined
def project(run, k, index, other, h):
    """Project a state onto the constraints, at position and at velocity level.

    index, other   of the state in `state.xs`, and of a state that may be overwritten
    Returns the index of the projected state, or RETRY_SHORTER, or PROJECTION_FAILED if no shorter step is allowed.
    """
    plan, state, s = run.plan, run.state, run.scratch
    swaps = correct_positions(run, k, state.xs[index], state.xs[other], state.p, plan.corrections)
    if swaps < 0:
        if plan.adaptive == 0 or 0.25 * h < plan.smallest_step:
            return PROJECTION_FAILED
        state.step = 0.25 * h
        return RETRY_SHORTER
    if swaps % 2 == 1:
        index, other = other, index
    if swaps > 0:
        call.factor(k, s, state.xs[index], state.p, s.F)
    if correct_velocities(run, k, state.xs[index], state.xs[other], state.p) % 2 == 1:
        index, other = other, index
    state.pivot = s.F[k.last]
    state.dodged = 0
    state.least_pivot = min(state.least_pivot, state.pivot)
    state.projections += 1
    return index


@inlined
def accept(run, index, now):
    """Make the state with this index the present one."""
    state, s = run.state, run.scratch
    state.at = index
    state.time = now
    state.steps += 1
    state.rejected = 0
    for m in range(s.turn.size):
        state.p[state.p.size - s.turn.size + m] = s.turn[m]
    state.longest = np.inf


@inlined
def reject(run):
    """Reject the step. The next attempt uses the rate at its start again."""
    state, s = run.state, run.scratch
    copy(s.K[0], s.xdot)
    state.rated = 1
    state.rejections += 1
    return REJECTED


@inlined
def shorten_step(run, h):
    """Halve a step whose implicit equations were not solved. Returns REJECTED, or NOT_SOLVED if the step is too short already."""
    plan, state = run.plan, run.state
    if plan.adaptive == 0 and state.time >= state.uncut:  # a requested step counts once, however many parts it gets
        state.cuts += 1
        state.uncut = state.time + (1.0 - STEP_COUNT_EQUAL) * h
    state.longest = 0.5 * h
    state.step = min(state.step, 0.5 * h)
    return reject(run) if 0.5 * h > max(plan.smallest_step, plan.step / MOST_PARTS) else NOT_SOLVED


@compiled
def attempt(run, structure, goal):
    """Attempt one step towards a goal [s]. Returns ACCEPTED, REJECTED, or the status with which the run cannot continue."""
    plan, state, s = run.plan, run.state, run.scratch
    k = run.kernels[structure]
    projecting = plan.projects == 1 and k.constrained == 1
    h, last = next_step_length(run, k, goal)
    now = goal if last else state.time + h
    index, other = (state.at + 1) % 3, (state.at + 2) % 3
    x1 = state.xs[index]
    solved = call_step(run.method.step, run.here, structure, state.time, h) == ACCEPTED
    state.fresh = 0
    state.rated = 0
    if not solved:
        return shorten_step(run, h)
    usable = finite(run, x1)
    s.t[0] = now
    if usable and (s.turn.size > 0 or not alone(run)) and turns_too_far(run, k, x1, h):
        return reject(run)
    if usable and (projecting or k.stored != 0):
        call.factor(k, s, x1, state.p, s.F)
    # a last step that is shorter than the smallest step bridges rounding of the goal: its error is not judged
    if plan.adaptive == 1 and not (last and h <= plan.smallest_step):
        status = judge_error(run, k, h, last, x1, usable, projecting)
        if status == REJECTED:
            return reject(run)
        if status != ACCEPTED:
            state.rejections += 1
            return status
    elif not usable:
        return NOT_FINITE
    if projecting:
        if left_window(run, k):
            copy(x1, s.tried)  # no projection with this choice: the step is repeated with another one
            return ILL_CHOSEN
        index = project(run, k, index, other, h)
        if index < 0:
            return reject(run) if index == RETRY_SHORTER else NOT_PROJECTED
        state.fresh = 1
    same_trunk(run, state.xs[index])
    accept(run, index, now)
    if k.watched == 1 and not projecting:
        call.factor(k, s, state.xs[index], state.p, s.F)
        state.fresh = 1
        if left_window(run, k):
            copy(state.xs[index], s.tried)
            return ILL_CHOSEN
    return ACCEPTED
