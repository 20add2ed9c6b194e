"""A hydraulic cylinder with the valve that feeds it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import REQUIRED, Posed, fill_in, pair_of_points
from ..elements.placing import distance, product, total
from ..elements.quantity import Number, Vector
from ..errors import ModelError
from ..events import State
from ..registry import register
from .base import Force, local_point
from .drag import given_arms, point_velocity
from .motor import check_numbers

CHAMBERS = ("pressure_a", "pressure_b")
BULK = 1.4e9  # bulk modulus of mineral oil with some air [Pa]


@register("hydraulic-cylinder")
@dataclass(frozen=True, eq=False)
class HydraulicCylinder(Force):
    """A double-acting cylinder between a point of one body and a point of another, with its pressures as states, and a 4/3 valve.

        F = p_A A_A − p_B A_B − c l̇,   x = l − l₀                                              (1)
        ṗ_A = β/(V_A + A_A x) (Q_A − A_A ẋ − g (p_A − p_B))                                    (2)
        ṗ_B = β/(V_B + A_B (s − x)) (Q_B + A_B ẋ + g (p_A − p_B))                              (3)
        Q_A = K (y₊ φ(p_S − p_A) − y₋ φ(p_A − p_T)),   Q_B = K (y₋ φ(p_S − p_B) − y₊ φ(p_B − p_T))     (4)
        φ(Δ) = Δ/(Δ² + δ²)^¼                                                                   (5)

    F pushes the points apart; l is their distance. φ is √Δ of an orifice, smooth at zero: it differs from the root by less than
    ¼ (δ/Δ)² of it. y₊ and y₋ are the parts of the opening y within ±1 above and below zero.

    areas           A_A, that pushes, and A_B of the rod's side                                    [m²]
    stroke          s                                                                              [m]
    valve           y, an expression of signals; 0: closed, 1: supply to A and B to tank, −1: the other way round
    rated_flow      K √Δ of the open valve at the pressure drop Δ over one edge                    [m³/s]
    rated_drop      that Δ                                                                         [Pa]
    supply, tank    p_S and p_T                                                                    [Pa]
    bulk_modulus    β                                                                              [Pa]
    dead_volumes    V_A and V_B, of the chambers at their ends and the hoses to the valve          [m³]
    leakage         g, past the piston                                                             [m³/(s Pa)]
    friction        c, viscous                                                                     [N s/m]
    transition      δ                                                                              [Pa]
    pressures       p_A and p_B at the start                                                       [Pa]
    points          the ends in the world, in the reference configuration; default: the centres of mass        [m]
    length          l₀ of the retracted cylinder; default: the distance in the reference configuration         [m]

    The states are `name.pressure_a` and `name.pressure_b`. Beyond its stroke the chambers keep their dead volumes: the ends of the
    stroke are stops of their own. A stiff system: take an implicit method. Switched off by an event, it neither pushes nor flows.
    """

    drawing = "ram"
    variants = (
        {
            "areas": (2e-6, 1e-6),
            "stroke": 2.0,
            "valve": 0.5,
            "supply": 2e7,
            "rated_flow": 1e-4,
            "dead_volumes": (1e-5, 1e-5),
            "pressures": (1e6, 2e6),
            "points": ((0.3, 0.1, 0.2), (1.2, -0.3, 0.4)),
            "length": 0.5,
        },
        {"areas": (1e-6, 1e-6), "stroke": 1.0, "pressures": (3e6, 1e6), "friction": 2.0, "leakage": 1e-12},
    )
    first: Posed = REQUIRED
    second: Posed = REQUIRED
    areas: Any = REQUIRED
    stroke: Number = REQUIRED
    valve: Number = 0.0
    supply: Number = 0.0
    tank: Number = 0.0
    rated_flow: Number = 0.0
    rated_drop: Number = 35e5
    bulk_modulus: Number = BULK
    dead_volumes: Any = (1e-4, 1e-4)
    leakage: Number = 0.0
    friction: Number = 0.0
    transition: Number = 1e4
    pressures: Any = (0.0, 0.0)
    points: Sequence[Vector] | None = None
    length: Number | None = None
    arms: Any = field(default=None, repr=False)

    own_states: ClassVar[tuple[State, State]]  # pressures of both chambers; each cylinder has its own

    def __post_init__(self):
        fill_in(self, own_states=tuple(State(f"{self.name}.{what}") for what in CHAMBERS))

    def attach(self) -> Self:
        check_numbers(
            self,
            positive=("stroke", "rated_drop", "bulk_modulus", "transition"),
            not_negative=("supply", "tank", "rated_flow", "leakage", "friction", "length"),
        )
        for what in ("stroke", "areas"):
            if getattr(self, what) is None:
                raise ModelError(f"{self.owner}: give {what}")
        for what in ("areas", "dead_volumes"):
            for value in self._pair(what):
                if value.is_constant() and not float(value) > 0:
                    shown = quantity.show(getattr(self, what))
                    raise ModelError(f"{self.owner}: {what} must be positive, got {shown}")
        for state, value in zip(self.own_states, self._pair("pressures")):
            if not value.is_constant():
                shown = quantity.show(self.pressures)
                raise ModelError(f"{self.owner}: pressures must be two numbers, those at the start, got {shown}")
            fill_in(state, value=float(value))
        if self.arms is None:
            bodies = (self.first, self.second)
            fill_in(self, arms=tuple(local_point(b, p, self.owner) for b, p in zip(bodies, pair_of_points(self))))
        if self.length is None:
            places = [
                total(x, product(R, arm))
                for (x, R), arm in zip((self.first.reference, self.second.reference), self.arms)
            ]
            fill_in(self, length=distance(*places))
        return self

    def drawn_at(self) -> list[tuple[Any, Any]]:
        return list(zip((self.first, self.second), self.arms))

    def memories(self) -> list[Any]:
        return list(self.own_states)

    def recorded_signals(self) -> dict[str, ca.SX]:
        return {state.name: state.symbol for state in self.own_states}

    def _number(self, what):
        return quantity.scalar(getattr(self, what), what, self.owner)

    def _pair(self, what):
        return ca.vertsplit(quantity.vector(getattr(self, what), what, self.owner, 2))

    @property
    def pressure_a(self) -> ca.SX:
        """Signal: p_A [Pa]."""
        return self.own_states[0].symbol

    @property
    def pressure_b(self) -> ca.SX:
        """Signal: p_B [Pa]."""
        return self.own_states[1].symbol

    def span(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Distance l of the points, the direction from the first to the second, and their relative velocity."""
        ends = list(zip((self.first, self.second), given_arms(self, 2)))
        p1, p2 = (b.position + b.rotation @ arm for b, arm in ends)
        v1, v2 = (point_velocity(b, arm) for b, arm in ends)
        length = ca.sqrt(ca.sumsqr(p2 - p1))
        return length, (p2 - p1) / length, v2 - v1

    @property
    def extension(self) -> ca.SX:
        """Signal: x [m]."""
        return self.span()[0] - self._number("length")

    def flows(self) -> tuple[ca.SX, ca.SX]:
        """Signals: Q_A and Q_B, into the chambers   [m³/s]."""
        y = ca.fmin(ca.fmax(self._number("valve"), -1), 1)
        opened, reversed_ = ca.fmax(y, 0), ca.fmax(-y, 0)
        K = self._number("rated_flow") / ca.sqrt(self._number("rated_drop"))
        phi = lambda drop: drop / (drop**2 + self._number("transition") ** 2) ** 0.25  # (5)
        into = [phi(self._number("supply") - p) for p in (self.pressure_a, self.pressure_b)]
        out = [phi(p - self._number("tank")) for p in (self.pressure_a, self.pressure_b)]
        return K * (opened * into[0] - reversed_ * out[0]), K * (reversed_ * into[1] - opened * out[1])  # (4)

    def rates(self, acts: ca.SX) -> list[tuple[Any, ca.SX]]:
        _, n, u = self.span()
        (A, B), (V_A, V_B), (Q_A, Q_B) = self._pair("areas"), self._pair("dead_volumes"), self.flows()
        speed = ca.dot(n, u)
        stroke, beta = self._number("stroke"), self._number("bulk_modulus")
        x = ca.fmin(ca.fmax(self.extension, 0), stroke)
        leak = self._number("leakage") * (self.pressure_a - self.pressure_b)
        rise_a = beta / (V_A + A * x) * (Q_A - A * speed - leak)  # (2)
        rise_b = beta / (V_B + B * (stroke - x)) * (Q_B + B * speed + leak)  # (3)
        return [(state, acts * rise) for state, rise in zip(self.own_states, (rise_a, rise_b))]

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        _, n, u = self.span()
        A, B = self._pair("areas")
        push = self.pressure_a * A - self.pressure_b * B - self._number("friction") * ca.dot(n, u)  # (1)
        return [(u, push * n)]
