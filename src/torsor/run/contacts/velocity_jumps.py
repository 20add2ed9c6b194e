"""Jumps: velocities after constraints are engaged or struck, worked out on the trial state of an instant.

    M (v⁺ − v⁻) = Gᵀ Λ,     G v⁺ + g_t = −e (G v⁻ + g_t),    Λ = −S⁻¹ (1 + e) ψ                          (1)

One-sided constraints take part only as far as they push. Friction takes part in contacts (`impact_friction.py`); where contacts are
not independent their impulses are found otherwise (`redundant_impacts.py`).

A contact whose rebounds become so low that positions cannot resolve them is closed; what is left of the series of rebounds,
which shrink like eⁿ, is summed up:

    t_rest = t + 2 ġ⁺/(|g̈| (1 − e))                                                                     (2)
"""

from ...kernels import call
from ...kernels.compiled import compiled
from ...methods.constraint_projection import correct_positions
from ...methods.status_codes import RUNNING
from ...methods.vector_functions import copy, rate
from ...prepare.event_codes import CHATTERS, NEEDS_CONTACT_KERNEL, NEEDS_STRUCTURE, NOT_SATISFIED
from ..events.event_tolerances import FAR, NEAR, REBOUND, load_resolution, structure_of
from .impacts import impact
from .impulses import loosen, place_of, push, residuals, unit_of
from .redundant_impacts import ambiguous, meet, wants_contacts


@compiled
def positions(run, t, snap):
    """Bring the trial positions onto the constraints of their structure. Returns a status."""
    trial, s, state, events = run.trial, run.scratch, run.state, run.events
    i = structure_of(run, trial.p)
    if i < 0:
        return NEEDS_STRUCTURE
    k = run.kernels[i]
    if k.rows == 0:
        return RUNNING
    s.t[0] = t
    call.factor(k, s, trial.x, trial.p, s.F)
    call.positions(k, s, trial.x, trial.p, s.F, trial.other, s.g)
    gap = 0.0
    for m in range(k.rows):
        if not abs(s.g[m]) <= gap * unit_of(run, i, m):
            gap, events.number = abs(s.g[m]) / unit_of(run, i, m), s.g[m]
    if not snap and not gap <= FAR:
        return NOT_SATISFIED
    worst = state.position_residual
    swaps = correct_positions(run, k, trial.x, trial.other, trial.p, 0)
    state.position_residual = worst  # a jump is no drift
    if swaps < 0:
        return NOT_SATISFIED
    if swaps % 2 == 1:
        copy(trial.other, trial.x)
    return RUNNING


@compiled
def velocities(run, t):
    """Bring the trial velocities onto the constraints of their structure by impulses. Returns a status."""
    trial, psi = run.trial, run.scratch.psi
    i = structure_of(run, trial.p)
    if i < 0:
        return NEEDS_STRUCTURE
    rows = run.kernels[i].rows
    for _ in range(2 if rows > 0 else 0):  # the second time for rounding
        residuals(run, i, t)
        for m in range(rows):
            trial.r[m] = psi[m]
        push(run, i)
    return RUNNING


@compiled
def required_changes(run, i, tiny):
    """Residuals that an impact is to take away: (1). Returns whether something leaves that was taken to be struck.

    tiny: rate of what does not move [1/s]
    """
    trial, psi, again = run.trial, run.scratch.psi, False
    for m in range(run.kernels[i].rows):
        trial.r[m] = psi[m]
    for m in range(run.events.struck):
        hit = trial.struck[m]
        place = place_of(run, i, hit.row, run.trial.p)
        if hit.takes_part == 0 or place < 0:
            continue
        leaving, still = hit.side * psi[place], tiny * unit_of(run, i, place)
        if leaving > -still:  # it is only touched, or leaves by itself
            trial.r[place] = 0.0
            if hit.stays == 0 and leaving > still:
                hit.takes_part, again = 0, True
            hit.stays = 1
        elif hit.stays == 0:
            trial.r[place] = (1.0 + hit.restitution) * psi[place]
    return again


@compiled
def pulls(run, i):
    """Whether a constraint that only pushes would pull; the first that would is opened."""
    trial, events, units = run.trial, run.events, run.program.units
    rounding = run.plan.mass * run.scales.length**2 * events.fastest  # of impulses times the units of their rows
    for m in range(units.size):
        rounding = max(rounding, abs(trial.impulses[m]) * units[m])
    rounding *= load_resolution(run, i)
    for contact in run.program.onesided:
        if (
            place_of(run, i, contact.row, run.trial.p) >= 0
            and trial.impulses[contact.row] * units[contact.row] < -rounding
        ):
            trial.p[contact.place] = 0.0
            for m in range(events.struck):
                if trial.struck[m].place == contact.place:
                    trial.struck[m].takes_part, trial.struck[m].stays = 0, 2
            return True
    for m in range(events.struck):  # nor does what is struck from one side
        hit = trial.struck[m]
        if hit.takes_part == 1 and hit.side * trial.impulses[hit.row] * units[hit.row] < -rounding:
            hit.takes_part, hit.stays = 0, 2
            return True
    return False


