"""The start of a large system, in numbers: what was given, assembled with the kernels of the run itself."""

import casadi as ca
import numpy as np

from ..describe import quantity
from ..describe.lazy import kept
from ..formulations.departures import departure
from ..joints import Joint
from ..lie import SE3, Rn, poses, se3

CLOSED = 1e-12  # poses of joints in the reference configuration that count as the same
ROUNDING = 1e-13  # of residuals over the size of the model, at an assembled start
NEARLY = 1e-9  # of residuals over the size of the model, at a start that was meant to be assembled


def given(tree):
    """q and v of the links as given, joint by joint; None where they have to be found."""
    ends, none = tree.ends(), [np.zeros(group.dimension) for group in tree.groups]
    together = _together(*ends)
    rest = [np.array(group.exp(zeros)).ravel() for group, zeros in zip(tree.groups, none)]
    q, v = [rest[k] for k in tree.traces.tolist()], [none[k] for k in tree.traces.tolist()]
    for k, (joint, kind) in enumerate(zip(tree.joints, tree.traces.tolist())):
        group = tree.groups[kind]
        if isinstance(group, SE3):
            body, H = tree.bodies[k], poses.inverted(ends[0][k]) @ ends[1][k]
            speed = quantity.numbers(body.start_rotation).T @ _numbers(body, "start_velocity", 3)
            q[k], v[k] = _free(group, H, speed, _numbers(body, "start_angular_velocity", 3))
            continue
        if kept(joint, "start") is not None:
            at = _numbers(joint, "start", group.dimension)
            q[k] = at if isinstance(group, Rn) else np.array(group.exp(at)).ravel()
        elif not together[k]:
            return None
        if kept(joint, "start_rate") is not None:
            v[k] = _numbers(joint, "start_rate", group.dimension)
    return np.concatenate(q), np.concatenate(v)


def elsewhere(tree, q, v, joints, bodies):
    """q and v of the links at another start: those of links that are not named stay.

    joints   coordinates and rates, by name
    bodies   `position`, `rotation`, `velocity` and `angular_velocity`, by body and quantity, of those that no joint holds
    """
    q, v, outer = q.copy(), v.copy(), tree.ends()[0]
    at, first = (np.cumsum([0, *tree.sizes(what)]) for what in ("size", "dimension"))
    moved = {body for body, _ in bodies}
    for k, (joint, body) in enumerate(zip(tree.joints, tree.bodies)):
        group, place, rates = tree.groups[tree.traces[k]], slice(at[k], at[k + 1]), slice(first[k], first[k + 1])
        if isinstance(group, SE3):
            if body.name in moved:
                H = outer[k] @ quantity.numbers(group.matrix(ca.SX(q[place])))
                spin, speed = (x.ravel() for x in map(quantity.numbers, se3.split(ca.SX(v[rates]))))
                R, x = poses.split(H)
                of = lambda what, own, name=body.name: np.asarray(bodies.get((name, what), own))
                new, speed = of("rotation", R), of("velocity", R @ speed)
                H = poses.inverted(outer[k]) @ poses.stacked(new, of("position", x))
                q[place], v[rates] = _free(group, H, new.T @ speed, of("angular_velocity", spin))
        elif joint.name in joints:
            coordinates, v[rates] = joints[joint.name]
            q[place] = coordinates if isinstance(group, Rn) else np.array(group.exp(coordinates)).ravel()
    return q, v


def _free(group, H, speed, spin):
    """Pose and velocity of a body that nothing holds, in its own frame; H: its pose in that of the ground."""
    twist = se3.twist(ca.SX(spin), ca.SX(speed))
    return np.array(group.from_matrix(H)).ravel(), quantity.numbers(twist).ravel()


def _numbers(thing, what, size):
    """A quantity that was given to a joint or a body; zeros where none was."""
    value = kept(thing, what)
    if value is None:
        return np.zeros(size)
    return value.ravel() if isinstance(value, np.ndarray) else quantity.numbers(value).ravel()


def _together(on_parent, on_body):
    """Whether the two frames of each joint are one in the reference configuration."""
    size = 1.0 + np.abs(on_parent).max(axis=(1, 2))
    return np.abs(on_parent - on_body).max(axis=(1, 2)) <= CLOSED * size


