"""Jumps: velocities after constraints are engaged or struck, worked out on the trial state of an instant.

    M (v⁺ − v⁻) = Gᵀ Λ,     G v⁺ + g_t = −e (G v⁻ + g_t),    Λ = −S⁻¹ (1 + e) ψ                          (1)

One-sided constraints take part only as far as they push. Friction takes part in contacts (`impacts.py`); where contacts are
not independent their impulses are found otherwise (`meeting.py`).

A contact whose rebounds become so low that positions cannot resolve them is closed; what is left of the series of rebounds,
which shrink like eⁿ, is summed up:

    t_rest = t + 2 ġ⁺/(|g̈| (1 − e))                                                                     (2)
"""

from numba import njit

from ..kernels.calls import call
from .codes import CHATTERS, NOT_SATISFIED, WANTED
from .compiled import PLAIN
from .impacts import impact, loosen, place_of, push, residuals
from .loop import RUNNING, accelerate, copy, largest, project_position
from .meeting import meet
from .switch import FAR, NEAR, REBOUND, kernels_of, structure_of, use


@njit(**PLAIN)
def positions(program, table, s, plan, state, events, trial, t, snap):
    """Bring the trial positions onto the constraints of their structure. Returns a status."""
    i = structure_of(program, table, events, trial.p)
    if i < 0:
        return WANTED
    use(table, plan, i)
    if table.sizes[i, 1] == 0:
        return RUNNING
    k = kernels_of(table, i)
    s.t[0] = t
    call(k.factor, (s.t, trial.q, trial.p, s.F, s.work))
    call(k.positions, (s.t, trial.q, trial.p, s.F, trial.other, s.g, s.work))
    gap = largest(s.g, table.sizes[i, 1])
    if not snap and not gap <= FAR * events.values[2]:
        events.values[1] = gap
        return NOT_SATISFIED
    worst = state.values[4]
    swaps = project_position(k, s, plan, state, trial.q, trial.other, trial.p)
    state.values[4] = worst  # a jump is no drift
    if swaps < 0:
        events.values[1] = gap
        return NOT_SATISFIED
    if swaps % 2 == 1:
        copy(trial.other, trial.q)
    return RUNNING


@njit(**PLAIN)
def velocities(program, table, s, plan, events, trial, t):
    """Bring the trial velocities onto the constraints of their structure by impulses. Returns a status."""
    i = structure_of(program, table, events, trial.p)
    if i < 0:
        return WANTED
    use(table, plan, i)
    for _ in range(2 if table.sizes[i, 1] > 0 else 0):  # the second time for rounding
        residuals(table, s, i, t, trial)
        for m in range(table.sizes[i, 1]):
            trial.r[m] = s.psi[m]
        push(table, s, i, trial)
    return RUNNING


@njit(**PLAIN)
def pushed(program, table, s, plan, i, events, trial, t, n):
    """Velocities after an impact of independent constraints. Returns whether that is the end of it: else something else
    takes part than was taken for granted."""
    residuals(table, s, i, t, trial)
    for m in range(table.sizes[i, 1]):
        trial.r[m] = s.psi[m]
    again = False
    for m in range(n):
        at = place_of(table, i, int(trial.struck[m, 0]))
        if trial.struck[m, 5] == 0.0 or at < 0:
            continue
        leaving = trial.struck[m, 7] * s.psi[at]
        if leaving > -NEAR * events.values[3]:  # it is only touched, or leaves by itself
            trial.r[at] = 0.0
            if trial.struck[m, 4] == 0.0 and leaving > NEAR * events.values[3]:
                trial.struck[m, 5], again = 0.0, True
            trial.struck[m, 4] = 1.0
        elif trial.struck[m, 4] == 0.0:
            trial.r[at] = (1.0 + trial.struck[m, 2]) * s.psi[at]
    if again:
        return False
    creates = impact(program, table, s, i, trial, NEAR * events.values[3])
    momentum = plan.numbers[5] * events.values[3]  # against which impulses are rounded
    rounding = NEAR * max(momentum, largest(trial.impulses, trial.impulses.size))
    for m in range(program.onesided.shape[0]):  # nothing pulls: a contact that would is opened
        at = place_of(table, i, program.onesided[m, 1])
        if at >= 0 and trial.impulses[program.onesided[m, 1]] < -rounding:
            trial.p[program.onesided[m, 0]], again = 0.0, True
            for l in range(n):
                if int(trial.struck[l, 1]) == program.onesided[m, 0]:
                    trial.struck[l, 5], trial.struck[l, 4] = 0.0, 2.0
            break
    if again:
        return False
    for m in range(n):  # nor does what is struck from one side
        if trial.struck[m, 5] == 1.0 and trial.struck[m, 7] * trial.impulses[int(trial.struck[m, 0])] < -rounding:
            trial.struck[m, 5], trial.struck[m, 4], again = 0.0, 2.0, True
            break
    if again:
        return False
    if creates and n > 1:  # different coefficients of restitution may create energy: then a group takes its least
        for m in range(n):
            at = place_of(table, i, int(trial.struck[m, 0]))
            if at < 0 or trial.creating[at] == 0 or trial.struck[m, 5] == 0.0:
                continue
            for l in range(n):
                other = place_of(table, i, int(trial.struck[l, 0]))
                lower = trial.struck[l, 2] < trial.struck[m, 2] and trial.struck[l, 5] == 1.0
                if lower and other >= 0 and trial.group[other] == trial.group[at]:
                    trial.struck[m, 2], again = trial.struck[l, 2], True
    return not again


