"""The kernels of a large system with loops as schedules: motion outward, joins up and down, joints outward.

The equations are those of `formulations/hierarchical.py`; joins are those of `join_passes.py`. Every kernel consists of the same
passes:

    motion     poses and velocities of all bodies, from the joint coordinates and velocities, or from other velocities
    rows       the right-hand side of every constraint
    joins      accelerations of all bodies that satisfy the constraints, and multipliers
    joints     accelerations of the joints from those of the bodies
"""

import casadi as ca
import numpy as np

from ...elements import quantity
from ...elements.quantity import time
from ..schedules.schedule import Schedule
from .group_schedule import call_in_blocks
from .implicit_efforts import EffortPasses
from .join_classes import SIX, free_acceleration
from .join_passes import JoinPasses
from .moving_grounds import may_impose_motions
from .recursion_classes import function
from .shared_values import SharedValues, share_rows
from .tree_schedule import allocate_blocks, block_indices


class SystemKernels(JoinPasses):
    """The kernels of a large system: each method returns the schedule of one kernel."""

    def right_hand_side(self, s, motion, what, loops_only):
        """Append the right-hand side of every constraint and return its offsets.

        what         the quantity: a _RightHandSide
        loops_only   zero for the joints of the tree
        """
        classes, kinds = self.system.rows
        ends = self.end_motions(motion)
        frames = self.frames
        offsets = allocate_blocks(s, self.sizes)
        first = self.system.first_loop if loops_only else 0
        if first:
            zeros = s.reserve(SIX)
            s.call([ca.Function("none", [time], [ca.SX.zeros(SIX)])], ["t", "memory"], [0], [[0], [zeros]])
            offsets[:first] = zeros
        chosen = np.arange(first, len(kinds))
        if len(chosen):
            further = self.further.copy(s)
            vectors = ["memory", "memory", "constants", "memory", "gains" if what.gains else "t", "memory"]
            arguments = [ends[chosen, 0], ends[chosen, 1], frames[chosen], further[chosen], np.zeros(len(chosen), int)]
            s.call([what(c) for c in classes], vectors, kinds[chosen], [*arguments, offsets[chosen]])
        return offsets

    # kernels

    def factor(self):
        """The kernel (t, x, p) → F: the reductions of all joins; the last entry of F is the smallest pivot ratio."""
        s = Schedule("factor", self.inputs("t", "x", "p"), {"F": self.F}, self.constants)
        count = self.joins.size
        first = self.first_of_trunk
        order = self._smallest_pivots(s)
        smallest = int(order[0][0])
        if count:
            reduce, message = self._reduction(s)
            reduce(np.arange(first), order)
        last = smallest + first
        if self.cut:
            extra = message.first + message.extra
            self._copy_number(s, last, "memory", extra[self.cut.rank])
            s.exchange("memory", message.first, message.counts)
            every = np.arange(message.size)
            call_in_blocks(s, lambda x: x, ["memory", "F"], [message.first + every, self.reduced_offset + every])
            last = self.combine(s, smallest, extra, ca.fmin)
        if first < count:
            order[0, first] = last
            reduce(np.arange(first, count), order)
            last = smallest + count
        self._copy_number(s, last, "F", self.F - 1)
        return s

    def _smallest_pivots(self, s):
        """Append the number 1, and return offsets of the smallest pivot ratio before and after each join."""
        count = self.joins.size
        smallest = s.reserve(count + 1)
        s.call([ca.Function("one", [time], [ca.SX(1)])], ["t", "memory"], [0], [[0], [smallest]])
        return np.array([smallest + np.arange(count + 1), smallest + 1 + np.arange(count + 1)])

    def _factor_of_positions(self, s):
        """Append the reductions of all joins without the rows at velocity level. Returns the offsets of their stored entries; None
        if there are no such rows."""
        if self.further.all_holonomic:
            return None
        stored = allocate_blocks(s, np.array([c.stored for c in self.classes], int)[self.join_kinds])
        reduce, _ = self._reduction(s, True, stored)
        reduce(np.arange(self.joins.size), self._smallest_pivots(s))
        return stored

    def rate(self, baumgarte):
        """The kernel (t, x, p, F, gains) → ẋ, λ of the loops; baumgarte: with the terms of Baumgarte's stabilisation."""
        layout = self.layout
        s = Schedule(
            "rate",
            self.inputs("t", "x", "p", "F", "gains"),
            {"xdot": layout.algebra, "lam": self.multipliers},
            self.constants,
        )
        motion = self.motion(s)
        wrenches, sums = self.applied_wrenches(s, motion)
        what = STABILISED_GAMMA if baumgarte else GAMMA
        if self.efforts:
            right = self.right_hand_side(s, motion, what, False)
            accelerations, lam, powers, sums = EffortPasses(self).solve(s, motion, wrenches, sums, right)
        else:
            rest = self.accelerate(s, motion, wrenches)
            right = self.right_hand_side(s, motion, what, False)
            accelerations, lam, powers = self.solve(s, right, rest, sums[1])
        power = self.imposed_power(s, motion, lam, sums[0])
        self.joint_accelerations(s, motion, accelerations, False, "xdot", layout.v)
        call_in_blocks(s, lambda x: x, ["x", "xdot"], [layout.q + np.arange(layout.v), np.arange(layout.v)])
        self._copy_number(s, self.combine(s, power, powers), "xdot", 2 * layout.v)
        self.rates_of_states(s, motion)
        self.write_loop_rows(s, lam, "lam")
        if self.cut and self.system.shares_multipliers:
            share_rows(s, self.system, "lam")
        return s

    def accelerate(self, s, motion, wrenches):
        """Append M⁻¹ f of all bodies without constraints, and return the offsets; wrenches: offsets of the applied wrenches."""
        rest = allocate_blocks(s, np.full(self.n, SIX))
        free = free_acceleration(quantity.numbers(self.system.model.gravity).ravel(), 6)
        offsets = [at[self.massive] for at in (motion.body, wrenches, self.inverse_masses, self.tensors, rest)]
        vectors = ["memory", "memory", "constants", "constants", "memory"]
        s.call([free], vectors, np.zeros(len(self.massive), int), offsets)
        return rest

    def imposed_power(self, s, motion, multipliers, power):
        """Append the power −λ·ψ₀ of imposed motions, where ψ₀ are the residuals at velocity level while all bodies are at rest.

        multipliers   offsets of the multipliers of every constraint
        power         offset of a power to which theirs is added
        Returns the offset of the sum; ranks send each other the power of the constraints of each.
        """
        classes, kinds = self.system.rows
        imposed = np.array([not c.imposed.is_zero() for c in classes], bool)
        chosen = np.flatnonzero(imposed[kinds]) if len(classes) else np.zeros(0, int)
        own = self.cut.own.constraints[chosen] if self.cut else np.zeros(len(chosen), bool)
        functions = [_imposed_power(c) for c, some in zip(classes, imposed) if some]
        further = self.further.copy(s) if len(chosen) else np.zeros(0, int)

        def add(constraints, power):
            if not len(constraints):
                return power
            after = s.reserve(len(constraints)) + np.arange(len(constraints))
            before = np.concatenate([[power], after[:-1]])
            vectors = ["memory", "memory", "constants", *["memory"] * 4]
            inputs = [*self.end_motions(motion)[constraints].T, self.frames[constraints], further[constraints]]
            offsets = [*inputs, multipliers[constraints], before, after]
            s.call(functions, vectors, (np.cumsum(imposed) - 1)[kinds[constraints]], offsets)
            return after[-1]

        power = add(chosen[~own], power)
        if not (self.cut and may_impose_motions(self.system.whole)):
            return power
        zero = s.reserve(1)
        s.call([ca.Function("zero", [time], [ca.SX(0)])], ["t", "memory"], [0], [[0], [zero]])
        of_ranks = SharedValues(s, self.cut, np.arange(self.cut.ranks))
        of_ranks.copy_own("memory", np.full(self.cut.ranks, add(chosen[own], zero)))
        of_ranks.send()
        return self.combine(s, power, of_ranks.at)

    def write_loop_rows(self, s, offsets, vector):
        """Append a copy of the rows of all loops to a vector; offsets: of the rows of every constraint."""
        first = self.system.first_loop
        for size in np.unique(self.sizes[first:]).tolist():
            own = first + np.flatnonzero(self.sizes[first:] == size)
            x = ca.SX.sym("rows", size)
            s.call(
                [ca.Function("rows", [x], [x])],
                ["memory", vector],
                np.zeros(len(own), int),
                [offsets[own], self.row_offsets[own - first]],
            )

    def _sums_of_squares(self, s, offsets):
        """Append the sums of squares of the residuals in their units. Returns the offsets of two sums: over the loops that all
        ranks compute, and over those of this rank alone."""
        classes, kinds = self.system.rows
        first = self.system.first_loop
        count = len(kinds) - first
        own = self.cut.own.loops if self.cut else np.zeros(count, bool)
        sums = [s.reserve(np.count_nonzero(which) + 1) for which in (~own, own)]
        zeros = np.zeros(2, int)
        s.call([ca.Function("zero", [time], [ca.SX(0)])], ["t", "memory"], zeros, [zeros, sums])
        order = np.where(own, sums[1] + np.cumsum(own), sums[0] + np.cumsum(~own)) - 1
        if count:
            functions = [_squares(c.units(self.unit)) for c in classes]
            s.call(functions, ["memory", "memory", "memory"], kinds[first:], [offsets[first:], order, order + 1])
        return [sums[0] + np.count_nonzero(~own), sums[1] + np.count_nonzero(own)]

    def _write_residuals(self, s, offsets, square, others, vector):
        """Append a copy of the residuals of all loops to a vector, followed by their Euclidean norm in units of the rows.

        square, others   offsets of the sum of squares that all ranks compute, and of those of each rank
        """
        self.write_loop_rows(s, offsets, vector)
        if self.cut and self.system.shares_rows:
            share_rows(s, self.system, vector)
        self._copy_number(s, self.combine(s, square, others), vector, self.loop_rows, ca.sqrt)

    def positions(self, steps):
        """The kernel (t, x, p, F) → y, g: one step of Newton's method; steps: for each group the function of a step −u."""
        layout = self.layout
        s = Schedule(
            "positions", self.inputs("t", "x", "p", "F"), {"y": layout.x, "g": self.loop_rows + 1}, self.constants
        )
        motion = self.motion(s)
        right = self.right_hand_side(s, motion, POSITION_RESIDUAL, True)
        square = self._sums_of_squares(s, right)
        changes, _, squares = self.solve(s, right, None, square[1])
        step = s.reserve(layout.v)
        self.joint_accelerations(s, motion, changes, True, "memory", step)
        s.call(steps, ["x", "memory", "y"], self.tree.traces, [self.q, step + self.v, self.q])
        rest = layout.q + np.arange(layout.x - layout.q)
        call_in_blocks(s, lambda x: x, ["x", "y"], [rest, rest])
        self._write_residuals(s, right, square[0], squares, "g")
        return s

    def velocities(self):
        """The kernel (t, x, p, F) → y, ψ: velocities projected onto the constraints."""
        layout = self.layout
        s = Schedule(
            "velocities", self.inputs("t", "x", "p", "F"), {"y": layout.x, "psi": self.loop_rows + 1}, self.constants
        )
        motion = self.motion(s)
        right = self.right_hand_side(s, motion, VELOCITY_RESIDUAL, True)
        square = self._sums_of_squares(s, right)
        changes, _, squares = self.solve(s, right, None, square[1])
        step = s.reserve(layout.v)
        at = layout.q + np.arange(layout.v)
        self.joint_accelerations(s, motion, changes, True, "memory", step)
        call_in_blocks(s, lambda x, u: x - u, ["x", "memory", "y"], [at, step + np.arange(layout.v), at])
        for others in (np.arange(layout.q), at[-1] + 1 + np.arange(layout.x - layout.q - layout.v)):
            call_in_blocks(s, lambda x: x, ["x", "y"], [others, others])
        self._write_residuals(s, right, square[0], squares, "psi")
        return s

    def impulse(self):
        """The kernel (t, x, p, F, r) → δv, Λ: the least change of velocities with G δv = −r, and its impulses."""
        rows = self.loop_rows
        gives = {"dv": self.layout.v, "impulse": rows}
        s = Schedule("impulse", self.inputs("t", "x", "p", "F") | {"r": rows}, gives, self.constants)
        motion = self.motion(s)
        first = self.system.first_loop
        zeros = s.reserve(SIX)
        s.call([ca.Function("none", [time], [ca.SX.zeros(SIX)])], ["t", "memory"], [0], [[0], [zeros]])
        offsets = np.full(len(self.sizes), zeros)
        offsets[first:] = allocate_blocks(s, self.sizes[first:])
        if len(offsets) > first:
            source = block_indices(self.row_offsets, self.sizes[first:])
            call_in_blocks(s, lambda x: -x, ["r", "memory"], [source, offsets[first] + np.arange(len(source))])
        changes, lam, _ = self.solve(s, offsets, None)
        self.joint_accelerations(s, motion, changes, True, "dv", 0)
        self.write_loop_rows(s, lam, "impulse")
        if self.cut:
            share_rows(s, self.system, "impulse")
        return s

    def tangent(self):
        """The kernel (t, x, p, F, e) → k: an element of the algebra projected onto the tangent space of the constraints.

        Rows at velocity level do not correct positions.
        """
        layout = self.layout
        s = Schedule("tangent", self.inputs("t", "x", "p", "F", "e"), {"k": layout.algebra}, self.constants)
        for offset in (0, layout.v):
            stored = None if offset else self._factor_of_positions(s)
            motion = self.motion(s, "e", offset)
            right = self.right_hand_side(s, motion, TANGENT_RESIDUAL, True)
            changes, _, _ = self.solve(s, right, None, stored=stored)
            step = s.reserve(layout.v)
            at = offset + np.arange(layout.v)
            self.joint_accelerations(s, motion, changes, True, "memory", step)
            call_in_blocks(s, lambda x, u: x - u, ["e", "memory", "k"], [at, step + np.arange(layout.v), at])
        rest = 2 * layout.v + np.arange(layout.algebra - 2 * layout.v)
        call_in_blocks(s, lambda x: x, ["e", "k"], [rest, rest])
        return s


