"""The base class of joints, constraints, forces and controllers: name, model, and examples for the contract tests.

`statements()` returns the expressions that an element adds to a model, each with the kinds of symbols that it may contain.
`Model.add` checks them, so that elements need not.
"""

from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import casadi as ca
import numpy as np

from ..errors import ModelError
from . import quantity
from .argument_help import explain_arguments
from .lazy_attributes import storage_name, storage_of
from .model_item import Owned as Owned
from .model_item import fill_in as fill_in
from .placing import FRAMES

# kinds of symbols that an expression may contain; each set includes the one before
CONSTANT = ("parameter",)
TIME_DEPENDENT = (*CONSTANT, "time", "memory")
WITH_INPUTS = (*TIME_DEPENDENT, "input")
POSES = (*WITH_INPUTS, "pose")
MOTION = (*POSES, "velocity")
LOADED = (*MOTION, "state", "reaction")
ANYTHING = (*LOADED, "acceleration")
# Imposed motions, and equations of constraints at position and at velocity level: without inputs, which may jump; a motion that
# a constraint imposes must be continuous.
IMPOSED, POSITION_LEVEL, VELOCITY_LEVEL = (
    tuple(kind for kind in kinds if kind != "input") + ("state",) for kinds in (TIME_DEPENDENT, POSES, MOTION)
)
PARTICLE_ORIENTATION = "orientation of a particle"  # it has a symbol, but no meaning
DERIVED = (*MOTION, PARTICLE_ORIENTATION)  # in expressions that are evaluated from the motion, without a constraint


class Statement(NamedTuple):
    """One expression of an element.

    what        its name, for messages
    allowed     kinds of symbols that it may contain
    """

    what: str
    expression: Any
    allowed: tuple[str, ...]


REQUIRED: Any = None  # default of a required argument that follows optional arguments of a base class


class Posed(Protocol):
    """A body or a ground, as elements use it: a thing with a pose."""

    name: str
    position: ca.SX
    rotation: ca.SX
    velocity: ca.SX
    angular_velocity: ca.SX
    start_position: ca.SX
    start_rotation: ca.SX

    @property
    def owner(self) -> str:
        """Kind and name, for messages."""
        ...

    @property
    def reference(self) -> tuple[Any, Any]:
        """`start_position` and `start_rotation`, as numbers if they contain no symbols."""
        ...


_FIELDS: dict = {}


def initial(element):
    """Return the arguments of the element's constructor: pairs of a name and the attribute that stores the value."""
    cls = type(element)
    if cls not in _FIELDS:
        _FIELDS[cls] = [(f.name, storage_name(cls, f.name)) for f in fields(cls) if f.init]
    return _FIELDS[cls]


def frame_poses(element):
    """Return the poses of the two `frames` of an element; they must be frames of its `first` and its `second` body."""
    first, second, frames = element.first, element.second, element.frames
    pair = isinstance(frames, (tuple, list)) and len(frames) == 2
    if not pair or [getattr(f, "body", None) for f in frames] != [first, second]:
        raise ModelError(
            f"{element.owner}: frames must be a frame of {first.name!r} and a frame of {second.name!r} "
            f"(body.frame(...)), got {quantity.show(frames)}"
        )
    poses = [storage_of(f, "pose") for f in frames]
    return np.array(poses) if all(quantity.is_number(x) for x in poses) else tuple(f.pose for f in frames)


def pair_of_points(element):
    """Return the two `points` of an element, or (None, None)."""
    points = element.points
    if points is None:
        return (None, None)
    if not isinstance(points, (tuple, list, np.ndarray)) or len(points) != 2:
        raise ModelError(
            f"{element.owner}: points must be two points of 3 numbers, one of {element.first.name!r} and one of "
            f"{element.second.name!r}, got {quantity.show(points)}"
        )
    return tuple(quantity.given(p, 3, 1, "points", element.owner) for p in points)