@compiled
def share_restitution(run, i):
    """Different coefficients of restitution may create energy: then a group takes its least. Returns whether any changed."""
    trial, n, again = run.trial, run.events.struck, False
    for m in range(n):
        hit = trial.struck[m]
        place = place_of(run, i, hit.row, run.trial.p)
        if place < 0 or run.rub.creating[place] == 0 or hit.takes_part == 0:
            continue
        for l in range(n):
            other = trial.struck[l]
            lower = other.restitution < hit.restitution and other.takes_part == 1
            at = place_of(run, i, other.row, run.trial.p)
            if lower and at >= 0 and run.rub.group[at] == run.rub.group[place]:
                hit.restitution, again = other.restitution, True
    return again


@compiled
def push_apart(run, i, t):
    """Velocities after an impact of independent constraints. Returns whether that is the end of it: else something else
    takes part than was taken for granted."""
    tiny = NEAR * run.events.fastest
    residuals(run, i, t)
    if required_changes(run, i, tiny):
        return False
    creates = impact(run, i, tiny)
    if pulls(run, i):
        return False
    return not (creates and run.events.struck > 1 and share_restitution(run, i))


@compiled
def end_low_rebounds(run, t):
    """Whether rebounds that are too low to be followed end now; then their contacts are closed, and (2) is noted."""
    trial, events, again = run.trial, run.events, False
    for m in range(events.struck):
        hit = trial.struck[m]
        leaves = hit.takes_part == 0 and hit.stays < 2 and hit.leaving > 0.0
        rebounds = hit.takes_part == 1 and hit.stays == 0 and hit.restitution > 0.0
        if not (leaves or rebounds):
            continue
        speed = hit.leaving if leaves else -hit.restitution * hit.leaving
        pull = -hit.side * trial.later[hit.slot]
        if pull > 0.0 and 0.5 * speed**2 < pull * REBOUND * run.program.units[hit.row]:
            hit.stays, hit.takes_part, again = 1, 1, True
            if hit.restitution < 1.0:
                events.rebounds_end = t + 2.0 * speed / (pull * (1.0 - hit.restitution))  # (2)
    return again


@compiled
def all_take_part(run):
    """All constraints that are struck take part again, and all contacts are as they were before. Those that are left, or would be,
    by too little to be followed are closed."""
    trial = run.trial
    for contact in run.program.onesided:
        trial.p[contact.place] = run.state.p[contact.place]
    for m in range(run.events.struck):
        hit = trial.struck[m]
        pull, speed = (
            -hit.side * trial.slots[hit.slot],
            hit.leaving if hit.leaving > 0.0 else -hit.restitution * hit.leaving,
        )
        low = pull > 0.0 and 0.5 * speed**2 < pull * REBOUND * run.program.units[hit.row]
        hit.takes_part, hit.stays = 1, 3 if low else 0


@compiled
def jump(run, t):
    """Velocities after constraints were engaged or struck: (1). Which of them stay closed is left in trial.p. Returns a
    status."""
    trial, s, n = run.trial, run.scratch, run.events.struck
    copy(trial.x, trial.before)
    tries = 4 + 2 * n + run.program.onesided.size
    for turn in range(2 * tries):
        together = turn >= tries  # one by one finds no end: all are decided together
        if turn == tries:
            all_take_part(run)
        copy(trial.before, trial.x)
        for m in range(n):
            trial.p[trial.struck[m].place] = trial.struck[m].takes_part
        loosen(run, trial.p, True)
        i = structure_of(run, trial.p)
        if i < 0:
            return NEEDS_STRUCTURE
        s.t[0] = t
        if together or ambiguous(run, i, trial.p):
            if wants_contacts(run, i):
                return NEEDS_CONTACT_KERNEL
            meet(run, i, NEAR * run.events.fastest)
        elif not push_apart(run, i, t):
            continue
        for m in range(n):  # which of them stay closed
            hit = trial.struck[m]
            e = hit.restitution if hit.stays == 0 else 0.0
            trial.p[hit.place] = 1.0 if hit.takes_part == 1 and e == 0.0 else 0.0
        loosen(run, trial.p, False)
        j = structure_of(run, trial.p)
        if j < 0:
            return NEEDS_STRUCTURE
        if n == 0:
            return RUNNING
        if together:
            return RUNNING
        rate(run, run.kernels[j], t, trial.x, trial.p, s.xdot)
        call.slots(run.kernels[j], s, trial.x, trial.p, s.xdot, s.lam, trial.later)
        if not end_low_rebounds(run, t):
            return RUNNING
    return CHATTERS
