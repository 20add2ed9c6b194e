"""A quantity that the motion conserves, imposed as a constraint so that no integrator lets it drift."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import CONSTANT, Statement, check_bodies
from ..elements.quantity import Axis, Number, Vector
from ..errors import ModelError
from ..joints.constraint import Constraint
from ..joints.directions import direction
from ..registry import register


def angular_momentum(bodies: Sequence[Any], about: Any = None) -> ca.SX:
    """Signal: angular momentum of bodies in world axes, about a point or about their common centre of mass [kg m²/s].

    L = Σ (x − c) × m (ẋ − ċ) + R J ω                              (1)

    about   c, a world point at rest, as numbers or a signal; None: the centre of mass of the bodies
    """
    if not isinstance(bodies, (list, tuple)) or not bodies or not all(hasattr(b, "inertia") for b in bodies):
        raise ModelError(f"angular_momentum: give several bodies, got {quantity.show(bodies)}")
    if about is None:
        mass = sum(b.mass for b in bodies)
        c, rate = (sum(b.mass * getattr(b, k) for b in bodies) / mass for k in ("position", "velocity"))
    else:
        c, rate = quantity.vector(about, "about", "angular_momentum"), ca.SX.zeros(3)
    return sum(
        (_own(b, b.position, b.velocity, b.rotation, b.angular_velocity, c, rate) for b in bodies), ca.SX.zeros(3)
    )


def _own(body, x, v, R, w, c, rate):
    """One body's part of (1)."""
    orbital = ca.cross(x - c, body.mass * (v - rate))
    return orbital if body.particle else orbital + R @ (body.inertia @ w)


@register("conserved-momentum")
@dataclass(frozen=True, eq=False)
class ConservedMomentum(Constraint):
    """The angular momentum of bodies about an axis keeps its value, as the laws of motion say it does.

        0 = (a·L − L₀) / I                                             (1)

    Where no moment about the axis acts from outside, the multiplier vanishes and the motion is what it is without this
    constraint; what changes is that projection takes out the drift of L that an integrator leaves. Where such a moment
    does act, this is a motor without a stator that balances it. Müller and Terze, sec. 5.4.1 [mueller2009].

    bodies   whose momentum it is
    axis     a, in world axes of the model that this is described in   [-]
    about    a fixed point there; None: the common centre of mass of the bodies   [m]
    value    L₀, a number or an expression of parameters; "start": what the bodies' start velocities give, all of
             which must then be given   [kg m²/s]
    I        their moment of inertia in the reference configuration, which makes (1) an angular velocity   [kg m²]
    """

    drawing = "none"
    not_drawn = "a sum over bodies, which has no place"
    variants = (
        lambda scene: {"bodies": (scene["first"], scene["second"])},
        lambda scene: {"bodies": (scene["second"],), "axis": (1, -2, 0.5), "about": (0.1, 0, 0.2), "value": 0.3},
    )
    bodies: Sequence[Any] = ()
    axis: Axis = (0, 0, 1)
    about: Vector | None = None
    value: Number = 0.0

    def attach(self) -> Self:
        check_bodies(self)
        if isinstance(self.value, str):
            self._start_value()
        self._inertia()
        return self

    def statements(self) -> list[Statement]:
        return [*super().statements(), Statement("value", self._value(), CONSTANT)]

    def _value(self):
        return self._start_value() if isinstance(self.value, str) else quantity.scalar(self.value, "value", self.owner)

    def _axis(self):
        """a in the axes of this model, as a constant."""
        return quantity.unit(self.axis, "axis", self.owner)

    def _reference(self):
        """Each body with its place and orientation in the reference configuration, and the point that L refers to."""
        world = self.world
        if self.about is None:
            c = sum(b.mass * b.start_position for b in self.bodies) / sum(b.mass for b in self.bodies)
        else:
            c = world.start_position + world.start_rotation @ quantity.vector(self.about, "about", self.owner)
        return c, world.start_rotation @ self._axis()

    def _inertia(self):
        """I = Σ m |a × (x − c)|² + a·R J Rᵀ a."""
        (c, a), total = self._reference(), ca.SX(0)
        for b in self.bodies:
            total += b.mass * ca.sumsqr(ca.cross(a, b.start_position - c))
            if not b.particle:
                across = b.start_rotation.T @ a
                total += ca.dot(across, b.inertia @ across)
        if total.is_constant() and float(total) <= 0:
            raise ModelError(
                f"{self.owner}: the bodies have no moment of inertia about axis; they cannot turn about it"
            )
        return total

    def _start_value(self):
        """L₀ of the velocities that the bodies start with."""
        if self.value != "start":
            raise ModelError(
                f'{self.owner}: value must be a number, an expression of parameters or "start", got {self.value!r}'
            )
        for b in self.bodies:
            if b.start_velocity is None or not (b.particle or b.start_angular_velocity is not None):
                raise ModelError(
                    f'{self.owner}: value "start" needs the velocity and the angular velocity of every body, and body '
                    f"{b.name!r} does not give both; give them, or give value as a number or a parameter"
                )
        c, a = self._reference()
        rate = ca.SX.zeros(3)
        if self.about is None:
            rate = sum(b.mass * b.start_velocity for b in self.bodies) / sum(b.mass for b in self.bodies)
        parts = [
            _own(b, b.start_position, b.start_velocity, b.start_rotation, b.start_angular_velocity, c, rate)
            for b in self.bodies
        ]
        return ca.dot(a, sum(parts, ca.SX.zeros(3)))

    def velocity(self) -> ca.SX:
        world = self.world
        about = self.about
        if about is not None:
            about = world.position + world.rotation @ quantity.vector(about, "about", self.owner)
        L = angular_momentum(self.bodies, about)
        return (ca.dot(world.rotation @ self._axis(), L) - self._value()) / self._inertia()  # (1)

    def directions(self) -> list[str]:
        return [f"angular momentum about {direction(self._axis())}"]