def check_bodies(element):
    """Refuse `bodies` of an element that is not a list of bodies, is empty, or contains a body twice."""
    bodies = element.bodies
    if not isinstance(bodies, (tuple, list)) or not bodies or not all(hasattr(b, "mass") for b in bodies):
        raise ModelError(f"{element.owner}: bodies must be a list of bodies, got {quantity.show(bodies)}")
    if len({id(b) for b in bodies}) != len(bodies):
        raise ModelError(f"{element.owner}: bodies contains one of them twice: {quantity.show(bodies)}")


def default_axes(cls):
    """Return the default directions of an element class as lists, by the name of the argument."""
    found = {name: cls.__dataclass_fields__.get(name) for name in ("axis", "second_axis")}
    return {name: list(f.default) for name, f in found.items() if f is not None and isinstance(f.default, tuple)}


@dataclass(frozen=True, eq=False)
class Element(Owned):
    """Base of everything that is added to a model.

    variants   arguments of example elements, for the contract tests: dictionaries, or functions of the scene (a
               dictionary with first, second, body and joint) that return one
    world      the ground of the model in which the element was described; "world axes" and "world position" refer to it
    acts       True if the element acts from the start; None: it belongs to no model
    starts_active   default of `acts`
    optional   names of its bodies and joints that may be None
    texts      names of arguments that are texts or lists of texts, and no names of elements or signals
    files      names of arguments that are paths of files; in a model file relative to its folder
    unsaved    why it cannot be part of a component file; empty: it can
    armable    True: the element watches the motion, and whether it acts follows from that (contacts, stops, dry friction,
               rules). It is armed or disarmed: while it is disarmed it neither acts nor is watched
    one_sided       True: a contact or a stop, whose `gaps` may only open
    dry_friction    True: it sticks, or slides against its `heading`
    acts_by_parts   True: other elements, which are added with it, act for it and are engaged and released instead of it
    starts_armed    whether it is armed from the start; False for an armable element that was added with `active=False`
    drawing    what a viewer draws for it: "hinge", "slider", "coil" …; "none": nothing, and `not_drawn` says why; empty: what
               fits a joint's free motions
    drawn_axis the attribute with the direction, in axes of the first body, that the viewer draws it along
    """

    key: ClassVar[str] = "element"
    variants: ClassVar[tuple[Any, ...]] = ({},)
    drawing: ClassVar[str] = ""
    drawn_axis: ClassVar[str] = "axis"
    not_drawn: ClassVar[str] = ""
    texts: ClassVar[tuple[str, ...]] = ()
    files: ClassVar[tuple[str, ...]] = ()
    unsaved: ClassVar[str] = ""
    world: ClassVar[Any] = None
    _frozen: ClassVar[bool] = True
    acts: ClassVar[bool | None] = None
    starts_active: ClassVar[bool] = True
    optional: ClassVar[tuple[str, ...]] = ()
    armable: ClassVar[bool] = False
    one_sided: ClassVar[bool] = False
    dry_friction: ClassVar[bool] = False
    acts_by_parts: ClassVar[bool] = False
    starts_armed: ClassVar[bool] = True
    _active: ClassVar[Any] = None
    _armed: ClassVar[Any] = None

    name: str

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        explain_arguments(cls)

    def __new__(cls, *given: Any, **named: Any) -> Self:
        """Create an element and record its name in the model of its first argument, so that a forgotten `add` is noticed."""
        made = object.__new__(cls)
        thing = given[1] if len(given) > 1 else next((x for k, x in named.items() if k != "name"), None)
        home, name = getattr(thing, "_home", None), given[0] if given else named.get("name")
        if home is not None and isinstance(name, str):
            vars(home).setdefault("_made", {})[name] = cls.key
        return made

    @property
    def active(self) -> Any:
        """The memory that is 1 while the element acts. It is created at its first use, and belongs to the model only if events
        switch the element. None if the element belongs to no model."""
        known = self._active
        return self._home.activity(self) if known is None and self._home is not None else known

    @property
    def armed(self) -> Any:
        """The memory that is 1 while an armable element is armed. It is created at its first use, and belongs to the model only
        if events arm or disarm the element or it starts disarmed. None if the element belongs to no model."""
        known = self._armed
        return self._home.arming(self) if known is None and self._home is not None else known

    @property
    def inactive(self) -> bool:
        """True if it was added with `active=False`."""
        return not self.starts_armed if self.armable else self.acts is False

    @property
    def switching(self) -> dict[str, Any]:
        """Name, type and state at the start, as listings show them for elements that events may switch."""
        start = "inactive" if self.inactive else "acts" if self.acts else "does not act"
        return {"name": self.name, "type": self.key, "active": start == "acts", "start": start}

    def companions(self) -> list[Any]:
        """Elements that are added to a model together with this one."""
        return []

    def captures(self) -> list[tuple[Any, ca.SX]]:
        """Pairs (memory, expression) that are set at the instant when the element is engaged."""
        return []

    def resets(self) -> list[tuple[Any, ca.SX]]:
        """Pairs (memory, expression) that are set at the instant when the element is released."""
        return []

    def attach(self) -> Self:
        """Return the element with its world-frame data converted to body-fixed data. Called once, when it is added."""
        return self

    def statements(self) -> list[Statement]:
        """Return the expressions that the element adds to the model."""
        return []

    def memories(self) -> list[Any]:
        """Return the memories of the element: numbers that change at events, and states."""
        return []

    def rates(self, acts: ca.SX) -> list[tuple[Any, ca.SX]]:
        """Pairs (state, rate) of the states among its memories; acts: 1, or 0 while events have switched the element off."""
        return []

    def events(self) -> list[Any]:
        """Events that belong to the element."""
        return []

    def recorded_signals(self) -> dict[str, ca.SX]:
        """Signals of the element that every run records, by name."""
        return {}

    def shared_data(self) -> Any:
        """Return the data that equal elements between other bodies share, stored as `_shared_data`; None: none are shared."""
        return None

    def mark_checked(self) -> None:
        """Record that its statements were checked, so that elements with the same shared data are not checked again."""

    def within(self) -> list[Any]:
        """Return the joints on whose coordinates it acts: while one of them is released, it does not act."""
        named = [getattr(self, what, None) for what in ("joint", "other", "on")]
        return list({id(x): x for x in named if getattr(x, "kind", None) == "joint"}.values())

    def drawn_as(self) -> str:
        """Return the name of its drawing in a viewer, see `drawing`."""
        return self.drawing

    def drawn_at(self) -> list[tuple[Any, Any]]:
        """Return where a viewer draws it: bodies, each with a frame (4x4) or a point in body axes from the centre of mass."""
        hosts: Any = self.within()
        if hosts:
            return hosts[0].drawn_at()
        body = getattr(self, "body", None)
        return [] if body is None else [(body, FRAMES[0])]

    def drawn_along(self) -> Any:
        """Return the direction of its drawing in a viewer, in the axes of its frames; None: it has none."""
        hosts: Any = self.within()
        return hosts[0].drawn_along() if hosts else getattr(self, self.drawn_axis, None)

    def drawn_details(self) -> dict[str, Any]:
        """Return what a viewer needs besides to draw it, by name: numbers, expressions of parameters, flags, bodies, and lists or
        dictionaries of them."""
        return {}

    @property
    def owner(self) -> str:
        return f"{self.key} {self.name!r}"

    @classmethod
    def examples(cls, scene: dict[str, Any], name: str = "example") -> list[Self]:
        """Return one element per variant; its arguments are the entries of the scene that have the same names."""
        offered = {f.name: scene[f.name] for f in fields(cls) if f.name in scene}
        offered |= {name: tuple(axis) for name, axis in default_axes(cls).items()}
        chosen = [v(scene) if callable(v) else v for v in cls.variants]
        return [cls(**{"name": name, **offered, **given}) for given in chosen]


@dataclass(frozen=True, eq=False)
class Rule(Element):
    """Base of elements that only declare events, and add neither equations nor forces."""

    kind = key = "rule"
    armable = True
