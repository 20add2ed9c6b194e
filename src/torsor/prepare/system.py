"""A system that is ready to run, as plain data."""

from dataclasses import dataclass
from functools import cached_property

from ..formulations.algebra.scales import nearest_unit
from ..formulations.output_layout import OutputLayout
from .choice import Choice
from .state_space import Layout


@dataclass
class System:
    """Everything that a run needs besides kernels, as plain data. Checkpoints store it."""

    sizes: dict  # of q, v, parameters, turns and multipliers
    bodies: list
    coordinates: list  # names of the velocities
    states: list  # (name, place in p) of each of the user's states
    joint_coordinates: list  # labels
    coordinate_units: list  # "rad" or "m" each
    connections: list  # names
    rows: list  # (label, description) of all declared rows of the formulation
    declared: list  # the same for all constraints with a multiplier in results, including the joints of a spanning tree
    choice: Choice  # of the kernels at the start
    watches: float  # relative conditioning below which the choice is made again; 0: never
    redundant: list  # places in rows
    left_out: list  # redundant rows, as places in declared
    shared: list  # names of constraints whose reactions are not unique
    undetermined: dict  # their components that are not unique: `start/reaction_uniqueness.py`
    freedom: int
    start_freedom: int
    partition: dict  # dependent coordinates and their conditioning, if the projection uses them
    linear: list  # 1 for a linear velocity, 0 for an angular one
    length: float  # size of the model [m]
    scales: dict  # `formulations.algebra.scales.Scales`, as plain data
    mass: float  # sum of all masses, a reference for energies
    inertia: float  # sum of all moments of inertia, likewise
    layout: list  # (name, size) of the outputs
    signals: list
    t: float
    q: list
    v: list
    p: list
    changes: list  # differences from the specified start, as texts
    fingerprint: str
    through_tables: bool = False  # True: class kernels are called through tables (`large_systems.py`)

    @cached_property
    def state(self):
        """Layout of a state."""
        return Layout(self.sizes["q"], self.sizes["v"], len(self.p), tuple(place for _, place in self.states))

    @cached_property
    def outputs(self):
        """Layout of a row of outputs."""
        return OutputLayout(self.layout)

    def component(self, place):
        """Description of a component of the rate of a state."""
        n = self.sizes["v"]
        if place < 2 * n:
            return f"{self.coordinates[place % n]!r}"
        return "the work" if place == 2 * n else f"state {self.states[place - 2 * n - 1][0]!r}"

    def output_name(self, place):
        """Description of an output."""
        name, place = self.outputs.name_and_index(place)
        size = dict(self.layout)[name]
        words = name.replace("_", " ")
        per_body = size // max(len(self.bodies), 1)
        if name == "signals":
            return f"signal {self.signals[place]!r}"
        if name in ("coordinate", "rate", "coordinate_acceleration"):
            return f"{words} of {self.joint_coordinates[place]!r}"
        if name in ("reaction_force", "reaction_torque"):
            return f"{words} of {self.connections[place // 3]!r}"
        if name == "multiplier":
            return f"{words} of {self.declared[place][0]!r}"
        return f"{words} of {self.bodies[place // per_body]!r}" if size > 1 else words

    def multiplier_pairs(self, used):
        """Rows with a multiplier in results, if the rows `used` were in use: pairs of places in `declared` and in `rows`.

        The second is None for a row of a joint of the spanning tree, which is always in use.
        """
        if self.rows is self.declared:
            return [(k, k) for k in sorted(used)]
        rows = {label: k for k, (label, _) in enumerate(self.rows)}
        used = set(used)
        pairs = [(k, rows.get(label)) for k, (label, _) in enumerate(self.declared)]
        return [(k, row) for k, row in pairs if row is None or row in used]

    @classmethod
    def from_facts(cls, facts):
        """A system from plain data, as in a checkpoint."""
        return cls(**{**facts, "choice": Choice.from_facts(facts["choice"])})

    @property
    def keep(self):
        """Rows in use at the start."""
        return list(self.choice.keep)

    @property
    def multiplier_rows(self):
        """Rows with a multiplier in results: those in use at the start, and redundant ones if they share loads."""
        return sorted({*self.choice.keep, *(self.redundant if self.choice.shares else ())})

    @property
    def unit(self):
        """Unit of length of the kernels [m]."""
        return nearest_unit(self.length)
