"""A system that is ready to run: everything about it as plain data."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..formulations.scales import rounded
from .choice import Choice
from .waist import Layout


@dataclass
class System:
    """Everything a run needs, as plain data and kernels; no mechanics left in it."""

    sizes: dict  # q, v, parameters, turns, multipliers, outputs
    bodies: list
    coordinates: list  # names of the velocities
    states: list  # (name, place among the inputs) of each number of the user's states
    joint_coordinates: list  # labels
    coordinate_units: list  # "rad" or "m" each
    connections: list  # names
    rows: list  # (label, description) of all declared rows of the formulation
    declared: list  # the same of every constraint that results tell a multiplier of, joints that carry a tree included
    choice: Choice  # what is chosen about the kernels at the start
    watches: float  # part of its conditioning down to which what was chosen is kept; 0: nothing has to be watched
    redundant: list  # places in rows
    left_out: list  # what is redundant as results tell it: places in declared
    shared: list  # names of constraints whose reactions are not unique
    undetermined: dict  # what is not unique of them: `start/uniqueness.py`
    freedom: int
    start_freedom: int
    partition: dict  # dependent coordinates and their measures, where a run asks for them
    linear: list  # 1 for a velocity that is a length per time, 0 for an angular one
    length: float
    scales: dict  # `formulations.scales.Scales`, as plain data
    mass: float  # of all bodies together, and the sum of their moments of inertia: what energies are measured against
    inertia: float
    layout: list  # (name, size) of the outputs
    signals: list
    t: float
    q: list
    v: list
    p: list
    changes: list
    fingerprint: str

    @cached_property
    def state(self):
        """How a state is made of its parts."""
        return Layout(self.sizes["q"], self.sizes["v"], len(self.p), tuple(place for _, place in self.states))

    def component(self, place):
        """What a component of the rate of a state is, in words."""
        n = self.sizes["v"]
        if place < 2 * n:
            return f"{self.coordinates[place % n]!r}"
        return "the work" if place == 2 * n else f"state {self.states[place - 2 * n - 1][0]!r}"

    def output_name(self, place):
        """What an output is, in words."""
        starts = np.cumsum([0, *[size for _, size in self.layout]])
        part = int(np.searchsorted(starts, place, side="right")) - 1
        (name, size), place = self.layout[part], place - int(starts[part])
        words, per_body = name.replace("_", " "), size // max(len(self.bodies), 1)
        if name == "signals":
            return f"signal {self.signals[place]!r}"
        if name in ("coordinate", "rate", "coordinate_acceleration"):
            return f"{words} of {self.joint_coordinates[place]!r}"
        if name in ("reaction_force", "reaction_torque"):
            return f"{words} of {self.connections[place // 3]!r}"
        if name == "multiplier":
            return f"{words} of {self.declared[place][0]!r}"
        return f"{words} of {self.bodies[place // per_body]!r}" if size > 1 else words

    def shown(self, used):
        """What results tell multipliers of, where these rows were in use: places in `declared`, each with its place in `rows`;
        None for a row that a tree satisfies by itself, which always holds."""
        if self.rows is self.declared:
            return [(k, k) for k in sorted(used)]
        own, used = {label: k for k, (label, _) in enumerate(self.rows)}, set(used)
        every = [(k, own.get(label)) for k, (label, _) in enumerate(self.declared)]
        return [(k, row) for k, row in every if row is None or row in used]

    @classmethod
    def restored(cls, facts):
        """From plain data."""
        return cls(**{**facts, "choice": Choice.restored(facts["choice"])})

    @property
    def keep(self):
        """Rows in use at the start."""
        return list(self.choice.keep)

    @property
    def told(self):
        """Rows whose multipliers results tell: those in use at the start, and redundant ones where they share loads."""
        return sorted({*self.choice.keep, *(self.redundant if self.choice.shares else ())})

    @property
    def unit(self):
        """Unit of length of the kernels [m]."""
        return rounded(self.length)
