"""Two magnets that attract and turn each other."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import pi
from typing import Any, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import REQUIRED, Posed, fill_in, pair_of_points
from ..elements.quantity import Number, Vector
from ..errors import ModelError
from ..registry import register
from .base import Force, local_point
from .drag import given_arms

VACUUM = 4e-7 * pi  # magnetic constant [N/A²]


@register("magnets")
@dataclass(frozen=True, eq=False)
class Magnets(Force):
    """Two magnetic dipoles, each fixed in a body.

        U = μ₀/(4π r³) (m₁·m₂ − 3 (m₁·n) (m₂·n)),   p₂ − p₁ = r n      (1)

    moments        m₁ and m₂, each in the axes of its body; remanence times volume over μ₀             [A m²]
    points         p₁ and p₂ in the world, in the reference configuration; default: the centres of mass [m]
    permeability   μ₀; default: of the vacuum                                                          [N/A²]
    """

    drawing = "magnets"
    variants = (
        {"moments": ((1, 0.5, 0), (0, 1, 2)), "permeability": 8.0},
        {"moments": ((1, 0.5, 0), (0, 1, 2)), "points": ((0.3, 0.1, 0.2), (1.2, -0.3, 0.4)), "permeability": 8.0},
    )
    first: Posed = REQUIRED
    second: Posed = REQUIRED
    moments: Any = REQUIRED
    points: Sequence[Vector] | None = None
    permeability: Number = VACUUM
    arms: Any = field(default=None, repr=False)

    def attach(self) -> Self:
        self._moments()
        if self.arms is not None:
            return self
        bodies = (self.first, self.second)
        return fill_in(self, arms=tuple(local_point(b, p, self.owner) for b, p in zip(bodies, pair_of_points(self))))

    def drawn_at(self) -> list[tuple[Any, Any]]:
        return list(zip((self.first, self.second), self.arms))

    def drawn_details(self) -> dict[str, Any]:
        return {"ends": [{"body": b, "p": arm, "moment": m} for (b, arm), m in zip(self.drawn_at(), self._moments())]}

    def _moments(self):
        given = self.moments
        if not isinstance(given, (list, tuple)) or len(given) != 2:
            raise ModelError(
                f"{self.owner}: moments must be two vectors of 3 numbers, one for each body, got {quantity.show(given)}"
            )
        return [quantity.vector(m, "moments", self.owner) for m in given]

    def potential(self) -> ca.SX | None:
        bodies = (self.first, self.second)
        ends = [(b, b.rotation @ m, r) for b, m, r in zip(bodies, self._moments(), given_arms(self, 2))]
        (p1, m1), (p2, m2) = ((b.position + b.rotation @ arm, m) for b, m, arm in ends)
        x = p2 - p1
        r = ca.sqrt(ca.sumsqr(x))
        constant = quantity.scalar(self.permeability, "permeability", self.owner) / (4 * pi)
        return constant / r**3 * (ca.dot(m1, m2) - 3 * ca.dot(m1, x) * ca.dot(m2, x) / r**2)  # (1)
