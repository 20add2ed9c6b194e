"""Elementary constraints, of which joints can be composed, and constraints that a user writes as an expression."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import REQUIRED, fill_in, pair_of_points
from ..elements.placing import local_frames
from ..elements.quantity import Axis, Number, Vector
from ..errors import ModelError
from ..joints.alignment import no_rotation
from ..joints.base import Connection
from ..joints.constraint import Constraint
from ..joints.directions import TRANSLATIONS, direction
from ..lie import se3
from ..registry import register


def on_plane(H, normal):
    """Distance of the second frame's origin from a plane of the first through its origin: n·p."""
    _, p = se3.split_pose(H)
    return ca.dot(normal, p)


@register("point-on-plane")
@dataclass(frozen=True, eq=False)
class PointOnPlane(Connection):
    """A point of the second body stays on a plane of the first, whose normal is fixed in the first.

        0 = n·p,       reaction on the second body: λ n                (1)

    Aslanov, Kruglov and Yuditsev, eq. 4 to 23 [aslanov2011].
    """

    drawing, drawn_axis = "plane", "normal"
    variants = ({}, {"normal": (1, -2, 0.5)})
    normal: Axis = (0, 0, 1)

    def residual(self, H: ca.SX) -> ca.SX:
        return on_plane(H, quantity.unit(self.normal, "normal", self.owner))  # (1)

    def directions(self) -> list[str]:
        return [f"translation along {direction(quantity.unit(self.normal, 'normal', self.owner))}"]


@register("no-rotation")
@dataclass(frozen=True, eq=False)
class NoRotation(Connection):
    """No relative rotation about one, two or three vectors that are fixed in the first body.

        0 = n·ω,       ω of the second body relative to the first, in axes of the first      (1)

    Aslanov, Kruglov and Yuditsev, eq. 24 to 32 [aslanov2011]. One vector alone is a velocity-level (nonholonomic)
    constraint. Given together, two vectors (a hinge about n₁ × n₂) or three are integrable and are kept at position
    level too.
    """

    drawing = "other"
    variants = (
        {},
        {"about": (1, -2, 0.5)},
        {"about": ((1, 0, 0.2), (0, 1, 1))},
        {"about": ((1, 0, 0), (0, 1, 1), (1, 0, 1))},
    )
    about: Sequence[Vector] = ((0, 0, 1),)

    def vectors(self) -> list[ca.SX]:
        given = (self.about,) if isinstance(self.about, str) else self.about
        if isinstance(given, (tuple, list)) and any(isinstance(n, str) for n in given):
            given = [
                quantity.numbers(quantity.axis(n, "about", self.owner)).ravel().tolist() if isinstance(n, str) else n
                for n in given
            ]
        shape = quantity.shape_of(given)
        if shape not in ((3, 1), (1, 3), (2, 3), (3, 3)):
            raise ModelError(f"{self.owner}: give one to three vectors to `about`, got {quantity.show(self.about)}")
        whole = quantity.expression(given, shape[0], shape[1], "about", self.owner)
        rows = [whole] if shape == (3, 1) else [whole[k, :].T for k in range(shape[0])]
        found = [quantity.unit(n, "about", self.owner) for n in rows]
        spread = ca.det(ca.horzcat(*found).T @ ca.horzcat(*found))
        if spread.is_constant() and float(spread) < 1e-12:
            given = quantity.show(self.about)
            raise ModelError(f"{self.owner}: the vectors in `about` must be independent, got {given}")
        return found

    def position(self) -> ca.SX | None:
        n = self.vectors()
        return None if len(n) == 1 else no_rotation(self.relative_pose(), n)

    def velocity(self) -> ca.SX | None:
        n = self.vectors()
        (R1, _), (R2, _) = self.ends()
        angular, _ = se3.split(self.relative_twist())
        return ca.dot(n[0], R1.T @ (R2 @ angular)) if len(n) == 1 else None  # (1)

    def directions(self) -> list[str]:
        return [f"rotation about {direction(n)}" for n in self.vectors()]


