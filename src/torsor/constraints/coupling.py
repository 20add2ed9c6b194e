"""Any relation of joint coordinates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import REQUIRED
from ..elements.quantity import Number
from ..errors import ModelError
from ..registry import register
from .joint_relation import JointRelation, nonzero


@register("coupling")
@dataclass(frozen=True, eq=False)
class Coupling(JointRelation):
    """Joint coordinates that follow each other: linkages, mimic joints, tendons without stretch.

        0 = Σ cₖ qₖ − offset                                           (1)
        0 = q₁ − f(q₂, q₃ …)                                           (2)

    joints         the joints; a pair (joint, index) for one of several coordinates
    coefficients   cₖ of (1), none of them zero
    offset         [m or rad]
    function       f of (2), a smooth function of the other coordinates, a `ts.table` too; instead of the coefficients
    """

    variants = (
        lambda scene: {"joints": (scene["joint"], scene["other"]), "coefficients": (1.0, -0.5), "offset": 0.1},
        lambda scene: {"joints": (scene["joint"], scene["other"]), "function": lambda q: ca.sin(q) + 0.3 * q},
    )
    joints: Sequence[Any] = REQUIRED
    coefficients: Sequence[Number] | None = None
    offset: Number = 0.0
    function: Callable[..., Any] | None = None

    def attach(self) -> Self:
        if (self.coefficients is None) == (self.function is None):
            raise ModelError(f"{self.owner}: give either coefficients or a function")
        if not isinstance(self.joints, (list, tuple)) or len(self.joints) < 2:
            raise ModelError(f"{self.owner}: joints must be a list of at least two, got {quantity.show(self.joints)}")
        if self.coefficients is not None and (
            not isinstance(self.coefficients, (list, tuple)) or len(self.coefficients) != len(self.joints)
        ):
            given = quantity.show(self.coefficients)
            raise ModelError(f"{self.owner}: coefficients must be {len(self.joints)}, one for each joint, got {given}")
        if self.function is not None and not callable(self.function):
            raise ModelError(
                f"{self.owner}: function must be a function of coordinates, got {quantity.show(self.function)}"
            )
        return super().attach()

    def drawn_details(self) -> dict[str, Any]:
        return {}  # it stands for a linkage of any form

    def members(self) -> list[tuple[Any, int, Any]]:
        pairs = [x if isinstance(x, (list, tuple)) else (x, 0) for x in self.joints]
        pairs = [(self._home[j] if isinstance(j, str) and self._home is not None else j, k) for j, k in pairs]
        given = self.coefficients if self.coefficients is not None else [1.0] * len(pairs)
        return [(joint, k, nonzero(self, "coefficients", c)) for (joint, k), c in zip(pairs, given)]

    def offset_value(self) -> Any:
        return quantity.scalar(self.offset, "offset", self.owner)

    def _follower(self):
        """q₁, f of the other coordinates, and the other coordinates and rates."""
        (first, k, _), *others = self.members()
        q = [joint.coordinate[i] for joint, i, _ in others]
        rates = [joint.rate[i] for joint, i, _ in others]
        function: Any = self.function
        return first, k, quantity.scalar(function(*q), "function", self.owner), ca.vertcat(*q), ca.vertcat(*rates)

    def relation(self) -> ca.SX:
        if self.function is None:
            return super().relation()  # (1)
        first, k, f, _, _ = self._follower()
        return first.coordinate[k] - f  # (2)

    def relation_rate(self) -> ca.SX:
        if self.function is None:
            return super().relation_rate()
        first, k, f, q, rates = self._follower()
        return first.rate[k] - ca.jtimes(f, q, rates)
