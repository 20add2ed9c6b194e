"""A large system in numbers: a tree of bodies, all constraints between them, and forces, by classes."""

from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..describe.body import Placed
from ..describe.include import owners_in
from ..forces.parts import parts_of
from ..joints import Joint
from ..joints.base import Connection
from ..lie import Rn, poses
from .classes import Turned, grouped, without_traces
from .components import path_of
from .force_classes import ForceClass, JointForceClass, Law, parts_of_expressions
from .join_classes import JoinClass
from .merging import joins
from .plain_tree import PlainTree
from .row_classes import RowClass, frames_of
from .shapes import shape_of

NOTHING = np.iinfo(np.int64).min  # the number of no body


class Shown(NamedTuple):
    """What results hold of a system, each in the order of the results."""

    bodies: list
    joints: list
    constraints: list


class PlainSystem:
    """Links, rows, forces and joins, each with its class. Bodies are counted in the order of the tree.

    constraints   those with rows: joints of the tree first, then `loops`
    shown         what results hold, in their order: bodies, joints, constraints
    cut           where other ranks have further parts of the system (`part_system.py`); None: nowhere
    whole         the system that this is a part of: itself
    """

    cut: Any = None

    def __init__(self, model):
        self.model, self.tree, self.whole = model, PlainTree(model), self
        self.shown, self.acting = Shown(model.bodies, model.joints, model.constraints), model.forces
        own = {id(joint) for joint in self.tree.joints}
        known = {id(joint) for joint in model.joints}
        rest = [c for c in model.constraints if id(c) not in own]
        tree = [j for j in self.tree.joints if id(j) in known and _has_rows(j)]
        self.loops = [c for c in rest if not isinstance(c, Connection) or _has_rows(c)]
        self.constraints, self.first_loop = tree + self.loops, len(tree)
        self._placed()

    def _placed(self):
        self.places = {id(body): k for k, body in enumerate(self.tree.bodies)}
        self.hinges = {id(joint): k for k, joint in enumerate(self.tree.joints)}

    @cached_property
    def holding(self):
        """Grounds that something hangs on or acts on; a component has one of its own, and often nothing does."""
        hung = [self.tree.ground(k) for k in np.flatnonzero(self.tree.parents < 0).tolist()]
        ends = [end for c in self.constraints for end in (c.first, c.second)]
        known = {id(x) for x in (*hung, *ends, *(body for bodies in self.acted_on for body in bodies))}
        return [ground for ground in self.model.grounds if id(ground) in known]

    @cached_property
    def grounds(self):
        """Their places, by identity."""
        return {id(ground): k for k, ground in enumerate(self.holding)}

    def number(self, body):
        """The place of a body; for ground k it is −1 − k."""
        place = self.places.get(id(body))
        return -1 - self.grounds[id(body)] if place is None else place

    def end(self, body):
        """The place of a body, None for a ground."""
        return self.places.get(id(body))

    @cached_property
    def hung(self):
        """The place of the ground that each link hangs on; 0 for those that hang on a body."""
        return np.array(
            [0 if p >= 0 else self.grounds[id(self.tree.ground(k))] for k, p in enumerate(self.tree.parents.tolist())]
        )

    @cached_property
    def still(self):
        """Places and rotations of the grounds, which do not move."""
        return np.array([np.concatenate([x, R.ravel(order="F")]) for x, R in (g.reference for g in self.holding)])

    # links

    @cached_property
    def turned(self):
        return Turned(self.tree)

    @cached_property
    def links(self):
        """Numbers of the links with the axes of their frames in the bodies; the class of each, and the links of each class."""
        inner = poses.split(self.tree.frames[1])[0] @ self.turned.Q
        numbers = np.column_stack([self.turned.numbers, without_traces(inner.transpose(0, 2, 1).reshape(-1, 9))])
        return numbers, *grouped(self.turned.key(), numbers)

    @cached_property
    def over_mass(self):
        """1/m and the upper half of J⁻¹, and that of J, of every body."""
        mass, J = self.tree.weights
        half = lambda A: A[:, [0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
        return np.column_stack([1 / mass, half(np.linalg.inv(J))]), half(J)

    # rows

    @cached_property
    def ends(self):
        return [(self.end(c.first), self.end(c.second)) for c in self.constraints]

    @cached_property
    def touched(self):
        """Numbers of both ends of every constraint."""
        both = [(self.number(c.first), self.number(c.second)) for c in self.constraints]
        return np.array(both, np.int64).reshape(-1, 2)

    @cached_property
    def row_of_link(self):
        """The place of the joint of every link among the constraints; −1 where it is none of them."""
        found = np.full(self.tree.n, -1)
        found[[self.hinges[id(c)] for c in self.constraints[: self.first_loop]]] = np.arange(self.first_loop)
        return found

    @cached_property
    def shapes(self):
        """Shapes of the equations of all constraints, the shape of each constraint, and the numbers in them, row by row."""
        known: dict = {}
        shapes: dict = {}
        for c in self.constraints:
            trace = c.traced()
            if id(trace) not in known:
                symbols = trace.function.sx_in()
                shape, numbers = shape_of(trace.function(*symbols), symbols)
                known[id(trace)] = shapes.setdefault(shape, len(shapes)), numbers
        found = [known[id(c.traced())] for c in self.constraints]
        constants = np.zeros((len(found), max((len(numbers) for _, numbers in found), default=0)))
        for row, (_, numbers) in zip(constants, found):
            row[: len(numbers)] = numbers
        return list(shapes), np.array([k for k, _ in found], int), constants

    @cached_property
    def frames(self):
        """Numbers of all constraints: frames, and those in their equations; None where one has parameters in it, or no equations
        that others of its kind share."""
        shared = all(isinstance(c, Connection) and c.traced() for c in self.constraints)
        frames = frames_of(self.constraints) if shared else None
        return None if frames is None else np.hstack([frames, self.shapes[2]])

    @cached_property
    def rows(self):
        """Classes of rows, and the class of each constraint."""
        shapes, own, _ = self.shapes
        key = np.array([[k, a is None, b is None] for k, (a, b) in zip(own.tolist(), self.ends)])
        kinds, members = grouped(key.reshape(-1, 3), self.frames)
        held = lambda k: tuple(end is None for end in self.ends[k])
        made = [RowClass(self.constraints[m[0]], held(m[0]), self.frames[m], shapes[own[m[0]]]) for m in members]
        return made, kinds

    @cached_property
    def sizes(self):
        """How many rows each constraint has."""
        classes, kinds = self.rows
        return np.array([c.size for c in classes], int)[kinds] if len(kinds) else np.zeros(0, int)

    @property
    def loop_rows(self):
        """Rows of all loops."""
        return int(self.loop_sizes.sum())

    @cached_property
    def loop_sizes(self):
        """How many rows each loop has."""
        return np.array([len(c.traced().directions) for c in self.loops], int)

    # forces

    @cached_property
    def parts(self):
        """Parts of all forces; None where one is not made of motions of bodies, coordinates of joints, time and numbers."""
        if any(force.memories() for force in self.acting):
            return None
        found = [parts_of(force) for force in self.acting]
        laws = {k: Law.of(self.acting[k]) for k, parts in enumerate(found) if parts is None}
        for k, law in laws.items():  # all symbols are made before any of them is looked up
            found[k] = parts_of_expressions(law, owners_in(self.model, ca.vertcat(*map(ca.vec, law.columns()))))
        return found if all(parts is not None and self._acts(parts.ends) for parts in found) else None

    def _acts(self, ends):
        """Whether a force between these ends is one of those that there are classes for."""
        if any(isinstance(end, Joint) for end in ends):
            return len(ends) == 1 and self.turning(ends[0]) is not None
        return 1 <= len(ends) <= 2 and all(isinstance(end, Placed) for end in ends)

    def along_joint(self, k):
        """Whether a force acts along the coordinates of a joint."""
        return isinstance(self.parts[k].ends[0], Joint)

    def turning(self, joint):
        """The link whose joint this is, where its coordinates are plain numbers; None: there is none."""
        link = self.hinges.get(id(joint))
        return link if link is not None and isinstance(self.tree.groups[self.tree.traces[link]], Rn) else None

    @cached_property
    def acted_on(self):
        """Bodies and grounds that each force acts on."""
        both = lambda end: (end.first, end.second) if isinstance(end, Joint) else (end,)
        return [[body for end in parts.ends for body in both(end)] for parts in self.parts]

    @cached_property
    def forced(self):
        """Numbers of the bodies or grounds that each force acts between; the second is NOTHING where there is only one."""
        found = [[*map(self.number, bodies), NOTHING] for bodies in self.acted_on]
        return np.array([pair[:2] for pair in found], np.int64).reshape(-1, 2)

    @cached_property
    def pushed(self):
        """The link whose coordinates each force acts along; −1 where it acts between bodies."""
        link = lambda end: self.turning(end) if isinstance(end, Joint) else -1
        return np.array([link(parts.ends[0]) for parts in self.parts], int)

    @cached_property
    def force_classes(self):
        """Classes of forces, the class of each, and by classes the numbers of all of them."""
        groups: dict = {}
        for k, parts in enumerate(self.parts):
            held = tuple(None if isinstance(end, Joint) else self.end(end) is None for end in parts.ends)
            groups.setdefault((parts.key, held), []).append(k)
        classes: list = []
        found: list = []
        kinds = np.zeros(len(self.acting), int)
        for (_, held), several in groups.items():
            places, numbers = np.array(several), np.array([self.parts[k].numbers for k in several], float)
            key = np.zeros((len(places), 1), int)
            own, members = grouped(key, numbers) if numbers.shape[1] else (key[:, 0], [np.arange(len(places))])
            kinds[places] = len(classes) + own
            for m in members:
                example = places[m[0]]
                given = self.acting[example], self.parts[example], numbers[m]
                classes.append(JointForceClass(*given) if held == (None,) else ForceClass(*given, held))
                found.append(numbers[m])
        return classes, kinds, found

    # joins

    @cached_property
    def merged(self):
        """Joins in their order."""
        return joins(self.tree.n, self.touched.tolist(), [path_of(c) for c in self.constraints])

    @cached_property
    def joins(self):
        """Joins in their order, their classes, and the class of each."""
        found = self.merged
        classes, kinds = self.rows
        both = np.column_stack([kinds[found.constraint], found.kinds])
        own, members = grouped(both, np.zeros((found.size, 0)))
        made = [JoinClass(classes[both[m[0], 0]], found.forms[both[m[0], 1]]) for m in members]
        return found, made, own


def _has_rows(connection):
    """Whether a connection holds anything; those of one kind are asked once."""
    trace = connection.traced()
    return bool(trace.directions if trace else connection.directions())
