"""Contact of two shapes as one-sided constraints, with impacts and dry friction."""

from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca
import numpy as np

from ...constraints.unilateral import Unilateral
from ...elements import quantity
from ...elements.element import REQUIRED, Posed, fill_in
from ...elements.quantity import Number
from ...elements.shapes import Shape
from ...errors import ModelError
from ...registry import register
from ..contact_geometry import Touch
from ..contact_law import velocity_at
from ..friction import Friction
from .shape_pair import ShapePair

ON_PLANES = ("sphere", "capsule", "box", "polyhedron")  # what touches a plane exactly
ON_SPHERES = ("sphere", "capsule", "box", "cylinder")  # what touches a sphere exactly


def is_exact(first, second):
    """True if shapes of these kinds touch at points whose distances are smooth: exact contact is possible."""
    for one, other in ((first, second), (second, first)):
        if one == "plane" and other in ON_PLANES or one == "sphere" and other in ON_SPHERES:
            return True
    return first == second == "capsule"


def refuse_static_alone(contact: Any) -> None:
    """Refuse a coefficient of sticking without one of sliding."""
    if contact.friction is None and contact.static is not None:
        raise ModelError(f"{contact.owner}: `static` is given without `friction`")


@register("exact-contact")
@dataclass(frozen=True, eq=False)
class ExactContact(ShapePair):
    """Contact of a shape of one body with a shape of another, by one-sided constraints: one for each point that may touch.

        0 ≤ φ,    N ≥ 0,    φ N = 0                                                                        (1)

    Where shapes meet, the velocities jump, with restitution and friction; while they touch, they rest, slide and roll on each
    other, and separate where they would pull: events, located as any others. Touching points are elements of their own,
    `name.touch0` …, with the friction `name.touch0.friction`.

    first, second   the bodies; grounds too
    shapes          a shape of each: plane with sphere, capsule, box, `ts.ConvexPolyhedron`; sphere with sphere, capsule, box,
                    cylinder; two capsules; None: those that the bodies have, which must be one each
    restitution     speed after an impact over the speed before it, 0 to 1                                   [-]
    friction        μ of sliding; None: no friction                                                          [-]
    static          μ_s of sticking, not below μ; None: μ                                                    [-]

    φ is the distance of the surfaces (`contact_geometry`). For contacts in number take `CompliantContact`. [pfeiffer1996]
    """

    variants = (
        {"shapes": (Shape("sphere", (0.3,)), Shape("sphere", (0.2,))), "restitution": 0.4},
        {"shapes": (Shape("capsule", (0.2, 0.3)), Shape("capsule", (0.1, 0.4))), "restitution": 1.0},
    )
    acts_by_parts = True
    restitution: Number = field(default=0.0, kw_only=True)
    friction: Number | None = field(default=None, kw_only=True)
    static: Number | None = field(default=None, kw_only=True)

    def attach(self) -> Self:
        refuse_static_alone(self)
        return self.keep_shapes()

    def check_kinds(self, found: list[Any]) -> None:
        super().check_kinds(found)
        first, second = (shape.kind for shape in found)
        if not is_exact(first, second):
            raise ModelError(
                f"{self.owner}: there is no exact contact of a {first} and a {second}. Possible: a plane with "
                f"{', '.join(ON_PLANES)}; a sphere with {', '.join(ON_SPHERES)}; two capsules. Take "
                "ts.CompliantContact, or compose the shapes of these"
            )

    def companions(self) -> list[Any]:
        poses = [(body.position, body.rotation) for body in (self.first, self.second)]
        found, start = self.touches(poses), self.reference_touches()
        shared = {
            what: getattr(self, what) for what in ("kinds", "sizes", "places", "restitution", "friction", "static")
        }
        normals = [(0.0, 0.0, 1.0)] * len(found)
        if start is not None:
            turn = quantity.numbers(ca.SX(ca.DM(self.first.reference[1])))
            normals = [tuple(np.ravel(turn.T @ quantity.numbers(touch.normal))) for touch in start]
        return [
            ExactTouch(
                f"{self.name}.touch{k}", self.first, self.second, number=k, facing=tuple(map(float, n)), **shared
            )
            for k, n in enumerate(normals)
        ]

    def drawn_details(self) -> dict[str, Any]:
        return {}  # events say when it touches

    def normal_force(self) -> ca.SX:
        """Signal: the sum of the normal forces at all touching points."""
        own = lambda c: isinstance(c, ExactTouch) and c.name.rpartition(".touch")[0] == self.name
        return sum((c.load() for c in self._home.constraints if own(c)), ca.SX(0))


