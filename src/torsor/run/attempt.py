"""One attempt of a step: its length, the step of the method, its error, the projection, and whether it is accepted.

The time loops and the location of events take their steps here, and nowhere else.
"""

import numpy as np

from ..kernels import ask
from ..kernels.compiled import call_step, compiled, inlined
from ..methods.agreement import alone, overall, same_trunk
from ..methods.codes import ACCEPTED, ILL_CHOSEN, NOT_FINITE, NOT_PROJECTED, NOT_SOLVED, REJECTED, STEP_TOO_SMALL
from ..methods.control import error_of, finite, proposed, relearn_states, resolution
from ..methods.correction import correct_positions, correct_velocities, dips, ill_chosen
from ..methods.vectors import copy, largest

# to count full turns: angle that a step may turn a joint by at the rate of its start, and beyond which it is repeated [rad]
TURNING, TURNED = 1.5, 2.5
SHORTER = 0.9  # factor by which a step is shorter than one that was refused, at least
MOST_PARTS = 1000  # into which a fixed step may be cut where the equations of an implicit method are not solved


@inlined
def length(run, k, goal):
    """How long the next step is, and whether it ends at the goal: as long as the error allows, in equal parts of the way where
    a step is fixed."""
    plan, state, s = run.plan, run.state, run.scratch
    way = goal - state.time
    h = min(plan.step if plan.adaptive == 0 else min(state.step, plan.longest_step), state.longest)
    if s.turn.size > 0 or not alone(run):
        s.t[0] = state.time
        ask.spin(k, s, state.xs[state.at], state.p, s.spin)
        h = min(h, TURNING / max(overall(run, largest(s.spin, 0, s.spin.size)), TURNING / h))
    parts = np.ceil(way / h * (1 - 1e-9))
    last = parts <= 1.0
    return (way if last else way / parts if (plan.adaptive == 0 or parts <= 2.0) else h), last


@inlined
def turned_too_far(run, k, x1, h):
    """Whether an angle has turned so far that its turns cannot be counted; then a shorter step is taken."""
    s, p, worst = run.scratch, run.state.p, 0.0
    ask.turns(k, s, x1, p, s.turn)
    for m in range(s.turn.size):
        worst = max(worst, abs(s.turn[m] - p[p.size - s.turn.size + m]))
    worst = overall(run, worst)
    if worst > TURNED:
        run.state.longest = 0.5 * h
    return worst > TURNED


@inlined
def judged(run, k, h, last, x1, usable, projecting):
    """Whether the error of a step is small enough, and how long the next one is to be."""
    plan, state, s = run.plan, run.state, run.scratch
    x = state.xs[state.at]
    error = error_of(run, k, h, x, x1, projecting) if usable else np.inf
    proposal, factor = proposed(run, h, error)
    if error <= 1.0 and projecting and not last and dips(run, s.F[k.last]):
        state.step = 0.8 * h
        state.dodged += 1
        return REJECTED
    if not error <= 1.0:
        if usable and state.rejected == 1:  # an error that does not shrink with the step may be rounding
            resolution(run, k, state.time, h, x, x1)
        if usable:
            relearn_states(run, k, state.time, h, x, x1)
        proposal = min(proposal, SHORTER * h)
        state.step = proposal
        state.rejected += 1
        if proposal < plan.smallest_step:
            return STEP_TOO_SMALL if usable else NOT_FINITE
        return REJECTED
    # a step that was cut short to meet an output says little about how much longer it could have been
    cut = h < 0.99 * state.step and factor >= run.method.growth
    state.step = max(state.step, proposal) if cut else max(proposal, run.method.hold * h)
    return ACCEPTED


@inlined
def projected(run, k, place, other, h):
    """Bring a state onto the constraints. Returns its place, or −1 where a shorter step is to be tried, −2 where that would be
    too short."""
    plan, state, s = run.plan, run.state, run.scratch
    swaps = correct_positions(run, k, state.xs[place], state.xs[other], state.p, plan.corrections)
    if swaps < 0:
        if plan.adaptive == 0 or 0.25 * h < plan.smallest_step:
            return -2
        state.step = 0.25 * h
        return -1
    if swaps % 2 == 1:
        place, other = other, place
    if swaps > 0:
        ask.factor(k, s, state.xs[place], state.p, s.F)
    if correct_velocities(run, k, state.xs[place], state.xs[other], state.p) % 2 == 1:
        place, other = other, place
    state.pivot, state.dodged = s.F[k.last], 0
    state.least_pivot = min(state.least_pivot, state.pivot)
    state.projections += 1
    return place


@inlined
def taken_over(run, place, now):
    """The state at this place is the present one."""
    state, s = run.state, run.scratch
    state.at = place
    state.time = now
    state.steps += 1
    state.rejected = 0
    for m in range(s.turn.size):
        state.p[state.p.size - s.turn.size + m] = s.turn[m]
    state.longest = np.inf


@inlined
def refused(run):
    """The step is not taken; the rate at its start is known for the next one."""
    state, s = run.state, run.scratch
    copy(s.K[0], s.xdot)
    state.rated = 1
    state.rejections += 1
    return REJECTED


@inlined
def shorter(run, h):
    """The equations of an implicit step were not solved: a shorter one is tried, up to a limit."""
    plan, state = run.plan, run.state
    if plan.adaptive == 0 and state.time >= state.uncut:  # once for all parts of a step that was asked for
        state.cuts += 1
        state.uncut = state.time + (1.0 - 1e-9) * h
    state.longest = 0.5 * h
    state.step = min(state.step, 0.5 * h)
    return refused(run) if 0.5 * h > max(plan.smallest_step, plan.step / MOST_PARTS) else NOT_SOLVED


@compiled
def attempt(run, structure, goal):
    """One step towards a goal. ACCEPTED, REJECTED, or why the run cannot go on."""
    plan, state, s = run.plan, run.state, run.scratch
    k = run.kernels[structure]
    projecting = plan.projects == 1 and k.constrained == 1
    h, last = length(run, k, goal)
    now = goal if last else state.time + h
    place, other = (state.at + 1) % 3, (state.at + 2) % 3
    x1 = state.xs[place]
    solved = call_step(run.method.step, run.here, structure, state.time, h) == ACCEPTED
    state.fresh, state.rated = 0, 0
    if not solved:
        return shorter(run, h)
    usable = finite(run, x1)
    s.t[0] = now
    if usable and (s.turn.size > 0 or not alone(run)) and turned_too_far(run, k, x1, h):
        return refused(run)
    if usable and (projecting or k.stored != 0):
        ask.factor(k, s, x1, state.p, s.F)
    if plan.adaptive == 1 and not (
        last and h <= plan.smallest_step
    ):  # what is left to a goal may be rounding: no error there
        status = judged(run, k, h, last, x1, usable, projecting)
        if status == REJECTED:
            return refused(run)
        if status != ACCEPTED:
            state.rejections += 1
            return status
    elif not usable:
        return NOT_FINITE
    if projecting:
        if ill_chosen(run, k):
            copy(x1, s.tried)  # before a projection with this choice does harm: the step is repeated with another
            return ILL_CHOSEN
        place = projected(run, k, place, other, h)
        if place < 0:
            return refused(run) if place == -1 else NOT_PROJECTED
        state.fresh = 1
    same_trunk(run, state.xs[place])
    taken_over(run, place, now)
    if k.watched == 1 and not projecting:
        ask.factor(k, s, state.xs[place], state.p, s.F)
        state.fresh = 1
        if ill_chosen(run, k):
            copy(state.xs[place], s.tried)
            return ILL_CHOSEN
    return ACCEPTED
