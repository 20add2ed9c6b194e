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


def start_functions(f):
    """What a start is computed from, derived once: values of parameters are arguments (`inputs`, followed by turns in p).

    given    (t, inputs) → q, turns, points that the model mentions, total mass and inertia
    speeds   (inputs) → velocities of bodies and rates of joints that the user gave
    held     (t, q, p) → what constraints that hold from the start take note of
    rates    (t, q, v, p) → ∂r/∂v and r of all joints
    """
    t, q, v, p = quantity.time, f.q, f.v, f.p
    inputs = ca.vertcat(*f.model.inputs, ca.SX(0, 1))
    column = lambda parts: ca.vertcat(*[ca.densify(ca.vec(ca.SX(x))) for x in parts], ca.SX(0, 1))
    given = [*_given_configuration(f), _points(f.model), column(_weights(f.model))]
    rates = column([f.meaning.rates(j) for j in _moving(f.model)])
    return {
        "given": ca.Function("given", [t, inputs], [ca.densify(x) for x in given]),
        "speeds": ca.Function("speeds", [inputs], [column(x for _, x, _ in _speeds(f))]),
        "held": ca.Function("held", [t, q, p], [f.meaning.of(column(x for _, x in _captures(f)))]),
        "rates": ca.Function("rates", [t, q, v, p], [ca.jacobian(rates, v), rates]),
    }


def _weights(model):
    """The mass of all bodies together, and the sum of their moments of inertia."""
    return [sum(b.mass for b in model.bodies), sum(ca.trace(b.inertia) for b in model.bodies if not b.particle)]


def _points(model):
    """Every point that a model mentions, in the reference configuration, as columns."""
    points = [b.start_position for b in [*model.bodies, *model.grounds]]
    for c in model.constraints:
        ends = (getattr(c, "first", None), getattr(c, "second", None))
        for body, local in zip(ends, getattr(c, "placed", None) or ()):
            points.append(body.start_position + body.start_rotation @ se3.split_pose(local)[1])
    return ca.horzcat(*points)


def size_of(points):
    """Size of a model [m]: the largest distance between things it mentions, at least a small number."""
    size = float(np.linalg.norm(points.max(axis=1) - points.min(axis=1)))
    return size if size > 1e-9 else 1.0


@dataclass
class Given:
    """What the user gave, as numbers: a state that need not be consistent, and what it is measured against."""

    q: np.ndarray
    p: np.ndarray
    length: float
    mass: float
    inertia: float


def given(f, t, values):
    """The start as given; constraints that hold from the start hold what they find there (locks, welds)."""
    model = f.model
    inputs = model.input_values(values)
    q, turns, points, weights = (x.full() for x in f.examined["given"](t, inputs))
    q, p = q.ravel(), np.concatenate([inputs, turns.ravel()])
    captured = _captures(f)
    if captured:
        places = {id(m): len(values) + k for k, m in enumerate(model.memories)}
        p[[places[id(memory)] for memory, _ in captured]] = f.examined["held"](t, q, p).full().ravel()
    return Given(q, p, size_of(points), *weights.ravel().tolist())


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
        H = se3.inverse(A) @ se3.inverse(reference[id(joint.first)]) @ reference[id(joint.second)] @ B
        if joint.start is not None:
            H = joint.pose(joint.start)
        relative[joint.name] = A @ H @ se3.inverse(B)
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
    from ..joints import Drive

    drives = [c for c in f.model.constraints if isinstance(c, Drive) and holds(c)]
    driven = {(c.joint.name, c.index): c.target() for c in drives}
    start = lambda joint, k: driven.get((joint.name, k), 0) if joint.start is None else joint.start[k]
    return ca.vertcat(*[start(joint, k) for joint, k in f.turns], ca.SX(0, 1))


