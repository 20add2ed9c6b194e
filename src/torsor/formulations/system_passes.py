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
from .row_classes import MOTION
from .schedule import Constants, Schedule
from .tree_schedule import kept_numbers, rooms, starts


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
            "t": 1, "x": self.layout.x, "p": self.layout.p, "F": self.F, "gains": 2, "e": self.layout.algebra,
            "xdot": self.layout.algebra, "lam": self.loop_rows,
        }  # fmt: skip
        return {name: sizes[name] for name in names}

    def motion(self, s, vector="x", offset=None):
        """Motion of all links, bodies and grounds; velocities of the joints from some vector."""
        system, tree, offset = self.system, self.tree, self.layout.q if offset is None else offset
        link, body = rooms(s, np.full(self.n, LINK)), rooms(s, np.full(self.n, MOTION))
        grounds = rooms(s, np.full(len(system.model.grounds), MOTION))
        roots = rooms(s, np.full(len(system.model.grounds), LINK))
        x, turn, rest = ca.SX.sym("x", 3), ca.SX.sym("R", 9), ca.SX.zeros(6)
        own = function("still", [ca.vertcat(x, turn)], [ca.vertcat(x, turn, rest), ca.vertcat(turn, x, rest)])
        none = np.zeros(len(grounds), int)
        s.call(
            [own],
            ["constants", "memory", "memory"],
            none,
            [s.keep(system.still) + 12 * np.arange(len(grounds)), grounds, roots],
        )
        above = link[tree.parents]
        for k in np.flatnonzero(tree.parents < 0).tolist():
            above[k] = roots[system.grounds[id(tree.ground(k))]]
        data = kept_numbers(s, self.numbers, self.kinds, [c.data for c in self.link_classes])
        vectors = ["x", vector, "constants", "memory", "memory", "memory"]
        at = [self.q, offset + self.v, data, above, link, body]
        s.call([c.moved for c in self.link_classes], vectors, self.kinds, at)
        return Motions(link, body, grounds, above, data, vector, offset)

    def ends(self, motion):
        """Places of the motions of both ends of every constraint."""
        ground = lambda body: motion.grounds[self.system.grounds[id(body)]]
        pairs = zip(self.system.constraints, self.system.ends)
        both = [
            [ground(c.first) if a is None else motion.body[a], ground(c.second) if b is None else motion.body[b]]
            for c, (a, b) in pairs
        ]
        return np.array(both, int).reshape(-1, 2)

    def frames(self, s):
        """Places of the numbers of every constraint."""
        classes, kinds = self.system.rows
        return kept_numbers(s, self.system.frames, kinds, [c.data for c in classes])

    def applied(self, s, motion):
        """Wrenches on all bodies: places; those of power and potential of the forces, all that everybody knows, and my own."""
        zeros, along, sums = self.along(s)
        on = np.full(self.n, zeros)
        table: list = []
        functions, own, chosen = self._forces(s, along_joint=False)
        for k, data in chosen:
            row = self._between(s, self.system.acted_on[k], motion, on, zeros)
            total, sums[self._mine[k]] = sums[self._mine[k]], s.room(2)
            table.append([0, *row["motion"], data, *row["before"], total, *row["after"], sums[self._mine[k]]])
        if table:
            vectors = ["t", "memory", "memory", "constants", *["memory"] * 6]
            s.call(functions, vectors, own, list(np.array(table).T))
        self._pushed(s, motion, along, on, zeros)
        return on, sums

    def _between(self, s, bodies, motion, on, zeros):
        """Places for what acts between one or two bodies: their motions, wrenches on them before and after it."""
        row = {"motion": [zeros, zeros], "before": [zeros, zeros], "after": [zeros, zeros]}
        for i, body in enumerate(bodies):
            place = self.system.end(body)
            if place is None:
                row["motion"][i] = motion.grounds[self.system.grounds[id(body)]]
            else:
                row["motion"][i], row["before"][i] = motion.body[place], on[place]
                row["after"][i] = on[place] = s.room(SIX)
        return row

    def _forces(self, s, along_joint):
        """Forces of one sort: functions of their classes, the class of each, and pairs of a force and the place of its numbers."""
        classes, kinds, data = self.system.force_classes
        number = {kind: n for n, kind in enumerate(k for k, c in enumerate(classes) if c.along_joint == along_joint)}
        chosen = [k for k, kind in enumerate(kinds.tolist()) if kind in number]
        keep = lambda numbers: s.keep(numbers) if len(numbers) else 0
        places = [(k, keep(data[k][classes[kinds[k]].data])) for k in chosen]
        return [classes[kind].function for kind in number], [number[kinds[k]] for k in chosen], places

    @cached_property
    def _mine(self):
        """Whether each force is my own, 1, or known to everybody, 0."""
        cut = self.system.cut
        return (cut.mine.forces if cut else np.zeros(len(self.system.acting))).astype(int)

    def along(self, s):
        """Forces along the coordinates of joints: places of zeros, of the forces by link, and of power and potential."""
        zeros, none = s.room(SIX), s.room(2)
        nothing = ca.Function("none", [time], [ca.SX.zeros(SIX), ca.SX.zeros(2)])
        s.call([nothing], ["t", "memory", "memory"], [0], [[0], [zeros], [none]])
        found: dict = {}
        sums, table = [none, none], []
        functions, own, chosen = self._forces(s, along_joint=True)
        for k, data in chosen:
            joint = self.system.parts[k].ends[0]
            link = self.system.turning(joint)
            before, found[link] = found.get(link, zeros), s.room(joint.dof)
            total, sums[self._mine[k]] = sums[self._mine[k]], s.room(2)
            at = self.q[link], self.layout.q + self.v[link]
            table.append([0, *at, data, before, total, found[link], sums[self._mine[k]]])
        if table:
            vectors = ["t", "x", "x", "constants", *["memory"] * 4]
            s.call(functions, vectors, own, list(np.array(table).T))
        return zeros, found, sums

    def _pushed(self, s, motion, along, on, zeros):
        """What forces along coordinates do to the two bodies of their joints."""
        if not along:
            return
        classes, kinds = self.system.rows
        place = {id(c): k for k, c in enumerate(self.system.constraints)}
        frames, table, own = self.frames(s), [], []
        for link, at in along.items():
            joint = self.tree.joints[link]
            row = self._between(s, (joint.first, joint.second), motion, on, zeros)
            k = place[id(joint)]
            own.append(kinds[k])
            table.append([*row["motion"], frames[k], at, *row["before"], *row["after"]])
        vectors = ["memory", "memory", "constants", *["memory"] * 5]
        s.call([_pushing(c) for c in classes], vectors, own, list(np.array(table).T))

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
            ends, frames = self.ends(motion)[first:][chosen], self.frames(s)[first:][chosen]
            classes, kinds = self.system.rows
            at = np.array([self.counted[k] for k in chosen.tolist()])
            own = [_angles(c, getattr(c, what)) for c in classes]
            s.call(own, ["memory", "memory", "constants", "p", gives], kinds[first:][chosen], [*ends.T, frames, at, at])
        return s


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
