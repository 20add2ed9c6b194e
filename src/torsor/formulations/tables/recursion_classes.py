"""The articulated-body recursion of a tree by classes: links of one class share their code, and a link is a row of data.

A link is described by its joint and by numbers: the fixed pose from its parent's frame to its joint, and the mass, centre of mass
and inertia tensor of its body. Links of one class have the same kind of joint and numbers that are 0, 1 or −1 in the same
positions. Numbers that are equal in all links of a class are folded into its code; the others are data. If the motion of a joint
is determined by its axis, the frame of its link is rotated so that the axis is z. Then hinges about any axis are of one class.

A class has three functions, called through a table (`schedule.py`) in the order of the recursion, whose equations are
in `formulations/algebra/recursions.py`:

    outward    motion of the link and quantities that depend on it: E, d, b, the wrench that the link needs at this motion
    inward     articulated inertia of the link and all its descendants, transferred to the parent
    finish     accelerations

The contributions of the children of one parent are summed one after the other: each child adds its own to the sum so far.
"""

from dataclasses import replace
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...lie import pose_stacks, se3
from ..algebra import recursions, spatial_algebra
from ..algebra.tree_kinematics import Link, velocity_terms
from .numeric_tree import UPPER, equation_key

INERTIA = 27  # numbers of an articulated inertia and its wrench: J, H, M, n, f
SQUARE = [0, 1, 3, 1, 2, 4, 3, 4, 5]  # indices into the upper triangle for all entries of a symmetric 3x3 matrix
ZERO_AFTER_ROTATION = 1e-15  # number / largest number of its block: rounding error of a zero that was rotated
SAME_NUMBER = 1e-13  # absolute difference of rotation components and arms that are equal except for rounding
SPECIAL_NUMBERS = (0.0, 1.0, -1.0)  # numbers that are always folded into the code

# ends of the numbers of a link in its row
ROTATION_END = 9
POSE_END = 12
MASS_END = 13
CENTER_END = 16
TENSOR_END = 22
ARMATURE_END = 28


class RecursionClass(NamedTuple):
    """Functions of a class of links.

    data   indices of the numbers that are data of each link
    """

    outward: ca.Function
    inward: ca.Function
    finish: ca.Function
    data: np.ndarray

    @property
    def motion_size(self):
        """Number of motion-dependent entries that `outward` stores for the other two functions."""
        return self.outward.nnz_out(0)

    @property
    def solution_size(self):
        """Number of entries that `inward` stores for `finish`."""
        return self.inward.nnz_out(1)


class AlignedLinks:
    """The links of a tree in rotated frames, whose z is the axis of their joint if it has one.

    Q         rotation from the new axes of each link to the old ones
    joints    of each kind, with their axes along z
    numbers   rows of the tree, in the new axes
    """

    def __init__(self, tree):
        self.tree = tree
        aligned = [_align_with_z(joint) for joint in tree.examples]
        self.joints = [joint for joint, _ in aligned]
        self.kinds = np.unique([equation_key(joint) for joint in self.joints], return_inverse=True)[1][tree.traces]
        self.Q = np.array([Q for _, Q in aligned])[tree.traces]
        Q_parent_T = np.where((tree.parents >= 0)[:, None, None], self.Q[tree.parents], np.eye(3)).transpose(0, 2, 1)
        Q_T = self.Q.transpose(0, 2, 1)
        rows = tree.numbers
        R = Q_parent_T @ rows[:, :ROTATION_END].reshape(-1, 3, 3).transpose(0, 2, 1) @ self.Q
        tensor = Q_T @ rows[:, CENTER_END:][:, SQUARE].reshape(-1, 3, 3) @ self.Q
        d = pose_stacks.multiply(Q_parent_T, rows[:, ROTATION_END:POSE_END])
        center = pose_stacks.multiply(Q_T, rows[:, MASS_END:CENTER_END])
        mass = rows[:, POSE_END:MASS_END]
        armature = rows[:, TENSOR_END:ARMATURE_END]
        blocks = [R.transpose(0, 2, 1).reshape(-1, 9), d, mass, center, tensor.reshape(-1, 9)[:, UPPER], armature]
        self.numbers = np.column_stack([clear_rounding(block) for block in blocks])

    def key(self):
        """What links of one class have in common besides numbers: the kind of their joint and its direction."""
        return np.column_stack([self.kinds, self.tree.reversed])

    def branch(self, k):
        """The branch of a link, with its joint's axis along z."""
        return replace(self.tree.branches[k], joint=self.joints[self.tree.traces[k]])


