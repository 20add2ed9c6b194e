"""Contact of two shapes as a force: a stiff, damping surface with regularised Coulomb friction."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.argument_help import WORKED_OUT
from ..elements.element import REQUIRED, Posed, fill_in
from ..elements.quantity import Number
from ..elements.shapes import Shape, shapes_of
from ..errors import ModelError
from ..lie import pose_stacks, se3
from ..registry import register
from .base import Force
from .contact_geometry import GROUNDS, SURFACES, ShapeAt, touches
from .contact_law import check_law, law_of
from .convex_polyhedron import ConvexPolyhedron

OWN_CODE = ("polyhedron", "heights")  # kinds whose faces or functions are part of the code
INSIDE = (
    0.5  # depth at the start over the smallest size of a shape, above which bodies are taken to be inside each other
)


@register("compliant-contact")
@dataclass(frozen=True, eq=False)
class CompliantContact(Force):
    """Contact of a shape of one body with a shape of another, as a force; δ is the depth of a touching point.

        N = k δⁿ (1 + d δ̇) ≥ 0                  law="hunt-crossley"                                      (1)
        N = k δ + c δ̇ ≥ 0                        law="kelvin-voigt", where δ > 0                          (2)
        T = −μ N u / √(|u|² + v_s²)               friction, u: velocity of sliding                         (3)

    first, second   the bodies; grounds too
    shapes          a shape of each (`ts.shapes`): sphere, capsule, box, cylinder, plane (the half-space below it); the hull of
                    points (`ts.ConvexPolyhedron`); a function z = h(x, y), such as a `ts.table`, for what is above it; None:
                    those that the bodies have, which must be one each
    stiffness       k   [N/mⁿ, or N/m]
    exponent        n; 1.5 for round surfaces (Hertz)   [-]
    damping         d [s/m]: an impact with speed v has a restitution of about 1 − ⅔ d v; or c [N s/m]
    friction        μ   [-]
    slip_speed      v_s: below this speed friction falls short of Coulomb's; what rests on a slope creeps with less than it   [m/s]

    Shapes touch at points: see `contact_geometry`. (1) is the law of Hunt and Crossley, 1975.
    """

    texts = ("kinds", "law")
    drawing = "touch"
    variants = (
        {
            "shapes": (Shape("sphere", (0.6,)), Shape("sphere", (0.6,))),
            "stiffness": 50.0,
            "damping": 0.2,
            "friction": 0.4,
        },
        {
            "shapes": (Shape("plane", (1.0, 1.0), (0.0, 0.0, -0.6)), Shape("box", (1.2, 1.0, 1.4))),
            "stiffness": 20.0,
            "friction": 0.4,
        },
        {
            "shapes": (Shape("box", (0.9, 0.9, 0.9)), Shape("capsule", (0.5, 0.4))),
            "stiffness": 20.0,
            "law": "kelvin-voigt",
        },
    )
    first: Posed = REQUIRED
    second: Posed = REQUIRED
    shapes: Any = None
    stiffness: Number = 1e5
    exponent: Number = 1.5
    damping: Number = 0.5
    friction: Number = 0.0
    slip_speed: Number = 1e-3
    law: str = "hunt-crossley"
    trusted: bool = field(default=False, repr=False)  # True: the reference configuration is not where it starts
    kinds: Any = field(default=None, repr=False)
    sizes: Any = field(default=None, repr=False)
    places: Any = field(default=None, repr=False)

    def attach(self) -> Self:
        if self.kinds is not None:
            return fill_in(self, **self._derived())
        check_law(self)
        found = [self._shape(k, body) for k, body in enumerate((self.first, self.second))]
        self._check_kinds(found)
        fill_in(
            self,
            shapes=None,
            kinds=tuple(shape.kind for shape in found),
            sizes=tuple(shape.size for shape in found),
            places=tuple(place(shape, body) for shape, body in zip(found, (self.first, self.second))),
        )
        self._refuse_deep_start()
        return self

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

    def _check_kinds(self, found):
        for shape in found:
            if shape.kind not in SURFACES:
                raise ModelError(
                    f"{self.owner}: there is no contact of a {shape.kind}. Known: {', '.join(SURFACES)}; compose it of these"
                )
        if found[0].kind in GROUNDS and found[1].kind in GROUNDS:
            raise ModelError(
                f"{self.owner}: two planes touch everywhere or nowhere; give one of the bodies another shape"
            )

    def _refuse_deep_start(self):
        """Refuse bodies that are far inside each other in the reference configuration."""
        bodies = (self.first, self.second)
        if self.trusted or not all(quantity.is_number(x) for body in bodies for x in body.reference):
            return
        poses = [(ca.SX(ca.DM(x)), ca.SX(ca.DM(R))) for x, R in (body.reference for body in bodies)]
        depths = ca.Function("depths", [], [ca.vertcat(*[touch.depth for touch in self.touches(poses)])])()["o0"]
        depth = float(ca.mmax(depths))
        least = min(
            (least_size(kind, size) for kind, size in zip(self.kinds, self.sizes) if kind not in GROUNDS), default=0.0
        )
        if depth > INSIDE * least > 0:
            raise ModelError(
                f"{self.owner}: {self.first.owner} and {self.second.owner} start {depth:.3g} m inside each other; move one of "
                "them, or give other shapes"
            )

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

    def pressures(self) -> list[tuple[Any, ca.SX, ca.SX]]:
        """Touch, relative velocity and normal force N for every possible touch: (1), (2)."""
        poses = [(body.position, body.rotation) for body in (self.first, self.second)]
        return law_of(self).pressures(self.touches(poses), self.first, self.second)

    def normal_force(self) -> ca.SX:
        """Signal: the sum of the normal forces at all touching points."""
        return sum((force for _, _, force in self.pressures()), ca.SX(0))

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        return law_of(self).efforts(self.pressures())


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


def least_size(kind, size):
    """The smallest size of a shape; of a polyhedron, of the box around it."""
    if kind != "polyhedron":
        return min(size)
    return float(np.ptp(np.array(size).reshape(-1, 3), axis=0).min())


def _known(kind):
    """A kind of a shape, as it was stored."""
    if kind not in SURFACES:
        raise ValueError(kind)
    return str(kind)


def place(shape, body):
    """Position and rotation of a shape from a body's centre of mass, as arrays."""
    center = np.array(quantity.numbers(ca.SX(body.center)), float).ravel()
    return np.array(shape.at, float) - center, pose_stacks.rotations(np.array(shape.rotation))
