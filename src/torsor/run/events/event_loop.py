"""The time loop of a run with events: steps that are looked through for events, and instants between them."""

from ...kernels import call
from ...kernels.compiled import compiled, entry, inlined, reference
from ...methods.continuous_extension import begins, ends_here
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
from .clocks import before, ring
from .event_detection import first, quiet
from .event_instant import close_resting_contacts, instant
from .event_location import locate
from .event_tolerances import AT_START, CRAWL, MANY, STILL, go_back, is_watched, keep, measure, near, rounded_rate
from .step_interpolation import ends

# speed of a friction that sticks besides others, over the largest: from here it is taken to slide, up to here it has only begun
BEGINS, SLIDES = 1e-9, 1e-6

at = reference(EventRun)


@compiled
def acts_at_start(run):
    """Whether something happens at the very start of the step: only that is due then."""
    due, any = run.events.due, False
    for m in range(due.size):
        any = any or due[m] == AT_START
    for m in range(due.size if any else 0):
        due[m] = 1 if due[m] == AT_START else 0
    return any


@compiled
def happens(run, i):
    """Go to where something happens in the step, or back if that cannot be decided. Returns a status."""
    if acts_at_start(run):
        go_back(run)
    else:
        status = locate(run, i)
        if status != RUNNING:
            for m in range(run.events.due.size):
                run.events.due[m] = 0
            go_back(run)
            return status
    run.events.pending = 1
    return RUNNING


@compiled
def nothing_happens(run):
    """The step is over, and on which side of zero everything is."""
    events, state = run.events, run.state
    for row in range(3):
        copy(run.step.samples[LAST_SAMPLE, row], events.phi[row])
    for m in range(events.due.size):
        x, rate = events.phi[VALUE, m], events.phi[RATE, m]
        if is_watched(run, m, state.p):
            measure(run, m, x, rate)
        if abs(x) > near(run, m, state.time, rate):
            events.side[m] = 1 if x > 0.0 else -1
    state.fresh, state.rated = 0, 1 if run.program.headings.size == 0 else 0  # F may belong to a state within the step


@compiled
def follow_headings(run, i):
    """The way in which something slides is followed, and what turns about zero is stopped."""
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
def slips(run, i):
    """A friction that sticks and is not in the equations, since other constraints hold the same, and that slides because these
    begin to move: its number, -1 if there is none; and how fast it slides, as a share of the largest rate."""
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
def step(run, goal):
    """One step, looked through. Returns a status."""
    plan, state, events = run.plan, run.state, run.events
    i = events.structure
    if plan.adaptive == 1 and events.followed > 0.0 and state.step > MANY * events.followed:
        state.step = MANY * events.followed
    if run.program.headings.size > 0:
        state.longest = min(state.longest, events.slip_step)
    keep(run)
    begins(run, i)
    status = attempt(run, i, goal)
    if status == REJECTED:
        return RUNNING
    if status != ACCEPTED:
        if state.time > run.kept.time:  # it is looked through when it is repeated
            go_back(run)
        return status
    ends_here(run)
    events.fastest = max(events.fastest, fastest(run, state.xs[state.at]))
    ends(run, i)
    found = 0 if quiet(run, state.p) else first(run, i, state.p)
    if found == 0:
        friction, share = slips(run, i)
        if share > SLIDES or too_deep(run):  # it began within the step: that is to be found
            h = state.time - run.kept.time
            go_back(run)
            state.longest = 0.3 * h
            return RUNNING
        write_outputs_within_step(run)
        nothing_happens(run)
        follow_parting(run)
        if friction >= 0:
            events.due[run.program.frictions[friction].starts], events.pending = 1, 1
        follow_headings(run, i)
        limit_step(run, i)
        return RUNNING
    if found > 0:
        return happens(run, i)
    go_back(run)
    if found == -1:
        return NOT_A_NUMBER
    if plan.adaptive == 0:
        events.number = plan.step
        return VARIES_TOO_FAST
    return RUNNING


@compiled
def jumps_at_output(run):
    """Move the time across a breakpoint at which an output is due: forces may jump there, and contacts, friction and conditions
    react before the output is written. Returns whether there was one."""
    if run.plan.bends.size == 0 or not reaches_breakpoint(run):
        return False
    next_breakpoint(run)
    if not output_is_due(run):
        return False
    run.events.pending = run.events.passes = 1
    return True


@inlined
def note_event_energy(run, since):
    """Take note of the energy that events have changed at the outputs that were written since."""
    for i in range(since, run.out.written):
        run.out.by_events[i] = run.events.energy


@entry("int64", "int64")
def march_events(address, budget):
    """Attempt at most so many steps; write the state at every output time that is reached. Returns a status. With a budget of 0
    steps contacts that rest at the very start close; with -1 all events that are due now happen, and no time passes."""
    run = at(address)
    if budget < 0:
        return instant(run) if run.events.pending == 1 else RUNNING
    out, events = run.out, run.events
    run.state.fresh, run.state.rated = 0, LOST if run.state.rated != 0 else 0
    since = out.written
    write_outputs_within_step(run)
    note_event_energy(run, since)
    if events.beginning > 0:
        status = close_resting_contacts(run)
        if status != RUNNING:
            return status
    ended = False
    for _ in range(budget):
        if portion_is_complete(run):
            return FINISHED
        ring(run)
        if events.pending == 1:
            status = instant(run)
            if status != RUNNING and status != ENDED:
                return status
            if status == RUNNING and events.pending == 1:
                continue
            ended = status == ENDED
        if not ended and jumps_at_output(run):
            continue
        since = out.written
        goal = write_due_outputs(run)
        note_event_energy(run, since)
        if ended:
            return ENDED
        if outputs_are_complete(run):
            return FINISHED
        since = out.written
        status = step(run, before(run, goal))
        note_event_energy(run, since)
        if status != RUNNING:
            return status
    return RUNNING
