"""Which signals of a large system can be computed from its other outputs."""

import casadi as ca

from ...joints import Constraint, Joint
from ...joints.base import Connection
from ...model.body import Placed
from ...model.include import owners_in
from .expression_passes import JOINT_MOTION, MULTIPLIER, OUTPUT_SIZES, REACTION


def depend_on_outputs_only(model, signals):
    """True if signals depend only on time, inputs, and outputs of bodies, joints and connections."""
    columns = [ca.SX(x) for x in signals.values()]
    owners = owners_in(model, ca.vertcat(*map(ca.vec, columns), ca.SX(0, 1)))
    return all(_is_output(element, name) for element, name in owners)


def _is_output(element, name):
    """True if a symbol is an input, or one of the outputs of its element."""
    if name == "symbol":
        return True
    if isinstance(element, Placed):
        return name in OUTPUT_SIZES
    if isinstance(element, Joint) and name in JOINT_MOTION:
        return True
    if name == MULTIPLIER:
        return isinstance(element, Constraint) and not isinstance(element, Joint)
    return isinstance(element, Connection) and name in REACTION
