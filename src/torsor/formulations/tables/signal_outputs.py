"""Recorded signals of a large system, as functions of its other outputs."""

import casadi as ca

from ...elements.quantity import time
from ...joints import Joint
from ...joints.base import Connection
from ...model.body import Ground, Placed
from ...model.include import owners_in
from .recursion_classes import function
from .tree_schedule import block_offsets

BODY = {
    "position": 3, "rotation": 9, "velocity": 3, "angular_velocity": 3, "acceleration": 3, "angular_acceleration": 3,
}  # fmt: skip
REACTION = ("reaction_force", "reaction_torque")
JOINT = ("coordinate", "rate")


def depend_on_outputs_only(model, signals):
    """True if signals depend only on time and on outputs of bodies, joints and connections."""
    columns = [ca.SX(x) for x in signals.values()]
    owners = owners_in(model, ca.vertcat(*map(ca.vec, columns), ca.SX(0, 1)))
    return all(_is_output(element, name) for element, name in owners)


def _is_output(element, name):
    """True if a symbol of an element is one of its outputs."""
    if isinstance(element, Placed):
        return not isinstance(element, Ground) and name in BODY
    if isinstance(element, Joint) and name in JOINT:
        return True
    return isinstance(element, Connection) and name in REACTION


def add_signals(schedule, model, elements, offsets, signals):
    """Append passes that compute the signals from the other outputs.

    elements   bodies, joints and constraints that occur in the outputs, in their order
    offsets    by name: the offset of each quantity in the vector of outputs
    """
    index = [{id(element): k for k, element in enumerate(group)} for group in elements]
    coordinate_offsets = block_offsets([joint.dof for joint in elements.joints])

    def offset_of(element, name):
        if name in BODY:
            return offsets[name] + BODY[name] * index[0][id(element)]
        if name in JOINT:
            return offsets[name] + coordinate_offsets[index[1][id(element)]]
        return offsets[name] + 3 * index[2][id(element)]

    for k, expression in enumerate(signals.values()):
        owners = owners_in(model, ca.SX(expression))
        symbols = [ca.vec(getattr(element, name)) for element, name in owners]
        f = function("signal", [time, *symbols], [ca.SX(expression)])
        arguments = [[offset_of(*owner)] for owner in owners]
        schedule.call([f], ["t", *["row"] * len(owners), "row"], [0], [[0], *arguments, [offsets["signals"] + k]])
