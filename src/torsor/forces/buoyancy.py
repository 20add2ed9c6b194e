"""Buoyancy of floating and of submerged bodies."""

from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.argument_help import WORKED_OUT
from ..elements.element import REQUIRED, Posed, fill_in
from ..elements.quantity import Number, Vector
from ..elements.shapes import Shape, shapes_of
from ..errors import ModelError
from ..lie import pose_stacks
from ..registry import register
from .base import Force
from .motor import check_numbers

SHAPES = ("sphere", "box", "cylinder")
WATER = 1000.0  # density of fresh water [kg/m³]
COLUMNS = 4  # columns of a box along each edge, rings and half the spokes of a cylinder


@register("buoyancy")
@dataclass(frozen=True, eq=False)
class Buoyancy(Force):
    """A body floats in a liquid with a level surface, or is under it: the weight of the liquid in its place.

        U = ϱ g ∫ max(d, 0) dV,   d = h − up·x                         (1)

    d is the depth of a point of the shape under the surface. Of a sphere (1) is exact. A box and a cylinder are divided into
    columns along their z axis, at Gauss points, each of which is integrated exactly: force and torque are exact as long as the
    surface cuts neither top nor bottom, and where all of it is under the surface.

    body      on which it acts
    shape     a sphere, box or cylinder of `ts.shapes`, or several; None: the shape of the body
    density   ϱ of the liquid; default: water                                                                   [kg/m³]
    level     h, the height of the surface over the origin of the world, an expression of time too              [m]
    gravity   g times the direction in which it acts, opposite to up, in world axes; constant                   [m/s²]
    """

    drawing = "liquid"
    variants = (
        lambda scene: {
            "shape": Shape("sphere", (0.6,), (0.1, 0.2, 0.0)),
            "level": 0.3,
            "density": 2.0,
        },
        lambda scene: {"shape": Shape("box", (0.8, 0.6, 0.5)), "level": 0.2, "density": 20.0},
        lambda scene: {
            "shape": Shape("cylinder", (0.4, 1.5)),
            "level": 0.1 * ca.sin(3 * quantity.time),
            "density": 20.0,
            "gravity": (0, 1, -9),
        },
    )
    body: Posed = REQUIRED
    shape: Any = None
    density: Number = WATER
    level: Number = 0.0
    gravity: Vector = (0, 0, -9.81)
    kinds: Any = field(default=None, repr=False)
    sizes: Any = field(default=None, repr=False)
    places: Any = field(default=None, repr=False)

    def attach(self) -> Self:
        check_numbers(self, not_negative=("density",))
        if self.kinds is not None:
            return fill_in(self, **self._derived())
        found = shapes_of(getattr(self.body, "shape", None) if self.shape is None else self.shape, self.owner) or ()
        strange = [shape.kind for shape in found if shape.kind not in SHAPES]
        if not found or strange:
            given = f"a {strange[0]}" if strange else "none"
            raise ModelError(f"{self.owner}: shape must be of {', '.join(SHAPES)}, or several of these, got {given}")
        center = np.array(quantity.numbers(ca.SX(getattr(self.body, "center", np.zeros(3)))), float).ravel()
        return fill_in(
            self,
            shape=None,
            kinds=tuple(SHAPES.index(shape.kind) for shape in found),
            sizes=tuple(tuple(float(x) for x in shape.size) for shape in found),
            places=tuple(
                (np.array(shape.at, float) - center, pose_stacks.rotations(np.array(shape.rotation))) for shape in found
            ),
        )

    def _derived(self):
        """What was derived before, of plain numbers and arrays."""
        try:
            return {
                "kinds": tuple(int(k) for k in self.kinds),
                "sizes": tuple(tuple(float(x) for x in size) for size in self.sizes),
                "places": tuple(
                    (np.array(x, float).reshape(3), np.array(R, float).reshape(3, 3)) for x, R in self.places
                ),
            }
        except Exception:  # of numbers of any kind
            raise ModelError(f"{self.owner}: kinds, sizes and places are {WORKED_OUT}") from None

    @property
    def own_code(self) -> bool:
        return True  # the kinds of its shapes decide about its operations

    def drawn_details(self) -> dict[str, Any]:
        g = self.world.start_rotation @ quantity.vector(self.gravity, "gravity", self.owner)
        return {"body": self.body, "up": -g, "level": self.level}

    def potential(self) -> ca.SX | None:
        g = self.world.rotation @ quantity.vector(self.gravity, "gravity", self.owner)
        strength = ca.sqrt(ca.sumsqr(quantity.vector(self.gravity, "gravity", self.owner)))
        density, level = (quantity.scalar(getattr(self, what), what, self.owner) for what in ("density", "level"))
        up = -g / (strength + (strength == 0))
        total = ca.SX(0)
        for kind, size, (at, turn) in zip(self.kinds, self.sizes, self.places):
            center = self.body.position + self.body.rotation @ ca.SX(ca.DM(at)) - self.world.position
            axes = self.body.rotation @ ca.SX(ca.DM(turn))
            depth = level - ca.dot(up, center)
            if SHAPES[kind] == "sphere":
                total += sphere_integral(depth, size[0])
            else:
                total += columns_integral(depth, [ca.dot(up, axes[:, k]) for k in range(3)], SHAPES[kind], size)
        return density * strength * total  # (1)


def sphere_integral(depth, radius):
    """∫ max(d, 0) dV of a sphere, whose centre is at a depth: with the height h of the cap under the surface π (R h³/3 − h⁴/12)."""
    h = ca.fmin(ca.fmax(depth + radius, 0), 2 * radius)
    whole = 4 / 3 * np.pi * radius**3
    return np.pi * (radius * h**3 / 3 - h**4 / 12) + whole * ca.fmax(depth - radius, 0)


def columns_integral(depth, slopes, kind, size):
    """∫ max(d, 0) dV of a box or a cylinder; slopes: of the height along its axes."""
    height = size[2] if kind == "box" else size[1]
    rise = slopes[2] * height / 2
    total = ca.SX(0)
    for x, y, area in columns(kind, size):
        middle = depth - slopes[0] * x - slopes[1] * y
        total += area * height * mean_depth(middle - rise, middle + rise)
    return total


def mean_depth(a, b):
    """Mean of max(d, 0) along a line on which d goes from a to b."""
    cut = ca.fmax(a, b) ** 2 / (2 * (ca.fabs(a - b) + (a == b)))
    return ca.if_else(a * b < 0, cut, ca.fmax((a + b) / 2, 0))


def columns(kind, size):
    """Places x, y of the columns of a box or a cylinder, with their areas: Gauss points, of a disk in equal angles."""
    points, weights = np.polynomial.legendre.leggauss(COLUMNS)
    if kind == "box":
        along, across = ([(p * edge / 2, w * edge / 2) for p, w in zip(points, weights)] for edge in size[:2])
        return [(x, y, a * b) for x, a in along for y, b in across]
    found = []
    for p, w in zip(points, weights):  # in s = r²: dA = ½ ds dφ
        r, ring = size[0] * np.sqrt((1 + p) / 2), np.pi * size[0] ** 2 * w / 2
        for k in range(2 * COLUMNS):
            angle = 2 * np.pi * (k + 0.5) / (2 * COLUMNS)
            found.append((r * np.cos(angle), r * np.sin(angle), ring / (2 * COLUMNS)))
    return found
