"""Is a joint assembled as the joint that it is, or does its residual vanish somewhere else?

A residual is a local statement: 0 = n·R a holds for a hinge whose axis points the other way too, and 0 = vee(R − Rᵀ) for any
rotation by π (Müller and Terze, remark 4 [mueller2009]). What a joint can reach is what its coordinates describe:

    H = pose(coordinates(H))                                                                                  (1)

A joint for which (1) fails although its residual vanishes is an impostor. It is refused at the start, and a run whose
loops jump to one is stopped.
"""

import casadi as ca
import numpy as np

from .. import quantity
from ..errors import AssemblyError
from ..lie import se3

ASSEMBLED = 1e-6  # (1) at an assembled start, where residuals are below 1e-11; lengths over the size of the model
JUMPED = 0.5  # (1) in a run, which may drift; an impostor is off by more than 1


def departure(joint, values):
    """A function of H: how far (1) is from holding, as an angle or cosine and as a length."""
    H = ca.SX.sym("H", 3, 4)
    whole = ca.vertcat(H, ca.SX([[0, 0, 0, 1]]))
    off = joint.pose(joint.coordinates(whole)) - whole  # (1)
    known = [s for s in ca.symvar(off) if s.name() in values and not ca.depends_on(H, s)]
    if known:
        off = ca.substitute(off, ca.vertcat(*known), ca.DM([values[s.name()] for s in known]))
    largest = lambda part: ca.mmax(ca.fabs(ca.densify(ca.vec(part))))
    return ca.Function("departure", [H], [largest(off[:3, :3]), largest(off[:3, 3])])


def _poses(body, values, times):
    """Poses of a ground at given times: R (n, 3, 3), x (n, 3)."""
    symbols = [quantity.time, *[s for part in body.path for s in ca.symvar(part) if s.name() in values]]
    f = ca.Function("path", symbols, [body.path[1], body.path[0]])
    found = [f(t, *[values[s.name()] for s in symbols[1:]]) for t in times]
    return np.array([R.full() for R, _ in found]), np.array([x.full().ravel() for _, x in found])


def impostors(joints, values, length, limit, times, rotation, position):
    """The joints for which (1) fails by more than a limit: (joint, index of the first time, how far).

    rotation, position   per body name: R (n, 3, 3) and x (n, 3) of bodies at the times
    """
    found, functions, grounds = [], {}, {}
    for joint in joints:
        ends = []
        for body, local in zip((joint.first, joint.second), joint.placed):
            if body.name not in rotation and body.name not in grounds:
                grounds[body.name] = _poses(body, values, times)
            R, x = (rotation[body.name], position[body.name]) if body.name in rotation else grounds[body.name]
            Q, r = se3.split_pose(quantity.numbers(local, values))
            ends.append((R @ Q, x + R @ r.ravel()))
        (R1, p1), (R2, p2) = ends
        turned = np.einsum("nji,njk->nik", R1, R2)
        moved = np.einsum("nji,nj->ni", R1, p2 - p1)
        kind = joint.traced() or joint  # one function for all joints that are alike
        if id(kind) not in functions:
            functions[id(kind)] = departure(joint, values)
        H = np.concatenate([turned, moved[:, :, None]], axis=2).transpose(1, 0, 2).reshape(3, -1)
        angle, shift = (x.full().ravel() for x in functions[id(kind)].map(len(times))(H))
        off = np.maximum(angle, shift / length)
        if np.any(off > limit):
            found.append((joint, int(np.argmax(off > limit)), float(off.max())))
    return found


def refuse_impostors(formulation, length, t, q, values):
    """Refuse a start in which a residual vanishes although the joint is not assembled; q in absolute coordinates."""
    model = formulation.model
    rotation, position, at = {}, {}, 0
    for body in model.bodies:
        position[body.name] = q[at : at + 3][None]
        turned = np.eye(3) if body.particle else q[at + 3 : at + 12].reshape(3, 3, order="F")
        rotation[body.name] = turned[None]
        at += 3 if body.particle else 12
    holding = [joint for joint in model.joints if id(joint) not in formulation.released]
    found = impostors(holding, values, length, ASSEMBLED, [t], rotation, position)
    if found:
        names = "; ".join(
            f"{joint.owner} between {joint.first.name!r} and {joint.second.name!r}" for joint, *_ in found[:5]
        )
        raise AssemblyError(
            f"model {model.name!r}: assembled the wrong way round: {names}. Its constraints hold, but no joint coordinate "
            "describes this position: an axis points the other way, or a part is turned by 180 degrees. Start closer "
            "to the position that is meant, or turn the axis or the frame round."
        )
