"""Impacts in which more contacts take part than the motion distinguishes: a block that lands on all its corners.

Their impulses are not unique, the velocities after the impact are. All rows of contacts and of their friction are looked at,
independent or not, with A = G M⁻¹ Gᵀ as all that holds anyway leaves it:

    ψ⁺ = ψ⁻ + A Λ,     0 ≤ ψ_n⁺ + e ψ_n⁻  ⟂  Λ_n ≥ 0,     |Λ_t| ≤ μ Λ_n,  Λ_t against ψ_t⁺ where it slides   (1)

found row by row, again and again (projected Gauss–Seidel), which no dependence of rows disturbs. All is in units of the
rows: ψ/u, u Λ, A/(u u).
"""

import numpy as np

from ...kernels import call
from ...kernels.compiled import compiled
from ...methods.vector_functions import copy, largest
from .impacts import share_of
from .impulses import place_of

SWEEPS = 20000  # at most so many times through all rows,
WORK = 2e7  # and no more operations than take some hundredths of a second


@compiled
def change_force(met, a, change):
    n = met.after.size
    for k in range(n):
        met.after[k] += met.A[a * n + k] * change
    met.lam[a] += change


@compiled
def rub(run, a, parts, limit):
    """Impulse of friction in one contact, within its limit. Returns how much the velocities changed."""
    met, want = run.meeting, run.rub.want
    n = met.after.size
    first, last = met.A[a * n + a], met.A[(a + parts - 1) * n + a + parts - 1]
    across = met.A[a * n + a + parts - 1] if parts > 1 else 0.0
    stiff = 0.5 * (first + last) + np.sqrt(0.25 * (first - last) ** 2 + across**2)
    if not stiff > 0.0:
        return 0.0
    size, moved = 0.0, 0.0
    for c in range(parts):
        size += (met.lam[a + c] - met.after[a + c] / stiff) ** 2
    share = 1.0 if size <= limit**2 else limit / np.sqrt(size)
    for c in range(parts):
        want[c] = share * (met.lam[a + c] - met.after[a + c] / stiff)
    for c in range(parts):
        change = want[c] - met.lam[a + c]
        moved = max(moved, abs(change) * stiff)
        change_force(met, a + c, change)
    return moved


@compiled
def _solve(run, bounces):
    """Λ and ψ⁺ of (1); bounces: 1, or 0 for the same without restitution."""
    met, program, p = run.meeting, run.program, run.trial.p
    n, scale = met.after.size, largest(met.before, 0, met.before.size)
    copy(met.before, met.after)
    for k in range(n):
        met.lam[k] = 0.0
    for _ in range(int(min(SWEEPS, 100 + WORK / (n * n)))):
        worst = 0.0
        for contact in program.onesided:
            a = program.meets[contact.row]
            own = met.A[a * n + a]
            if p[contact.place] == 1.0 and own > 0.0:
                wanted = max(0.0, met.lam[a] - (met.after[a] + bounces * met.bounce[a]) / own)
                worst = max(worst, abs(wanted - met.lam[a]) * own)
                change_force(met, a, wanted - met.lam[a])
        for k in range(program.frictions.size):
            f = program.frictions[k]
            if p[f.stick] == 1.0 and f.sliding >= 0:
                load = max(0.0, met.lam[program.meets[f.host_row]])
                worst = max(worst, rub(run, program.meets[f.row], f.parts, run.rub.grip[k] * load))
        if worst <= 1e-15 * scale:
            break


@compiled
def _work(met):
    """½ Λᵀ (ψ⁺ + ψ⁻): positive where energy would be created."""
    total, size = 0.0, 0.0
    for k in range(met.after.size):
        total += 0.5 * met.lam[k] * (met.after[k] + met.before[k])
        size += 0.5 * abs(met.lam[k]) * (abs(met.after[k]) + abs(met.before[k]))
    return total, size


@compiled
def wants_contacts(run, i):
    """True if the kernel of contacts of structure i is not there yet; then it is requested."""
    run.events.contacts_of = i
    return run.kernels[i].meeting == 0


@compiled
def ambiguous(run, i, p):
    """True if closed contacts or sticking friction of structure i have rows that are not in use."""
    for contact in run.program.onesided:
        if p[contact.place] == 1.0 and place_of(run, i, contact.row, p) < 0:
            return True
    for f in run.program.frictions:
        for c in range(f.parts if p[f.stick] == 1.0 else 0):
            if place_of(run, i, f.row + c, p) < 0:
                return True
    return False


