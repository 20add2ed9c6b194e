"""A motor with a speed controller."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from ..elements.quantity import Number
from ..registry import register
from .motor import LimitedMotor


@register("velocity-servo")
@dataclass(frozen=True, eq=False)
class VelocityServo(LimitedMotor):
    """A motor that turns a joint at a given speed, by a PI law within its limits of torque and speed.

        F* = c (w − q̇) + h z,   F = i τ,   τ = F*/i within −T₋ and T₊                 (1)
        ż  = w − q̇ + (F − F*)/c                                                       (2)

    target     w, a number or an expression of signals                        [rad/s or m/s]
    gain       c                                                              [N m s/rad or N s/m]
    integral   h; z is then a state, `name.integral`, which does not wind up at the limits: (2)

    Limits, gear, rotor and temperature: see `LimitedMotor` and `Motor`.
    """

    variants = (
        {"target": 0.7, "gain": 3.0},
        {"target": 2.0, "gain": 3.0, "integral": 5.0, "max_torque": 0.5, "max_speed": 30.0, "ratio": 10.0},
    )
    target: Number = 0.0
    gain: Number = 0.0
    integral: Number | None = None

    positive: ClassVar[Sequence[str]] = (*LimitedMotor.positive, "gain", "integral")

    def state_names(self) -> list[str]:
        return [*super().state_names(), *([] if self.integral is None else ["integral"])]

    def error(self) -> ca.SX:
        """Signal: w − q̇."""
        return self.number("target") - self.joint.rate[self.index]

    def demand(self) -> ca.SX:
        F = self.number("gain") * self.error()
        if self.integral is not None:
            F += self.number("integral") * self.own_states["integral"].symbol
        return F / self.number("ratio")  # (1)

    def rates(self, acts: ca.SX) -> list[tuple[Any, ca.SX]]:
        found = super().rates(acts)
        if self.integral is not None:
            excess = self.number("ratio") * (self.shaft_torque() - self.demand())
            found.append((self.own_states["integral"], acts * (self.error() + excess / self.number("gain"))))  # (2)
        return found

    def resets(self) -> list[tuple[Any, ca.SX]]:
        return [] if self.integral is None else [(self.own_states["integral"], ca.SX(0))]
