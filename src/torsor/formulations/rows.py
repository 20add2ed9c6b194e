"""The constraints of a model as rows: residuals, Jacobian and acceleration right-hand side, all derived.

    0 = g(x, R, t)                                                     position level                   (1)
    0 = ψ = G v + g_t              G = ∂ψ/∂v                           velocity level                   (2)
    0 = G v̇ − γ,                   γ = −(ψ̇ at held v)                 acceleration level               (3)

A holonomic constraint declares g and ψ is its rate; a velocity-level one declares ψ.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..errors import ModelError
from ..tables.calls import plain
from .lie_derivative import rate, velocities
from .scales import Scales


@dataclass(frozen=True)
class Row:
    """One scalar equation: which constraint it belongs to, its place there, and what it stops."""

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
        """What its constraint connects, in words: bodies by their paths."""
        c = getattr(self.constraint, "joint", self.constraint)
        names = [
            repr(x.name) for x in (getattr(c, what, None) for what in ("first", "second", "body")) if x is not None
        ]
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
    rate_of: Callable  # of an expression along the motion, velocities held

    @cached_property
    def gamma(self):
        return -self.rate_of(self.psi)  # (3)

    def rows(self):
        return [Row(self.constraint, k, self.directions[k], self.holonomic) for k in range(self.psi.shape[0])]


def derive(constraint, substitution):
    """All levels of one constraint, or None if it has no rows."""
    stated = constraint.equations()
    g, psi = stated.position, stated.velocity
    raw = g if g is not None else psi
    if raw is None:
        raise ModelError(f"{constraint.owner}: declares neither a position- nor a velocity-level equation")
    if raw.shape[0] == 0:
        return None
    substitution.needs_orientation(constraint, raw)
    holonomic = g is not None
    first = substitution.of(raw)
    bodies = substitution.bodies(first)
    if not bodies:
        raise ModelError(f"{constraint.owner}: no moving body occurs in it")
    rate_of = lambda x: rate(x, substitution.bodies(x), substitution.states(x))
    psi = rate_of(first) if holonomic else first  # (2)
    G = [plain(ca.jacobian(psi, velocities(body))) for body in bodies]
    speeds = ca.vertcat(*[velocities(body) for body in bodies])
    if ca.depends_on(ca.vertcat(*[ca.vec(J) for J in G]), speeds):
        level = "position" if holonomic else "velocity"
        raise ModelError(f"{constraint.owner}: a {level}-level constraint must be linear in the velocities")
    g = first if holonomic else ca.SX.zeros(raw.shape[0])
    return Block(constraint, holonomic, bodies, stated.directions, g, psi, G, rate_of)


class RowsInUse(ABC):
    """Which declared rows hold at present and are in the equations, and in which units they are compared: all that a start, a
    diagnosis and a choice of dependent coordinates ask of a formulation besides its numeric functions.

    rows, keep     declared rows, and places of those that the kernels use
    turns          angles that are counted over full turns: (joint, place)
    released       identities of the constraints that do not hold at present
    dependent      velocities that follow from the others, in formulations that split them
    metric         of projections: "mass", "plain", "pseudoinverse", or dependent coordinates for positions and velocities
    scales         in which unit lengths and rows are compared
    examined       functions of flat vectors: residuals and Jacobian of all declared rows …
    """

    rows: list[Row]
    keep: list[int]
    dependent: list
    metric: Any
    examined: Any
    absolute: Any
    watches = False  # whether the last entry of the factor tells how well dependent velocities are chosen
    shares = False  # whether redundant constraints share loads: `load_sharing.py`
    conjugate = False  # whether momenta stand in a state in the place of velocities

    def __init__(self, model):
        self.model = model
        self.rows, self.dependent = [], []
        self.turns: list[tuple[Any, int]] = []
        self.metric, self.scales = "mass", Scales()
        self.released = self._not_acting(e for e in model.switched if not e.acts)

    def active_rows(self):
        """Places of the rows whose constraints hold at present."""
        return [k for k, row in enumerate(self.rows) if id(row.constraint) not in self.released]

    def release(self, constraints):
        """From now on exactly these constraints do not hold; which rows depend on others has to be found anew."""
        known = {id(element) for element in self.model.switched}
        for c in constraints:
            if id(c) not in known:
                raise ModelError(f"{c.owner}: no event engages or releases it, so that it always holds")
        self.released = self._not_acting(constraints)
        self.keep, self.dependent = self.active_rows(), []

    def _not_acting(self, released):
        """Identities of these elements, and of the constraints that act in joints among them."""
        found = {id(element) for element in released}
        among = self.model.constraints if found else ()
        return found | {id(c) for c in among if any(id(joint) in found for joint in c.within())}

    @cached_property
    def places(self):
        """Places of the rows of every constraint that has rows here."""
        found: dict = {}
        for k, row in enumerate(self.rows):
            found.setdefault(id(row.constraint), []).append(k)
        return found

    def held(self):
        """Places among the rows in use of those at position level."""
        return [k for k, row in enumerate(self.keep) if self.rows[row].holonomic]

    def loose_contacts(self):
        """Rows of closed contacts that are not in the equations, since rows that are hold the same."""
        kept = set(self.keep)
        return [k for k in self.active_rows() if self.rows[k].constraint.rank == 1 and k not in kept]

    def beside(self):
        """Rows of dry friction that sticks and is not in the equations, since rows that are hold the same."""
        sticks = lambda k: self.rows[k].constraint.rank == 2
        kept = set(self.keep)
        return [k for k in self.active_rows() if sticks(k) and k not in kept] if any(map(sticks, kept)) else []

    def spare(self):
        """Redundant rows that take a share of the loads, where that is asked for: those of constraints that are neither contacts
        nor friction."""
        kept = set(self.keep)
        return (
            [k for k in self.active_rows() if k not in kept and self.rows[k].constraint.rank == 0]
            if self.shares
            else []
        )

    @abstractmethod
    def coordinate_names(self) -> list[str]:
        """One name per velocity."""

    @abstractmethod
    def carried(self) -> list[str]:
        """The body that each velocity moves, by name."""

    @abstractmethod
    def linear(self) -> list[int]:
        """1 for every velocity that is a length per time, 0 for an angular one."""

    def choose(self, examiner, t, q, p):
        """Choose what depends on what at a configuration; nothing to choose here."""
        return

    def adopt(self, t, q, v, p):
        """The state that corresponds to one in absolute coordinates: itself, where these are the coordinates."""
        if "adopt" not in self.examined:
            return q, v, p
        own_q, own_v = (x.ravel() for x in self.examined["adopt"](t, q, v, p))
        inputs = len(self.model.inputs)
        turned = {(j.name, k): p[inputs + i] for i, (j, k) in enumerate(self.absolute.turns)}
        turns = [turned[j.name, k] for j, k in self.turns]
        return own_q, own_v, np.concatenate([p[:inputs], turns])

    # units

    def measure(self, scales):
        """Compare lengths and rows in these units from now on."""
        self.scales = scales

    def row_units(self, rows=None):
        """Units of some rows; of those in use where none are named."""
        return self.scales.row_units([self.rows[k].label for k in (self.keep if rows is None else rows)])

    def column_units(self):
        """Units of the velocities."""
        return [self.scales.unit if along else 1.0 for along in self.linear()]
