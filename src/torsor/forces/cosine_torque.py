"""A torque that swings as a cosine of time."""

from dataclasses import dataclass
from typing import Self

import casadi as ca

from ..elements import quantity
from ..elements.element import REQUIRED, Posed
from ..elements.quantity import Axis, Number
from ..errors import ModelError
from ..joints.base import Joint, existing_coordinate
from ..registry import register
from .base import Force


@register("cosine-torque")
@dataclass(frozen=True, eq=False)
class CosineTorque(Force):
    """τ = amplitude cos(2π frequency t + phase) along a joint coordinate, with its reaction, or on one body, without.

    joint, index   the coordinate, or instead of them
    body, axis     the body, and the direction of the torque in the axes of the body

    Vlasenko, sec. 6.2.3 and ch. 8 [vlasenko2006]: the motor of the manipulator is one such torque on each of two bodies.
    """

    drawing = "torque"
    variants = (
        {"body": None},
        {"body": None, "amplitude": 2.0, "frequency": 0.3, "phase": 0.5},
        {"joint": None, "axis": (1, 2, -1), "amplitude": 2.0, "frequency": 0.3, "phase": 0.5},
    )
    optional = ("joint", "body")
    joint: Joint = REQUIRED
    amplitude: Number = 1.0
    frequency: Number = 1.0
    phase: Number = 0.0
    index: int = 0
    body: Posed | None = None
    axis: Axis | None = None

    def attach(self) -> Self:
        if (self.joint is None) == (self.body is None):
            raise ModelError(f"{self.owner}: give a `joint`, or a `body` with an `axis`")
        if self.body is None:
            if self.axis is not None:
                raise ModelError(f"{self.owner}: `axis` belongs to a torque on a `body`; a joint has its own")
            existing_coordinate(self)
        elif self.axis is None:
            raise ModelError(f"{self.owner}: a torque on a body needs an `axis`, in the axes of the body")
        elif self.index:
            raise ModelError(f"{self.owner}: `index` belongs to a torque along a coordinate of a `joint`")
        return self

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        amplitude, frequency, phase = (
            quantity.scalar(getattr(self, what), what, self.owner) for what in ("amplitude", "frequency", "phase")
        )
        value = amplitude * ca.cos(2 * ca.pi * frequency * quantity.time + phase)
        if self.body is None:
            return [(self.joint.rate[self.index], value)]
        return [(self.body.angular_velocity, value * quantity.unit(self.axis, "axis", self.owner))]
