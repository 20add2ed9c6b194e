"""Joins up and down: the passes by which the kernels of a large system solve its equations.

The equations are those of `hierarchical.py`; joins are those of `join_classes.py`. Where ranks have parts of the system
(`part_system.py`), joins up the subtrees of a share are followed by an exchange of what they lead to, D and r of their borders;
every rank then goes up and down the trunk by itself, and down its own subtrees. Sums and the smallest pivot travel with it.
"""

from functools import cached_property
from types import SimpleNamespace

import casadi as ca
import numpy as np

from ..describe.quantity import time
from .classes import function
from .join_classes import BODY, SIX, accelerated, bordered, triangle
from .merging import Sort
from .system_passes import Passes
from .tree_schedule import kept_rows, rooms, starts


class Joining(Passes):
    """A large system, its joins, and where the vector F holds what is stored of them."""

    def __init__(self, system, layout, unit):
        super().__init__(system, layout, unit)
        self.found, self.classes, self.own = system.joins
        of = lambda what: np.array([what(c) for c in self.classes], int)[self.own]
        self.borders, stored = of(lambda c: c.border), of(lambda c: c.stored)
        self.at_stored, self.F = starts(stored), int(stored.sum()) + 1
        self.constraint = self.found.constraint
        self.cut, self.massive, self.first_of_trunk = system.cut, np.arange(self.n), 0
        if self.cut:
            self.massive, self.first_of_trunk = self.cut.massive, self.cut.joins
            self.reduced = self.cut.message([triangle(SIX * len(border)) for border in self.cut.borders])
            self.at_told, self.F = self.F - 1, self.F + self.reduced.size

    @cached_property
    def over_mass(self):
        """Places of M⁻¹ of every body among the constants."""
        return kept_rows(self.constants, self.system.over_mass[0])

    @cached_property
    def tensor(self):
        """Places of J of every body among the constants."""
        return kept_rows(self.constants, self.system.over_mass[1])

    def parted(self, places, nothing):
        """For each join a place of its two parts, from places of bodies, joins and subtrees by sort; nothing: of none."""
        found = np.full(self.found.parts.shape, nothing)
        for sort, at in places.items():
            own = self.found.sorts == sort
            if own.any():
                found[own] = at[self.found.parts[own]]
        return found

    def solved(self, s, right, rest, number=None):
        """Accelerations of all bodies, multipliers of all constraints, and what every rank tells as its `number`: places.

        right   places of right-hand sides;   rest: of M⁻¹ f of the bodies, None where it is zero
        """
        zeros = s.room(SIX)
        s.call([ca.Function("none", [time], [ca.SX.zeros(SIX)])], ["t", "memory"], [0], [[0], [zeros]])
        p = self._places(s, np.full(self.n, zeros) if rest is None else rest, right, zeros)
        own, trunk = np.arange(self.first_of_trunk), np.arange(self.first_of_trunk, self.found.size)
        self._up(s, p, own)
        if self.cut:
            self._copied(s, zeros if number is None else number, "memory", p.message.more[self.cut.rank])
            s.exchange("memory", p.message.first, p.message.counts)
        self._up(s, p, trunk)
        self._down(s, p, trunk[::-1])
        self._down(s, p, own[::-1])
        self._accelerated(s, p)
        every = np.zeros(len(self.sizes), int)
        every[p.constraint] = p.lam
        return p.found, every, p.message.more if self.cut else []

    def _places(self, s, rest, right, zeros):
        """Where everything is that goes up and down."""
        p = SimpleNamespace(rest=rest, constraint=self.constraint)
        p.r, p.tau = rooms(s, self.borders), rooms(s, self.borders)
        p.right, p.frames = right[p.constraint], self.frames[p.constraint]
        p.first, p.lam = rooms(s, self.sizes[p.constraint]), rooms(s, self.sizes[p.constraint])
        p.found = rooms(s, np.full(self.n, SIX))
        if self.cut:
            sizes = np.array([SIX * len(b) for b in self.cut.borders], int)
            p.message, own = self.cut.message(sizes), self.cut.roots >= 0
            p.message.first = s.room(p.message.size)
            p.message.at, p.message.more = (p.message.first + at for at in (p.message.at, p.message.more))
            p.pulled, p.moved = rooms(s, sizes), rooms(s, sizes)
            p.r[self.cut.roots[own]], p.tau[self.cut.roots[own]] = p.message.at[own], p.pulled[own]
            for bodies, at in zip(self.cut.borders, p.moved):
                p.found[bodies] = at + SIX * np.arange(len(bodies))
        up = {Sort.BODY: rest, Sort.JOIN: p.r, Sort.SHARE: p.message.at if self.cut else ()}
        taken_up = self.found.parts[self.found.sorts == Sort.BODY]
        p.pull = np.full(self.n, zeros)
        p.pull[taken_up] = rooms(s, np.full(len(taken_up), SIX))
        down = {Sort.BODY: p.pull, Sort.JOIN: p.tau, Sort.SHARE: p.pulled if self.cut else ()}
        p.parts, p.back = (self.parted(of, zeros) for of in (up, down))
        return p

    def _up(self, s, p, joins):
        places = [self.at_stored, p.frames, p.right, p.parts[:, 0], p.parts[:, 1], p.r, p.first]
        self._joined(s, [c.up for c in self.classes], joins, places)

    def _down(self, s, p, joins):
        places = [self.at_stored, p.frames, p.first, p.tau, p.lam, p.back[:, 0], p.back[:, 1]]
        self._joined(s, [c.down for c in self.classes], joins, places)

    def _joined(self, s, functions, joins, places):
        if len(joins):
            s.call(functions, ["F", "constants", *["memory"] * 5], self.own[joins], [at[joins] for at in places])

    def _accelerated(self, s, p):
        """Accelerations of all bodies from the forces on them; of those in borders of subtrees as everybody knows them."""
        inner = self.massive
        if self.cut:
            bordering = {b for bodies in self.cut.borders for b in bodies}
            inner = np.array([b for b in inner.tolist() if b not in bordering], int)
            for count in sorted({len(b) for b in self.cut.borders} - {0}):
                own = np.array([k for k, b in enumerate(self.cut.borders) if len(b) == count])
                at = [self.at_told + self.reduced.at[own], p.message.at[own], p.pulled[own], p.moved[own]]
                s.call([bordered(count)], ["F", "memory", "memory", "memory"], np.zeros(len(own), int), at)
        if len(inner):
            at = [self.over_mass[inner], p.rest[inner], p.pull[inner], p.found[inner]]
            s.call([accelerated()], ["constants", "memory", "memory", "memory"], np.zeros(len(inner), int), at)

    @staticmethod
    def _copied(s, place, vector, target, f=lambda x: x):
        """A number of the memory, or a function of it, at another place."""
        x = ca.SX.sym("x")
        s.call([ca.Function("copied", [x], [f(x)])], ["memory", vector], [0], [[place], [target]])

    def _together(self, s, place, others, vector="memory", f=lambda a, b: a + b):
        """The place of a number, together with those that ranks have told, in some vector."""
        a, b = ca.SX.sym("a"), ca.SX.sym("b")
        for other in others:
            total = s.room(1)
            s.call(
                [ca.Function("both", [a, b], [f(a, b)])], ["memory", vector, "memory"], [0], [[place], [other], [total]]
            )
            place = total
        return place

    def _reduction(self, s):
        """A function that appends the reduction of some joins, each with the places of the smallest pivot before and after it; and
        what ranks tell each other about it, where there are any.

        D of the parts is in the memory: nothing but further reductions needs it.
        """
        ends, x = self.ends(self.motion(s)), ca.SX.sym("M", BODY)
        mass, D = rooms(s, np.full(self.n, BODY)), rooms(s, triangle(self.borders))
        s.call([ca.Function("own", [x], [x])], ["constants", "memory"], np.zeros(self.n, int), [self.over_mass, mass])
        told, shared = None, np.zeros(0, int)
        if self.cut:
            told, own = self.reduced, self.cut.roots >= 0
            told.first = s.room(told.size)
            shared = told.first + told.at
            D[self.cut.roots[own]] = shared[own]
        parts = self.parted({Sort.BODY: mass, Sort.JOIN: D, Sort.SHARE: shared}, mass[0])
        bodies = self.system.touched[self.constraint]
        masses = self.over_mass[np.maximum(bodies, 0)]
        vectors = [*["memory"] * 2, "constants", *["memory"] * 2, *["constants"] * 2, "memory", "memory", "F", "memory"]
        given = [*ends[self.constraint].T, self.frames[self.constraint], *parts.T, *masses.T]
        functions = [_watched(c) for c in self.classes]

        def reduced(joins, order):
            if len(joins):
                places = [*given, order[0], D, self.at_stored, order[1]]
                s.call(functions, vectors, self.own[joins], [x[joins] for x in places])

        return reduced, told


def _watched(c):
    """`reduce` of a class of joins, with the smallest pivot of all so far."""
    given = [ca.SX.sym(f"i{k}", c.reduce.size_in(k)[0]) for k in range(c.reduce.n_in())]
    worst = ca.SX.sym("worst")
    D, kept, ratio = c.reduce.call(given)
    return function("reduce", [*given, worst], [D, kept, ca.fmin(worst, ratio)])
