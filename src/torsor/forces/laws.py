"""Forces and torques, springs and dampers, and forces given as energy."""

from dataclasses import dataclass, field

import casadi as ca

from .. import quantity
from ..errors import ModelError, OptionError
from ..joints.base import Joint, settle
from ..registry import register
from .base import Force, local_point

AXES = ("world", "body")


def _axes(element):
    if element.axes not in AXES:
        raise OptionError(f"{element.owner}: axes must be 'world' or 'body', got {element.axes!r}")


@register("gravity")
@dataclass(frozen=True, eq=False)
class Gravity(Force):
    """Uniform gravity on every body: U = −Σ m g·x. A model has one, from its `gravity`."""

    acceleration: tuple = (0, 0, 0)
    bodies: tuple = ()

    def potential(self):
        g = quantity.vector(self.acceleration, "gravity", "model")
        return -sum((body.mass * ca.dot(g, body.position) for body in self.bodies), ca.SX(0))


@register("force")
@dataclass(frozen=True, eq=False)
class PointForce(Force):
    """A force at a point of a body; its components may be functions of any signals.

    point    where it acts, in the world, in the reference configuration; None: the centre of mass      [m]
    force    three components, in world axes or in body axes                                            [N]
    """

    body: object = None
    force: tuple = (0.0, 0.0, 0.0)
    point: tuple | None = None
    axes: str = "world"
    arm: object = field(default=None, repr=False)

    def located(self):
        _axes(self)
        self.needs_body(self.body)
        quantity.vector(self.force, "force", self.owner)
        return self if self.arm is not None else settle(self, arm=local_point(self.body, self.point, self.owner))

    def efforts(self):
        F, R, b = quantity.vector(self.force, "force", self.owner), self.body.rotation, self.body
        velocity = b.velocity + R @ ca.cross(b.angular_velocity, self.arm)
        return [(velocity, R @ F if self.axes == "body" else F)]


@register("torque")
@dataclass(frozen=True, eq=False)
class Torque(Force):
    """A torque on a body, in world axes or in body axes; its components may be functions of any signals   [N m]."""

    body: object = None
    torque: tuple = (0.0, 0.0, 0.0)
    axes: str = "world"

    def located(self):
        _axes(self)
        if getattr(self.needs_body(self.body), "particle", False):
            raise ModelError(f"{self.owner}: body {self.body.name!r} is a particle (inertia 0) and takes no torque")
        quantity.vector(self.torque, "torque", self.owner)
        return self

    def efforts(self):
        T, b = quantity.vector(self.torque, "torque", self.owner), self.body
        return [(b.angular_velocity if self.axes == "body" else b.rotation @ b.angular_velocity, T)]


@register("joint-force")
@dataclass(frozen=True, eq=False)
class JointForce(Force):
    """A force or torque along a joint coordinate, on the second body, with its reaction on the first   [N or N m]."""

    joint: Joint = None
    value: object = 0.0
    index: int = 0

    def located(self):
        _coordinate(self)
        quantity.scalar(self.value, "value", self.owner)
        return self

    def efforts(self):
        return [(self.joint.rate[self.index], quantity.scalar(self.value, "value", self.owner))]


@register("cosine-torque")
@dataclass(frozen=True, eq=False)
class CosineTorque(Force):
    """τ = amplitude cos(2π frequency t + phase) along a joint coordinate, with its reaction.

    Vlasenko, ch. 8 [vlasenko]: the motor of the manipulator.
    """

    joint: Joint = None
    amplitude: object = 1.0
    frequency: object = 1.0
    phase: object = 0.0
    index: int = 0

    def located(self):
        _coordinate(self)
        self.efforts()
        return self

    def efforts(self):
        amplitude, frequency, phase = (
            quantity.scalar(getattr(self, what), what, self.owner) for what in ("amplitude", "frequency", "phase")
        )
        return [(self.joint.rate[self.index], amplitude * ca.cos(2 * ca.pi * frequency * quantity.time + phase))]


