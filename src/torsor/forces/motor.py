"""What all motors on joints share: gear, rotor, limits of torque and speed, temperature."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import CONSTANT, REQUIRED, Statement, fill_in
from ..elements.quantity import Number
from ..errors import ModelError
from ..events import State
from ..joints.base import Joint, existing_coordinate
from .base import Force


@dataclass(frozen=True, eq=False)
class Motor(Force):
    """Base: declares `shaft_torque`, the torque τ of the rotor, and `heat`, the power that warms it.

        F = i τ,   ω = i q̇                                             (1)
        A = i² J                                                       (2)
        C ϑ̇ = P − ϑ/R                                                  (3)

    F                    torque or force along the joint coordinate q
    ratio                i, turns of the rotor per unit of the coordinate; negative: it turns the other way
    inertia              J of the rotor, which adds A to the inertia along the coordinate, as the `armature` of a joint  [kg m²]
    thermal_resistance   R between winding and surroundings; None: no temperature                                        [K/W]
    thermal_capacity     C                                                                                               [J/K]

    ω is the speed of the rotor relative to the first body. The temperature ϑ above the surroundings is a state of the run,
    `name.temperature`. A motor that events switch off has no torque and no losses; its rotor stays.
    """

    drawing = "motor"
    joint: Joint = REQUIRED
    ratio: Number = field(default=1.0, kw_only=True)
    inertia: Number = field(default=0.0, kw_only=True)
    index: int = field(default=0, kw_only=True)
    thermal_resistance: Number | None = field(default=None, kw_only=True)
    thermal_capacity: Number | None = field(default=None, kw_only=True)

    positive: ClassVar[Sequence[str]] = ("thermal_resistance", "thermal_capacity")  # arguments that must be positive
    not_negative: ClassVar[Sequence[str]] = ("inertia",)
    not_zero: ClassVar[Sequence[str]] = ("ratio",)
    own_states: ClassVar[dict[str, State]]  # by the last part of their names; each motor has its own

    def __post_init__(self):
        fill_in(self, own_states={what: State(f"{self.name}.{what}") for what in self.state_names()})

    def state_names(self) -> list[str]:
        """Last parts of the names of its states."""
        return [] if self.thermal_capacity is None else ["temperature"]

    def number(self, what: str) -> ca.SX:
        """An argument as an expression."""
        return quantity.scalar(getattr(self, what), what, self.owner)

    def attach(self) -> Self:
        existing_coordinate(self)
        check_numbers(self, self.positive, self.not_negative, self.not_zero)
        if (self.thermal_resistance is None) != (self.thermal_capacity is None):
            raise ModelError(f"{self.owner}: give both thermal_resistance and thermal_capacity, or neither")
        return self

    def statements(self) -> list[Statement]:
        return [*super().statements(), Statement("inertia", self.number("inertia"), CONSTANT)]

    def drawn_details(self) -> dict[str, Any]:
        joint = self.joint.drawn_member(self.index)
        return {"body": joint["ends"][0], "frame": joint["frames"][0], "along": joint["along"], "turns": joint["turns"]}

    def rotors(self) -> list[tuple[Any, int, ca.SX]]:
        A = self.number("ratio") ** 2 * self.number("inertia")  # (2)
        return [] if A.is_zero() else [(self.joint, self.index, A)]

    def memories(self) -> list[Any]:
        return list(self.own_states.values())

    def recorded_signals(self) -> dict[str, ca.SX]:
        return {state.name: state.symbol for state in self.own_states.values()}

    def rates(self, acts: ca.SX) -> list[tuple[Any, ca.SX]]:
        if self.thermal_capacity is None:
            return []
        flow = self.temperature / self.number("thermal_resistance")
        return [(self.own_states["temperature"], (acts * self.heat() - flow) / self.number("thermal_capacity"))]  # (3)

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        return [(self.joint.rate[self.index], self.number("ratio") * self.shaft_torque())]  # (1)

    def shaft_torque(self) -> ca.SX:
        """Signal: τ."""
        raise NotImplementedError

    def heat(self) -> ca.SX:
        """Signal: P."""
        raise NotImplementedError

    @property
    def speed(self) -> ca.SX:
        """Signal: ω."""
        return self.number("ratio") * self.joint.rate[self.index]

    @property
    def temperature(self) -> ca.SX:
        """Signal: ϑ; 0 where the motor has no thermal capacity."""
        state = self.own_states.get("temperature")
        return ca.SX(0) if state is None else state.symbol


@dataclass(frozen=True, eq=False)
class LimitedMotor(Motor):
    """Base of motors that exert what is demanded, within limits: declares `demand`, the torque of the rotor without them.

        −T₋ ≤ τ ≤ T₊,   T± = T min(1, max(0, (ω₀ ∓ ω)/(ω₀ − ω_b)))     (1)
        P = l τ²                                                       (2)

    max_torque   T; None: any                                                      [N m, of the rotor]
    max_speed    ω₀, at which the torque that drives is zero; None: any speed      [rad/s, of the rotor]
    base_speed   ω_b, up to which all of T is there; what brakes has all of it     [rad/s]
    loss         l, the winding's resistance over the square of the torque constant, for the temperature   [W/(N m)²]
    """

    max_torque: Number | None = field(default=None, kw_only=True)
    max_speed: Number | None = field(default=None, kw_only=True)
    base_speed: Number = field(default=0.0, kw_only=True)
    loss: Number = field(default=0.0, kw_only=True)

    positive: ClassVar[Sequence[str]] = (*Motor.positive, "max_torque", "max_speed")
    not_negative: ClassVar[Sequence[str]] = ("inertia", "base_speed", "loss")

    def attach(self) -> Self:
        super().attach()
        if self.max_speed is not None:
            if self.max_torque is None:
                raise ModelError(
                    f"{self.owner}: max_speed is the end of the torque-speed line: give max_torque as well"
                )
            width = self.number("max_speed") - self.number("base_speed")
            if width.is_constant() and not float(width) > 0:
                given = f"{quantity.show(self.max_speed)} and {quantity.show(self.base_speed)}"
                raise ModelError(f"{self.owner}: max_speed must be above base_speed, got {given}")
        return self

    def demand(self) -> ca.SX:
        """Signal: the torque that the rotor would exert without limits."""
        raise NotImplementedError

    def limits(self) -> tuple[ca.SX, ca.SX]:
        """−T₋ and T₊; with max_torque given."""
        T = self.number("max_torque")
        if self.max_speed is None:
            return -T, T
        end, base = self.number("max_speed"), self.number("base_speed")
        share = lambda speed: ca.fmin(1, ca.fmax(0, (end - speed) / (end - base)))
        return -T * share(-self.speed), T * share(self.speed)  # (1)

    def shaft_torque(self) -> ca.SX:
        if self.max_torque is None:
            return self.demand()
        low, high = self.limits()
        return ca.fmin(ca.fmax(self.demand(), low), high)  # (1)

    def heat(self) -> ca.SX:
        return self.number("loss") * self.shaft_torque() ** 2  # (2)


def check_numbers(
    element: Any, positive: Sequence[str] = (), not_negative: Sequence[str] = (), not_zero: Sequence[str] = ()
) -> None:
    """Refuse arguments of an element, None aside, that are numbers out of their ranges."""
    bounds = (("positive", positive), ("at least 0", not_negative), ("different from zero", not_zero))
    for allowed, names in bounds:
        for what in names:
            given = getattr(element, what)
            value = None if given is None else quantity.scalar(given, what, element.owner)
            if value is None or not value.is_constant():
                continue
            x = float(value)
            fits = {"positive": x > 0, "at least 0": x >= 0, "different from zero": x != 0}
            if not fits[allowed]:
                raise ModelError(f"{element.owner}: {what} must be {allowed}, got {quantity.show(given)}")
