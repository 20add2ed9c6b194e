"""What a start is computed from: poses and velocities that the user gave, as functions of the parameters."""

import casadi as ca

from ..describe import quantity
from ..joints.imposed import Drive
from ..lie import se3
from .scales import measured
from .tree import pose


def initial_functions(f):
    """What a start is computed from, derived when asked for: values of parameters are arguments (`inputs`, then turns in p).

    given    (t, inputs) → q, turns, total mass and inertia, what the scales follow from
    speeds   (inputs) → velocities of bodies and rates of joints that the user gave
    held     (t, q, p) → what constraints that hold from the start take note of
    rates    (t, q, v, p) → ∂r/∂v and r of all joints
    coordinates   (t, q, p) of all joints;    slopes   (t, q, p) → ∂/∂v of their rates of change
    starts   (t, inputs) → coordinates that the user gave to joints, and q without them
    """
    t, q, v, p = quantity.time, f.q, f.v, f.p
    inputs = ca.vertcat(*f.model.inputs, ca.SX(0, 1))
    column = lambda parts: ca.vertcat(*[ca.densify(ca.vec(ca.SX(x))) for x in parts], ca.SX(0, 1))

    def given():
        parts = [*_given_configuration(f), column(_weights(f.model)), *measured(f.model)]
        return ca.Function("given", [t, inputs], [ca.densify(x) for x in parts])

    def coordinates():
        return column([f.substitution.coordinates(j) for j in moving(f.model)])

    def rates():
        every = column([f.substitution.rates(j) for j in moving(f.model)])
        return ca.Function("rates", [t, q, v, p], [ca.jacobian(every, v), every])

    def starts():
        told = column(j.start for j in started(f.model))
        return ca.Function("starts", [t, inputs], [told, ca.densify(_configuration(f.model, _reference(f.model)))])

    return {
        "given": given,
        "starts": starts,
        "speeds": lambda: ca.Function("speeds", [inputs], [column(x for _, x, _ in speeds(f))]),
        "held": lambda: ca.Function("held", [t, q, p], [f.substitution.of(column(x for _, x in captures(f)))]),
        "rates": rates,
        "coordinates": lambda: ca.Function("coordinates", [t, q, p], [coordinates()]),
        "slopes": lambda: ca.Function("slopes", [t, q, p], [ca.jacobian(f.rate_of(coordinates()), v)]),
    }


def _weights(model):
    """The mass of all bodies together, and the sum of their moments of inertia."""
    return [sum(b.mass for b in model.bodies), sum(ca.trace(b.inertia) for b in model.bodies if not b.particle)]


def captures(f):
    """Pairs of memory and expression of the constraints that hold from the start."""
    return [pair for c in f.model.constraints if holds(c) for pair in c.captures()]


def holds(element):
    """Whether an element acts from the start."""
    return element.acts is not False


def _given_configuration(f):
    """q and turn counters: reference poses, moved by joint coordinates where those are given."""
    model = f.model
    poses = _reference(model)
    if started(model):
        _propagate(model, [j for j in model.joints if holds(j)], poses)
    return _configuration(model, poses), _first_turns(f)


def _reference(model):
    """Poses of bodies and grounds as the user gave them."""
    return {id(b): se3.pose(b.start_rotation, b.start_position) for b in [*model.grounds, *model.bodies]}


def _configuration(model, poses):
    """q of the bodies' poses."""
    parts = []
    for body in model.bodies:
        R, x = se3.split_pose(poses[id(body)])
        parts.append(x if body.particle else ca.vertcat(x, ca.vec(R)))
    return ca.vertcat(*parts, ca.SX(0, 1))


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
    driven = {(c.joint.name, c.index): c.target() for c in drives(f.model)}
    start = lambda joint, k: driven.get((joint.name, k), 0) if joint.start is None else joint.start[k]
    return ca.vertcat(*[start(joint, k) for joint, k in f.turns], ca.SX(0, 1))


def drives(model):
    """Those that act from the start."""
    return [c for c in model.constraints if isinstance(c, Drive) and holds(c)]


def moving(model):
    """Joints that have coordinates."""
    return [j for j in model.joints if j.dof]


def started(model):
    """Joints that hold from the start and have coordinates there that the user gave."""
    return [j for j in model.joints if holds(j) and j.start is not None]


def speeds(formulation):
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
        (f"{j.name}.rate", j.start_rate, None) for j in moving(formulation.model) if j.start_rate is not None
    ]
