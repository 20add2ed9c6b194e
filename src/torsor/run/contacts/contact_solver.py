"""All contacts and their friction decided together, where deciding one after the other finds no end.

At an instant, with the accelerations a and forces λ of the present structure, A = G M⁻¹ Gᵀ as all other constraints leave it, and
r = a − A λ, forces are sought with

    a = r + A λ,     0 ≤ a_n  ⟂  λ_n ≥ 0,     |λ_t| ≤ μ_s λ_n,  λ_t against a_t at the limit              (1)

for contacts that are closed, or touch at rest; friction that slides has λ_t = −μ λ_n u/|u|. Found row by row, again and again
(projected Gauss–Seidel), which no dependence of rows disturbs. Then contacts with λ_n > 0 are closed, and friction below its limit
sticks. All is in units of the rows.
"""

import numpy as np

from ...kernels import call
from ...kernels.compiled import compiled
from ...methods.status_codes import RUNNING
from ...methods.vector_functions import fastest
from ...prepare.event_codes import LOG_FULL, NEEDS_CONTACT_KERNEL, NEEDS_STRUCTURE, STRIKE
from ...prepare.event_records import RATE, VALUE
from ..events.event_firing import accept_due_events, begin_trial, energy_of
from ..events.event_tolerances import rounded_rate, structure_of, zero_tolerance
from .impulses import place_of
from .redundant_impacts import change_force, rub, wants_contacts, without_units
from .stick_slip import SLOW
from .velocity_jumps import velocities

TAKES_NO_PART, OPEN, CLOSED = 0, 1, 2  # what a contact is: left or not active, touching at rest, closed
SWEEPS = 20000  # at most so many times through all rows,
WORK = 2e7  # and no more operations than take some hundredths of a second
LOADED = 1e-8  # of the largest force: above this a contact is loaded
MOVES = 1e-8  # of the acceleration that the largest force causes: above this a contact moves
AT_LIMIT = 1e-6  # of what friction can hold: closer to it friction slides


@compiled
def _touches(run, contact, t):
    """The event that closes a contact which touches at rest, -1 where it does not."""
    events, phi = run.events, run.trial.phi
    for m in range(events.due.size):
        watch = run.program.events[m]
        if watch.approach < 0 or watch.undecided_near_zero == 0 or events.enabled[m] == 0:
            continue
        for k in range(watch.ops, watch.ops_end):
            op = run.program.ops[k]
            if op.code == STRIKE and op.place == contact.place:
                at_zero = abs(phi[VALUE, m]) <= zero_tolerance(run, m, t, phi[RATE, m])
                if at_zero and abs(phi[RATE, m]) <= SLOW * watch.unit * rounded_rate(run):
                    return m
    return -1


@compiled
def _take_part(run, t, p):
    """Which contacts take part, their forces and accelerations: met.lam, met.after. Returns the largest force."""
    met, program, later, phi, largest = run.meeting, run.program, run.trial.later, run.trial.phi, 0.0
    for k in range(met.lam.size):
        met.lam[k], met.after[k], met.state[k] = 0.0, 0.0, TAKES_NO_PART
    for contact in program.onesided:
        a, unit = program.meets[contact.row], program.units[contact.row]
        if p[contact.place] == 1.0:
            met.state[a], met.lam[a] = CLOSED, phi[VALUE, contact.lift] * unit
            largest = max(largest, abs(met.lam[a]))
        elif contact.single == 1:
            m = _touches(run, contact, t)
            if m >= 0:
                met.state[a], met.after[a] = OPEN, later[program.events[m].approach] / unit
    return largest


