"""Velocities at a start that satisfy the constraints and keep what the user gave (`least_change.py`): what was changed and what was
completed is told in words, and what contradicts itself is refused."""

import numpy as np

from ..errors import AssemblyError
from ..formulations.initial import moving, speeds
from .examiner import CLOSED
from .least_change import (
    CHANGED,
    FREE,
    Spread,
    by_levels,
    constraint_rows,
    lengths,
    of_length_one,
    open_rates,
    solutions,
)


def consistent_velocities(formulation, examiner, t, q, p, keep=None):
    """v that satisfies the velocity constraints and keeps what was given; and a list of what was changed or completed.

    keep   rows in use: these are satisfied to rounding, also where others disagree with them a little
    """
    model, columns = formulation.model, examiner.columns
    n = len(columns)
    rates = open_rates(formulation, t, q, p)
    E, r0, names = given_rows(formulation, rates)
    e = formulation.examined["speeds"](p[: len(model.inputs)]).ravel() - r0
    units = examiner.units(t, q, p)
    g_t = examiner.psi(t, q, np.zeros(n), p) / units
    whole, alone = np.zeros(n), np.zeros(n, bool)
    for row, value in zip(E, e):
        if np.count_nonzero(row) == 1:
            whole[row != 0], alone[row != 0] = value, True
    complete = alone.all() and np.array_equal(E @ whole, e)  # each velocity was given by itself, and once
    weight = lengths(E, columns)
    examiner.scales.rate = max(examiner.scales.rate, np.abs(g_t).max(initial=0.0), np.abs(e / weight).max(initial=0.0))
    off = np.abs(examiner.psi(t, q, whole, p) / units).max(initial=0)
    if complete and off <= 1e-12 * examiner.speed(whole):
        return whole, []
    if not (g_t.any() or e.any() or rates.r0.any()):
        return np.zeros(n), []  # nothing asks for motion
    found = by_levels(examiner, t, q, p, [(E, e)], rates)
    v = examiner.onto(t, q, found.v, p, examiner.places if keep is None else keep)
    scale = examiner.speed(v)
    wrong = np.abs(found.residuals[0]) > CLOSED * scale
    if wrong.any():
        _refuse_contradictions(examiner, np.flatnonzero(wrong), -examiner.psi(t, q, v, p), units * CLOSED * scale)
    lost = np.abs(found.residuals[1] / weight) > CHANGED * scale
    if lost.any():
        _refuse_slipping(formulation, examiner, (t, q, p), (E, e), names, lost)
    told, kept = e + r0, e + r0 - found.residuals[1]
    changes = [f"{names[k]}: {told[k]:.6g} became {kept[k]:.6g}" for k in np.flatnonzero(lost)]
    return v, changes + completed(formulation, examiner, rates, found, v)


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


def _refuse_slipping(formulation, examiner, place, given, names, lost):
    """Refuse given velocities that the position-level constraints allow and a velocity-level one forbids.

    place   t, q and p;   given   rows and values, in their units
    """
    held, (t, q, p) = examiner.holonomic, place
    if held.all():
        return
    A, g_t, units = constraint_rows(examiner, t, q, p)
    E, e = of_length_one(given[0], given[1], examiner.columns)
    x, N = solutions(A[held], -g_t[held])
    w, _ = Spread(examiner, q, p).nearest(x, N, E, e)
    scale = max(examiner.scales.rate, np.abs(w).max(initial=0.0))
    if np.abs(e - E @ w).max(initial=0.0) > CHANGED * scale:
        return  # they contradict each other or the joints anyway: the least change is made and reported
    off = A @ w + g_t
    broken = np.abs(off) > CHANGED * scale
    rows = "; ".join(f"{examiner.rows[k]} (off by {off[k] * units[k]:.3g})" for k in np.flatnonzero(broken)[:5])
    told = ", ".join(names[k] for k in np.flatnonzero(lost)[:5])
    raise AssemblyError(
        f"model {formulation.model.name!r}: the given velocities ({told}) contradict velocity-level constraints: {rows}. "
        "Give velocities that satisfy them, or leave them out."
    )


def given_rows(formulation, rates):
    """Rows E v + r₀ of what the user gave, with names."""
    told, joints = speeds(formulation), moving(formulation.model)
    places = [at + k for _, x, at in told if at is not None for k in range(x.shape[0])]
    picked = np.zeros((len(places), rates.J.shape[1]))
    picked[np.arange(len(places)), places] = 1.0
    rows = np.array([j.start_rate is not None for j in joints for _ in range(j.dof)], bool)
    names = [f"{name}[{k}]" for name, x, _ in told for k in range(x.shape[0])]
    return np.vstack([picked, rates.J[rows]]), np.concatenate([np.zeros(len(places)), rates.r0[rows]]), names


def completed(formulation, examiner, rates, found, v):
    """What was left open and follows from a least change of kinetic energy, in words."""
    if not found.free.shape[1]:
        return []
    model, limit = formulation.model, CHANGED * examiner.speed(v)
    own, size = rates.J @ v + rates.r0, lengths(rates.J, examiner.columns)
    names = [f"{j.name}.rate[{k}]" for j in moving(model) for k in range(j.dof)]
    moved = found.chosen & (np.abs(own / size) > limit)
    every = [(names[k], own[k]) for k in np.flatnonzero(moved)]
    follows = np.linalg.norm(found.free, axis=1) > FREE
    for body, *_ in floating_trees(model, [j for j in model.joints if id(j) not in formulation.released]):
        at = formulation.offset[id(body)]
        for what, first in (("velocity", 0),) if body.particle else (("velocity", 0), ("angular_velocity", 3)):
            for k in range(3):
                place = at + first + k
                if follows[place] and abs(v[place] / examiner.columns[place]) > limit:
                    every.append((f"{body.name}.{what}[{k}]", v[place]))
    return [f"{name}: left open, became {value:.6g}" for name, value in every]


def floating_trees(model, joints):
    """Bodies that no chain of these joints connects to a ground: lists of those that joints connect, in the order of the model."""
    neighbours: dict[int, list] = {}
    for joint in joints:
        neighbours.setdefault(id(joint.first), []).append(joint.second)
        neighbours.setdefault(id(joint.second), []).append(joint.first)
    reached: set[int] = set()

    def connected(first):
        found, waiting = [], list(first)
        while waiting:
            body = waiting.pop()
            if id(body) not in reached:
                reached.add(id(body))
                found.append(body)
                waiting += neighbours.get(id(body), [])
        return found

    connected(model.grounds)
    order = {id(body): k for k, body in enumerate(model.bodies)}
    trees = [connected([body]) for body in model.bodies]
    return [sorted(tree, key=lambda body: order[id(body)]) for tree in trees if tree]
