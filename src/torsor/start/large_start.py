"""The start of a large system, in numbers: as given, then assembled with the kernels of the run."""

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.lazy_attributes import storage_of
from ..formulations.graphs.assembly_measures import reachability_error
from ..formulations.tables.stated_rows import StatedRows
from ..lie import pose_stacks, se3
from .start_tolerances import (
    BODY_VELOCITY_REACHED,
    JOINT_FRAMES_COINCIDE,
    LARGE_START_ASSEMBLED,
    LARGE_START_RESIDUAL,
)
from .switched_rows import switched_row_units as switched_row_units


def given_link_state(tree):
    """q and v of the links as given, joint by joint; None if the frames of a joint without a given start do not coincide."""
    ends, zeros = tree.ends(), [np.zeros(group.dimension) for group in tree.groups]
    coincide = _frames_coincide(*ends)
    identity = [np.array(group.exp(zero)).ravel() for group, zero in zip(tree.groups, zeros)]
    q = [identity[k] for k in tree.traces.tolist()]
    v = [zeros[k] for k in tree.traces.tolist()]
    for k, (joint, kind) in enumerate(zip(tree.joints, tree.traces.tolist())):
        group = tree.groups[kind]
        if group.free:
            body, H = tree.bodies[k], pose_stacks.invert(ends[0][k]) @ ends[1][k]
            speed = quantity.numbers(body.start_rotation).T @ _given_values(body, "start_velocity", 3)
            q[k], v[k] = _free_body_state(group, H, speed, _given_values(body, "start_angular_velocity", 3))
            continue
        if storage_of(joint, "start") is not None:
            coordinates = _given_values(joint, "start", group.dimension)
            q[k] = coordinates if group.additive else np.array(group.exp(coordinates)).ravel()
        elif not coincide[k]:
            return None
        if storage_of(joint, "start_rate") is not None:
            v[k] = _given_values(joint, "start_rate", group.dimension)
    return np.concatenate(q), np.concatenate(v)


def requested_link_state(tree, q, v, joints, bodies):
    """q and v of the links at a requested start; links that are not named keep theirs.

    joints   coordinates and rates, by name
    bodies   `position`, `rotation`, `velocity` and `angular_velocity` by body and quantity, of bodies without a joint
    """
    q, v, outer = q.copy(), v.copy(), tree.ends()[0]
    at, first = (np.cumsum([0, *tree.sizes(what)]) for what in ("size", "dimension"))
    moved = {body for body, _ in bodies}
    for k, (joint, body) in enumerate(zip(tree.joints, tree.bodies)):
        group = tree.groups[tree.traces[k]]
        own_q, own_v = slice(at[k], at[k + 1]), slice(first[k], first[k + 1])
        if group.free:
            if body.name in moved:
                q[own_q], v[own_v] = _requested_body_state(group, outer[k], q[own_q], v[own_v], body.name, bodies)
        elif joint.name in joints:
            coordinates, v[own_v] = joints[joint.name]
            q[own_q] = coordinates if group.additive else np.array(group.exp(coordinates)).ravel()
    return q, v


def _requested_body_state(group, ground, q, v, name, bodies):
    """Pose and velocity of a free body with the requested quantities; ground: the frame that q refers to."""
    H = ground @ quantity.numbers(group.matrix(ca.SX(q)))
    spin, speed = (x.ravel() for x in map(quantity.numbers, se3.split(ca.SX(v))))
    R, x = pose_stacks.split(H)

    def value_of(what, own):
        return np.asarray(bodies.get((name, what), own))

    rotation, velocity = value_of("rotation", R), value_of("velocity", R @ speed)
    H = pose_stacks.invert(ground) @ pose_stacks.stack_poses(rotation, value_of("position", x))
    return _free_body_state(group, H, rotation.T @ velocity, value_of("angular_velocity", spin))


def _free_body_state(group, H, speed, spin):
    """Pose and velocity of a free body, in its own frame; H: its pose relative to the ground."""
    twist = se3.twist(ca.SX(spin), ca.SX(speed))
    return np.array(group.from_matrix(H)).ravel(), quantity.numbers(twist).ravel()


def _given_values(thing, what, size):
    """A given quantity of a joint or a body; zeros if it is not given."""
    value = storage_of(thing, what)
    if value is None:
        return np.zeros(size)
    return value.ravel() if isinstance(value, np.ndarray) else quantity.numbers(value).ravel()


def _frames_coincide(on_parent, on_body):
    """True for each joint whose two frames coincide in the reference configuration."""
    size = 1.0 + np.abs(on_parent).max(axis=(1, 2))
    return np.abs(on_parent - on_body).max(axis=(1, 2)) <= JOINT_FRAMES_COINCIDE * size


def given_body_velocities(tree):
    """Given velocities of bodies, (ẋ, ω) of each, NaN if not given."""
    result = np.full((tree.n, 2, 3), np.nan)
    for k, body in enumerate(tree.bodies):
        for i, what in enumerate(("start_velocity", "start_angular_velocity")):
            if storage_of(body, what) is not None:
                result[k, i] = _given_values(body, what, 3)
    return result


def jointed_bodies_have_velocities(tree, velocities):
    """True if velocities are given to bodies that have joints."""
    jointed = np.array([not tree.groups[k].free for k in tree.traces])
    return not np.isnan(velocities[jointed]).all()


