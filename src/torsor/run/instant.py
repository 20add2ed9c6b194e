"""What happens at one instant: events fire one after the other until none is due, and no time passes.

A change of structure may make other conditions true or false at once; they are looked at again after every event, in the
order in which they were declared. For contacts this is the least-index rule, which ends for any set of contacts whose
constraints are independent. Everything is worked out on a trial state and taken over as a whole, so that the run can stop
anywhere to have the kernels of a new structure compiled.
"""

import numpy as np
from numba import njit

from ..kernels.calls import call
from .adhesion import settle
from .codes import (
    ACCUMULATES,
    CHATTERS,
    END,
    ENDED,
    ENGAGE,
    FULL,
    LAND,
    NOT_A_NUMBER,
    PENETRATES,
    RELEASE,
    RESTITUTION,
    SET,
    STRIKE,
    WANTED,
)
from .compiled import PLAIN
from .impacts import loosen, place_of, residuals
from .jumps import jump, positions, velocities
from .loop import RUNNING, accelerate, copy, largest
from .switch import CRAWL, FAR, LEANS, LEAVES, NEAR, PASSES, enabled, kernels_of, measure, near, structure_of, use


@njit(**PLAIN)
def does(program, e, code):
    """Whether an event has steps of this kind."""
    for k in range(program.ops_start[e], program.ops_start[e + 1]):
        if program.ops[k, 0] == code:
            return True
    return False


@njit(**PLAIN)
def together(program, events, other, e):
    """Whether another event happens together with e: constraints that are struck at one instant are struck at once, and dry
    friction sticks or lets go at once."""
    if other == e or events.due[other] == 0:
        return other == e
    strike, land = does(program, e, STRIKE), does(program, e, LAND)
    return (strike and does(program, other, STRIKE)) or (land and does(program, other, LAND))


