"""Impulses of an impact whose constraints are independent, with friction, worked out on the trial state of an instant.

Dry friction has no impulse where its load is a finite force, and in a contact it is Coulomb's law for impulses:

    sticks:  ψ_t⁺ = 0,  |Λ_t| ≤ μ_s Λ_n          slides:  Λ_t = −μ Λ_n u/|u|                            (1)

Restitution and friction together may create energy where they are coupled through the inertia (Kane's paradox). What counts
is the work of the impulses along the relative velocities, so that what moves by itself may well give energy:

    ΔT + Λᵀ g_t = ½ Λᵀ (ψ⁺ + ψ⁻)                                                                        (2)

Where it is positive friction is reduced to what makes it zero; where that is not enough, contacts that act on each other
share their lowest coefficient of restitution.
"""

import numpy as np
from numba import njit

from ..kernels.calls import call
from .compiled import PLAIN
from .loop import copy
from .switch import APART


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
def loosen(program, p, contacts):
    """Dry friction slides, for the time being; in contacts that take part in an impact it takes part in it as (1) says.

    lands: [stick, slip, heading in p, slot of the speed, components, host in p, first row, slots of μ and μ_s, row of the
    host]
    """
    for k in range(program.lands.shape[0]):
        f = program.lands[k]
        takes_part = contacts and f[5] >= 0 and f[7] >= 0 and p[f[5]] == 1.0
        p[f[0]], p[f[1]] = (1.0, 0.0) if takes_part else (0.0, 1.0)


@njit(**PLAIN)
def solved(A, n):
    """x with A x = b for the first n rows of (A, b), in the last column; False where A is singular."""
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        if A[best, k] == 0.0:
            return False
        for j in range(n + 1):
            A[k, j], A[best, j] = A[best, j], A[k, j]
        for i in range(n):
            if i != k:
                ratio = A[i, k] / A[k, k]
                for j in range(k, n + 1):
                    A[i, j] -= ratio * A[k, j]
    for k in range(n):
        A[k, n] /= A[k, k]
    return True


@njit(**PLAIN)
def sliding_impulses(program, table, s, i, trial, rough):
    """Residuals trial.r with which the contacts that slide have the impulses of (1), and all impulses.

    ways: [1 where friction k slides, direction of its parts]; sliding: [place of a tangential row, of its normal row, μ times
    the direction]
    """
    n = 0
    copy(trial.r0, trial.r)
    for k in range(program.lands.shape[0]):
        f = program.lands[k]
        for c in range(f[4]):
            at = place_of(table, i, f[6] + c)
            if trial.ways[k, 0] > 0.0 and at >= 0:
                trial.sliding[n, 0], trial.sliding[n, 1] = at, place_of(table, i, f[9])
                trial.sliding[n, 2] = trial.ways[k, 1 + c] * trial.slots[f[7]] * rough
                trial.r[at] = 0.0
                n += 1
    call(table.addresses[i, 14], (s.t, trial.q, trial.p, s.F, trial.r, trial.dv, trial.impulse, s.work))
    if n == 0:
        return
    for a in range(n):
        trial.matrix[a, n] = -trial.impulse[int(trial.sliding[a, 0])] - _normal(trial, a)
    for m in range(table.sizes[i, 1]):
        trial.unit[m] = 0.0
    for b in range(n):
        trial.unit[int(trial.sliding[b, 0])] = 1.0
        call(table.addresses[i, 14], (s.t, trial.q, trial.p, s.F, trial.unit, trial.dv, trial.impulse, s.work))
        trial.unit[int(trial.sliding[b, 0])] = 0.0
        for a in range(n):
            trial.matrix[a, b] = trial.impulse[int(trial.sliding[a, 0])] + _normal(trial, a)
    if solved(trial.matrix, n):
        for a in range(n):
            trial.r[int(trial.sliding[a, 0])] = trial.matrix[a, n]
    call(table.addresses[i, 14], (s.t, trial.q, trial.p, s.F, trial.r, trial.dv, trial.impulse, s.work))


@njit(**PLAIN)
def rub(program, table, s, i, trial, tiny, rough):
    """Residuals trial.r of a structure in which contacts stick, changed so that those slide that do: (1).

    What slides goes on sliding until that would turn it back; what sticks slides where the impulse is too large. `rough` is
    1, or 0 for the same without friction.
    """
    copy(trial.r, trial.r0)
    call(table.addresses[i, 12], (s.t, trial.q, trial.us, trial.p, s.a, s.lam, trial.later, s.work))
    for k in range(program.lands.shape[0]):
        f = program.lands[k]
        slides = trial.later[f[3]] > tiny
        trial.ways[k, 0] = -1.0 if trial.p[f[0]] == 0.0 or f[7] < 0 else (1.0 if slides else 0.0)  # -1: takes no part
        for c in range(f[4]):
            trial.ways[k, 1 + c] = trial.later[f[3] + 1 + c] if slides else 0.0
    for _ in range(3 * program.lands.shape[0] + 1):
        sliding_impulses(program, table, s, i, trial, rough)
        changed = False
        for k in range(program.lands.shape[0]):
            f = program.lands[k]
            normal = place_of(table, i, f[9])
            load, size, along = (trial.impulse[normal] if normal >= 0 else 0.0), 0.0, 0.0
            for c in range(f[4]):
                at = place_of(table, i, f[6] + c)
                if at >= 0:
                    size += trial.impulse[at] ** 2
                    along += (s.psi[at] - trial.r[at]) * trial.ways[k, 1 + c]
            limit = trial.slots[f[8]] * load * rough if f[8] >= 0 else 0.0
            if trial.ways[k, 0] == 1.0 and along < -tiny:
                trial.ways[k, 0], changed = 0.0, True
            elif trial.ways[k, 0] == 0.0 and size > 0.0 and (limit < 0.0 or size > limit**2 * (1 + 1e-12)):
                trial.ways[k, 0], changed = 2.0, True
                if trial.ways[k, 1] == 0.0 and trial.ways[k, f[4]] == 0.0:
                    for c in range(f[4]):
                        at = place_of(table, i, f[6] + c)
                        trial.ways[k, 1 + c] = -trial.impulse[at] / np.sqrt(size) if at >= 0 else 0.0
        if not changed:
            return


