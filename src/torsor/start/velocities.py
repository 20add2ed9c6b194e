"""Start velocities that satisfy the constraints and keep what the user gives (`least_change.py`).

Changed and completed velocities are reported; contradictory ones are refused.
"""

import numpy as np

from ..errors import AssemblyError
from ..formulations.graphs.start_functions import given_velocities, joints_with_coordinates
from .constraints import REDUNDANT_RESIDUAL
from .least_change import (
    KineticMetric,
    constraint_rows,
    open_rates,
    row_lengths,
    scale_to_unit_rows,
    solutions,
    solve_levels,
)
from .start_tolerances import DETERMINED_BELOW, VELOCITY_CHANGED


def consistent_velocities(formulation, examiner, t, q, p, keep=None):
    """Velocities v that satisfy the constraints and keep the given values, and a list of messages about changes.

    keep   indices of the rows in use: v satisfies these to rounding, even if redundant rows disagree with them a little
    """
    model, columns = formulation.model, examiner.columns
    n = len(columns)
    rates = open_rates(formulation, t, q, p)
    E, r0, names = given_rows(formulation, rates)
    e = formulation.start_functions["speeds"](p[model.input_layout.model_inputs]).ravel() - r0
    units = examiner.units(t, q, p)
    g_t = examiner.psi(t, q, np.zeros(n), p) / units
    single = np.zeros(n)
    is_single = np.zeros(n, bool)
    for row, value in zip(E, e):
        if np.count_nonzero(row) == 1:
            single[row != 0] = value
            is_single[row != 0] = True
    complete = is_single.all() and np.array_equal(E @ single, e)  # each velocity is given by itself, and once
    weight = row_lengths(E, columns)
    examiner.scales.rate = max(examiner.scales.rate, np.abs(g_t).max(initial=0.0), np.abs(e / weight).max(initial=0.0))
    residual = np.abs(examiner.psi(t, q, single, p) / units).max(initial=0)
    if complete and residual <= 1e-12 * examiner.speed(single):
        return single, []
    if not (g_t.any() or e.any() or rates.r0.any()):
        return np.zeros(n), []  # neither constraints nor given values prescribe a motion
    solution = solve_levels(examiner, t, q, p, [(E, e)], rates)
    v = examiner.onto(t, q, solution.v, p, examiner.places if keep is None else keep)
    scale = examiner.speed(v)
    wrong = np.abs(solution.residuals[0]) > REDUNDANT_RESIDUAL * scale
    if wrong.any():
        _refuse_contradictions(
            examiner, np.flatnonzero(wrong), -examiner.psi(t, q, v, p), units * REDUNDANT_RESIDUAL * scale
        )
    changed = np.abs(solution.residuals[1] / weight) > VELOCITY_CHANGED * scale
    if changed.any():
        _refuse_slipping(formulation, examiner, (t, q, p), (E, e), names, changed)
    given = e + r0
    result = e + r0 - solution.residuals[1]
    changes = [f"{names[k]}: {given[k]:.6g} became {result[k]:.6g}" for k in np.flatnonzero(changed)]
    return v, changes + describe_completed(formulation, examiner, rates, solution, v)


def _refuse_contradictions(examiner, wrong, residuals, limit):
    """Refuse rows that no velocities satisfy together: name the violated rows, then the constraints they contradict."""
    violated = [k for k in wrong if abs(residuals[k]) > limit[k]] or list(wrong)
    rows = [f"{examiner.rows[k]} (off by {residuals[k]:.3g}){examiner.rows[k].between}" for k in violated[:5]]
    others = dict.fromkeys(examiner.rows[k].constraint.name for k in wrong if k not in violated)
    against = f", against {', '.join(list(others)[:5])}" if others else ""
    raise AssemblyError(
        f"model {examiner.name!r}: contradictory prescribed velocities: {'; '.join(rows)}{against}. No velocities satisfy all "
        "constraints at the start; remove one of them or make the prescribed motions agree."
    )


