"""One event fires, with the events that fire together with it: their elementary steps change a trial state, which then replaces the
present state as a whole.

The run may have to stop here: to compile the kernels of a new structure, to empty the log, or to call a controller. Then the
present state is unchanged.
"""

import numpy as np

from ...kernels import call
from ...kernels.compiled import call_step, compiled
from ...methods.rank_agreement import same_trunk
from ...methods.status_codes import RUNNING
from ...methods.vector_functions import copy, rate
from ...prepare.event_codes import (
    CALL_CONTROLLER,
    CALL_STEP,
    DECIDE,
    END,
    ENDED,
    ENGAGE,
    LOG_FULL,
    NEEDS_CONTROLLER,
    NEEDS_STRUCTURE,
    NOT_A_NUMBER,
    PENETRATES,
    RELEASE,
    RESTITUTION,
    SET,
    STICK_OR_SLIDE,
    STRIKE,
)
from ...prepare.event_records import RATE, VALUE
from ..contacts.impulses import loosen, place_of, residuals
from ..contacts.stick_slip import grip
from ..contacts.velocity_jumps import jump, positions, velocities
from .event_tolerances import FAR, LEANS, structure_of

# flags: what has to be solved after the elementary steps
NOTHING, MOVED, LANDS, ENGAGED, SNAPS, ENDS, STICKS_OR_SLIDES = 0, 1, 2, 4, 8, 16, 32
PUSHED = 64  # velocities have jumped: closed contacts have impulses


@compiled
def has_step(run, e, code):
    """True if an event has elementary steps of this kind."""
    for k in range(run.program.events[e].ops, run.program.events[e].ops_end):
        if run.program.ops[k].code == code:
            return True
    return False


@compiled
def fires_together(run, other, e):
    """True if event `other` fires together with event e: impacts at one instant are solved together, and so is dry friction that
    sticks or begins to slide."""
    if other == e or run.events.due[other] == 0:
        return other == e
    strike, land = has_step(run, e, STRIKE), has_step(run, e, STICK_OR_SLIDE)
    if run.events.opening == 1 and has_step(run, e, RELEASE) and has_step(run, other, RELEASE):
        return True
    return (strike and has_step(run, other, STRIKE)) or (land and has_step(run, other, STICK_OR_SLIDE))


@compiled
def find_cause(run, e):
    """The event that has fired where event e was due: friction whose speed vanishes sticks or reverses its direction. -1 for
    friction that was due to slide and sticks."""
    for f in run.program.frictions if has_step(run, e, STICK_OR_SLIDE) else run.program.frictions[:0]:
        sticks = run.trial.p[f.stick] == 1.0
        if f.stops == e:
            return e if sticks else f.reverses
        if f.starts == e and sticks:
            return -1
    return e


@compiled
def energy_of(run, i, t, x, p):
    """Kinetic and potential energy of a state."""
    s, energies = run.scratch, run.trial.energies
    s.t[0] = t
    call.energies(run.kernels[i], s, x, p, energies)
    return energies[0] + energies[1]


@compiled
def add_strike(run, e, op):
    """Add a constraint that an event strikes to the list of this impact. Returns a status."""
    trial, events = run.trial, run.events
    e_ = trial.slots[op.slot]
    if not 0.0 <= e_ <= 1.0:
        events.number = e_
        return RESTITUTION
    if run.program.events[e].undecided_near_zero == 1 and events.phi[VALUE, e] < -FAR * run.program.units[op.row]:
        events.number, events.failed = events.phi[VALUE, e], e
        return PENETRATES
    hit = trial.struck[events.struck]
    hit.row, hit.place, hit.restitution, hit.slot = op.row, op.place, e_, op.slot + 1
    hit.stays, hit.takes_part = 0, 1
    hit.leaving = events.phi[RATE, e]  # approach velocity, used if the row is redundant
    rises = run.program.events[e].both == 1 and events.side[e] == -1
    hit.side = -trial.slots[op.slot + 2] if rises else trial.slots[op.slot + 2]
    events.struck += 1
    return RUNNING


