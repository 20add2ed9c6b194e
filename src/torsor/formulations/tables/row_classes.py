"""Constraints between two bodies by classes: constraints of one class share their code, and each is a row of numbers.

A body is represented by its motion, a column of x, R, ẋ and ω; a ground by a motion with zero velocities.
"""

import math
from typing import Any

import casadi as ca
import numpy as np

from ...elements import quantity
from ...joints.base import MOTIONS
from ...lie import pose_stacks
from ..algebra.lie_derivative import rate, split_linear_angular, velocities
from .recursion_classes import fold_constants, function

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
    if not frames:
        return np.zeros((0, AXES_END))

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
    moving  for each end the ground that it is if that moves, else None; its motion is a function of time
    size    number of rows
    g, psi, gamma        residuals at position and velocity level, and right-hand side of G v̇ = γ
    G                    Jacobian with respect to the velocities of each end: two blocks
    coordinates, rates   of a joint, and their time derivatives
    turn                 symbols of the angles near which coordinates are counted
    further              symbols of further numbers that change with the state
    connects             True if the constraint is a connection, which has a reaction
    holonomic            True if the rows are at position level
    switch               1 if the rows hold, 0 if events have released them; None: they always hold
    active               the same, and 0 for rows at velocity level where positions alone count; None: they always are active
    imposed              residuals at velocity level while the bodies are at rest
    """

    further = ca.SX(0, 1)
    moving: Any = (None, None)
    switch: Any = None
    active: Any = None
    connects = True

    def __init__(self, example: Any, fixed, numbers, shape, holonomic=True, switches=0, moving=(None, None)):
        self.fixed = fixed
        self.moving = moving
        column, self.c, self.data = fold_constants(numbers)
        self.ends = [Moving(), Moving()]
        self.frames = split_frames(column)
        joint = example.has_coordinates
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
        t = ca.SX.sym("t", 1 if any(moving) else 0)
        self.further = t
        self._derive(self._along_paths(rows), holonomic, switches)
        self.rates = at_rest(self.rates, self.ends, [f and not m for f, m in zip(fixed, moving)])
        if any(moving):
            self._replace_time(t)

    def _derive(self, rows, holonomic, switches, in_state=()):
        """Set the rows at all levels.

        switches   number of memories that are all 1 while the rows hold
        in_state   pairs of further symbols and their rates
        """
        free = [end for end, is_ground in zip(self.ends, self.fixed) if not is_ground]
        self.holonomic = holonomic
        self.size = rows.shape[0]
        self._add_switches(switches)
        self.g = rows if holonomic else ca.SX.zeros(self.size)
        psi = _rate(rows, free, in_state) if holonomic else rows
        self.psi = at_rest(psi, self.ends, self.fixed)
        self.G = [
            None if is_ground else ca.sparsify(ca.jacobian(self.psi, velocities(end)))
            for end, is_ground in zip(self.ends, self.fixed)
        ]
        self.gamma = -at_rest(_rate(self.psi, free, in_state), self.ends, self.fixed)
        self.imposed = at_rest(self.psi, self.ends, (True, True))

    def _along_paths(self, rows):
        """Rows with the motions of moving grounds as functions of time."""
        for end, ground in zip(self.ends, self.moving):
            if ground is not None:
                motion = ca.vertcat(*[ca.vec(ca.densify(x)) for x in ground.motion()])
                rows = ca.substitute(rows, end.motion, motion)
        return rows

    def _replace_time(self, t):
        """Replace time by an entry of `further` in all expressions."""

        def replaced(x):
            return None if x is None else ca.substitute(x, quantity.time, t)

        self.g, self.psi, self.gamma, self.imposed = map(replaced, (self.g, self.psi, self.gamma, self.imposed))
        self.G = [replaced(J) for J in self.G]

    def _add_switches(self, count):
        """Set `switch` and `active`: products of the last entries of `further`."""
        memories = ca.SX.sym("switch", count)
        level = ca.SX.sym("level", 0 if self.holonomic else 1)
        self.further = ca.vertcat(self.further, memories, level)
        self.switch = math.prod(ca.vertsplit(memories)) if count else None
        self.active = self.switch if self.holonomic else level * (1 if self.switch is None else self.switch)

    def switched(self, residual):
        """Residuals of the rows, zero for rows that events have released."""
        return residual if self.switch is None else residual * self.switch

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


def _rate(expression, bodies, in_state):
    """Time derivative of an expression along the motion of bodies, at constant velocities."""
    return rate(expression, bodies, in_state) if bodies else ca.SX.zeros(expression.shape)


def split_frames(column):
    """The two frames of a connection, rotation and position each, from a column that begins with their numbers."""
    R = [ca.reshape(column[at : at + 9], 3, 3) for at in (0, 12)]
    p = [column[at : at + 3] for at in (9, 21)]
    return [ca.horzcat(*pair) for pair in zip(R, p)]


def connections_among(constraints):
    """The connections among some constraints."""
    return [c for c in constraints if c.connects_bodies]


def has_rows(constraint):
    """True if a constraint has rows; connections of one kind share the traced answer."""
    trace = constraint.trace()
    return bool(trace.directions if trace else constraint.directions())


def angles_of_class(rows, column):
    """The function of the angular entries of a column of a class of rows."""
    inputs = [*(end.motion for end in rows.ends), rows.c, rows.turn]
    return function("angles", inputs, [ca.vertcat(*[column[k] for k in rows.angular], ca.SX(0, 1))])


def carried_power(rows):
    """The function that subtracts the power of forces along a joint on a moving ground from a sum."""
    tau = ca.SX.sym("tau", rows.rates.shape[0])
    sums = ca.SX.sym("sums", 2)
    carried = at_rest(rows.rates, rows.ends, [not is_ground for is_ground in rows.fixed])
    inputs = [*(end.motion for end in rows.ends), rows.c, tau, sums]
    return function("carried_power", inputs, [sums - ca.vertcat(ca.dot(tau, carried), 0)])


def joint_wrenches(rows):
    """The function that adds the wrenches of forces along the coordinates of a joint on both ends: (∂q̇/∂V)ᵀ τ."""
    tau = ca.SX.sym("tau", rows.rates.shape[0])
    before = [ca.SX.sym("before", 0 if is_ground else 6) for is_ground in rows.fixed]
    after = [
        b if is_ground else b + ca.jacobian(rows.rates, velocities(end)).T @ tau
        for b, end, is_ground in zip(before, rows.ends, rows.fixed)
    ]
    return function("joint_wrenches", [*(end.motion for end in rows.ends), rows.c, tau, *before], after)