@compiled
def without_units(run):
    """ψ, A and the velocities that impulses bring about, in units of the rows."""
    met, meets, units, nv = run.meeting, run.program.meets, run.program.units, run.plan.velocities
    n = met.after.size
    for r in range(meets.size):
        a = meets[r]
        if a < 0:
            continue
        met.before[a] /= units[r]
        for k in range(n):
            met.A[a * n + k] /= units[r]
            met.A[k * n + a] /= units[r]
        for m in range(nv):
            met.B[a * nv + m] /= units[r]


@compiled
def _prepare(run, tiny):
    """Restitution and grip of every contact."""
    met, program, trial = run.meeting, run.program, run.trial
    for k in range(met.bounce.size):
        met.bounce[k] = 0.0
    for m in range(run.events.struck):
        hit = trial.struck[m]
        a = program.meets[hit.row]
        if a < 0:  # no contact: it holds
            continue
        if hit.stays == 0 and met.before[a] > -tiny:
            hit.stays = 1  # only touched, or leaves by itself
        elif hit.stays == 0:
            met.bounce[a] = hit.restitution * met.before[a]
    for k in range(program.frictions.size):
        static = program.frictions[k].static
        run.rub.grip[k] = trial.slots[static] if static >= 0 else 0.0


@compiled
def _slides(run, tiny):
    """Whether something slides after the impact whose coefficient of sliding is less: it has that then."""
    met, program, trial, slides = run.meeting, run.program, run.trial, False
    for k in range(program.frictions.size):
        f = program.frictions[k]
        if trial.p[f.stick] == 1.0 and f.sliding >= 0 and trial.slots[f.sliding] < run.rub.grip[k]:
            speed = 0.0
            for c in range(f.parts):
                speed = max(speed, abs(met.after[program.meets[f.row] + c]))
            if speed > 1e3 * tiny:
                run.rub.grip[k], slides = trial.slots[f.sliding], True
    return slides


@compiled
def _reduce_restitution(run, work):
    """As much restitution as leaves the energy: Λ₀ + x (Λ − Λ₀), Λ₀ without."""
    met = run.meeting
    copy(met.lam, met.lam1)
    copy(met.after, met.after1)
    _solve(run, 0.0)
    least, _ = _work(met)
    a = 0.0
    for k in range(met.lam.size):
        a += 0.5 * (met.lam1[k] - met.lam[k]) * (met.after1[k] - met.after[k])
    x = share_of(work, least, a)
    for k in range(met.lam.size):
        met.lam[k] += x * (met.lam1[k] - met.lam[k])
        met.after[k] += x * (met.after1[k] - met.after[k])


@compiled
def _open(run, tiny):
    """What leaves is open."""
    met, trial = run.meeting, run.trial
    for contact in run.program.onesided:
        a = run.program.meets[contact.row]
        stays = False
        for m in range(run.events.struck):
            stays = stays or (trial.struck[m].place == contact.place and trial.struck[m].stays == 3)
        if trial.p[contact.place] == 1.0 and met.lam[a] == 0.0 and met.after[a] > 1e3 * tiny and not stays:
            trial.p[contact.place] = 0.0
            for m in range(run.events.struck):
                hit = trial.struck[m]
                if hit.place == contact.place:
                    hit.takes_part, hit.stays = 0, 2 if hit.stays == 0 else 1


@compiled
def meet(run, i, tiny):
    """Velocities after an impact of contacts that are not independent, from those before; impulses in trial.impulses.

    tiny: rate of what does not move [1/s]
    """
    met, trial, first, nv = run.meeting, run.trial, run.plan.configuration, run.plan.velocities
    call.meeting(run.kernels[i], run.scratch, trial.before, trial.p, met.A, met.B, met.before)
    without_units(run)
    _prepare(run, tiny)
    _solve(run, 1.0)
    if _slides(run, tiny):
        _solve(run, 1.0)
    work, size = _work(met)
    if work > 1e-12 * size:
        _reduce_restitution(run, work)
    for m in range(nv):
        trial.x[first + m] = trial.before[first + m]
        for k in range(met.lam.size):
            trial.x[first + m] += met.B[k * nv + m] * met.lam[k]
    for r in range(run.program.meets.size):
        a = run.program.meets[r]
        trial.impulses[r] = met.lam[a] / run.program.units[r] if a >= 0 else 0.0
    _open(run, tiny)