@compiled
def apply_elementary_steps(run, e, t):
    """Apply the elementary steps of an event to the trial state. Returns a status, and flags of what has to be solved then."""
    program, trial, asks = run.program, run.trial, NOTHING
    watch = program.events[e]
    for k in range(watch.ops, watch.ops_end):
        op = program.ops[k]
        if op.code == SET:
            if np.isnan(trial.slots[op.slot]):
                return NOT_A_NUMBER, asks
            trial.p[op.place] = trial.slots[op.slot]
            asks |= MOVED if program.moving[op.place] == 1 else NOTHING
        elif op.code == RELEASE:
            trial.p[op.place] = 0.0
            asks |= LANDS  # other constraints may take over its load
        elif op.code == ENGAGE:
            trial.p[op.place] = 1.0
            asks |= ENGAGED | (SNAPS if trial.slots[op.slot] != 0.0 else NOTHING)
        elif op.code == STRIKE:
            status = add_strike(run, e, op)
            if status != RUNNING:
                return status, asks
        elif op.code == STICK_OR_SLIDE:
            asks |= STICKS_OR_SLIDES
        elif op.code == DECIDE:
            asks |= LANDS
        elif op.code == END:
            asks |= ENDS
        elif op.code == CALL_STEP:
            status = call_step(program.steps[op.step], run.here, k, t, 0.0)
            if status != RUNNING:
                return status, asks
            asks |= trial.asks
    if watch.time >= 0:
        trial.p[watch.time] = t
        asks |= MOVED if program.moving[watch.time] == 1 else NOTHING
    if watch.count >= 0:
        trial.p[watch.count] += 1.0
        asks |= MOVED if program.moving[watch.count] == 1 else NOTHING
    return RUNNING, asks


@compiled
def begin_trial(run, t):
    """Copy the present state to the trial state, and evaluate the values that elementary steps use. Returns its energy."""
    state, trial, s, i = run.state, run.trial, run.scratch, run.events.structure
    x = state.xs[state.at]
    copy(x, trial.x)
    copy(state.p, trial.p)
    for m in range(run.program.states.size):  # events set own states through their copies in p
        trial.p[run.program.states[m]] = x[x.size - run.program.states.size + m]
    for m in range(trial.impulses.size):
        trial.impulses[m] = 0.0
        trial.given[m] = 0.0
    trial.asks = NOTHING
    energy = energy_of(run, i, t, x, state.p)
    rate(run, run.kernels[i], t, x, state.p, s.xdot)
    call.slots(run.kernels[i], s, x, state.p, s.xdot, s.lam, trial.slots)
    run.events.struck = 0
    return energy


@compiled
def restore_velocities(run):
    """Restore the velocities after parameters were set. A state that contains momenta is computed again from the velocities."""
    k, state, trial, s = run.kernels[run.events.structure], run.state, run.trial, run.scratch
    if k.renewed != 0:
        s.t[0] = state.time
        call.renewed(k, s, trial.x, state.p, trial.p, trial.other)
        copy(trial.other, trial.x)


@compiled
def solve_trial_state(run, t, e, asks):
    """Solve for positions, velocities and friction of the trial state after the elementary steps. Returns a status."""
    hit, engaged, pushed, status = run.events.struck > 0, asks & ENGAGED != 0, asks & PUSHED != 0, RUNNING
    if hit or engaged:
        status = solve_collision(run, t, engaged, asks & SNAPS != 0)
    elif asks & (MOVED | PUSHED):  # a quantity in the constraints has changed, or the velocities
        status = positions(run, t, False) if asks & MOVED else RUNNING
        if status == RUNNING:
            status = solve_push(run, t) if pushed else velocities(run, t)
    if status == RUNNING and (asks & (LANDS | STICKS_OR_SLIDES) or hit or engaged or pushed):
        status = grip(run, t, e, hit or engaged or pushed)
    return status


@compiled
def solve_push(run, t):
    """Solve for velocities after an impulse was applied to a body: closed contacts react or open. Returns a status."""
    loosen(run, run.trial.p, False)
    return jump(run, t) if run.program.onesided.size > 0 else RUNNING


@compiled
def fire_event(run, e):
    """Fire event e. Returns a status; NEEDS_STRUCTURE, LOG_FULL and NEEDS_CONTROLLER leave the present state unchanged."""
    events, t, asks = run.events, run.state.time, NOTHING
    if run.log.count + events.due.size > run.log.time.size:
        return LOG_FULL
    energy = begin_trial(run, t)
    if events.answered == 0 and has_step(run, e, CALL_CONTROLLER):
        return NEEDS_CONTROLLER
    events.rebounds_end = t
    if has_step(run, e, STICK_OR_SLIDE):  # friction sticks or slides first: the other steps depend on it
        status = solve_trial_state(run, t, e, STICKS_OR_SLIDES)
        if status != RUNNING:
            return status
    for other in range(events.due.size):
        m = find_cause(run, other) if fires_together(run, other, e) else -1
        if m >= 0:
            status, more = apply_elementary_steps(run, m, t)
            if status != RUNNING:
                return status
            asks |= more
    for m in range(run.program.states.size):
        run.trial.x[run.trial.x.size - run.program.states.size + m] = run.trial.p[run.program.states[m]]
    restore_velocities(run)
    status = solve_trial_state(run, t, e, asks & ~STICKS_OR_SLIDES)
    if status != RUNNING:
        return status
    i = structure_of(run, run.trial.p)
    if i < 0:
        return NEEDS_STRUCTURE
    accept_trial_state(run, i, e, energy_of(run, i, t, run.trial.x, run.trial.p) - energy)
    return ENDED if asks & ENDS else RUNNING


