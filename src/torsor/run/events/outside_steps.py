"""Events of a run whose steps another program takes, as in model exchange.

That program watches an indicator for each event. It is positive until the event is due:

    z = φ + ε    where φ is positive or undecided,        z = ε − φ    where φ is negative and its rise counts      (1)

φ   watched function of the event
ε   margin, so that rounding about zero is no event
"""

import numpy as np

from ...kernels import call
from ...kernels.compiled import compiled, entry, reference
from ...methods.status_codes import RUNNING
from ...methods.vector_functions import copy, fastest
from ...prepare.event_codes import NOT_A_NUMBER
from ...prepare.event_records import RATE, VALUE, EventRun
from ..contacts.lift_off import follow_parting
from ..contacts.stick_slip import SLOW
from .event_loop import SLIDES, find_slipping_friction, update_sliding_directions
from .event_tolerances import is_watched, update_scale, zero_tolerance
from .step_interpolation import evaluate_guards

INDICATOR_MARGIN = 4.0  # ε over the distance from zero at which a function is neither positive nor negative
LEAST_INDICATOR_MARGIN = 1e-13  # ε over the unit of the function, at least
UNWATCHED = 1.0  # indicator of an event that is not watched

at = reference(EventRun)


@compiled
def margin(run, m, rate):
    """ε of (1) for event m."""
    return max(
        INDICATOR_MARGIN * zero_tolerance(run, m, run.state.time, rate),
        LEAST_INDICATOR_MARGIN * run.program.events[m].unit,
    )


@compiled
def indicator(run, m, x, rate):
    """z of (1) for event m. x: value of its function"""
    if not is_watched(run, m, run.state.p):
        return UNWATCHED
    if run.events.side[m] == -1:
        return margin(run, m, rate) - x if run.program.events[m].both == 1 else UNWATCHED
    return x + margin(run, m, rate)


@entry("int64")
def indicate(address):
    """Compute the indicators at the present state; they are left in `step.phi[0]`. Returns a status."""
    run = at(address)
    state, phi = run.state, run.trial.phi
    evaluate_guards(run, run.events.structure, state.time, state.xs[state.at], state.p, run.scratch.xdot, phi)
    for m in range(run.events.due.size):
        z = indicator(run, m, phi[VALUE, m], phi[RATE, m])
        if np.isnan(z):
            run.events.failed = m
            return NOT_A_NUMBER
        run.step.phi[0, m] = z
    return RUNNING


@entry("int64")
def accept_step(address):
    """Note that a step has ended at the present state. `events.pending` is 1 afterwards if an event is due. Returns a status."""
    run = at(address)
    events, state, phi, i = run.events, run.state, run.trial.phi, run.events.structure
    status = indicate(address)
    if status != RUNNING:
        return status
    events.fastest = max(events.fastest, fastest(run, state.xs[state.at]))
    for m in range(events.due.size):
        x, rate = phi[VALUE, m], phi[RATE, m]
        if not is_watched(run, m, state.p):
            continue
        update_scale(run, m, x, rate)
        if run.step.phi[0, m] < 0.0:
            events.pending = 1
        elif x > margin(run, m, rate) and (events.side[m] == 0 or run.program.events[m].both == 0):
            events.side[m] = 1
    for row in range(3):
        copy(phi[row], events.phi[row])
    follow_parting(run)
    friction, share = find_slipping_friction(run, i)
    if share > SLIDES:
        events.due[run.program.frictions[friction].starts], events.pending = 1, 1
    update_sliding_directions(run, i)
    return RUNNING


@entry("int64")
def decide_friction_at_start(address):
    """Let dry friction stick at the start of a run where nothing slides. Returns a status."""
    run = at(address)
    state, s, later, i = run.state, run.scratch, run.trial.later, run.events.structure
    x, p = state.xs[state.at], state.p
    slow = SLOW * fastest(run, x)
    for m in range(s.xdot.size):
        s.xdot[m] = 0.0
    for m in range(s.lam.size):
        s.lam[m] = 0.0
    s.t[0] = state.time
    call.slots(run.kernels[i], s, x, p, s.xdot, s.lam, later)
    for f in run.program.frictions:
        host, armed = f.host < 0 or p[f.host] == 1.0, f.armed < 0 or p[f.armed] == 1.0
        sticks = later[f.speed] <= slow * run.program.units[f.row] and host
        p[f.stick] = 1.0 if sticks and armed else 0.0
        p[f.slip] = 1.0 if armed and not sticks else 0.0
        for l in range(f.parts if later[f.speed] > 0.0 else 0):
            p[f.heading + l] = later[f.speed + 1 + l]
    return RUNNING
