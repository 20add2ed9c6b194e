"""Impacts in which more contacts take part than the motion tells apart: a block that lands on all its corners.

Their impulses are not unique, the velocities after the impact are. All rows of contacts and of their friction are looked at,
independent or not, with A = G M⁻¹ Gᵀ as all that holds anyway leaves it:

    ψ⁺ = ψ⁻ + A Λ,     0 ≤ ψ_n⁺ + e ψ_n⁻  ⟂  Λ_n ≥ 0,     |Λ_t| ≤ μ Λ_n,  Λ_t against ψ_t⁺ where it slides   (1)

found row by row, again and again (projected Gauss–Seidel), which no dependence of rows disturbs.
"""

import numpy as np
from numba import njit

from ..kernels.calls import call
from .compiled import PLAIN
from .loop import copy, largest

SWEEPS, WORK = (
    20000,
    2e7,
)  # at most so many times through all rows, and no more operations than take some hundredths of a second


@njit(**PLAIN)
def _push(trial, a, change):
    for k in range(trial.after.size):
        trial.after[k] += trial.A[a * trial.after.size + k] * change
    trial.lam[a] += change


@njit(**PLAIN)
def _rub(trial, a, parts, limit):
    """Impulse of friction in one contact, within its limit. Returns how much the velocities changed."""
    n = trial.after.size
    first, last = trial.A[a * n + a], trial.A[(a + parts - 1) * n + a + parts - 1]
    across = trial.A[a * n + a + parts - 1] if parts > 1 else 0.0
    stiff = 0.5 * (first + last) + np.sqrt(0.25 * (first - last) ** 2 + across**2)
    if not stiff > 0.0:
        return 0.0
    size, moved = 0.0, 0.0
    for c in range(parts):
        size += (trial.lam[a + c] - trial.after[a + c] / stiff) ** 2
    share = 1.0 if size <= limit**2 else limit / np.sqrt(size)
    for c in range(parts):
        trial.want[c] = share * (trial.lam[a + c] - trial.after[a + c] / stiff)
    for c in range(parts):
        change = trial.want[c] - trial.lam[a + c]
        moved = max(moved, abs(change) * stiff)
        _push(trial, a + c, change)
    return moved


@njit(**PLAIN)
def _solve(program, trial, bounces):
    """Λ of (1) in trial.lam, and ψ⁺ in trial.after; bounces: 1, or 0 for the same without restitution."""
    n, scale = trial.after.size, largest(trial.before, trial.before.size)
    copy(trial.before, trial.after)
    for k in range(n):
        trial.lam[k] = 0.0
    for _ in range(int(min(SWEEPS, 100 + WORK / (n * n)))):
        worst = 0.0
        for k in range(program.onesided.shape[0]):
            a = program.meets[program.onesided[k, 1]]
            own = trial.A[a * n + a]
            if trial.p[program.onesided[k, 0]] == 1.0 and own > 0.0:
                wanted = max(0.0, trial.lam[a] - (trial.after[a] + bounces * trial.bounce[a]) / own)
                worst = max(worst, abs(wanted - trial.lam[a]) * own)
                _push(trial, a, wanted - trial.lam[a])
        for k in range(program.lands.shape[0]):
            f = program.lands[k]
            if trial.p[f[0]] == 1.0 and f[7] >= 0:
                load = max(0.0, trial.lam[program.meets[f[9]]])
                worst = max(worst, _rub(trial, program.meets[f[6]], f[4], trial.grip[k] * load))
        if worst <= 1e-15 * scale:
            break


@njit(**PLAIN)
def _work(trial):
    """½ Λᵀ (ψ⁺ + ψ⁻): positive where energy would be created."""
    total, size = 0.0, 0.0
    for k in range(trial.after.size):
        total += 0.5 * trial.lam[k] * (trial.after[k] + trial.before[k])
        size += 0.5 * abs(trial.lam[k]) * (abs(trial.after[k]) + abs(trial.before[k]))
    return total, size


@njit(**PLAIN)
def meet(program, table, s, i, trial, struck, tiny):
    """Velocities after an impact of contacts that are not independent, from trial.us; impulses in trial.impulses."""
    n, nv = trial.after.size, trial.v.size
    call(table.addresses[i, 17], (s.t, trial.q, trial.us, trial.p, trial.A, trial.B, trial.before, s.work))
    for k in range(n):
        trial.bounce[k] = 0.0
    for m in range(struck):
        a = program.meets[int(trial.struck[m, 0])]
        if a < 0:  # no contact: it holds
            continue
        if trial.struck[m, 4] == 0.0 and trial.before[a] > -tiny:
            trial.struck[m, 4] = 1.0  # only touched, or leaves by itself
        elif trial.struck[m, 4] == 0.0:
            trial.bounce[a] = trial.struck[m, 2] * trial.before[a]
    for k in range(program.lands.shape[0]):
        trial.grip[k] = trial.slots[program.lands[k, 8]] if program.lands[k, 8] >= 0 else 0.0
    _solve(program, trial, 1.0)
    slides = False
    for k in range(program.lands.shape[0]):  # what slides has the coefficient of sliding
        f = program.lands[k]
        if trial.p[f[0]] == 1.0 and f[7] >= 0 and trial.slots[f[7]] < trial.grip[k]:
            speed = 0.0
            for c in range(f[4]):
                speed = max(speed, abs(trial.after[program.meets[f[6]] + c]))
            if speed > 1e3 * tiny:
                trial.grip[k], slides = trial.slots[f[7]], True
    if slides:
        _solve(program, trial, 1.0)
    work, size = _work(trial)
    if work > 1e-12 * size:  # as much restitution as leaves the energy: Λ₀ + x (Λ − Λ₀), Λ₀ without
        copy(trial.lam, trial.lam1)
        copy(trial.after, trial.after1)
        _solve(program, trial, 0.0)
        least, _ = _work(trial)
        a = 0.0
        for k in range(n):
            a += 0.5 * (trial.lam1[k] - trial.lam[k]) * (trial.after1[k] - trial.after[k])
        b = work - least - a
        root = np.sqrt(max(0.0, b**2 - 4 * a * min(least, 0.0)))
        x = min(1.0, -2 * min(least, 0.0) / (b + root)) if b + root > 0.0 else 0.0
        for k in range(n):
            trial.lam[k] += x * (trial.lam1[k] - trial.lam[k])
            trial.after[k] += x * (trial.after1[k] - trial.after[k])
    for m in range(nv):
        trial.v[m] = trial.us[m]
        for k in range(n):
            trial.v[m] += trial.B[k * nv + m] * trial.lam[k]
    for r in range(program.meets.size):
        trial.impulses[r] = trial.lam[program.meets[r]] if program.meets[r] >= 0 else 0.0
    for k in range(program.onesided.shape[0]):  # what leaves is open
        a = program.meets[program.onesided[k, 1]]
        if trial.p[program.onesided[k, 0]] == 1.0 and trial.lam[a] == 0.0 and trial.after[a] > 1e3 * tiny:
            trial.p[program.onesided[k, 0]] = 0.0
            for m in range(struck):
                if int(trial.struck[m, 1]) == program.onesided[k, 0]:
                    trial.struck[m, 5], trial.struck[m, 4] = 0.0, 2.0 if trial.struck[m, 4] == 0.0 else 1.0