def clear_rounding(block):
    """Rows of numbers with zero in place of the rounding errors of rotated zeros."""
    return np.where(np.abs(block) < ZERO_AFTER_ROTATION * np.abs(block).max(axis=1, keepdims=True), 0.0, block)


def _align_with_z(joint):
    """The joint with its axis along z, and the rotation Q; the joint itself and 1 if it has no constant axis."""
    if not joint.axial or not joint.first_axis().is_constant():
        return joint, np.eye(3)
    z = np.array(ca.DM(joint.first_axis())).ravel()
    x = np.roll(z, 1) if np.count_nonzero(z) == 1 else np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return replace(joint, axis=(0, 0, 1)), np.column_stack([x, np.cross(z, x), z])


def group_rows(keys, numbers):
    """Group rows into classes. Rows of one class have equal keys, and numbers that are 0, 1 or −1 in the same positions; rounding
    errors of rotated components are ignored.

    Returns the class of each row, and the rows of each class. Classes are numbered in the order in which they first occur.
    """
    if not len(keys):
        return np.zeros(0, int), []
    special = sum((k + 1) * (np.abs(numbers - x) < SAME_NUMBER) for k, x in enumerate(SPECIAL_NUMBERS)).astype(np.uint8)
    rows = np.column_stack([np.ascontiguousarray(keys, np.int64).view(np.uint8), special])
    _, first, kinds = np.unique(rows_as_bytes(rows), return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    kinds = rank[kinds.ravel()]
    order = np.argsort(kinds, kind="stable")
    return kinds, np.split(order, np.cumsum(np.bincount(kinds))[:-1])


def rows_as_bytes(rows):
    """Each row of an array as one scalar of raw bytes, for comparison of whole rows."""
    rows = np.ascontiguousarray(rows)
    return rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()


def fold_constants(numbers):
    """A column in which numbers that are equal in all rows are constants and the others symbols; these symbols; their indices."""
    data = np.flatnonzero(np.any(numbers != numbers[0], axis=0))
    c = ca.SX.sym("c", len(data))
    column = ca.SX(numbers[0])
    for k, index in enumerate(data.tolist()):
        column[index] = c[k]
    return column, c, data


def build_classes(links, loaded):
    """Classes of the links, and the class of each link; loaded: forces are applied to the links."""
    kinds, members = group_rows(links.key(), links.numbers)
    return [_build_class(links.branch(rows[0]), links.numbers[rows], loaded) for rows in members], kinds


def _build_class(branch, numbers, loaded):
    """The class of all links with the given rows of numbers; branch: that of one of them."""
    column, c, data = fold_constants(numbers)
    link, own, mass, center = link_from_numbers(branch, column)
    w_parent = ca.SX.sym("w", 3)
    w = link.E.T @ w_parent + link.spin
    biases = velocity_terms(link.E, link.d, w_parent, link.spin, link.slide, link.spin_bias, link.slide_bias)
    wrench = recursions.bias_wrench(own.J, center, mass, w, ca.SX(3, 1), ca.SX(3, 1))
    motion = [ca.sparsify(x) for x in (link.E, link.d, *biases, *wrench)]
    entries, rebuild = pack_dependent_entries(motion, ca.vertcat(link.x, link.v, w_parent))
    outward = function("outward", [link.x, link.v, c, w_parent], [entries, w, link.v])
    stored = ca.SX.sym("k", entries.shape[0])
    motion = rebuild(stored)
    inward = _inward(link, c, stored, own, motion, loaded)
    return RecursionClass(outward, inward, _finish(link, c, stored, motion), data)


def link_from_numbers(branch, column):
    """A link, its spatial inertia, mass and centre of mass, from a row of numbers."""
    pose = ca.sparsify(se3.pose(ca.reshape(column[:ROTATION_END], 3, 3), column[ROTATION_END:POSE_END]))
    mass = column[POSE_END]
    center = ca.sparsify(column[MASS_END:CENTER_END])
    tensor = ca.sparsify(symmetric_3x3(column[CENTER_END:TENSOR_END]))
    own = spatial_algebra.Inertia(tensor, ca.sparsify(mass * spatial_algebra.skew(center)), mass * ca.SX.eye(3))
    link = Link(branch, None, fixed=pose)
    armature = column[TENSOR_END : TENSOR_END + link.v.shape[0]]
    link.armature = () if armature.is_zero() else (armature,)
    return link, own, mass, center


def _inward(link, c, stored, own, motion, loaded):
    """The function `inward`: inertia and wrench of a link and its descendants, added to the sum over its siblings so far, and the
    terms from which v̇ follows."""
    E, d, b_w, b_v, n, f = motion
    descendants = ca.SX.sym("beyond", INERTIA)
    siblings = ca.SX.sym("before", INERTIA)
    applied = [ca.SX.sym("applied", size) for size in (3, 3, link.v.shape[0])]
    J, H, M, n_descendants, f_descendants = _unpack_inertia(descendants)
    n = n + n_descendants
    f = f + f_descendants
    tau = ca.SX.zeros(link.v.shape[0])
    if loaded:
        n = n - applied[0]
        f = f - applied[1]
        tau = applied[2]
    parts = (*(spatial_algebra.Inertia(J, H, M) + own), n, f)
    solution = ca.SX(0, 1)
    if link.v.shape[0]:
        *parts, ns, fs, free = recursions.eliminate_joint(*parts, link.S_w, link.S_v, tau, *link.armature)
        solution = ca.vertcat(ca.vec(ns), ca.vec(fs), free)
    total = siblings + _pack_inertia(*recursions.transform_to_parent(*parts, b_w, b_v, E, d))
    load = [ca.vertcat(*applied)] if loaded else []
    return function("inward", [link.x, c, stored, descendants, siblings, *load], [total, solution])


def _finish(link, c, stored, motion):
    """The function `finish`: v̇ of a link's joint, and the acceleration of the link."""
    E, d, b_w, b_v, *_ = motion
    dof = link.v.shape[0]
    solution = ca.SX.sym("solved", 7 * dof)
    parent = [ca.SX.sym("above", 3) for _ in range(2)]
    alpha, a = recursions.acceleration_from_parent(*parent, b_w, b_v, E, d)
    rate = ca.SX(0, 1)
    if dof:
        ns, fs = (ca.reshape(solution[3 * dof * i : 3 * dof * (i + 1)], 3, dof) for i in (0, 1))
        rate, alpha, a = recursions.joint_acceleration(alpha, a, ns, fs, solution[6 * dof :], link.S_w, link.S_v)
    return function("finish", [link.x, c, stored, solution, ca.vertcat(*parent)], [ca.vertcat(alpha, a), rate])


def function(name, inputs, results):
    """A CasADi function with dense results and common subexpressions eliminated."""
    return ca.Function(name, inputs, ca.cse([ca.densify(x) for x in results]))


def pack_dependent_entries(matrices, variables):
    """The entries of matrices that depend on variables, as one column; and a function that rebuilds the matrices from symbols
    for these entries."""
    entries = [x for matrix in matrices for x in matrix.nonzeros()]
    dependent = [k for k, x in enumerate(entries) if ca.depends_on(x, variables)]

    def rebuild(symbols):
        cells = list(entries)
        for k, symbol in zip(dependent, ca.vertsplit(symbols)):
            cells[k] = symbol
        rebuilt = []
        at = 0
        for matrix in matrices:
            rebuilt.append(ca.SX(matrix.sparsity(), ca.vertcat(*cells[at : at + matrix.nnz()], ca.SX(0, 1))))
            at += matrix.nnz()
        return rebuilt

    return ca.vertcat(*[entries[k] for k in dependent], ca.SX(0, 1)), rebuild


def symmetric_3x3(upper):
    """A symmetric 3x3 matrix from the six numbers of its upper triangle."""
    a, b, c, d, e, f = ca.vertsplit(upper)
    return ca.vertcat(ca.horzcat(a, b, d), ca.horzcat(b, c, e), ca.horzcat(d, e, f))


def _pack_inertia(J, H, M, n, f):
    """An articulated inertia and a wrench as one column; symmetric blocks by their upper triangle."""

    def upper(A):
        return ca.vec(ca.densify(A))[UPPER]

    return ca.vertcat(upper(J), ca.vec(ca.densify(H)), upper(M), n, f)


def _unpack_inertia(x):
    """J, H, M, n, f from such a column."""
    return symmetric_3x3(x[:6]), ca.reshape(x[6:15], 3, 3), symmetric_3x3(x[15:21]), x[21:24], x[24:27]


def split_column(column, sizes):
    """Split a column into parts of the given sizes."""
    return ca.vertsplit(column, np.cumsum([0, *sizes]).tolist())
