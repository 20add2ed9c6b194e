"""One instant: events fire one after the other until none is due. No time passes.

A change of structure may make other conditions true or false at once. All conditions are evaluated again after every event, in the
order in which they were declared. For contacts this is the least-index rule, which ends for any set of contacts whose
constraints are independent.
"""

import numpy as np

from ...kernels import call
from ...kernels.compiled import compiled, inlined
from ...methods.status_codes import RUNNING
from ...methods.vector_functions import copy, fastest, without_length
from ...prepare.event_codes import (
    ACCUMULATES,
    CHATTERS,
    ENDED,
    LOADS_CHANGED,
    NEEDS_CONTACT_KERNEL,
    NOT_A_NUMBER,
    RELEASE,
    STRIKE,
)
from ...prepare.event_records import RATE, VALUE
from ..contacts.contact_forces import decide_redundant, redundant_contacts
from ..contacts.contact_solver import decide_together, jam, sliding_friction
from ..contacts.lift_off import mark_parting
from ..contacts.slip_steps import limit_step
from .clocks import has_rung
from .event_firing import fire_event
from .event_tolerances import (
    CRAWL,
    LEAVES,
    NEAR,
    PASSES,
    REBOUND,
    is_watched,
    largest_load,
    rounded_rate,
    update_scale,
    zero_tolerance,
)
from .step_interpolation import evaluate_guards
from .strikes_on_closed import mark_idle_strikes

JAMS = 20  # openings of a contact at one instant, from which it jams
OPENED = 1e-8  # approach acceleration / largest acceleration, above which a contact that was opened at this instant closes again


@compiled
def begin_to_watch(run, m, x, close):
    """Set the side of zero of an event that has just become enabled, and whether it is due."""
    events, watch = run.events, run.program.events[m]
    if watch.undecided_near_zero == 1 or (
        watch.condition == 1 and events.beginning != 1
    ):  # near zero the next instant decides
        events.side[m] = 1 if x > close else (0 if x >= -close else -1)
        events.due[m] = 1 if x < -close else 0
    elif watch.condition == 1:  # at the start of the run a condition that holds is due
        holds = x < 0.0 or (x == 0.0 and watch.strict == 0)
        events.side[m], events.due[m] = (-1, 1) if holds else (1, 0)
    else:
        events.side[m], events.due[m] = 1 if x > close else (-1 if x < -close else 0), 0


@compiled
def update_due(run, m, x, close, jumped):
    """Update whether event m is due, from the value x of its function, and the distance `close` below which x counts as zero."""
    events, watch, before = run.events, run.program.events[m], run.events.phi[VALUE, m]
    is_on = is_watched(run, m, run.state.p)
    if not is_on:
        events.due[m] = 0
    elif events.enabled[m] == 0:
        begin_to_watch(run, m, x, close)
    elif not jumped:
        if events.due[m] == 0 and events.side[m] == 0 and x > close:
            events.side[m] = 1
    elif events.due[m] == 1:
        if x > close and watch.condition == 1:  # another event has just made the condition false
            events.due[m], events.side[m] = 0, 1
    elif x > close and watch.both == 0 and events.side[m] == -1:
        events.side[m] = 1
    elif events.side[m] == 1 and (x < -close or (x <= close and before > 10 * close and watch.strict == 0)):
        events.due[m] = 1
    elif events.side[m] == 0 and watch.undecided_near_zero == 1 and watch.condition == 1 and x < -close:
        events.due[m] = 1
    elif watch.both == 1 and events.side[m] == -1 and x > close:
        events.due[m] = 1
    events.enabled[m] = 1 if is_on else 0


@compiled
def check_accumulation(run, e, t):
    """Check whether an event fires at ever shorter intervals. Returns ACCUMULATES, CHATTERS or RUNNING."""
    history = run.events.history[e]
    gap, interval = t - history.time, history.interval
    time = max(1 / run.events.fastest, abs(t))
    if gap < 1e-13 * time:
        history.vanished += 1
    elif gap < 0.999 * interval:
        history.shrank += 1
    else:
        history.shrank, history.vanished = 0, 0
    left = gap**2 / (interval - gap) if 0.0 < gap < interval < np.inf else np.inf
    shrinks = history.shrank > 30 and left < 1e-10 * time
    run.events.number = t + left
    history.time = t
    if gap >= 1e-13 * time:
        history.interval = gap
    return ACCUMULATES if shrinks else (CHATTERS if history.vanished > 1000 else RUNNING)


