"""The time loop of a run with events: steps, each searched for events, and the instants at which events fire."""

from ...kernels import call
from ...kernels.compiled import compiled, entry, inlined, reference
from ...methods.continuous_extension import begin_step, end_step
from ...methods.status_codes import ACCEPTED, FINISHED, LOST, REJECTED, RUNNING
from ...methods.vector_functions import copy, fastest
from ...prepare.event_codes import ENDED, NOT_A_NUMBER, VARIES_TOO_FAST
from ...prepare.event_records import LAST_SAMPLE, RATE, VALUE, EventRun
from ..attempt import attempt
from ..breakpoints import next_breakpoint, reaches_breakpoint
from ..contacts.impulses import place_of
from ..contacts.lift_off import follow_parting, too_deep
from ..contacts.slip_steps import limit_step
from ..step_outputs import (
    output_is_due,
    outputs_are_complete,
    portion_is_complete,
    write_due_outputs,
    write_outputs_within_step,
)
from .clocks import start_clock_instants, time_before_clock
from .event_detection import find_first_event, is_quiet
from .event_instant import close_resting_contacts, process_instant
from .event_location import locate
from .event_tolerances import (
    AT_START,
    CRAWL,
    MANY,
    STILL,
    is_watched,
    restore_step_start,
    rounded_rate,
    save_step_start,
    update_scale,
    zero_tolerance,
)
from .step_interpolation import evaluate_step_ends

# speed of redundant sticking friction / largest speed: below BEGINS it is rounding, above SLIDES the friction slides
BEGINS, SLIDES = 1e-9, 1e-6

at = reference(EventRun)


@compiled
def select_events_at_start(run):
    """True if events are due at the start of the step. Then no others stay due."""
    due, any = run.events.due, False
    for m in range(due.size):
        any = any or due[m] == AT_START
    for m in range(due.size if any else 0):
        due[m] = 1 if due[m] == AT_START else 0
    return any


@compiled
def go_to_event(run, i):
    """Go to the first event within the step; back to its start if that fails. Returns a status."""
    if select_events_at_start(run):
        restore_step_start(run)
    else:
        status = locate(run, i)
        if status != RUNNING:
            for m in range(run.events.due.size):
                run.events.due[m] = 0
            restore_step_start(run)
            return status
    run.events.pending = 1
    return RUNNING


@compiled
def finish_step(run):
    """Finish a step without events: store the side of zero of each watched function."""
    events, state = run.events, run.state
    for row in range(3):
        copy(run.step.samples[LAST_SAMPLE, row], events.phi[row])
    for m in range(events.due.size):
        x, rate = events.phi[VALUE, m], events.phi[RATE, m]
        if is_watched(run, m, state.p):
            update_scale(run, m, x, rate)
        if abs(x) > zero_tolerance(run, m, state.time, rate):
            events.side[m] = 1 if x > 0.0 else -1
    state.fresh, state.rated = (
        0,
        1 if run.program.headings.size == 0 else 0,
    )  # the factor F may belong to a state within the step


@compiled
def update_sliding_directions(run, i):
    """Store the directions of sliding. Sliding in two directions that comes to rest is marked to stop."""
    events, state, s, later = run.events, run.state, run.scratch, run.trial.later
    if run.program.headings.size > 0:
        call.slots(run.kernels[i], s, state.xs[state.at], state.p, s.xdot, s.lam, later)
    for heading in run.program.headings:
        unit = run.program.units[heading.row]
        crawl, still = CRAWL * unit * rounded_rate(run), STILL * unit * events.fastest
        speed, stop = later[heading.slot - 1], heading.stop
        if speed > 0.0:
            for l in range(heading.parts if speed > crawl else 0):
                state.p[heading.place + l] = later[heading.slot + l]
            slow = speed < still and events.phi[RATE, stop] < 0.0
            if speed > 10 * still:
                events.armed[stop] = 1
            elif slow and events.armed[stop] == 1 and is_watched(run, stop, state.p):
                events.due[stop], events.pending, events.armed[stop] = 1, 1, 0
        state.p[heading.crawl] = crawl


