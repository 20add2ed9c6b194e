"""The articulated-body recursion of a tree by classes: links that are alike share their code, and a link is a row of data.

A link is given by its joint and by numbers: the fixed pose from its parent's frame to its joint, and the mass, centre and tensor
of its body. Links with equal joints whose numbers are zero or one in the same places are of one class; numbers that are the
same in all of them are folded into its code, the others are data. Where the motion of a joint follows from its axis, the frame
of its link is turned so that the axis is z, and hinges about any axis are equal.

A class has three functions, called through a table (`schedule.py`) in the order of the recursion, whose equations are
in `recursions.py`:

    outward    motion of the link, and what follows from it: E, d, b, the wrench that it needs at this motion
    inward     articulated inertia of the link and all beyond it, handed on to its parent
    finish     accelerations

Children of one parent add up one after the other: each adds its own to the sum of those before it.
"""

from dataclasses import replace
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..lie import poses, se3
from . import recursions, spatial
from .plain_tree import UPPER, alike
from .tree import Link, velocity_terms

INERTIA = 27  # numbers of an articulated inertia and its wrench: J, H, M, n, f
SQUARE = [0, 1, 3, 1, 2, 4, 3, 4, 5]  # of the upper half of a symmetric 3x3 matrix, all its entries
TINY = 1e-15  # over the largest number of its block: what turning leaves of a zero
PLAIN = (0.0, 1.0, -1.0)  # numbers that are always folded
TRACE = 1e-13  # of rounding, in components of rotations and in arms
TURN, POSE, MASS, CENTER, TENSOR = 9, 12, 13, 16, 22  # where the numbers of a link end


class Class(NamedTuple):
    """Functions of a class, and which numbers are data of its links."""

    outward: ca.Function
    inward: ca.Function
    finish: ca.Function
    data: np.ndarray

    @property
    def kept(self):
        """How much of the motion of a link the other two functions need."""
        return self.outward.nnz_out(0)

    @property
    def solved(self):
        return self.inward.nnz_out(1)


class Turned:
    """The links of a tree in frames whose z is the axis of their joint, where there is one.

    Q         takes the new axes of each link to the old ones
    joints    of each kind, with their axes along z
    numbers   rows of the tree, in the new axes
    """

    def __init__(self, tree):
        self.tree = tree
        along = [_along_z(joint) for joint in tree.examples]
        self.joints = [joint for joint, _ in along]
        self.kinds = np.unique([alike(joint) for joint in self.joints], return_inverse=True)[1][tree.traces]
        self.Q = np.array([Q for _, Q in along])[tree.traces]
        above = np.where((tree.parents >= 0)[:, None, None], self.Q[tree.parents], np.eye(3)).transpose(0, 2, 1)
        rows, back = tree.numbers, self.Q.transpose(0, 2, 1)
        R = above @ rows[:, :TURN].reshape(-1, 3, 3).transpose(0, 2, 1) @ self.Q
        tensor = back @ rows[:, CENTER:][:, SQUARE].reshape(-1, 3, 3) @ self.Q
        d, center = poses.applied(above, rows[:, TURN:POSE]), poses.applied(back, rows[:, MASS:CENTER])
        blocks = [R.transpose(0, 2, 1).reshape(-1, 9), d, rows[:, POSE:MASS], center, tensor.reshape(-1, 9)[:, UPPER]]
        self.numbers = np.column_stack([without_traces(block) for block in blocks])

    def key(self):
        """What links of one class have in common besides numbers: their kind of joint, which way it was drawn."""
        return np.column_stack([self.kinds, self.tree.reversed])

    def branch(self, k):
        """The branch of a link, with its joint's axis along z."""
        return replace(self.tree.branches[k], joint=self.joints[self.tree.traces[k]])


def without_traces(block):
    """Rows of numbers without what turning leaves of zeros."""
    return np.where(np.abs(block) < TINY * np.abs(block).max(axis=1, keepdims=True), 0.0, block)


def _along_z(joint):
    """A joint that is the same but for its axis, which is z, and Q; the joint itself where it has no axis that is a number."""
    if not joint.axial or not joint.first_axis().is_constant():
        return joint, np.eye(3)
    z = np.array(ca.DM(joint.first_axis())).ravel()
    x = np.roll(z, 1) if np.count_nonzero(z) == 1 else np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return replace(joint, axis=(0, 0, 1)), np.column_stack([x, np.cross(z, x), z])