class _RightHandSide:
    """The right-hand side of the rows of a class.

    quantity   a function of the class and of further inputs
    gains      True if the further inputs are the gains of Baumgarte's stabilisation
    """

    def __init__(self, quantity, gains=False):
        self.quantity = quantity
        self.gains = gains

    def __call__(self, rows):
        """The CasADi function of a class of rows."""
        inputs = ca.SX.sym("more", 4 if self.gains else 1)
        arguments = [*(end.motion for end in rows.ends), rows.c, rows.further, inputs]
        return function("right", arguments, [rows.switched(self.quantity(rows, inputs))])


def _stabilised_gamma(rows, gains):
    """γ with the terms of Baumgarte's stabilisation; gains: α and β of lengths, then of angles."""
    alpha, beta = (ca.vertcat(*[gains[i + 2 * angular] for angular in rows.restrict_rotation()]) for i in range(2))
    return rows.gamma - 2 * alpha * rows.psi - beta**2 * rows.g


GAMMA = _RightHandSide(lambda rows, _: rows.gamma)
STABILISED_GAMMA = _RightHandSide(_stabilised_gamma, True)
POSITION_RESIDUAL = _RightHandSide(lambda rows, _: rows.g)
VELOCITY_RESIDUAL = _RightHandSide(lambda rows, _: rows.psi)
TANGENT_RESIDUAL = _RightHandSide(lambda rows, _: rows.psi - rows.imposed)


def _imposed_power(rows):
    """The function that adds the power −λ·ψ₀ of the rows of a class to a sum."""
    lam = ca.SX.sym("lam", rows.size)
    before = ca.SX.sym("before")
    arguments = [*(end.motion for end in rows.ends), rows.c, rows.further, lam, before]
    return function("imposed_power", arguments, [before - ca.dot(lam, rows.imposed)])


def _squares(units):
    """The function that adds the squares of residuals over their units to a sum."""
    x = ca.SX.sym("x", len(units))
    before = ca.SX.sym("before")
    return function("squares", [x, before], [before + ca.sumsqr(x / ca.SX(units))])
