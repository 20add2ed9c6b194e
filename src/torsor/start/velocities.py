"""Velocities at a start that satisfy the constraints and keep what the user gave.

They are found level by level, each without disturbing the one before:

    0   the constraints                G v = −g_t
    1   what the user gave             velocities of bodies, rates of joints
    2   joint rates that nobody gave   zero
    3   kinetic energy                 least

A joint rate is r = J v + r₀, with r₀ of a ground that moves by itself.
"""

import numpy as np

from ..errors import AssemblyError
from ..formulations.initial import moving, speeds
from .examiner import CLOSED, shortened, solved

FREE = 1e-6  # a row of length 1 on velocities that are free to choose, below which it is given by the levels before it


def consistent_velocities(formulation, examiner, t, q, p, keep=None):
    """v that satisfies the velocity constraints and keeps what was given; and a list of what was changed.

    keep   rows in use: these are satisfied to rounding, also where others disagree with them a little
    """
    model, rates, columns = formulation.model, formulation.examined["rates"], examiner.columns
    n = len(columns)
    J, r = rates(t, q, np.zeros(n), p)
    r = r.ravel()
    E, r0, names = _given_rows(formulation, J, r)
    e = formulation.examined["speeds"](p[: len(model.inputs)]).ravel() - r0
    units = examiner.units(t, q, p)
    g_t = examiner.psi(t, q, np.zeros(n), p) / units
    whole, alone = np.zeros(n), np.zeros(n, bool)
    for row, value in zip(E, e):
        if np.count_nonzero(row) == 1:
            whole[row != 0], alone[row != 0] = value, True
    complete = alone.all() and np.array_equal(E @ whole, e)  # each velocity was given by itself, and once
    E, weight = of_length_one(E, columns)
    examiner.scales.rate = max(examiner.scales.rate, np.abs(g_t).max(initial=0.0), np.abs(e / weight).max(initial=0.0))
    off = np.abs(examiner.psi(t, q, whole, p) / units).max(initial=0)
    if complete and off <= 1e-12 * examiner.speed(whole):
        return whole, []
    if not (g_t.any() or e.any() or r.any()):
        return np.zeros(n), []  # nothing asks for motion
    free = np.array([id(j) not in formulation.released for j in moving(model) for _ in range(j.dof)], bool)
    A, told = shortened(examiner.matrix(t, q, p), g_t)
    J, unit = of_length_one(J[free], columns)

    def energy():
        root = np.linalg.cholesky(np.linalg.inv(examiner.Minv(q, p))).T * columns
        return root / np.abs(root).max(initial=0.0), np.zeros(n)

    v, residuals = by_levels([(A, -told), (E, e / weight), (J, -r[free] / unit)], n, energy)
    v = examiner.onto(t, q, v * columns, p, examiner.places if keep is None else keep)
    scale = examiner.speed(v)
    wrong = np.abs(residuals[0]) > CLOSED * scale
    if wrong.any():
        _refuse_contradictions(examiner, np.flatnonzero(wrong), -examiner.psi(t, q, v, p), units * CLOSED * scale)
    lost = np.abs(residuals[1]) > 1e-9 * scale
    if lost.any():
        _refuse_slipping(formulation, examiner, A, told, (E, e / weight), names, lost, units)
    told, kept = e + r0, e + r0 - residuals[1] * weight
    return v, [f"{names[k]}: {told[k]:.6g} became {kept[k]:.6g}" for k in np.flatnonzero(lost)]


def of_length_one(A, columns):
    """Rows of length 1 on dimensionless velocities, and how long they were."""
    A = A * columns
    size = np.linalg.norm(A, axis=1)
    size = np.where(size > 0, size, 1.0)
    return A / size[:, None], size


def _refuse_contradictions(examiner, wrong, off, limit):
    """Refuse rows that no velocities satisfy together: those that are left over where the others hold, then these others."""
    over = [k for k in wrong if abs(off[k]) > limit[k]] or list(wrong)
    told = [f"{examiner.rows[k]} (off by {off[k]:.3g}){examiner.rows[k].between}" for k in over[:5]]
    others = dict.fromkeys(examiner.rows[k].constraint.name for k in wrong if k not in over)
    against = f", against {', '.join(list(others)[:5])}" if others else ""
    raise AssemblyError(
        f"model {examiner.name!r}: contradictory prescribed velocities: {'; '.join(told)}{against}. No velocities satisfy all "
        "constraints at the start; remove one of them or make the prescribed motions agree."
    )


def _refuse_slipping(formulation, examiner, A, g_t, given, names, lost, units):
    """Refuse given velocities that the position-level constraints allow and a velocity-level one forbids."""
    held = examiner.holonomic
    if held.all():
        return
    w, residuals = by_levels([(A[held], -g_t[held]), given], A.shape[1])
    scale = max(examiner.scales.rate, np.abs(w).max(initial=0.0))
    if np.abs(residuals[1]).max(initial=0.0) > 1e-9 * scale:
        return  # they contradict each other or the joints anyway: the least change is made and reported
    off = A @ w + g_t
    broken = np.abs(off) > 1e-9 * scale
    rows = "; ".join(f"{examiner.rows[k]} (off by {off[k] * units[k]:.3g})" for k in np.flatnonzero(broken)[:5])
    told = ", ".join(names[k] for k in np.flatnonzero(lost)[:5])
    raise AssemblyError(
        f"model {formulation.model.name!r}: the given velocities ({told}) contradict velocity-level constraints: {rows}. "
        "Give velocities that satisfy them, or leave them out."
    )


def _given_rows(formulation, J, r):
    """Rows E v + r₀ of what the user gave, with names; J v + r: the rates of all joints."""
    told, joints = speeds(formulation), moving(formulation.model)
    places = [at + k for _, x, at in told if at is not None for k in range(x.shape[0])]
    picked = np.zeros((len(places), J.shape[1]))
    picked[np.arange(len(places)), places] = 1.0
    rows = np.array([j.start_rate is not None for j in joints for _ in range(j.dof)], bool)
    names = [f"{name}[{k}]" for name, x, _ in told for k in range(x.shape[0])]
    return np.vstack([picked, J[rows]]), np.concatenate([np.zeros(len(places)), r[rows]]), names


def by_levels(levels, n, energy=None):
    """Least squares by levels: each minimises its residual in what the levels before it leave free, where all rows count
    alike. Rows have length 1, but for those of `energy`, which follows where something is still free and asks for the least."""
    x, free, residuals = np.zeros(n), np.eye(n), []
    for k, (A, b) in enumerate(levels):
        if len(A) and free.shape[1]:
            inside, rest = A @ free, b - A @ x
            lengths = np.linalg.norm(inside, axis=1)
            weight = np.where(lengths > FREE, lengths, 1.0) if k else np.ones(len(A))
            found, left = solved(inside / weight[:, None], rest / weight, FREE)
            x, free = x + free @ found, free @ left
        residuals.append(b - A @ x if len(A) else np.zeros(0))
    if energy is not None and free.shape[1]:
        A, b = energy()
        x = x + free @ solved(A @ free, b - A @ x, 0.0)[0]
    return x, residuals
