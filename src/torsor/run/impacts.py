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

from ..kernels import ask
from ..kernels.compiled import compiled, inlined
from ..methods.vectors import copy

APART = (
    1e-9  # impulse at one contact over what an impact at another asks for, below which they do not influence each other
)


@compiled
def place_of(run, i, row):
    """Where a row of the model is among the rows in use; -1 where it is not."""
    for k in range(run.kernels[i].rows):
        if run.structures.rows[i, k] == row:
            return k
    return -1


@inlined
def unit_of(run, i, place):
    """Unit of one of the rows in use."""
    return run.program.units[run.structures.rows[i, place]]


@compiled
def residuals(run, i, t):
    """ψ of a structure at the trial state, and its factor, in the scratch."""
    k, s, trial = run.kernels[i], run.scratch, run.trial
    s.t[0] = t
    ask.factor(k, s, trial.x, trial.p, s.F)
    ask.velocities(k, s, trial.x, trial.p, s.F, trial.other, s.psi)


@compiled
def answer(run, i, r):
    """Impulses that take residuals away, and what they change velocities by, of a structure whose factor is in the scratch."""
    trial, s = run.trial, run.scratch
    ask.impulse(run.kernels[i], s, trial.x, trial.p, s.F, r, trial.dv, trial.impulse)


@compiled
def push(run, i):
    """Apply the impulses that take the residuals trial.r away, and add them up."""
    trial, first = run.trial, run.plan.configuration
    answer(run, i, trial.r)
    for m in range(trial.dv.size):
        trial.x[first + m] += trial.dv[m]
    for k in range(run.kernels[i].rows):
        trial.impulses[run.structures.rows[i, k]] += trial.impulse[k]


@compiled
def loosen(run, p, contacts):
    """Dry friction slides, for the time being; in contacts that take part in an impact it takes part in it as (1) says."""
    for f in run.program.frictions:
        takes_part = contacts and f.host >= 0 and f.sliding >= 0 and p[f.host] == 1.0
        p[f.stick], p[f.slip] = (1.0, 0.0) if takes_part else (0.0, 1.0)


@compiled
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


@compiled
def sliding_rows(run, i, rough):
    """Rows of the contacts that slide; their residuals are set to zero. Returns how many there are."""
    n, trial, rub, frictions = 0, run.trial, run.rub, run.program.frictions
    for k in range(frictions.size):
        f = frictions[k]
        for c in range(f.parts):
            place = place_of(run, i, f.row + c)
            if rub.slides[k] > 0 and place >= 0:
                rub.sliding[n].row, rub.sliding[n].normal = place, place_of(run, i, f.host_row)
                rub.sliding[n].push = rub.way[k, c] * trial.slots[f.sliding] * rough
                trial.r[place] = 0.0
                n += 1
    return n


@compiled
def sliding_impulses(run, i, rough):
    """Residuals trial.r with which the contacts that slide have the impulses of (1), and all impulses."""
    trial, sliding, matrix = run.trial, run.rub.sliding, run.rub.matrix
    copy(trial.r0, trial.r)
    n = sliding_rows(run, i, rough)
    answer(run, i, trial.r)
    if n == 0:
        return
    for a in range(n):
        matrix[a, n] = -trial.impulse[sliding[a].row] - normal(run, a)
    for m in range(run.kernels[i].rows):
        trial.unit[m] = 0.0
    for b in range(n):
        trial.unit[sliding[b].row] = 1.0
        answer(run, i, trial.unit)
        trial.unit[sliding[b].row] = 0.0
        for a in range(n):
            matrix[a, b] = trial.impulse[sliding[a].row] + normal(run, a)
    if solved(matrix, n):
        for a in range(n):
            trial.r[sliding[a].row] = matrix[a, n]
    answer(run, i, trial.r)


@compiled
def normal(run, a):
    """μ u/|u| times the normal impulse, for one sliding row."""
    row = run.rub.sliding[a]
    return row.push * run.trial.impulse[row.normal] if row.normal >= 0 else 0.0


@compiled
def ways(run, i, tiny):
    """Which contacts slide before an impact, and in which direction; tiny: rate of what does not move [1/s]."""
    trial, rub, k, s = run.trial, run.rub, run.kernels[i], run.scratch
    ask.slots(k, s, trial.before, trial.p, s.xdot, s.lam, trial.later)
    for l in range(run.program.frictions.size):
        f = run.program.frictions[l]
        slides = trial.later[f.speed] > tiny * run.program.units[f.row]
        rub.slides[l] = -1 if trial.p[f.stick] == 0.0 or f.sliding < 0 else (1 if slides else 0)
        for c in range(f.parts):
            rub.way[l, c] = trial.later[f.speed + 1 + c] if slides else 0.0


@compiled
def changed(run, i, k, tiny, rough):
    """Whether one contact slides or sticks otherwise than was taken for granted; then it is noted."""
    trial, rub, f, psi = run.trial, run.rub, run.program.frictions[k], run.scratch.psi
    host = place_of(run, i, f.host_row)
    load, size, along = (trial.impulse[host] if host >= 0 else 0.0), 0.0, 0.0
    for c in range(f.parts):
        place = place_of(run, i, f.row + c)
        if place >= 0:
            size += trial.impulse[place] ** 2
            along += (psi[place] - trial.r[place]) * rub.way[k, c]
    limit = trial.slots[f.static] * load * rough if f.static >= 0 else 0.0
    if rub.slides[k] == 1 and along < -tiny * run.program.units[f.row]:
        rub.slides[k] = 0
        return True
    if not (rub.slides[k] == 0 and size > 0.0 and (limit < 0.0 or size > limit**2 * (1 + 1e-12))):
        return False
    rub.slides[k] = 2
    if rub.way[k, 0] == 0.0 and rub.way[k, f.parts - 1] == 0.0:
        for c in range(f.parts):
            place = place_of(run, i, f.row + c)
            rub.way[k, c] = -trial.impulse[place] / np.sqrt(size) if place >= 0 else 0.0
    return True


