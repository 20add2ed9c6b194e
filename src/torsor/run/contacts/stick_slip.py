"""Which dry friction holds and which lets go, decided at one instant for all of it that may stick.

Friction whose sliding speed has vanished sticks, or it is at its limit: it slides with the speed 0 in the direction in which
it gives way. All of it is tried at first; then what cannot bear its load is let go, and what would be pushed back holds:

    sticks:   |λ| ≤ c_s          at its limit:   f = −c d,   d = u̇/|u̇|  or  u̇ = 0                       (1)

until (1) holds for all. Friction in several places that hold the same body is not distinguished by the motion; there it is
shared out in proportion to what each can hold (`formulations/graphs/contact_load_sharing.py`), so that it lets go as
one. Something at its limit
may go on standing still as long as the others hold it.

Changes are made for all at once at first, then one by one in the order of the model, and come to an end in any case.
"""

import numpy as np

from ...kernels import call
from ...kernels.compiled import compiled
from ...methods.status_codes import RUNNING
from ...methods.vector_functions import fastest, rate, without_length
from ...prepare.event_codes import NEEDS_STRUCTURE, UNDECIDED
from ...prepare.event_records import RATE, VALUE
from ..events.event_tolerances import CRAWL, NEAR, largest_load, load_resolution, structure_of
from .velocity_jumps import velocities

APART, STICKS, LIMIT = 0, 1, 2  # takes no part: it slides or its contact is open; or what (1) says
GIVES_WAY = 1e-9  # distance from its limit over the largest force, below which friction lets go together with another
ALIGNING = 1000  # times that directions are improved
ALIGNED = 1e-12  # to which the direction of what begins to slide is found
PUSHED = 1e-7  # acceleration over the largest, above which what is at its limit is pushed back
SLOW = 1e-7  # sliding speed in its unit over the largest rate, below which friction tries to stick


@compiled
def grip(run, t, e, jumped):
    """Dry friction of the trial state sticks where it can, else slides on. Returns a status; e: the event that is the cause,
    jumped: velocities have."""
    trial, s, events, frictions, some = run.trial, run.scratch, run.events, run.program.frictions, False
    if frictions.size == 0:
        return RUNNING
    i = structure_of(run, trial.p)
    if i < 0:
        return NEEDS_STRUCTURE
    s.t[0] = t
    call.slots(run.kernels[i], s, trial.x, trial.p, s.xdot, s.lam, trial.later)
    fast = max(events.fastest, fastest(run, trial.x))
    rounding = NEAR * max(fast, events.fall)
    slow = max(SLOW * fast, 2 * CRAWL * max(fast, events.fall))
    for k in range(frictions.size):
        f = frictions[k]
        speed, holds = trial.later[f.speed], trial.p[f.stick] == 1.0 and not jumped
        unit = run.program.units[f.row]
        slows = jumped or events.due[f.stops] == 1 or events.phi[RATE, f.stops] < 0.0
        closed, armed = f.host < 0 or trial.p[f.host] != 0.0, f.armed < 0 or trial.p[f.armed] == 1.0
        tries = closed and armed and (holds or speed <= unit * (slow if slows else rounding))
        run.rub.tries[k] = STICKS if tries else APART
        if not tries:
            trial.p[f.stick], trial.p[f.slip] = 0.0, 1.0 if armed else 0.0
            for m in range(f.parts if speed > 0.0 else 0):
                trial.p[f.heading + m] = trial.later[f.speed + 1 + m]
        some = some or tries
    return adhere(run, t, e, jumped) if some else RUNNING


@compiled
def trial_structure(run):
    """The structure in which friction holds, or is at its limit, as it is tried; -1 where its kernels are wanted."""
    trial, frictions = run.trial, run.program.frictions
    for k in range(frictions.size):
        f = frictions[k]
        if run.rub.tries[k] != APART:
            trial.p[f.stick], trial.p[f.slip] = (1.0, 0.0) if run.rub.tries[k] == STICKS else (0.0, 1.0)
    return structure_of(run, trial.p)


@compiled
def change(run, i, k, e, lets_go, load, pace):
    """Whether one friction does not behave as it is tried: (1). Then it is tried otherwise."""
    trial, f, events = run.trial, run.program.frictions[k], run.events
    unit = run.program.units[f.row]
    if run.rub.tries[k] == STICKS:
        left, scale = trial.phi[VALUE, f.starts], max(events.scale[f.starts], load * run.scales.length / unit)
        least = load_resolution(run, i)
        gives_way = lets_go and (f.starts == e or left <= max(GIVES_WAY, least) * scale)
        if left < -least * scale or gives_way:
            run.rub.tries[k] = LIMIT
            for m in range(f.parts):
                trial.p[f.heading + m] = trial.later[f.pulled + m]
            return True
        return runs_away(run, k, pace)
    elif run.rub.tries[k] == LIMIT and trial.phi[RATE, f.stops] < -PUSHED * pace * unit:
        run.rub.tries[k] = STICKS
        return True
    return False


