"""Rheonomic constraints: motion that is imposed as a function of time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import IMPOSED, REQUIRED, TIME_DEPENDENT, Posed, Statement, fill_in
from ..elements.quantity import Number, Rotation, Vector
from ..errors import ModelError
from ..joints.alignment import no_turn
from ..joints.base import Joint, existing_coordinate
from ..joints.constraint import Constraint, in_world
from ..joints.directions import TRANSLATIONS, X
from ..registry import register


def of_time(value, what, owner):
    """An imposed value: an expression of time and parameters, or a function of time."""
    if not callable(value) or isinstance(value, ca.SX):
        return value
    try:
        result, reason = value(quantity.time), "it returned nan"
    except Exception as error:
        result, reason = float("nan"), str(error)
    if isinstance(result, float) and result != result:  # math.sin and the like take a symbol for nan
        raise ModelError(
            f"{owner}: {what} must be an expression of time or a function of it, written with casadi or numpy "
            f"functions (sin, cos, ...); calling it with torsor.time failed: {reason}"
        )
    return result


@register("drive")
@dataclass(frozen=True, eq=False)
class Drive(Constraint):
    """A joint coordinate follows a function of time, over any number of turns.

        0 = q_k − f(t)                                                 (1)

    joint   the joint that is driven
    value   f, an expression of `torsor.time`, or a function of it
    index   k, which coordinate of the joint
    """

    drawing = "drive"
    variants = ({"value": 0.3}, {"value": lambda t: 2 * t + ca.sin(t)}, {"value": 20 * quantity.time**2})
    joint: Joint = REQUIRED
    value: Number | Callable[[Any], Any] = 0.0
    index: int = 0

    def attach(self) -> Self:
        existing_coordinate(self)
        return fill_in(self, value=of_time(self.value, "value", self.owner))

    @property
    def driven_coordinate(self) -> tuple[Joint, int]:
        return self.joint, self.index

    def target(self) -> ca.SX:
        return quantity.scalar(self.value, "value", self.owner)

    def statements(self) -> list[Statement]:
        return [*super().statements(), Statement("value", self.target(), IMPOSED)]

    def position(self) -> ca.SX:
        return self.joint.coordinate[self.index] - self.target()  # (1)

    def directions(self) -> list[str]:
        return [f"coordinate {self.index} of {self.joint.name}"]


@register("angular-velocity")
@dataclass(frozen=True, eq=False)
class AngularVelocity(Constraint):
    """A body turns with a given angular velocity: 0 = R ω − Ω(t), in the world axes of the model it is described in."""

    drawing = "drive"
    variants = ({}, {"value": (0.3, 2 * quantity.time, ca.sin(quantity.time))})
    body: Posed = REQUIRED
    value: Vector = (0.0, 0.0, 0.0)

    def attach(self) -> Self:
        return fill_in(self, value=of_time(self.value, "value", self.owner))

    def target(self) -> ca.SX:
        return quantity.vector(self.value, "value", self.owner)

    def statements(self) -> list[Statement]:
        return [*super().statements(), Statement("value", self.target(), IMPOSED)]

    def velocity(self) -> ca.SX:
        return in_world(self, self.body.rotation @ self.body.angular_velocity) - self.target()

    def directions(self) -> list[str]:
        return [f"angular velocity about {x}" for x in X]


@register("motion")
@dataclass(frozen=True, eq=False)
class Motion(Constraint):
    """A body's whole motion is given: position (of its centre of mass) and orientation as functions of time.

        0 = x − x(t),    0 = vee(R(t)ᵀ R − Rᵀ R(t))/2                   (1)

    at and rotation are seen in the world of the model that this is described in.
    """

    drawing = "drive"
    variants = ({"at": (1, 0, quantity.time**2)}, {"rotation": lambda t: ca.vertcat(t, 0, 2 * t), "at": (0, 1, 0)})
    body: Posed = REQUIRED
    at: Vector | None = None
    rotation: Rotation | None = None

    def attach(self) -> Self:
        if self.at is None and self.rotation is None:
            raise ModelError(f"{self.owner}: give `at`, `rotation` or both as functions of time")
        return fill_in(self, **{what: of_time(getattr(self, what), what, self.owner) for what in ("at", "rotation")})

    def targets(self) -> tuple[ca.SX | None, ca.SX | None]:
        """x(t) and R(t) in the axes of the model that this was described in; None where free."""
        x, R = self.at, self.rotation
        return (
            None if x is None else quantity.vector(x, "at", self.owner),
            None if R is None else quantity.rotation_matrix(R, "rotation", self.owner),
        )

    def imposed_rotation(self) -> ca.SX | None:
        return self.targets()[1]

    def statements(self) -> list[Statement]:
        return [
            *super().statements(),
            *(Statement("its motion", x, TIME_DEPENDENT) for x in self.targets() if x is not None),
        ]

    def position(self) -> ca.SX:
        rows, world = [], self.world
        x, R = self.targets()
        if x is not None:
            rows.append(in_world(self, self.body.position - world.position) - x)
        if R is not None:
            rows.append(no_turn((world.rotation @ R).T @ self.body.rotation))
        return ca.vertcat(*rows)  # (1)

    def directions(self) -> list[str]:
        shifts = TRANSLATIONS if self.at is not None else []
        return shifts + ([f"rotation about {x}" for x in X] if self.rotation is not None else [])