@compiled
def _add_friction(run, i, p, slow):
    """Forces and accelerations of friction; met.state is CLOSED for friction that holds in any case, OPEN for other."""
    met, program, later, phi = run.meeting, run.program, run.trial.later, run.trial.phi
    for k in range(program.frictions.size):
        f = program.frictions[k]
        first, unit = program.meets[f.row], program.units[f.row]
        hosted = f.sliding >= 0 and met.state[program.meets[f.host_row]] != TAKES_NO_PART
        run.rub.slides[k] = -1
        if not hosted:
            for c in range(f.parts if p[f.stick] == 1.0 and f.sliding < 0 else 0):
                met.state[first + c] = CLOSED if place_of(run, i, f.row + c, p) >= 0 else TAKES_NO_PART
            continue
        run.rub.slides[k] = 1 if later[f.speed] > slow * unit else 0
        run.rub.grip[k] = later[f.sliding if run.rub.slides[k] == 1 else f.static]
        load = met.lam[program.meets[f.host_row]] / program.units[f.host_row]
        size = max(0.0, later[f.static] * load - phi[VALUE, f.starts]) if p[f.stick] == 1.0 else later[f.sliding] * load
        for c in range(f.parts):
            met.state[first + c] = OPEN
            way = later[f.pulled + c] if p[f.stick] == 1.0 else p[f.heading + c]
            met.lam[first + c] = -size * way * unit if p[f.host] == 1.0 else 0.0
            met.after[first + c] = 0.0 if p[f.stick] == 1.0 else later[f.drift + c] / unit
            run.rub.way[k, c] = later[f.speed + 1 + c] if run.rub.slides[k] == 1 else 0.0


@compiled
def _sweep(run):
    """Once through all rows. Returns the largest change of an acceleration."""
    met, program, worst = run.meeting, run.program, 0.0
    n = met.after.size
    for contact in program.onesided:
        a = program.meets[contact.row]
        own = met.A[a * n + a]
        if met.state[a] != TAKES_NO_PART and own > 0.0:
            force = max(0.0, met.lam[a] - met.after[a] / own)
            worst = max(worst, abs(force - met.lam[a]) * own)
            change_force(met, a, force - met.lam[a])
    for k in range(program.frictions.size):
        f = program.frictions[k]
        first = program.meets[f.row]
        if run.rub.slides[k] < 0:
            for c in range(f.parts):
                own = met.A[(first + c) * n + first + c]
                if met.state[first + c] == CLOSED and own > 0.0:
                    worst = max(worst, abs(met.after[first + c]))
                    change_force(met, first + c, -met.after[first + c] / own)
            continue
        limit = run.rub.grip[k] * max(0.0, met.lam[program.meets[f.host_row]])
        if run.rub.slides[k] == 0:
            worst = max(worst, rub(run, first, f.parts, limit))
            continue
        for c in range(f.parts):
            force = -limit * run.rub.way[k, c]
            worst = max(worst, abs(force - met.lam[first + c]) * met.A[(first + c) * n + first + c])
            change_force(met, first + c, force - met.lam[first + c])
    return worst


@compiled
def _scale(run):
    """The largest acceleration that a force causes at its own row."""
    met, scale = run.meeting, 0.0
    n = met.after.size
    for k in range(n):
        if met.state[k] != TAKES_NO_PART:
            scale = max(scale, max(abs(met.lam[k]) * met.A[k * n + k], abs(met.after[k])))
    return scale


@compiled
def _set_contacts(run, t, scale):
    """Contacts of the trial state are closed or open as (1) says. Those that change are due: they are logged."""
    met, program, events, p = run.meeting, run.program, run.events, run.trial.p
    largest = 0.0
    for contact in program.onesided:
        largest = max(largest, met.lam[program.meets[contact.row]])
    for contact in program.onesided:
        a = program.meets[contact.row]
        if met.state[a] == TAKES_NO_PART:
            continue
        stays = met.state[a] == CLOSED and events.due[contact.lift] == 0 and met.after[a] <= MOVES * scale
        closed = met.lam[a] > LOADED * largest or stays
        touch = _touches(run, contact, t) if met.state[a] == OPEN else -1
        p[contact.place], p[contact.loaded] = 1.0 if closed else 0.0, 1.0
        events.due[contact.lift] = 1 if met.state[a] == CLOSED and not closed else 0
        if touch >= 0:
            events.due[touch] = 1 if closed else 0
    return largest


