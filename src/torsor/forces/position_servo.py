"""A motor with a position controller."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from ..elements.quantity import Number
from ..registry import register
from .motor import LimitedMotor


@register("position-servo")
@dataclass(frozen=True, eq=False)
class PositionServo(LimitedMotor):
    """A motor that moves a joint coordinate to a set point, by a PID law within its limits of torque and speed.

        F* = k (r − q) + c (ṙ − q̇) + h z,   F = i τ,   τ = F*/i within −T₋ and T₊     (1)
        ż  = r − q + (F − F*)/k                                                       (2)

    target        r, a number or an expression of signals                     [rad or m]
    stiffness     k                                                           [N m/rad or N/m]
    damping       c                                                           [N m s/rad or N s/m]
    integral      h; z is then a state, `name.integral`, which does not wind up at the limits: (2)
    target_rate   ṙ, by default 0                                             [rad/s or m/s]

    Limits, gear, rotor and temperature: see `LimitedMotor` and `Motor`.
    """

    variants = (
        {"target": 0.7, "stiffness": 30.0, "damping": 2.0},
        lambda scene: {
            "target": ca.sin(scene["other"].coordinate[0]),
            "stiffness": 30.0,
            "integral": 5.0,
            "max_torque": 0.5,
            "ratio": 10.0,
        },
    )
    target: Number = 0.0
    stiffness: Number = 0.0
    damping: Number = 0.0
    integral: Number | None = None
    target_rate: Number = 0.0

    positive: ClassVar[Sequence[str]] = (*LimitedMotor.positive, "stiffness", "integral")
    not_negative: ClassVar[Sequence[str]] = (*LimitedMotor.not_negative, "damping")

    def state_names(self) -> list[str]:
        return [*super().state_names(), *([] if self.integral is None else ["integral"])]

    def error(self) -> ca.SX:
        """Signal: r − q."""
        return self.number("target") - self.joint.coordinate[self.index]

    def demand(self) -> ca.SX:
        F = self.number("stiffness") * self.error()
        F += self.number("damping") * (self.number("target_rate") - self.joint.rate[self.index])
        if self.integral is not None:
            F += self.number("integral") * self.own_states["integral"].symbol
        return F / self.number("ratio")  # (1)

    def rates(self, acts: ca.SX) -> list[tuple[Any, ca.SX]]:
        found = super().rates(acts)
        if self.integral is not None:
            excess = self.number("ratio") * (self.shaft_torque() - self.demand())
            rate = self.error() + excess / self.number("stiffness")  # (2)
            found.append((self.own_states["integral"], acts * rate))
        return found

    def resets(self) -> list[tuple[Any, ca.SX]]:
        return [] if self.integral is None else [(self.own_states["integral"], ca.SX(0))]