def _refuse_slipping(formulation, examiner, state, given, names, changed):
    """Refuse given velocities that position-level constraints allow and a velocity-level constraint forbids.

    state   t, q and p;   given   rows and values, in their units
    """
    holonomic = examiner.holonomic
    t, q, p = state
    if holonomic.all():
        return
    A, g_t, units = constraint_rows(examiner, t, q, p)
    E, e = scale_to_unit_rows(given[0], given[1], examiner.columns)
    x, N = solutions(A[holonomic], -g_t[holonomic])
    w, _ = KineticMetric(examiner, q, p).nearest(x, N, E, e)
    scale = max(examiner.scales.rate, np.abs(w).max(initial=0.0))
    if np.abs(e - E @ w).max(initial=0.0) > VELOCITY_CHANGED * scale:
        return  # they contradict each other or the joints anyway: the least change is made and reported
    residuals = A @ w + g_t
    violated = np.abs(residuals) > VELOCITY_CHANGED * scale
    rows = "; ".join(f"{examiner.rows[k]} (off by {residuals[k] * units[k]:.3g})" for k in np.flatnonzero(violated)[:5])
    velocities = ", ".join(names[k] for k in np.flatnonzero(changed)[:5])
    raise AssemblyError(
        f"model {formulation.model.name!r}: the given velocities ({velocities}) contradict velocity-level constraints: {rows}. "
        "Give velocities that satisfy them, or leave them out."
    )


def given_rows(formulation, rates):
    """Rows E and values r₀ of the velocities E v + r₀ that the user gives, with their names."""
    given, joints = given_velocities(formulation), joints_with_coordinates(formulation.model)
    indices = [at + k for _, x, at in given if at is not None for k in range(x.shape[0])]
    of_bodies = np.zeros((len(indices), rates.J.shape[1]))
    of_bodies[np.arange(len(indices)), indices] = 1.0
    rows = np.array([j.start_rate is not None for j in joints for _ in range(j.dof)], bool)
    names = [f"{name}[{k}]" for name, x, _ in given for k in range(x.shape[0])]
    return np.vstack([of_bodies, rates.J[rows]]), np.concatenate([np.zeros(len(indices)), rates.r0[rows]]), names


def describe_completed(formulation, examiner, rates, solution, v):
    """Messages about velocities that are left open and follow from the least change of kinetic energy."""
    if not solution.free.shape[1]:
        return []
    model, limit = formulation.model, VELOCITY_CHANGED * examiner.speed(v)
    rate = rates.J @ v + rates.r0
    size = row_lengths(rates.J, examiner.columns)
    names = [f"{j.name}.rate[{k}]" for j in joints_with_coordinates(model) for k in range(j.dof)]
    moved = solution.chosen & (np.abs(rate / size) > limit)
    completed = [(names[k], rate[k]) for k in np.flatnonzero(moved)]
    is_free = np.linalg.norm(solution.free, axis=1) > DETERMINED_BELOW
    for body, *_ in floating_trees(model, [j for j in model.joints if id(j) not in formulation.released]):
        at = formulation.offset[id(body)]
        for what, first in (("velocity", 0),) if body.particle else (("velocity", 0), ("angular_velocity", 3)):
            for k in range(3):
                index = at + first + k
                if is_free[index] and abs(v[index] / examiner.columns[index]) > limit:
                    completed.append((f"{body.name}.{what}[{k}]", v[index]))
    return [f"{name}: left open, became {value:.6g}" for name, value in completed]


def floating_trees(model, joints):
    """Lists of bodies that these joints connect to each other but not to a ground, in the order of the model."""
    neighbours: dict[int, list] = {}
    for joint in joints:
        neighbours.setdefault(id(joint.first), []).append(joint.second)
        neighbours.setdefault(id(joint.second), []).append(joint.first)
    reached: set[int] = set()

    def collect_connected(first):
        bodies = []
        waiting = list(first)
        while waiting:
            body = waiting.pop()
            if id(body) not in reached:
                reached.add(id(body))
                bodies.append(body)
                waiting += neighbours.get(id(body), [])
        return bodies

    collect_connected(model.grounds)
    order = {id(body): k for k, body in enumerate(model.bodies)}
    trees = [collect_connected([body]) for body in model.bodies]
    return [sorted(tree, key=lambda body: order[id(body)]) for tree in trees if tree]
