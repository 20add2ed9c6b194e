"""Resistance of a fluid or the wind."""

from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca

from ..elements import quantity
from ..elements.argument_help import WORKED_OUT
from ..elements.element import REQUIRED, Posed, fill_in
from ..elements.quantity import Number, Vector
from ..errors import ModelError
from ..registry import register
from .base import Force, local_point
from .motor import check_numbers

AIR = 1.225  # density of the standard atmosphere at sea level [kg/m³]


@register("drag")
@dataclass(frozen=True, eq=False)
class Drag(Force):
    """Resistance of a fluid that moves with a velocity of its own: quadratic in the speed, and linear where it creeps.

        F = −½ ϱ C A |u| u − c u,   u = ẋ − w                          (1)

    body          on which it acts, at `point`, whose velocity is ẋ; default: the centre of mass
    area          A                                                                                       [m²]
    coefficient   C; a number or an expression of signals                                                 [-]
    density       ϱ; default: air                                                                         [kg/m³]
    linear        c, 6π η r of a small sphere (Stokes)                                                    [N s/m]
    wind          w, the velocity of the fluid in world axes, an expression of time and places too        [m/s]
    """

    drawing = "arrow"
    variants = (
        {"area": 0.2, "coefficient": 0.8, "wind": (1.0, 2.0, -0.5), "density": 20.0},
        lambda scene: {
            "linear": 0.3,
            "wind": ca.vertcat(scene["body"].position[2], 0, ca.sin(quantity.time)),
            "point": (0.3, 0.2, -0.5),
        },
    )
    body: Posed = REQUIRED
    area: Number = 0.0
    coefficient: Number = 1.0
    density: Number = AIR
    linear: Number = 0.0
    wind: Vector = (0.0, 0.0, 0.0)
    point: Vector | None = None
    arm: Any = field(default=None, repr=False)

    def attach(self) -> Self:
        check_numbers(self, not_negative=("area", "coefficient", "density", "linear"))
        return self if self.arm is not None else fill_in(self, arm=local_point(self.body, self.point, self.owner))

    def drawn_at(self) -> list[tuple[Any, Any]]:
        return [(self.body, self.arm)]

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        area, coefficient, density, linear = (
            quantity.scalar(getattr(self, what), what, self.owner)
            for what in ("area", "coefficient", "density", "linear")
        )
        velocity = point_velocity(self.body, quantity.vector(self.arm, "arm", self.owner))
        u = velocity - self.world.rotation @ quantity.vector(self.wind, "wind", self.owner)
        return [(velocity, -(density * coefficient * area / 2 * ca.sqrt(ca.sumsqr(u)) + linear) * u)]  # (1)


def given_arms(element: Any, count: int) -> list[ca.SX]:
    """The derived `arms` of an element, one for each of its bodies, as expressions."""
    arms = element.arms
    if not isinstance(arms, (tuple, list)) or len(arms) != count:
        raise ModelError(f"{element.owner}: arms is {WORKED_OUT}")
    return [quantity.vector(arm, "arms", element.owner) for arm in arms]


def point_velocity(body: Any, arm: Any) -> ca.SX:
    """Velocity of the point of a body that is at an arm, in body axes, from its centre of mass."""
    return body.velocity + body.rotation @ ca.cross(body.angular_velocity, arm)
