"""What a result of a large tree holds, as a schedule: motion outward, wrenches inward, and sums, over classes of links.

For each link, from its parent's motion (R, o, u in the world; ω, α, a in the frame of the link, gravity in a as an acceleration
of the roots) and from its own x, v and v̇:

    x = o + R c,     ẍ = R (a + α × c + ω × (ω × c)) + g                                                (1)
    (n, f) = I (α, a) + (ω × J ω, m ω × (ω × c)) + those of all beyond it                               (2)

(2) is what its joint transmits.
"""

from typing import NamedTuple

import casadi as ca
import numpy as np

from ..describe import quantity
from ..describe.quantity import time
from ..lie import Rn, poses, se3, so3
from . import recursions, spatial
from .classes import TENSOR, described, folded, function, grouped, without_traces
from .schedule import Schedule
from .tree import Root, velocity_terms
from .tree_schedule import handed_on, kept_numbers, rooms, starts

MOTION = (9, 3, 3, 3, 3, 3)  # R, o, u, ω, α, a
JOINT = (9, 3)  # E, d
WRENCH = 6
BODY = {
    "position": 3,
    "rotation": 9,
    "velocity": 3,
    "angular_velocity": 3,
    "acceleration": 3,
    "angular_acceleration": 3,
}


class Class(NamedTuple):
    """Functions of a class of links, and which numbers are data of its links."""

    seen: ca.Function
    transmitted: ca.Function
    data: np.ndarray


def outputs_of_tree(turned, layout, parts):
    """The kernel `outputs` of a tree that nothing but gravity acts on.

    parts   names and sizes of the outputs, in their order
    """
    return _Outputs(turned, layout, parts).schedule


