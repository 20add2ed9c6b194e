"""Contact of two shapes as a force: a stiff, damping surface with regularised Coulomb friction."""

from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca
import numpy as np

from ...elements.quantity import Number
from ...elements.shapes import Shape
from ...errors import ModelError
from ...registry import register
from ..contact_geometry import GROUNDS
from ..contact_law import check_law, law_of
from .shape_pair import ShapePair

INSIDE = (
    0.5  # depth at the start over the smallest size of a shape, above which bodies are taken to be inside each other
)


@register("compliant-contact")
@dataclass(frozen=True, eq=False)
class CompliantContact(ShapePair):
    """Contact of a shape of one body with a shape of another, as a force; δ is the depth of a touching point.

        N = k δⁿ (1 + d δ̇) ≥ 0                  law="hunt-crossley"                                      (1)
        N = k δ + c δ̇ ≥ 0                        law="kelvin-voigt", where δ > 0                          (2)
        T = −μ N u / √(|u|² + v_s²)               friction, u: velocity of sliding                         (3)

    first, second   the bodies; grounds too
    shapes          a shape of each (`ts.shapes`): sphere, capsule, box, cylinder, plane (the half-space below it); the hull of
                    points (`ts.ConvexPolyhedron`); a function z = h(x, y), such as a `ts.table`, for what is above it; None:
                    those that the bodies have, which must be one each
    stiffness       k   [N/mⁿ, or N/m]
    exponent        n; 1.5 for round surfaces (Hertz)   [-]
    damping         d [s/m]: an impact with speed v has a restitution of about 1 − ⅔ d v; or c [N s/m]
    friction        μ   [-]
    slip_speed      v_s: below this speed friction falls short of Coulomb's; what rests on a slope creeps with less than it   [m/s]

    Shapes touch at points: see `contact_geometry`. (1) is the law of Hunt and Crossley, 1975.
    """

    texts = ("kinds", "law")
    variants = (
        {
            "shapes": (Shape("sphere", (0.6,)), Shape("sphere", (0.6,))),
            "stiffness": 50.0,
            "damping": 0.2,
            "friction": 0.4,
        },
        {
            "shapes": (Shape("plane", (1.0, 1.0), (0.0, 0.0, -0.6)), Shape("box", (1.2, 1.0, 1.4))),
            "stiffness": 20.0,
            "friction": 0.4,
        },
        {
            "shapes": (Shape("box", (0.9, 0.9, 0.9)), Shape("capsule", (0.5, 0.4))),
            "stiffness": 20.0,
            "law": "kelvin-voigt",
        },
    )
    stiffness: Number = 1e5
    exponent: Number = 1.5
    damping: Number = 0.5
    friction: Number = 0.0
    slip_speed: Number = 1e-3
    law: str = "hunt-crossley"
    trusted: bool = field(
        default=False, kw_only=True, repr=False
    )  # True: the reference configuration is not where it starts

    def attach(self) -> Self:
        known = self.kinds is not None
        if not known:
            check_law(self)
        self.keep_shapes()
        if not known and not self.trusted:
            self._refuse_deep_start()
        return self

    def _refuse_deep_start(self):
        """Refuse bodies that are far inside each other in the reference configuration."""
        found = self.reference_touches()
        if found is None:
            return
        depths = ca.Function("depths", [], [ca.vertcat(*[touch.depth for touch in found])])()["o0"]
        depth = float(ca.mmax(depths))
        least = min(
            (least_size(kind, size) for kind, size in zip(self.kinds, self.sizes) if kind not in GROUNDS), default=0.0
        )
        if depth > INSIDE * least > 0:
            raise ModelError(
                f"{self.owner}: {self.first.owner} and {self.second.owner} start {depth:.3g} m inside each other; move one of "
                "them, or give other shapes"
            )

    def pressures(self) -> list[tuple[Any, ca.SX, ca.SX]]:
        """Touch, relative velocity and normal force N for every possible touch: (1), (2)."""
        poses = [(body.position, body.rotation) for body in (self.first, self.second)]
        return law_of(self).pressures(self.touches(poses), self.first, self.second)

    def normal_force(self) -> ca.SX:
        """Signal: the sum of the normal forces at all touching points."""
        return sum((force for _, _, force in self.pressures()), ca.SX(0))

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        return law_of(self).efforts(self.pressures())


def least_size(kind, size):
    """The smallest size of a shape; of a polyhedron, of the box around it."""
    if kind != "polyhedron":
        return min(size)
    return float(np.ptp(np.array(size).reshape(-1, 3), axis=0).min())
