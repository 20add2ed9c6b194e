"""Forces and torques, springs and dampers, and forces given as energy."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import REQUIRED, Posed, check_bodies, fill_in, frame_poses, pair_of_points
from ..elements.placing import distance, product, total
from ..elements.quantity import Number, Vector
from ..errors import ModelError
from ..joints.base import Joint, existing_coordinate
from ..lie import se3
from ..registry import register
from .base import Force, local_point

AXES = ("world", "body")
MET = 1e-14  # distance of two points over that from the origin, to which they coincide


def _axes(element, given):
    """A vector given in the axes that `element.axes` names, in the world's: R F or, for the model's own, R₀ F."""
    if element.axes not in AXES:
        raise ModelError(f"{element.owner}: axes must be 'world' or 'body', got {element.axes!r}")
    return (element.body if element.axes == "body" else element.world).rotation @ given


def _not_negative(element, *names):
    for what in names:
        value = quantity.given(getattr(element, what), 1, 1, what, element.owner)
        if quantity.is_number(value) and value < 0:
            raise ModelError(f"{element.owner}: {what} must not be negative, got {getattr(element, what)!r}")


@register("gravity")
@dataclass(frozen=True, eq=False)
class Gravity(Force):
    """Uniform gravity on bodies: U = −Σ m g·x. A model has one on all of them, from its `gravity`."""

    drawing = "none"
    not_drawn = "it acts on all bodies; the scene shows its direction"
    variants = (lambda scene: {"acceleration": (1, 2, -9.81), "bodies": (scene["first"], scene["second"])},)
    acceleration: Vector = (0, 0, 0)
    bodies: Sequence[Any] = ()

    def attach(self) -> Self:
        check_bodies(self)
        return self

    def potential(self) -> ca.SX | None:
        g = quantity.vector(self.acceleration, "acceleration", self.owner)
        return -sum((body.mass * ca.dot(g, body.position) for body in self.bodies), ca.SX(0))


@register("force")
@dataclass(frozen=True, eq=False)
class PointForce(Force):
    """A force at a point of a body; its components may be functions of any signals.

    point    where it acts, in the world, in the reference configuration; None: the centre of mass      [m]
    force    three components, in body axes or in the world axes of the model it is described in        [N]
    """

    drawing = "arrow"
    variants = (
        {"force": (1, 2, 3)},
        {"force": (1, 2, 3), "point": (0.3, 0.2, -0.5), "axes": "body"},
        lambda scene: {"force": -3 * scene["body"].velocity * (1 + quantity.time), "point": (0.3, 0.2, -0.5)},
    )
    body: Posed = REQUIRED
    force: Vector = (0.0, 0.0, 0.0)
    point: Vector | None = None
    axes: str = "world"
    arm: Any = field(default=None, repr=False)

    def attach(self) -> Self:
        return self if self.arm is not None else fill_in(self, arm=local_point(self.body, self.point, self.owner))

    def drawn_at(self) -> list[tuple[Any, Any]]:
        return [(self.body, self.arm)]

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        F, b = quantity.vector(self.force, "force", self.owner), self.body
        velocity = b.velocity + b.rotation @ ca.cross(b.angular_velocity, self.arm)
        return [(velocity, _axes(self, F))]


@register("torque")
@dataclass(frozen=True, eq=False)
class Torque(Force):
    """A torque on a body, in body axes or in the world axes of the model it is described in; its components may be
    functions of any signals   [N m].
    """

    drawing = "torque"
    variants = (
        {"torque": (1, 2, 3)},
        {"torque": (1, 2, 3), "axes": "body"},
        lambda scene: {"torque": -scene["body"].angular_velocity, "axes": "body"},
    )
    body: Posed = REQUIRED
    torque: Vector = (0.0, 0.0, 0.0)
    axes: str = "world"

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        T, b = quantity.vector(self.torque, "torque", self.owner), self.body
        if self.axes == "body":
            return [(b.angular_velocity, T)]  # (R ω)·(R T)
        return [(b.rotation @ b.angular_velocity, _axes(self, T))]


@register("joint-force")
@dataclass(frozen=True, eq=False)
class JointForce(Force):
    """A force or torque along a joint coordinate, on the second body, with its reaction on the first   [N or N m]."""

    drawing = "torque"
    variants = ({"value": 3.0}, lambda scene: {"value": ca.sin(scene["joint"].coordinate) - scene["joint"].rate})
    joint: Joint = REQUIRED
    value: Number = 0.0
    index: int = 0

    def attach(self) -> Self:
        existing_coordinate(self)
        return self

    def drawn_as(self) -> str:
        return self.drawing if self.joint.angular[self.index] else "thrust"

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        return [(self.joint.rate[self.index], quantity.scalar(self.value, "value", self.owner))]


@register("spring-damper")
@dataclass(frozen=True, eq=False)
class SpringDamper(Force):
    """Spring and damper between a point of one body and a point of another.

        U = ½ k (l − l₀)²,   D = ½ c l̇²,   l = |p₂ − p₁|               (1)

    points   one world point of each body in the reference configuration, or `frames` of the two bodies
    length   l₀, by default the distance in the reference configuration   [m]

    Where the two points coincide, l = 0, the damper acts along the direction in which they part, as it does just before and
    after, and the spring has no direction in which it could act:

        D = ½ c |ṗ₂ − ṗ₁|²                                             (2)
    """

    drawing = "coil-damper"
    variants = (
        {"stiffness": 40.0, "damping": 2.0},
        {"stiffness": 40.0, "damping": 2.0, "length": 0.2, "points": ((0.3, 0.1, 0.2), (1.2, -0.3, 0.4))},
        {"stiffness": 40.0, "length": 0, "points": ((0, 0, 0), (1, 1, 1))},
        {"stiffness": 40.0, "length": 1 + ca.sin(quantity.time), "points": ((0, 0, 0), (1, 1, 1))},
    )
    first: Posed = REQUIRED
    second: Posed = REQUIRED
    points: Sequence[Vector] | None = None
    frames: Sequence[Any] | None = None
    stiffness: Number = 0.0
    damping: Number = 0.0
    length: Number | None = None
    arms: Any = field(default=None, repr=False)

    def attach(self) -> Self:
        if self.arms is not None:
            return self
        if self.frames is not None and self.points is not None:
            raise ModelError(f"{self.owner}: give `points` or `frames`, not both")
        _not_negative(self, "stiffness", "damping")
        bodies = (self.first, self.second)
        if self.frames is not None:
            arms = tuple(se3.split_pose(quantity.constant(pose))[1] for pose in frame_poses(self))
        else:
            arms = tuple(local_point(b, p, self.owner) for b, p in zip(bodies, pair_of_points(self)))
        fill_in(self, arms=arms)
        if self.length is None:
            ends = [total(x, product(R, r)) for (x, R), r in zip((b.reference for b in bodies), arms)]
            fill_in(self, length=distance(*ends))
        else:
            _not_negative(self, "length")
        return self

    def drawn_as(self) -> str:
        zero = lambda x: quantity.is_number(x) and x == 0
        return "damper" if zero(self.stiffness) else "coil" if zero(self.damping) else self.drawing

    def drawn_at(self) -> list[tuple[Any, Any]]:
        return list(zip((self.first, self.second), self.arms))

    def vector(self) -> tuple[ca.SX, ca.SX]:
        """From the first point to the second, and whether they coincide but for rounding."""
        (a, b), (ra, rb) = (self.first, self.second), self.arms
        p1, p2 = a.position + a.rotation @ ra, b.position + b.rotation @ rb
        d = p2 - p1
        return d, ca.sumsqr(d) <= MET**2 * (ca.sumsqr(p1) + ca.sumsqr(p2))

    def rate(self) -> ca.SX:
        """Velocity of the second point relative to the first."""
        (a, b), (ra, rb) = (self.first, self.second), self.arms
        return (
            b.velocity + b.rotation @ ca.cross(b.angular_velocity, rb)
            - a.velocity - a.rotation @ ca.cross(a.angular_velocity, ra)
        )  # fmt: skip

    def potential(self) -> ca.SX | None:
        k = quantity.scalar(self.stiffness, "stiffness", self.owner)
        length = quantity.scalar(self.length, "length", self.owner)
        d, met = self.vector()  # where they meet l has no slope; l² has that of s
        s = ca.sumsqr(d)
        if length.is_constant() and float(length) == 0:
            return 0.5 * k * s
        return 0.5 * k * ((ca.sqrt(s + met) - met - length) ** 2 + met * (length == 0) * s)  # (1)

    def dissipation(self) -> ca.SX | None:
        c = quantity.scalar(self.damping, "damping", self.owner)
        if c.is_zero():
            return None
        (d, met), rate = self.vector(), self.rate()
        return 0.5 * c * (ca.dot(d, rate) ** 2 + met * ca.sumsqr(rate)) / (ca.sumsqr(d) + met)  # (1), (2)


@register("spring")
@dataclass(frozen=True, eq=False)
class Spring(Force):
    """Linear spring and damper on a joint coordinate, displacement or angle (over many turns).

        U = ½ k (q − q₀)²,   D = ½ c q̇²                                (1)

    joint       whose coordinate q it acts on, with its reaction
    stiffness   k   [N/m, or N m/rad]
    damping     c   [N s/m, or N m s/rad]
    rest        q₀, the coordinate without force   [m or rad]
    index       which coordinate of the joint, from 0

    `TorsionSpring` is the same under the name that is usual for angles. A spring between two points is a `SpringDamper`.
    """

    drawing = "torsion"
    variants = ({"stiffness": 3.0, "damping": 0.4}, {"stiffness": 3.0, "rest": 40.0})
    joint: Joint = REQUIRED
    stiffness: Number = 0.0
    damping: Number = 0.0
    rest: Number = 0.0
    index: int = 0

    def attach(self) -> Self:
        existing_coordinate(self)
        _not_negative(self, "stiffness", "damping")
        rest = quantity.scalar(self.rest, "rest", self.owner)
        quantity.refuse_far_angles(rest, self.joint.angular[self.index :], "rest", self.owner)
        return self

    def drawn_as(self) -> str:
        if quantity.scalar(self.stiffness, "stiffness", self.owner).is_zero():
            return "joint-damper"
        return self.drawing if self.joint.angular[self.index] else "slide-coil"

    def potential(self) -> ca.SX | None:
        k, rest = (quantity.scalar(getattr(self, what), what, self.owner) for what in ("stiffness", "rest"))
        return 0.5 * k * (self.joint.coordinate[self.index] - rest) ** 2  # (1)

    def dissipation(self) -> ca.SX | None:
        c = quantity.scalar(self.damping, "damping", self.owner)
        return None if c.is_zero() else 0.5 * c * self.joint.rate[self.index] ** 2  # (1)


@register("torsion-spring")
@dataclass(frozen=True, eq=False)
class TorsionSpring(Spring):
    """Spring and damper on an angle of a joint; the law is that of `Spring`, on any coordinate."""


@register("energy")
@dataclass(frozen=True, eq=False)
class EnergyForce(Force):
    """A force given as energy: a potential U of poses, joint coordinates and time, and/or a dissipation function D of
    velocities. The generalised forces −∂U/∂q and −∂D/∂v are derived.
    """

    drawing = "none"
    not_drawn = "an energy of signals, which has no place"
    variants = (
        lambda scene: {"energy": ca.sumsqr(scene["first"].point((0, 0, 1)) - scene["second"].position) ** 2},
        lambda scene: {"energy": ca.cos(scene["joint"].coordinate), "dissipated": scene["joint"].rate ** 4},
    )
    energy: Number | None = None
    dissipated: Number | None = None

    def attach(self) -> Self:
        if self.energy is None and self.dissipated is None:
            raise ModelError(f"{self.owner}: give `energy`, `dissipated` or both")
        return self

    def potential(self) -> ca.SX | None:
        return None if self.energy is None else quantity.scalar(self.energy, "energy", self.owner)

    def dissipation(self) -> ca.SX | None:
        return None if self.dissipated is None else quantity.scalar(self.dissipated, "dissipated", self.owner)
