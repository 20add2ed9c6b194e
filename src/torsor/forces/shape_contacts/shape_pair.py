"""Two shapes of two bodies that may touch: what compliant and exact contacts have in common."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import casadi as ca
import numpy as np

from ...elements import quantity
from ...elements.argument_help import WORKED_OUT
from ...elements.element import REQUIRED, Posed, fill_in
from ...elements.shapes import Shape, shapes_of
from ...errors import ModelError
from ...lie import pose_stacks, se3
from ..base import Force
from ..contact_geometry import GROUNDS, SURFACES, ShapeAt, touches
from .convex_polyhedron import ConvexPolyhedron

OWN_CODE = ("polyhedron", "heights")  # kinds whose faces or functions are part of the code


@dataclass(frozen=True, eq=False)
class ShapePair(Force):
    """Base of contacts of a shape of one body with a shape of another.

    first, second   the bodies; grounds too
    shapes          a shape of each; None: those that the bodies have, which must be one each
    """

    texts: ClassVar[tuple[str, ...]] = ("kinds",)
    drawing = "touch"
    first: Posed = REQUIRED
    second: Posed = REQUIRED
    shapes: Any = None
    kinds: Any = field(default=None, kw_only=True, repr=False)
    sizes: Any = field(default=None, kw_only=True, repr=False)
    places: Any = field(default=None, kw_only=True, repr=False)

    def keep_shapes(self) -> Self:
        """The element with its shapes as kinds, sizes and places."""
        if self.kinds is not None:
            return fill_in(self, **self._derived())
        found = [self._shape(k, body) for k, body in enumerate((self.first, self.second))]
        self.check_kinds(found)
        return fill_in(
            self,
            shapes=None,
            kinds=tuple(shape.kind for shape in found),
            sizes=tuple(shape.size for shape in found),
            places=tuple(place(shape, body) for shape, body in zip(found, (self.first, self.second))),
        )

    def _derived(self):
        """What was worked out before, of plain numbers and arrays."""
        try:
            return {
                "kinds": tuple(_known(kind) for kind in self.kinds),
                "sizes": tuple(tuple(x if callable(x) else float(x) for x in size) for size in self.sizes),
                "places": tuple(
                    (np.array(x, float).reshape(3), np.array(R, float).reshape(3, 3)) for x, R in self.places
                ),
            }
        except Exception:  # of numbers of any kind
            raise ModelError(f"{self.owner}: kinds, sizes and places are {WORKED_OUT}") from None

    def _shape(self, k, body):
        """The shape of one body: the given one, or the only one that the body has."""
        given = body.shape if self.shapes is None else self.shapes
        if self.shapes is not None:
            if not isinstance(given, (list, tuple)) or len(given) != 2:
                raise ModelError(f"{self.owner}: shapes must be two shapes of ts.shapes, got {quantity.show(given)}")
            given = given[k]
        if isinstance(given, ConvexPolyhedron):
            return given
        if callable(given):
            return Heights(given)
        found = shapes_of(given, self.owner) or ()
        if len(found) != 1:
            raise ModelError(
                f"{self.owner}: {body.owner} has {len(found)} shapes, one is needed: give shapes=(…, …), of ts.shapes"
            )
        return found[0]

    def check_kinds(self, found: list[Any]) -> None:
        for shape in found:
            if shape.kind not in SURFACES:
                raise ModelError(
                    f"{self.owner}: there is no contact of a {shape.kind}. Known: {', '.join(SURFACES)}; compose it of these"
                )
        if found[0].kind in GROUNDS and found[1].kind in GROUNDS:
            raise ModelError(
                f"{self.owner}: two planes touch everywhere or nowhere; give one of the bodies another shape"
            )

    def numbers(self) -> dict[str, Any]:
        """Kinds, sizes and places, as arguments."""
        return {"kinds": self.kinds, "sizes": self.sizes, "places": self.places}

    def reference_touches(self) -> list[Any] | None:
        """Touches in the reference configuration; None where the places of the bodies contain parameters."""
        bodies = (self.first, self.second)
        if not all(quantity.is_number(x) for body in bodies for x in body.reference):
            return None
        return self.touches([(ca.SX(ca.DM(x)), ca.SX(ca.DM(R))) for x, R in (body.reference for body in bodies)])

    def drawn_at(self) -> list[tuple[Any, Any]]:
        return [(body, at) for body, (at, _) in zip((self.first, self.second), self.places)]

    def drawn_shapes(self) -> list[tuple[Any, Any]]:
        kinds = zip((self.first, self.second), self.kinds, self.sizes, self.places)
        return [
            (body, Shape(kind, size, tuple(at.tolist()), tuple(pose_stacks.quaternions(R).tolist())))
            for body, kind, size, (at, R) in kinds
            if kind not in OWN_CODE
        ]

    def drawn_details(self) -> dict[str, Any]:
        if "heights" in self.kinds:  # a function is no part of a drawing
            return {}
        shapes = zip((self.first, self.second), self.kinds, self.sizes, self.places)
        return {
            "touching": [
                {"body": b, "kind": k, "size": s, "frame": se3.pose(R, ca.SX(at))} for b, k, s, (at, R) in shapes
            ]
        }

    @property
    def own_code(self) -> bool:
        return any(kind in OWN_CODE for kind in self.kinds or ())

    def touches(self, poses: Any) -> list[Any]:
        """Possible touches, in the world, of the shapes at given poses (x, R) of the bodies."""
        shapes = []
        for (x, R), kind, size, local in zip(poses, self.kinds, self.sizes, self.places):
            at, turn = ca.SX(local[0]), ca.SX(local[1])
            shapes.append(ShapeAt(kind, list(size), x + R @ ca.reshape(at, 3, 1), R @ ca.reshape(turn, 3, 3)))
        return touches(*shapes)


@dataclass(frozen=True)
class Heights:
    """What is above a surface z = h(x, y) in the frame of a body."""

    function: Callable
    at: tuple = (0.0, 0.0, 0.0)
    rotation: tuple = (1.0, 0.0, 0.0, 0.0)
    kind: str = "heights"

    @property
    def size(self) -> tuple:
        return (self.function,)


def _known(kind):
    """A kind of a shape, as it was stored."""
    if kind not in SURFACES:
        raise ValueError(kind)
    return str(kind)


def place(shape, body):
    """Position and rotation of a shape from a body's centre of mass, as arrays."""
    center = np.array(quantity.numbers(ca.SX(body.center)), float).ravel()
    return np.array(shape.at, float) - center, pose_stacks.rotations(np.array(shape.rotation))