@compiled
def was_just_opened(run, m):
    """True if the contact that event m closes was opened at this instant."""
    events, ops = run.program.events, run.program.ops
    for e in range(events.size):
        for k in range(events[e].ops if run.events.fired[e] == 1 else events[e].ops_end, events[e].ops_end):
            for l in range(events[m].ops, events[m].ops_end):
                if ops[k].code == RELEASE and ops[l].code == STRIKE and ops[k].place == ops[l].place:
                    return True
    return False


@compiled
def find_resting_contact(run, i):
    """The first open contact at rest that the present motion would penetrate; -1 if there is none. All such contacts become due.

    A contact that was opened at this instant had no load but for rounding; it closes again only above a larger acceleration.
    """
    events, trial, state, s, n = run.events, run.trial, run.state, run.scratch, run.plan.velocities
    found, pull = -1, NEAR * max(without_length(run, s.xdot, n), events.fall**2)
    call.slots(run.kernels[i], s, state.xs[state.at], state.p, s.xdot, s.lam, trial.later)
    for m in range(events.due.size):
        watch, rate = run.program.events[m], trial.phi[RATE, m]
        at_zero = abs(trial.phi[VALUE, m]) <= zero_tolerance(run, m, state.time, rate)
        if (
            watch.approach >= 0
            and watch.undecided_near_zero == 1
            and events.enabled[m] == 1
            and events.side[m] == 0
            and at_zero
        ):
            still = NEAR * watch.unit * rounded_rate(run)
            again = events.decided == 1 or was_just_opened(run, m)
            least = pull * (OPENED / NEAR if again else 1.0) * watch.unit
            pulled = trial.later[watch.approach] < -least
            low = (
                0.5 * rate**2 < -trial.later[watch.approach] * REBOUND * watch.unit
            )  # the rebound is so low that it counts as none
            if rate < -still or (pulled and (rate < still or low)):
                events.due[m] = 1
                found = m if found < 0 else found
    return found


@compiled
def side_after(run, m, t, x, rate):
    """The side of zero of a watched function after the instant."""
    events, watch, close = run.events, run.program.events[m], zero_tolerance(run, m, t, rate)
    same = abs(x - run.trial.at[m]) <= close  # it has not jumped since it fired
    located = events.fired[m] == 1 and watch.undecided_near_zero == 0 and same
    if events.enabled[m] == 1 and abs(x) > (100 * close if located else close):
        return 1 if x > 0.0 else -1
    if watch.undecided_near_zero == 0 and watch.rated == 1 and abs(rate) > LEAVES * events.speed[m]:
        if events.fired[m] == 1:  # it leaves zero with the rate after the instant, which may have jumped
            return 1 if rate > 0.0 else -1
        if events.side[m] == -1 and rate > 0.0 and watch.both == 0:
            return 1
    return 0 if events.side[m] == 1 else events.side[m]  # at zero and not fired: the next instant decides


@compiled
def finish_instant(run, t):
    """Finish the instant: store the side of zero of each watched function."""
    events, phi = run.events, run.trial.phi
    for m in range(events.due.size):
        events.side[m] = side_after(run, m, t, phi[VALUE, m], phi[RATE, m])
        events.fired[m] = 0
    for heading in run.program.headings:
        run.state.p[heading.crawl] = CRAWL * run.program.units[heading.row] * rounded_rate(run)
    events.pending, events.passes, events.decided, run.state.rated = 0, 0, 0, 0


@compiled
def store_largest_load(run, i):
    """Store the largest multiplier, and the rate that bodies would reach without the constraints."""
    events = run.events
    events.load = max(events.load, largest_load(run, i))
    fall = np.sqrt(events.load / (run.plan.mass * run.scales.length))  # of a fall through the size of the model
    events.fall = max(events.fall, fall)


@compiled
def find_due_event(run, t):
    """Update which events are due. Returns the first one, -1 if there is none, -2 if a condition is not a number."""
    events, phi, chosen = run.events, run.trial.phi, -1
    for m in range(events.due.size):
        on = is_watched(run, m, run.state.p)
        if on and np.isnan(phi[VALUE, m]):
            events.failed = m
            return -2
        if events.enabled[m] == 1 or on:
            update_scale(run, m, phi[VALUE, m], phi[RATE, m])
        like = run.program.events[
            m
        ].like  # a position, velocity or reaction is as exact as the largest one of the model
        if like > 0:
            size = 1.0 if like == 1 else (rounded_rate(run) if like == 2 else events.load)
            events.scale[m] = max(events.scale[m], run.program.events[m].unit * size)
        if run.program.events[m].period > 0.0:
            events.due[m] = 1 if has_rung(run, m, t) else 0
        else:
            update_due(run, m, phi[VALUE, m], zero_tolerance(run, m, t, phi[RATE, m]), events.passes > 0)
        if chosen < 0 and events.due[m] == 1:
            chosen = m
    for row in range(3):
        copy(phi[row], events.phi[row])
    events.beginning = 2 if events.beginning > 0 else 0
    return chosen


