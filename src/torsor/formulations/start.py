"""A consistent start: poses from an approximate start, velocities that keep what the user gave.

Velocities are found level by level, each without disturbing the one before:

    0   the constraints                G v = −g_t
    1   what the user gave             velocities of bodies, rates of joints
    2   joint rates that nobody gave   zero
    3   kinetic energy                 least

A joint rate is r = J v + r₀, with r₀ of a ground that moves by itself.
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from .. import quantity
from ..errors import AssemblyError
from ..lie import se3
from .examiner import CLOSED, shortened, solved
from .scales import Scales, measured, scales
from .tree import pose

FREE = 1e-6  # a row of length 1 on velocities that are free to choose, below which it is given by the levels before it


def start_functions(f):
    """What a start is computed from, derived when asked for: values of parameters are arguments (`inputs`, then turns in p).

    given    (t, inputs) → q, turns, total mass and inertia, what the scales follow from
    speeds   (inputs) → velocities of bodies and rates of joints that the user gave
    held     (t, q, p) → what constraints that hold from the start take note of
    rates    (t, q, v, p) → ∂r/∂v and r of all joints
    """
    t, q, v, p = quantity.time, f.q, f.v, f.p
    inputs = ca.vertcat(*f.model.inputs, ca.SX(0, 1))
    column = lambda parts: ca.vertcat(*[ca.densify(ca.vec(ca.SX(x))) for x in parts], ca.SX(0, 1))

    def given():
        parts = [*_given_configuration(f), column(_weights(f.model)), *measured(f.model)]
        return ca.Function("given", [t, inputs], [ca.densify(x) for x in parts])

    def rates():
        every = column([f.substitution.rates(j) for j in _moving(f.model)])
        return ca.Function("rates", [t, q, v, p], [ca.jacobian(every, v), every])

    return {
        "given": given,
        "speeds": lambda: ca.Function("speeds", [inputs], [column(x for _, x, _ in _speeds(f))]),
        "held": lambda: ca.Function("held", [t, q, p], [f.substitution.of(column(x for _, x in _captures(f)))]),
        "rates": rates,
    }


def _weights(model):
    """The mass of all bodies together, and the sum of their moments of inertia."""
    return [sum(b.mass for b in model.bodies), sum(ca.trace(b.inertia) for b in model.bodies if not b.particle)]


@dataclass
class Given:
    """What the user gave, as numbers: a state that need not be consistent, and what it is measured against."""

    q: np.ndarray
    p: np.ndarray
    scales: Scales
    mass: float
    inertia: float


def given(f, t, values):
    """The start as given; constraints that hold from the start hold what they find there (locks, welds)."""
    model = f.model
    inputs = model.input_values(values)
    q, turns, weights, *sizes = f.examined["given"](t, inputs)
    q, p = q.ravel(), np.concatenate([inputs, turns.ravel()])
    captured = _captures(f)
    if captured:
        places = {id(m): len(values) + k for k, m in enumerate(model.memories)}
        p[[places[id(memory)] for memory, _ in captured]] = f.examined["held"](t, q, p).ravel()
    return Given(q, p, scales(model, *sizes), *weights.ravel().tolist())


def _captures(f):
    """Pairs of memory and expression of the constraints that hold from the start."""
    return [pair for c in f.model.constraints if holds(c) for pair in c.captures()]


def holds(element):
    """Whether an element acts from the start."""
    return element.active is None or element.active.value != 0.0


def _given_configuration(f):
    """q and turn counters: reference poses, moved by joint coordinates where those are given."""
    model = f.model
    poses = {id(b): se3.pose(b.start_rotation, b.start_position) for b in [*model.grounds, *model.bodies]}
    holding = [j for j in model.joints if holds(j)]
    if any(j.start is not None for j in holding):
        _propagate(model, holding, poses)
    parts = []
    for body in model.bodies:
        R, x = se3.split_pose(poses[id(body)])
        parts.append(x if body.particle else ca.vertcat(x, ca.vec(R)))
    return ca.vertcat(*parts, ca.SX(0, 1)), _first_turns(f)


def _propagate(model, joints, poses):
    """Move bodies so that joints have their start coordinates, outward from the grounds."""
    reference = dict(poses)
    relative = {}
    for joint in joints:
        A, B = joint.placed
        if joint.start is None:
            relative[joint.name] = se3.inverse(reference[id(joint.first)]) @ reference[id(joint.second)]
        else:
            relative[joint.name] = A @ pose(joint, joint.start) @ se3.inverse(B)
    reached = {id(g) for g in model.grounds}
    waiting = list(joints)
    while True:
        ready = next((j for j in waiting if (id(j.first) in reached) != (id(j.second) in reached)), None)
        if ready is None:  # a tree that hangs on nothing starts from its first body
            loose = next((j for j in waiting if id(j.first) not in reached and id(j.second) not in reached), None)
            if loose is None:
                return
            reached.add(id(loose.first))
            continue
        waiting.remove(ready)
        if id(ready.first) in reached:
            poses[id(ready.second)] = poses[id(ready.first)] @ relative[ready.name]
            reached.add(id(ready.second))
        else:
            poses[id(ready.first)] = poses[id(ready.second)] @ se3.inverse(relative[ready.name])
            reached.add(id(ready.first))


def _first_turns(f):
    """Values near which the joint angles start: given ones, driven ones, else zero."""
    from ..joints.imposed import Drive

    drives = [c for c in f.model.constraints if isinstance(c, Drive) and holds(c)]
    driven = {(c.joint.name, c.index): c.target() for c in drives}
    start = lambda joint, k: driven.get((joint.name, k), 0) if joint.start is None else joint.start[k]
    return ca.vertcat(*[start(joint, k) for joint, k in f.turns], ca.SX(0, 1))


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
    E, weight = _level(E, columns)
    examiner.scales.rate = max(examiner.scales.rate, np.abs(g_t).max(initial=0.0), np.abs(e / weight).max(initial=0.0))
    off = np.abs(examiner.psi(t, q, whole, p) / units).max(initial=0)
    if complete and off <= 1e-12 * examiner.speed(whole):
        return whole, []
    if not (g_t.any() or e.any() or r.any()):
        return np.zeros(n), []  # nothing asks for motion
    free = np.array([id(j) not in formulation.released for j in _moving(model) for _ in range(j.dof)], bool)
    A, told = shortened(examiner.matrix(t, q, p), g_t)
    J, unit = _level(J[free], columns)

    def energy():
        root = np.linalg.cholesky(np.linalg.inv(examiner.Minv(q, p))).T * columns
        return root / np.abs(root).max(initial=0.0), np.zeros(n)

    v, residuals = _levels([(A, -told), (E, e / weight), (J, -r[free] / unit)], n, energy)
    v = examiner.onto(t, q, v * columns, p, examiner.places if keep is None else keep)
    scale = examiner.speed(v)
    wrong = np.abs(residuals[0]) > CLOSED * scale
    if wrong.any():
        off = examiner.psi(t, q, v, p)
        what = "; ".join(f"{examiner.rows[k]} (off by {-off[k]:.3g})" for k in np.flatnonzero(wrong)[:5])
        raise AssemblyError(
            f"model {model.name!r}: contradictory prescribed velocities: {what}. No velocities satisfy all constraints at "
            "the start; remove one of them or make the prescribed motions agree."
        )
    lost = np.abs(residuals[1]) > 1e-9 * scale
    if lost.any():
        _refuse_slipping(formulation, examiner, A, told, (E, e / weight), names, lost, units)
    told, kept = e + r0, e + r0 - residuals[1] * weight
    return v, [f"{names[k]}: {told[k]:.6g} became {kept[k]:.6g}" for k in np.flatnonzero(lost)]


def _level(A, columns):
    """Rows of length 1 on dimensionless velocities, and how long they were."""
    A = A * columns
    size = np.linalg.norm(A, axis=1)
    size = np.where(size > 0, size, 1.0)
    return A / size[:, None], size


def _refuse_slipping(formulation, examiner, A, g_t, given, names, lost, units):
    """Refuse given velocities that the position-level constraints allow and a velocity-level one forbids."""
    held = examiner.holonomic
    if held.all():
        return
    w, residuals = _levels([(A[held], -g_t[held]), given], A.shape[1])
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


def _moving(model):
    return [j for j in model.joints if j.dof]


def _speeds(formulation):
    """Velocities that the user gave: a name, the expression, and the first place in v, None for rates of a joint."""
    found = []
    for body in formulation.model.bodies:
        at = formulation.offset[id(body)]
        for start, what, first in (
            (body.start_velocity, "velocity", 0),
            (body.start_angular_velocity, "angular_velocity", 3),
        ):
            found += [] if start is None else [(f"{body.name}.{what}", start, at + first)]
    return found + [
        (f"{j.name}.rate", j.start_rate, None) for j in _moving(formulation.model) if j.start_rate is not None
    ]


def _given_rows(formulation, J, r):
    """Rows E v + r₀ of what the user gave, with names; J v + r: the rates of all joints."""
    told, joints = _speeds(formulation), _moving(formulation.model)
    places = [at + k for _, x, at in told if at is not None for k in range(x.shape[0])]
    picked = np.zeros((len(places), J.shape[1]))
    picked[np.arange(len(places)), places] = 1.0
    rows = np.array([j.start_rate is not None for j in joints for _ in range(j.dof)], bool)
    names = [f"{name}[{k}]" for name, x, _ in told for k in range(x.shape[0])]
    return np.vstack([picked, J[rows]]), np.concatenate([np.zeros(len(places)), r[rows]]), names


def _levels(levels, n, energy=None):
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
