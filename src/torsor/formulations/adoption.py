"""Joint coordinates and velocities that correspond to a state in absolute coordinates."""

import casadi as ca

from ..describe.quantity import time
from ..lie import SE3, SO3, Rn, Turning, se3


def adopting(f):
    """The state (q, v) of a formulation in joint coordinates, as a function (t, q, v, p) in absolute coordinates."""
    a = f.absolute
    return ca.Function("adopt", [time, a.q, a.v, a.p], adopted(f))


def adopted(f):
    """The state (q, v) of a formulation in joint coordinates, in the bodies' symbols."""
    known, found = f.absolute.substitution, []
    for link in f.links:
        joint = link.joint
        if not joint.dof:
            found.append((ca.SX(0, 1), ca.SX(0, 1)))
            continue
        if isinstance(link.group, Rn) and link.declared:
            found.append((known.coordinates(joint), known.rates(joint)))
            continue
        if isinstance(link.group, SE3):
            H, V = map(known.of, link.motion_on_parent())
            found.append((link.group.from_matrix(H), V))
            continue
        H, V = known.of(joint.relative_pose()), known.of(joint.relative_twist())
        if isinstance(link.group, (SO3, Turning)):
            R, w = se3.split_pose(H)[0], se3.split(V)[0]
            found.append((ca.vec(R), w if isinstance(link.group, SO3) else ca.dot(ca.DM(link.group.axis), w)))
        else:
            x = _first_kind_coordinates(link, H) if link.first_kind else known.coordinates(joint)
            found.append((x, _coordinate_rates(link, V, x, H)))
    return [ca.vertcat(*column) for column in zip(*found)]


def _first_kind_coordinates(link, H):
    """x with exp(ξ x) = H, by the logarithm."""
    S = link.screws()
    return ca.solve(S.T @ S, S.T @ se3.log(H))


def _coordinate_rates(link, V, q, H):
    """q̇ of a joint whose declared velocities are not the rates of its coordinates, from the twist of its second frame."""
    S = ca.substitute(se3.twist(link.S_w, link.S_v), link.x, q)
    own = -(se3.Ad(H) @ V) if link.branch.reversed else V  # the link may be the joint's first body
    return ca.solve(S.T @ S, S.T @ own)