@register("exact-touch")
@dataclass(frozen=True, eq=False)
class ExactTouch(Unilateral):
    """One point at which two shapes may touch; its multiplier is the normal force. `ts.ExactContact` adds them.

        0 ≤ φ,    N = λ ≥ 0                                                                                (1)
        u = tₖ·(ẋ₂ − ẋ₁)        sliding of the touching points along two tangents                          (2)
        t₁ = (1 − x²/(1 + z), −xy/(1 + z), −x),   t₂ = (−xy/(1 + z), 1 − y²/(1 + z), −y)                  (3)

    kinds, sizes, places   of the two shapes, see `ts.ExactContact`
    number                 of the touching point, from 0
    facing                 the normal in the reference configuration, in axes of the first body; (x, y, z) is the normal
                           in axes of which it is the third, so that (3) is smooth unless the normal turns round         [-]
    friction, static       coefficients of dry friction while the point slides, and while it sticks                     [-]
    """

    texts = ("kinds",)
    drawing = "none"
    not_drawn = "a touching point of a contact"
    variants = (
        {"kinds": ("sphere", "sphere"), "sizes": ((0.3,), (0.2,)), "places": (((0, 0, 0), np.eye(3)),) * 2},
        {
            "kinds": ("plane", "box"),
            "sizes": ((1, 1), (0.2, 0.1, 0.3)),
            "places": (((0, 0, -2.0), np.eye(3)), ((0, 0, 0), np.eye(3))),
            "number": 3,
            "friction": 0.3,
        },
    )
    first: Posed = REQUIRED
    second: Posed = REQUIRED
    kinds: Any = field(default=None, kw_only=True)
    sizes: Any = field(default=None, kw_only=True)
    places: Any = field(default=None, kw_only=True)
    number: int = field(default=0, kw_only=True)
    facing: Any = field(default=(0.0, 0.0, 1.0), kw_only=True)
    friction: Number | None = field(default=None, kw_only=True)
    static: Number | None = field(default=None, kw_only=True)

    def attach(self) -> Self:
        if self.kinds is None or self.sizes is None or self.places is None:
            raise ModelError(f"{self.owner}: kinds, sizes and places are worked out by ts.ExactContact: add that")
        refuse_static_alone(self)
        facing = tuple(quantity.numbers(quantity.unit(self.facing, "facing", self.owner)).ravel().tolist())
        return fill_in(self, facing=facing, **self._pair().keep_shapes().numbers())

    def _pair(self):
        return ExactContact(self.name, self.first, self.second, kinds=self.kinds, sizes=self.sizes, places=self.places)

    def touch(self) -> Touch:
        """Point, depth and normal in the world."""
        return self._pair().touches([(body.position, body.rotation) for body in (self.first, self.second)])[self.number]

    def gaps(self) -> list[ca.SX]:
        return [-self.touch().depth]  # (1)

    def directions(self) -> list[str]:
        return ["distance"]

    @property
    def sliding_parts(self) -> int:
        return 2

    def sliding_velocity(self) -> ca.SX:
        touch = self.touch()
        velocity = velocity_at(self.second, touch.point) - velocity_at(self.first, touch.point)
        facing = np.array(self.facing, float)
        across = np.cross(np.eye(3)[np.argmin(np.abs(facing))], facing)
        across /= np.linalg.norm(across)
        axes = self.first.rotation @ ca.DM(np.column_stack([across, np.cross(facing, across), facing]))
        x, y, z = ca.vertsplit(axes.T @ touch.normal)
        turned = ca.fmax(1 + z, 1e-12)
        tangents = (
            ca.vertcat(1 - x**2 / turned, -x * y / turned, -x),
            ca.vertcat(-x * y / turned, 1 - y**2 / turned, -y),
        )  # (3)
        return ca.vertcat(*[ca.dot(axes @ t, velocity) for t in tangents])  # (2)

    def companions(self) -> list[Any]:
        if self.friction is None:
            return []
        return [Friction(f"{self.name}.friction", self, coefficient=self.friction, static=self.static)]

    def violation(self, side: str, verb: str, depth: float) -> str:
        return f"{self.owner}: {self.second.owner} {verb} {depth:.3g} m inside {self.first.owner}"
