"""A large system as arrays of numbers: a tree of bodies, all constraints between them, and forces, by classes."""

import math
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ...forces.force_data import parts_of
from ...joints import Joint
from ...lie import pose_stacks
from ...model.body import Placed
from ...model.include import owners_in
from ..component_paths import ComponentPaths, path_of
from .elimination_order import joins
from .expression_shapes import shape_of
from .force_classes import Law, classes_of_forces, parts_of_expressions
from .implicit_efforts import classes_of_efforts, effort_of
from .join_classes import JoinClass
from .moving_grounds import moving_ends, moving_grounds
from .numeric_tree import NO_BODY, Ends, NumericTree, OutputElements
from .recursion_classes import AlignedLinks, clear_rounding, group_rows
from .row_classes import AXES_END, RowClass, connections_among, frames_of, has_rows
from .stated_rows import StatedRowClass, StatedRows, ends_of, stated_rows
from .tree_schedule import block_offsets


class NumericSystem:
    """Links, constraint rows, forces and joins, each with its class. Bodies are numbered in the order of the tree.

    tree          the links
    constraints   constraints that have rows: joints of the tree first, then `loops`
    first_loop    index of the first loop among them
    traces        traced equations of each constraint
    forces        the forces, without
    groups        contacts in number
    frictions     dry friction: forces whose efforts may depend on reactions
    shown         elements that occur in results
    cut           the partition of the system among ranks (`rank_system.py`); None: the system is not partitioned
    whole         the system of which this is a part: itself
    dropped       number of dependent rows of each constraint at its join (`start/loop_rows.py`); None: all are independent
    shared_load   name of a constraint that shares its load with dry friction, whose reaction is not unique; empty if there is none
    redundancy    the result of the diagnosis of redundant rows, at the start and in general; None: not diagnosed
    """

    cut: Any = None
    dropped: Any = None
    redundancy: Any = None
    shared_load = ""

    def __init__(self, model):
        self.model = model
        self.tree = NumericTree(model)
        self.whole = self
        self.shown = OutputElements(model.bodies, model.joints, connections_among(model.constraints))
        self.forces = [f for f in model.forces if not (f.acts_by_pairs or f.dry_friction)]
        self.frictions = [force for force in model.forces if force.dry_friction]
        self.groups = [force for force in model.forces if force.acts_by_pairs]
        tree_ids = {id(joint) for joint in self.tree.joints}
        model_ids = {id(joint) for joint in model.joints}
        tree_joints = [j for j in self.tree.joints if id(j) in model_ids and has_rows(j)]
        others = [c for c in model.constraints if id(c) not in tree_ids]
        self.loops = [c for c in others if has_rows(c)]
        self.constraints = tree_joints + self.loops
        self.first_loop = len(tree_joints)
        self._trace_constraints()

    def _trace_constraints(self):
        traces = [c.trace() for c in self.constraints]
        self.traces: list[Any] = [trace or stated_rows(self, c) for trace, c in zip(traces, self.constraints)]

    @cached_property
    def link_of_joint(self):
        """Index of the link of each joint of the tree, by the id of the joint."""
        return {id(joint): k for k, joint in enumerate(self.tree.joints)}

    @cached_property
    def link_of_body(self):
        """Index of the link of each body, by the id of the body."""
        return {id(body): k for k, body in enumerate(self.tree.bodies)}

    def forget(self):
        """Delete all cached properties; they are computed again when needed."""
        for owner in (self, self.tree):
            cached = [name for name in vars(owner) if isinstance(getattr(type(owner), name, None), cached_property)]
            for name in cached:
                vars(owner).pop(name, None)

    @cached_property
    def ends(self):
        """Numbers of the bodies and grounds to which links, constraints and forces are attached.

        A body has its index in the tree, ground k of those in use has the number −1 − k. Grounds without any attachment are not
        counted: every component has a ground of its own, which is often not used.
        """
        numbers = {id(body): k for k, body in enumerate(self.tree.bodies)}
        numbers |= {id(ground): -1 - k for k, ground in enumerate(self.model.grounds)} | {id(None): NO_BODY}

        def numbers_of(elements):
            return np.array([numbers[id(x)] for x in elements], np.int32)

        def numbers_of_pairs(pairs):
            return np.column_stack([numbers_of(x for x, _ in pairs), numbers_of(x for _, x in pairs)])

        roots = np.flatnonzero(self.tree.parents < 0)
        root_grounds = numbers_of(map(self.tree.ground, roots.tolist()))
        constraints = numbers_of_pairs([ends_of(c, trace) for c, trace in zip(self.constraints, self.traces)])
        forces = numbers_of_pairs([_bodies(parts.ends) for parts in self.parts])
        groups = [numbers_of(group.bodies) for group in self.groups]
        efforts = numbers_of_pairs([effort.ends for effort in self.efforts])
        every = np.concatenate([root_grounds, constraints.ravel(), forces.ravel(), *groups, efforts.ravel()])
        used = np.unique(-1 - every[(every < 0) & (every != NO_BODY)])
        position = np.zeros(len(self.model.grounds), np.int32)
        position[used] = np.arange(len(used))
        for x in (root_grounds, constraints, forces, *groups, efforts):
            ground = (x < 0) & (x != NO_BODY)
            x[ground] = -1 - position[-1 - x[ground]]
        return Ends(
            [self.model.grounds[k] for k in used.tolist()], roots, root_grounds, constraints, forces, groups, efforts
        )

    @property
    def grounds(self):
        """Grounds to which links, constraints or forces are attached."""
        return self.ends.grounds

    @property
    def ends_of_constraints(self):
        """Numbers of both ends of every constraint."""
        return self.ends.constraints

    @property
    def ends_of_forces(self):
        """Numbers of the bodies or grounds between which each force acts; the second is NO_BODY if there is only one."""
        return self.ends.forces

    @cached_property
    def ground_of_link(self):
        """Index of the ground to which each link is attached; 0 for links that are attached to a body."""
        grounds = np.zeros(self.tree.n, np.int32)
        grounds[self.ends.roots] = -1 - self.ends.root_grounds
        return grounds

    @cached_property
    def still(self):
        """Positions and rotations of the grounds, which are constant: one row each."""
        return np.array([np.concatenate([x, R.ravel(order="F")]) for x, R in (g.reference for g in self.grounds)])

    # links

    @cached_property
    def z_aligned(self):
        """The links in frames whose z is the axis of their joint."""
        return AlignedLinks(self.tree)

    @cached_property
    def links(self):
        """Numbers of the links, followed by the axes of their frames in the bodies; the class of each; the links of each class."""
        axes = pose_stacks.split(self.tree.frames[1])[0] @ self.z_aligned.Q
        numbers = np.column_stack([self.z_aligned.numbers, clear_rounding(axes.transpose(0, 2, 1).reshape(-1, 9))])
        return numbers, *group_rows(self.z_aligned.key(), numbers)

    @cached_property
    def inertias(self):
        """For every body 1/m and the upper triangle of J⁻¹; and the upper triangle of J."""
        mass, J = self.tree.weights

        def upper(A):
            return A[:, [0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]

        return np.column_stack([1 / mass, upper(np.linalg.inv(J))]), upper(J)

    # rows

    @cached_property
    def row_of_link(self):
        """Index of the joint of every link among the constraints; −1 if it is none of them."""
        rows = np.full(self.tree.n, -1)
        rows[[self.link_of_joint[id(c)] for c in self.constraints[: self.first_loop]]] = np.arange(self.first_loop)
        return rows

    def shape_of_trace(self, trace):
        """The shape of the equations of a connection, and their constants."""
        if id(trace) not in self._shapes_of_traces:
            symbols = trace.function.sx_in()
            self._shapes_of_traces[id(trace)] = shape_of(trace.function(*symbols), symbols)
        return self._shapes_of_traces[id(trace)]

    @cached_property
    def _shapes_of_traces(self):
        return {}

    @cached_property
    def shapes(self):
        """What the equations of constraints have in common: a list, the index of each constraint in it, and the constants of each
        constraint as a row."""
        by_trace: dict = {}
        shapes: dict = {}
        for trace in {id(trace): trace for trace in self.traces}.values():
            if isinstance(trace, StatedRows):
                key, numbers = trace.key, trace.numbers
            else:
                shape, numbers = self.shape_of_trace(trace)
                key = shape, trace.holonomic
            by_trace[id(trace)] = shapes.setdefault(key, len(shapes)), len(by_trace), numbers
        lists = [numbers for _, _, numbers in by_trace.values()]
        constants = np.zeros((len(lists), max(map(len, lists), default=0)))
        for row, numbers in zip(constants, lists):
            row[: len(numbers)] = numbers
        own = np.array([by_trace[id(trace)][:2] for trace in self.traces], int).reshape(-1, 2).T
        return list(shapes), own[0], constants[own[1]]

    @cached_property
    def frames(self):
        """Numbers of all constraints, one row each: frames, zeros for constraints that are no connections, and the constants of
        their equations; None if one contains parameters or has equations without a class of rows."""
        if not all(self.traces):
            return None
        connections = connections_among(self.constraints)
        own = frames_of(connections)
        if own is None:
            return None
        frames = np.zeros((len(self.constraints), AXES_END))
        frames[[c.connects_bodies for c in self.constraints]] = own
        return np.hstack([frames, self.shapes[2]])

    @cached_property
    def switches(self):
        """For each constraint the memories that are all 1 while it holds."""
        ids = self._switched
        if not ids:
            return [[] for _ in self.constraints]
        return [[e.active for e in (c, *c.within()) if id(e) in ids] for c in self.constraints]

    @cached_property
    def lasting_loops(self):
        """For each loop whether it always holds."""
        return np.array([not memories for memories in self.switches[self.first_loop :]], bool)

    @cached_property
    def rows(self):
        """Classes of constraint rows, and the class of each constraint."""
        shapes, own, _ = self.shapes
        fixed = self.ends_of_constraints < 0
        moving = moving_ends(self)
        switches = np.array([len(memories) for memories in self.switches], int)
        kinds, members = group_rows(np.column_stack([own, fixed, switches, moving]), self.frames)
        classes: list[Any] = []
        for m in members:
            example = m[0]
            ends = tuple(fixed[example].tolist())
            constraint, trace, numbers = self.constraints[example], self.traces[example], self.frames[m]
            if isinstance(trace, StatedRows):
                classes.append(StatedRowClass(constraint, trace, ends, numbers, int(switches[example])))
            else:
                shape, holonomic = shapes[own[example]]
                paths = tuple(self.grounds[k - 1] if k else None for k in moving[example].tolist())
                classes.append(RowClass(constraint, ends, numbers, shape, holonomic, int(switches[example]), paths))
        return classes, kinds

    @cached_property
    def sizes(self):
        """Number of rows of each constraint."""
        classes, kinds = self.rows
        return np.array([c.size for c in classes], int)[kinds] if len(kinds) else np.zeros(0, int)

    @property
    def loop_rows(self):
        """Number of rows of all loops."""
        return int(self.loop_sizes.sum())

    @cached_property
    def loop_sizes(self):
        """Number of rows of each loop."""
        return np.array([len(trace.directions) for trace in self.traces[self.first_loop :]], int)

    @cached_property
    def loop_offsets(self):
        """Offset of the rows of each loop among those of all loops."""
        return block_offsets(self.loop_sizes)

    # forces

    @cached_property
    def parts(self):
        """Parts of all forces; None if one depends on anything but motions of bodies, coordinates of joints, time, inputs and
        numbers."""
        every = [parts_of(force) if self.gate_of(force) is None else None for force in self.forces]
        laws = {k: self._law(self.forces[k]) for k, parts in enumerate(every) if parts is None}
        for k, law in laws.items():  # all laws are evaluated first: this creates the symbols that are looked up here
            every[k] = parts_of_expressions(law, owners_in(self.model, ca.vertcat(*map(ca.vec, law.columns()))))
        return every if all(parts is not None and self._supports(parts.ends) for parts in every) else None

    @cached_property
    def _switched(self):
        """Identities of the elements that events switch."""
        return {id(element) for element in self.model.switched_elements}

    def gate_of(self, force):
        """The memory, 1 or 0, that multiplies a force which events switch; None if none does."""
        if not self._switched:
            return None
        gates = [x for x in (*force.within(), *([force] if force.gated else [])) if id(x) in self._switched]
        return math.prod(x.active.symbol for x in gates) if gates else None

    def _law(self, force):
        """The law of a force, multiplied by its gate."""
        gate = self.gate_of(force)
        return Law.of(force) if gate is None else Law.of(force).times(gate)

    @property
    def unsupported_force(self):
        """The first force without parts; None if there is none."""
        for force in self.forces:
            parts = parts_of(force) if self.gate_of(force) is None else None
            if parts is None:
                law = self._law(force)
                parts = parts_of_expressions(law, owners_in(self.model, ca.vertcat(*map(ca.vec, law.columns()))))
            if parts is None or not self._supports(parts.ends):
                return force
        return None

    def _supports(self, ends):
        """True if there are classes for forces between these ends."""
        if any(isinstance(end, Joint) for end in ends):
            return len(ends) == 1 and self.link_in_rn(ends[0]) is not None
        return 1 <= len(ends) <= 2 and all(isinstance(end, Placed) for end in ends)

    def link_in_rn(self, joint):
        """Index of the link of a joint whose coordinates are in Rⁿ; None if it has other coordinates or is not in the tree."""
        link = self.link_of_joint.get(id(joint))
        return link if link is not None and self.tree.groups[self.tree.traces[link]].additive else None

    @cached_property
    def links_of_forces(self):
        """Index of the link along whose coordinates each force acts; −1 if it acts between bodies."""
        ends = [parts.ends[0] for parts in self.parts]
        return np.array([self.link_in_rn(end) if isinstance(end, Joint) else -1 for end in ends], int)

    @cached_property
    def force_classes(self):
        """Classes of forces, the class of each force, and for each class the numbers of its forces, row by row."""
        ends = np.where(self.links_of_forces[:, None] >= 0, NO_BODY, self.ends_of_forces)
        return classes_of_forces(self.forces, self.parts, ends, moving_grounds(self))

    # dry friction

    @cached_property
    def efforts(self):
        """The effort of each friction element; None where there is no class for one."""
        return [effort_of(self, force) for force in self.frictions]

    @cached_property
    def effort_classes(self):
        """Classes of the efforts between bodies, the class of each effort, −1 for efforts along joints, and their numbers."""
        return classes_of_efforts(self)

    def index_of_constraint(self, constraint):
        """Index of a constraint; None if it is none of this system."""
        return self._constraint_indices.get(id(constraint))

    @cached_property
    def _constraint_indices(self):
        return {id(c): k for k, c in enumerate(self.constraints)}

    # joins

    @cached_property
    def join_order(self):
        """Joins in the order of elimination."""
        return joins(self.tree.n, self.ends_of_constraints.tolist(), self._paths())

    def _paths(self):
        """Paths of the components of the constraints, with groups if the user gives an order of elimination."""
        if not self.model.eliminations:
            return [path_of(c) for c in self.constraints]
        paths, bodies = ComponentPaths(self.model), self.tree.bodies
        touched = [[bodies[k] for k in ends if k >= 0] for ends in self.ends_of_constraints.tolist()]
        return [paths.of_constraint(c, some) for c, some in zip(self.constraints, touched)]

    @cached_property
    def joins(self):
        """Joins in the order of elimination, their classes, and the class of each."""
        order = self.join_order
        classes, kinds = self.rows
        dropped = np.zeros(len(kinds), int) if self.dropped is None else self.dropped
        key = np.column_stack([kinds[order.constraint], order.kinds, dropped[order.constraint]])
        own, members = group_rows(key, np.zeros((order.size, 0)))
        join_classes = []
        for m in members:
            row_kind, form, dependent = key[m[0]]
            join_classes.append(JoinClass(classes[row_kind], order.forms[form], int(dependent)))
        return order, join_classes, own


def _bodies(ends):
    """The two bodies or grounds on which a force acts; the second is None if there is only one."""
    (first, *others) = ends
    return (first.first, first.second) if isinstance(first, Joint) else (first, *others, None)[:2]
