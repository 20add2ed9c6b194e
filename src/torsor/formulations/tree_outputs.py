"""What a result of a large system holds, as a schedule: motion outward, wrenches inward, and sums, over classes of links.

For each link, from its parent's motion (R, o, u in the world; ω, α, a in the frame of the link, gravity in a as an acceleration
of the roots) and from its own x, v and v̇:

    x = o + R c,     ẍ = R (a + α × c + ω × (ω × c)) + g                                                (1)
    (n, f) = I (α, a) + (ω × J ω, m ω × (ω × c)) − what is applied + those of all beyond it             (2)

(2) is what its joint transmits; forces and the constraints that close loops are applied (`loop_outputs.py`).
"""

from typing import NamedTuple

import casadi as ca
import numpy as np

from ..describe import quantity
from ..describe.quantity import time
from ..lie import Rn, se3, so3
from . import recursions, spatial
from .classes import TENSOR, described, folded, function, split_column
from .group_schedule import blocks
from .loop_outputs import LoopOutputs
from .schedule import Schedule
from .told_signals import BODY, tell
from .tree import velocity_terms
from .tree_schedule import handed_on, rooms, starts

MOTION = (9, 3, 3, 3, 3, 3)  # R, o, u, ω, α, a
JOINT = (9, 3)  # E, d
WRENCH = 6


class Class(NamedTuple):
    """Functions of a class of links, and which numbers are data of its links."""

    seen: ca.Function
    transmitted: ca.Function
    data: np.ndarray