@compiled
def rubbed(run, i, tiny, rough):
    """Residuals trial.r of a structure in which contacts stick, changed so that those slide that do: (1).

    What slides goes on sliding until that would turn it back; what sticks slides where the impulse is too large. `rough` is
    1, or 0 for the same without friction.
    """
    count = run.program.frictions.size
    copy(run.trial.r, run.trial.r0)
    ways(run, i, tiny)
    for _ in range(3 * count + 1):
        sliding_impulses(run, i, rough)
        other = False
        for k in range(count):
            other = changed(run, i, k, tiny, rough) or other
        if not other:
            return


@compiled
def members(run, i, tiny):
    """Rows that take part in an impact, in group 0; what holds anyway is in none of them, -1. Returns how many contacts do."""
    group, count = run.rub.group, 0
    for m in range(run.kernels[i].rows):
        group[m] = 0 if abs(run.scratch.psi[m]) > tiny * unit_of(run, i, m) else -1
        run.trial.unit[m] = 0.0
    for contact in run.program.onesided:
        place = place_of(run, i, contact.row)
        if place >= 0:
            group[place] = 0
            count += 1
    for f in run.program.frictions:
        for c in range(f.parts):
            place = place_of(run, i, f.row + c)
            if place >= 0:
                group[place] = 0
    return count


@compiled
def groups(run, i, tiny):
    """Which rows act on each other in an impact: their group is the same. Returns the number of groups.

    Contacts are told apart by whether an impulse at one asks for an impulse at the other.
    """
    trial, group, own, rows = run.trial, run.rub.group, run.rub.own, run.kernels[i].rows
    if members(run, i, tiny) < 2:
        return 1
    for m in range(rows):
        own[m] = 0.0
        if group[m] == 0:
            trial.unit[m] = 1.0
            answer(run, i, trial.unit)
            trial.unit[m] = 0.0
            own[m] = abs(trial.impulse[m])
            group[m] = m + 1
    for m in range(rows):
        if group[m] <= 0:
            continue
        trial.unit[m] = 1.0
        answer(run, i, trial.unit)
        trial.unit[m] = 0.0
        for l in range(rows):
            if group[l] > 0 and trial.impulse[l] ** 2 > APART**2 * own[l] * own[m]:
                least, most = min(group[l], group[m]), max(group[l], group[m])
                for a in range(rows):
                    group[a] = least if group[a] == most else group[a]
    return rows + 1


@compiled
def gains(run, rows, group, r, impulse):
    """½ Λᵀ(ψ⁺ + ψ⁻) of a group, the work of the impulses in the frame of what moves by itself, and what it is rounded
    against: positive where an impact would create energy."""
    work, size, psi = 0.0, 0.0, run.scratch.psi
    for m in range(rows):
        if run.rub.group[m] == group:
            work += 0.5 * impulse[m] * (2 * psi[m] - r[m])
            size += 0.5 * abs(impulse[m]) * (abs(psi[m]) + abs(psi[m] - r[m]))
    return work, size


@compiled
def reduced(run, rows, g):
    """Friction of one group reduced to what leaves the energy: Λ₀ + x (Λ − Λ₀) with Λ₀ without friction. Returns whether
    energy would still be created."""
    trial, rub = run.trial, run.rub
    work, size = gains(run, rows, g, rub.rubbed, rub.rubbing)
    least, _ = gains(run, rows, g, trial.r, trial.impulse)
    x, stays = 1.0, work > 1e-12 * size and least > 1e-12 * size
    if work > 1e-12 * size and not stays:  # least + b x + a x² = 0
        a = 0.0
        for m in range(rows):
            if rub.group[m] == g:
                a += 0.5 * (rub.rubbing[m] - trial.impulse[m]) * (trial.r[m] - rub.rubbed[m])
        x = share_of(work, least, a)
    for m in range(rows):
        if rub.group[m] == g:
            rub.rubbed[m] += (1.0 - x) * (trial.r[m] - rub.rubbed[m])
            rub.creating[m] = 1 if stays else 0
    return stays


@compiled
def share_of(work, least, a):
    """x between 0 and 1 with least + b x + a x² = 0, where that is `work` at 1."""
    b = work - least - a
    root = np.sqrt(max(0.0, b**2 - 4 * a * min(least, 0.0)))
    return min(1.0, -2 * min(least, 0.0) / (b + root)) if b + root > 0.0 else 0.0


@compiled
def impact(run, i, tiny):
    """Apply the impulses for the residuals trial.r, with friction. Returns whether energy would still be created; where is
    noted in `creating`. Friction is reduced, in each group by itself."""
    trial, rub, rows, still = run.trial, run.rub, run.kernels[i].rows, False
    for m in range(trial.impulses.size):
        trial.impulses[m] = 0.0
    copy(trial.r, trial.r1)
    count = groups(run, i, tiny)
    rubbed(run, i, tiny, 1.0)
    for m in range(rows):
        rub.rubbed[m], rub.rubbing[m], rub.creating[m] = trial.r[m], trial.impulse[m], 0
    creates = False
    for g in range(count):
        work, size = gains(run, rows, g, rub.rubbed, rub.rubbing)
        creates = creates or work > 1e-12 * size
    if creates:
        copy(trial.r1, trial.r)
        rubbed(run, i, tiny, 0.0)
        for g in range(count):
            still = reduced(run, rows, g) or still
    for m in range(rows):
        trial.r[m] = rub.rubbed[m]
    push(run, i)
    return still
