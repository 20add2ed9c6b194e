"""Constraints between bodies by classes: those that are alike share their code, and each is a row of numbers.

A body appears as its motion, a column of x, R, ẋ and ω; a ground as one that does not move.
"""

from typing import Any

import casadi as ca
import numpy as np

from ..describe import quantity
from ..joints import Joint
from ..joints.base import MOTIONS
from ..lie import poses
from .classes import folded, function
from .lie_derivative import parts, rate, velocities

MOTION = 18  # numbers of a motion
# where frames of a connection end, rotation and place each, and the axes in which its rows are taken
FRAMES, AXES = 24, 33


class Moving:
    """A body in symbols of its motion."""

    particle = False

    def __init__(self):
        self.motion = ca.SX.sym("motion", MOTION)
        at = 0
        for name, shape in MOTIONS:
            size = shape[0] * shape[1]
            setattr(self, name, ca.reshape(self.motion[at : at + size], *shape))
            at += size


def parts_of(motion):
    """Position, rotation, velocity and angular velocity of rows of motions in numbers."""
    x, R, velocity, spin = np.split(motion, np.cumsum([3, 9, 3]), axis=-1)
    return x, R.reshape(*R.shape[:-1], 3, 3).swapaxes(-1, -2), velocity, spin


def frames_of(connections):
    """The two frames of every connection as numbers, and the axes in which its first three rows are taken, row by row; None where
    one has parameters in it."""
    placed = [c.placed_numbers for c in connections]
    if any(x is None for x in placed):
        return None
    flat = lambda A: A.transpose(0, 2, 1).reshape(len(connections), 9)
    pairs = [poses.split(H) for H in np.array(placed).reshape(-1, 2, 4, 4).transpose(1, 0, 2, 3)]
    axes = np.eye(3)[None].repeat(len(connections), 0)
    for k, c in enumerate(connections):
        if c.anchored and c.world is not None and c.world.turned:
            axes[k] = c.world.reference[1]
    return np.hstack([x for R, p in pairs for x in (flat(R), p)] + [flat(axes)])


class RowClass:
    """The rows of connections that are alike, as functions of the motions of their two ends and of data.

    held    which end is a ground:  its columns of G are left out
    rows    how many there are;   G: two matrices
    """

    def __init__(self, example: Any, held, numbers, shape):
        self.held = held
        column, self.c, self.data = folded(numbers)
        self.ends = [Moving(), Moving()]
        R = [ca.reshape(column[at : at + 9], 3, 3) for at in (0, 12)]
        p = [column[at : at + 3] for at in (9, 21)]
        joint = isinstance(example, Joint)
        self.angular = [k for k in range(example.dof) if example.angular[k]] if joint else []
        self.turn, turn = ca.SX.sym("turn", len(self.angular)), ca.SX.zeros(example.dof if joint else 0)
        turn[self.angular] = self.turn
        self.frames = [ca.horzcat(*pair) for pair in zip(R, p)]
        moving = [getattr(end, name) for end in self.ends for name, _ in MOTIONS]
        given, constants = [*moving, *self.frames, turn, quantity.time], ca.vertsplit(column)[AXES:]
        rows, self.coordinates, self.rates = shape.filled(given, constants)
        if example.anchored:
            axes = ca.reshape(column[FRAMES:AXES], 3, 3)
            rows = ca.vertcat(ca.sparsify(axes).T @ rows[:3], rows[3:])
        free = [end for end, still in zip(self.ends, held) if not still]
        self.g, self.size = rows, rows.shape[0]
        still = [end.motion[12:] for end, held in zip(self.ends, held) if held]
        rest = lambda x: ca.substitute(x, ca.vertcat(*still, ca.SX(0, 1)), ca.SX.zeros(6 * len(still)))
        self.psi = rest(_rate(self.g, free))
        self.G = [None if h else ca.sparsify(ca.jacobian(self.psi, velocities(e))) for e, h in zip(self.ends, held)]
        self.gamma = -rest(_rate(self.psi, free))
        self.rates = rest(self.rates)

    def units(self, unit):
        """What its rows are measured in: lengths in a unit of length, angles as they are."""
        return [1.0 if turning else unit for turning in self.turning()]

    def turning(self):
        """Whether each row stops rotations alone: no linear velocity is in it."""
        along = sum((ca.sum2(ca.fabs(parts(J.T)[0].T)) for J in self.G if J is not None), ca.SX.zeros(self.size))
        return [x.is_zero() for x in ca.vertsplit(ca.densify(along))]

    def of(self, name, what):
        """Some rows as a function of both motions and data."""
        return function(name, [*(end.motion for end in self.ends), self.c], [what])


def _rate(expression, bodies):
    """ė along the motion of bodies, velocities held."""
    return rate(expression, bodies) if bodies else ca.SX.zeros(expression.shape)
