"""Lift and drag of a wing, a fin, a blade."""

from dataclasses import dataclass, field
from math import pi
from typing import Any, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import REQUIRED, Posed, fill_in
from ..elements.quantity import Axis, Number, Vector
from ..errors import ModelError
from ..registry import register
from .base import Force, local_point
from .drag import AIR, point_velocity
from .motor import check_numbers


@register("wing")
@dataclass(frozen=True, eq=False)
class Wing(Force):
    """Lift and drag of a wing at a point of a body, by its angle of attack; the flow along the span has no effect.

        u = ẋ − w,   U = (u·c, u·n),   sin α = −u·n/|U|,   cos α = u·c/|U|                     (1)
        F = ½ ϱ A |U| (C_L (u·c n − u·n c) − C_D (u·c c + u·n n))                              (2)
        C_L = a sin α cos α,   C_D = d₀ + d₁ sin² α                                            (3)

    chord, span   c, towards the leading edge, and the direction of the span, in the world, in the reference configuration;
                  n = c × span is the side of positive lift                                                  [-]
    point         where it acts, a quarter of the chord from the leading edge; default: the centre of mass   [m]
    area          A                                                                                          [m²]
    density       ϱ; default: air                                                                            [kg/m³]
    wind          w, the velocity of the fluid in world axes, an expression of time and places too           [m/s]
    lift, drag    C_L and C_D: numbers, expressions of signals, or functions of α such as a `ts.table`; None: (3)
    lift_slope    a, 2π of a thin aerofoil                                                                   [1/rad]
    drag_along, drag_across   d₀ and d₁                                                                      [-]
    """

    drawing = "wing"
    variants = (
        {"chord": "x", "span": "-y", "area": 0.4, "density": 5.0},
        {"chord": "x", "span": "y", "area": 0.4, "lift": lambda angle: ca.sin(2 * angle), "drag": 0.3, "density": 9.0},
    )
    body: Posed = REQUIRED
    chord: Axis = (1, 0, 0)
    span: Axis = (0, 1, 0)
    area: Number = 0.0
    point: Vector | None = None
    density: Number = AIR
    wind: Vector = (0.0, 0.0, 0.0)
    lift: Any = None
    drag: Any = None
    lift_slope: Number = 2 * pi
    drag_along: Number = 0.01
    drag_across: Number = 1.2
    arm: Any = field(default=None, repr=False)

    def attach(self) -> Self:
        check_numbers(self, not_negative=("area", "density", "drag_along", "drag_across"))
        c, s = (quantity.unit(getattr(self, what), what, self.owner) for what in ("chord", "span"))
        if c.is_constant() and s.is_constant() and abs(float(ca.dot(c, s))) > 1e-6:
            given = f"{quantity.show(self.chord)} and {quantity.show(self.span)}"
            raise ModelError(f"{self.owner}: chord and span must be perpendicular, got {given}")
        if self.arm is None:
            fill_in(self, arm=local_point(self.body, self.point, self.owner))
        for what in ("lift", "drag"):
            if callable(given := getattr(self, what)) and not isinstance(given, ca.SX):
                fill_in(self, **{what: quantity.scalar(given(self.angle), what, self.owner)})
        return self

    @property
    def own_code(self) -> bool:
        return True  # the way of its body at the start is in it

    def drawn_at(self) -> list[tuple[Any, Any]]:
        return [(self.body, self.arm)]

    def drawn_details(self) -> dict[str, Any]:
        chord, span = (
            self.body.start_rotation.T @ quantity.unit(getattr(self, what), what, self.owner)
            for what in ("chord", "span")
        )
        return {"body": self.body, "p": self.arm, "chord": chord, "span": span, "area": self.area}

    def flow(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Velocity of the point, and c and n in the world."""
        axes = [self.body.start_rotation.T @ quantity.unit(getattr(self, x), x, self.owner) for x in ("chord", "span")]
        c, span = (self.body.rotation @ axis for axis in axes)
        return point_velocity(self.body, quantity.vector(self.arm, "arm", self.owner)), c, ca.cross(c, span)

    def parts(self) -> tuple[ca.SX, ca.SX]:
        """u·c and u·n."""
        velocity, c, n = self.flow()
        u = velocity - self.world.rotation @ quantity.vector(self.wind, "wind", self.owner)
        return ca.dot(u, c), ca.dot(u, n)

    @property
    def angle(self) -> ca.SX:
        """Signal: the angle of attack α, 0 where nothing flows   [rad]."""
        along, across = self.parts()
        return ca.atan2(-across, along)  # (1)

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        number = lambda what: quantity.scalar(getattr(self, what), what, self.owner)
        (velocity, c, n), (along, across) = self.flow(), self.parts()
        squared = along**2 + across**2
        speed = ca.sqrt(squared)
        still = squared == 0
        sin, cos = -across / (speed + still), along / (speed + still)
        lift = number("lift_slope") * sin * cos if self.lift is None else number("lift")  # (3)
        drag = number("drag_along") + number("drag_across") * sin**2 if self.drag is None else number("drag")  # (3)
        pressure = number("density") * number("area") * speed / 2
        return [(velocity, pressure * (lift * (along * n - across * c) - drag * (along * c + across * n)))]  # (2)