@register("fixed-point")
@dataclass(frozen=True, eq=False)
class FixedPoint(Connection):
    """A point of the second body stays at a point of the first: 0 = p."""

    drawing = "point"
    anchored = True

    def residual(self, H: ca.SX) -> ca.SX:
        _, p = se3.split_pose(H)
        return p

    def directions(self) -> list[str]:
        return list(TRANSLATIONS)


@register("distance")
@dataclass(frozen=True, eq=False)
class Distance(Connection):
    """Two points keep their distance: a massless rod with a ball at each end.

        0 = (p·p − l²) / 2l                                            (1)

    points   a world point of the first and one of the second body, in the reference configuration, or `frames` of the two
             bodies; none of them: the centres of mass
    length   l, by default the distance in the reference configuration   [m]
    """

    drawing = "distance"
    variants = ({"points": ((0.3, 0.1, 0.2), (1.2, -0.3, 0.4))}, {"points": ((0, 0, 0), (1, 1, 1)), "length": 1.5})
    points: Sequence[Vector] | None = None
    length: Number | None = None

    def attach(self) -> Self:
        if self.placed is not None:
            return self
        bodies, given = (self.first, self.second), [self.points, self.frames, self.point]
        if sum(x is not None for x in given) > 1:
            raise ModelError(f"{self.owner}: give one of `points`, `frames` and `point`")
        if self.frames is not None or self.point is not None:
            super().attach()
        else:
            ends = [body.reference[0] if p is None else p for body, p in zip(bodies, pair_of_points(self))]
            fill_in(self, placed=local_frames(bodies, ends))
        if self.length is None:
            placed: Any = self.placed
            starts = [
                body.start_position + body.start_rotation @ se3.split_pose(local)[1]
                for body, local in zip(bodies, placed)
            ]
            fill_in(self, length=quantity.numbers_or(ca.sqrt(ca.sumsqr(starts[1] - starts[0]))))
        length = quantity.scalar(self.length, "length", self.owner)
        if length.is_constant() and float(length) <= 0:
            raise ModelError(f"{self.owner}: length must be positive, got {float(length)!r}; give `points` that differ")
        return self

    def position(self) -> ca.SX:
        (_, p1), (_, p2) = self.ends()
        length = quantity.scalar(self.length, "length", self.owner)
        return (ca.sumsqr(p2 - p1) - length**2) / (2 * length)  # (1)

    def directions(self) -> list[str]:
        return ["distance"]


@dataclass(frozen=True, eq=False)
class Expression(Constraint):
    """A constraint given as an expression of signals."""

    drawing = "none"
    not_drawn = "an equation between signals, which has no place"
    expression: ca.SX | Sequence[ca.SX] = REQUIRED

    def rows(self) -> ca.SX:
        shape = quantity.shape_of(self.expression)
        if shape is None or shape[1] != 1 or shape[0] == 0:
            given = quantity.show(self.expression)
            raise ModelError(f"{self.owner}: expression must be signals kept at zero, got {given}")
        return quantity.expression(self.expression, shape[0], shape[1], "expression", self.owner)


@register("holonomic")
@dataclass(frozen=True, eq=False)
class Holonomic(Expression):
    """Any expression of positions, joint coordinates and time, kept at zero: 0 = g(x, R, t)."""

    variants = (
        lambda scene: {"expression": ca.sumsqr(scene["second"].point((0, 0, 1)) - scene["first"].position) - 2},
        lambda scene: {
            "expression": [scene["joint"].coordinate - ca.sin(quantity.time), scene["second"].position[1] ** 3]
        },
    )

    def position(self) -> ca.SX:
        return self.rows()


@register("nonholonomic")
@dataclass(frozen=True, eq=False)
class Nonholonomic(Expression):
    """Any expression linear in the velocities, kept at zero: 0 = A(x, R, t) v + a(x, R, t)."""

    variants = (
        lambda scene: {"expression": ca.dot(scene["first"].direction((0, 1, 0)), scene["first"].velocity)},
        lambda scene: {"expression": scene["joint"].rate - quantity.time * scene["second"].velocity[0] + quantity.time},
    )

    def velocity(self) -> ca.SX:
        return self.rows()
