"""Shapes of bodies for viewers. They have no influence on the motion.

A body has one shape, or several, each with its own pose in the body's frame and its own colour:

>>> import torsor as ts
>>> model = ts.Model("hammer")
>>> handle = ts.shapes.cylinder(0.02, 0.3, colour="sienna")
>>> head = ts.shapes.box((0.12, 0.04, 0.04), at=(0, 0, 0.15), colour="grey")
>>> hammer = model.body("hammer", mass=0.8, inertia=(0.01, 0.01, 0.001), shape=[handle, head])

A dictionary with the same arguments and `kind`, and the name of a mesh file, are shapes too.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from inspect import signature
from typing import Any

import numpy as np

from ..errors import ModelError
from ..lie import pose_stacks
from . import quantity
from .quantity import Rotation, Vector

Colour = str | Sequence[float] | None

COLOURS = {
    "black": "#111111", "white": "#ffffff", "grey": "#808080", "gray": "#808080", "silver": "#c0c0c0", "red": "#d62728",
    "green": "#2ca02c", "blue": "#1f77b4", "yellow": "#f2c80f", "orange": "#ff7f0e", "purple": "#9467bd", "pink": "#e377c2",
    "brown": "#8c564b", "sienna": "#a0522d", "cyan": "#17becf", "teal": "#008080", "navy": "#000080", "olive": "#808000",
    "gold": "#d4af37", "steel": "#8d98a5", "copper": "#b87333", "brass": "#b5a642", "tan": "#d2b48c", "maroon": "#800000",
    "steelblue": "#4682b4",
}  # fmt: skip
SIZES = {  # count of numbers in the size of each kind
    "box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "cone": 2, "ellipsoid": 3, "plane": 2, "mesh": 3,
}  # fmt: skip
ALONG = {  # rotations that turn z to a named axis
    "z": (1.0, 0.0, 0.0, 0.0), "x": (0.5**0.5, 0.0, 0.5**0.5, 0.0), "y": (0.5**0.5, -(0.5**0.5), 0.0, 0.0),
}  # fmt: skip
LONGEST = 1e9  # largest length or distance [m]


@dataclass(frozen=True)
class Shape:
    """A shape that is fixed in a body.

    kind       "box", "sphere", "cylinder", "capsule", "cone", "ellipsoid", "plane" or "mesh"
    size       box: edges; sphere: radius; cylinder, capsule, cone: radius and length along z; ellipsoid: half axes; plane: edges
               along x and y; mesh: scale along x, y and z                                                                     [m]
    at         centre, in the body's frame                                                                                     [m]
    rotation   unit quaternion, scalar first: shape axes to body axes
    colour     red, green, blue, opacity from 0 to 1; None: the viewer chooses
    file       of a mesh
    """

    kind: str
    size: tuple
    at: tuple = (0.0, 0.0, 0.0)
    rotation: tuple = (1.0, 0.0, 0.0, 0.0)
    colour: tuple | None = None
    file: str | None = None

    def move(self, at: np.ndarray, R: np.ndarray) -> "Shape":
        """Return the shape rotated by the matrix R, then shifted."""
        place = R @ np.array(self.at) + at
        turn = R @ pose_stacks.rotations(np.array(self.rotation))
        return replace(self, at=tuple(map(float, place)), rotation=_quaternion(turn))


def box(size: Vector, at: Vector = (0, 0, 0), rotation: Rotation | None = None, colour: Colour = None) -> Shape:
    """Cuboid with three edges."""
    return _make_shape("box", size, at, rotation, colour)


def sphere(radius: float, at: Vector = (0, 0, 0), colour: Colour = None) -> Shape:
    """Sphere."""
    return _make_shape("sphere", (radius,), at, None, colour)


def cylinder(
    radius: float, length: float, at: Vector = (0, 0, 0), rotation: Rotation | None = None, colour: Colour = None,
    axis: str = "z",
) -> Shape:  # fmt: skip
    """Cylinder about an axis of the body: "x", "y" or "z"; or along z, rotated."""
    return _make_shape("cylinder", (radius, length), at, rotation, colour, axis)


def capsule(
    radius: float, length: float, at: Vector = (0, 0, 0), rotation: Rotation | None = None, colour: Colour = None,
    axis: str = "z",
) -> Shape:  # fmt: skip
    """Cylinder with two half spheres at its ends; `length` is that of the straight part."""
    return _make_shape("capsule", (radius, length), at, rotation, colour, axis)


def cone(
    radius: float, length: float, at: Vector = (0, 0, 0), rotation: Rotation | None = None, colour: Colour = None,
    axis: str = "z",
) -> Shape:  # fmt: skip
    """Cone with its tip in the direction of the axis; `at` is half way between base and tip."""
    return _make_shape("cone", (radius, length), at, rotation, colour, axis)


def ellipsoid(
    half_axes: Vector, at: Vector = (0, 0, 0), rotation: Rotation | None = None, colour: Colour = None
) -> Shape:
    """Ellipsoid with three half axes."""
    return _make_shape("ellipsoid", half_axes, at, rotation, colour)


def plane(
    size: Sequence[float], at: Vector = (0, 0, 0), rotation: Rotation | None = None, colour: Colour = None
) -> Shape:
    """Rectangle with edges along x and y, its normal along z."""
    return _make_shape("plane", size, at, rotation, colour)


def mesh(
    file: str | os.PathLike,
    scale: float | Vector = 1.0,
    at: Vector = (0, 0, 0),
    rotation: Rotation | None = None,
    colour: Colour = None,
) -> Shape:
    """Mesh of a file (STL, OBJ, glTF …); scale: one number, or three along x, y and z."""
    try:
        name = os.fspath(file)
    except TypeError:
        name = None
    if not isinstance(name, str) or not name:
        raise ModelError(f"shape mesh: file must be the name of a file, got {quantity.show(file)}")
    three: Any = scale if isinstance(scale, (list, tuple, np.ndarray)) else (scale,) * 3
    return replace(_make_shape("mesh", three, at, rotation, colour), file=os.path.abspath(name))


MAKERS: dict[str, Any] = {
    "box": box, "sphere": sphere, "cylinder": cylinder, "capsule": capsule, "cone": cone, "ellipsoid": ellipsoid,
    "plane": plane, "mesh": mesh,
}  # fmt: skip


def shapes_of(given: Any, owner: str) -> tuple[Shape, ...] | None:
    """Convert the `shape` argument of a body to a tuple of shapes. None: no shape was given; empty: it is not drawn."""
    if given is None:
        return None
    several = isinstance(given, (list, tuple))
    try:
        return tuple(_shape_of(x) for x in (given if several else (given,)))
    except ModelError as error:
        raise ModelError(f"{owner}: {error}") from None


def _shape_of(given):
    if isinstance(given, Shape):
        return given
    if isinstance(given, (str, os.PathLike)):
        return mesh(given)
    if isinstance(given, dict):
        arguments = dict(given)
        kind = arguments.pop("kind", arguments.pop("type", None))
        maker = MAKERS.get(kind) if isinstance(kind, str) else None
        if maker is None:
            raise ModelError(f"shape: kind must be one of {', '.join(MAKERS)}, got {quantity.show(kind)}")
        known = signature(maker).parameters
        unknown = [name for name in arguments if name not in known]
        missing = [name for name, p in known.items() if p.default is p.empty and name not in arguments]
        if unknown or missing:
            said = f"unknown argument {unknown[0]!r}" if unknown else f"{missing[0]} is missing"
            raise ModelError(f"shape {kind}: {said}. Known: {', '.join(known)}")
        return maker(**arguments)
    raise ModelError(
        f"shape must be made by ts.shapes ({', '.join(MAKERS)}), a dictionary with `kind`, the name of a mesh file, or a list of "
        f"these, got {quantity.show(given)}"
    )


def _make_shape(kind, size, at, rotation, colour, axis="z"):
    owner = f"shape {kind}"
    if axis not in ALONG:
        raise ModelError(f"{owner}: axis must be 'x', 'y' or 'z', got {quantity.show(axis)}")
    if axis != "z" and rotation is not None:
        raise ModelError(f"{owner}: give `axis` or `rotation`, not both")
    count = SIZES[kind]
    try:
        numbers = np.array([float(x) for x in size])
    except (TypeError, ValueError, RuntimeError):
        numbers = np.empty(0)
    if numbers.shape != (count,) or not np.all((np.abs(numbers) <= LONGEST) & (numbers != 0)):
        raise ModelError(f"{owner}: size must be {count} positive number{'s' * (count > 1)}, got {quantity.show(size)}")
    if kind != "mesh" and not np.all(numbers > 0):
        raise ModelError(f"{owner}: size must be positive, got {quantity.show(size)}")
    place = quantity.given(at, 3, 1, "at", owner)
    turn = None if rotation is None else quantity.orientation(rotation, "rotation", owner)
    if not quantity.is_number(place) or not (turn is None or quantity.is_number(turn)):
        raise ModelError(
            f"{owner}: at and rotation must be numbers, got {quantity.show(at if turn is None else rotation)}"
        )
    q = ALONG[axis] if turn is None else _quaternion(turn)
    return Shape(kind, tuple(map(float, numbers)), tuple(map(float, place)), q, colour_of(colour, owner))


def colour_of(given: Colour, owner: str = "shape") -> tuple | None:
    """Convert a colour (a name, "#rrggbb", or three or four numbers from 0 to 1) to red, green, blue and opacity."""
    if given is None:
        return None
    if isinstance(given, str):
        name = given.strip().lower()
        digits = COLOURS.get(name, name).lstrip("#")
        try:
            values = [int(digits[k : k + 2], 16) / 255 for k in range(0, len(digits), 2)]
        except ValueError:
            values = []
        if len(digits) in (6, 8) and len(values) in (3, 4) and (name in COLOURS or name.startswith("#")):
            return tuple(values) + (1.0,) * (4 - len(values))
        close = get_close_matches(name, COLOURS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        known = ", ".join(sorted(COLOURS))
        raise ModelError(
            f"{owner}: unknown colour {given!r}.{hint} Give '#rrggbb', three numbers from 0 to 1, or one of {known}"
        )
    try:
        numbers = tuple(float(x) for x in given)
    except (TypeError, ValueError):
        numbers = ()
    if len(numbers) not in (3, 4) or not all(0 <= x <= 1 for x in numbers):
        raise ModelError(
            f"{owner}: colour must be a name, '#rrggbb', or 3 or 4 numbers from 0 to 1, got {quantity.show(given)}"
        )
    return numbers + (1.0,) * (4 - len(numbers))


def _quaternion(R):
    """Return the unit quaternion of a rotation matrix, scalar first, as a tuple."""
    return tuple(map(float, pose_stacks.quaternions(R)))
