"""Configurations of a compiled model: joints set by name, and the difference of two configurations."""

from collections.abc import Mapping

import casadi as ca
import numpy as np

from ..elements import quantity
from ..errors import OptionError
from ..formulations.algebra.to_joint_coordinates import link_state
from .joint_space_matrices import require_joint_coordinates

RIGID_WITHIN = 1e-6  # largest deviation of RᵀR from 1, and of the last row of a pose from (0, 0, 0, 1)


def difference(f, map):
    """Function (q, target) → u with q ⊕ u = target."""
    target = ca.SX.sym("target", f.q.shape[0])
    u = f.manifold.log(f.manifold.compose(f.manifold.inverse(f.q), target), map)
    return ca.Function("difference", [f.q, target], [ca.densify(u)])


def set_joints(f, values, q):
    """q with the joints of the mapping `values` set: see `JointDynamics.configuration`."""
    require_joint_coordinates(f)
    if not isinstance(values, Mapping):
        raise OptionError(f"configuration: give coordinates or poses by joint name, got {quantity.show(values)}")
    links = {link.joint.name: link for link in f.links}
    sizes = [link.x.shape[0] for link in f.links]
    first = dict(zip([link.joint.name for link in f.links], np.cumsum([0, *sizes])))
    for name, value in values.items():
        if name not in links:
            raise OptionError(
                f"configuration: there is no joint {quantity.show(name)} in the spanning tree. Known: {', '.join(links)}."
            )
        x = joint_state(f, links[name], value)
        q[first[name] : first[name] + len(x)] = x
    return q


def joint_state(f, link, value):
    """The stored coordinates of one link for coordinates of its joint, or for the pose of the joint's second body."""
    joint = link.joint
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.shape == (4, 4):
        H = relative_pose(joint, array)
    elif array.shape in ((joint.dof,), () if joint.dof == 1 else (joint.dof,)) and np.isfinite(array).all():
        H = quantity.numbers(joint.pose(ca.SX(ca.DM(array.reshape(joint.dof)))))
        if link.x.shape[0] == joint.dof and not hasattr(link.group, "matrix"):
            return array.reshape(joint.dof)  # angles count full turns, which a pose does not know
    else:
        raise OptionError(
            f"configuration: joint {joint.name!r} needs {joint.dof} finite numbers or a 4 × 4 pose of body {joint.second.name!r}, "
            f"got {quantity.show(value)}"
        )
    first, second = (np.array(quantity.numbers(x)) for x in joint.placed)
    relative = first @ np.array(H) @ np.linalg.inv(second)  # pose of the second body's centre frame in the first's
    poses = {id(joint.first): np.eye(4), id(joint.second): relative}
    symbols, numbers = [], []
    for body in (joint.first, joint.second):
        symbols += [body.position, ca.vec(body.rotation)]
        numbers += [ca.DM(poses[id(body)][:3, 3]), ca.vec(ca.DM(poses[id(body)][:3, :3]))]
    x, _ = link_state(f.absolute.substitution, link)
    free = [s for s in ca.symvar(x)]
    graph = ca.Function("state", [*symbols, ca.vertcat(*rest(free, symbols))], [ca.densify(x)])
    found = np.array(graph(*numbers, 0)).ravel()
    if array.shape == (4, 4):
        check_reached(joint, H)
    return found


def rest(free, symbols):
    """Symbols of a list that are not in the columns `symbols`."""
    known = {s.element_hash() for column in symbols for s in ca.symvar(column)}
    return [s for s in free if s.element_hash() not in known]


def relative_pose(joint, pose):
    """H of the joint's frames for a pose of the second body's frame relative to the first body's frame."""
    R = pose[:3, :3]
    rigid = np.isfinite(pose).all() and np.abs(R.T @ R - np.eye(3)).max() < RIGID_WITHIN and np.linalg.det(R) > 0
    if not rigid or np.abs(pose[3] - (0, 0, 0, 1)).max() > RIGID_WITHIN:
        raise OptionError(
            f"configuration: joint {joint.name!r}: a pose is a 4 × 4 matrix (R, x; 0, 1) with a rotation matrix R, got "
            f"{quantity.show(pose)}"
        )
    first, second = (np.array(quantity.numbers(x)) for x in joint.placed)
    in_center = [np.eye(4), np.eye(4)]
    for H, body in zip(in_center, (joint.first, joint.second)):
        H[:3, 3] = np.array(quantity.numbers(ca.SX(body.center))).ravel()
    relative = np.linalg.inv(in_center[0]) @ pose @ in_center[1]
    return np.linalg.inv(first) @ relative @ second


def check_reached(joint, H):
    """Refuse a pose that the joint cannot reach."""
    reached = quantity.numbers(joint.pose(joint.coordinates(ca.SX(ca.DM(H)))))
    off = np.abs(np.array(reached) - H).max()
    if off > RIGID_WITHIN * (1 + np.abs(H[:3, 3]).max()):
        raise OptionError(
            f"configuration: joint {joint.name!r} cannot reach this pose: its nearest one differs by {off:.3g}; give a pose that "
            "the joint allows, or its coordinates"
        )