def speeds(tree):
    """Velocities that were given to bodies, (ẋ, ω) of each, NaN where nothing was."""
    found = np.full((tree.n, 2, 3), np.nan)
    for k, body in enumerate(tree.bodies):
        for i, what in enumerate(("start_velocity", "start_angular_velocity")):
            if kept(body, what) is not None:
                found[k, i] = _numbers(body, what, 3)
    return found


def pushed(tree, velocities):
    """Whether any were given to bodies that joints hold."""
    held = np.array([not isinstance(tree.groups[k], SE3) for k in tree.traces])
    return not np.isnan(velocities[held]).all()


def adopted(kernel, outputs, passes, x, p, velocities):
    """The state x with velocities of the joints from those of the bodies, where all others can rest, which is the least kinetic
    energy; None where they cannot, the joints do not allow it, or rates of joints are given, too, but not all velocities."""
    tree, state = passes.tree, passes.layout
    t, x = np.zeros(1), x.copy()
    x[state.q : state.q + state.v] = kernel(t, x, np.nan_to_num(velocities).ravel())[0]
    row = outputs(t, x, p, np.zeros(state.algebra), np.zeros(passes.loop_rows))[0]
    place = {id(b): k for k, b in enumerate(passes.system.shown.bodies)}
    own, n = np.array([place[id(b)] for b in tree.bodies]), tree.n
    after = np.stack([row[at : at + 3 * n].reshape(n, 3)[own] for at in (12 * n, 15 * n)], axis=1)
    off = np.abs(after - np.nan_to_num(velocities)).max()
    at = np.cumsum([0, *tree.sizes("dimension")])
    for k, joint in enumerate(tree.joints):
        if kept(joint, "start_rate") is not None:
            if np.isnan(velocities).any():
                return None
            rate = _numbers(joint, "start_rate", at[k + 1] - at[k])
            off = max(off, np.abs(x[state.q + at[k] : state.q + at[k + 1]] - rate).max(initial=0.0))
    return x if off <= CLOSED * (1 + np.abs(after).max()) else None


def assembled(system, built, t, x, p):
    """The given state with all constraints satisfied to rounding; None where they are not nearly satisfied, and it has to be found
    what of the given start can be kept."""
    size, t = system.length / system.unit, np.array([t])
    for name in ("positions", "velocities"):
        for trial in range(20):
            y, residual = built[name](t, x, p, built["factor"](t, x, p)[0])
            if trial == 0 and not residual[-1] <= NEARLY * size:
                return None
            if residual[-1] <= ROUNDING * size:
                break
            x = y
    return x


def departed(plain, limit, length, times, x, R):
    """The first joint that closes a loop and came together as what it does not mean, and when: see `impostors.py`.

    x, R   positions and rotations of all bodies at these times
    """
    joints = [c for c in plain.loops if isinstance(c, Joint)]
    if not joints:
        return None
    bodies = [*plain.model.bodies, *plain.model.grounds]
    place, still = {id(b): k for k, b in enumerate(bodies)}, [poses.stacked(*_pose(g)) for g in plain.model.grounds]
    first, second = (np.array([place[id(b)] for b in ends]) for ends in zip(*[(j.first, j.second) for j in joints]))
    frames = np.array([j.placed_numbers for j in joints])
    kinds: dict = {}
    for k, joint in enumerate(joints):
        kinds.setdefault(id(joint.traced()), []).append(k)
    alike = [(departure(joints[several[0]])[0], np.array(several)) for several in kinds.values()]
    found = None
    for t, places, turns in zip(times, x, R):
        whole = np.concatenate([poses.stacked(turns, places), np.array(still)])
        H = poses.inverted(whole[first] @ frames[:, 0]) @ (whole[second] @ frames[:, 1])
        for off, own in alike:
            both = off.map(len(own))(_in_a_row(H[own]), np.zeros((0, len(own))))
            angle, shift = (np.array(value).ravel() for value in both)
            far = own[np.maximum(angle, shift / length) > limit]
            if len(far) and (found is None or far[0] < found[0]):
                found = int(far[0]), float(t)
    return None if found is None else (joints[found[0]], found[1])


def _in_a_row(H):
    """Rotations and places of poses, three rows and four columns each, side by side."""
    R, p = poses.split(H)
    return np.concatenate([R, p[:, :, None]], axis=2).transpose(1, 0, 2).reshape(3, -1)


def _pose(ground):
    place, turn = ground.reference
    return turn, place
