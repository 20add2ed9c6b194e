"""Passes that solve the equations of a large system: up and down the tree of joins.

The equations are those of `formulations/hierarchical.py`; the functions of a join are in `join_classes.py`. If the system is
partitioned among ranks (`rank_system.py`), each rank first goes up the subtrees of its share. Then the ranks exchange D and r at
the borders of their subtrees. After this every rank goes up and down the trunk by itself, and down its own subtrees. Sums and
the smallest pivot are part of the same exchange.
"""

from functools import cached_property
from types import SimpleNamespace

import casadi as ca
import numpy as np

from ...elements.quantity import time
from .elimination_order import Sort
from .join_classes import BODY_NUMBERS, SIX, body_acceleration, border_acceleration, triangle_size
from .recursion_classes import function
from .system_passes import Passes
from .tree_schedule import allocate_blocks, block_offsets, constant_rows


class JoinPasses(Passes):
    """A large system, its joins, and the layout of the vector F that stores their factors.

    joins            joins in the order of elimination (`elimination_order.Joins`)
    classes          classes of joins; join_kinds: the class of each join
    borders          number of velocities in the border of each join
    stored_offsets   offset of the stored entries of each join in F
    massive          bodies whose mass this rank takes into account
    first_of_trunk   number of joins before those of the trunk
    reduced          layout of the message with D of the subtrees; reduced_offset: its offset in F
    """

    def __init__(self, system, layout, unit):
        super().__init__(system, layout, unit)
        self.joins, self.classes, self.join_kinds = system.joins
        self.borders = np.array([c.border for c in self.classes], int)[self.join_kinds]
        stored = np.array([c.stored for c in self.classes], int)[self.join_kinds]
        self.stored_offsets = block_offsets(stored)
        self.F = int(stored.sum()) + 1
        self.constraint = self.joins.constraint
        self.cut = system.cut
        self.massive = np.arange(self.n)
        self.first_of_trunk = 0
        if self.cut:
            self.massive = self.cut.massive
            self.first_of_trunk = self.cut.joins
            self.reduced = self.cut.message([triangle_size(SIX * len(border)) for border in self.cut.borders])
            self.reduced_offset = self.F - 1
            self.F = self.F + self.reduced.size

    @cached_property
    def inverse_masses(self):
        """Offsets of M⁻¹ of every body among the constants."""
        return constant_rows(self.constants, self.system.inertias[0])

    @cached_property
    def tensors(self):
        """Offsets of J of every body among the constants."""
        return constant_rows(self.constants, self.system.inertias[1])

    def part_offsets(self, by_sort, missing):
        """For each join the offsets of a quantity of its two parts.

        by_sort   offsets of the quantity for bodies, joins and subtrees, by the sort of the part
        missing   offset for a part that does not exist
        """
        offsets = np.full(self.joins.parts.shape, missing)
        for sort, at in by_sort.items():
            own = self.joins.sorts == sort
            if own.any():
                offsets[own] = at[self.joins.parts[own]]
        return offsets

    def solve(self, s, right, rest, number=None, stored=None):
        """Append the solution of the equations.

        right    offsets of the right-hand sides of the constraints
        rest     offsets of M⁻¹ f of the bodies; None: zero
        number   offset of a number that every rank sends to the others
        stored   offsets of the stored entries of the joins in the memory; None: they are in F
        Returns offsets of the accelerations of all bodies, of the multipliers of all constraints, and of the ranks' numbers.
        """
        zeros = s.reserve(SIX)
        s.call([ca.Function("none", [time], [ca.SX.zeros(SIX)])], ["t", "memory"], [0], [[0], [zeros]])
        p = self._allocate(s, np.full(self.n, zeros) if rest is None else rest, right, zeros)
        p.stored = ("F", self.stored_offsets) if stored is None else ("memory", stored)
        own = np.arange(self.first_of_trunk)
        trunk = np.arange(self.first_of_trunk, self.joins.size)
        self._up(s, p, own)
        if self.cut:
            self._copy_number(s, zeros if number is None else number, "memory", p.message.extra[self.cut.rank])
            s.exchange("memory", p.message.first, p.message.counts)
        self._up(s, p, trunk)
        self._down(s, p, trunk[::-1])
        self._down(s, p, own[::-1])
        self._body_accelerations(s, p)
        multipliers = np.zeros(len(self.sizes), int)
        multipliers[p.constraint] = p.lam
        return p.acceleration, multipliers, p.message.extra if self.cut else []

    def _allocate(self, s, rest, right, zeros):
        """Offsets of all quantities that `solve` computes."""
        p = SimpleNamespace(rest=rest, constraint=self.constraint)
        p.r = allocate_blocks(s, self.borders)
        p.tau = allocate_blocks(s, self.borders)
        p.right = right[p.constraint]
        p.frames = self.frames[p.constraint]
        p.lam_0 = allocate_blocks(s, self.sizes[p.constraint])
        p.lam = allocate_blocks(s, self.sizes[p.constraint])
        p.acceleration = allocate_blocks(s, np.full(self.n, SIX))
        if self.cut:
            sizes = np.array([SIX * len(b) for b in self.cut.borders], int)
            own = self.cut.roots >= 0
            p.message = self.cut.message(sizes)
            p.message.first = s.reserve(p.message.size)
            p.message.at = p.message.first + p.message.at
            p.message.extra = p.message.first + p.message.extra
            p.border_tau = allocate_blocks(s, sizes)
            p.border_acceleration = allocate_blocks(s, sizes)
            p.r[self.cut.roots[own]] = p.message.at[own]
            p.tau[self.cut.roots[own]] = p.border_tau[own]
            for bodies, at in zip(self.cut.borders, p.border_acceleration):
                p.acceleration[bodies] = at + SIX * np.arange(len(bodies))
        up = {Sort.BODY: rest, Sort.JOIN: p.r, Sort.SHARE: p.message.at if self.cut else ()}
        joined = self.joins.parts[self.joins.sorts == Sort.BODY]
        p.body_tau = np.full(self.n, zeros)
        p.body_tau[joined] = allocate_blocks(s, np.full(len(joined), SIX))
        down = {Sort.BODY: p.body_tau, Sort.JOIN: p.tau, Sort.SHARE: p.border_tau if self.cut else ()}
        p.part_r = self.part_offsets(up, zeros)
        p.part_tau = self.part_offsets(down, zeros)
        return p

    def _up(self, s, p, joins):
        offsets = [p.frames, p.right, p.part_r[:, 0], p.part_r[:, 1], p.r, p.lam_0]
        self._call_joins(s, [c.up for c in self.classes], joins, p.stored, offsets)

    def _down(self, s, p, joins):
        offsets = [p.frames, p.lam_0, p.tau, p.lam, p.part_tau[:, 0], p.part_tau[:, 1]]
        self._call_joins(s, [c.down for c in self.classes], joins, p.stored, offsets)

    def _call_joins(self, s, functions, joins, stored, offsets):
        if len(joins):
            vector, first = stored
            columns = [at[joins] for at in (first, *offsets)]
            s.call(functions, [vector, "constants", *["memory"] * 5], self.join_kinds[joins], columns)

    def _body_accelerations(self, s, p):
        """Append the accelerations of all bodies from the forces on them; of bodies in borders of subtrees from D and r."""
        inner = self.massive
        if self.cut:
            in_border = {b for bodies in self.cut.borders for b in bodies}
            inner = np.array([b for b in inner.tolist() if b not in in_border], int)
            for count in sorted({len(b) for b in self.cut.borders} - {0}):
                own = np.array([k for k, b in enumerate(self.cut.borders) if len(b) == count])
                offsets = [
                    self.reduced_offset + self.reduced.at[own],
                    p.message.at[own],
                    p.border_tau[own],
                    p.border_acceleration[own],
                ]
                kinds = np.zeros(len(own), int)
                s.call([border_acceleration(count)], ["F", "memory", "memory", "memory"], kinds, offsets)
        if len(inner):
            offsets = [self.inverse_masses[inner], p.rest[inner], p.body_tau[inner], p.acceleration[inner]]
            kinds = np.zeros(len(inner), int)
            s.call([body_acceleration()], ["constants", "memory", "memory", "memory"], kinds, offsets)

    @staticmethod
    def _copy_number(s, source, vector, target, f=lambda x: x):
        """Append a copy of a number of the memory, or of a function of it, to another vector."""
        x = ca.SX.sym("x")
        s.call([ca.Function("copy", [x], [f(x)])], ["memory", vector], [0], [[source], [target]])

    def combine(self, s, offset, others, f=lambda a, b: a + b):
        """Append the combination of a number with those of all ranks, by default their sum, and return its offset."""
        a = ca.SX.sym("a")
        b = ca.SX.sym("b")
        for other in others:
            total = s.reserve(1)
            both = ca.Function("both", [a, b], [f(a, b)])
            s.call([both], ["memory", "memory", "memory"], [0], [[offset], [other], [total]])
            offset = total
        return offset

    def _reduction(self, s, positions_only=False, stored=None):
        """A function reduce(joins, order) that appends the reduction of joins, and the message with D of the subtrees.

        order            offsets of the smallest pivot before and after each join
        positions_only   rows at velocity level are not active
        stored           offsets of the stored entries in the memory; None: they are in F
        The message is None without ranks. D of the parts is in the memory, because only other reductions need it.
        """
        ends = self.end_motions(self.motion(s))
        x = ca.SX.sym("M", BODY_NUMBERS)
        mass = allocate_blocks(s, np.full(self.n, BODY_NUMBERS))
        D = allocate_blocks(s, triangle_size(self.borders))
        copy = ca.Function("own", [x], [x])
        s.call([copy], ["constants", "memory"], np.zeros(self.n, int), [self.inverse_masses, mass])
        message = None
        shared = np.zeros(0, int)
        if self.cut:
            message = self.reduced
            own = self.cut.roots >= 0
            message.first = s.reserve(message.size)
            shared = message.first + message.at
            D[self.cut.roots[own]] = shared[own]
        parts = self.part_offsets({Sort.BODY: mass, Sort.JOIN: D, Sort.SHARE: shared}, mass[0])
        bodies = self.system.ends_of_constraints[self.constraint]
        masses = self.inverse_masses[np.maximum(bodies, 0)]
        vectors = [
            *["memory"] * 2, "constants", *["memory"] * 3, *["constants"] * 2, "memory", "memory",
            "F" if stored is None else "memory", "memory",
        ]  # fmt: skip
        stored = self.stored_offsets if stored is None else stored
        further = self.further.copy(s, positions_only)[self.constraint]
        inputs = [*ends[self.constraint].T, self.frames[self.constraint], further, *parts.T, *masses.T]
        functions = [_reduce_with_pivot(c) for c in self.classes]

        def reduce(joins, order):
            if len(joins):
                offsets = [*inputs, order[0], D, stored, order[1]]
                s.call(functions, vectors, self.join_kinds[joins], [at[joins] for at in offsets])

        return reduce, message


def _reduce_with_pivot(c):
    """The function `reduce` of a class of joins, with the smallest pivot ratio of all joins so far as a further argument."""
    arguments = [ca.SX.sym(f"i{k}", c.reduce.size_in(k)[0]) for k in range(c.reduce.n_in())]
    smallest = ca.SX.sym("worst")
    D, stored, ratio = c.reduce.call(arguments)
    return function("reduce", [*arguments, smallest], [D, stored, ca.fmin(smallest, ratio)])