def consistent_velocities(formulation, examiner, t, q, p):
    """v that satisfies the velocity constraints and keeps what was given; and a list of what was changed."""
    model = formulation.model
    rates = formulation.examined["rates"]
    n = rates.size1_in(2)
    J, r = rates(t, q, np.zeros(n), p)
    J, r = J.full(), r.full().ravel()
    E, r0, names = _given_rows(formulation, J, r)
    e = formulation.examined["speeds"](p[: len(model.inputs)]).full().ravel() - r0
    g_t = examiner.psi(t, q, np.zeros(n), p)
    whole, alone = np.zeros(n), np.zeros(n, bool)
    for row, value in zip(E, e):
        if np.count_nonzero(row) == 1:
            whole[row != 0], alone[row != 0] = value, True
    complete = alone.all() and np.array_equal(E @ whole, e)  # each velocity was given by itself, and once
    if complete and np.abs(examiner.psi(t, q, whole, p)).max(initial=0) <= 1e-12 * examiner.speed(whole):
        return whole, []
    G = examiner.G(t, q, p)
    root = np.linalg.cholesky(np.linalg.inv(examiner.Minv(q, p)))
    free = np.array([id(j) not in formulation.released for j in _moving(model) for _ in range(j.dof)], bool)
    v, residuals = _levels([(G, -g_t), (E, e), (J[free], -r[free]), (root.T, np.zeros(n))], n)
    wrong = np.abs(residuals[0]) > 1e-9 * examiner.speed(v)
    if wrong.any():
        what = "; ".join(f"{examiner.rows[k]} (off by {residuals[0][k]:.3g})" for k in np.flatnonzero(wrong)[:5])
        raise AssemblyError(
            f"model {model.name!r}: contradictory prescribed velocities: {what}. No velocities satisfy all constraints at "
            "the start; remove one of them or make the prescribed motions agree."
        )
    tolerance = 1e-9 * examiner.speed(v)
    lost = np.abs(residuals[1]) > tolerance
    if lost.any():
        _refuse_slipping(formulation, examiner, G, g_t, E, e, names, lost, v)
    told, kept = e + r0, e + r0 - residuals[1]
    return v, [f"{names[k]}: {told[k]:.6g} became {kept[k]:.6g}" for k in np.flatnonzero(lost)]


def _refuse_slipping(formulation, examiner, G, g_t, E, e, names, lost, v):
    """Refuse given velocities that the position-level constraints allow and a velocity-level one forbids."""
    held = examiner.holonomic
    if held.all():
        return
    w, residuals = _levels([(G[held], -g_t[held]), (E, e)], G.shape[1])
    if np.abs(residuals[1]).max(initial=0.0) > 1e-9 * examiner.speed(w):
        return  # they contradict each other or the joints anyway: the least change is made and reported
    broken = np.abs(G @ w + g_t) > 1e-9 * examiner.speed(w)
    rows = "; ".join(f"{examiner.rows[k]} (off by {(G[k] @ w + g_t[k]):.3g})" for k in np.flatnonzero(broken)[:5])
    given = ", ".join(names[k] for k in np.flatnonzero(lost)[:5])
    raise AssemblyError(
        f"model {formulation.model.name!r}: the given velocities ({given}) contradict velocity-level constraints: {rows}. "
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


def _levels(levels, n):
    """Least squares by levels: each minimises its residual in what the levels before it leave free."""
    x, free, residuals = np.zeros(n), np.eye(n), []
    for A, b in levels:
        if len(A) and free.shape[1]:
            inside = A @ free
            U, s, Vt = np.linalg.svd(inside, full_matrices=True)
            r = int((s > 1e-9 * max(s.max(initial=0.0), 1e-300)).sum()) if s.max(initial=0.0) > 1e-12 else 0
            x = x + free @ (Vt[:r].T @ ((U[:, :r].T @ (b - A @ x)) / s[:r]))
            free = free @ Vt[r:].T
        residuals.append(b - A @ x if len(A) else np.zeros(0))
    return x, residuals
