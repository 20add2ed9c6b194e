"""What the kernels of events compute: functions that are watched, and numbers that events take."""

import casadi as ca

from .pace import paces
from .program import Approach, Rate, Side


def columns_of(f, program):
    """What is watched (values, rates and paces of functions), and what events take numbers from."""
    from ..formulations.outputs import time_derivative

    rated = program.tables["events"]["rated"]
    rates = [time_derivative(f, phi) if has else ca.SX(0) for phi, has in zip(program.guards, rated)]
    guards = [*program.guards, *rates, *paces(f, program.guards, rated)]
    columns = {"guards": guards, "slots": [_slot(f, x) for x in program.slots]}
    return {name: ca.vertcat(*column, ca.SX(0, 1)) for name, column in columns.items()}


def _slot(f, slot):
    """An expression that events take a number from; the relative acceleration of a constraint is G v̇ − γ."""
    from ..formulations.lie_derivative import TURNING, gradient
    from ..formulations.outputs import accelerations, time_derivative

    if isinstance(slot, Rate):
        return time_derivative(f, slot.signal)
    if not isinstance(slot, (Approach, Side)):
        return slot
    block = next(b for b in f.all_rows.blocks if b.constraint is slot.constraint)
    if isinstance(slot, Approach):
        return sum((G @ accelerations(body) for body, G in zip(block.bodies, block.G)), -block.gamma)
    phi = f.all_rows.substitution.of(slot.phi)
    unit = f.scales.unit  # lengths and angles are compared
    sized = lambda A: ca.horzcat(unit * A[:, :TURNING], A[:, TURNING:])
    a, b = (ca.horzcat(*map(sized, As)) for As in ([gradient(phi, body) for body in block.bodies], block.G))
    size = ca.sqrt(ca.sumsqr(a) * ca.sumsqr(b))
    return ca.if_else(size > 0, ca.dot(a, b) / size, 0)