@njit(**PLAIN)
def jump(program, table, s, plan, state, events, trial, t):
    """Velocities after constraints were engaged or struck: (1). Which of them stay closed is left in trial.p.

    struck: [row, place in p, restitution, slot of the relative acceleration, 1 stays closed or 2 open, takes part, speed
    of leaving, side on which it is kept: 1 for g ≥ 0, -1 for g ≤ 0]
    """
    n = int(events.values[5])
    copy(trial.v, trial.us)  # before
    for _ in range(4 + 2 * n + program.onesided.shape[0]):
        copy(trial.us, trial.v)
        for m in range(n):
            trial.p[int(trial.struck[m, 1])] = trial.struck[m, 5]
        loosen(program, trial.p, True)
        i = structure_of(program, table, events, trial.p)
        if i < 0:
            return WANTED
        s.t[0] = t
        if table.sizes[i, 4] == 1:
            meet(program, table, s, i, trial, n, NEAR * events.values[3])
        elif not pushed(program, table, s, plan, i, events, trial, t, n):
            continue
        again = False
        # which of them stay closed
        for m in range(n):
            e = trial.struck[m, 2] if trial.struck[m, 4] == 0.0 else 0.0
            trial.p[int(trial.struck[m, 1])] = 1.0 if trial.struck[m, 5] == 1.0 and e == 0.0 else 0.0
        loosen(program, trial.p, False)
        j = structure_of(program, table, events, trial.p)
        if j < 0:
            return WANTED
        use(table, plan, j)
        if n == 0:
            return RUNNING
        accelerate(kernels_of(table, j), s, plan, t, trial.q, trial.v, trial.p, n < 0, s.a)
        call(table.addresses[j, 12], (s.t, trial.q, trial.v, trial.p, s.a, s.lam, trial.later, s.work))
        for m in range(n):
            leaves = trial.struck[m, 5] == 0.0 and trial.struck[m, 4] < 2.0 and trial.struck[m, 6] > 0.0
            rebounds = trial.struck[m, 5] == 1.0 and trial.struck[m, 4] == 0.0 and trial.struck[m, 2] > 0.0
            if not (leaves or rebounds):
                continue
            speed = trial.struck[m, 6] if leaves else -trial.struck[m, 2] * trial.struck[m, 6]
            pull = -trial.struck[m, 7] * trial.later[int(trial.struck[m, 3])]
            if pull > 0.0 and 0.5 * speed**2 < pull * REBOUND * events.values[2]:
                trial.struck[m, 4], trial.struck[m, 5], again = 1.0, 1.0, True
                if trial.struck[m, 2] < 1.0:
                    events.values[4] = t + 2.0 * speed / (pull * (1.0 - trial.struck[m, 2]))  # (2)
        if not again:
            return RUNNING
    return CHATTERS
