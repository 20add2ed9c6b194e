"""The base class of joints, constraints, forces and controllers: name, model, and examples for the contract tests.

`statements()` returns the expressions that an element adds to a model, each with the symbols that may occur in it.
`Model.add` checks them once, so that no element checks this by itself.
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

# what may occur in an expression, each including the one before
CONSTANT = ("parameter",)
TIMED = (*CONSTANT, "time", "memory")
HELD = (*TIMED, "input")
POSES = (*HELD, "pose")
MOTION = (*POSES, "velocity")
LOADED = (*MOTION, "state", "reaction")
ANYTHING = (*LOADED, "acceleration")
# in drives, and in equations of constraints: what is set from outside may jump, and a constraint cannot
DRIVEN, KEPT, SLIDING = (
    tuple(kind for kind in kinds if kind != "input") + ("state",) for kinds in (TIMED, POSES, MOTION)
)
HOMELESS = "orientation of a particle"  # has a symbol and no meaning
DERIVED = (*MOTION, HOMELESS)  # follows from the motion, and is kept by nothing


class Statement(NamedTuple):
    """One expression that an element is made of."""

    what: str
    expression: Any
    allowed: tuple[str, ...]


REQUIRED: Any = None  # default of an argument that must be given, where one of a base class before it may be left out


class Posed(Protocol):
    """What has a pose, a body or a ground, as elements see it."""

    name: str
    position: ca.SX
    rotation: ca.SX
    velocity: ca.SX
    angular_velocity: ca.SX
    start_position: ca.SX
    start_rotation: ca.SX

    @property
    def owner(self) -> str:
        """What it is and its name, for messages."""
        ...

    @property
    def reference(self) -> tuple[Any, Any]:
        """The last two, as numbers where they are made of them."""
        ...


_FIELDS: dict = {}


def initial(element):
    """The fields that an element is made from: pairs of the name and the attribute that keeps it."""
    cls = type(element)
    if cls not in _FIELDS:
        _FIELDS[cls] = [(f.name, storage_name(cls, f.name)) for f in fields(cls) if f.init]
    return _FIELDS[cls]


def frame_poses(element):
    """Poses of the two `frames` of an element, which must be frames of its `first` and its `second` body."""
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
    """The two `points` of an element, or two times None."""
    points = element.points
    if points is None:
        return (None, None)
    if not isinstance(points, (tuple, list, np.ndarray)) or len(points) != 2:
        raise ModelError(
            f"{element.owner}: points must be two points of 3 numbers, one of {element.first.name!r} and one of "
            f"{element.second.name!r}, got {quantity.show(points)}"
        )
    return tuple(quantity.given(p, 3, 1, "points", element.owner) for p in points)


def distinct_bodies(element):
    """Refuse `bodies` of an element that are none, or contain one of them twice."""
    bodies = element.bodies
    if not isinstance(bodies, (tuple, list)) or not bodies or not all(hasattr(b, "mass") for b in bodies):
        raise ModelError(f"{element.owner}: bodies must be a list of bodies, got {quantity.show(bodies)}")
    if len({id(b) for b in bodies}) != len(bodies):
        raise ModelError(f"{element.owner}: bodies contains one of them twice: {quantity.show(bodies)}")


def default_axes(cls):
    """Directions that an element takes where none is given, by the name of the argument, as lists."""
    found = {name: cls.__dataclass_fields__.get(name) for name in ("axis", "second_axis")}
    return {name: list(f.default) for name, f in found.items() if f is not None and isinstance(f.default, tuple)}


@dataclass(frozen=True, eq=False)
class Element(Owned):
    """Base of everything that is added to a model.

    variants   arguments of example elements, for the contract tests: dictionaries, or functions of the scene (a
               dictionary with first, second, body and joint) that return one
    world      the ground of the model that the element was described in: what "world axes" and "world position" mean
    acts       whether it acts from the start; None: it belongs to no model
    starts_active   the same where nothing else is said
    optional   names of its bodies and joints that may be None
    texts      names of arguments that are texts or lists of texts, and no names of elements or signals
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
        """An element, of which the model of its first argument takes note: it is to be added."""
        made = object.__new__(cls)
        thing = given[1] if len(given) > 1 else next((x for k, x in named.items() if k != "name"), None)
        home, name = getattr(thing, "_home", None), given[0] if given else named.get("name")
        if home is not None and isinstance(name, str):
            vars(home).setdefault("_made", {})[name] = cls.key
        return made

    @property
    def active(self) -> Any:
        """The memory that is 1 while the element acts, made at its first use; part of a model only where events
        switch the element. None: it belongs to no model."""
        known = self._active
        return self._home.activity(self) if known is None and self._home is not None else known

    @property
    def armed(self) -> Any:
        """The memory that is 1 while an armable element is armed, made at its first use; part of a model only where
        events arm or disarm the element, or it starts disarmed. None: it belongs to no model."""
        known = self._armed
        return self._home.arming(self) if known is None and self._home is not None else known

    @property
    def inactive(self) -> bool:
        """True if it was added with `active=False`."""
        return not self.starts_armed if self.armable else self.acts is False

    @property
    def switching(self) -> dict[str, Any]:
        """What listings show of an element that events may switch: its state at the start."""
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
        """The element with its world-frame data converted to body-fixed data. Called once, when a model adds it."""
        return self

    def statements(self) -> list[Statement]:
        """The expressions that the element adds to the model."""
        return []

    def memories(self) -> list[Any]:
        """Numbers that the element remembers while it runs."""
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

    def alike(self) -> Any:
        """What it shares with elements that say the same about other things, kept as `_alike`."""
        return None

    def note_valid(self) -> None:
        """What it declares was checked: those that are alike need not be."""

    def within(self) -> list[Any]:
        """Joints in which it acts, on their coordinates: it acts only as long as they hold."""
        named = [getattr(self, what, None) for what in ("joint", "other", "on")]
        return list({id(x): x for x in named if getattr(x, "kind", None) == "joint"}.values())

    def drawn_as(self) -> str:
        """What a viewer draws for it, see `drawing`."""
        return self.drawing

    def drawn_at(self) -> list[tuple[Any, Any]]:
        """Where a viewer draws it: bodies, each with a frame (4x4) or a point in body axes from the centre of mass."""
        hosts: Any = self.within()
        if hosts:
            return hosts[0].drawn_at()
        body = getattr(self, "body", None)
        return [] if body is None else [(body, FRAMES[0])]

    def drawn_along(self) -> Any:
        """The direction that a viewer draws it along, in the axes of its frames; None: it has none."""
        hosts: Any = self.within()
        return hosts[0].drawn_along() if hosts else getattr(self, self.drawn_axis, None)

    @property
    def owner(self) -> str:
        return f"{self.key} {self.name!r}"

    @classmethod
    def examples(cls, scene: dict[str, Any], name: str = "example") -> list[Self]:
        """One element per variant, with what the scene offers under the names of its fields."""
        offered = {f.name: scene[f.name] for f in fields(cls) if f.name in scene}
        offered |= {name: tuple(axis) for name, axis in default_axes(cls).items()}
        chosen = [v(scene) if callable(v) else v for v in cls.variants]
        return [cls(**{"name": name, **offered, **given}) for given in chosen]


@dataclass(frozen=True, eq=False)
class Rule(Element):
    """Base of elements that only watch: they bring events, and neither equations nor forces."""

    kind = key = "rule"
    armable = True
