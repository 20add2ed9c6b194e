"""The base class of constraints. A new constraint is one class in one file; see docs/extend.md.

A **constraint** keeps an expression of the bodies' poses at zero, g(x, R, t) = 0, or one of their velocities,
ψ(x, R, ẋ, ω, t) = 0, linear in ẋ and ω. It declares one of the two; everything else is derived from it.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import casadi as ca

from ..elements import quantity
from ..elements.element import DERIVED, POSITION_LEVEL, VELOCITY_LEVEL, Element, Statement
from ..elements.lazy_attributes import Signal
from ..errors import ModelError


class Trace(NamedTuple):
    """The equations of one kind of connection, as a function.

    sound   whether they are a column of equations of two bodies' motions at the right level, one name per row, whatever
            the bodies and frames are
    """

    function: ca.Function
    holonomic: bool
    directions: list[str]
    sound: bool


class Equations(NamedTuple):
    """What a constraint says, in signals of bodies and time: g or ψ, and for a joint its coordinates and rates."""

    position: ca.SX | None
    velocity: ca.SX | None
    directions: list[str]
    coordinates: Any = None
    rates: Any = None


@dataclass(frozen=True, eq=False)
class Constraint(Element):
    """Base of everything that takes freedom away."""

    kind: ClassVar[str] = "constraint"
    key: ClassVar[str] = "constraint"
    multiplier = Signal("reaction", lambda element: element.rows_kept)  # one per row; None before it is added
    connects_bodies: ClassVar[bool] = False  # True: between frames of two bodies, with a reaction force and torque
    has_coordinates: ClassVar[bool] = False  # True: a joint
    dof: ClassVar[int] = 0  # number of coordinates
    angular: ClassVar[tuple[bool, ...]] = ()  # one flag per coordinate: True for an angle that may turn many times
    quasi: ClassVar[bool] = False  # True: velocities are not the rates of the coordinates, v ≠ q̇ away from q = 0
    turn: ClassVar[Any] = ca.SX(0, 1)  # values near which angles are counted over full turns, one per coordinate
    rows_kept: ClassVar[int | None] = None  # how many there are, once its equations are known to be sound

    @property
    def driven_coordinate(self) -> tuple[Any, int] | None:
        """The joint and the index of the coordinate that a drive prescribes; None: it prescribes none."""
        return None

    @property
    def limited_coordinate(self) -> tuple[Any, int] | None:
        """The joint and the index of the coordinate that is kept between stops; None: there is none."""
        return None

    def imposed_rotation(self) -> ca.SX | None:
        """The rotation matrix R(t) that is imposed on a body; None: none is."""
        return None

    @property
    def intermittent(self) -> bool:
        """True for contacts, stops and dry friction, which hold as the motion decides."""
        return self.one_sided or self.dry_friction

    @property
    def precedence(self) -> int:
        """Where rows depend on each other, the lowest are kept: 0 of lasting constraints, 1 of contacts, 2 of friction."""
        return 2 if self.dry_friction else int(self.one_sided)

    def __post_init__(self):
        """What each element of a kind has of its own."""

    def position(self) -> ca.SX | None:
        """g, a column that is kept at zero, in signals of bodies and time; None for a velocity-level constraint."""
        return None

    def velocity(self) -> ca.SX | None:
        """ψ, a column linear in the velocities that is kept at zero; only where `position` is None."""
        return None

    def directions(self) -> list[str]:
        """One short name per row, for messages and labels."""
        g = self.position()
        rows: Any = self.velocity() if g is None else g
        return [f"row {k}" for k in range(rows.shape[0])]

    def equations(self) -> Equations:
        """All that is declared, at once."""
        return Equations(self.position(), self.velocity(), self.directions())

    def trace(self) -> Trace | None:
        """The trace that this element shares with all of its kind, see `Connection`; None where it has none."""
        return None

    def statements(self) -> list[Statement]:
        stated = self.equations()
        rows, allowed = (
            (stated.velocity, VELOCITY_LEVEL) if stated.position is None else (stated.position, POSITION_LEVEL)
        )
        if not isinstance(rows, ca.SX) or rows.shape[1] != 1:
            raise ModelError(f"{self.owner}: declares no column of equations, got {quantity.show(rows)}")
        if rows.shape[0] != len(stated.directions):
            counts = f"{rows.shape[0]} rows and {len(stated.directions)} directions"
            raise ModelError(f"{self.owner}: has {counts}; give one name per row")
        if any(row.is_constant() for row in ca.vertsplit(rows)):
            raise ModelError(f"{self.owner}: each equation must contain a body's motion or a joint's coordinate")
        found = [Statement("its equation", rows, allowed)]
        derived = [x for x in (stated.coordinates, stated.rates) if x is not None]
        return found + [Statement("a joint coordinate", x, DERIVED) for x in derived]


def in_world(element, vector):
    """A vector in world axes, in those of the model that an element was described in: a component that is turned keeps the
    meaning of its rows and multipliers."""
    world = element.world
    return vector if world is None or not world.turned else world.start_rotation.T @ vector