@compiled
def first_due_event(run):
    """The first event that is marked as due; -1 if there is none."""
    for m in range(run.events.due.size):
        if run.events.due[m] == 1:
            return m
    return -1


@compiled
def opens_contact(run, m):
    """True if event m opens a contact that would pull."""
    for contact in run.program.onesided:
        if contact.lift == m:
            return True
    return False


@compiled
def fire_half_condition(run, m, t):
    """Fire one half of a compound condition: it ends the step, so that the whole condition is evaluated. Returns a status."""
    events = run.events
    events.due[m], events.side[m] = 0, 1 if events.side[m] == -1 else -1
    events.fired[m], run.trial.at[m] = 1, events.phi[VALUE, m]
    events.passes += 1
    return CHATTERS if check_accumulation(run, m, t) == CHATTERS else RUNNING


@inlined
def most_single_firings(run):
    """Number of events at one instant from which all contacts and friction are decided together."""
    contacts = run.program.onesided.size
    return 6 + 2 * contacts if contacts > 0 else run.events.due.size * 1000


@inlined
def is_endless(run):
    """True if so many events have fired at this instant that it would not end."""
    return run.events.passes > 50 + 10 * run.events.due.size


@compiled
def fire_checked(run, m, t):
    """Fire an event. If it accumulates, do what the event says for this case: fail, end the run or disable it. Returns a status."""
    events, answer = run.events, run.program.events[m].answer
    status = fire_event(run, m)
    if status != RUNNING:
        return status
    events.passes += 1
    status = check_accumulation(run, m, t)
    if is_endless(run):
        status = CHATTERS
    if status == RUNNING or answer == 0:
        return status
    if answer == 1:
        return ENDED
    events.disabled[m] = 1
    events.passes = 0
    return RUNNING


@compiled
def close_resting_contacts(run):
    """At the start of the run, close the contacts that touch and are pressed together, before any event fires. Returns a status."""
    state, events, t = run.state, run.events, run.state.time
    events.fastest = max(events.fastest, fastest(run, state.xs[state.at]))
    for _ in range(PASSES):
        i = events.structure
        evaluate_guards(run, i, t, state.xs[state.at], state.p, run.scratch.xdot, run.trial.phi)
        store_largest_load(run, i)
        mark_idle_strikes(run, i)
        chosen = find_resting_contact(run, i) if find_due_event(run, t) > -2 else -1
        if chosen < 0:
            break
        events.failed = chosen
        status = fire_checked(run, chosen, t)
        if status != RUNNING:
            return status
    events.beginning = 0
    return RUNNING


@compiled
def process_instant(run):
    """Fire the events that are due at this instant. Returns a status.

    At most `PASSES` events fire in one call; `events.pending` stays 1 while more are due.
    """
    state, events, t = run.state, run.events, run.state.time
    events.fastest = max(events.fastest, fastest(run, state.xs[state.at]))
    for _ in range(PASSES):
        i = events.structure
        evaluate_guards(run, i, t, state.xs[state.at], state.p, run.scratch.xdot, run.trial.phi)
        store_largest_load(run, i)
        mark_idle_strikes(run, i)
        chosen = find_due_event(run, t)
        if chosen == -2:
            return NOT_A_NUMBER
        if redundant_contacts(run, i, state.p):
            if chosen < 0 or opens_contact(run, chosen):
                status = decide_redundant(run, i, state.xs[state.at], state.p, run.trial.phi)
                if status == NEEDS_CONTACT_KERNEL:
                    return status
                if status == LOADS_CHANGED:
                    events.passes += 1
                    if is_endless(run):
                        return CHATTERS
                    continue
                chosen = first_due_event(run)
        if chosen < 0:
            chosen = find_resting_contact(run, i)
        if chosen < 0:
            mark_parting(run)
            finish_instant(run, t)
            limit_step(run, i)
            return RUNNING
        events.failed = chosen
        friction = sliding_friction(run, chosen) if events.history[chosen].vanished > JAMS else -1
        if friction >= 0:
            status = jam(run, friction, t)
            if status != RUNNING:
                return status
            events.history[chosen].vanished = 0
            events.passes += 1
            continue
        if events.passes > most_single_firings(run) and events.decided == 0:
            status = decide_together(run, i, t)
            if status != RUNNING:
                return status
            continue
        status = (
            fire_half_condition(run, chosen, t)
            if run.program.events[chosen].half == 1
            else fire_checked(run, chosen, t)
        )
        if status != RUNNING:
            return status
    return RUNNING
