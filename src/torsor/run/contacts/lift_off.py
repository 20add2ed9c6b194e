"""Contacts that open where their force falls through zero.

Just after that the gap is as small as the error of a step, both of the third order in time, so that a method may see it closed:

    g ≈ −λ̇ t³/6m                                                                                     (1)

Such a contact closes again at the same instant, opens again, and so on. Where that happens the contact stays open although its gap
may be a little negative, until it is wide or closes further.
"""

from ...kernels.compiled import compiled, inlined
from ...methods.vector_functions import copy
from ...prepare.event_codes import RELEASE, STRIKE
from ...prepare.event_records import LAST_SAMPLE, RATE, VALUE
from ..events.event_tolerances import NEAR, is_watched, rounded_rate, zero_tolerance

WIDE = 1e-6  # gap over its unit, above which a contact is certainly open
DEEP = 1e-9  # negative gap over its unit, beyond which the step is repeated with a shorter one


@compiled
def find_reopening(run, m):
    """The event that has opened the constraint which event m strikes at this instant, and not for the first time; -1: none."""
    events, ops = run.program.events, run.program.ops
    for e in range(events.size):
        if run.events.fired[e] == 0 or run.events.history[e].vanished == 0:
            continue
        for k in range(events[e].ops, events[e].ops_end):
            for l in range(events[m].ops, events[m].ops_end):
                if ops[k].code == RELEASE and ops[l].code == STRIKE and ops[k].place == ops[l].place:
                    return e
    return -1


@compiled
def mark_parting(run):
    """Mark the events of contacts that open, close and open again at this instant: they have opened once."""
    for m in range(run.events.due.size):
        watch = run.program.events[m]
        if watch.approach >= 0 and watch.undecided_near_zero == 1 and is_watched(run, m, run.state.p):
            e = find_reopening(run, m)
            if e >= 0:
                run.events.parting[m] = 1
                log_once(run, e, m)


@compiled
def log_once(run, opens, closes):
    """Take what followed the first opening of a contact at this instant from the log: it has closed and opened again."""
    log, first = run.log, run.log.count
    while first > 0 and log.time[first - 1] == run.state.time:
        first -= 1
    kept, opened = first, False
    for entry in range(first, log.count):
        event = log.event[entry]
        again = event == closes or (event == opens and opened)
        opened = opened or event == opens
        if opened and again:
            continue
        log.event[kept], log.time[kept], log.energy[kept] = event, log.time[entry], log.energy[entry]
        copy(log.impulse[entry], log.impulse[kept])
        copy(log.slots[entry], log.slots[kept])
        kept += 1
    log.count = kept


@inlined
def too_deep(run):
    """True if a contact that opens is further closed at the end of the step than can be neglected."""
    for m in range(run.events.due.size):
        if run.events.parting[m] == 1 and run.step.samples[LAST_SAMPLE, VALUE, m] < -DEEP * run.program.events[m].unit:
            return True
    return False


@inlined
def follow_parting(run):
    """At the end of a step contacts that open are open, or they are struck where they close further."""
    events = run.events
    for m in range(events.due.size):
        if events.parting[m] == 0:
            continue
        x, rate, unit = events.phi[VALUE, m], events.phi[RATE, m], run.program.events[m].unit
        closes = rate < -NEAR * unit * rounded_rate(run)
        if closes and x <= zero_tolerance(run, m, run.state.time, rate):
            events.due[m], events.pending = 1, 1
        if closes or x > WIDE * unit:
            events.parting[m] = 0