@register("spring-damper")
@dataclass(frozen=True, eq=False)
class SpringDamper(Force):
    """Spring and damper between a point of one body and a point of another.

        U = ½ k (l − l₀)²,   D = ½ c l̇²,   l = |p₂ − p₁|               (1)

    points   one world point of each body in the reference configuration, or `frames` of the two bodies
    length   l₀, by default the distance in the reference configuration   [m]
    """

    first: object = None
    second: object = None
    points: tuple | None = None
    frames: tuple | None = None
    stiffness: object = 0.0
    damping: object = 0.0
    length: object = None
    arms: tuple | None = field(default=None, repr=False)

    def located(self):
        if self.arms is not None:
            return self
        for body in (self.first, self.second):
            self.needs_body(body)
        if self.first is self.second:
            raise ModelError(f"{self.owner}: connects body {self.first.name!r} with itself; give two different bodies")
        for what in ("stiffness", "damping"):
            value = quantity.scalar(getattr(self, what), what, self.owner)
            if value.is_constant() and float(value) < 0:
                raise ModelError(f"{self.owner}: {what} must not be negative, got {getattr(self, what)!r}")
        bodies = (self.first, self.second)
        if self.frames is not None:
            arms = tuple(frame.pose[:3, 3] for frame in self.frames)
        else:
            arms = tuple(local_point(b, p, self.owner) for b, p in zip(bodies, self.points or (None, None)))
        settle(self, arms=arms)
        if self.length is None:
            ends = [b.start_position + b.start_rotation @ r for b, r in zip(bodies, arms)]
            settle(self, length=ca.sqrt(ca.sumsqr(ends[1] - ends[0])))
        quantity.scalar(self.length, "length", self.owner)
        return self

    def vector(self):
        """From the first point to the second, and its rate."""
        (a, b), (ra, rb) = (self.first, self.second), self.arms
        d = b.position + b.rotation @ rb - a.position - a.rotation @ ra
        rate = (
            b.velocity + b.rotation @ ca.cross(b.angular_velocity, rb)
            - a.velocity - a.rotation @ ca.cross(a.angular_velocity, ra)
        )  # fmt: skip
        return d, rate

    def potential(self):
        k = quantity.scalar(self.stiffness, "stiffness", self.owner)
        length = quantity.scalar(self.length, "length", self.owner)
        d, _ = self.vector()
        if length.is_constant() and float(length) == 0:
            return 0.5 * k * ca.sumsqr(d)
        return 0.5 * k * (ca.sqrt(ca.sumsqr(d)) - length) ** 2  # (1)

    def dissipation(self):
        c = quantity.scalar(self.damping, "damping", self.owner)
        d, rate = self.vector()
        return None if c.is_zero() else 0.5 * c * ca.dot(d, rate) ** 2 / ca.sumsqr(d)  # (1)


@register("torsion-spring")
@dataclass(frozen=True, eq=False)
class TorsionSpring(Force):
    """Spring and damper on a joint coordinate, angle (over many turns) or displacement.

        U = ½ k (q − q₀)²,   D = ½ c q̇²                                (1)
    """

    joint: Joint = None
    stiffness: object = 0.0
    damping: object = 0.0
    rest: object = 0.0
    index: int = 0

    def located(self):
        _coordinate(self)
        for what in ("stiffness", "damping", "rest"):
            value = quantity.scalar(getattr(self, what), what, self.owner)
            if what != "rest" and value.is_constant() and float(value) < 0:
                raise ModelError(f"{self.owner}: {what} must not be negative, got {getattr(self, what)!r}")
        return self

    def potential(self):
        k, rest = quantity.scalar(self.stiffness, "stiffness", self.owner), quantity.scalar(self.rest, "rest", self.owner)
        return 0.5 * k * (self.joint.coordinate[self.index] - rest) ** 2  # (1)

    def dissipation(self):
        c = quantity.scalar(self.damping, "damping", self.owner)
        return None if c.is_zero() else 0.5 * c * self.joint.rate[self.index] ** 2  # (1)


@register("energy")
@dataclass(frozen=True, eq=False)
class EnergyForce(Force):
    """A force given as energy: a potential U of poses, joint coordinates and time, and/or a dissipation function D of
    velocities. The generalised forces −∂U/∂q and −∂D/∂v are derived.
    """

    energy: object = None
    dissipated: object = None

    def located(self):
        if self.energy is None and self.dissipated is None:
            raise ModelError(f"{self.owner}: give `energy`, `dissipated` or both")
        for value, what in ((self.energy, "energy"), (self.dissipated, "dissipated")):
            if value is not None:
                quantity.scalar(value, what, self.owner)
        return self

    def potential(self):
        return None if self.energy is None else quantity.scalar(self.energy, "energy", self.owner)

    def dissipation(self):
        return None if self.dissipated is None else quantity.scalar(self.dissipated, "dissipated", self.owner)


def _coordinate(element):
    """Refuse a joint coordinate that does not exist."""
    joint, owner = element.joint, element.owner
    if not isinstance(joint, Joint):
        raise ModelError(f"{owner}: joint must be a joint of the model, got {quantity.show(joint)}")
    if not (isinstance(element.index, int) and 0 <= element.index < joint.dof):
        raise ModelError(
            f"{owner}: joint {joint.name!r} has {joint.dof} coordinates, index must be 0 to {joint.dof - 1}, "
            f"got {element.index!r}"
        )
