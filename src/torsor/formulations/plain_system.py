"""A large system in numbers: a tree of bodies, all constraints between them, and forces, by classes."""

from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..describe.body import Placed
from ..describe.include import owners_in
from ..forces.parts import parts_of, rows_of
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

NOTHING = np.iinfo(np.int32).min  # the number of no body


class Shown(NamedTuple):
    """What results hold of a system, each in the order of the results."""

    bodies: list
    joints: list
    constraints: list


class Ends(NamedTuple):
    """Numbers of what links, constraints and forces are attached to (`PlainSystem.ends`).

    grounds   that are counted;   roots: links that hang on one, and `hung`: on which
    touched   by every constraint, both ends;   forced: by every force
    """

    grounds: list
    roots: np.ndarray
    hung: np.ndarray
    touched: np.ndarray
    forced: np.ndarray


class PlainSystem:
    """Links, rows, forces and joins, each with its class. Bodies are counted in the order of the tree.

    constraints   those with rows: joints of the tree first, then `loops`
    shown         what results hold, in their order: bodies, joints, constraints
    cut           where other ranks have further parts of the system (`part_system.py`); None: nowhere
    whole         the system that this is a part of: itself
    dropped       how many rows of each constraint depend on others where it is joined (`start/loops.py`); None: none does
    """

    cut: Any = None
    dropped: Any = None
    redundancy: Any = None  # all that is known of it

    def __init__(self, model):
        self.model, self.tree, self.whole = model, PlainTree(model), self
        self.shown, self.acting = Shown(model.bodies, model.joints, model.constraints), model.forces
        own = {id(joint) for joint in self.tree.joints}
        known = {id(joint) for joint in model.joints}
        rest = [c for c in model.constraints if id(c) not in own]
        tree = [j for j in self.tree.joints if id(j) in known and _has_rows(j)]
        self.loops = [c for c in rest if not isinstance(c, Connection) or _has_rows(c)]
        self.constraints, self.first_loop = tree + self.loops, len(tree)
        self._traced()

    def _traced(self):
        self.traces: list[Any] = [c.traced() if isinstance(c, Connection) else None for c in self.constraints]

    @cached_property
    def hinges(self):
        """Places of the joints of the tree, by identity."""
        return {id(joint): k for k, joint in enumerate(self.tree.joints)}

    def forget(self):
        """Give back the memory of what can be worked out again."""
        for thing in (self, self.tree):
            made = [name for name in vars(thing) if isinstance(getattr(type(thing), name, None), cached_property)]
            for name in made:
                vars(thing).pop(name, None)

    @cached_property
    def ends(self):
        """What everything is attached to: numbers of bodies, and −1 − k for ground k of those that something hangs on or acts on.

        A component has a ground of its own, and often nothing hangs on it."""
        known = {id(body): k for k, body in enumerate(self.tree.bodies)}
        known |= {id(ground): -1 - k for k, ground in enumerate(self.model.grounds)} | {id(None): NOTHING}
        number = lambda things: np.array([known[id(x)] for x in things], np.int32)
        both = lambda pairs: np.column_stack([number(x for x, _ in pairs), number(x for _, x in pairs)])
        roots = np.flatnonzero(self.tree.parents < 0)
        hung = number(map(self.tree.ground, roots.tolist()))
        touched = both([(c.first, c.second) for c in self.constraints])
        forced = both([_bodies(parts.ends) for parts in self.parts])
        every = np.concatenate([hung, touched.ravel(), forced.ravel()])
        used = np.unique(-1 - every[(every < 0) & (every != NOTHING)])
        place = np.zeros(len(self.model.grounds), np.int32)
        place[used] = np.arange(len(used))
        for x in (hung, touched, forced):
            ground = (x < 0) & (x != NOTHING)
            x[ground] = -1 - place[-1 - x[ground]]
        return Ends([self.model.grounds[k] for k in used.tolist()], roots, hung, touched, forced)

    @property
    def holding(self):
        """Grounds that something hangs on or acts on."""
        return self.ends.grounds

    @property
    def touched(self):
        """Numbers of both ends of every constraint."""
        return self.ends.touched

    @property
    def forced(self):
        """Numbers of the bodies or grounds that each force acts between; the second is NOTHING where there is only one."""
        return self.ends.forced

    @cached_property
    def hung(self):
        """The place of the ground that each link hangs on; 0 for those that hang on a body."""
        found = np.zeros(self.tree.n, np.int32)
        found[self.ends.roots] = -1 - self.ends.hung
        return found

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
        for trace in {id(trace): trace for trace in self.traces}.values():
            symbols = trace.function.sx_in()
            shape, numbers = shape_of(trace.function(*symbols), symbols)
            known[id(trace)] = shapes.setdefault(shape, len(shapes)), len(known), numbers
        found = [numbers for _, _, numbers in known.values()]
        constants = np.zeros((len(found), max(map(len, found), default=0)))
        for row, numbers in zip(constants, found):
            row[: len(numbers)] = numbers
        own = np.array([known[id(trace)][:2] for trace in self.traces], int).reshape(-1, 2).T
        return list(shapes), own[0], constants[own[1]]

    @cached_property
    def frames(self):
        """Numbers of all constraints: frames, and those in their equations; None where one has parameters in it, or no equations
        that others of its kind share."""
        frames = frames_of(self.constraints) if all(self.traces) else None
        return None if frames is None else np.hstack([frames, self.shapes[2]])

    @cached_property
    def rows(self):
        """Classes of rows, and the class of each constraint."""
        shapes, own, _ = self.shapes
        grounds = self.touched < 0
        kinds, members = grouped(np.column_stack([own, grounds]), self.frames)
        held = lambda k: tuple(grounds[k].tolist())
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
        return np.array([len(trace.directions) for trace in self.traces[self.first_loop :]], int)

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

    def turning(self, joint):
        """The link whose joint this is, where its coordinates are plain numbers; None: there is none."""
        link = self.hinges.get(id(joint))
        return link if link is not None and isinstance(self.tree.groups[self.tree.traces[link]], Rn) else None

    @cached_property
    def pushed(self):
        """The link whose coordinates each force acts along; −1 where it acts between bodies."""
        link = lambda end: self.turning(end) if isinstance(end, Joint) else -1
        return np.array([link(parts.ends[0]) for parts in self.parts], int)

    @cached_property
    def force_classes(self):
        """Classes of forces, the class of each, and by classes the numbers of all of them."""
        known: dict = {}
        keys = {id(parts.key): parts.key for parts in self.parts}
        alike = {k: known.setdefault(key, len(known)) for k, key in keys.items()}
        own = np.array([alike[id(parts.key)] for parts in self.parts], int)
        ends = np.where(self.pushed[:, None] >= 0, NOTHING, self.forced)
        classes: list = []
        found: list = []
        kinds = np.zeros(len(self.acting), int)
        nothing = np.zeros((len(own), 0))
        for places in grouped(np.column_stack([own, ends < 0, ends == NOTHING]), nothing)[1] if len(own) else []:
            numbers = rows_of([self.parts[k] for k in places.tolist()])
            which, members = grouped(np.zeros((len(places), 1), int), numbers)
            kinds[places] = len(classes) + which
            for m in members:
                example, rows = places[m[0]], numbers[m]
                held = tuple((ends[example] < 0)[ends[example] != NOTHING].tolist())
                given = self.acting[example], self.parts[example], rows
                classes.append(ForceClass(*given, held) if held else JointForceClass(*given))
                found.append(rows)
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
        dropped = np.zeros(len(kinds), int) if self.dropped is None else self.dropped
        key = np.column_stack([kinds[found.constraint], found.kinds, dropped[found.constraint]])
        own, members = grouped(key, np.zeros((found.size, 0)))
        made = [JoinClass(classes[key[m[0], 0]], found.forms[key[m[0], 1]], int(key[m[0], 2])) for m in members]
        return found, made, own


def _bodies(ends):
    """The two bodies or grounds that a force acts on, None for a second one that is not there."""
    (first, *others) = ends
    return (first.first, first.second) if isinstance(first, Joint) else (first, *others, None)[:2]


def _has_rows(connection):
    """Whether a connection holds anything; those of one kind are asked once."""
    trace = connection.traced()
    return bool(trace.directions if trace else connection.directions())