@njit(**PLAIN)
def fire(program, table, s, plan, state, events, trial, log, e):
    """Let event e happen. Returns a status; WANTED and FULL leave everything as it was."""
    t, i = state.values[0], events.marks[0]
    if events.marks[4] + events.due.size > log.time.size:
        return FULL
    copy(state.q, trial.q)
    copy(state.v, trial.v)
    copy(state.p, trial.p)
    for m in range(trial.impulses.size):
        trial.impulses[m] = 0.0
    s.t[0] = t
    call(table.addresses[i, 13], (s.t, state.q, state.v, state.p, trial.energies, s.work))
    energy = trial.energies[0] + trial.energies[1]
    accelerate(kernels_of(table, i), s, plan, t, state.q, state.v, state.p, t != t, s.a)
    call(table.addresses[i, 12], (s.t, state.q, state.v, state.p, s.a, s.lam, trial.slots, s.work))

    # elementary steps on the trial state; constraints that are struck at the same instant are struck together
    no = t != t  # not a literal: Numba would compile what follows once more for it
    engaged, snap, ends, lands, moved, struck = no, no, no, no, no, 0 * events.marks[0]
    for other in range(events.due.size):
        if not together(program, events, other, e):
            continue
        for k in range(program.ops_start[other], program.ops_start[other + 1]):
            code, place, slot = program.ops[k, 0], program.ops[k, 1], program.ops[k, 2]
            if code == SET:
                if np.isnan(trial.slots[slot]):
                    return NOT_A_NUMBER
                trial.p[place] = trial.slots[slot]
                moved = moved or program.moving[place] == 1
            elif code == RELEASE:
                trial.p[place] = 0.0
                lands = True  # others have to hold what it held
            elif code == ENGAGE:
                trial.p[place] = 1.0
                engaged = True
                snap = snap or trial.slots[slot] != 0.0
            elif code == STRIKE:
                if not 0.0 <= trial.slots[slot] <= 1.0:
                    events.values[1] = trial.slots[slot]
                    return RESTITUTION
                trial.struck[struck, 0] = program.ops[k, 4]
                trial.struck[struck, 1] = place
                trial.struck[struck, 2] = trial.slots[slot]
                trial.struck[struck, 3] = slot + 1
                trial.struck[struck, 4] = 0.0
                trial.struck[struck, 5] = 1.0
                trial.struck[struck, 6] = events.phi[events.due.size + other]  # approach of a row that is redundant
                rises = program.events[other, 2] == 1 and events.side[other] == -1
                trial.struck[struck, 7] = -trial.slots[slot + 2] if rises else trial.slots[slot + 2]
                struck += 1
            elif code == LAND:
                lands = True
            elif code == END:
                ends = True
        if program.events[other, 5] >= 0:
            trial.p[program.events[other, 5]] = t
            moved = moved or program.moving[program.events[other, 5]] == 1
        if program.events[other, 6] >= 0:
            trial.p[program.events[other, 6]] += 1.0
            moved = moved or program.moving[program.events[other, 6]] == 1
    events.values[5] = struck
    events.values[4] = t
    if struck > 0 or engaged:
        status = collide(program, table, s, plan, state, events, trial, t, struck, engaged, snap)
        if status != RUNNING:
            return status
    elif moved:  # something that constraints contain has changed
        status = positions(program, table, s, plan, state, events, trial, t, no)
        if status == RUNNING:
            status = velocities(program, table, s, plan, events, trial, t)
        if status != RUNNING:
            return status
    if lands or struck > 0 or engaged:
        status = settle(program, table, s, plan, state, events, trial, t, e, struck > 0 or engaged)
        if status != RUNNING:
            return status
    i = structure_of(program, table, events, trial.p)
    if i < 0:
        return WANTED

    # taken over; what happens together is logged together, energy and impulses with the first
    first = events.marks[4]
    log.event[first] = e
    events.marks[4] += 1
    for other in range(events.due.size - 1, -1, -1):
        if together(program, events, other, e):
            turned = 1 if program.events[other, 2] == 1 and events.side[other] == -1 else -1
            events.side[other] = 0 if does(program, other, STRIKE) and program.events[other, 3] == 1 else turned
            events.fired[other], trial.samples[0, other] = 1, events.phi[other]
            if other != e:
                events.due[other] = 0
                log.event[events.marks[4]] = other
                events.marks[4] += 1
    events.due[e] = 0
    s.t[0] = t
    call(table.addresses[i, 13], (s.t, trial.q, trial.v, trial.p, trial.energies, s.work))
    change = trial.energies[0] + trial.energies[1] - energy
    copy(trial.q, state.q)
    copy(trial.v, state.v)
    copy(trial.p, state.p)
    events.marks[0] = i
    use(table, plan, i)
    state.values[6], state.counts[5] = 0.0, 0
    events.values[0] += change
    for at in range(first, events.marks[4]):
        log.time[at], log.energy[at] = events.values[4], change if at == first else 0.0
        copy(trial.slots, log.slots[at])
        for m in range(trial.impulses.size):
            log.impulse[at, m] = trial.impulses[m] if at == first else 0.0
    return ENDED if ends else RUNNING


@njit(**PLAIN)
def collide(program, table, s, plan, state, events, trial, t, struck, engaged, snap):
    """Positions and velocities of the trial state after constraints were struck or engaged. Returns a status."""
    for m in range(struck):
        trial.p[int(trial.struck[m, 1])] = 1.0
    loosen(program, trial.p, False)
    i = structure_of(program, table, events, trial.p)
    if i < 0:
        return WANTED
    residuals(table, s, i, t, trial)
    call(table.addresses[i, 2], (s.t, trial.q, trial.p, s.F, trial.other, s.g, s.work))
    for m in range(struck):
        at = place_of(table, i, int(trial.struck[m, 0]))
        if at >= 0:
            side = trial.struck[m, 7] if abs(trial.struck[m, 7]) > LEANS else -s.psi[at]  # else the side it comes from
            trial.struck[m, 7] = 1.0 if side >= 0.0 else -1.0
            trial.struck[m, 6] = trial.struck[m, 7] * s.psi[at]
        if at >= 0 and not abs(s.g[at]) <= FAR * events.values[2]:
            events.values[1] = s.g[at]
            return PENETRATES
    if engaged:
        status = positions(program, table, s, plan, state, events, trial, t, snap)
        if status != RUNNING:
            return status
    status = jump(program, table, s, plan, state, events, trial, t)
    if status != RUNNING:
        return status
    status = positions(program, table, s, plan, state, events, trial, t, t != t)
    return velocities(program, table, s, plan, events, trial, t) if status == RUNNING else status


