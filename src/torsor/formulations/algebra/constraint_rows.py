"""The constraints of a model as rows: residuals, Jacobian and acceleration right-hand side, all derived.

    0 = g(x, R, t)                                                     position level                   (1)
    0 = ψ = G v + g_t              G = ∂ψ/∂v                           velocity level                   (2)
    0 = G v̇ − γ,                   γ = −(ψ̇ at constant v)             acceleration level               (3)

A holonomic constraint declares g and ψ is its rate; a velocity-level one declares ψ.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ...errors import ModelError
from ...lookup.lookup_calls import plain
from .lie_derivative import rate, velocities
from .scales import Scales

SOFTNESS = 1e-7  # compliance of contacts and friction in flagged kernels, over the diagonal entry of S


@dataclass(frozen=True)
class Row:
    """One scalar constraint equation: its constraint, its index there, and the direction that it blocks."""

    constraint: Any
    index: int
    direction: str
    holonomic: bool

    @property
    def label(self):
        return f"{self.constraint.name}[{self.index}]"

    def __str__(self):
        return f"{self.constraint.name}: {self.direction}"

    @property
    def between(self):
        """The bodies that the constraint connects, as text for messages."""
        c = getattr(self.constraint, "joint", self.constraint)
        bodies = (getattr(c, attribute, None) for attribute in ("first", "second", "body"))
        names = [repr(x.name) for x in bodies if x is not None]
        return f" {'between' if len(names) > 1 else 'of'} {' and '.join(names)}" if names else ""


@dataclass
class Block:
    """The rows of one constraint."""

    constraint: Any
    holonomic: bool
    bodies: list
    directions: list
    g: ca.SX
    psi: ca.SX
    G: list  # one matrix per body
    rate_of: Callable  # expression → its rate along the motion at constant velocities

    @cached_property
    def gamma(self):
        return -self.rate_of(self.psi)  # (3)

    def rows(self):
        return [Row(self.constraint, k, self.directions[k], self.holonomic) for k in range(self.psi.shape[0])]


def derive(constraint, substitution):
    """The block of rows of one constraint at all levels, or None if it has no rows."""
    equations = constraint.equations()
    g = equations.position
    raw = g if g is not None else equations.velocity
    if raw is None:
        raise ModelError(f"{constraint.owner}: declares neither a position- nor a velocity-level equation")
    if raw.shape[0] == 0:
        return None
    substitution.require_orientation(constraint, raw)
    holonomic = g is not None
    declared = substitution.of(raw)
    bodies = substitution.bodies(declared)
    if not bodies:
        raise ModelError(f"{constraint.owner}: no moving body occurs in it")

    def rate_of(x):
        return rate(x, substitution.bodies(x), substitution.states(x))

    psi = rate_of(declared) if holonomic else declared  # (2)
    G = [plain(ca.jacobian(psi, velocities(body))) for body in bodies]
    v = ca.vertcat(*[velocities(body) for body in bodies])
    if ca.depends_on(ca.vertcat(*[ca.vec(J) for J in G]), v):
        level = "position" if holonomic else "velocity"
        raise ModelError(f"{constraint.owner}: a {level}-level constraint must be linear in the velocities")
    g = declared if holonomic else ca.SX.zeros(raw.shape[0])
    return Block(constraint, holonomic, bodies, equations.directions, g, psi, G, rate_of)


def constraint_switches(constraint, model):
    """The memories that are all 1 while a constraint is active; none for a constraint that always is."""
    switched = {id(element) for element in model.switched_elements}
    return [element.active for element in (constraint, *constraint.within()) if id(element) in switched]


class RowsInUse(ABC):
    """The declared constraint rows, those that are active and in the equations, and their units.

    The start, the diagnosis and the choice of dependent coordinates use this class and the numeric functions `start_functions`.

    rows        declared rows
    keep        indices of the rows that the kernels use: "the rows in use"
    turns       angles that are counted over full turns: (joint, index of the coordinate)
    released    identities of the constraints that are not active
    flagged     True if the rows in use include those of all constraints that events switch; kernels read from p which are active
    soft        True if these kernels also serve structures whose active rows depend on each other (`softness`)
    dependent   dependent velocities, in formulations that split velocities
    metric      of projections: "mass", "plain", "pseudoinverse", ("own", key of a projection, its options, digest of its source),
                or the dependent coordinates for positions and velocities
    scales      units of lengths and rows
    start_functions  functions of flat vectors: residuals and Jacobian of all declared rows …
    """

    rows: list[Row]
    keep: list[int]
    dependent: list
    metric: Any
    start_functions: Any
    absolute: Any
    watches = False  # True if the last entry of the factor measures the conditioning of the dependent velocities
    flagged = False
    soft = False
    shares = False  # True if redundant constraints share loads: `formulations/graphs/reaction_sharing.py`
    conjugate = False  # True if the state contains momenta instead of velocities

    def __init__(self, model):
        self.model = model
        self.rows, self.dependent = [], []
        self.turns: list[tuple[Any, int]] = []
        self.metric, self.scales = "mass", Scales()
        self.released = self._inactive(e for e in model.switched_elements if not e.acts)

    def active_rows(self):
        """Indices of the rows whose constraints are active."""
        return [k for k, row in enumerate(self.rows) if id(row.constraint) not in self.released]

    def release(self, constraints):
        """Make exactly these constraints inactive, and all others active. The redundant rows must be found again afterwards."""
        switchable = {id(element) for element in self.model.switched_elements}
        for c in constraints:
            if id(c) not in switchable:
                raise ModelError(f"{c.owner}: no event engages or releases it, so that it always holds")
        self.released = self._inactive(constraints)
        self.keep = self.active_rows()
        self.dependent = []

    def _inactive(self, released):
        """Identities of the released elements, and of the constraints that act in released joints."""
        inactive = {id(element) for element in released}
        constraints = self.model.constraints if inactive else ()
        return inactive | {id(c) for c in constraints if any(id(joint) in inactive for joint in c.within())}

    @cached_property
    def rows_of_constraint(self):
        """Indices of the rows of each constraint that has rows here, by the identity of the constraint."""
        indices: dict = {}
        for k, row in enumerate(self.rows):
            indices.setdefault(id(row.constraint), []).append(k)
        return indices

    def activity(self, rows):
        """F: for each of these rows 1 if its constraint is active, else 0, in symbols of p; None if `flagged` is not set.

        A row is active if the constraint is, and every joint within which the constraint acts.
        """
        if not self.flagged:
            return None
        return ca.vertcat(*[ca.SX(1), *(self._activity(self.rows[k].constraint) for k in rows)])[1:]

    def _activity(self, constraint):
        """The product of the symbols that tell whether a constraint is active."""
        flag = ca.SX(1)
        for memory in constraint_switches(constraint, self.model):
            flag *= memory.symbol
        return flag

    def softness(self, rows):
        """Relative compliance of each of these rows if `soft` is set: `SOFTNESS` for those of contacts and friction; else None.

        Contacts and friction may depend on each other and on other rows. With some compliance their multipliers are unique.
        """
        if not self.soft or not any(self.rows[k].constraint.intermittent for k in rows):
            return None
        return ca.DM([SOFTNESS if self.rows[k].constraint.intermittent else 0.0 for k in rows])

    def position_rows(self):
        """Positions, within the rows in use, of the rows at position level."""
        return [k for k, row in enumerate(self.keep) if self.rows[row].holonomic]

    def redundant_contact_rows(self):
        """Active rows of closed contacts that are not in the equations because they depend on rows in use."""
        kept = set(self.keep)
        return [k for k in self.active_rows() if self.rows[k].constraint.one_sided and k not in kept]

    def redundant_friction_rows(self):
        """Active rows of sticking dry friction that are not in the equations because they depend on rows in use.

        Empty if no friction row is in use.
        """
        kept = set(self.keep)

        def is_friction(k):
            return self.rows[k].constraint.dry_friction

        if not any(map(is_friction, kept)):
            return []
        return [k for k in self.active_rows() if is_friction(k) and k not in kept]

    def load_sharing_rows(self):
        """Redundant rows, other than those of contacts and friction, that take a share of the loads if `shares` is set."""
        if not self.shares:
            return []
        kept = set(self.keep)
        return [k for k in self.active_rows() if k not in kept and not self.rows[k].constraint.intermittent]

    @abstractmethod
    def coordinate_names(self) -> list[str]:
        """One name per velocity."""

    @abstractmethod
    def moved_bodies(self) -> list[str]:
        """For each velocity, the name of the body that it moves."""

    @abstractmethod
    def linear(self) -> list[int]:
        """1 for every velocity that is a length per time, 0 for an angular one."""

    def choose(self, examiner, t, q, p):
        """Choose the dependent velocities at a configuration. The default does nothing."""
        return

    def adopt(self, t, q, v, p):
        """The state (q, v, p) of this formulation from a state in absolute coordinates.

        A formulation in absolute coordinates returns its arguments.
        """
        if "adopt" not in self.start_functions:
            return q, v, p
        own_q, own_v = (x.ravel() for x in self.start_functions["adopt"](t, q, v, p))
        inputs = self.model.input_layout
        places = inputs.turn_places(self.absolute.turns)
        turns = [p[places[j.name, k]] for j, k in self.turns]
        return own_q, own_v, np.concatenate([p[inputs.model_inputs], turns])

    # units

    def measure(self, scales):
        """Set the scales, from which the units of lengths and rows follow."""
        self.scales = scales

    def row_units(self, rows=None):
        """Units of the given rows; by default of the rows in use."""
        return self.scales.row_units([self.rows[k].label for k in (self.keep if rows is None else rows)])

    def column_units(self):
        """Units of the velocities."""
        return [self.scales.unit if linear else 1.0 for linear in self.linear()]
