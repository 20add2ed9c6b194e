"""Values in the equations of constraints besides motions and constants: time, inputs, coordinates of joints, activity."""

from functools import cached_property

import numpy as np

from .group_schedule import call_in_blocks
from .moving_grounds import moving_ends
from .stated_rows import StatedRows
from .tree_schedule import allocate_blocks


class FurtherValues:
    """The further values of all constraints of a system.

    all_holonomic   True if all rows are at position level
    """

    def __init__(self, passes):
        self.passes = passes
        self.system = passes.system
        self.all_holonomic = all(trace.holonomic for trace in passes.system.traces)

    def copy(self, s, positions_only=False):
        """Append copies of the values to a schedule, a contiguous block for each constraint. Returns the offsets of the blocks.

        positions_only   rows at velocity level are not active
        """
        level = 0 if self.all_holonomic else s.keep([float(not positions_only)])
        places = self._places_of_all(level)
        sizes = [len(of_one) for of_one in places]
        if not sum(sizes):
            return np.zeros(len(sizes), int)
        offsets = allocate_blocks(s, sizes)
        source = [place for of_one in places for place in of_one]
        at = np.array([offset for _, offset in source])
        target = offsets[0] + np.arange(len(source))
        for vector in ("t", "p", "x", "constants"):
            own = np.array([name == vector for name, _ in source])
            if own.any():
                call_in_blocks(s, lambda x: x, [vector, "memory"], [at[own], target[own]])
        return offsets

    def numbers(self, t, x, p):
        """The values of every constraint at a state: one row each, with zeros at its end."""
        places = self._places_of_all(0)
        numbers = np.zeros((len(places), max(map(len, places), default=0)))
        vectors = {"t": [t], "p": p, "x": x, "constants": [1.0]}
        for row, own in zip(numbers, places):
            row[: len(own)] = [vectors[vector][offset] for vector, offset in own]
        return numbers

    def _places_of_all(self, level):
        """`_places` of every constraint."""
        system = self.system
        moving = moving_ends(system).any(axis=1).tolist()
        every = zip(system.traces, system.switches, moving)
        return [self._places(trace, memories, level, m) for trace, memories, m in every]

    def _places(self, trace, memories, level, moving):
        """Vector and offset of each value in the equations of a constraint, in the order of the class.

        memories   that are all 1 while the constraint holds
        moving     True if an end is a moving ground
        level      offset of the number that says whether rows at velocity level are active
        """
        passes = self.passes
        last = [passes.input_place(memory.symbol) for memory in memories]
        last += [] if trace.holonomic else [("constants", level)]
        if not isinstance(trace, StatedRows):
            return [("t", 0), *last] if moving else last
        places: list = [("t", 0), *map(passes.input_place, trace.inputs)]
        for joint in trace.joints:
            link = self.system.link_in_rn(joint)
            if link is not None:
                places += [("x", int(passes.q[link]) + k) for k in range(joint.dof)]
                continue
            angles = iter(range(passes.angle_offsets[self._loop[id(joint)]], passes.layout.p))
            unread = ("t", 0)  # for a coordinate that is not counted
            places += [("p", next(angles)) if joint.angular[k] else unread for k in range(joint.dof)]
        return places + last

    @cached_property
    def _loop(self):
        """Index of each loop, by the id of its constraint."""
        return {id(c): k for k, c in enumerate(self.system.loops)}
