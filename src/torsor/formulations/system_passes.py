"""Passes that the kernels of a large system share: motion of all bodies, forces on them, angles that are counted."""

from functools import cached_property

import casadi as ca
import numpy as np

from ..describe.quantity import time
from ..joints import Joint
from .classes import function
from .group_schedule import blocks
from .join_classes import SIX
from .lie_derivative import velocities
from .link_classes import LINK, LinkClass, Motions
from .plain_system import NOTHING
from .row_classes import MOTION
from .schedule import Constants, Schedule
from .tree_schedule import kept_numbers, kept_rows, rooms, starts


class Passes:
    """A large system and the layout of its state; what its kernels have in common is worked out once.

    row       where the rows of each loop begin among those of all loops
    turns     angles of joints that close loops, which are counted over full turns; counted: where those of a loop begin in p
    """

    def __init__(self, system, layout, unit):
        self.system, self.tree, self.layout, self.n = system, system.tree, layout, system.tree.n
        self.numbers, self.kinds, members = system.links
        self.link_classes = [LinkClass(system.turned.branch(m[0]), self.numbers[m]) for m in members]
        self.q, self.v = (starts(self.tree.sizes(what)) for what in ("size", "dimension"))
        self.sizes, self.unit, self.constants = system.sizes, unit, Constants()
        self.row = starts(self.sizes[system.first_loop :])
        self.F = 1
        angular = [
            (k, [i for i in range(c.dof) if c.angular[i]]) for k, c in enumerate(system.loops) if isinstance(c, Joint)
        ]
        self.counted = dict(zip([k for k, _ in angular], starts([len(own) for _, own in angular])))
        self.turns = [(system.loops[k], i) for k, own in angular for i in own]

    @property
    def loop_rows(self):
        return int(self.sizes[self.system.first_loop :].sum())

    def taking(self, *names):
        sizes = {
            "t": 1, "x": self.layout.x, "p": self.layout.p, "F": self.F, "gains": 4, "e": self.layout.algebra,
            "xdot": self.layout.algebra, "lam": self.loop_rows,
        }  # fmt: skip
        return {name: sizes[name] for name in names}

    # places of constants

    @cached_property
    def still(self):
        """Places and rotations of the grounds."""
        return kept_rows(self.constants, self.system.still)

    @cached_property
    def data(self):
        """Numbers of every link."""
        return kept_numbers(self.constants, self.numbers, self.kinds, [c.data for c in self.link_classes])

    @cached_property
    def frames(self):
        """Numbers of every constraint."""
        classes, kinds = self.system.rows
        return kept_numbers(self.constants, self.system.frames, kinds, [c.data for c in classes])

    @cached_property
    def laws(self):
        """Numbers of every force."""
        classes, kinds, numbers = self.system.force_classes
        at = np.zeros(len(kinds), int)
        for kind, (c, rows) in enumerate(zip(classes, numbers)):
            at[kinds == kind] = kept_rows(self.constants, rows[:, c.data])
        return at

    # motion

    def motion(self, s, vector="x", offset=None):
        """Motion of all links, bodies and grounds; velocities of the joints from some vector."""
        system, tree, offset = self.system, self.tree, self.layout.q if offset is None else offset
        link, body = rooms(s, np.full(self.n, LINK)), rooms(s, np.full(self.n, MOTION))
        grounds = rooms(s, np.full(len(system.holding), MOTION))
        roots = rooms(s, np.full(len(system.holding), LINK))
        x, turn, rest = ca.SX.sym("x", 3), ca.SX.sym("R", 9), ca.SX.zeros(6)
        own = function("still", [ca.vertcat(x, turn)], [ca.vertcat(x, turn, rest), ca.vertcat(turn, x, rest)])
        none = np.zeros(len(grounds), int)
        s.call([own], ["constants", "memory", "memory"], none, [self.still, grounds, roots])
        above = np.where(tree.parents >= 0, link[tree.parents], roots[system.hung])
        vectors = ["x", vector, "constants", "memory", "memory", "memory"]
        at = [self.q, offset + self.v, self.data, above, link, body]
        s.call([c.moved for c in self.link_classes], vectors, self.kinds, at)
        return Motions(link, body, grounds, above, self.data, vector, offset)

    @staticmethod
    def moving(motion, numbers, nothing=0):
        """Places of motions of bodies and grounds by their numbers (`PlainSystem.number`)."""
        body, ground = numbers >= 0, (numbers < 0) & (numbers != NOTHING)
        at = np.full(numbers.shape, nothing)
        at[body], at[ground] = motion.body[numbers[body]], motion.grounds[-1 - numbers[ground]]
        return at

    def ends(self, motion):
        """Places of the motions of both ends of every constraint."""
        return self.moving(motion, self.system.touched)

    # forces

    def applied(self, s, motion):
        """Wrenches on all bodies: places; those of power and potential of the forces, all that everybody knows, and my own."""
        zeros, along, sums = self.along(s)
        on = np.full(self.n, zeros)
        functions, own, chosen = self._forces(along_joint=False)
        if len(chosen):
            motions, before, after = self._between(s, self.system.forced[chosen], motion, on, zeros)
            total = added_up(self._mine[chosen], sums, rooms(s, np.full(len(chosen), 2)))
            vectors = ["t", "memory", "memory", "constants", *["memory"] * 6]
            none = np.zeros(len(chosen), int)
            places = [none, *motions.T, self.laws[chosen], *before.T, total[0], *after.T, total[1]]
            s.call(functions, vectors, own, places)
        self._pushed(s, motion, along, on, zeros)
        return on, sums

    def _between(self, s, ends, motion, on, zeros):
        """Places for what acts between two bodies or grounds: their motions, wrenches on them before and after it.

        ends   numbers of both, in the order in which wrenches are added up;   on: places of wrenches, which are changed
        """
        before, after = np.full(ends.shape, zeros), np.full(ends.shape, zeros)
        bodies = np.nonzero(ends >= 0)
        before[bodies], after[bodies] = added_up(ends[bodies], on, rooms(s, np.full(len(bodies[0]), SIX)))
        return self.moving(motion, ends, zeros), before, after

    def _forces(self, along_joint):
        """Forces of one sort: functions of their classes, the class of each, and places of these forces."""
        classes, kinds, _ = self.system.force_classes
        sort = np.array([c.along_joint == along_joint for c in classes], bool)
        chosen = np.flatnonzero(sort[kinds]) if len(classes) else np.zeros(0, int)
        return [c.function for c, own in zip(classes, sort) if own], (np.cumsum(sort) - 1)[kinds[chosen]], chosen

    @cached_property
    def _mine(self):
        """Whether each force is my own, 1, or known to everybody, 0."""
        cut = self.system.cut
        return (cut.mine.forces if cut else np.zeros(len(self.system.acting))).astype(int)

    def along(self, s):
        """Forces along the coordinates of joints: places of zeros, of the forces by link, −1 where there are none, and of power
        and potential."""
        zeros, none = s.room(SIX), s.room(2)
        nothing = ca.Function("none", [time], [ca.SX.zeros(SIX), ca.SX.zeros(2)])
        s.call([nothing], ["t", "memory", "memory"], [0], [[0], [zeros], [none]])
        found, sums = np.full(self.n, zeros), np.array([none, none])
        functions, own, chosen = self._forces(along_joint=True)
        links = self.system.pushed[chosen]
        if len(chosen):
            size = self.tree.sizes("dimension")[links]
            before, after = added_up(links, found, rooms(s, size))
            total = added_up(self._mine[chosen], sums, rooms(s, np.full(len(chosen), 2)))
            at = np.zeros(len(chosen), int), self.q[links], self.layout.q + self.v[links], self.laws[chosen]
            vectors = ["t", "x", "x", "constants", *["memory"] * 4]
            s.call(functions, vectors, own, [*at, before, total[0], after, total[1]])
        return zeros, np.where(np.bincount(links, minlength=self.n) > 0, found, -1), sums

    def _pushed(self, s, motion, along, on, zeros):
        """What forces along coordinates do to the two bodies of their joints."""
        links = np.flatnonzero(along >= 0)
        if not len(links):
            return
        classes, kinds = self.system.rows
        own = self.system.row_of_link[links]
        motions, before, after = self._between(s, self.system.touched[own], motion, on, zeros)
        vectors = ["memory", "memory", "constants", *["memory"] * 5]
        places = [*motions.T, self.frames[own], along[links], *before.T, *after.T]
        s.call([_pushing(c) for c in classes], vectors, kinds[own], places)

    # joints

    def joints(self, s, motion, found, linear, vector, at):
        """Accelerations of the joints, or changes of their velocities, from those of the bodies, written to some vector."""
        zeros = s.room(SIX)
        s.call([ca.Function("none", [time], [ca.SX.zeros(SIX)])], ["t", "memory"], [0], [[0], [zeros]])
        link = rooms(s, np.full(self.n, SIX))
        above = np.where(self.tree.parents >= 0, link[self.tree.parents], zeros)
        vectors = ["x", motion.vector, "constants", *["memory"] * 5, vector]
        places = [
            self.q,
            motion.offset + self.v,
            motion.data,
            motion.above,
            motion.link,
            found,
            above,
            link,
            at + self.v,
        ]
        which = "changed" if linear else "accelerated"
        s.call([getattr(c, which) for c in self.link_classes], vectors, self.kinds, places)

    def adopted(self):
        """A kernel (t, x, V) → w: velocities of the joints from those of all bodies, (ẋ, ω) of each."""
        s = Schedule("adopted", {"t": 1, "x": self.layout.x, "V": SIX * self.n}, {"w": self.layout.v}, self.constants)
        motion, found, every = self.motion(s), rooms(s, np.full(self.n, SIX)), np.arange(SIX * self.n)
        blocks(s, lambda x: x, ["V", "memory"], [every, found[0] + every])
        self.joints(s, motion, found, True, "w", 0)
        return s

    def counting(self, name, what):
        """The kernel of the counted angles, or of their rates; what: `coordinates` or `rates` of a class of rows."""
        gives = "turn" if name == "turns" else "spin"
        s = Schedule(name, self.taking("t", "x", "p"), {gives: len(self.turns)}, self.constants)
        chosen = np.array([k for k in self.counted if self.system.loops[k].dof], int)
        if len(self.turns):
            motion, first = self.motion(s), self.system.first_loop
            ends, frames = self.ends(motion)[first:][chosen], self.frames[first:][chosen]
            classes, kinds = self.system.rows
            at = np.array([self.counted[k] for k in chosen.tolist()])
            own = [_angles(c, getattr(c, what)) for c in classes]
            s.call(own, ["memory", "memory", "constants", "p", gives], kinds[first:][chosen], [*ends.T, frames, at, at])
        return s


def added_up(things, sums, after):
    """Places of sums before and after each of several is added to the sum of some thing.

    things   to whose sum each is added, one after the other
    sums     place of the sum of every thing, at last that of the last one
    after    places of the sums after each
    """
    order = np.argsort(things, kind="stable")
    again = things[order][1:] == things[order][:-1]
    before = sums[things]
    before[order[1:][again]] = after[order[:-1][again]]
    sums[things] = after  # of several the last one stays
    return before, after


def _angles(rows, column):
    inputs = [*(end.motion for end in rows.ends), rows.c, rows.turn]
    return function("angles", inputs, [ca.vertcat(*[column[k] for k in rows.angular], ca.SX(0, 1))])


def _pushing(rows):
    """Wrenches on both ends of a joint from the forces along its coordinates: (∂q̇/∂V)ᵀ τ."""
    tau = ca.SX.sym("tau", rows.rates.shape[0])
    before = [ca.SX.sym("before", 0 if held else SIX) for held in rows.held]
    after = [
        b if held else b + ca.jacobian(rows.rates, velocities(end)).T @ tau
        for b, end, held in zip(before, rows.ends, rows.held)
    ]
    return function("pushed", [*(end.motion for end in rows.ends), rows.c, tau, *before], after)
