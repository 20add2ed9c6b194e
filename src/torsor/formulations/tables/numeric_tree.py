"""A tree of bodies as arrays of numbers, for models that are too large for symbolic expressions of every body.

A link is the kind of its joint and a row of numbers: the fixed pose from its parent's frame to its joint, and the mass, centre of
mass and inertia tensor of its body. Frames are those of `formulations/algebra/tree_kinematics.py`.
"""

from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...elements import quantity
from ...lie import pose_stacks, se3
from ...model.topology import spanning_tree
from ..algebra.rotor_inertia import armature_of
from ..algebra.tree_kinematics import motion_group, traced_geometry

ARMATURE = 6  # numbers of an armature in the row of a link: one for each possible coordinate of a joint
UPPER = [0, 3, 4, 6, 7, 8]  # indices of the upper triangle of a 3x3 matrix that is stored column by column
NO_BODY = np.iinfo(np.int32).min  # the number of a missing second end of a constraint or force


class OutputElements(NamedTuple):
    """Elements of a system that occur in its results, in their order; constraints: those that have a reaction."""

    bodies: list
    joints: list
    constraints: list


class Ends(NamedTuple):
    """Numbers of the bodies and grounds to which links, constraints and forces are attached (`NumericSystem.ends`).

    grounds        grounds in use
    roots          links that are attached to a ground
    root_grounds   number of the ground of each of these links
    constraints    numbers of both ends of every constraint
    forces         numbers of both ends of every force
    groups         for each group of contacts the number of the body or ground of every shape
    efforts        numbers of both ends of every effort of dry friction
    """

    grounds: list
    roots: np.ndarray
    root_grounds: np.ndarray
    constraints: np.ndarray
    forces: np.ndarray
    groups: list
    efforts: np.ndarray