def adopt_body_velocities(kernel, outputs, passes, x, p, velocities):
    """The state x with joint rates computed from given velocities of bodies, all other bodies at rest: the least kinetic energy.

    Returns None if the joints do not permit these velocities, if other bodies cannot rest, or if joint rates are given too but
    not all velocities of bodies.
    """
    tree, state = passes.tree, passes.layout
    t, x = np.zeros(1), x.copy()
    x[state.q : state.q + state.v] = kernel(t, x, np.nan_to_num(velocities).ravel())[0]
    row = outputs(t, x, p, np.zeros(state.algebra), np.zeros(passes.multipliers))[0]
    index = {id(b): k for k, b in enumerate(passes.system.shown.bodies)}
    own, n = np.array([index[id(b)] for b in tree.bodies]), tree.n
    after = np.stack([row[at : at + 3 * n].reshape(n, 3)[own] for at in (12 * n, 15 * n)], axis=1)
    error = np.abs(after - np.nan_to_num(velocities)).max()
    at = np.cumsum([0, *tree.sizes("dimension")])
    for k, joint in enumerate(tree.joints):
        if storage_of(joint, "start_rate") is not None:
            if np.isnan(velocities).any():
                return None
            rate = _given_values(joint, "start_rate", at[k + 1] - at[k])
            error = max(error, np.abs(x[state.q + at[k] : state.q + at[k + 1]] - rate).max(initial=0.0))
    return x if error <= BODY_VELOCITY_REACHED * (1 + np.abs(after).max()) else None


def assemble_large_start(system, built, t, x, p, plain, may_change):
    """The given state with all constraints satisfied to rounding; None if it is not nearly assembled.

    may_change   False: given rates must satisfy the constraints. True: rates that are left open may follow from the constraints, if
                 these determine them
    """
    size, t = system.length / system.unit, np.array([t])

    def project(name, x):
        """The state on the constraints, and the residual before."""
        first = None
        for _ in range(20):
            y, residual = built[name](t, x, p, built["factor"](t, x, p)[0])
            first = residual[-1] if first is None else first
            if residual[-1] <= LARGE_START_RESIDUAL * size:
                break
            x = y
        return x, first

    x, residual = project("positions", x)
    if not residual <= LARGE_START_ASSEMBLED * size:
        return None
    y, residual = project("velocities", x)
    if residual <= LARGE_START_ASSEMBLED * size:
        return y
    open_links = _driven_links(plain)
    if not (may_change and np.isfinite(residual)):
        return None
    sizes, first = plain.tree.sizes("dimension"), system.sizes["q"]
    driven = first + np.repeat(open_links, sizes).nonzero()[0]
    x[driven] = y[driven]
    y, residual = project("velocities", x)
    unique = system.start_freedom == 0 and not _has_given_rates(plain.tree)
    return y if unique or residual <= LARGE_START_ASSEMBLED * size else None


def _driven_links(plain):
    """For each link whether a drive determines all rates of its joint, which are not given."""
    driven = np.zeros(plain.tree.n, bool)
    for trace in plain.traces[plain.first_loop :]:
        joint = trace.only_joint if isinstance(trace, StatedRows) else None
        if joint is not None and joint.dof == 1 and storage_of(joint, "start_rate") is None:
            link = plain.link_in_rn(joint)
            if link is not None:
                driven[link] = True
    return driven


def _has_given_rates(tree):
    """True if a rate of a joint or a velocity of a body is given."""
    joints = any(storage_of(joint, "start_rate") is not None for joint in tree.joints)
    return joints or not np.isnan(given_body_velocities(tree)).all()


def first_impostor(plain, limit, length, times, x, R):
    """The first joint of a loop that is an impostor (`impostors.py`), and the time; None if there is none.

    x, R   positions and rotations of all bodies at these times
    """
    joints = [c for c in plain.loops if c.has_coordinates]
    if not joints:
        return None
    bodies = [*plain.model.bodies, *plain.model.grounds]
    index = {id(b): k for k, b in enumerate(bodies)}
    grounds = [pose_stacks.stack_poses(*_reference_pose(g)) for g in plain.model.grounds]
    first, second = (np.array([index[id(b)] for b in ends]) for ends in zip(*[(j.first, j.second) for j in joints]))
    frames = np.array([j.placed_numbers for j in joints])
    kinds: dict = {}
    for k, joint in enumerate(joints):
        kinds.setdefault(id(joint.trace()), []).append(k)
    classes = [(reachability_error(joints[several[0]])[0], np.array(several)) for several in kinds.values()]
    result = None
    for t, positions, rotations in zip(times, x, R):
        poses = np.concatenate([pose_stacks.stack_poses(rotations, positions), np.array(grounds)])
        H = pose_stacks.invert(poses[first] @ frames[:, 0]) @ (poses[second] @ frames[:, 1])
        for error, own in classes:
            both = error.map(len(own))(_side_by_side(H[own]), np.zeros((0, len(own))))
            angle, shift = (np.array(value).ravel() for value in both)
            wrong = own[np.maximum(angle, shift / length) > limit]
            if len(wrong) and (result is None or wrong[0] < result[0]):
                result = int(wrong[0]), float(t)
    return None if result is None else (joints[result[0]], result[1])


def _side_by_side(H):
    """Rotations and positions of poses as one matrix with three rows, four columns for each pose."""
    R, p = pose_stacks.split(H)
    return np.concatenate([R, p[:, :, None]], axis=2).transpose(1, 0, 2).reshape(3, -1)


def _reference_pose(ground):
    position, rotation = ground.reference
    return rotation, position
