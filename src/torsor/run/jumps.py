"""Jumps: velocities after constraints are engaged or struck, worked out on the trial state of an instant.

    M (v⁺ − v⁻) = Gᵀ Λ,     G v⁺ + g_t = −e (G v⁻ + g_t),    Λ = −S⁻¹ (1 + e) ψ                          (1)

A contact whose rebounds become so low that positions cannot resolve them is closed; what is left of the series of rebounds,
which shrink like eⁿ, is summed up:

    t_rest = t + 2 ġ⁺/(|g̈| (1 − e))                                                                     (2)
"""

from numba import njit

from ..kernels.calls import call
from .codes import CHATTERS, NOT_SATISFIED, WANTED
from .compiled import PLAIN
from .loop import RUNNING, accelerate, copy, largest, project_position
from .switch import NEAR, REBOUND, kernels_of, structure_of, use


@njit(**PLAIN)
def place_of(table, i, row):
    """Where a row of the model is among the rows in use; -1 where it is not."""
    for k in range(table.sizes[i, 1]):
        if table.rows[i, k] == row:
            return k
    return -1


@njit(**PLAIN)
def residuals(table, s, i, t, trial):
    """ψ of a structure at the trial state, in s.psi; its factor in s.F."""
    s.t[0] = t
    call(table.addresses[i, 0], (s.t, trial.q, trial.p, s.F, s.work))
    call(table.addresses[i, 3], (s.t, trial.q, trial.v, trial.p, s.F, trial.vother, s.psi, s.work))


@njit(**PLAIN)
def push(table, s, i, trial):
    """Apply the impulses that take the residuals trial.r away, and add them up."""
    call(table.addresses[i, 14], (s.t, trial.q, trial.p, s.F, trial.r, trial.dv, trial.impulse, s.work))
    for m in range(trial.v.size):
        trial.v[m] += trial.dv[m]
    for k in range(table.sizes[i, 1]):
        trial.impulses[table.rows[i, k]] += trial.impulse[k]


@njit(**PLAIN)
def hold(program, table, s, plan, state, events, trial, t, snap):
    """Bring the trial state onto the constraints of its structure: positions to rounding, velocities by impulses."""
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
    if not snap and not gap <= 1e-6 * events.values[2]:
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
    for _ in range(2):  # the second time for rounding
        residuals(table, s, i, t, trial)
        for m in range(table.sizes[i, 1]):
            trial.r[m] = s.psi[m]
        push(table, s, i, trial)
    return RUNNING


@njit(**PLAIN)
def rebound(program, table, s, plan, state, events, trial, t):
    """Velocities after constraints were struck: (1). Which of them stay closed is left in trial.p.

    struck: [row, place in p, restitution, slot of the relative acceleration, closed, takes part, speed of approach]
    """
    n = int(events.values[5])
    copy(trial.v, trial.us)  # before
    for _ in range(4 + 2 * n + program.onesided.shape[0]):
        copy(trial.us, trial.v)
        for m in range(n):
            trial.p[int(trial.struck[m, 1])] = trial.struck[m, 5]
        i = structure_of(program, table, events, trial.p)
        if i < 0:
            return WANTED
        residuals(table, s, i, t, trial)
        for m in range(table.sizes[i, 1]):
            trial.r[m] = s.psi[m]
        again = False
        for m in range(n):
            at = place_of(table, i, int(trial.struck[m, 0]))
            if trial.struck[m, 5] == 0.0 or at < 0:
                continue
            if s.psi[at] > 0.0:  # it leaves by itself
                trial.struck[m, 5], again = 0.0, True
            elif trial.struck[m, 4] == 0.0:
                trial.r[at] = (1.0 + trial.struck[m, 2]) * s.psi[at]
        if again:
            continue
        for m in range(trial.impulses.size):
            trial.impulses[m] = 0.0
        push(table, s, i, trial)
        for m in range(program.onesided.shape[0]):  # nothing pulls: a contact that would is opened
            at = place_of(table, i, program.onesided[m, 1])
            if at >= 0 and trial.impulse[at] < -NEAR * largest(trial.impulse, table.sizes[i, 1]):
                trial.p[program.onesided[m, 0]], again = 0.0, True
                for l in range(n):
                    if int(trial.struck[l, 1]) == program.onesided[m, 0]:
                        trial.struck[l, 5] = 0.0
                break
        if again:
            continue
        if n > 1 and gains(table, s, i, trial):  # different coefficients may create energy: then all take the least
            least = trial.struck[0, 2]
            for m in range(n):
                least = min(least, trial.struck[m, 2])
            for m in range(n):
                again = again or trial.struck[m, 2] > least
                trial.struck[m, 2] = least
        if again:
            continue
        # which of them stay closed
        for m in range(n):
            e = trial.struck[m, 2] if trial.struck[m, 4] == 0.0 else 0.0
            trial.p[int(trial.struck[m, 1])] = 1.0 if trial.struck[m, 5] == 1.0 and e == 0.0 else 0.0
        j = structure_of(program, table, events, trial.p)
        if j < 0:
            return WANTED
        use(table, plan, j)
        accelerate(kernels_of(table, j), s, plan, t, trial.q, trial.v, trial.p, n < 0, s.a)
        call(table.addresses[j, 12], (s.t, trial.q, trial.v, trial.p, s.a, s.lam, trial.later, s.work))
        for m in range(n):
            if trial.struck[m, 5] == 0.0 or trial.struck[m, 4] == 1.0 or trial.struck[m, 2] == 0.0:
                continue
            at = place_of(table, i, int(trial.struck[m, 0]))
            speed = -trial.struck[m, 2] * trial.struck[m, 6] if at >= 0 else 0.0
            pull = -trial.later[int(trial.struck[m, 3])]
            if pull > 0.0 and 0.5 * speed**2 < pull * REBOUND * events.values[2]:
                trial.struck[m, 4], again = 1.0, True
                events.values[4] = t + 2.0 * speed / (pull * (1.0 - trial.struck[m, 2]))  # (2)
        if not again:
            return RUNNING
    return CHATTERS


@njit(**PLAIN)
def gains(table, s, i, trial):
    """Whether the trial velocities have more kinetic energy than those before."""
    call(table.addresses[i, 13], (s.t, trial.q, trial.us, trial.p, trial.energies, s.work))
    before = trial.energies[0]
    call(table.addresses[i, 13], (s.t, trial.q, trial.v, trial.p, trial.energies, s.work))
    return trial.energies[0] > before * (1 + 1e-12)
