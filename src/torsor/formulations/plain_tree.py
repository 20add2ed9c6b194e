"""A tree of bodies in numbers, for models too large to write every body in symbols.

Everything about a link besides the kind of its joint is a row of numbers: the fixed pose from its parent's frame to its joint,
and the mass, centre and tensor of its body. Frames are those of `tree.py`.
"""

from functools import cached_property

import numpy as np

from ..describe import quantity
from ..describe.topology import spanning_tree
from ..lie import SE3, Rn, poses
from .tree import _group, _kind

UPPER = [0, 3, 4, 6, 7, 8]  # a symmetric 3x3 matrix on and above its diagonal, column by column


class PlainTree:
    """The links of a tree in an order in which parents come first.

    branches   of the spanning tree, or some of them: with each link all that it hangs on
    kinds      of their joints: those whose equations are alike share one, with the group of its coordinates
    parents    place of the parent of each link, −1 for a link that hangs on a ground
    """

    def __init__(self, model, branches=None):
        self.model, self.branches = model, spanning_tree(model).branches if branches is None else branches
        self.joints = [branch.joint for branch in self.branches]
        self.bodies = [branch.body for branch in self.branches]
        place = {id(body): k for k, body in enumerate(self.bodies)}
        self.parents = np.array([place.get(id(branch.parent), -1) for branch in self.branches])
        self.reversed = np.array([branch.reversed for branch in self.branches])
        traces: dict = {}
        self.traces = np.array([traces.setdefault(alike(joint), len(traces)) for joint in self.joints])
        first = [int(np.argmax(self.traces == k)) for k in range(len(traces))]
        self.examples = [self.joints[k] for k in first]
        self.groups = [_group(joint) for joint in self.examples]

    @property
    def n(self):
        return len(self.branches)

    def ground(self, k):
        """The ground that a link without a parent hangs on."""
        joint = self.joints[k]
        return joint.second if self.reversed[k] else joint.first

    def sizes(self, what):
        """`size` or `dimension` of the groups of the links."""
        return np.array([getattr(group, what) for group in self.groups])[self.traces]

    @cached_property
    def frames(self):
        """Joint frames on parents and on bodies, from their centres of mass: two stacks of poses; None with parameters in it."""
        placed = [joint.placed_numbers for joint in self.joints]
        if any(x is None for x in placed):
            return None
        both = np.array(placed)
        outer, inner = (both[np.arange(self.n), np.where(self.reversed, 1 - k, k)] for k in (0, 1))
        free = np.array([isinstance(group, SE3) for group in self.groups])[self.traces]
        inner[free] = np.eye(4)
        return outer, inner

    @cached_property
    def weights(self):
        """Mass and tensor of every body; None with parameters in it."""
        found = [body.numbers for body in self.bodies]
        if any(x is None for x in found):
            return None
        return np.array([x.mass for x in found]), np.array([x.inertia for x in found])

    @cached_property
    def numbers(self):
        """Rows of fixed pose, mass, centre and tensor about the link's frame; None where a parameter is in one."""
        if self.frames is None or self.weights is None:
            return None
        (outer, inner), (mass, J) = self.frames, self.weights
        fixed = outer.copy()
        held = self.parents >= 0
        fixed[held] = poses.inverted(inner[self.parents[held]]) @ outer[held]
        R, p = poses.split(inner)
        back = R.transpose(0, 2, 1)
        center = -poses.applied(back, p)
        square = (
            np.einsum("ki,ki->k", center, center)[:, None, None] * np.eye(3) - center[:, :, None] * center[:, None, :]
        )
        tensor = back @ J @ R + mass[:, None, None] * square
        flat = lambda A: A.transpose(0, 2, 1).reshape(self.n, 9)
        turn, arm = poses.split(fixed)
        return np.column_stack([flat(turn), arm, mass, center, flat(tensor)[:, UPPER]])

    def reference(self):
        """Reference poses of the grounds of the model, and of all bodies: two stacks."""
        stack = lambda things: poses.stacked(*(np.array(x) for x in list(zip(*[b.reference for b in things]))[::-1]))
        return stack(self.model.grounds), stack(self.bodies)

    def ends(self, reference=None):
        """Reference poses in the world of the two frames of each joint, on the parent and on the body: two stacks."""
        still, own = self.reference() if reference is None else reference
        near, roots = own[self.parents], np.flatnonzero(self.parents < 0)
        place = {id(ground): k for k, ground in enumerate(self.model.grounds)}
        near[roots] = still[[place[id(self.ground(k))] for k in roots.tolist()]]
        return near @ self.frames[0], own @ self.frames[1]

    def measured(self):
        """What scales follow from, as `scales.measured` has it in symbols."""
        (outer, inner), place = self.frames, {id(b): k for k, b in enumerate(self.model.bodies)}
        own = np.array([place[id(b)] for b in self.bodies])
        reach, held = np.zeros(self.n), self.parents >= 0
        for frames, bodies in ((inner, own), (outer[held], own[self.parents[held]])):
            np.maximum.at(reach, bodies, np.linalg.norm(poses.split(frames)[1], axis=1))
        mass, J = self.weights
        gyration = np.zeros(self.n)
        gyration[own] = np.sqrt(np.trace(J, axis1=1, axis2=2) / 2 / mass)
        reference = self.reference()
        points = poses.split(np.concatenate([*reference, *self.ends(reference)]))[1]
        return points.T, reach, gyration, np.linalg.norm(quantity.numbers(self.model.gravity))


def alike(joint):
    """What joints have in common that share their equations."""
    return id(joint.traced() or joint)


def declared(joint):
    """Whether the velocities of a joint are those that it declares, with coordinates that are plain numbers."""
    return isinstance(_group(joint), Rn) and joint.traced() is not None and bool(_kind(joint)[1])
