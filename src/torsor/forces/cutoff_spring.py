"""A spring that lets go where it is short."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import casadi as ca

from ..elements import quantity
from ..elements.quantity import Number
from ..errors import ModelError
from ..registry import register
from .loads_and_springs import SpringDamper


@register("cutoff-spring")
@dataclass(frozen=True, eq=False)
class CutoffSpring(SpringDamper):
    """As a spring-damper, without force where it is shorter than δ.

        U = ½ k (l − l₀)²,   D = ½ c l̇²    where l ≥ δ                 (1)
        U = ½ k (δ − l₀)²,   D = 0          elsewhere                   (2)

    cutoff   δ   [m]

    [vlasenko2006], sec. 6.2.2: "accuracy" δ, there against the division by l = 0. The force jumps where l = δ, unless δ = l₀
    and nothing damps; `ts.SpringDamper` needs no δ.
    """

    variants: ClassVar[tuple[Any, ...]] = (
        {"stiffness": 40.0, "damping": 2.0, "cutoff": 0.1, "points": ((0, 0, 0), (1, 1, 1))},
    )
    cutoff: Number = 1e-13

    def attach(self) -> Self:
        value = quantity.given(self.cutoff, 1, 1, "cutoff", self.owner)
        if quantity.is_number(value) and not value >= 0:
            raise ModelError(f"{self.owner}: cutoff must not be negative, got {self.cutoff!r}")
        return super().attach()

    def _acts(self):
        delta = quantity.scalar(self.cutoff, "cutoff", self.owner)
        return delta, ca.sumsqr(self.vector()[0]) >= delta**2

    def potential(self) -> ca.SX | None:
        k, length = (quantity.scalar(getattr(self, what), what, self.owner) for what in ("stiffness", "length"))
        delta, acts = self._acts()
        stored: Any = super().potential()
        return ca.if_else(acts, stored, 0.5 * k * (delta - length) ** 2)  # (1), (2)

    def dissipation(self) -> ca.SX | None:
        lost = super().dissipation()
        return None if lost is None else ca.if_else(self._acts()[1], lost, 0)  # (1), (2)

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        acts = self._acts()[1]
        return [(rate, ca.if_else(acts, effort, ca.SX.zeros(effort.shape))) for rate, effort in super().efforts()]
