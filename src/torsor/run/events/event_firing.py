"""One event happens, with those that happen together with it: its elementary steps on a trial state, taken over as a whole.

A run can stop here to have the kernels of a new structure compiled, the log emptied, or a function called; then everything is as it
was.
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

# what elementary steps ask for
NOTHING, MOVED, LANDS, ENGAGED, SNAPS, ENDS, STICKS_OR_SLIDES = 0, 1, 2, 4, 8, 16, 32
PUSHED = 64  # velocities have jumped: closed contacts react


@compiled
def does(run, e, code):
    """Whether an event has steps of this kind."""
    for k in range(run.program.events[e].ops, run.program.events[e].ops_end):
        if run.program.ops[k].code == code:
            return True
    return False


@compiled
def together(run, other, e):
    """Whether another event happens together with e: constraints that are struck at one instant are struck at once, and dry
    friction sticks or lets go at once."""
    if other == e or run.events.due[other] == 0:
        return other == e
    strike, land = does(run, e, STRIKE), does(run, e, STICK_OR_SLIDE)
    if run.events.opening == 1 and does(run, e, RELEASE) and does(run, other, RELEASE):
        return True
    return (strike and does(run, other, STRIKE)) or (land and does(run, other, STICK_OR_SLIDE))


@compiled
def find_cause(run, e):
    """The event that has happened where event e was due: friction whose speed vanishes sticks or reverses. -1 for friction that
    was to let go and holds."""
    for f in run.program.frictions if does(run, e, STICK_OR_SLIDE) else run.program.frictions[:0]:
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
def strike(run, e, op):
    """Take note of a constraint that an event strikes. Returns a status."""
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
    hit.leaving = events.phi[RATE, e]  # approach of a row that is redundant
    rises = run.program.events[e].both == 1 and events.side[e] == -1
    hit.side = -trial.slots[op.slot + 2] if rises else trial.slots[op.slot + 2]
    events.struck += 1
    return RUNNING


@compiled
def elementary(run, e, t):
    """The elementary steps of an event on the trial state. Returns a status, and what they ask for."""
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
            asks |= LANDS  # others have to hold what it held
        elif op.code == ENGAGE:
            trial.p[op.place] = 1.0
            asks |= ENGAGED | (SNAPS if trial.slots[op.slot] != 0.0 else NOTHING)
        elif op.code == STRIKE:
            status = strike(run, e, op)
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
def begin(run, t):
    """The trial state is the present one; values that events take their numbers from are looked up. Returns its energy."""
    state, trial, s, i = run.state, run.trial, run.scratch, run.events.structure
    x = state.xs[state.at]
    copy(x, trial.x)
    copy(state.p, trial.p)
    for m in range(run.program.states.size):  # events set them where they set parameters
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
def keep_velocities(run):
    """Parameters that were set change no velocity, whatever stands in the state in their place."""
    k, state, trial, s = run.kernels[run.events.structure], run.state, run.trial, run.scratch
    if k.renewed != 0:
        s.t[0] = state.time
        call.renewed(k, s, trial.x, state.p, trial.p, trial.other)
        copy(trial.other, trial.x)


@compiled
def follow(run, t, e, asks):
    """Positions, velocities and friction of the trial state after the elementary steps. Returns a status."""
    hit, engaged, pushed, status = run.events.struck > 0, asks & ENGAGED != 0, asks & PUSHED != 0, RUNNING
    if hit or engaged:
        status = collide(run, t, engaged, asks & SNAPS != 0)
    elif asks & (MOVED | PUSHED):  # something that constraints contain has changed, or the velocities
        status = positions(run, t, False) if asks & MOVED else RUNNING
        if status == RUNNING:
            status = react(run, t) if pushed else velocities(run, t)
    if status == RUNNING and (asks & (LANDS | STICKS_OR_SLIDES) or hit or engaged or pushed):
        status = grip(run, t, e, hit or engaged or pushed)
    return status


@compiled
def react(run, t):
    """Velocities after a push: closed contacts hold it off, or open. Returns a status."""
    loosen(run, run.trial.p, False)
    return jump(run, t) if run.program.onesided.size > 0 else RUNNING


@compiled
def fire(run, e):
    """Let event e happen. Returns a status; NEEDS_STRUCTURE, LOG_FULL and NEEDS_CONTROLLER leave everything as it was."""
    events, t, asks = run.events, run.state.time, NOTHING
    if run.log.count + events.due.size > run.log.time.size:
        return LOG_FULL
    energy = begin(run, t)
    if events.answered == 0 and does(run, e, CALL_CONTROLLER):
        return NEEDS_CONTROLLER
    events.rebounds_end = t
    if does(run, e, STICK_OR_SLIDE):  # what happens to friction is decided first
        status = follow(run, t, e, STICKS_OR_SLIDES)
        if status != RUNNING:
            return status
    for other in range(events.due.size):
        m = find_cause(run, other) if together(run, other, e) else -1
        if m >= 0:
            status, more = elementary(run, m, t)
            if status != RUNNING:
                return status
            asks |= more
    for m in range(run.program.states.size):
        run.trial.x[run.trial.x.size - run.program.states.size + m] = run.trial.p[run.program.states[m]]
    keep_velocities(run)
    status = follow(run, t, e, asks & ~STICKS_OR_SLIDES)
    if status != RUNNING:
        return status
    i = structure_of(run, run.trial.p)
    if i < 0:
        return NEEDS_STRUCTURE
    take_over(run, i, e, energy_of(run, i, t, run.trial.x, run.trial.p) - energy)
    return ENDED if asks & ENDS else RUNNING


@compiled
def add_to_log(run, e):
    """Log the event that has happened where event e was due."""
    m = find_cause(run, e)
    if m >= 0:
        run.log.event[run.log.count] = m
        run.log.count += 1


@compiled
def take_over(run, i, e, change):
    """The trial state is the present one, in structure i. What happens together is logged together, energy and impulses with
    the first."""
    events, trial, log = run.events, run.trial, run.log
    first = log.count
    add_to_log(run, e)
    for other in range(events.due.size - 1, -1, -1):
        if together(run, other, e):
            watch = run.program.events[other]
            turned = 1 if watch.both == 1 and events.side[other] == -1 else -1
            events.side[other] = 0 if does(run, other, STRIKE) and watch.undecided_near_zero == 1 else turned
            events.fired[other], trial.at[other] = 1, events.phi[VALUE, other]
            if other != e:
                events.due[other] = 0
                add_to_log(run, other)
    events.due[e], events.answered, events.opening = 0, 0, 0
    _replace_state(run, i, first, change)
    if run.program.events[e].period > 0.0:  # what happens by the clock needs no log
        log.count = first


@compiled
def become(run, i, change):
    """The trial state is the present one, in structure i; all events that are due have happened."""
    events, first = run.events, run.log.count
    for m in range(events.due.size):
        if events.due[m] == 1:
            watch = run.program.events[m]
            events.side[m] = 0 if does(run, m, STRIKE) and watch.undecided_near_zero == 1 else -1
            events.fired[m], events.due[m], run.trial.at[m] = 1, 0, events.phi[VALUE, m]
            add_to_log(run, m)
    _replace_state(run, i, first, change)


@compiled
def _replace_state(run, i, first, change):
    """The trial state is the present one, in structure i; entries of the log from `first` on belong to it."""
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
def collide(run, t, engaged, snap):
    """Positions and velocities of the trial state after constraints were struck or engaged. Returns a status."""
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
            side = hit.side if abs(hit.side) > LEANS else -s.psi[place]  # else the side it comes from
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
