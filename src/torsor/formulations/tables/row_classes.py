"""Constraints between two bodies by classes: constraints of one class share their code, and each is a row of numbers.

A body is represented by its motion, a column of x, R, ẋ and ω; a ground by a motion with zero velocities.
"""

from typing import Any

import casadi as ca
import numpy as np

from ...elements import quantity
from ...joints import Joint
from ...joints.base import MOTIONS
from ...lie import pose_stacks
from ..algebra.lie_derivative import rate, split_linear_angular, velocities
from .recursion_classes import fold_constants

MOTION_SIZE = 18  # numbers of a motion

# ends of the numbers of a connection in its row
FRAMES_END = 24  # two frames, rotation and position each
AXES_END = 33  # the axes in which its first three rows are measured


class Moving:
    """A body with symbols for its motion."""

    particle = False

    def __init__(self):
        self.motion = ca.SX.sym("motion", MOTION_SIZE)
        at = 0
        for name, shape in MOTIONS:
            size = shape[0] * shape[1]
            setattr(self, name, ca.reshape(self.motion[at : at + size], *shape))
            at += size


def split_motion(motion):
    """Position, rotation, velocity and angular velocity from rows of motions in numbers."""
    x, R, velocity, w = np.split(motion, np.cumsum([3, 9, 3]), axis=-1)
    return x, R.reshape(*R.shape[:-1], 3, 3).swapaxes(-1, -2), velocity, w


def frames_of(connections):
    """One row of numbers per connection: its two frames, and the axes in which its first three rows are measured; None if one of
    them contains parameters."""
    frames = [c.placed_numbers for c in connections]
    if any(x is None for x in frames):
        return None

    def columns(matrices):
        """Each matrix as a row of 9 numbers, column by column."""
        return matrices.transpose(0, 2, 1).reshape(len(connections), 9)

    pairs = [pose_stacks.split(H) for H in np.array(frames).reshape(-1, 2, 4, 4).transpose(1, 0, 2, 3)]
    axes = np.eye(3)[None].repeat(len(connections), 0)
    for k, c in enumerate(connections):
        if c.anchored and c.world is not None and c.world.turned:
            axes[k] = c.world.reference[1]
    return np.hstack([x for R, p in pairs for x in (columns(R), p)] + [columns(axes)])


class RowClass:
    """The rows of a class of connections, as functions of the motions of their two ends and of data.

    fixed   for each end whether it is a ground; its block of G is None
    size    number of rows
    g, psi, gamma        residuals at position and velocity level, and right-hand side of G v̇ = γ
    G                    Jacobian with respect to the velocities of each end: two blocks
    coordinates, rates   of a joint, and their time derivatives
    turn                 symbols of the angles near which coordinates are counted
    """

    def __init__(self, example: Any, fixed, numbers, shape):
        self.fixed = fixed
        column, self.c, self.data = fold_constants(numbers)
        self.ends = [Moving(), Moving()]
        R = [ca.reshape(column[at : at + 9], 3, 3) for at in (0, 12)]
        p = [column[at : at + 3] for at in (9, 21)]
        self.frames = [ca.horzcat(*pair) for pair in zip(R, p)]
        joint = isinstance(example, Joint)
        self.angular = [k for k in range(example.dof) if example.angular[k]] if joint else []
        self.turn = ca.SX.sym("turn", len(self.angular))
        turn = ca.SX.zeros(example.dof if joint else 0)
        turn[self.angular] = self.turn
        motions = [getattr(end, name) for end in self.ends for name, _ in MOTIONS]
        symbols = [*motions, *self.frames, turn, quantity.time]
        rows, self.coordinates, self.rates = shape.instantiate(symbols, ca.vertsplit(column)[AXES_END:])
        if example.anchored:
            axes = ca.reshape(column[FRAMES_END:AXES_END], 3, 3)
            rows = ca.vertcat(ca.sparsify(axes).T @ rows[:3], rows[3:])
        free = [end for end, is_ground in zip(self.ends, fixed) if not is_ground]
        self.g = rows
        self.size = rows.shape[0]
        self.psi = at_rest(_rate(self.g, free), self.ends, fixed)
        self.G = [
            None if is_ground else ca.sparsify(ca.jacobian(self.psi, velocities(end)))
            for end, is_ground in zip(self.ends, fixed)
        ]
        self.gamma = -at_rest(_rate(self.psi, free), self.ends, fixed)
        self.rates = at_rest(self.rates, self.ends, fixed)

    def units(self, unit):
        """Units of the rows: `unit` for lengths, 1 for angles."""
        return [1.0 if angular else unit for angular in self.restrict_rotation()]

    def restrict_rotation(self):
        """For each row True if it restricts rotations only: no linear velocity occurs in it."""
        linear = sum(
            (ca.sum2(ca.fabs(split_linear_angular(J.T)[0].T)) for J in self.G if J is not None), ca.SX.zeros(self.size)
        )
        return [x.is_zero() for x in ca.vertsplit(ca.densify(linear))]


def at_rest(expression, ends, fixed):
    """An expression with zero velocities for the ends that are grounds."""
    velocity = [end.motion[12:] for end, is_ground in zip(ends, fixed) if is_ground]
    return ca.substitute(expression, ca.vertcat(*velocity, ca.SX(0, 1)), ca.SX.zeros(6 * len(velocity)))


def _rate(expression, bodies):
    """Time derivative of an expression along the motion of bodies, at constant velocities."""
    return rate(expression, bodies) if bodies else ca.SX.zeros(expression.shape)