@njit(**PLAIN)
def _normal(trial, a):
    """μ u/|u| times the normal impulse, for one sliding row."""
    at = int(trial.sliding[a, 1])
    return trial.sliding[a, 2] * trial.impulse[at] if at >= 0 else 0.0


@njit(**PLAIN)
def groups(program, table, s, i, trial, tiny):
    """Which rows act on each other in an impact: trial.group is the same for them. Returns the number of groups.

    Contacts are told apart by whether an impulse at one asks for an impulse at the other; what holds anyway is in none of
    them, -1, unless it takes part itself.
    """
    rows, count = table.sizes[i, 1], 0
    for m in range(rows):
        trial.group[m] = 0 if abs(s.psi[m]) > tiny else -1
        trial.unit[m] = 0.0
    for k in range(program.onesided.shape[0]):
        at = place_of(table, i, program.onesided[k, 1])
        if at >= 0:
            trial.group[at] = 0
            count += 1
    for k in range(program.lands.shape[0]):
        for c in range(program.lands[k, 4]):
            at = place_of(table, i, program.lands[k, 6] + c)
            if at >= 0:
                trial.group[at] = 0
    if count < 2:
        return 1
    for m in range(rows):
        trial.own[m] = 0.0
        if trial.group[m] == 0:
            trial.unit[m] = 1.0
            call(table.addresses[i, 14], (s.t, trial.q, trial.p, s.F, trial.unit, trial.dv, trial.impulse, s.work))
            trial.unit[m] = 0.0
            trial.own[m] = abs(trial.impulse[m])
            trial.group[m] = m + 1
    for m in range(rows):
        if trial.group[m] <= 0:
            continue
        trial.unit[m] = 1.0
        call(table.addresses[i, 14], (s.t, trial.q, trial.p, s.F, trial.unit, trial.dv, trial.impulse, s.work))
        trial.unit[m] = 0.0
        for l in range(rows):
            if trial.group[l] > 0 and trial.impulse[l] ** 2 > APART**2 * trial.own[l] * trial.own[m]:
                least, most = min(trial.group[l], trial.group[m]), max(trial.group[l], trial.group[m])
                for a in range(rows):
                    trial.group[a] = least if trial.group[a] == most else trial.group[a]
    return rows + 1


@njit(**PLAIN)
def gains(s, trial, rows, group, r, impulse):
    """½ Λᵀ(ψ⁺ + ψ⁻) of a group, the work of the impulses in the frame of what moves by itself, and what it is rounded
    against: positive where an impact would create energy."""
    work, size = 0.0, 0.0
    for m in range(rows):
        if trial.group[m] == group:
            work += 0.5 * impulse[m] * (2 * s.psi[m] - r[m])
            size += 0.5 * abs(impulse[m]) * (abs(s.psi[m]) + abs(s.psi[m] - r[m]))
    return work, size


@njit(**PLAIN)
def impact(program, table, s, i, trial, tiny):
    """Apply the impulses for the residuals trial.r, with friction. Returns whether energy would still be created, and where:
    trial.creating is 1 for the rows of such groups.

    Friction is reduced, in each group by itself, to what leaves the energy: Λ₀ + x (Λ − Λ₀) with Λ₀ without friction.
    """
    rows, still = table.sizes[i, 1], False
    for m in range(trial.impulses.size):
        trial.impulses[m] = 0.0
    copy(trial.r, trial.r1)
    count = groups(program, table, s, i, trial, tiny)
    rub(program, table, s, i, trial, tiny, 1.0)
    for m in range(rows):
        trial.rubbed[m], trial.rubbing[m], trial.creating[m] = trial.r[m], trial.impulse[m], 0
    creates = False
    for g in range(count):
        work, size = gains(s, trial, rows, g, trial.rubbed, trial.rubbing)
        creates = creates or work > 1e-12 * size
    if creates:
        copy(trial.r1, trial.r)
        rub(program, table, s, i, trial, tiny, 0.0)
        for g in range(count):
            work, size = gains(s, trial, rows, g, trial.rubbed, trial.rubbing)
            least, _ = gains(s, trial, rows, g, trial.r, trial.impulse)
            x, stays = 1.0, work > 1e-12 * size and least > 1e-12 * size
            if work > 1e-12 * size and not stays:  # least + b x + a x² = 0
                a = 0.0
                for m in range(rows):
                    if trial.group[m] == g:
                        a += 0.5 * (trial.rubbing[m] - trial.impulse[m]) * (trial.r[m] - trial.rubbed[m])
                b = work - least - a
                root = np.sqrt(max(0.0, b**2 - 4 * a * min(least, 0.0)))
                x = min(1.0, -2 * min(least, 0.0) / (b + root)) if b + root > 0.0 else 0.0
            for m in range(rows):
                if trial.group[m] == g:
                    trial.rubbed[m] += (1.0 - x) * (trial.r[m] - trial.rubbed[m])
                    trial.creating[m] = 1 if stays else 0
            still = still or stays
    for m in range(rows):
        trial.r[m] = trial.rubbed[m]
    push(table, s, i, trial)
    return still
