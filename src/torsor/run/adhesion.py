"""Which dry friction holds and which lets go, decided at one instant for all of it that may stick.

Friction whose sliding speed has vanished sticks, or it is at its limit: it slides with the speed 0 in the direction in which
it gives way. All of it is tried at first; then what cannot bear its load is let go, and what would be pushed back holds:

    sticks:   |λ| ≤ c_s          at its limit:   f = −c d,   d = u̇/|u̇|  or  u̇ = 0                       (1)

until (1) holds for all. Friction in several places that hold the same body is not told apart by the motion; there it is
shared out in proportion to what each can hold (`formulations/sharing.py`), so that it lets go as one. Something at its limit
may go on standing still as long as the others hold it.

Changes are made for all at once at first, then one by one in the order of the model, and come to an end in any case.
"""

import numpy as np
from numba import njit

from ..kernels.calls import call
from .codes import UNDECIDED, WANTED
from .compiled import PLAIN
from .jumps import velocities
from .loop import RUNNING, accelerate, largest
from .switch import ALIGNED, CRAWL, GIVES_WAY, NEAR, PUSHED, SLOW, kernels_of, structure_of, use

APART, STICKS, LIMIT = 0, 1, 2  # takes no part: it slides or its contact is open; or what (1) says


@njit(**PLAIN)
def settle(program, table, s, plan, state, events, trial, t, e, jumped):
    """Dry friction of the trial state sticks where it can, else slides on. Returns a status; jumped: velocities have."""
    if program.lands.shape[0] == 0:
        return RUNNING
    i = structure_of(program, table, events, trial.p)
    if i < 0:
        return WANTED
    s.t[0] = t
    call(table.addresses[i, 12], (s.t, trial.q, trial.v, trial.p, s.a, s.lam, trial.later, s.work))
    n, fast, some = events.due.size, max(events.values[3], largest(trial.v, trial.v.size)), False
    rounding = NEAR * max(fast, events.values[8])
    slow = max(SLOW * fast, 2 * CRAWL * max(fast, events.values[8]))
    for k in range(program.lands.shape[0]):
        f = program.lands[k]
        speed, holds = trial.later[f[3]], trial.p[f[0]] == 1.0 and not jumped
        slows = jumped or events.due[f[10]] == 1 or events.phi[n + f[10]] < 0.0
        trial.tries[k] = STICKS if holds or speed <= (slow if slows else rounding) else APART
        if f[5] >= 0 and trial.p[f[5]] == 0.0:
            trial.tries[k] = APART
        if trial.tries[k] == APART:
            trial.p[f[0]], trial.p[f[1]] = 0.0, 1.0
            for m in range(f[4] if speed > 0.0 else 0):
                trial.p[f[2] + m] = trial.later[f[3] + 1 + m]
        some = some or trial.tries[k] == STICKS
    return adhere(program, table, s, plan, state, events, trial, t, e, jumped) if some else RUNNING


@njit(**PLAIN)
def adhere(program, table, s, plan, state, events, trial, t, e, jumped):
    """Find what holds and what is at its limit: (1). Returns a status."""
    n, count, no = events.due.size, program.lands.shape[0], t != t
    lets_go, kept = no, no
    for k in range(count):
        lets_go = lets_go or program.lands[k, 11] == e
    for turn in range(60 + 4 * count):
        for k in range(count):
            f = program.lands[k]
            if trial.tries[k] != APART:
                trial.p[f[0]], trial.p[f[1]] = (1.0, 0.0) if trial.tries[k] == STICKS else (0.0, 1.0)
        i = structure_of(program, table, events, trial.p)
        if i < 0:
            return WANTED
        use(table, plan, i)
        if turn == 0:
            velocities(program, table, s, plan, events, trial, t)
        accelerate(kernels_of(table, i), s, plan, t, trial.q, trial.v, trial.p, no, s.a)
        call(table.addresses[i, 11], (s.t, trial.q, trial.v, trial.p, s.a, s.lam, trial.phi, s.work))
        call(table.addresses[i, 12], (s.t, trial.q, trial.v, trial.p, s.a, s.lam, trial.later, s.work))
        load = max(events.values[7], largest(s.lam, table.sizes[i, 1]))
        pace = max(largest(s.a, s.a.size), load / plan.numbers[5])
        changed = no
        for k in range(count):
            f = program.lands[k]
            if trial.tries[k] == STICKS:
                left, scale = trial.phi[f[11]], max(events.scale[f[11]], load)
                gives_way = lets_go and turn == 0 and (f[11] == e or left <= GIVES_WAY * scale)
                if left < -NEAR * scale or gives_way:
                    trial.tries[k], changed = LIMIT, True
                    for m in range(f[4]):
                        trial.p[f[2] + m] = trial.later[f[12] + m]
            elif trial.tries[k] == LIMIT and trial.phi[n + f[10]] < -PUSHED * pace:
                trial.tries[k], changed = STICKS, True
            if changed and turn > 4 + 2 * count:
                break
        kept = kept and not changed
        if not changed and turn < 40 + 2 * count:
            if not kept:
                directions(program, trial, False)
                kept = True
            changed = align(program, trial, pace)
        elif kept:  # it finds no end: back to the direction of the force that is not borne
            directions(program, trial, True)
        if not changed:
            taken(program, state, events, trial, jumped)
            return RUNNING
    return UNDECIDED


@njit(**PLAIN)
def directions(program, trial, back):
    """Take note of the directions in which friction gives way, or go back to them."""
    for k in range(program.lands.shape[0]):
        f = program.lands[k]
        for m in range(f[4] if trial.tries[k] == LIMIT else 0):
            if back:
                trial.p[f[2] + m] = trial.ways[k, 1 + m]
            else:
                trial.ways[k, 1 + m] = trial.p[f[2] + m]


@njit(**PLAIN)
def align(program, trial, pace):
    """Turn what is at its limit into the direction in which it begins to move: the direction of sliding changes at once where
    the speed is small. Returns whether anything turned."""
    turned = False
    for k in range(program.lands.shape[0]):
        f = program.lands[k]
        size, off = 0.0, 0.0
        for m in range(f[4]):
            size += trial.later[f[13] + m] ** 2
        if trial.tries[k] != LIMIT or f[4] == 1 or not size > (PUSHED * pace) ** 2:
            continue
        for m in range(f[4]):
            trial.want[m] = trial.p[f[2] + m] + trial.later[f[13] + m] / np.sqrt(size)
        length = np.sqrt(trial.want[0] ** 2 + trial.want[1] ** 2)
        for m in range(f[4] if length > 0.0 else 0):
            off = max(off, abs(trial.want[m] / length - trial.p[f[2] + m]))
            trial.p[f[2] + m] = trial.want[m] / length
        turned = turned or off > ALIGNED
    return turned


@njit(**PLAIN)
def taken(program, state, events, trial, jumped):
    """Note what has changed besides the event that is the cause: it happens together with it."""
    for k in range(program.lands.shape[0]):
        f = program.lands[k]
        if trial.tries[k] == APART:
            continue
        events.armed[f[10]] = 0
        if not jumped and trial.p[f[0]] != state.p[f[0]]:
            events.due[f[10] if trial.p[f[0]] == 1.0 else f[11]] = 1
