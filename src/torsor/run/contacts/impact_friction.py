"""Dry friction in an impact: Coulomb's law for impulses, worked out on the trial state of an instant.

Dry friction has no impulse where its load is a finite force, and in a contact

    sticks:  ψ_t⁺ = 0,  |Λ_t| ≤ μ_s Λ_n          slides:  Λ_t = −μ Λ_n u/|u|                            (1)
"""

import numpy as np

from ...kernels import call
from ...kernels.compiled import compiled
from ...methods.vector_functions import copy
from .impulses import answer, place_of


@compiled
def solve_small(A, n):
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
            place = place_of(run, i, f.row + c, run.trial.p)
            if rub.slides[k] > 0 and place >= 0:
                rub.sliding[n].row, rub.sliding[n].normal = place, place_of(run, i, f.host_row, run.trial.p)
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
    if solve_small(matrix, n):
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
    call.slots(k, s, trial.before, trial.p, s.xdot, s.lam, trial.later)
    for l in range(run.program.frictions.size):
        f = run.program.frictions[l]
        slides = trial.later[f.speed] > tiny * run.program.units[f.row]
        rub.slides[l] = -1 if trial.p[f.stick] == 0.0 or f.sliding < 0 else (1 if slides else 0)
        for c in range(f.parts):
            rub.way[l, c] = trial.later[f.speed + 1 + c] if slides else 0.0


@compiled
def revise_contact(run, i, k, tiny, rough):
    """Whether one contact slides or sticks otherwise than was taken for granted; then it is noted."""
    trial, rub, f, psi = run.trial, run.rub, run.program.frictions[k], run.scratch.psi
    host = place_of(run, i, f.host_row, run.trial.p)
    load, size, along = (trial.impulse[host] if host >= 0 else 0.0), 0.0, 0.0
    for c in range(f.parts):
        place = place_of(run, i, f.row + c, run.trial.p)
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
            place = place_of(run, i, f.row + c, run.trial.p)
            rub.way[k, c] = -trial.impulse[place] / np.sqrt(size) if place >= 0 else 0.0
    return True


@compiled
def impose_sliding(run, i, tiny, rough):
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
            other = revise_contact(run, i, k, tiny, rough) or other
        if not other:
            return
