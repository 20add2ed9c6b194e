"""A motor with its electric circuit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import casadi as ca

from ..elements.quantity import Number
from ..errors import ModelError
from ..registry import register
from .motor import Motor


@register("dc-motor")
@dataclass(frozen=True, eq=False)
class DCMotor(Motor):
    """A motor with permanent magnets on a joint coordinate, fed by a voltage; the current is a state.

        L dI/dt = u − R I − k ω                                        (1)
        τ = k I,   F = i τ,   ω = i q̇                                  (2)
        R = R₀ (1 + α ϑ),   P = R I²                                   (3)

    voltage       u, a number or an expression of signals, an input for example                       [V]
    resistance    R₀                                                                                  [Ω]
    inductance    L; 0: no state, the current follows from (1)                                        [H]
    constant      k, torque over current, which is also voltage over speed                            [N m/A, V s/rad]
    max_voltage   of the supply, which bounds |u|; None: any                                          [V]
    temperature_coefficient   α, with a thermal resistance and capacity                               [1/K]

    The states are `name.current` and, where given, `name.temperature`. Between terminals and shaft no power is lost but P. Switched
    off by an event, the circuit is open: I = 0. Gear, rotor and temperature: see `Motor`.
    """

    variants = (
        {"voltage": 12.0, "resistance": 2.0, "inductance": 0.1, "constant": 0.5, "ratio": 4.0, "inertia": 1e-3},
        {"voltage": 12.0, "resistance": 2.0, "constant": 0.5, "max_voltage": 6.0},
    )
    voltage: Number = 0.0
    resistance: Number = 1.0
    inductance: Number = 0.0
    constant: Number = 1.0
    max_voltage: Number | None = None
    temperature_coefficient: Number = 0.0

    positive: ClassVar[Sequence[str]] = (*Motor.positive, "resistance", "constant", "max_voltage")
    not_negative: ClassVar[Sequence[str]] = ("inertia", "inductance", "temperature_coefficient")

    def attach(self) -> Self:
        super().attach()
        if self.thermal_capacity is None and not self.number("temperature_coefficient").is_zero():
            raise ModelError(
                f"{self.owner}: temperature_coefficient needs a temperature: give thermal_resistance and thermal_capacity"
            )
        return self

    @property
    def has_inductance(self) -> bool:
        return not (isinstance(self.inductance, (int, float)) and self.inductance == 0)

    def state_names(self) -> list[str]:
        return [*(["current"] if self.has_inductance else []), *super().state_names()]

    def winding_resistance(self) -> ca.SX:
        """Signal: R."""
        return self.number("resistance") * (1 + self.number("temperature_coefficient") * self.temperature)  # (3)

    def driving_voltage(self) -> ca.SX:
        """Signal: u − k ω."""
        u = self.number("voltage")
        if self.max_voltage is not None:
            u = ca.fmin(ca.fmax(u, -self.number("max_voltage")), self.number("max_voltage"))
        return u - self.number("constant") * self.speed

    @property
    def current(self) -> ca.SX:
        """Signal: I [A]."""
        return (
            self.own_states["current"].symbol
            if self.has_inductance
            else self.driving_voltage() / self.winding_resistance()
        )

    def shaft_torque(self) -> ca.SX:
        return self.number("constant") * self.current  # (2)

    def heat(self) -> ca.SX:
        return self.winding_resistance() * self.current**2  # (3)

    def rates(self, acts: ca.SX) -> list[tuple[Any, ca.SX]]:
        found = super().rates(acts)
        if self.has_inductance:
            rise = (self.driving_voltage() - self.winding_resistance() * self.current) / self.number("inductance")
            found.append((self.own_states["current"], acts * rise))  # (1)
        return found

    def resets(self) -> list[tuple[Any, ca.SX]]:
        return [(self.own_states["current"], ca.SX(0))] if self.has_inductance else []
