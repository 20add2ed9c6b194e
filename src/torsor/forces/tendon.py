"""An elastic tendon over points of several bodies."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import REQUIRED, fill_in
from ..elements.quantity import Number
from ..errors import ModelError
from ..registry import register
from .base import Force, local_point
from .drag import given_arms, point_velocity
from .motor import check_numbers


@register("tendon")
@dataclass(frozen=True, eq=False)
class Tendon(Force):
    """An elastic tendon that slides without friction through points of bodies, in their order, and only pulls.

        l = Σ |p_{j+1} − p_j|,   x = l − l₀                            (1)
        T = max(0, k x + c l̇) where x > 0, else 0                      (2)

    bodies      of the points, in the order of the tendon; a body may occur several times, and the ground, too
    points      one for each of them, in the world, in the reference configuration                        [m]
    stiffness   k                                                                                         [N/m]
    damping     c                                                                                         [N s/m]
    length      l₀ without tension, an expression of time or inputs where something winds it up; default: the length in the
                reference configuration                                                                   [m]

    The energy ½ k x² and what the damper loses are counted as such. A tendon that turns a pulley needs a pulley instead of a point.
    """

    drawing = "cable"
    variants = (
        lambda scene: {
            "bodies": (scene["first"], scene["second"], scene["first"]),
            "points": ((0.3, 0.1, 0.2), (1.2, -0.3, 0.4), (0.1, 0.5, 0.2)),
            "stiffness": 40.0,
            "damping": 2.0,
            "length": 0.5,
        },
        lambda scene: {
            "bodies": (scene["first"], scene["second"]),
            "points": ((0.3, 0.1, 0.2), (1.2, -0.3, 0.4)),
            "stiffness": 40.0,
            "length": 0.4 + 0.1 * ca.sin(quantity.time),
        },
    )
    bodies: Sequence[Any] = ()
    points: Any = REQUIRED
    stiffness: Number = 0.0
    damping: Number = 0.0
    length: Number | None = None
    arms: Any = field(default=None, repr=False)

    def attach(self) -> Self:
        check_numbers(self, positive=("stiffness",), not_negative=("damping", "length"))
        known = isinstance(self.bodies, (tuple, list)) and len(self.bodies) > 1
        if not known or not all(hasattr(b, "reference") and b._home is self._home for b in self.bodies):
            shown = quantity.show(self.bodies)
            raise ModelError(f"{self.owner}: bodies must be two or more bodies of the model, got {shown}")
        if self.arms is None:
            points = self.points if isinstance(self.points, (tuple, list)) else ()
            if len(points) != len(self.bodies):
                raise ModelError(
                    f"{self.owner}: give one point for each of the {len(self.bodies)} bodies, got {quantity.show(self.points)}"
                )
            fill_in(self, arms=tuple(local_point(b, p, self.owner) for b, p in zip(self.bodies, points)))
        if self.length is None:
            places = [
                b.start_position + b.start_rotation @ arm
                for b, arm in zip(self.bodies, given_arms(self, len(self.bodies)))
            ]
            pieces = [ca.sqrt(ca.sumsqr(q - p)) for p, q in zip(places, places[1:])]
            fill_in(self, length=quantity.numbers_or(sum(pieces, ca.SX(0))))
        return self

    def drawn_at(self) -> list[tuple[Any, Any]]:
        return list(zip(self.bodies, self.arms))

    def span(self) -> tuple[ca.SX, ca.SX]:
        """Signals: l and l̇."""
        arms = given_arms(self, len(self.bodies))
        ends = [(b.position + b.rotation @ arm, point_velocity(b, arm)) for b, arm in zip(self.bodies, arms)]
        length, rate = ca.SX(0), ca.SX(0)
        for (p, u), (q, w) in zip(ends, ends[1:]):
            piece = ca.sqrt(ca.sumsqr(q - p))
            length += piece  # (1)
            rate += ca.dot(q - p, w - u) / (piece + (piece == 0))
        return length, rate

    def _stretch(self):
        return self.span()[0] - quantity.scalar(self.length, "length", self.owner)

    def tension(self) -> ca.SX:
        """Signal: T."""
        k, c = (quantity.scalar(getattr(self, what), what, self.owner) for what in ("stiffness", "damping"))
        x = self._stretch()
        return (x > 0) * ca.fmax(0, k * x + c * self.span()[1])  # (2)

    def potential(self) -> ca.SX | None:
        return quantity.scalar(self.stiffness, "stiffness", self.owner) * ca.fmax(self._stretch(), 0) ** 2 / 2

    def dissipation(self) -> ca.SX | None:
        """½ c l̇² as long as it pulls; where the damper would push, what takes the tension away: k x + ∂D/∂l̇ = 0."""
        k, c = (quantity.scalar(getattr(self, what), what, self.owner) for what in ("stiffness", "damping"))
        if c.is_zero():
            return None
        x, rate = self._stretch(), self.span()[1]
        slack = -k * x * rate - (k * x) ** 2 / (2 * c)
        return (x > 0) * ca.if_else(k * x + c * rate > 0, c * rate**2 / 2, slack)  # (2)
