"""Joint coordinates and velocities that correspond to a state in absolute coordinates."""

import casadi as ca

from ...elements.quantity import time
from ...lie import se3


def joint_state_function(f):
    """The state (q, v) of a formulation in joint coordinates, as a function (t, q, v, p) of the state in absolute ones."""
    a = f.absolute
    return ca.Function("adopt", [time, a.q, a.v, a.p], joint_state(f))


def joint_state(f):
    """The state [q, v] of a formulation in joint coordinates, in the bodies' symbols."""
    return [ca.vertcat(*column) for column in zip(*[link_state(f.absolute.substitution, link) for link in f.links])]


def link_state(substitution, link):
    """Coordinates and velocities of one link, in the bodies' symbols."""
    joint = link.joint
    if not joint.dof:
        return ca.SX(0, 1), ca.SX(0, 1)
    if link.group.additive and link.declared:
        return substitution.coordinates(joint), substitution.rates(joint)
    if link.group.free:
        H, V = map(substitution.of, link.motion_on_parent())
        return link.group.from_matrix(H), V
    H = substitution.of(joint.relative_pose())
    V = substitution.of(joint.relative_twist())
    if link.group.rotations:
        return ca.vec(se3.split_pose(H)[0]), link.group.velocity_of(se3.split(V)[0])
    x = _first_kind_coordinates(link, H) if link.first_kind else substitution.coordinates(joint)
    return x, _coordinate_rates(link, V, x, H)


def _first_kind_coordinates(link, H):
    """x with exp(ξ x) = H, by the logarithm."""
    S = link.screws()
    return ca.solve(S.T @ S, S.T @ se3.log(H))


def _coordinate_rates(link, V, q, H):
    """q̇ of a joint whose declared velocities are not the rates of its coordinates, from the twist of its second frame."""
    S = ca.substitute(se3.twist(link.S_w, link.S_v), link.x, q)
    link_twist = -(se3.Ad(H) @ V) if link.branch.reversed else V  # reversed: the link is the joint's first body
    return ca.solve(S.T @ S, S.T @ link_twist)
