"""Expressions of the kernels of events: the watched functions, and the values that events use."""

import casadi as ca

from .event_lowering import Approach, Rate, Side
from .rate_bounds import paces


def columns_of(f, program):
    """Columns of the kernels of events: `guards` (values, rates and paces of the watched functions) and `slots` (values that events
    use)."""
    from ..formulations.graphs.outputs import time_derivative

    rated = program.tables["events"]["rated"]
    rates = [time_derivative(f, phi) if has_rate else ca.SX(0) for phi, has_rate in zip(program.guards, rated)]
    guards = [*program.guards, *rates, *paces(f, program.guards, rated)]
    columns = {"guards": guards, "slots": [_slot(f, x) for x in program.slots]}
    return {name: ca.vertcat(*column, ca.SX(0, 1)) for name, column in columns.items()}


def _slot(f, slot):
    """The expression of a slot. The relative acceleration of a constraint is G v̇ − γ."""
    from ..formulations.algebra.lie_derivative import ANGULAR_START, gradient
    from ..formulations.graphs.outputs import accelerations, time_derivative

    if isinstance(slot, Rate):
        return time_derivative(f, slot.signal)
    if not isinstance(slot, (Approach, Side)):
        return slot
    block = next(b for b in f.all_rows.blocks if b.constraint is slot.constraint)
    if isinstance(slot, Approach):
        return sum((G @ accelerations(body) for body, G in zip(block.bodies, block.G)), -block.gamma)
    phi = f.all_rows.substitution.of(slot.phi)
    unit = f.scales.unit

    def scale_lengths(A):
        """Scale lengths to the size of angles."""
        return ca.horzcat(unit * A[:, :ANGULAR_START], A[:, ANGULAR_START:])

    a = ca.horzcat(*[scale_lengths(gradient(phi, body)) for body in block.bodies])
    b = ca.horzcat(*map(scale_lengths, block.G))
    size = ca.sqrt(ca.sumsqr(a) * ca.sumsqr(b))
    return ca.if_else(size > 0, ca.dot(a, b) / size, 0)