@compiled
def runs_away(run, k, pace):
    """Whether friction that is tried to stick accelerates all the same: its row depends on others at this instant alone (a dead
    centre), and holds nothing of what follows. Then it slides that way."""
    trial, f = run.trial, run.program.frictions[k]
    size, least = 0.0, PUSHED * pace * run.program.units[f.row]
    for m in range(f.parts):
        size += trial.later[f.drift + m] ** 2
    if not size > least**2:
        return False
    run.rub.tries[k] = LIMIT
    for m in range(f.parts):
        trial.p[f.heading + m] = trial.later[f.drift + m] / np.sqrt(size)
    return True


@compiled
def adhere(run, t, e, jumped):
    """Find what holds and what is at its limit: (1). Returns a status."""
    trial, s, count = run.trial, run.scratch, run.program.frictions.size
    lets_go, kept = False, False
    for f in run.program.frictions:
        lets_go = lets_go or f.starts == e
    for turn in range(ALIGNING + 20 + 4 * count):
        i = trial_structure(run)
        if i < 0:
            return NEEDS_STRUCTURE
        if turn == 0:
            velocities(run, t)
        k = run.kernels[i]
        rate(run, k, t, trial.x, trial.p, s.xdot)
        call.guards(k, s, trial.x, trial.p, s.xdot, s.lam, trial.phi)
        call.slots(k, s, trial.x, trial.p, s.xdot, s.lam, trial.later)
        load = max(run.events.load, largest_load(run, i))
        pace = max(without_length(run, s.xdot, run.plan.velocities), load / (run.plan.mass * run.scales.length))
        changed = False
        for l in range(count):
            changed = change(run, i, l, e, lets_go and turn == 0, load, pace) or changed
            if changed and turn > 4 + 2 * count:
                break
        kept = kept and not changed
        if not changed and turn < ALIGNING + 2 * count:
            if not kept:
                directions(run, False)
                kept = True
            changed = align(run, pace)
        elif kept:  # it finds no end: back to the direction of the force that is not borne
            directions(run, True)
        if not changed:
            note_changes(run, jumped)
            return RUNNING
    return UNDECIDED


@compiled
def directions(run, back):
    """Take note of the directions in which friction gives way, or go back to them."""
    trial, way = run.trial, run.rub.way
    for k in range(run.program.frictions.size):
        f = run.program.frictions[k]
        for m in range(f.parts if run.rub.tries[k] == LIMIT else 0):
            if back:
                trial.p[f.heading + m] = way[k, m]
            else:
                way[k, m] = trial.p[f.heading + m]


@compiled
def align(run, pace):
    """Turn what is at its limit into the direction in which it begins to move: the direction of sliding changes at once where
    the speed is small. Returns whether anything turned."""
    trial, want, turned = run.trial, run.rub.want, False
    for k in range(run.program.frictions.size):
        f = run.program.frictions[k]
        size, off = 0.0, 0.0
        for m in range(f.parts):
            size += trial.later[f.drift + m] ** 2
        least = PUSHED * pace * run.program.units[f.row]
        if run.rub.tries[k] != LIMIT or f.parts == 1 or not size > least**2:
            continue
        for m in range(f.parts):
            want[m] = trial.p[f.heading + m] + trial.later[f.drift + m] / np.sqrt(size)
        length = np.sqrt(want[0] ** 2 + want[1] ** 2)
        for m in range(f.parts if length > 0.0 else 0):
            off = max(off, abs(want[m] / length - trial.p[f.heading + m]))
            trial.p[f.heading + m] = want[m] / length
        turned = turned or off > ALIGNED
    return turned


@compiled
def note_changes(run, jumped):
    """Note what has changed besides the event that is the cause: it happens together with it."""
    events, p = run.events, run.trial.p
    for k in range(run.program.frictions.size):
        f = run.program.frictions[k]
        if run.rub.tries[k] == APART:
            continue
        events.armed[f.stops] = 0
        if not jumped and p[f.stick] != run.state.p[f.stick]:
            events.due[f.stops if p[f.stick] == 1.0 else f.starts] = 1