@compiled
def find_slipping_friction(run, i):
    """Find redundant sticking friction that slides, because the constraints that hold in its place begin to move.

    Returns the number of the friction that slides fastest, -1 if there is none, and its speed over the largest rate.
    """
    frictions, s, state, later = run.program.frictions, run.scratch, run.state, run.trial.later
    most, found, evaluated = 0.0, -1, False
    for k in range(frictions.size):
        f = frictions[k]
        redundant = False
        for c in range(f.parts):
            redundant = redundant or place_of(run, i, f.row + c, state.p) < 0
        if state.p[f.stick] != 1.0 or not redundant:
            continue
        if not evaluated:
            call.slots(run.kernels[i], s, state.xs[state.at], state.p, s.xdot, s.lam, later)
            evaluated = True
        share = later[f.speed] / (run.program.units[f.row] * rounded_rate(run)) if rounded_rate(run) > 0.0 else 0.0
        if share > max(most, BEGINS):
            most, found = share, k
    return found, most


@compiled
def take_step(run, goal):
    """Take one step and search it for events. Returns a status."""
    plan, state, events = run.plan, run.state, run.events
    i = events.structure
    if plan.adaptive == 1 and events.followed > 0.0 and state.step > MANY * events.followed:
        state.step = MANY * events.followed
    if run.program.headings.size > 0:
        state.longest = min(state.longest, events.slip_step)
    save_step_start(run)
    begin_step(run, i)
    status = attempt(run, i, goal)
    if status == REJECTED:
        return RUNNING
    if status != ACCEPTED:
        if state.time > run.kept.time:  # the step is searched when it is repeated
            restore_step_start(run)
        return status
    end_step(run)
    events.fastest = max(events.fastest, fastest(run, state.xs[state.at]))
    evaluate_step_ends(run, i)
    found = 0 if is_quiet(run, state.p) else find_first_event(run, i, state.p)
    if found == 0:
        friction, share = find_slipping_friction(run, i)
        if share > SLIDES or too_deep(run):  # sliding began within the step: find the instant with shorter steps
            h = state.time - run.kept.time
            restore_step_start(run)
            state.longest = 0.3 * h
            return RUNNING
        write_outputs_within_step(run)
        finish_step(run)
        follow_parting(run)
        if friction >= 0:
            events.due[run.program.frictions[friction].starts], events.pending = 1, 1
        update_sliding_directions(run, i)
        limit_step(run, i)
        return RUNNING
    if found > 0:
        return go_to_event(run, i)
    restore_step_start(run)
    if found == -1:
        return NOT_A_NUMBER
    if plan.adaptive == 0:
        events.number = plan.step
        return VARIES_TOO_FAST
    return RUNNING


@compiled
def cross_breakpoint_at_output(run):
    """Move the time across a breakpoint at which an output is due, so that contacts, friction and conditions react to forces that
    jump there before the output is written. Returns whether there was such a breakpoint."""
    if run.plan.bends.size == 0 or not reaches_breakpoint(run):
        return False
    next_breakpoint(run)
    if not output_is_due(run):
        return False
    run.events.pending = run.events.passes = 1
    return True


@inlined
def store_event_energy(run, since):
    """Store the energy added by events at the outputs that were written after output `since`."""
    for i in range(since, run.out.written):
        run.out.by_events[i] = run.events.energy


@entry("int64", "int64")
def march_events(address, budget):
    """Attempt at most `budget` steps; write the state at every output time that is reached. Returns a status.

    A budget of 0 closes the contacts that rest at the start. A budget of -1 fires the events that are due now, without a step.
    """
    run = at(address)
    if budget < 0:
        return process_instant(run) if run.events.pending == 1 else RUNNING
    out, events = run.out, run.events
    run.state.fresh, run.state.rated = 0, LOST if run.state.rated != 0 else 0
    since = out.written
    write_outputs_within_step(run)
    store_event_energy(run, since)
    if events.beginning > 0:
        status = close_resting_contacts(run)
        if status != RUNNING:
            return status
    ended = False
    for _ in range(budget):
        if portion_is_complete(run):
            return FINISHED
        start_clock_instants(run)
        if events.pending == 1:
            status = process_instant(run)
            if status != RUNNING and status != ENDED:
                return status
            if status == RUNNING and events.pending == 1:
                continue
            ended = status == ENDED
        if not ended and cross_breakpoint_at_output(run):
            continue
        since = out.written
        goal = write_due_outputs(run)
        store_event_energy(run, since)
        if ended:
            return ENDED
        if outputs_are_complete(run):
            return FINISHED
        since = out.written
        status = take_step(run, time_before_clock(run, goal))
        store_event_energy(run, since)
        if status != RUNNING:
            return status
    return RUNNING
