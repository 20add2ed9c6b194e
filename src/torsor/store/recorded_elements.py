"""Recorded elements: elements of classes that are defined outside torsor, stored as the expressions that they declare.

A joint or another connection is recorded as functions of coordinates q and of the relative pose H, with symbols for these; a
constraint by its rows, a force by its energies and efforts. Memories and events of an element are code and cannot be recorded.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from ..elements.element import Element, fill_in, initial
from ..errors import ModelError
from ..forces import Force
from ..joints import Connection, Constraint, Joint
from ..joints.alignment import choose_rows, strict_equations

SAMPLES = 3  # random points at which an element and its record are compared


class _ShortRepr:
    """Shows an element by its name only: its expressions are long."""

    name: str
    called: str
    texts: ClassVar[tuple[str, ...]] = ("called", "named")

    def __repr__(self):
        return f"<{self.called} {self.name!r}, recorded>"


@dataclass(frozen=True, eq=False, repr=False)
class RecordedForce(_ShortRepr, Force):
    """A recorded force.

    called      registry key of its class
    energy      potential energy;   dissipated   dissipation function
    pairs       (velocity, effort), as `Force.efforts` returns them
    inside      joints in which it acts
    whole       True if events switch its whole effect
    """

    called: str = "force"
    energy: Any = None
    dissipated: Any = None
    pairs: tuple = ()
    inside: tuple = ()
    whole: bool = True

    def __post_init__(self):
        fill_in(self, key=self.called, gated=self.whole)

    def potential(self):
        return self.energy

    def dissipation(self):
        return self.dissipated

    def efforts(self):
        return list(self.pairs)

    def within(self):
        return list(self.inside)


@dataclass(frozen=True, eq=False, repr=False)
class RecordedConstraint(_ShortRepr, Constraint):
    """A recorded constraint: its rows at position or velocity level, and their names."""

    called: str = "constraint"
    rows: Any = None
    holonomic: bool = True
    named: tuple = ()

    def __post_init__(self):
        fill_in(self, key=self.called)

    def position(self):
        return self.rows if self.holonomic else None

    def velocity(self):
        return None if self.holonomic else self.rows

    def directions(self):
        return list(self.named)


class _Recorded(_ShortRepr):
    """Base of recorded connections and joints: constraint rows as a function of the relative pose.

    pose_symbol   symbol for the first three rows of H, column by column, in `rows`, `strict` and `cosines`
    rows          constraint rows
    strict, cosines   strict form of the rows and its cosines (`joints/alignment.py`)
    """

    called: str
    anchors: bool
    pose_symbol: Any
    rows: Any
    strict: Any
    cosines: tuple
    named: tuple

    def __post_init__(self):
        fill_in(self, key=self.called, anchored=self.anchors)

    def _at(self, H, *expressions):
        """Expressions in the pose symbol, evaluated at the relative pose H."""
        return ca.substitute([ca.SX(x) for x in expressions], [self.pose_symbol], [ca.vec(H[:3, :])])

    def residual(self, H):
        rows, strict, *cosines = self._at(H, self.rows, self.strict, *self.cosines)
        return choose_rows(rows, strict, cosines)

    def directions(self):
        return list(self.named)


@dataclass(frozen=True, eq=False, repr=False)
class RecordedConnection(_Recorded, Connection):
    """A recorded connection of two bodies."""

    called: str = "connection"
    anchors: bool = False
    pose_symbol: Any = None
    rows: Any = None
    strict: Any = None
    cosines: tuple = ()
    named: tuple = ()


@dataclass(frozen=True, eq=False, repr=False)
class RecordedJoint(_Recorded, Joint):
    """A recorded joint.

    symbol            symbol for q in `placing` and `moving`
    placing, moving   pose and motion subspace, functions of q
    found             coordinates, a function of the relative pose
    turning           for each coordinate, True if it is angular
    """

    called: str = "joint"
    anchors: bool = False
    pose_symbol: Any = None
    rows: Any = None
    strict: Any = None
    cosines: tuple = ()
    named: tuple = ()
    symbol: Any = None
    placing: Any = None
    moving: Any = None
    found: Any = None
    turning: tuple = ()
    about_axis: bool = False
    not_rates: bool = False

    def __post_init__(self):
        super().__post_init__()
        fill_in(self, dof=len(self.turning), angular=self.turning, axial=self.about_axis, quasi=self.not_rates)

    def _of(self, q, expression):
        """An expression in the coordinate symbol, evaluated at q."""
        return ca.substitute([ca.SX(expression)], [self.symbol], [ca.SX(q)])[0]

    def pose(self, q):
        return self._of(q, self.placing)

    def motion(self, q):
        return self._of(q, self.moving)

    def coordinates(self, H):
        return self._at(H, self.found)[0]


CLASSES = {cls.__name__: cls for cls in (RecordedForce, RecordedConstraint, RecordedConnection, RecordedJoint)}


def record(element):
    """The recorded element that replaces an element in a file; None if it cannot be recorded."""
    cls: Any = type(element)
    result: Any = None
    if cls.memories is not Element.memories or cls.events is not Element.events:
        return None
    if isinstance(element, Joint):
        if cls.joint_coordinates is not Joint.joint_coordinates or cls.joint_rates is not Joint.joint_rates:
            return None
        result = RecordedJoint(**_common_fields(element), **_pose_fields(element), **_coordinate_fields(element))
    elif isinstance(element, Connection):
        if element.residual(ca.SX.eye(4)) is None:
            return None
        result = RecordedConnection(**_common_fields(element), **_pose_fields(element))
    elif isinstance(element, Constraint):
        g, psi, named, *_ = element.equations()
        result = RecordedConstraint(element.name, element.key, psi if g is None else g, g is not None, tuple(named))
    elif isinstance(element, Force):
        efforts = tuple(tuple(pair) for pair in element.efforts())
        result = RecordedForce(
            element.name,
            element.key,
            element.potential(),
            element.dissipation(),
            efforts,
            tuple(element.within()),
            element.gated,
        )
    else:
        return None
    own = {"_home", "world", "acts", "_active", "rows_kept", "_signals", *(f"_{name}" for name in element._signals)}
    fill_in(result, **{name: value for name, value in vars(element).items() if name in own})
    return result if _same_equations(element, result) else None


def _common_fields(element):
    """The fields that all connections have."""
    base = {attribute: name for name, attribute in initial(element)}
    names = ("name", "first", "second", "point", "frames", "placed", "start", "start_rate", "cut", "armature")
    return {name: getattr(element, attribute) for attribute, name in base.items() if name in names}


def _pose_fields(element):
    """The fields of a record that are functions of the relative pose."""
    symbol = ca.SX.sym("pose", 12)
    H = ca.vertcat(ca.reshape(symbol, 3, 4), ca.SX([[0, 0, 0, 1]]))
    with strict_equations() as cosines:
        strict = element.residual(H)
    coordinates = {"found": element.coordinates(H)} if isinstance(element, Joint) else {}
    return coordinates | {
        "called": element.key, "anchors": element.anchored, "pose_symbol": symbol, "rows": element.residual(H),
        "strict": strict, "cosines": tuple(cosines), "named": tuple(element.directions()),
    }  # fmt: skip


def _coordinate_fields(joint):
    """The fields of a record that are functions of the coordinates."""
    symbol = ca.SX.sym("coordinate", joint.dof)
    return {
        "symbol": symbol, "placing": joint.pose(symbol), "moving": joint.motion(symbol),
        "turning": tuple(joint.angular), "about_axis": joint.axial, "not_rates": joint.quasi,
    }  # fmt: skip


def _same_equations(element, recorded):
    """True if both have the same equations, evaluated at random values of all symbols: a class may override any method."""
    first = _equations(element)
    second = _equations(recorded)
    if first.shape != second.shape:
        return False
    symbols = ca.symvar(ca.vertcat(first, second))
    f = ca.Function("equations", [ca.vertcat(*symbols, ca.SX(0, 1))], [first, second])
    random = np.random.default_rng(0)
    for _ in range(SAMPLES):
        a, b = (x.full() for x in f(random.uniform(0.2, 1.0, len(symbols))))
        if not np.allclose(a, b, rtol=1e-10, atol=1e-12, equal_nan=True):
            return False
    return True


def _equations(element):
    """All expressions that an element declares, in one column."""
    if isinstance(element, Force):
        pairs = [x for pair in element.efforts() for x in pair]
        parts = [element.potential(), element.dissipation(), *pairs]
    else:
        stated = Constraint.equations(element)
        parts = [stated.position, stated.velocity]
    if isinstance(element, Joint):
        parts += [element.coordinates(element.relative_pose()), element.joint_rates()]
    return ca.vertcat(*[ca.vec(ca.densify(ca.SX(x))) for x in parts if x is not None], ca.SX(0, 1))


def refusal(element) -> ModelError:
    """The error for an element that cannot be recorded."""
    return ModelError(
        f"{element.owner}: its class {type(element).__name__!r} is defined outside torsor, and its expressions alone do not "
        "describe it (it has memories or events, or overrides how equations are formed), so that the file could not be read"
    )
