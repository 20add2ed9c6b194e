"""Rheonomic constraints: motion that is imposed as a function of time."""

from dataclasses import dataclass

import casadi as ca

from .. import quantity
from ..errors import ModelError
from ..registry import register
from .base import Constraint, Joint
from .lower_pairs import TRANSLATIONS, X, no_turn


def of_time(value, size, what, owner):
    """An imposed value: an expression of time and parameters, or a function of time."""
    given = value(quantity.time) if callable(value) and not isinstance(value, ca.SX) else value
    given = [given] if size == 1 and not isinstance(given, (list, tuple)) else given
    return quantity.vector(given, what, owner, size)


@register("drive")
@dataclass(frozen=True, eq=False)
class Drive(Constraint):
    """A joint coordinate follows a function of time, over any number of turns.

        0 = q_k − f(t)                                                 (1)

    joint   the joint that is driven
    value   f, an expression of `torsor.time`, or a function of it
    index   k, which coordinate of the joint
    """

    joint: Joint = None
    value: object = 0.0
    index: int = 0

    def located(self):
        if not isinstance(self.joint, Joint):
            raise ModelError(f"{self.owner}: joint must be a joint of the model, got {quantity.show(self.joint)}")
        if not (isinstance(self.index, int) and 0 <= self.index < self.joint.dof):
            raise ModelError(
                f"{self.owner}: joint {self.joint.name!r} has {self.joint.dof} coordinates, index must be 0 to "
                f"{self.joint.dof - 1}, got {self.index!r}"
            )
        self.target()
        return self

    def target(self):
        return of_time(self.value, 1, "value", self.owner)

    def position(self):
        return self.joint.coordinate[self.index] - self.target()  # (1)

    def directions(self):
        return [f"coordinate {self.index} of {self.joint.name}"]


@register("angular-velocity")
@dataclass(frozen=True, eq=False)
class AngularVelocity(Constraint):
    """A body turns with a given angular velocity, in world axes: 0 = R ω − Ω(t)."""

    body: object = None
    value: tuple = (0.0, 0.0, 0.0)

    def located(self):
        _needs_orientation(self)
        of_time(self.value, 3, "value", self.owner)
        return self

    def velocity(self):
        return self.body.rotation @ self.body.angular_velocity - of_time(self.value, 3, "value", self.owner)

    def directions(self):
        return [f"angular velocity about {x}" for x in X]


@register("motion")
@dataclass(frozen=True, eq=False)
class Motion(Constraint):
    """A body's whole motion is given: position (of its centre of mass) and orientation as functions of time.

        0 = x − x(t),    0 = vee(R(t)ᵀ R − Rᵀ R(t))/2                   (1)
    """

    body: object = None
    at: object = None
    rotation: object = None

    def located(self):
        _needs_orientation(self)
        if self.at is None and self.rotation is None:
            raise ModelError(f"{self.owner}: give `at`, `rotation` or both as functions of time")
        self.position()
        return self

    def position(self):
        rows = []
        if self.at is not None:
            rows.append(self.body.position - of_time(self.at, 3, "at", self.owner))
        if self.rotation is not None:
            given = self.rotation(quantity.time) if callable(self.rotation) else self.rotation
            target = quantity.rotation_matrix(given, "rotation", self.owner)
            rows.append(no_turn(target.T @ self.body.rotation))
        return ca.vertcat(*rows)  # (1)

    def directions(self):
        shifts = TRANSLATIONS if self.at is not None else []
        return shifts + ([f"rotation about {x}" for x in X] if self.rotation is not None else [])


def _needs_orientation(element):
    if not hasattr(element.body, "angular_velocity"):
        raise ModelError(f"{element.owner}: body must be a body of the model, got {quantity.show(element.body)}")
