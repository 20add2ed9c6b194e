"""Functions from which a start is computed: poses and velocities given by the user, as functions of the parameters."""

import casadi as ca

from ...elements import quantity
from ...lie import se3
from ..algebra.scales import geometric_measures
from ..algebra.tree_kinematics import pose


def initial_functions(f):
    """Builders of the functions from which a start is computed, by name. Values of parameters are arguments.

    given         (t, inputs) → q, turns, total mass and inertia, and the measures for the scales
    speeds        (inputs) → velocities of bodies and rates of joints given by the user
    held          (t, q, p) → values that constraints which are active from the start record in memories
    rates         (t, q, v, p) → ∂r/∂v and r, the rates of all joints
    coordinates   (t, q, p) → coordinates of all joints
    slopes        (t, q, p) → ∂/∂v of the time derivatives of these coordinates
    starts        (t, inputs) → joint coordinates given by the user, and q without them
    """
    t, q, v, p = quantity.time, f.q, f.v, f.p
    inputs = ca.vertcat(*f.model.inputs, ca.SX(0, 1))
    column = lambda parts: ca.vertcat(*[ca.densify(ca.vec(ca.SX(x))) for x in parts], ca.SX(0, 1))

    def given():
        parts = [*_given_configuration(f), column(_weights(f.model)), *geometric_measures(f.model)]
        return ca.Function("given", [t, inputs], [ca.densify(x) for x in parts])

    def coordinates():
        return column([f.substitution.coordinates(j) for j in joints_with_coordinates(f.model)])

    def rates():
        every = column([f.substitution.rates(j) for j in joints_with_coordinates(f.model)])
        return ca.Function("rates", [t, q, v, p], [ca.jacobian(every, v), every])

    def starts():
        given_coordinates = column(j.start for j in joints_with_start(f.model))
        reference = ca.densify(_configuration(f.model, _reference(f.model)))
        return ca.Function("starts", [t, inputs], [given_coordinates, reference])

    return {
        "given": given,
        "starts": starts,
        "speeds": lambda: ca.Function("speeds", [inputs], [column(x for _, x, _ in given_velocities(f))]),
        "held": lambda: ca.Function("held", [t, q, p], [f.substitution.of(column(x for _, x in captures(f)))]),
        "rates": rates,
        "coordinates": lambda: ca.Function("coordinates", [t, q, p], [coordinates()]),
        "slopes": lambda: ca.Function("slopes", [t, q, p], [ca.jacobian(f.rate_of(coordinates()), v)]),
    }


def _weights(model):
    """The total mass of the bodies, and the sum of their moments of inertia."""
    return [sum(b.mass for b in model.bodies), sum(ca.trace(b.inertia) for b in model.bodies if not b.particle)]


def captures(f):
    """Pairs (memory, expression) of the constraints that are active from the start."""
    return [pair for c in f.model.constraints if active_at_start(c) for pair in c.captures()]


def active_at_start(element):
    """True if an element is active from the start."""
    return element.acts is not False


def _given_configuration(f):
    """q and turn counters: reference poses, changed by the joint coordinates that are given."""
    model = f.model
    poses = _reference(model)
    if joints_with_start(model):
        _propagate(model, [j for j in model.joints if active_at_start(j)], poses)
    return _configuration(model, poses), _first_turns(f)


def _reference(model):
    """Poses of bodies and grounds given by the user."""
    return {id(b): se3.pose(b.start_rotation, b.start_position) for b in [*model.grounds, *model.bodies]}


def _configuration(model, poses):
    """q from the poses of the bodies."""
    parts = []
    for body in model.bodies:
        R, x = se3.split_pose(poses[id(body)])
        parts.append(x if body.particle else ca.vertcat(x, ca.vec(R)))
    return ca.vertcat(*parts, ca.SX(0, 1))


def _propagate(model, joints, poses):
    """Set the poses of the bodies so that joints have their start coordinates, outward from the grounds."""
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
        if ready is None:  # a tree that is not connected to a ground starts from its first body
            detached = next((j for j in waiting if id(j.first) not in reached and id(j.second) not in reached), None)
            if detached is None:
                return
            reached.add(id(detached.first))
            continue
        waiting.remove(ready)
        if id(ready.first) in reached:
            poses[id(ready.second)] = poses[id(ready.first)] @ relative[ready.name]
            reached.add(id(ready.second))
        else:
            poses[id(ready.first)] = poses[id(ready.second)] @ se3.inverse(relative[ready.name])
            reached.add(id(ready.first))


def _first_turns(f):
    """Initial values of the counted joint angles: given by the user, or by a drive, else zero."""
    driven = {c.driven_coordinate: c.target() for c in drives(f.model)}

    def start(joint, k):
        return driven.get((joint, k), 0) if joint.start is None else joint.start[k]

    return ca.vertcat(*[start(joint, k) for joint, k in f.turns], ca.SX(0, 1))


def drives(model):
    """The drives that are active from the start."""
    return [c for c in model.constraints if c.driven_coordinate and active_at_start(c)]


def joints_with_coordinates(model):
    """Joints that have coordinates."""
    return [j for j in model.joints if j.dof]


def joints_with_start(model):
    """Joints that are active from the start and have start coordinates given by the user."""
    return [j for j in model.joints if active_at_start(j) and j.start is not None]


def given_velocities(formulation):
    """Velocities given by the user: (name, expression, first index in v); the index is None for the rates of a joint."""
    velocities = []
    for body in formulation.model.bodies:
        offset = formulation.offset[id(body)]
        if body.start_velocity is not None:
            velocities.append((f"{body.name}.velocity", body.start_velocity, offset))
        if body.start_angular_velocity is not None:
            velocities.append((f"{body.name}.angular_velocity", body.start_angular_velocity, offset + 3))
    joints = [j for j in joints_with_coordinates(formulation.model) if j.start_rate is not None]
    return velocities + [(f"{j.name}.rate", j.start_rate, None) for j in joints]