class NumericTree:
    """The links of a tree, parents before children.

    branches   of the spanning tree, or a subset of them that contains with each link all its ancestors
    parents    index of the parent of each link, −1 for a link attached to a ground
    reversed   True if the joint of a link is drawn from the body to its parent
    traces     index of the joint kind of each link; joints with the same equations are of one kind
    examples   one joint of each kind
    groups     the Lie group of the coordinates of each kind
    """

    def __init__(self, model, branches=None):
        self.model = model
        self.branches = spanning_tree(model).branches if branches is None else branches
        self.joints = [branch.joint for branch in self.branches]
        self.bodies = [branch.body for branch in self.branches]
        index = {id(body): k for k, body in enumerate(self.bodies)}
        self.parents = np.array([index.get(id(branch.parent), -1) for branch in self.branches])
        self.reversed = np.array([branch.reversed for branch in self.branches])
        kinds: dict = {}
        self.traces = np.array([kinds.setdefault(equation_key(joint), len(kinds)) for joint in self.joints])
        first = [int(np.argmax(self.traces == k)) for k in range(len(kinds))]
        self.examples = [self.joints[k] for k in first]
        self.groups = [motion_group(joint) for joint in self.examples]

    @property
    def n(self):
        """Number of links."""
        return len(self.branches)

    def ground(self, k):
        """The ground to which a link without a parent is attached."""
        joint = self.joints[k]
        return joint.second if self.reversed[k] else joint.first

    def sizes(self, what):
        """`size` or `dimension` of the groups of the links."""
        return np.array([getattr(group, what) for group in self.groups])[self.traces]

    @cached_property
    def frames(self):
        """Joint frames on parents and on bodies, relative to their centres of mass: two stacks of poses; None if they contain
        parameters."""
        poses = [joint.placed_numbers for joint in self.joints]
        if any(x is None for x in poses):
            return None
        both = np.array(poses)
        outer, inner = (both[np.arange(self.n), np.where(self.reversed, 1 - k, k)] for k in (0, 1))
        free = np.array([group.free for group in self.groups])[self.traces]
        inner[free] = np.eye(4)
        return outer, inner

    @cached_property
    def weights(self):
        """Masses and inertia tensors of all bodies; None if they contain parameters."""
        inertias = [body.numbers for body in self.bodies]
        if any(x is None for x in inertias):
            return None
        return np.array([x.mass for x in inertias]), np.array([x.inertia for x in inertias])

    @cached_property
    def armatures(self):
        """Armature of each joint along its coordinates, one row per link; None if one contains parameters."""
        rows = np.zeros((self.n, ARMATURE))
        for k, joint in enumerate(self.joints):
            if (A := armature_of(joint)) is not None:
                if not A.is_constant():
                    return None
                rows[k, : joint.dof] = quantity.numbers(A).ravel()
        return rows

    @cached_property
    def numbers(self):
        """One row per link: fixed pose, mass, centre of mass, inertia tensor about the link's frame, and armature, which is zero
        beyond the coordinates of the joint; None if they contain parameters."""
        if self.frames is None or self.weights is None or self.armatures is None:
            return None
        outer, inner = self.frames
        mass, J = self.weights
        fixed = outer.copy()
        has_parent = self.parents >= 0
        fixed[has_parent] = pose_stacks.invert(inner[self.parents[has_parent]]) @ outer[has_parent]
        R, p = pose_stacks.split(inner)
        back = R.transpose(0, 2, 1)
        center = -pose_stacks.multiply(back, p)
        steiner = (
            np.einsum("ki,ki->k", center, center)[:, None, None] * np.eye(3) - center[:, :, None] * center[:, None, :]
        )
        tensor = back @ J @ R + mass[:, None, None] * steiner
        rotation, arm = pose_stacks.split(fixed)

        def columns(matrices):
            """Each matrix as a row of 9 numbers, column by column."""
            return matrices.transpose(0, 2, 1).reshape(self.n, 9)

        return np.column_stack([columns(rotation), arm, mass, center, columns(tensor)[:, UPPER], self.armatures])

    def reference(self):
        """Reference poses of the grounds of the model, and of all bodies: two stacks."""

        def stack(bodies):
            return pose_stacks.stack_poses(*(np.array(x) for x in list(zip(*[b.reference for b in bodies]))[::-1]))

        return stack(self.model.grounds), stack(self.bodies)

    def ends(self, reference=None):
        """World poses of the two frames of each joint in the reference configuration, on the parent and on the body: two stacks."""
        grounds, bodies = self.reference() if reference is None else reference
        parents = bodies[self.parents]
        roots = np.flatnonzero(self.parents < 0)
        index = {id(ground): k for k, ground in enumerate(self.model.grounds)}
        parents[roots] = grounds[[index[id(self.ground(k))] for k in roots.tolist()]]
        return parents @ self.frames[0], bodies @ self.frames[1]

    def size_measures(self):
        """Points, reach and radius of gyration of the bodies, and gravity: the numbers from which scales are computed
        (`scales.measured` for models in symbols). Bodies are in the order of the model."""
        outer, inner = self.frames
        index = {id(b): k for k, b in enumerate(self.model.bodies)}
        own = np.array([index[id(b)] for b in self.bodies])
        reach = np.zeros(self.n)
        has_parent = self.parents >= 0
        for frames, bodies in ((inner, own), (outer[has_parent], own[self.parents[has_parent]])):
            np.maximum.at(reach, bodies, np.linalg.norm(pose_stacks.split(frames)[1], axis=1))
        mass, J = self.weights
        gyration = np.zeros(self.n)
        gyration[own] = np.sqrt(np.trace(J, axis1=1, axis2=2) / 2 / mass)
        reference = self.reference()
        points = pose_stacks.split(np.concatenate([*reference, *self.ends(reference)]))[1]
        return points.T, reach, gyration, np.linalg.norm(quantity.numbers(self.model.gravity))


def equation_key(joint):
    """A key that is equal for joints with the same equations."""
    return id(joint.trace() or joint)


def has_declared_velocities(joint):
    """True if a joint declares its motion subspace and its coordinates are in Rⁿ."""
    return motion_group(joint).additive and joint.trace() is not None and bool(traced_geometry(joint)[1])


def linear_by_kind(tree):
    """For each kind of joint a list: 1 for every linear velocity, 0 for every angular one."""
    linear = []
    for joint, group in zip(tree.examples, tree.groups):
        if group.free:
            S = ca.SX.eye(6)
        else:
            S = joint.motion(ca.SX.zeros(group.dimension))
        angular = se3.split(S)[0]
        linear.append([0 if ca.sparsify(angular[:, k]).nnz() else 1 for k in range(group.dimension)])
    return linear
