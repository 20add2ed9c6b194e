"""An impact whose constraints are independent, with restitution and friction, worked out on the trial state of an instant.

Restitution and friction together may create energy where they are coupled through the inertia (Kane's paradox). What counts
is the work of the impulses along the relative velocities, so that what moves by itself may well give energy:

    ΔT + Λᵀ g_t = ½ Λᵀ (ψ⁺ + ψ⁻)                                                                        (1)

Where it is positive friction is reduced to what makes it zero; where that is not enough, contacts that act on each other
share their lowest coefficient of restitution.
"""

import numpy as np

from ...kernels.compiled import compiled
from ...methods.vector_functions import copy
from .impact_friction import impose_sliding
from .impulses import answer, place_of, push, unit_of

APART = (
    1e-9  # impulse at one contact over what an impact at another asks for, below which they do not influence each other
)


@compiled
def members(run, i, tiny):
    """Rows that take part in an impact, in group 0; what holds anyway is in none of them, -1. Returns how many contacts do."""
    group, count = run.rub.group, 0
    for m in range(run.kernels[i].rows):
        group[m] = 0 if abs(run.scratch.psi[m]) > tiny * unit_of(run, i, m) else -1
        run.trial.unit[m] = 0.0
    for contact in run.program.onesided:
        place = place_of(run, i, contact.row, run.trial.p)
        if place >= 0:
            group[place] = 0
            count += 1
    for f in run.program.frictions:
        for c in range(f.parts):
            place = place_of(run, i, f.row + c, run.trial.p)
            if place >= 0:
                group[place] = 0
    return count


@compiled
def groups(run, i, tiny):
    """Which rows act on each other in an impact: their group is the same. Returns the number of groups.

    Contacts belong to one group if an impulse at one requires an impulse at the other.
    """
    trial, group, own, rows = run.trial, run.rub.group, run.rub.own, run.kernels[i].rows
    if members(run, i, tiny) < 2:
        return 1
    for m in range(rows):
        own[m] = 0.0
        group[m] = m + 1 if group[m] == 0 else -1
    for m in range(rows):  # rows without residual follow from those that act on them
        moves = abs(trial.r[m]) > tiny * unit_of(run, i, m)
        if group[m] > 0 and moves and own[m] == 0.0:
            join_neighbours(run, i, m)
    for m in range(rows):
        group[m] = group[m] if own[m] > 0.0 else -1
    return rows + 1


@compiled
def join_neighbours(run, i, first):
    """Give all rows that act on each other, the first one among them, the number of its group."""
    trial, group, own, rows = run.trial, run.rub.group, run.rub.own, run.kernels[i].rows
    chain, before = run.rub.chain, run.rub.coupling
    chain[0], count, done = first, 1, 0
    own[first] = own_impulse(run, i, first)
    while done < count:
        m = chain[done]
        done += 1
        own_impulse(run, i, m)
        copy(trial.impulse, before)
        for l in range(rows):
            if group[l] <= 0 or own[l] > 0.0 or before[l] == 0.0:
                continue
            size = own_impulse(run, i, l)
            if before[l] ** 2 > APART**2 * size * own[m]:
                own[l], group[l] = size, group[first]
                chain[count] = l
                count += 1


@compiled
def own_impulse(run, i, m):
    """The impulse on a row that takes a residual of 1 there away; those on all rows are left in trial.impulse."""
    trial = run.trial
    trial.unit[m] = 1.0
    answer(run, i, trial.unit)
    trial.unit[m] = 0.0
    return abs(trial.impulse[m])


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
def reduce_friction(run, rows, g):
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
    impose_sliding(run, i, tiny, 1.0)
    for m in range(rows):
        rub.rubbed[m], rub.rubbing[m], rub.creating[m] = trial.r[m], trial.impulse[m], 0
    creates = False
    for g in range(count):
        work, size = gains(run, rows, g, rub.rubbed, rub.rubbing)
        creates = creates or work > 1e-12 * size
    if creates:
        copy(trial.r1, trial.r)
        impose_sliding(run, i, tiny, 0.0)
        for g in range(count):
            still = reduce_friction(run, rows, g) or still
    for m in range(rows):
        trial.r[m] = rub.rubbed[m]
    push(run, i)
    return still
