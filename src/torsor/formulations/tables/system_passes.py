"""Passes that the kernels of a large system share: motion of all bodies, forces on them, angles counted over full turns."""

from functools import cached_property

import casadi as ca
import numpy as np

from ...elements.quantity import time
from ...lookup.pair_records import FACT_COUNT
from ...model.body import Placed
from ...model.include import owners_in
from ..pair_classes import data_of_group, facts_of_group, numbers_of_group, pair_classes
from ..schedules.schedule import Constants, Schedule
from .expression_passes import MotionPlaces
from .further_values import FurtherValues
from .group_schedule import call_in_blocks
from .join_classes import SIX
from .link_classes import LINK, LinkClass, Motions
from .moving_grounds import add_carried, add_motions
from .numeric_tree import NO_BODY
from .row_classes import MOTION_SIZE, angles_of_class, carried_power, joint_wrenches
from .shared_values import add_shared_expressions
from .tree_schedule import allocate_blocks, block_offsets, class_constants, constant_rows, running_sums


class Passes:
    """A large system, the layout of its state, and the passes that its kernels share.

    q, v            offsets of the coordinates and velocities of each link
    sizes           number of rows of each constraint
    row_offsets     offset of the rows of each loop among those of all loops
    input_layout    places of parameters, memories and states in p
    turns           angles of joints that close loops, which are counted over full turns: pairs of a joint and an index; they
                    follow the inputs in p
    angle_offsets   by loop: the offset of its counted angles in p
    further         values in the equations of constraints besides motions and constants
    effort_offsets  offset in `lam` of the effort of each friction element, by its id
    efforts         number of efforts
    F               size of the vector F that the kernel `factor` computes
    """

    def __init__(self, system, layout, unit):
        self.system = system
        self.tree = system.tree
        self.n = system.tree.n
        self.layout = layout
        self.unit = unit
        self.constants = Constants()
        self.numbers, self.kinds, members = system.links
        self.link_classes = [LinkClass(system.z_aligned.branch(m[0]), self.numbers[m]) for m in members]
        self.q, self.v = (block_offsets(self.tree.sizes(what)) for what in ("size", "dimension"))
        self.sizes = system.sizes
        self.row_offsets = system.loop_offsets
        self.F = 1
        angular = [
            (k, [i for i in range(c.dof) if c.angular[i]]) for k, c in enumerate(system.loops) if c.has_coordinates
        ]
        self.input_layout = system.model.input_layout
        first = self.input_layout.count + block_offsets([len(own) for _, own in angular])
        self.angle_offsets = dict(zip([k for k, _ in angular], first))
        self.turns = [(system.loops[k], i) for k, own in angular for i in own]
        self.further = FurtherValues(self)
        every = system.whole.efforts
        sizes = np.array([effort.unknown.shape[0] for effort in every], int)
        self.efforts = int(sizes.sum())
        offsets = dict(zip([id(effort.force) for effort in every], (self.loop_rows + block_offsets(sizes)).tolist()))
        self.effort_offsets: dict = offsets
        self._effort_places = {
            symbol.element_hash(): offsets[id(effort.force)] + k
            for effort in every
            for k, symbol in enumerate(ca.vertsplit(effort.unknown))
        }

    @cached_property
    def first_row(self):
        """Offset of the rows of each loop among those of all loops, by the id of its constraint."""
        return dict(zip(map(id, self.system.loops), self.row_offsets.tolist()))

    @property
    def loop_rows(self):
        """Number of rows of all loops of the model."""
        return self.system.loop_rows

    @property
    def multipliers(self):
        """Number of multipliers of all loops, and of efforts."""
        return self.loop_rows + self.efforts

    def inputs(self, *names):
        """Sizes of the inputs of a kernel, by name."""
        sizes = {
            "t": 1, "x": self.layout.x, "p": self.layout.p, "F": self.F, "gains": 4, "e": self.layout.algebra,
            "xdot": self.layout.algebra, "lam": self.multipliers,
        }  # fmt: skip
        return {name: sizes[name] for name in names}

    def input_place(self, symbol):
        """Vector and offset of the value of a parameter, memory, state or effort."""
        effort = self._effort_places.get(symbol.element_hash())
        return input_place(self.input_layout, self.layout, symbol) if effort is None else ("lam", effort)

    def gather_inputs(self, s, lists):
        """Append copies of inputs, a contiguous block for each list of symbols. Returns the offsets of the blocks."""
        sizes = [len(symbols) for symbols in lists]
        if not sum(sizes):
            return np.zeros(len(sizes), int)
        offsets = allocate_blocks(s, sizes)
        places = [self.input_place(symbol) for symbols in lists for symbol in symbols]
        source = np.array([place for _, place in places])
        target = offsets[0] + np.arange(len(source))
        for vector in ("p", "x", "lam"):
            own = np.array([name == vector for name, _ in places])
            if own.any():
                call_in_blocks(s, lambda x: x, [vector, "memory"], [source[own], target[own]])
        return offsets

    def rates_of_states(self, s, motion=None):
        """Append the rates of the user's states, the last entries of ẋ; motion: of all bodies, None: not yet appended."""
        states = self.system.model.states
        if not states:
            return
        rates = [state.rate for state in states]
        owners = owners_in(self.system.model, ca.vertcat(*map(ca.SX, rates)))
        if motion is None and any(isinstance(element, Placed) for element, _ in owners):
            motion = self.motion(s)
        places = MotionPlaces(self, motion)
        add_shared_expressions(s, rates, places, "xdot", 2 * self.layout.v + 1 + np.arange(len(states)))

    # offsets of constants

    @cached_property
    def ground_poses(self):
        """Offsets of the position and rotation of each ground."""
        return constant_rows(self.constants, self.system.still)

    @cached_property
    def data(self):
        """Offsets of the numbers of each link."""
        return class_constants(self.constants, self.numbers, self.kinds, [c.data for c in self.link_classes])

    @cached_property
    def frames(self):
        """Offsets of the numbers of each constraint."""
        classes, kinds = self.system.rows
        return class_constants(self.constants, self.system.frames, kinds, [c.data for c in classes])

    @cached_property
    def force_data(self):
        """Offsets of the numbers of each force."""
        classes, kinds, numbers = self.system.force_classes
        return self.class_data(classes, kinds, numbers)

    def class_data(self, classes, kinds, numbers):
        """Offsets of the numbers of forces; numbers: of the forces of each class."""
        offsets = np.zeros(len(kinds), int)
        for kind, (c, rows) in enumerate(zip(classes, numbers)):
            offsets[kinds == kind] = constant_rows(self.constants, rows[:, c.data])
        return offsets

    # motion

    def motion(self, s, vector="x", offset=None):
        """Append the motion of all links, bodies and grounds; joint velocities are read from `vector`, from `offset` on.

        If an offset is given, they are those of a displacement, and moving grounds rest.
        """
        system = self.system
        tree = self.tree
        at_rest = offset is not None
        offset = self.layout.q if offset is None else offset
        link = allocate_blocks(s, np.full(self.n, LINK))
        body = allocate_blocks(s, np.full(self.n, MOTION_SIZE))
        grounds, roots = add_motions(s, self, at_rest)
        above = np.where(tree.parents >= 0, link[tree.parents], roots[system.ground_of_link])
        vectors = ["x", vector, "constants", "memory", "memory", "memory"]
        offsets = [self.q, offset + self.v, self.data, above, link, body]
        s.call([c.motion for c in self.link_classes], vectors, self.kinds, offsets)
        return Motions(link, body, grounds, above, self.data, vector, offset)

    @staticmethod
    def motion_offsets(motion, numbers, missing=0):
        """Offsets of the motions of bodies and grounds by their numbers (`PlainSystem.ends`); missing: that of NO_BODY."""
        body = numbers >= 0
        ground = (numbers < 0) & (numbers != NO_BODY)
        offsets = np.full(numbers.shape, missing)
        offsets[body] = motion.body[numbers[body]]
        offsets[ground] = motion.grounds[-1 - numbers[ground]]
        return offsets

    def end_motions(self, motion):
        """Offsets of the motions of both ends of every constraint."""
        return self.motion_offsets(motion, self.system.ends_of_constraints)

    # forces

    def applied_wrenches(self, s, motion):
        """Append all applied forces.

        Returns offsets of the wrench on each body, and of two sums of power and potential: over the forces that all ranks
        compute, and over those of this rank alone.
        """
        zeros, along, sums = self.joint_forces(s)
        wrenches = np.full(self.n, zeros)
        functions, kinds, chosen = self._forces(along_joint=False)
        if len(chosen):
            inputs = [self.system.parts[k].inputs for k in chosen.tolist()]
            of_forces = self.system.ends_of_forces[chosen], inputs, self.force_data[chosen], self._own_forces[chosen]
            self.add_forces(s, motion, functions, kinds, *of_forces, wrenches, sums, zeros)
        self._apply_joint_forces(s, motion, along, wrenches, zeros, sums)
        for group, ends in zip(self.system.groups, self.system.ends.groups):
            self._apply_group(s, motion, group, ends, wrenches, sums)
        return wrenches, sums

    def add_forces(self, s, motion, functions, kinds, ends, inputs, data, own, wrenches, sums, zeros):
        """Append forces between bodies; offsets of wrenches and of sums of power and potential are changed.

        functions, kinds   functions of the classes, and the class of each force
        ends, inputs       numbers of both ends of each force, and symbols of its inputs
        data               offset of the numbers of each force
        own                for each force 1 if it belongs to this rank alone
        """
        motions, before, after = self.wrench_offsets(s, ends, motion, wrenches, zeros)
        total = running_sums(own, sums, allocate_blocks(s, np.full(len(kinds), 2)))
        vectors = ["t", "memory", "memory", "constants", *["memory"] * 7]
        first = np.zeros(len(kinds), int)
        offsets = [first, *motions.T, data, self.gather_inputs(s, inputs), *before.T, total[0], *after.T, total[1]]
        s.call(functions, vectors, kinds, offsets)

    def _apply_group(self, s, motion, group, ends, wrenches, sums):
        """Append the wrenches of a group of contacts on bodies: sums of their own, which begin with those so far."""
        classes = pair_classes(group)
        bodies = np.unique(ends[ends >= 0])
        own = allocate_blocks(s, np.full(len(bodies), SIX))
        of_ground, total = s.reserve(SIX), s.reserve(2)
        copies = [(own[k] + i, at + i) for k, at in enumerate(wrenches[bodies].tolist()) for i in range(SIX)]
        copies += [(total + i, sums[0] + i) for i in range(2)]
        target, source = np.array(copies).T
        call_in_blocks(s, lambda x: x, ["memory", "memory"], [source, target])
        s.call([ca.Function("none", [time], [ca.SX.zeros(SIX)])], ["t", "memory"], [0], [[0], [of_ground]])
        wrenches[bodies], sums[0] = own, total
        count = len(ends)
        at = np.where(ends >= 0, own[np.searchsorted(bodies, ends) % max(len(bodies), 1)], of_ground)
        facts = self.constants.keep(facts_of_group(group, ends))
        data = constant_rows(self.constants, data_of_group(group))
        numbers = self.constants.keep(numbers_of_group(group))
        rows = [group.kinds, self.motion_offsets(motion, ends), data, at, facts + FACT_COUNT * np.arange(count)]
        rows += [np.full(count, numbers), np.full(count, total)]
        s.call_pairs(classes.functions, classes.kinds, np.array(rows), (SIX, 2))

    def wrench_offsets(self, s, ends, motion, wrenches, zeros):
        """Offsets for elements that act between two ends: motions of the ends, wrenches on them before and after each element.

        ends       numbers of both ends, in the order in which wrenches are summed
        wrenches   offset of the wrench on each body; changed to that after all elements
        """
        before = np.full(ends.shape, zeros)
        after = np.full(ends.shape, zeros)
        bodies = np.nonzero(ends >= 0)
        sums = allocate_blocks(s, np.full(len(bodies[0]), SIX))
        before[bodies], after[bodies] = running_sums(ends[bodies], wrenches, sums)
        return self.motion_offsets(motion, ends, zeros), before, after

    def _forces(self, along_joint):
        """Forces along joints, or those between bodies: functions of their classes, the class of each, indices of the forces."""
        classes, kinds, _ = self.system.force_classes
        selected = np.array([c.along_joint == along_joint for c in classes], bool)
        chosen = np.flatnonzero(selected[kinds]) if len(classes) else np.zeros(0, int)
        functions = [c.function for c, own in zip(classes, selected) if own]
        return functions, (np.cumsum(selected) - 1)[kinds[chosen]], chosen

    @cached_property
    def _own_forces(self):
        """For each force 1 if it belongs to this rank alone, 0 if all ranks compute it."""
        cut = self.system.cut
        return (cut.own.forces if cut else np.zeros(len(self.system.forces))).astype(int)

    def joint_forces(self, s):
        """Append the forces along the coordinates of joints.

        Returns the offset of zeros, offsets of the forces of each link (−1 for none), and of the sums of power and potential.
        """
        zeros = s.reserve(SIX)
        no_power = s.reserve(2)
        zero = ca.Function("none", [time], [ca.SX.zeros(SIX), ca.SX.zeros(2)])
        s.call([zero], ["t", "memory", "memory"], [0], [[0], [zeros], [no_power]])
        forces = np.full(self.n, zeros)
        sums = np.array([no_power, no_power])
        functions, kinds, chosen = self._forces(along_joint=True)
        links = self.system.links_of_forces[chosen]
        if len(chosen):
            size = self.tree.sizes("dimension")[links]
            before, after = running_sums(links, forces, allocate_blocks(s, size))
            total = running_sums(self._own_forces[chosen], sums, allocate_blocks(s, np.full(len(chosen), 2)))
            first = np.zeros(len(chosen), int)
            gathered = self.gather_inputs(s, [self.system.parts[k].inputs for k in chosen.tolist()])
            inputs = first, self.q[links], self.layout.q + self.v[links], self.force_data[chosen], gathered
            vectors = ["t", "x", "x", "constants", *["memory"] * 5]
            s.call(functions, vectors, kinds, [*inputs, before, total[0], after, total[1]])
        return zeros, np.where(np.bincount(links, minlength=self.n) > 0, forces, -1), sums

    def _apply_joint_forces(self, s, motion, along, wrenches, zeros, sums):
        """Append the wrenches of forces along coordinates on the two bodies of their joints."""
        links = np.flatnonzero(along >= 0)
        if not len(links):
            return
        classes, kinds = self.system.rows
        own = self.system.row_of_link[links]
        motions, before, after = self.wrench_offsets(s, self.system.ends_of_constraints[own], motion, wrenches, zeros)
        vectors = ["memory", "memory", "constants", *["memory"] * 5]
        offsets = [*motions.T, self.frames[own], along[links], *before.T, *after.T]
        s.call([joint_wrenches(c) for c in classes], vectors, kinds[own], offsets)
        self._correct_power(s, motions, own, along[links], links, sums)

    def _correct_power(self, s, motions, constraints, along, links, sums):
        """Append the power of forces along joints of moving grounds on these, which is no power of the system."""
        classes, kinds = self.system.rows
        moving = np.array([any(c.moving) for c in classes], bool)[kinds[constraints]]
        if not moving.any():
            return
        chosen = np.flatnonzero(moving)
        cut = self.system.cut
        own = cut.own.bodies[links[chosen]].astype(int) if cut else np.zeros(len(chosen), int)
        total = running_sums(own, sums, allocate_blocks(s, np.full(len(chosen), 2)))
        offsets = [*motions[chosen].T, self.frames[constraints[chosen]], along[chosen], *total]
        vectors = ["memory", "memory", "constants", *["memory"] * 3]
        s.call([carried_power(c) for c in classes], vectors, kinds[constraints[chosen]], offsets)

    # joints

    def joint_accelerations(self, s, motion, accelerations, changes, vector, offset, velocities=False):
        """Append v̇ of the joints from the accelerations of the bodies, written to `vector` from `offset` on.

        changes      the accelerations are changes of velocity: without the terms that are quadratic in velocities
        velocities   True: they are velocities; those of moving grounds count
        """
        moving = any(ground.moves for ground in self.system.grounds) and (velocities or not changes)
        if moving:
            roots = add_carried(s, self, velocities)[self.system.ground_of_link]
        else:
            roots = s.reserve(SIX)
            s.call([ca.Function("none", [time], [ca.SX.zeros(SIX)])], ["t", "memory"], [0], [[0], [roots]])
        link = allocate_blocks(s, np.full(self.n, SIX))
        parent = np.where(self.tree.parents >= 0, link[self.tree.parents], roots)
        vectors = ["x", motion.vector, "constants", *["memory"] * 5, vector]
        offsets = [
            self.q,
            motion.offset + self.v,
            motion.data,
            motion.above,
            motion.link,
            accelerations,
            parent,
            link,
            offset + self.v,
        ]
        functions = [c.change if changes else c.acceleration for c in self.link_classes]
        s.call(functions, vectors, self.kinds, offsets)

    def velocities_of_joints(self):
        """The kernel (t, x, V) → w: velocities of the joints from those of all bodies, (ẋ, ω) of each."""
        s = Schedule("adopted", {"t": 1, "x": self.layout.x, "V": SIX * self.n}, {"w": self.layout.v}, self.constants)
        motion = self.motion(s)
        of_bodies = allocate_blocks(s, np.full(self.n, SIX))
        every = np.arange(SIX * self.n)
        call_in_blocks(s, lambda x: x, ["V", "memory"], [every, of_bodies[0] + every])
        self.joint_accelerations(s, motion, of_bodies, True, "w", 0, velocities=True)
        return s

    def counting(self, name, what):
        """The kernel of the counted angles, or of their rates; what: `coordinates` or `rates` of a class of rows."""
        output = "turn" if name == "turns" else "spin"
        s = Schedule(name, self.inputs("t", "x", "p"), {output: len(self.turns)}, self.constants)
        chosen = np.array([k for k in self.angle_offsets if self.system.loops[k].dof], int)
        if len(self.turns):
            first = self.system.first_loop
            ends = self.end_motions(self.motion(s))[first:][chosen]
            frames = self.frames[first:][chosen]
            classes, kinds = self.system.rows
            at = np.array([self.angle_offsets[k] for k in chosen.tolist()])
            functions = [angles_of_class(c, getattr(c, what)) for c in classes]
            vectors = ["memory", "memory", "constants", "p", output]
            s.call(functions, vectors, kinds[first:][chosen], [*ends.T, frames, at, at - self.input_layout.count])
        return s


def input_place(inputs, layout, symbol):
    """Vector and offset of the value of a parameter, memory or state; inputs: the `InputLayout` of the model."""
    k = inputs.place(symbol)
    states = layout.states
    return ("x", layout.q + layout.v + 1 + states.index(k)) if k in states else ("p", k)
