"""How far constraints are from being what they mean, also where their residuals vanish.

What a joint can reach is what its coordinates describe,

    H = pose(coordinates(H))                                                                                  (1)

and equations of sines mean the angle whose cosine is 1, not −1.
"""

import casadi as ca

from ..describe.quantity import time
from ..joints import Joint
from ..joints.alignment import strictly
from ..lie import se3


def departures(formulation, joints=None):
    """How far (1) is from holding for each joint of a model, or for some, as an angle or cosine and as a length: a function of the
    state."""
    known, off = {}, []
    for joint in formulation.model.joints if joints is None else joints:
        H = formulation.placed(formulation.substitution.of(joint.relative_pose()))
        kind = joint.traced() or joint  # one function for all joints that are alike
        if id(kind) not in known:
            known[id(kind)] = departure(joint)
        f, symbols = known[id(kind)]
        off.append(ca.horzcat(*f(H[:3, :], symbols)))
    state = [time, formulation.q, formulation.p]
    return ca.Function("departures", state, [ca.densify(ca.vertcat(*off, ca.SX(0, 2)))])


def departure(joint):
    """(1) of one kind of joint, as a function of H and of the parameters that it contains."""
    H = ca.SX.sym("H", 3, 4)
    whole = ca.vertcat(H, ca.SX([[0, 0, 0, 1]]))
    off = joint.pose(joint.coordinates(whole)) - whole  # (1)
    symbols = ca.vertcat(*[s for s in ca.symvar(off) if not ca.depends_on(H, s)], ca.SX(0, 1))
    largest = lambda part: ca.mmax(ca.fabs(ca.densify(ca.vec(part))))
    return ca.Function("departure", [H, symbols], [largest(x) for x in se3.split_pose(off)]), symbols


def alignments(formulation, constraints=None):
    """The smallest cos θ of each constraint of a model, or of some, 1 for joints and for those that keep no sine at zero: a
    function of the state."""
    found = []
    for constraint in formulation.model.constraints if constraints is None else constraints:
        with strictly() as cosines:
            holonomic = not isinstance(constraint, Joint) and constraint.equations().position is not None
        kept = formulation.substitution.of(ca.mmin(ca.vertcat(*cosines))) if holonomic and cosines else ca.SX(1)
        found.append(formulation.placed(kept))
    state = [time, formulation.q, formulation.p]
    return ca.Function("alignments", state, [ca.densify(ca.vertcat(*found, ca.SX(0, 1)))])
