"""Recorded signals of a large system: functions of what its results hold anyway, read from there."""

import casadi as ca

from ..describe.body import Ground, Placed
from ..describe.include import owners_in
from ..describe.quantity import time
from ..joints import Joint
from ..joints.base import Connection
from .classes import function
from .tree_schedule import starts

BODY = {
    "position": 3, "rotation": 9, "velocity": 3, "angular_velocity": 3, "acceleration": 3, "angular_acceleration": 3,
}  # fmt: skip
REACTION = ("reaction_force", "reaction_torque")
JOINT = ("coordinate", "rate")


def readable(model, signals):
    """Whether signals depend on nothing but time and what results hold of bodies, joints and connections."""
    columns = [ca.SX(x) for x in signals.values()]
    owners = owners_in(model, ca.vertcat(*map(ca.vec, columns), ca.SX(0, 1)))
    return all(_held(thing, name) for thing, name in owners)


def _held(thing, name):
    if isinstance(thing, Placed):
        return not isinstance(thing, Ground) and name in BODY
    if isinstance(thing, Joint) and name in JOINT:
        return True
    return isinstance(thing, Connection) and name in REACTION


def tell(schedule, model, shown, at, signals):
    """Append passes that compute the signals from the rest of the row.

    shown   bodies, joints and constraints that results hold;   at: where everything begins in the row
    """
    order = [{id(thing): k for k, thing in enumerate(several)} for several in shown]
    dofs = starts([joint.dof for joint in shown.joints])

    def place(thing, name):
        if name in BODY:
            return at[name] + BODY[name] * order[0][id(thing)]
        if name in JOINT:
            return at[name] + dofs[order[1][id(thing)]]
        return at[name] + 3 * order[2][id(thing)]

    for k, expression in enumerate(signals.values()):
        owners = owners_in(model, ca.SX(expression))
        symbols = [ca.vec(getattr(thing, name)) for thing, name in owners]
        f = function("signal", [time, *symbols], [ca.SX(expression)])
        places = [[0], *([place(*one)] for one in owners), [at["signals"] + k]]
        schedule.call([f], ["t", *["row"] * len(owners), "row"], [0], places)
