"""What happens at one instant: events fire one after the other until none is due, and no time passes.

A change of structure may make other conditions true or false at once; they are looked at again after every event, in the
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
from .clocks import rings
from .event_firing import fire
from .event_tolerances import CRAWL, LEAVES, NEAR, PASSES, REBOUND, is_watched, load_of, measure, near, rounded_rate
from .step_interpolation import watch
from .strikes_on_closed import mark_idle_strikes

JAMS = 20  # lifts of a contact without time passing, from which it jams
OPENED = 1e-8  # acceleration over the largest, above which a contact that was opened at this instant is closed again


@compiled
def start_watching(run, m, x, close):
    """An event has just become enabled: the side on which its function is, and whether it is due."""
    events, watch = run.events, run.program.events[m]
    if watch.undecided_near_zero == 1 or (
        watch.condition == 1 and events.beginning != 1
    ):  # near zero the next instant decides
        events.side[m] = 1 if x > close else (0 if x >= -close else -1)
        events.due[m] = 1 if x < -close else 0
    elif watch.condition == 1:  # at the very start a condition is taken at its word
        holds = x < 0.0 or (x == 0.0 and watch.strict == 0)
        events.side[m], events.due[m] = (-1, 1) if holds else (1, 0)
    else:
        events.side[m], events.due[m] = 1 if x > close else (-1 if x < -close else 0), 0


@compiled
def decide(run, m, x, close, jumped):
    """Whether event m is due now, from the value x of its function, what counts as close to zero, and what is known."""
    events, watch, before = run.events, run.program.events[m], run.events.phi[VALUE, m]
    is_on = is_watched(run, m, run.state.p)
    if not is_on:
        events.due[m] = 0
    elif events.enabled[m] == 0:
        start_watching(run, m, x, close)
    elif not jumped:
        if events.due[m] == 0 and events.side[m] == 0 and x > close:
            events.side[m] = 1
    elif events.due[m] == 1:
        if x > close and watch.condition == 1:  # what another event has just made false does not happen
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
def accumulation(run, e, t):
    """Whether an event follows itself faster and faster. Returns a status."""
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
def let_go(run, m):
    """Whether the contact that event m closes was opened at this very instant."""
    events, ops = run.program.events, run.program.ops
    for e in range(events.size):
        for k in range(events[e].ops if run.events.fired[e] == 1 else events[e].ops_end, events[e].ops_end):
            for l in range(events[m].ops, events[m].ops_end):
                if ops[k].code == RELEASE and ops[l].code == STRIKE and ops[k].place == ops[l].place:
                    return True
    return False


@compiled
def resting(run, i):
    """The first open contact that is not left and would be broken by the present motion, -1 if none; all such are due. What
    has just been opened had no load but for rounding, and is not pushed back by as little."""
    events, trial, state, s, n = run.events, run.trial, run.state, run.scratch, run.plan.velocities
    found, pull = -1, NEAR * max(without_length(run, s.xdot, n), events.fall**2)
    call.slots(run.kernels[i], s, state.xs[state.at], state.p, s.xdot, s.lam, trial.later)
    for m in range(events.due.size):
        watch, rate = run.program.events[m], trial.phi[RATE, m]
        at_zero = abs(trial.phi[VALUE, m]) <= near(run, m, state.time, rate)
        if (
            watch.approach >= 0
            and watch.undecided_near_zero == 1
            and events.enabled[m] == 1
            and events.side[m] == 0
            and at_zero
        ):
            still = NEAR * watch.unit * rounded_rate(run)
            again = events.decided == 1 or let_go(run, m)
            least = pull * (OPENED / NEAR if again else 1.0) * watch.unit
            pulled = trial.later[watch.approach] < -least
            low = 0.5 * rate**2 < -trial.later[watch.approach] * REBOUND * watch.unit  # it comes back at once
            if rate < -still or (pulled and (rate < still or low)):
                events.due[m] = 1
                found = m if found < 0 else found
    return found


@compiled
def side_after(run, m, t, x, rate):
    """The side on which a function is when time goes on after an instant."""
    events, watch, close = run.events, run.program.events[m], near(run, m, t, rate)
    same = abs(x - run.trial.at[m]) <= close  # it has not jumped since it fired
    located = events.fired[m] == 1 and watch.undecided_near_zero == 0 and same
    if events.enabled[m] == 1 and abs(x) > (100 * close if located else close):
        return 1 if x > 0.0 else -1
    if watch.undecided_near_zero == 0 and watch.rated == 1 and abs(rate) > LEAVES * events.speed[m]:
        if events.fired[m] == 1:  # it leaves zero as the motion after the instant has it, which may have jumped
            return 1 if rate > 0.0 else -1
        if events.side[m] == -1 and rate > 0.0 and watch.both == 0:
            return 1
    return 0 if events.side[m] == 1 else events.side[m]  # at zero and not fired: the next instant decides


@compiled
def leave(run, t):
    """The instant is over: on which side of zero everything is."""
    events, phi = run.events, run.trial.phi
    for m in range(events.due.size):
        events.side[m] = side_after(run, m, t, phi[VALUE, m], phi[RATE, m])
        events.fired[m] = 0
    for heading in run.program.headings:
        run.state.p[heading.crawl] = CRAWL * run.program.units[heading.row] * rounded_rate(run)
    events.pending, events.passes, events.decided, run.state.rated = 0, 0, 0, 0


@compiled
def loads(run, i):
    """Take note of the largest multiplier, and of the rate that what is held would reach."""
    events = run.events
    events.load = max(events.load, load_of(run, i))
    fall = np.sqrt(events.load / (run.plan.mass * run.scales.length))  # of what is held, through the model
    events.fall = max(events.fall, fall)


@compiled
def due(run, t):
    """The first event that is due, -1 if none; -2 where a condition is not a number."""
    events, phi, chosen = run.events, run.trial.phi, -1
    for m in range(events.due.size):
        on = is_watched(run, m, run.state.p)
        if on and np.isnan(phi[VALUE, m]):
            events.failed = m
            return -2
        if events.enabled[m] == 1 or on:
            measure(run, m, phi[VALUE, m], phi[RATE, m])
        like = run.program.events[m].like  # positions, velocities, reactions are as exact as the largest of them
        if like > 0:
            size = 1.0 if like == 1 else (rounded_rate(run) if like == 2 else events.load)
            events.scale[m] = max(events.scale[m], run.program.events[m].unit * size)
        if run.program.events[m].period > 0.0:
            events.due[m] = 1 if rings(run, m, t) else 0
        else:
            decide(run, m, phi[VALUE, m], near(run, m, t, phi[RATE, m]), events.passes > 0)
        if chosen < 0 and events.due[m] == 1:
            chosen = m
    for row in range(3):
        copy(phi[row], events.phi[row])
    events.beginning = 2 if events.beginning > 0 else 0
    return chosen


@compiled
def first_due(run):
    """The first event that is due, -1 if none."""
    for m in range(run.events.due.size):
        if run.events.due[m] == 1:
            return m
    return -1


@compiled
def lifts(run, m):
    """True if event m opens a contact that would pull."""
    for contact in run.program.onesided:
        if contact.lift == m:
            return True
    return False


@compiled
def half_fires(run, m, t):
    """Half of a condition is only to be looked at here. Returns a status."""
    events = run.events
    events.due[m], events.side[m] = 0, 1 if events.side[m] == -1 else -1
    events.fired[m], run.trial.at[m] = 1, events.phi[VALUE, m]
    events.passes += 1
    return CHATTERS if accumulation(run, m, t) == CHATTERS else RUNNING


@inlined
def one_by_one(run):
    """How often something may happen at an instant before all contacts and friction are decided together."""
    contacts = run.program.onesided.size
    return 6 + 2 * contacts if contacts > 0 else run.events.due.size * 1000


@inlined
def too_many(run):
    """True if so much has happened at this instant that it will not come to an end."""
    return run.events.passes > 50 + 10 * run.events.due.size


@compiled
def fires(run, m, t):
    """One event happens; where it follows itself too fast, what it says is done. Returns a status."""
    events, answer = run.events, run.program.events[m].answer
    status = fire(run, m)
    if status != RUNNING:
        return status
    events.passes += 1
    status = accumulation(run, m, t)
    if too_many(run):
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
    """At the very start what touches, and is pressed together, closes before anything else happens. Returns a status."""
    state, events, t = run.state, run.events, run.state.time
    events.fastest = max(events.fastest, fastest(run, state.xs[state.at]))
    for _ in range(PASSES):
        i = events.structure
        watch(run, i, t, state.xs[state.at], state.p, run.scratch.xdot, run.trial.phi)
        loads(run, i)
        mark_idle_strikes(run, i)
        chosen = resting(run, i) if due(run, t) > -2 else -1
        if chosen < 0:
            break
        events.failed = chosen
        status = fires(run, chosen, t)
        if status != RUNNING:
            return status
    events.beginning = 0
    return RUNNING


@compiled
def instant(run):
    """Let everything happen that is due at this instant, or a part of it: more is to be done while it is pending. Returns a
    status."""
    state, events, t = run.state, run.events, run.state.time
    events.fastest = max(events.fastest, fastest(run, state.xs[state.at]))
    for _ in range(PASSES):
        i = events.structure
        watch(run, i, t, state.xs[state.at], state.p, run.scratch.xdot, run.trial.phi)
        loads(run, i)
        mark_idle_strikes(run, i)
        chosen = due(run, t)
        if chosen == -2:
            return NOT_A_NUMBER
        if redundant_contacts(run, i, state.p):
            if chosen < 0 or lifts(run, chosen):
                status = decide_redundant(run, i, state.xs[state.at], state.p, run.trial.phi)
                if status == NEEDS_CONTACT_KERNEL:
                    return status
                if status == LOADS_CHANGED:
                    events.passes += 1
                    if too_many(run):
                        return CHATTERS
                    continue
                chosen = first_due(run)
        if chosen < 0:
            chosen = resting(run, i)
        if chosen < 0:
            mark_parting(run)
            leave(run, t)
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
        if events.passes > one_by_one(run) and events.decided == 0:
            status = decide_together(run, i, t)
            if status != RUNNING:
                return status
            continue
        status = half_fires(run, chosen, t) if run.program.events[chosen].half == 1 else fires(run, chosen, t)
        if status != RUNNING:
            return status
    return RUNNING