@njit(**PLAIN)
def decide(program, events, m, x, close, before, p, jumped):
    """Whether event m is due now, from the value x of its function, what counts as close to zero, and what is known."""
    is_on = enabled(program, events, m, p)
    state, strict, both, settles = (
        program.events[m, 0],
        program.events[m, 1],
        program.events[m, 2],
        program.events[m, 3],
    )
    if not is_on:
        events.due[m] = 0
    elif events.enabled[m] == 0:  # it has just become enabled
        if settles == 1 or (state == 1 and events.marks[6] == 0):  # near zero the next instant decides
            events.side[m] = 1 if x > close else (0 if x >= -close else -1)
            events.due[m] = 1 if x < -close else 0
        elif state == 1:  # at the very start a condition is taken at its word
            holds = x < 0.0 or (x == 0.0 and strict == 0)
            events.side[m], events.due[m] = (-1, 1) if holds else (1, 0)
        else:
            events.side[m], events.due[m] = 1 if x > close else (-1 if x < -close else 0), 0
    elif not jumped:
        if events.due[m] == 0 and events.side[m] == 0 and x > close:
            events.side[m] = 1
    elif events.due[m] == 1:
        if x > close and state == 1:  # what another event has just made false does not happen
            events.due[m], events.side[m] = 0, 1
    else:
        if x > close and both == 0 and events.side[m] == -1:
            events.side[m] = 1
        elif events.side[m] == 1 and (x < -close or (x <= close and before > 10 * close and strict == 0)):
            events.due[m] = 1
        elif both == 1 and events.side[m] == -1 and x > close:
            events.due[m] = 1
    events.enabled[m] = 1 if is_on else 0


@njit(**PLAIN)
def accumulation(program, events, e, t):
    """Whether an event follows itself faster and faster. Returns a status."""
    last, interval = events.history[e, 0], events.history[e, 1]
    gap = t - last
    if gap < 1e-13 * max(1.0, abs(t)):
        events.history[e, 3] += 1
    elif gap < 0.999 * interval:
        events.history[e, 2] += 1
    else:
        events.history[e, 2], events.history[e, 3] = 0, 0
    left = gap**2 / (interval - gap) if 0.0 < gap < interval < np.inf else np.inf
    shrinks = events.history[e, 2] > 30 and left < 1e-10 * max(1.0, abs(t))
    events.values[1] = t + left
    events.history[e, 0] = t
    if gap >= 1e-13 * max(1.0, abs(t)):
        events.history[e, 1] = gap
    return ACCUMULATES if shrinks else (CHATTERS if events.history[e, 3] > 1000 else RUNNING)


@njit(**PLAIN)
def resting(program, table, s, plan, state, events, trial, i):
    """The first open contact that is not left and would be broken by the present motion, -1 if none; all such are due."""
    found = -1
    n, pull = events.due.size, NEAR * max(largest(s.a, s.a.size), events.values[7] / plan.numbers[5])
    call(table.addresses[i, 12], (s.t, state.q, state.v, state.p, s.a, s.lam, trial.later, s.work))
    for m in range(n):
        slot, rate = program.events[m, 9], trial.phi[n + m]
        at_zero = abs(trial.phi[m]) <= near(events, m, state.values[0], rate)
        if slot >= 0 and program.events[m, 3] == 1 and events.enabled[m] == 1 and events.side[m] == 0 and at_zero:
            still = NEAR * max(events.values[3], events.values[8])
            if rate < -still or (rate < still and trial.later[slot] < -pull):
                events.due[m] = 1
                found = m if found < 0 else found
    return found


