"""The outputs of a large system as a schedule: motion outward, wrenches inward, and sums, over classes of links.

The motion of a link is R, o, u in the world and ω, α, a in its frame; gravity is included in a as an acceleration of the roots.
It follows from the motion of the parent and from the link's own x, v and v̇:

    x = o + R c,     ẍ = R (a + α × c + ω × (ω × c)) + g                                                (1)
    (n, f) = I (α, a) + (ω × J ω, m ω × (ω × c)) − applied wrench + sum of (n, f) over the children       (2)

(2) is the wrench that its joint transmits. Forces and constraints that close loops are applied wrenches (`loop_outputs.py`).
"""

from typing import NamedTuple

import casadi as ca
import numpy as np

from ...elements import quantity
from ...elements.quantity import time
from ...lie import se3, so3
from ..algebra import recursions, spatial_algebra
from ..algebra.tree_kinematics import velocity_terms
from ..output_layout import OutputLayout
from ..schedules.schedule import Schedule
from .expression_passes import OUTPUT_SIZES, OutputPlaces, add_expressions
from .group_schedule import call_in_blocks
from .loop_outputs import LoopOutputs
from .moving_grounds import add_output_motions
from .recursion_classes import ARMATURE_END, fold_constants, function, link_from_numbers, split_column
from .tree_schedule import allocate_blocks, block_offsets, child_sum_offsets

MOTION = (9, 3, 3, 3, 3, 3)  # R, o, u, ω, α, a
JOINT = (9, 3, 6)  # E, d, wrench of a rotor on the body
WRENCH = 6


class OutputClass(NamedTuple):
    """Functions of a class of links; data: indices of the numbers that are data of each link."""

    outward: ca.Function
    inward: ca.Function
    data: np.ndarray