def grouped(keys, numbers):
    """Rows that are of one class: with equal keys, and numbers that are zero or one in the same places, but for what rounding
    leaves of them where a component is turned.

    Returns the class of each row, and the rows of each class, in the order in which classes first occur.
    """
    if not len(keys):
        return np.zeros(0, int), []
    plain = sum((k + 1) * (np.abs(numbers - x) < TRACE) for k, x in enumerate(PLAIN)).astype(np.uint8)
    rows = np.column_stack([np.ascontiguousarray(keys, np.int64).view(np.uint8), plain])
    _, first, kinds = np.unique(whole_rows(rows), return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    kinds = rank[kinds.ravel()]
    order = np.argsort(kinds, kind="stable")
    return kinds, np.split(order, np.cumsum(np.bincount(kinds))[:-1])


def whole_rows(rows):
    """Rows of an array as one thing each, which are equal where all their bytes are."""
    rows = np.ascontiguousarray(rows)
    return rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()


def folded(numbers):
    """A column with what is alike in all rows as numbers and the rest as symbols; these symbols, and their places."""
    data = np.flatnonzero(np.any(numbers != numbers[0], axis=0))
    c, column = ca.SX.sym("c", len(data)), ca.SX(numbers[0])
    for k, place in enumerate(data.tolist()):
        column[place] = c[k]
    return column, c, data


def classes_of(turned, loaded):
    """Classes of links, and the class of each."""
    kinds, members = grouped(turned.key(), turned.numbers)
    return [_class(turned.branch(rows[0]), turned.numbers[rows], loaded) for rows in members], kinds


def _class(branch, numbers, loaded):
    """The class of links that are like the one of this branch, with these numbers."""
    column, c, data = folded(numbers)
    link, own, mass, center = described(branch, column)
    above = ca.SX.sym("w", 3)
    turning = link.E.T @ above + link.spin
    biases = velocity_terms(link.E, link.d, above, link.spin, link.slide, link.spin_bias, link.slide_bias)
    wrench = recursions.at_velocity(own.J, center, mass, turning, ca.SX(3, 1), ca.SX(3, 1))
    motion = [ca.sparsify(x) for x in (link.E, link.d, *biases, *wrench)]
    kept, rebuilt = stored(motion, ca.vertcat(link.x, link.v, above))
    outward = function("outward", [link.x, link.v, c, above], [kept, turning, link.v])
    known = ca.SX.sym("k", kept.shape[0])
    motion = rebuilt(known)
    inward = _inward(link, c, known, own, motion, loaded)
    return Class(outward, inward, _finish(link, c, known, motion), data)


def described(branch, column):
    """A link, its inertia, mass and centre, from a row of numbers."""
    pose = ca.sparsify(se3.pose(ca.reshape(column[:TURN], 3, 3), column[TURN:POSE]))
    mass, center, tensor = (
        column[POSE],
        ca.sparsify(column[MASS:CENTER]),
        ca.sparsify(symmetric_of(column[CENTER:TENSOR])),
    )
    own = spatial.Inertia(tensor, ca.sparsify(mass * spatial.skew(center)), mass * ca.SX.eye(3))
    return Link(branch, None, fixed=pose), own, mass, center


def _inward(link, c, known, own, motion, loaded):
    """Inertia and wrench of a link and all beyond it, added to those of its siblings, and what v̇ follows from."""
    E, d, b_w, b_v, n, f = motion
    beyond, before = ca.SX.sym("beyond", INERTIA), ca.SX.sym("before", INERTIA)
    applied = [ca.SX.sym("applied", size) for size in (3, 3, link.v.shape[0])]
    J, H, M, more_n, more_f = _unpacked(beyond)
    n, f, tau = n + more_n, f + more_f, ca.SX.zeros(link.v.shape[0])
    if loaded:
        n, f, tau = n - applied[0], f - applied[1], applied[2]
    parts = (*(spatial.Inertia(J, H, M) + own), n, f)
    solved = ca.SX(0, 1)
    if link.v.shape[0]:
        *parts, ns, fs, free = recursions.eliminated(*parts, link.S_w, link.S_v, tau)
        solved = ca.vertcat(ca.vec(ns), ca.vec(fs), free)
    up = before + _packed(*recursions.handed_on(*parts, b_w, b_v, E, d))
    return function(
        "inward", [link.x, c, known, beyond, before, *([ca.vertcat(*applied)] if loaded else [])], [up, solved]
    )


def _finish(link, c, known, motion):
    """v̇ of a link's joint, and the acceleration of the link."""
    (E, d, b_w, b_v, *_), dof = motion, link.v.shape[0]
    solved, above = ca.SX.sym("solved", 7 * dof), [ca.SX.sym("above", 3) for _ in range(2)]
    alpha, a = recursions.inherited(*above, b_w, b_v, E, d)
    rate = ca.SX(0, 1)
    if dof:
        ns, fs = (ca.reshape(solved[3 * dof * i : 3 * dof * (i + 1)], 3, dof) for i in (0, 1))
        rate, alpha, a = recursions.moved(alpha, a, ns, fs, solved[6 * dof :], link.S_w, link.S_v)
    return function("finish", [link.x, c, known, solved, ca.vertcat(*above)], [ca.vertcat(alpha, a), rate])


def function(name, inputs, results):
    return ca.Function(name, inputs, ca.cse([ca.densify(x) for x in results]))


def stored(matrices, moving):
    """Those entries of matrices that depend on the motion, as one column; and what makes the matrices again from its symbols."""
    entries = [x for matrix in matrices for x in matrix.nonzeros()]
    chosen = [k for k, x in enumerate(entries) if ca.depends_on(x, moving)]

    def rebuilt(symbols):
        cells = list(entries)
        for k, symbol in zip(chosen, ca.vertsplit(symbols)):
            cells[k] = symbol
        found, at = [], 0
        for matrix in matrices:
            found.append(ca.SX(matrix.sparsity(), ca.vertcat(*cells[at : at + matrix.nnz()], ca.SX(0, 1))))
            at += matrix.nnz()
        return found

    return ca.vertcat(*[entries[k] for k in chosen], ca.SX(0, 1)), rebuilt


def symmetric_of(upper):
    """A symmetric 3x3 matrix from its six numbers."""
    a, b, c, d, e, f = ca.vertsplit(upper)
    return ca.vertcat(ca.horzcat(a, b, d), ca.horzcat(b, c, e), ca.horzcat(d, e, f))


def _packed(J, H, M, n, f):
    """An inertia and a wrench as one column: symmetric blocks by their upper half."""
    upper = lambda A: ca.vec(ca.densify(A))[UPPER]
    return ca.vertcat(upper(J), ca.vec(ca.densify(H)), upper(M), n, f)


def _unpacked(x):
    return symmetric_of(x[:6]), ca.reshape(x[6:15], 3, 3), symmetric_of(x[15:21]), x[21:24], x[24:27]


def split_column(column, sizes):
    """A column in parts of these sizes."""
    return ca.vertsplit(column, np.cumsum([0, *sizes]).tolist())
