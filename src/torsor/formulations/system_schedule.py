"""The kernels of a large system with loops as schedules: motion outward, joins up and down, joints outward.

The equations are those of `hierarchical.py`; joins are those of `joining.py`. Every kernel is made of the same passes:

    motion     poses and velocities of all bodies, from the joint coordinates and velocities, or any other ones
    rows       a right-hand side for the rows of every constraint
    joins      accelerations of all bodies that satisfy them, and multipliers
    joints     accelerations of the joints from those of the bodies
"""

import casadi as ca
import numpy as np

from ..describe import quantity
from ..describe.quantity import time
from .classes import function
from .group_schedule import blocks
from .join_classes import SIX, falling
from .joining import Joining
from .schedule import Schedule
from .tree_schedule import rooms


class SystemKernels(Joining):
    """Kernels by name, as methods; what they have in common is worked out once."""

    def right(self, s, motion, what, loops_only, vector="memory"):
        """A right-hand side for every constraint: `what` of its class; zero for joints of the tree, where only loops count.

        what   a function of a class of rows
        """
        classes, kinds = self.system.rows
        ends, frames = self.ends(motion), self.frames
        at = rooms(s, self.sizes)
        first = self.system.first_loop if loops_only else 0
        if first:
            zeros = s.room(SIX)
            s.call([ca.Function("none", [time], [ca.SX.zeros(SIX)])], ["t", "memory"], [0], [[0], [zeros]])
            at[:first] = zeros
        chosen = np.arange(first, len(kinds))
        if len(chosen):
            vectors = ["memory", "memory", "constants", "gains" if what.gains else "t", "memory"]
            places = [ends[chosen, 0], ends[chosen, 1], frames[chosen], np.zeros(len(chosen), int), at[chosen]]
            s.call([what(c) for c in classes], vectors, kinds[chosen], places)
        return at

    # kernels

    def factor(self):
        s = Schedule("factor", self.taking("t", "x", "p"), {"F": self.F}, self.constants)
        worst, count, first = s.room(self.found.size + 1), self.found.size, self.first_of_trunk
        s.call([ca.Function("one", [time], [ca.SX(1)])], ["t", "memory"], [0], [[0], [worst]])
        order = np.array([worst + np.arange(count), worst + 1 + np.arange(count)])
        if count:
            reduced, told = self._reduction(s)
            reduced(np.arange(first), order)
        last = worst + first
        if self.cut:
            more = told.first + told.more
            self._copied(s, last, "memory", more[self.cut.rank])
            s.exchange("memory", told.first, told.counts)
            every = np.arange(told.size)
            blocks(s, lambda x: x, ["memory", "F"], [told.first + every, self.at_told + every])
            last = self._together(s, worst, more, "memory", ca.fmin)
        if first < count:
            order[0, first] = last
            reduced(np.arange(first, count), order)
            last = worst + count
        self._copied(s, last, "F", self.F - 1)
        return s

    def rate(self, baumgarte):
        layout = self.layout
        s = Schedule(
            "rate",
            self.taking("t", "x", "p", "F", "gains"),
            {"xdot": layout.algebra, "lam": self.loop_rows},
            self.constants,
        )
        motion = self.motion(s)
        on, sums = self.applied(s, motion)
        rest = rooms(s, np.full(self.n, SIX))
        weight = falling(quantity.numbers(self.system.model.gravity).ravel(), 6)
        places = [at[self.massive] for at in (motion.body, on, self.over_mass, self.tensor, rest)]
        vectors = ["memory", "memory", "constants", "constants", "memory"]
        s.call([weight], vectors, np.zeros(len(self.massive), int), places)
        right = self.right(s, motion, STABILISED if baumgarte else GAMMA, False)
        found, lam, powers = self.solved(s, right, rest, sums[1])
        self.joints(s, motion, found, False, "xdot", layout.v)
        blocks(s, lambda x: x, ["x", "xdot"], [layout.q + np.arange(layout.v), np.arange(layout.v)])
        self._copied(s, self._together(s, sums[0], powers), "xdot", 2 * layout.v)
        self._rows_out(s, lam, "lam")
        return s

    def _rows_out(self, s, at, vector):
        """Numbers of the rows of all loops, one after the other."""
        first = self.system.first_loop
        for size in np.unique(self.sizes[first:]).tolist():
            own = first + np.flatnonzero(self.sizes[first:] == size)
            x = ca.SX.sym("rows", size)
            s.call(
                [ca.Function("rows", [x], [x])],
                ["memory", vector],
                np.zeros(len(own), int),
                [at[own], self.row[own - first]],
            )

    def _squared(self, s, at):
        """Squares of residuals in their units, summed up: places of the sum over what everybody knows, and over my own."""
        classes, kinds = self.system.rows
        first, count = self.system.first_loop, len(kinds) - self.system.first_loop
        mine = self.cut.mine.loops if self.cut else np.zeros(count, bool)
        sums, none = [s.room(np.count_nonzero(which) + 1) for which in (~mine, mine)], np.zeros(2, int)
        s.call([ca.Function("zero", [time], [ca.SX(0)])], ["t", "memory"], none, [none, sums])
        order = np.where(mine, sums[1] + np.cumsum(mine), sums[0] + np.cumsum(~mine)) - 1
        if count:
            own = [_squares(c.units(self.unit)) for c in classes]
            s.call(own, ["memory", "memory", "memory"], kinds[first:], [at[first:], order, order + 1])
        return [sums[0] + np.count_nonzero(~mine), sums[1] + np.count_nonzero(mine)]

    def _measured(self, s, at, square, others, vector):
        """Residuals of all loops, and last the length of the vector of all of them in their units."""
        self._rows_out(s, at, vector)
        self._copied(s, self._together(s, square, others), vector, self.loop_rows, ca.sqrt)

    def positions(self, moved):
        """One step of Newton's method; moved: functions of the groups that take it back along a step."""
        layout = self.layout
        s = Schedule(
            "positions", self.taking("t", "x", "p", "F"), {"y": layout.x, "g": self.loop_rows + 1}, self.constants
        )
        motion = self.motion(s)
        right = self.right(s, motion, RESIDUAL, True)
        square = self._squared(s, right)
        found, _, squares = self.solved(s, right, None, square[1])
        step = s.room(layout.v)
        self.joints(s, motion, found, True, "memory", step)
        s.call(moved, ["x", "memory", "y"], self.tree.traces, [self.q, step + self.v, self.q])
        rest = layout.q + np.arange(layout.x - layout.q)
        blocks(s, lambda x: x, ["x", "y"], [rest, rest])
        self._measured(s, right, square[0], squares, "g")
        return s

    def velocities(self):
        layout = self.layout
        s = Schedule(
            "velocities", self.taking("t", "x", "p", "F"), {"y": layout.x, "psi": self.loop_rows + 1}, self.constants
        )
        motion = self.motion(s)
        right = self.right(s, motion, SPEED, True)
        square = self._squared(s, right)
        found, _, squares = self.solved(s, right, None, square[1])
        step, at = s.room(layout.v), layout.q + np.arange(layout.v)
        self.joints(s, motion, found, True, "memory", step)
        blocks(s, lambda x, u: x - u, ["x", "memory", "y"], [at, step + np.arange(layout.v), at])
        for others in (np.arange(layout.q), at[-1] + 1 + np.arange(layout.x - layout.q - layout.v)):
            blocks(s, lambda x: x, ["x", "y"], [others, others])
        self._measured(s, right, square[0], squares, "psi")
        return s

    def tangent(self):
        layout = self.layout
        s = Schedule("tangent", self.taking("t", "x", "p", "F", "e"), {"k": layout.algebra}, self.constants)
        for offset in (0, layout.v):
            motion = self.motion(s, "e", offset)
            found, _, _ = self.solved(s, self.right(s, motion, SPEED, True), None)
            step, at = s.room(layout.v), offset + np.arange(layout.v)
            self.joints(s, motion, found, True, "memory", step)
            blocks(s, lambda x, u: x - u, ["e", "memory", "k"], [at, step + np.arange(layout.v), at])
        rest = 2 * layout.v + np.arange(layout.algebra - 2 * layout.v)
        blocks(s, lambda x: x, ["e", "k"], [rest, rest])
        return s


class _Right:
    """What stands on the right-hand side of the rows of a class."""

    def __init__(self, what, gains=False):
        self.what, self.gains = what, gains

    def __call__(self, rows):
        more = ca.SX.sym("more", 4 if self.gains else 1)
        return function("right", [*(end.motion for end in rows.ends), rows.c, more], [self.what(rows, more)])


GAMMA = _Right(lambda rows, _: rows.gamma)
STABILISED = _Right(lambda rows, k: _stabilised(rows, k), True)
RESIDUAL = _Right(lambda rows, _: rows.g)
SPEED = _Right(lambda rows, _: rows.psi)


def _stabilised(rows, k):
    """γ with the terms of Baumgarte."""
    alpha, beta = (ca.vertcat(*[k[i + 2 * turning] for turning in rows.turning()]) for i in range(2))
    return rows.gamma - 2 * alpha * rows.psi - beta**2 * rows.g


def _squares(units):
    x, before = ca.SX.sym("x", len(units)), ca.SX.sym("before")
    return function("squares", [x, before], [before + ca.sumsqr(x / ca.SX(units))])
