"""Measures that detect wrong assemblies, in which the residuals of constraints vanish but the constraints are not satisfied.

A relative pose is reachable by a joint if the joint's coordinates describe it,

    H = pose(coordinates(H))                                                                                  (1)

and a constraint that sets the sine of an angle to zero requires the cosine 1, not −1.
"""

import casadi as ca

from ...elements.quantity import time
from ...joints.alignment import strict_equations
from ...lie import se3


def reachability_errors(formulation, joints=None):
    """The largest error of (1) in the rotation and in the position of each joint, as a function of (t, q, p).

    joints   by default all joints of the model
    """
    functions = {}
    errors = []
    for joint in formulation.model.joints if joints is None else joints:
        H = formulation.to_state_symbols(formulation.substitution.of(joint.relative_pose()))
        kind = joint.trace() or joint  # joints with the same trace share one function
        if id(kind) not in functions:
            functions[id(kind)] = reachability_error(joint)
        f, symbols = functions[id(kind)]
        errors.append(ca.horzcat(*f(H[:3, :], symbols)))
    state = [time, formulation.q, formulation.p]
    return ca.Function("departures", state, [ca.densify(ca.vertcat(*errors, ca.SX(0, 2)))])


def reachability_error(joint):
    """The errors of (1) of one kind of joint as a function of H and its parameters, and these parameters."""
    H = ca.SX.sym("H", 3, 4)
    pose = ca.vertcat(H, ca.SX([[0, 0, 0, 1]]))
    error = joint.pose(joint.coordinates(pose)) - pose  # (1)
    symbols = ca.vertcat(*[s for s in ca.symvar(error) if not ca.depends_on(H, s)], ca.SX(0, 1))
    largest = [ca.mmax(ca.fabs(ca.densify(ca.vec(x)))) for x in se3.split_pose(error)]
    return ca.Function("departure", [H, symbols], largest), symbols


def smallest_cosines(formulation, constraints=None):
    """The smallest cosine of each constraint as a function of (t, q, p); 1 for joints and for constraints without sines.

    constraints   by default all constraints of the model
    """
    values = []
    for constraint in formulation.model.constraints if constraints is None else constraints:
        with strict_equations() as cosines:
            holonomic = not constraint.has_coordinates and constraint.equations().position is not None
        smallest = formulation.substitution.of(ca.mmin(ca.vertcat(*cosines))) if holonomic and cosines else ca.SX(1)
        values.append(formulation.to_state_symbols(smallest))
    state = [time, formulation.q, formulation.p]
    return ca.Function("alignments", state, [ca.densify(ca.vertcat(*values, ca.SX(0, 1)))])