@compiled
def _set_friction(run, largest, scale):
    """Friction of the trial state sticks or slides as (1) says, and in which direction."""
    met, program, events, p = run.meeting, run.program, run.events, run.trial.p
    for k in range(program.frictions.size):
        f = program.frictions[k]
        if run.rub.slides[k] != 0:
            continue
        first, force, moves = program.meets[f.row], 0.0, 0.0
        for c in range(f.parts):
            force, moves = force + met.lam[first + c] ** 2, moves + met.after[first + c] ** 2
        force, moves = np.sqrt(force), np.sqrt(moves)
        limit = run.rub.grip[k] * met.lam[program.meets[f.host_row]]
        sticks = p[f.host] == 1.0 and limit > LOADED * largest and force < limit * (1.0 - AT_LIMIT)
        for c in range(f.parts if not sticks else 0):
            if moves > MOVES * scale:
                p[f.heading + c] = met.after[first + c] / moves
            elif force > 0.0:
                p[f.heading + c] = -met.lam[first + c] / force
        events.due[f.stops] = 1 if sticks and p[f.stick] == 0.0 else 0
        events.due[f.starts] = 1 if not sticks and p[f.stick] == 1.0 else 0
        p[f.stick], p[f.slip] = (1.0, 0.0) if sticks else (0.0, 1.0)


@compiled
def _log_is_full(run):
    """True if the log has no room for all events at once."""
    return run.log.count + run.events.due.size > run.log.time.size


@compiled
def _replace_structure(run, t, energy):
    """The trial state, with velocities that fit its structure, is the present one; energy: before. Returns a status."""
    trial = run.trial
    i = structure_of(run, trial.p)
    if i < 0:
        return NEEDS_STRUCTURE
    status = velocities(run, t)
    if status != RUNNING:
        return status
    run.events.rebounds_end = t
    accept_due_events(run, i, energy_of(run, i, t, trial.x, trial.p) - energy)
    return RUNNING


@compiled
def decide_together(run, i, t):
    """Decide all contacts and friction of the present state: (1). Returns a status."""
    met, trial, s, events = run.meeting, run.trial, run.scratch, run.events
    if _log_is_full(run):
        return LOG_FULL
    if wants_contacts(run, i):
        return NEEDS_CONTACT_KERNEL
    energy = begin_trial(run, t)
    call.guards(run.kernels[i], s, trial.x, trial.p, s.xdot, s.lam, trial.phi)
    call.slots(run.kernels[i], s, trial.x, trial.p, s.xdot, s.lam, trial.later)
    call.meeting(run.kernels[i], s, trial.x, trial.p, met.A, met.B, met.before)
    without_units(run)
    _take_part(run, t, trial.p)
    _add_friction(run, i, trial.p, SLOW * max(events.fastest, fastest(run, trial.x)))
    n, scale = met.after.size, _scale(run)
    for _ in range(int(min(SWEEPS, 100 + WORK / (n * n)))):
        if _sweep(run) <= 1e-15 * scale:
            break
    _set_friction(run, _set_contacts(run, t, scale), scale)
    status = _replace_structure(run, t, energy)
    if status == RUNNING:
        events.decided = 1
    return status


@compiled
def sliding_friction(run, m):
    """The friction that slides in the contact which event m opens, -1 where there is none."""
    for contact in run.program.onesided:
        for k in range(run.program.frictions.size if contact.lift == m else 0):
            f = run.program.frictions[k]
            if f.sliding >= 0 and f.host == contact.place and run.state.p[f.slip] == 1.0:
                return k
    return -1


@compiled
def jam(run, k, t):
    """Close the contact of friction k and let the friction stick at once, where neither an open nor a closed contact that slides is
    consistent: an impact without collision (Painlevé's paradox [genot1999]). Returns a status."""
    f, trial = run.program.frictions[k], run.trial
    if _log_is_full(run):
        return LOG_FULL
    energy = begin_trial(run, t)
    trial.p[f.host], trial.p[f.stick], trial.p[f.slip] = 1.0, 1.0, 0.0
    if structure_of(run, trial.p) < 0:
        return NEEDS_STRUCTURE
    for m in range(run.events.due.size):
        run.events.due[m] = 1 if m == f.stops else 0
    return _replace_structure(run, t, energy)