@compiled
def add_to_log(run, e):
    """Log the event that has fired where event e was due."""
    m = find_cause(run, e)
    if m >= 0:
        run.log.event[run.log.count] = m
        run.log.count += 1


@compiled
def accept_trial_state(run, i, e, change):
    """Replace the present state by the trial state, in structure i. Events that fire together are logged together, energy and
    impulses with the first one."""
    events, trial, log = run.events, run.trial, run.log
    first = log.count
    add_to_log(run, e)
    for other in range(events.due.size - 1, -1, -1):
        if fires_together(run, other, e):
            watch = run.program.events[other]
            turned = 1 if watch.both == 1 and events.side[other] == -1 else -1
            events.side[other] = 0 if has_step(run, other, STRIKE) and watch.undecided_near_zero == 1 else turned
            events.fired[other], trial.at[other] = 1, events.phi[VALUE, other]
            if other != e:
                events.due[other] = 0
                add_to_log(run, other)
    events.due[e], events.answered, events.opening = 0, 0, 0
    _replace_state(run, i, first, change)
    if run.program.events[e].period > 0.0:  # ticks of clocks are not logged
        log.count = first


@compiled
def accept_due_events(run, i, change):
    """Replace the present state by the trial state, in structure i. All due events have fired."""
    events, first = run.events, run.log.count
    for m in range(events.due.size):
        if events.due[m] == 1:
            watch = run.program.events[m]
            events.side[m] = 0 if has_step(run, m, STRIKE) and watch.undecided_near_zero == 1 else -1
            events.fired[m], events.due[m], run.trial.at[m] = 1, 0, events.phi[VALUE, m]
            add_to_log(run, m)
    _replace_state(run, i, first, change)


@compiled
def _replace_state(run, i, first, change):
    """Replace the present state by the trial state, in structure i; entries of the log from `first` on belong to it."""
    events, trial, state, log = run.events, run.trial, run.state, run.log
    same_trunk(run, trial.x)
    copy(trial.x, state.xs[state.at])
    copy(trial.p, state.p)
    events.structure = i
    state.pivot, state.dodged, state.fresh, state.rated, run.past.kept = 0.0, 0, 0, 0, 0
    events.energy += change
    for entry in range(first, log.count):
        log.time[entry], log.energy[entry] = events.rebounds_end, change if entry == first else 0.0
        copy(trial.slots, log.slots[entry])
        for m in range(trial.impulses.size):
            log.impulse[entry, m] = trial.impulses[m] + trial.given[m] if entry == first else 0.0


@compiled
def solve_collision(run, t, engaged, snap):
    """Solve for positions and velocities of the trial state after constraints were struck or engaged. Returns a status."""
    trial, s, events = run.trial, run.scratch, run.events
    for m in range(events.struck):
        trial.p[trial.struck[m].place] = 1.0
    loosen(run, trial.p, False)
    i = structure_of(run, trial.p)
    if i < 0:
        return NEEDS_STRUCTURE
    residuals(run, i, t)
    call.positions(run.kernels[i], s, trial.x, trial.p, s.F, trial.other, s.g)
    for m in range(events.struck):
        hit = trial.struck[m]
        place = place_of(run, i, hit.row, run.trial.p)
        if place >= 0:
            side = hit.side if abs(hit.side) > LEANS else -s.psi[place]  # else the side from its approach velocity
            hit.side = 1.0 if side >= 0.0 else -1.0
            hit.leaving = hit.side * s.psi[place]
        if place >= 0 and not abs(s.g[place]) <= FAR * run.program.units[hit.row]:
            events.number = s.g[place]
            return PENETRATES
    if engaged:
        status = positions(run, t, snap)
        if status != RUNNING:
            return status
    status = jump(run, t)
    if status != RUNNING:
        return status
    status = positions(run, t, False)
    return velocities(run, t) if status == RUNNING else status