@njit(**PLAIN)
def side_after(program, events, m, t, x, rate, at):
    """The side on which a function is when time goes on after an instant; `at` is its value when it fired."""
    close = near(events, m, t, rate)
    located = events.fired[m] == 1 and program.events[m, 3] == 0 and abs(x - at) <= close  # and has not jumped since
    if events.enabled[m] == 1 and abs(x) > (100 * close if located else close):
        return 1 if x > 0.0 else -1
    if program.events[m, 3] == 0 and program.events[m, 7] == 1 and abs(rate) > LEAVES * events.speed[m]:
        if events.fired[m] == 1:  # it leaves zero as the motion after the instant has it, which may have jumped
            return 1 if rate > 0.0 else -1
        if events.side[m] == -1 and rate > 0.0 and program.events[m, 2] == 0:
            return 1
    return 0 if events.side[m] == 1 else events.side[m]  # at zero and not fired: the next instant decides


@njit(**PLAIN)
def instant(program, table, s, plan, state, events, trial, log):
    """Let everything happen that is due at this instant, or a part of it: more is to be done while marks[1] is 1. Returns a
    status."""
    t, n = state.values[0], events.due.size
    events.values[3] = max(events.values[3], largest(state.v, state.v.size))
    for _ in range(PASSES):
        i = events.marks[0]
        use(table, plan, i)
        accelerate(kernels_of(table, i), s, plan, t, state.q, state.v, state.p, n < 0, s.a)
        call(table.addresses[i, 11], (s.t, state.q, state.v, state.p, s.a, s.lam, trial.phi, s.work))
        chosen = -1
        if table.sizes[i, 1] > 0:
            events.values[7] = max(events.values[7], largest(s.lam, table.sizes[i, 1]))
            fall = np.sqrt(events.values[7] / plan.numbers[5] * events.values[2])  # of what is held, through the model
            events.values[8] = max(events.values[8], fall)
        for m in range(n):
            if enabled(program, events, m, state.p) and np.isnan(trial.phi[m]):
                events.marks[5] = m
                return NOT_A_NUMBER
            if events.enabled[m] == 1 or enabled(program, events, m, state.p):
                measure(events, m, trial.phi[m], trial.phi[n + m])
            like = program.events[m, 8]  # positions, velocities, reactions are as exact as the largest of them
            if like > 0:
                size = events.values[2 if like == 1 else (3 if like == 2 else 7)]
                events.scale[m] = max(events.scale[m], max(size, events.values[8]) if like == 2 else size)
            close = near(events, m, t, trial.phi[n + m])
            decide(program, events, m, trial.phi[m], close, events.phi[m], state.p, events.marks[2] > 0)
            if chosen < 0 and events.due[m] == 1:
                chosen = m
        copy(trial.phi, events.phi)
        events.marks[6] = 0
        if chosen < 0:
            chosen = resting(program, table, s, plan, state, events, trial, i)
        if chosen < 0:
            leave(program, state, events, trial, t)
            return RUNNING
        events.marks[5] = chosen
        if program.events[chosen, 10] == 1:  # half of a condition: only to be looked at here
            events.due[chosen], events.side[chosen] = 0, 1 if events.side[chosen] == -1 else -1
            events.fired[chosen], trial.samples[0, chosen] = 1, events.phi[chosen]
            events.marks[2] += 1
            if accumulation(program, events, chosen, t) == CHATTERS:
                return CHATTERS
            continue
        status = fire(program, table, s, plan, state, events, trial, log, events.marks[5])
        if status != RUNNING:
            return status
        events.marks[2] += 1
        status = accumulation(program, events, chosen, t)
        if events.marks[2] > 50 + 10 * n:
            status = CHATTERS
        if status != RUNNING:
            if program.events[chosen, 4] == 0:
                return status
            if program.events[chosen, 4] == 1:
                return ENDED
            events.disabled[chosen] = 1
            events.marks[2] = 0
    return RUNNING


@njit(**PLAIN)
def leave(program, state, events, trial, t):
    """The instant is over: on which side of zero everything is."""
    n = events.due.size
    for m in range(n):
        events.side[m] = side_after(program, events, m, t, trial.phi[m], trial.phi[n + m], trial.samples[0, m])
        events.fired[m] = 0
    for m in range(program.crawls.size):
        state.p[program.crawls[m]] = CRAWL * max(events.values[3], events.values[8])
    events.marks[1], events.marks[2] = 0, 0
