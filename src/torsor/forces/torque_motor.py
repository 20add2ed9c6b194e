"""A motor whose torque is given."""

from dataclasses import dataclass

import casadi as ca

from ..elements.quantity import Number
from ..registry import register
from .motor import LimitedMotor


@register("torque-motor")
@dataclass(frozen=True, eq=False)
class TorqueMotor(LimitedMotor):
    """A motor on a joint coordinate that exerts a given torque, within its limits of torque and speed.

        F = i τ,   τ = T within −T₋ and T₊,   A = i² J                 (1)

    torque   T of the rotor, a number or an expression of signals, an input for example   [N m]

    Limits, gear, rotor and temperature: see `LimitedMotor` and `Motor`.
    """

    variants = (
        {"torque": 3.0, "ratio": -2.0},
        lambda scene: {
            "torque": 4 * ca.cos(scene["joint"].coordinate[0]),
            "max_torque": 2.0,
            "max_speed": 5.0,
            "inertia": 0.02,
            "ratio": 3.0,
        },
        {"torque": 1.0, "loss": 2.0, "thermal_resistance": 1.5, "thermal_capacity": 10.0},
    )
    torque: Number = 0.0

    def demand(self) -> ca.SX:
        return self.number("torque")  # (1)