class Outputs:
    """The kernel `outputs` of a large system.

    kernels   of the system, whose passes it shares;   parts: names and sizes of the outputs, in their order
    signals   that are recorded, by name
    """

    def __init__(self, kernels, parts, signals=()):
        self.kernels, self.system, self.tree, self.n = kernels, kernels.system, kernels.tree, kernels.n
        self.cut = self.system.cut
        self.layout, self.q, self.v, self.kinds = kernels.layout, kernels.q, kernels.v, kernels.kinds
        takes = kernels.taking("t", "x", "p", "xdot", "lam")
        self.schedule = s = Schedule("outputs", takes, {"row": sum(size for _, size in parts)}, kernels.constants)
        self.at = dict(zip([name for name, _ in parts], starts([size for _, size in parts])))
        self.gravity = quantity.numbers(self.tree.model.gravity).ravel()
        numbers, _, members = self.system.links
        self.classes = [self._class(self.system.turned.branch(m[0]), numbers[m]) for m in members]
        self.data = kernels.data
        self.zeros = s.room(WRENCH)
        s.call([ca.Function("none", [time], [ca.SX.zeros(WRENCH)])], ["t", "memory"], [0], [[0], [self.zeros]])
        self.loops = LoopOutputs(kernels, s, self.at) if self.system.loops or self.system.acting else None
        self._outward()
        self._inward()
        self._joints()
        self._sums()
        tell(s, self.tree.model, self.system.shown, self.at, dict(signals))

    def _class(self, branch, numbers):
        column, c, data = folded(numbers)
        link, own, mass, center = described(branch, column)
        B, a = ca.reshape(column[TENSOR:], 3, 3), ca.SX.sym("a", link.v.shape[0])
        above, sums, applied = ca.SX.sym("above", sum(MOTION)), ca.SX.sym("sums", 2), ca.SX.sym("applied", WRENCH)
        R, o, u, w, alpha, linear = split_column(above, MOTION)
        R, E, d = ca.reshape(R, 3, 3), link.E, link.d
        turning, Rk = E.T @ w + link.spin, R @ E
        u = u + R @ spatial.cross(w, d) + Rk @ link.slide
        b_w, b_v = velocity_terms(E, d, w, link.spin, link.slide, link.spin_bias, link.slide_bias)
        alpha, linear = recursions.inherited(alpha, linear, b_w, b_v, E, d)
        alpha, linear, o = alpha + link.S_w @ a, linear + link.S_v @ a, o + R @ d
        x, speed = o + Rk @ center, u + Rk @ spatial.cross(turning, center)
        swing = spatial.cross(turning, spatial.cross(turning, center))
        accelerated = Rk @ (linear + spatial.cross(alpha, center) + swing) + self.gravity  # (1)
        need, velocity = own.times((alpha, linear)), recursions.velocity_wrench(own, center, mass, turning)
        force, torque = split_column(applied, (3, 3))
        force = Rk.T @ force
        n, f = need[0] + velocity[0] - B.T @ torque - spatial.cross(center, force), need[1] + velocity[1] - force
        wrench = ca.vertcat(n, f)  # (2)
        C = spatial.skew(center)
        T = mass * ca.sumsqr(speed) / 2 + ca.dot(turning, (own.J + mass * (C @ C)) @ turning) / 2
        U = -mass * ca.dot(self.gravity, x)
        motion = ca.vertcat(ca.vec(Rk), o, u, turning, alpha, linear, ca.vec(ca.densify(E)), d)
        body = [x, ca.vec(Rk @ B.T), speed, B @ turning, accelerated, B @ alpha]
        seen = function(
            "seen", [link.x, link.v, a, c, above, sums, applied], [motion, wrench, sums + ca.vertcat(T, U), *body]
        )
        return Class(seen, _transmitted(branch, column, c), data)

    def _outward(self):
        s, n, tree = self.schedule, self.n, self.tree
        self.motion, self.wrench = rooms(s, np.full(n, sum(MOTION) + sum(JOINT))), rooms(s, np.full(n, WRENCH))
        self.sums, applied = s.room(2 * (n + 1)), np.full(n, self.zeros) if self.loops is None else self.loops.on
        s.call([ca.Function("none", [time], [ca.SX.zeros(2)])], ["t", "memory"], [0], [[0], [self.sums]])
        counts = np.ones(n, bool) if self.cut is None else self.cut.counted
        before = np.where(counts, self.sums + 2 * (np.cumsum(counts) - 1), self.zeros)
        after = np.where(counts, before + 2, s.room(2))
        self.sums += 2 * np.count_nonzero(counts)
        above = np.where(tree.parents >= 0, self.motion[tree.parents], self._roots()[self.system.hung])
        place = {id(body): k for k, body in enumerate(self.system.shown.bodies)}
        body = np.array([place[id(b)] for b in tree.bodies])
        vectors = ["x", "x", "xdot", "constants", *["memory"] * 6, *["row"] * len(BODY)]
        at = [
            self.q, self.layout.q + self.v, self.layout.v + self.v, self.data, above, before, applied,
            self.motion, self.wrench, after, *(self.at[name] + size * body for name, size in BODY.items()),
        ]  # fmt: skip
        s.call([c.seen for c in self.classes], vectors, self.kinds, at)

    def _roots(self):
        """Places of the motions of the grounds."""
        s, count, pose = self.schedule, len(self.system.still), ca.SX.sym("pose", 12)
        x, turn = split_column(pose, (3, 9))
        falling = -(ca.reshape(turn, 3, 3).T @ ca.SX(self.gravity))
        own = function("root", [pose], [ca.vertcat(turn, x, ca.SX.zeros(9), falling)])
        at, none = rooms(s, np.full(count, sum(MOTION))), np.zeros(count, int)
        s.call([own], ["constants", "memory"], none, [self.kernels.still, at])
        return at

    def _inward(self):
        s, n = self.schedule, self.n
        self.up, self.reaction = rooms(s, np.full(n, WRENCH)), rooms(s, np.full(n, WRENCH))
        if self.cut is None:
            self._transmit(np.arange(n), self.tree.parents, self.wrench)
            return
        known = np.arange(n) < self.cut.known
        beyond = self._transmit(np.flatnonzero(~known), np.where(known, -1, self.tree.parents), self.wrench)
        self._transmit(np.flatnonzero(known), self.tree.parents[known], self._told(beyond))

    def _transmit(self, links, parents, wrench):
        """Hand on wrenches from the last to the first of some links. Returns places of what is beyond each."""
        before, beyond = handed_on(parents, self.up, self.zeros)
        back = links[::-1]
        at = [x[back] for x in (self.data, self.motion, wrench, beyond, before, self.up, self.reaction)]
        if len(back):
            self.schedule.call(
                [c.transmitted for c in self.classes], ["constants", *["memory"] * 6], self.kinds[back], at
            )
        return beyond

    def _told(self, beyond):
        """Places of the wrenches that known bodies need, with what all ranks have beyond them; these tell each other."""
        s, cut = self.schedule, self.cut
        counts = [WRENCH * len(bodies) for bodies in cut.touched]
        first = s.room(sum(counts))
        at = iter(first + WRENCH * np.arange(sum(counts) // WRENCH))
        told = [[(k, next(at)) for k in bodies] for bodies in cut.touched]
        own = [(self.wrench[k] if cut.mine.bodies[k] else self.zeros, beyond[k], place) for k, place in told[cut.rank]]
        self._added(own)
        s.exchange("memory", first, counts)
        total = np.full(self.n, self.zeros)
        trunk = np.setdiff1d(cut.massive, np.flatnonzero(cut.mine.bodies))
        total[trunk] = self.wrench[trunk]
        rows = []
        for k, place in (pair for several in told for pair in several):
            rows.append((total[k], place, s.room(WRENCH)))
            total[k] = rows[-1][-1]
        self._added(rows)
        return total

    def _added(self, rows):
        """Sums of two wrenches each: places of both, and of the sum."""
        a, b = ca.SX.sym("a", WRENCH), ca.SX.sym("b", WRENCH)
        if rows:
            places = list(np.array(rows).T)
            self.schedule.call([function("sum", [a, b], [a + b])], ["memory"] * 3, np.zeros(len(rows), int), places)

    def _joints(self):
        """Coordinates and reactions of the joints that the model has, in its order."""
        tree, shown = self.tree, self.system.shown
        joints, connections = (
            {id(c): k for k, c in enumerate(several)} for several in (shown.joints, shown.constraints)
        )
        links = np.array([k for k, joint in enumerate(tree.joints) if id(joint) in joints])
        if not len(links):
            return
        own = np.array([joints[id(tree.joints[k])] for k in links.tolist()])
        first, held = (
            starts([joint.dof for joint in shown.joints])[own],
            np.array([connections[id(tree.joints[k])] for k in links]),
        )
        classes = [_told(group, joint.dof) for group, joint in zip(tree.groups, tree.examples)]
        vectors = ["x", "x", "xdot", "memory", *["row"] * 5]
        at = [
            self.q[links], self.layout.q + self.v[links], self.layout.v + self.v[links], self.reaction[links],
            *(self.at[name] + first for name in ("coordinate", "rate", "coordinate_acceleration")),
            *(self.at[name] + 3 * held for name in ("reaction_force", "reaction_torque")),
        ]  # fmt: skip
        self.schedule.call(classes, vectors, tree.traces[links], at)

    def _sums(self):
        """Multipliers, energies, and how far constraints have drifted."""
        rows = np.arange(self.kernels.loop_rows)
        blocks(self.schedule, lambda x: x, ["lam", "row"], [rows, self.at["multiplier"] + rows])
        both, drift = ca.SX.sym("sums", 2), ca.SX.sym("drift", 2)
        U = [ca.SX.sym("U"), ca.SX.sym("U")]  # of forces that everybody knows, and of others
        last = ca.Function("energies", [both, *U, drift], [both[0], both[1] + U[0] + U[1], drift[0], drift[1]])
        names = ("kinetic_energy", "potential_energy", "position_drift", "velocity_drift")
        more = [self.zeros] * 3 if self.loops is None else [*self.loops.potentials, self.loops.drift]
        if self.cut and self.cut.rank:  # what everybody knows is counted once
            more[0] = self.zeros
        if self.loops is not None:
            self.loops.joints(self.schedule, self.at)
        places = [[self.sums], *([at] for at in more), *([self.at[name]] for name in names)]
        self.schedule.call([last], ["memory"] * 4 + ["row"] * 4, [0], places)


def _transmitted(branch, column, c):
    """What a link hands on to its parent, and the wrench on the second body of its joint in world axes: (2)."""
    motion, own = ca.SX.sym("motion", sum(MOTION) + sum(JOINT)), ca.SX.sym("own", WRENCH)
    beyond, before = ca.SX.sym("beyond", WRENCH), ca.SX.sym("before", WRENCH)
    R, *_, E, d = split_column(motion, MOTION + JOINT)
    R, E = ca.reshape(R, 3, 3), ca.reshape(E, 3, 3)
    n, f = split_column(own + beyond, (3, 3))
    up_f = E @ f
    up = ca.vertcat(E @ n + spatial.cross(d, up_f), up_f)
    force, torque = R @ f, R @ n
    if branch.reversed:  # it acts on the parent there, at the frame of the joint
        arm = R @ (E.T @ (d - se3.split_pose(described(branch, column)[0].fixed)[1]))
        force, torque = -force, -torque - ca.cross(arm, force)
    return function("transmitted", [c, motion, own, beyond, before], [before + up, ca.vertcat(force, torque)])


def _told(group, dof):
    """Coordinates, velocities, accelerations and reaction of a joint, as results hold them."""
    x, v, a = (ca.SX.sym("x", group.size), ca.SX.sym("v", group.dimension), ca.SX.sym("a", group.dimension))
    reaction = ca.SX.sym("reaction", WRENCH)
    q = x if isinstance(group, Rn) else so3.log(group.matrix(x))
    return function("told", [x, v, a, reaction], [q, v, a, *split_column(reaction, (3, 3))])
