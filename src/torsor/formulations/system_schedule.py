"""The kernels of a large system with loops as schedules: motion outward, joins up and down, joints outward.

The equations are those of `hierarchical.py`; joins are those of `join_classes.py`. Every kernel is made of the same passes:

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
from .join_classes import BODY, SIX, accelerated, falling, triangle
from .schedule import Schedule
from .system_passes import Passes
from .tree_schedule import rooms, starts


class SystemKernels(Passes):
    """Kernels by name, as methods; what they have in common is worked out once."""

    def __init__(self, system, layout, unit):
        super().__init__(system, layout, unit)
        self.found, self.classes, self.own = system.joins
        of = lambda what: np.array([what(c) for c in self.classes], int)[self.own]
        self.at_mass = BODY * np.arange(self.n)
        self.at_D = BODY * self.n + starts(of(lambda c: triangle(c.border)))
        size = BODY * self.n + int(of(lambda c: triangle(c.border)).sum())
        self.at_stored = size + starts(of(lambda c: c.stored))
        self.F = size + int(of(lambda c: c.stored).sum()) + 1

    # passes

    def right(self, s, motion, what, loops_only, vector="memory"):
        """A right-hand side for every constraint: `what` of its class; zero for joints of the tree, where only loops count.

        what   a function of a class of rows
        """
        classes, kinds = self.system.rows
        ends, frames = self.ends(motion), self.frames(s)
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

    def solved(self, s, right, rest):
        """Accelerations of all bodies, and multipliers of all constraints.

        right   places of right-hand sides;   rest: of M⁻¹ f of the bodies, None where it is zero
        """
        zeros = s.room(SIX)
        s.call([ca.Function("none", [time], [ca.SX.zeros(SIX)])], ["t", "memory"], [0], [[0], [zeros]])
        rest = np.full(self.n, zeros) if rest is None else rest
        frames = self.frames(s)
        count = len(self.found)
        border = np.array([c.border for c in self.classes], int)[self.own] if count else np.zeros(0, int)
        r, tau = rooms(s, border), rooms(s, border)
        constraint = np.array([j.constraint for j in self.found], int)
        first, lam = rooms(s, self.sizes[constraint]), rooms(s, self.sizes[constraint])
        parts = np.full((count, 2), zeros)
        back = np.full((count, 2), zeros)
        pull = np.full(self.n, zeros)
        for k, join in enumerate(self.found):
            for i, (kind, own) in enumerate(join.parts):
                parts[k, i] = rest[own] if kind == "body" else r[own]
                if kind == "body":
                    pull[own] = s.room(SIX)
                back[k, i] = pull[own] if kind == "body" else tau[own]
        if count:
            given = [self.at_stored, frames[constraint]]
            s.call(
                [c.up for c in self.classes], ["F", "constants", *["memory"] * 5], self.own,
                [*given, right[constraint], parts[:, 0], parts[:, 1], r, first],
            )  # fmt: skip
            turn = np.arange(count)[::-1]
            s.call(
                [c.down for c in self.classes], ["F", "constants", *["memory"] * 5], self.own[turn],
                [at[turn] for at in (*given, first, tau, lam, back[:, 0], back[:, 1])],
            )  # fmt: skip
        found = rooms(s, np.full(self.n, SIX))
        s.call(
            [accelerated()],
            ["F", "memory", "memory", "memory"],
            np.zeros(self.n, int),
            [self.at_mass, rest, pull, found],
        )
        every = np.zeros(len(self.sizes), int)
        every[constraint] = lam
        return found, every

    # kernels

    def factor(self):
        s = Schedule("factor", self.taking("t", "x", "p"), {"F": self.F})
        mass = s.keep(self.system.over_mass[0]) + BODY * np.arange(self.n)
        x = ca.SX.sym("M", BODY)
        s.call([ca.Function("own", [x], [x])], ["constants", "F"], np.zeros(self.n, int), [mass, self.at_mass])
        worst, count = s.room(len(self.found) + 1), len(self.found)
        s.call([ca.Function("one", [time], [ca.SX(1)])], ["t", "memory"], [0], [[0], [worst]])
        if count:
            ends, frames = self.ends(self.motion(s)), self.frames(s)
            of = lambda kind, own: self.at_mass[own] if kind == "body" else self.at_D[own]
            parts = np.array([([of(*part) for part in j.parts] + [0])[:2] for j in self.found])
            constraint = np.array([j.constraint for j in self.found], int)
            masses = np.array([[0 if b is None else self.at_mass[b] for b in self.system.ends[c]] for c in constraint])
            order = worst + np.arange(count)
            vectors = ["memory", "memory", "constants", *["F"] * 4, "memory", "F", "F", "memory"]
            places = [
                *ends[constraint].T,
                frames[constraint],
                *parts.T,
                *masses.T,
                order,
                self.at_D,
                self.at_stored,
                order + 1,
            ]
            s.call([_watched(c) for c in self.classes], vectors, self.own, places)
        w = ca.SX.sym("w")
        s.call([ca.Function("worst", [w], [w])], ["memory", "F"], [0], [[worst + count], [self.F - 1]])
        return s

    def rate(self, baumgarte):
        layout = self.layout
        s = Schedule("rate", self.taking("t", "x", "p", "F", "gains"), {"xdot": layout.algebra, "lam": self.loop_rows})
        motion = self.motion(s)
        on, sums = self.applied(s, motion)
        rest = rooms(s, np.full(self.n, SIX))
        tensor = s.keep(self.system.over_mass[1]) + 6 * np.arange(self.n)
        weight = falling(quantity.numbers(self.system.model.gravity).ravel(), 6)
        s.call([weight], ["memory", "memory", "F", "constants", "memory"], np.zeros(self.n, int),
               [motion.body, on, self.at_mass, tensor, rest])  # fmt: skip
        right = self.right(s, motion, STABILISED if baumgarte else GAMMA, False)
        found, lam = self.solved(s, right, rest)
        self.joints(s, motion, found, False, "xdot", layout.v)
        blocks(s, lambda x: x, ["x", "xdot"], [layout.q + np.arange(layout.v), np.arange(layout.v)])
        P = ca.SX.sym("P")
        s.call([ca.Function("power", [P], [P])], ["memory", "xdot"], [0], [[sums], [2 * layout.v]])
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

    def _measured(self, s, at, vector):
        """Residuals of all loops, and last the length of the vector of them in their units."""
        self._rows_out(s, at, vector)
        classes, kinds = self.system.rows
        first, count = self.system.first_loop, len(kinds) - self.system.first_loop
        sums = s.room(count + 1)
        s.call([ca.Function("zero", [time], [ca.SX(0)])], ["t", "memory"], [0], [[0], [sums]])
        if count:
            own = [_squares(c.units(self.unit)) for c in classes]
            order = sums + np.arange(count)
            s.call(own, ["memory", "memory", "memory"], kinds[first:], [at[first:], order, order + 1])
        x = ca.SX.sym("x")
        s.call([ca.Function("length", [x], [ca.sqrt(x)])], ["memory", vector], [0], [[sums + count], [self.loop_rows]])

    def positions(self, moved):
        """One step of Newton's method; moved: functions of the groups that take it back along a step."""
        layout = self.layout
        s = Schedule("positions", self.taking("t", "x", "p", "F"), {"y": layout.x, "g": self.loop_rows + 1})
        motion = self.motion(s)
        right = self.right(s, motion, RESIDUAL, True)
        found, _ = self.solved(s, right, None)
        step = s.room(layout.v)
        self.joints(s, motion, found, True, "memory", step)
        s.call(moved, ["x", "memory", "y"], self.tree.traces, [self.q, step + self.v, self.q])
        rest = layout.q + np.arange(layout.x - layout.q)
        blocks(s, lambda x: x, ["x", "y"], [rest, rest])
        self._measured(s, right, "g")
        return s

    def velocities(self):
        layout = self.layout
        s = Schedule("velocities", self.taking("t", "x", "p", "F"), {"y": layout.x, "psi": self.loop_rows + 1})
        motion = self.motion(s)
        right = self.right(s, motion, SPEED, True)
        found, _ = self.solved(s, right, None)
        step, at = s.room(layout.v), layout.q + np.arange(layout.v)
        self.joints(s, motion, found, True, "memory", step)
        blocks(s, lambda x, u: x - u, ["x", "memory", "y"], [at, step + np.arange(layout.v), at])
        for others in (np.arange(layout.q), at[-1] + 1 + np.arange(layout.x - layout.q - layout.v)):
            blocks(s, lambda x: x, ["x", "y"], [others, others])
        self._measured(s, right, "psi")
        return s

    def tangent(self):
        layout = self.layout
        s = Schedule("tangent", self.taking("t", "x", "p", "F", "e"), {"k": layout.algebra})
        for offset in (0, layout.v):
            motion = self.motion(s, "e", offset)
            found, _ = self.solved(s, self.right(s, motion, SPEED, True), None)
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
        more = ca.SX.sym("more", 2 if self.gains else 1)
        return function("right", [*(end.motion for end in rows.ends), rows.c, more], [self.what(rows, more)])


GAMMA = _Right(lambda rows, _: rows.gamma)
STABILISED = _Right(lambda rows, k: rows.gamma - 2 * k[0] * rows.psi - k[1] ** 2 * rows.g, True)
RESIDUAL = _Right(lambda rows, _: rows.g)
SPEED = _Right(lambda rows, _: rows.psi)


def _watched(c):
    """`reduce` of a class of joins, with the smallest pivot of all so far."""
    given = [ca.SX.sym(f"i{k}", c.reduce.size_in(k)[0]) for k in range(c.reduce.n_in())]
    worst = ca.SX.sym("worst")
    D, kept, ratio = c.reduce.call(given)
    return function("reduce", [*given, worst], [D, kept, ca.fmin(worst, ratio)])


def _squares(units):
    x, before = ca.SX.sym("x", len(units)), ca.SX.sym("before")
    return function("squares", [x, before], [before + ca.sumsqr(x / ca.SX(units))])