class Outputs:
    """The kernel `outputs` of a large system.

    kernels   passes of the system
    parts     names and sizes of the outputs, in their order
    signals   recorded signals by name
    into      name and results of a kernel that keeps the outputs in its memory and computes other results from them; None: the
              outputs are the result
    row       the vector of the outputs, and `offsets` of each quantity in it
    """

    def __init__(self, kernels, parts, signals=(), into=None):
        self.kernels = kernels
        self.system = kernels.system
        self.tree = kernels.tree
        self.n = kernels.n
        self.cut = self.system.cut
        self.layout = kernels.layout
        self.q = kernels.q
        self.v = kernels.v
        self.kinds = kernels.kinds
        takes = kernels.inputs("t", "x", "p", "xdot", "lam")
        outputs = OutputLayout(parts)
        name, gives = ("outputs", {"row": outputs.size}) if into is None else into
        self.schedule = s = Schedule(name, takes, gives, kernels.constants)
        self.row, first = ("row", 0) if into is None else ("memory", s.reserve(outputs.size))
        self.offsets = {name: first + part.start for name, part in outputs.slices.items()}
        self.gravity = quantity.numbers(self.tree.model.gravity).ravel()
        numbers, _, members = self.system.links
        self.classes = [self._build_class(self.system.z_aligned.branch(m[0]), numbers[m]) for m in members]
        self.data = kernels.data
        self.zeros = s.reserve(WRENCH)
        s.call([ca.Function("none", [time], [ca.SX.zeros(WRENCH)])], ["t", "memory"], [0], [[0], [self.zeros]])
        self.loops = (
            LoopOutputs(kernels, s, self.offsets, self.row)
            if self.system.loops or self.system.forces or self.system.groups
            else None
        )
        self._outward()
        self._inward()
        self._joints()
        self._sums()
        self.places = OutputPlaces(kernels, self.row, self.offsets)
        if signals:
            targets = self.offsets["signals"] + np.arange(len(signals))
            add_expressions(s, dict(signals).values(), self.places, self.row, targets)

    def _build_class(self, branch, numbers):
        column, c, data = fold_constants(numbers)
        link, own, mass, center = link_from_numbers(branch, column)
        B = ca.reshape(column[ARMATURE_END:], 3, 3)  # link axes to body axes
        a = ca.SX.sym("a", link.v.shape[0])
        parent = ca.SX.sym("above", sum(MOTION))
        sums = ca.SX.sym("sums", 2)
        applied = ca.SX.sym("applied", WRENCH)
        R, o, u, w_parent, alpha, linear = split_column(parent, MOTION)
        R = ca.reshape(R, 3, 3)
        E = link.E
        d = link.d
        w = E.T @ w_parent + link.spin
        R_link = R @ E
        u = u + R @ spatial_algebra.cross(w_parent, d) + R_link @ link.slide
        b_w, b_v = velocity_terms(E, d, w_parent, link.spin, link.slide, link.spin_bias, link.slide_bias)
        alpha, linear = recursions.acceleration_from_parent(alpha, linear, b_w, b_v, E, d)
        alpha = alpha + link.S_w @ a
        linear = linear + link.S_v @ a
        o = o + R @ d
        x = o + R_link @ center
        velocity = u + R_link @ spatial_algebra.cross(w, center)
        centripetal = spatial_algebra.cross(w, spatial_algebra.cross(w, center))
        acceleration = R_link @ (linear + spatial_algebra.cross(alpha, center) + centripetal) + self.gravity  # (1)
        inertial = own.times((alpha, linear))
        gyroscopic = recursions.velocity_wrench(own, center, mass, w)
        force, torque = split_column(applied, (3, 3))
        force = R_link.T @ force
        n = inertial[0] + gyroscopic[0] - B.T @ torque - spatial_algebra.cross(center, force)
        f = inertial[1] + gyroscopic[1] - force
        wrench = ca.vertcat(n, f)  # (2)
        C = spatial_algebra.skew(center)
        T = mass * ca.sumsqr(velocity) / 2 + ca.dot(w, (own.J + mass * (C @ C)) @ w) / 2
        U = -mass * ca.dot(self.gravity, x)
        T += sum(ca.dot(A, link.v**2) / 2 for A in link.armature)
        rotor = _rotor_wrench(link, a)
        motion = ca.vertcat(ca.vec(R_link), o, u, w, alpha, linear, ca.vec(ca.densify(E)), d, rotor)
        body = [x, ca.vec(R_link @ B.T), velocity, B @ w, acceleration, B @ alpha]
        arguments = [link.x, link.v, a, c, parent, sums, applied]
        outward = function("outward", arguments, [motion, wrench, sums + ca.vertcat(T, U), *body])
        return OutputClass(outward, _inward_function(branch, column, c), data)

    def _outward(self):
        """Append the motion and the wrench of each link, the outputs of the bodies, and the sums of their energies."""
        s = self.schedule
        n = self.n
        tree = self.tree
        self.motion = allocate_blocks(s, np.full(n, sum(MOTION) + sum(JOINT)))
        self.wrench = allocate_blocks(s, np.full(n, WRENCH))
        self.sums = s.reserve(2 * (n + 1))
        applied = np.full(n, self.zeros) if self.loops is None else self.loops.wrenches
        s.call([ca.Function("none", [time], [ca.SX.zeros(2)])], ["t", "memory"], [0], [[0], [self.sums]])
        counts = np.ones(n, bool) if self.cut is None else self.cut.counted
        before = np.where(counts, self.sums + 2 * (np.cumsum(counts) - 1), self.zeros)
        after = np.where(counts, before + 2, s.reserve(2))
        self.sums += 2 * np.count_nonzero(counts)
        parent = np.where(
            tree.parents >= 0,
            self.motion[tree.parents],
            add_output_motions(s, self.kernels, self.gravity, sum(MOTION))[self.system.ground_of_link],
        )
        index = {id(body): k for k, body in enumerate(self.system.shown.bodies)}
        body = np.array([index[id(b)] for b in tree.bodies])
        vectors = ["x", "x", "xdot", "constants", *["memory"] * 6, *[self.row] * len(OUTPUT_SIZES)]
        offsets = [
            self.q, self.layout.q + self.v, self.layout.v + self.v, self.data, parent, before, applied,
            self.motion, self.wrench, after, *(self.offsets[name] + size * body for name, size in OUTPUT_SIZES.items()),
        ]  # fmt: skip
        s.call([c.outward for c in self.classes], vectors, self.kinds, offsets)

    def _inward(self):
        """Append the wrenches that the joints transmit."""
        s = self.schedule
        n = self.n
        self.transmitted = allocate_blocks(s, np.full(n, WRENCH))
        self.reaction = allocate_blocks(s, np.full(n, WRENCH))
        if self.cut is None:
            self._transmit(np.arange(n), self.tree.parents, self.wrench)
            return
        known = np.arange(n) < self.cut.known
        children = self._transmit(np.flatnonzero(~known), np.where(known, -1, self.tree.parents), self.wrench)
        self._transmit(np.flatnonzero(known), self.tree.parents[known], self._sum_over_ranks(children))

    def _transmit(self, links, parents, wrench):
        """Append the transmission of wrenches from the last to the first of some links. Returns for each link the offset of the
        sum over its children."""
        siblings, children = child_sum_offsets(parents, self.transmitted, self.zeros)
        order = links[::-1]
        vectors = ["constants", *["memory"] * 6]
        arguments = (self.data, self.motion, wrench, children, siblings, self.transmitted, self.reaction)
        offsets = [x[order] for x in arguments]
        if len(order):
            self.schedule.call([c.inward for c in self.classes], vectors, self.kinds[order], offsets)
        return children

    def _sum_over_ranks(self, children):
        """Append an exchange of the wrenches on known bodies, and their sums over all ranks. Returns the offsets of the sums.

        children   for each link the offset of the sum over its children on this rank
        """
        s = self.schedule
        cut = self.cut
        counts = [WRENCH * len(bodies) for bodies in cut.touched]
        first = s.reserve(sum(counts))
        offsets = iter(first + WRENCH * np.arange(sum(counts) // WRENCH))
        exchanged = [[(k, next(offsets)) for k in bodies] for bodies in cut.touched]
        self._add_wrenches(
            [(self.wrench[k] if cut.own.bodies[k] else self.zeros, children[k], at) for k, at in exchanged[cut.rank]]
        )
        s.exchange("memory", first, counts)
        total = np.full(self.n, self.zeros)
        trunk = np.setdiff1d(cut.massive, np.flatnonzero(cut.own.bodies))
        total[trunk] = self.wrench[trunk]
        rows = []
        for k, at in (pair for of_rank in exchanged for pair in of_rank):
            rows.append((total[k], at, s.reserve(WRENCH)))
            total[k] = rows[-1][-1]
        self._add_wrenches(rows)
        return total

    def _add_wrenches(self, rows):
        """Append sums of two wrenches; rows: offsets of both and of their sum."""
        a = ca.SX.sym("a", WRENCH)
        b = ca.SX.sym("b", WRENCH)
        if rows:
            offsets = list(np.array(rows).T)
            self.schedule.call([function("sum", [a, b], [a + b])], ["memory"] * 3, np.zeros(len(rows), int), offsets)

    def _joints(self):
        """Append coordinates and reactions of the joints that the model has, in its order."""
        tree = self.tree
        elements = self.system.shown
        joints, connections = (
            {id(c): k for k, c in enumerate(group)} for group in (elements.joints, elements.constraints)
        )
        links = np.array([k for k, joint in enumerate(tree.joints) if id(joint) in joints])
        if not len(links):
            return
        own = np.array([joints[id(tree.joints[k])] for k in links.tolist()])
        coordinate = block_offsets([joint.dof for joint in elements.joints])[own]
        connection = np.array([connections[id(tree.joints[k])] for k in links])
        classes = [_joint_outputs(group) for group in tree.groups]
        vectors = ["x", "x", "xdot", "memory", *[self.row] * 5]
        offsets = [
            self.q[links], self.layout.q + self.v[links], self.layout.v + self.v[links], self.reaction[links],
            *(self.offsets[name] + coordinate for name in ("coordinate", "rate", "coordinate_acceleration")),
            *(self.offsets[name] + 3 * connection for name in ("reaction_force", "reaction_torque")),
        ]  # fmt: skip
        self.schedule.call(classes, vectors, tree.traces[links], offsets)

    def _sums(self):
        """Append multipliers, energies, and largest residuals."""
        rows = np.arange(self.kernels.loop_rows)
        call_in_blocks(self.schedule, lambda x: x, ["lam", self.row], [rows, self.offsets["multiplier"] + rows])
        both = ca.SX.sym("sums", 2)
        drift = ca.SX.sym("drift", 2)
        U = [ca.SX.sym("U"), ca.SX.sym("U")]  # of forces that all ranks compute, and of those of this rank alone
        last = ca.Function("energies", [both, *U, drift], [both[0], both[1] + U[0] + U[1], drift[0], drift[1]])
        names = ("kinetic_energy", "potential_energy", "position_drift", "velocity_drift")
        of_loops = [self.zeros] * 3 if self.loops is None else [*self.loops.potentials, self.loops.drift]
        if self.cut and self.cut.rank:  # the potential of forces that all ranks compute is counted on rank 0 only
            of_loops[0] = self.zeros
        if self.loops is not None:
            self.loops.joints(self.schedule, self.offsets)
        offsets = [[self.sums], *([at] for at in of_loops), *([self.offsets[name]] for name in names)]
        self.schedule.call([last], ["memory"] * 4 + [self.row] * 4, [0], offsets)


def _rotor_wrench(link, a):
    """The wrench (n, f) of a rotor on the body of its link, T (Sᵀ T)⁻¹ (−A v̇), which the joint does not transmit."""
    if not link.armature:
        return ca.SX.zeros(WRENCH)
    S_w, S_v = link.S_w, ca.densify(link.S_v)
    turning = [k for k in range(S_w.shape[1]) if S_w[:, k].nnz()]
    if len(turning) == 1:  # what acts along an angle is a torque: see `Joint.joint_rates`
        S_v[:, turning] = 0
    T = ca.vertcat(S_w, S_v)
    S = ca.vertcat(link.S_w, link.S_v)
    return ca.densify(T @ ca.solve(ca.densify(S.T @ T), -link.armature[0] * a))


def _inward_function(branch, column, c):
    """The function of the wrench that a link transmits to its parent, added to the sum over its siblings so far, and of the wrench
    on the second body of its joint in world axes: (2)."""
    motion = ca.SX.sym("motion", sum(MOTION) + sum(JOINT))
    own = ca.SX.sym("own", WRENCH)
    children = ca.SX.sym("beyond", WRENCH)
    siblings = ca.SX.sym("before", WRENCH)
    R, *_, E, d, rotor = split_column(motion, MOTION + JOINT)
    R = ca.reshape(R, 3, 3)
    E = ca.reshape(E, 3, 3)
    n, f = split_column(own + children, (3, 3))
    f_parent = E @ f
    to_parent = ca.vertcat(E @ n + spatial_algebra.cross(d, f_parent), f_parent)
    torque, force = (R @ (x - y) for x, y in zip((n, f), split_column(rotor, (3, 3))))
    if branch.reversed:  # the second body is the parent: the wrench acts on it at the frame of the joint
        arm = R @ (E.T @ (d - se3.split_pose(link_from_numbers(branch, column)[0].fixed)[1]))
        torque = -torque - ca.cross(arm, force)
        force = -force
    return function("inward", [c, motion, own, children, siblings], [siblings + to_parent, ca.vertcat(force, torque)])


def _joint_outputs(group):
    """The function of the coordinates, velocities, accelerations and reaction of a joint, as they are recorded."""
    x = ca.SX.sym("x", group.size)
    v = ca.SX.sym("v", group.dimension)
    a = ca.SX.sym("a", group.dimension)
    reaction = ca.SX.sym("reaction", WRENCH)
    q = x if group.additive else so3.log(group.matrix(x))
    return function("joint_outputs", [x, v, a, reaction], [q, v, a, *split_column(reaction, (3, 3))])
