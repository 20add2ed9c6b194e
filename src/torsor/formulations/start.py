"""A consistent start: poses from an approximate start, velocities that keep what the user gave.

Velocities are found level by level, each without disturbing the one before:

    0   the constraints                G v = −g_t
    1   what the user gave             velocities of bodies, rates of joints
    2   joint rates that nobody gave   zero
    3   kinetic energy                 least

A joint rate is r = J v + r₀, with r₀ of a ground that moves by itself.
"""

from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from .. import quantity
from ..errors import AssemblyError
from ..lie import se3


@dataclass
class Start:
    """A consistent state, and what was changed to reach it."""

    t: float
    q: np.ndarray
    v: np.ndarray
    p: np.ndarray
    changes: list = field(default_factory=list)


def model_length(model, values):
    """Size of a model [m]: the largest distance between things it mentions, at least a small number."""
    points = [quantity.numbers(b.start_position, values).ravel() for b in [*model.bodies, *model.grounds]]
    for c in model.constraints:
        for body, local in zip(
            (getattr(c, "first", None), getattr(c, "second", None)), getattr(c, "placed", None) or ()
        ):
            at = body.start_position + body.start_rotation @ se3.split_pose(local)[1]
            points.append(quantity.numbers(at, values).ravel())
    points = np.array(points)
    size = float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))
    return size if size > 1e-9 else 1.0


def given_configuration(formulation, values):
    """q and turn counters as the user gave them: reference poses, moved by joint coordinates where those are given."""
    model = formulation.model
    poses = {
        id(b): se3.pose(quantity.numbers(b.start_rotation, values), quantity.numbers(b.start_position, values).ravel())
        for b in [*model.grounds, *model.bodies]
    }
    holding = [j for j in model.joints if id(j) not in formulation.released]
    if any(j.start is not None for j in holding):
        _propagate(model, holding, poses, values)
    parts = []
    for body in model.bodies:
        R, x = se3.split_pose(poses[id(body)])
        parts.append(x if body.particle else np.concatenate([x, R.ravel(order="F")]))
    return np.concatenate(parts) if parts else np.zeros(0), _first_turns(formulation, values)


def given_state(formulation, t, values):
    """q and p as the user gave them; constraints that hold from the start hold what they find there (locks, welds)."""
    model = formulation.model
    q, turns = given_configuration(formulation, values)
    p = np.concatenate([np.array(model.input_values(values)), turns])
    holding = [c for c in model.constraints if id(c) not in formulation.released]
    pairs = [pair for c in holding for pair in c.captures()]
    if pairs:
        places = {id(m): len(values) + k for k, m in enumerate(model.memories)}
        found = formulation.meaning.of(ca.vertcat(*[expression for _, expression in pairs]))
        f = ca.Function("held", [quantity.time, formulation.q, formulation.p], [found])
        p[[places[id(memory)] for memory, _ in pairs]] = f(t, q, p).full().ravel()
    return q, p


def _propagate(model, joints, poses, values):
    """Move bodies so that joints have their start coordinates, outward from the grounds."""
    reference = dict(poses)
    number = lambda x: quantity.numbers(x, values)
    relative = {}
    for joint in joints:
        A, B = (number(x) for x in joint.placed)
        H = se3.inverse(A) @ se3.inverse(reference[id(joint.first)]) @ reference[id(joint.second)] @ B
        if joint.start is not None:
            H = number(joint.pose(ca.SX(number(joint.start))))
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


def _first_turns(formulation, values):
    """Values near which the joint angles start: given ones, driven ones, else zero."""
    from ..joints import Drive

    model = formulation.model
    values = values | {m.symbol.name(): m.value for m in model.memories}
    drives = [c for c in model.constraints if isinstance(c, Drive) and id(c) not in formulation.released]
    driven = {(c.joint.name, c.index): c.target() for c in drives}
    turns = []
    for joint, k in formulation.turns:
        if joint.start is not None:
            turns.append(float(quantity.numbers(joint.start, values)[k, 0]))
        elif (joint.name, k) in driven:
            turns.append(float(quantity.numbers(driven[joint.name, k], values)[0, 0]))
        else:
            turns.append(0.0)
    return np.array(turns)


def consistent_velocities(formulation, examiner, t, q, p, values):
    """v that satisfies the velocity constraints and keeps what was given; and a list of what was changed."""
    model, n = formulation.model, formulation.v.shape[0]
    E, e, r0, names = _given(formulation, t, q, p, values)
    e = e - r0
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
    J, r = _joint_rates(formulation, t, q, p, [j for j in model.joints if id(j) not in formulation.released])
    v, residuals = _levels([(G, -g_t), (E, e), (J, -r), (root.T, np.zeros(n))], n)
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


def _given(formulation, t, q, p, values):
    """Rows E v + r₀ = e of what the user gave, with names."""
    n, places, e, names = formulation.v.shape[0], [], [], []
    for body in formulation.model.bodies:
        at = formulation.offset[id(body)]
        for start, what, first in (
            (body.start_velocity, "velocity", 0),
            (body.start_angular_velocity, "angular_velocity", 3),
        ):
            if start is not None:
                for k, value in enumerate(quantity.numbers(start, values).ravel()):
                    places.append(at + first + k)
                    e.append(value)
                    names.append(f"{body.name}.{what}[{k}]")
    given = [j for j in formulation.model.joints if j.start_rate is not None]
    J, r = _joint_rates(formulation, t, q, p, given)
    rates = [x for j in given for x in quantity.numbers(j.start_rate, values).ravel()]
    labels = [f"{j.name}.rate[{k}]" for j in given for k in range(j.dof)]
    picked = np.zeros((len(places), n))
    picked[np.arange(len(places)), places] = 1.0
    return np.vstack([picked, J]), np.array(e + rates), np.concatenate([np.zeros(len(places)), r]), names + labels


def _joint_rates(formulation, t, q, p, joints):
    """J and r₀ of the joint velocities J v + r₀."""
    chosen, v = [j for j in joints if j.dof], formulation.v
    if not chosen:
        return np.zeros((0, v.shape[0])), np.zeros(0)
    rates = ca.vertcat(*[formulation.meaning.rates(j) for j in chosen])
    f = ca.Function("rates", [quantity.time, formulation.q, v, formulation.p], [ca.jacobian(rates, v), rates])
    J, r = f(t, q, np.zeros(v.shape[0]), p)
    return J.full(), r.full().ravel()


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
