"""Is a joint assembled as the joint that it is, or does its residual vanish somewhere else?

A residual is a local statement: 0 = n·R a holds for a hinge whose axis points the other way too, and 0 = vee(R − Rᵀ) for any
rotation by π (Müller and Terze, remark 4 [mueller2009]). What a joint can reach is what its coordinates describe:

    H = pose(coordinates(H))                                                                                  (1)

A joint for which (1) fails although its residual vanishes is an impostor. It is refused at the start, and a run whose
loops jump to one is stopped.
"""

import casadi as ca
import numpy as np

from ..errors import AssemblyError
from ..quantity import time

ASSEMBLED = 1e-6  # (1) at an assembled start, where residuals are below 1e-11; lengths over the size of the model
JUMPED = 0.5  # (1) in a run, which may drift; an impostor is off by more than 1


def departures(formulation):
    """How far (1) is from holding for each joint of a model, as an angle or cosine and as a length: a function of the state
    in absolute coordinates."""
    known, off = {}, []
    for joint in formulation.model.joints:
        H = formulation.meaning.of(joint.relative_pose())
        kind = joint.traced() or joint  # one function for all joints that are alike
        if id(kind) not in known:
            known[id(kind)] = _departure(joint)
        f, symbols = known[id(kind)]
        off.append(ca.horzcat(*f(H[:3, :], symbols)))
    state = [time, formulation.q, formulation.p]
    return ca.Function("departures", state, [ca.densify(ca.vertcat(*off, ca.SX(0, 2)))])


def _departure(joint):
    """(1) of one kind of joint, as a function of H and of the parameters that it contains."""
    H = ca.SX.sym("H", 3, 4)
    whole = ca.vertcat(H, ca.SX([[0, 0, 0, 1]]))
    off = joint.pose(joint.coordinates(whole)) - whole  # (1)
    symbols = ca.vertcat(*[s for s in ca.symvar(off) if not ca.depends_on(H, s)], ca.SX(0, 1))
    largest = lambda part: ca.mmax(ca.fabs(ca.densify(ca.vec(part))))
    return ca.Function("departure", [H, symbols], [largest(off[:3, :3]), largest(off[:3, 3])]), symbols


def impostors(formulation, length, limit, t, q, p):
    """Places of the joints for which (1) fails by more than a limit; q in absolute coordinates."""
    angle, shift = formulation.examined["departures"](t, q, p).full().T
    return np.flatnonzero(np.maximum(angle, shift / length) > limit)


def refuse_impostors(formulation, length, t, q, p):
    """Refuse a start in which a residual vanishes although the joint is not assembled; q in absolute coordinates."""
    model = formulation.model
    found = [model.joints[k] for k in impostors(formulation, length, ASSEMBLED, t, q, p)]
    found = [joint for joint in found if id(joint) not in formulation.released]
    if found:
        names = "; ".join(
            f"{joint.owner} between {joint.first.name!r} and {joint.second.name!r}" for joint in found[:5]
        )
        raise AssemblyError(
            f"model {model.name!r}: assembled the wrong way round: {names}. Its constraints hold, but no joint coordinate "
            "describes this position: an axis points the other way, or a part is turned by 180 degrees. Start closer "
            "to the position that is meant, or turn the axis or the frame round."
        )