class _Outputs:
    def __init__(self, turned, layout, parts):
        self.turned, self.tree, self.layout, self.n = turned, turned.tree, layout, turned.tree.n
        takes = {"t": 1, "x": layout.x, "p": layout.p, "xdot": layout.algebra, "lam": 0}
        self.schedule = s = Schedule("outputs", takes, gives={"row": sum(size for _, size in parts)})
        self.at = dict(zip([name for name, _ in parts], starts([size for _, size in parts])))
        self.gravity = quantity.numbers(self.tree.model.gravity).ravel()
        inner = poses.split(self.tree.frames[1])[0] @ turned.Q  # axes of the link's frame in the body's
        numbers = np.column_stack([turned.numbers, without_traces(inner.transpose(0, 2, 1).reshape(-1, 9))])
        self.kinds, members = grouped(turned.key(), numbers)
        self.classes = [self._class(turned.branch(rows[0]), numbers[rows]) for rows in members]
        self.data = kept_numbers(s, numbers, self.kinds, [c.data for c in self.classes])
        self.q, self.v = (starts(self.tree.sizes(what)) for what in ("size", "dimension"))
        self._outward()
        self._inward()
        self._joints()
        self._sums()

    def _class(self, branch, numbers):
        column, c, data = folded(numbers)
        link, own, mass, center = described(branch, column)
        B, a = ca.reshape(column[TENSOR:], 3, 3), ca.SX.sym("a", link.v.shape[0])
        above, sums = ca.SX.sym("above", sum(MOTION)), ca.SX.sym("sums", 2)
        R, o, u, w, alpha, linear = _split(above, MOTION)
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
        wrench = ca.vertcat(need[0] + velocity[0], need[1] + velocity[1])  # (2)
        C = spatial.skew(center)
        T = mass * ca.sumsqr(speed) / 2 + ca.dot(turning, (own.J + mass * (C @ C)) @ turning) / 2
        U = -mass * ca.dot(self.gravity, x)
        motion = ca.vertcat(ca.vec(Rk), o, u, turning, alpha, linear, ca.vec(ca.densify(E)), d)
        body = [x, ca.vec(Rk @ B.T), speed, B @ turning, accelerated, B @ alpha]
        seen = function("seen", [link.x, link.v, a, c, above, sums], [motion, wrench, sums + ca.vertcat(T, U), *body])
        return Class(seen, _transmitted(branch, column, c), data)

    def _outward(self):
        s, n, tree, every = self.schedule, self.n, self.tree, np.arange(self.n)
        self.motion, self.wrench = rooms(s, np.full(n, sum(MOTION) + sum(JOINT))), rooms(s, np.full(n, WRENCH))
        self.sums, self.zeros = s.room(2 * (n + 1)), s.room(WRENCH)
        zeros = ca.Function("none", [time], [ca.SX.zeros(2), ca.SX.zeros(WRENCH)])
        s.call([zeros], ["t", "memory", "memory"], [0], [[0], [self.sums], [self.zeros]])
        above, known = self.motion[tree.parents], {}
        for k in np.flatnonzero(tree.parents < 0).tolist():
            ground = tree.ground(k)
            if id(ground) not in known:
                known[id(ground)] = s.room(sum(MOTION))
                root = Root(ground, tree.model.gravity)
                parts = (ca.vec(root.rotation), root.position, root.velocity, root.w, root.alpha, root.a)
                own = ca.Function("root", [time], [ca.densify(ca.vertcat(*parts))])
                s.call([own], ["t", "memory"], [0], [[0], [known[id(ground)]]])
            above[k] = known[id(ground)]
        place = {id(body): k for k, body in enumerate(tree.model.bodies)}
        body = np.array([place[id(b)] for b in tree.bodies])
        vectors = [
            "x",
            "x",
            "xdot",
            "constants",
            "memory",
            "memory",
            "memory",
            "memory",
            "memory",
            *["row"] * len(BODY),
        ]
        at = [
            self.q, self.layout.q + self.v, self.layout.v + self.v, self.data, above, self.sums + 2 * every, self.motion,
            self.wrench, self.sums + 2 * every + 2, *(self.at[name] + size * body for name, size in BODY.items()),
        ]  # fmt: skip
        s.call([c.seen for c in self.classes], vectors, self.kinds, at)

    def _inward(self):
        s, n, back = self.schedule, self.n, np.arange(self.n)[::-1]
        up, self.reaction = rooms(s, np.full(n, WRENCH)), rooms(s, np.full(n, WRENCH))
        before, beyond = handed_on(self.tree.parents, up, self.zeros)
        at = [self.data, self.motion, self.wrench, beyond, before, up, self.reaction]
        vectors = ["constants", *["memory"] * 6]
        s.call([c.transmitted for c in self.classes], vectors, self.kinds[back], [x[back] for x in at])

    def _joints(self):
        """Coordinates and reactions of the joints that the model has, in its order."""
        tree, model = self.tree, self.tree.model
        joints = {id(joint): k for k, joint in enumerate(model.joints)}
        links = np.array([k for k, joint in enumerate(tree.joints) if id(joint) in joints])
        if not len(links):
            return
        own = np.array([joints[id(tree.joints[k])] for k in links.tolist()])
        first = starts([joint.dof for joint in model.joints])[own]
        classes = [_told(group, joint.dof) for group, joint in zip(tree.groups, tree.examples)]
        vectors = ["x", "x", "xdot", "memory", *["row"] * 5]
        at = [
            self.q[links], self.layout.q + self.v[links], self.layout.v + self.v[links], self.reaction[links],
            *(self.at[name] + first for name in ("coordinate", "rate", "coordinate_acceleration")),
            *(self.at[name] + 3 * own for name in ("reaction_force", "reaction_torque")),
        ]  # fmt: skip
        self.schedule.call(classes, vectors, tree.traces[links], at)

    def _sums(self):
        """Energies, and constraints that do not drift."""
        both = ca.SX.sym("sums", 2)
        last = ca.Function("energies", [both], [both[0], both[1], ca.SX(0), ca.SX(0)])
        names = ("kinetic_energy", "potential_energy", "position_drift", "velocity_drift")
        places = [[self.sums + 2 * self.n], *([self.at[name]] for name in names)]
        self.schedule.call([last], ["memory", *["row"] * 4], [0], places)


def _transmitted(branch, column, c):
    """What a link hands on to its parent, and the wrench on the second body of its joint in world axes: (2)."""
    motion, own = ca.SX.sym("motion", sum(MOTION) + sum(JOINT)), ca.SX.sym("own", WRENCH)
    beyond, before = ca.SX.sym("beyond", WRENCH), ca.SX.sym("before", WRENCH)
    R, *_, E, d = _split(motion, MOTION + JOINT)
    R, E = ca.reshape(R, 3, 3), ca.reshape(E, 3, 3)
    n, f = _split(own + beyond, (3, 3))
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
    return function("told", [x, v, a, reaction], [q, v, a, *_split(reaction, (3, 3))])


def _split(column, sizes):
    return ca.vertsplit(column, np.cumsum([0, *sizes]).tolist())
