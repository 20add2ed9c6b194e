"""A spatial slider-crank: crank about x, rod on a spherical and a universal joint, slider along x.

B = A + 0.08 (0, −sin θ, cos θ),     x_C = B_x + √(0.3² − B_y² − B_z²)                                    (1)
"""

import torsor as ts

from ..registry import register
from .base import Case

A, B, C = (0, 0.1, 0.12), (0, 0.1, 0.2), (0.2, 0, 0)


def along(direction, across, axial):
    """Inertia of a slender body along a direction d: across 1 + (axial − across) d dᵀ."""
    length = sum(x * x for x in direction)
    return [
        [across * (i == j) + (axial - across) * direction[i] * direction[j] / length for j in range(3)]
        for i in range(3)
    ]


@register("slider-crank")
class SliderCrank(Case):
    title = "spatial slider-crank with a spherical and a universal joint"
    source = "MBS benchmark, spatial slider-crank"
    until = 5.0

    @staticmethod
    def build():
        model = ts.Model("slider-crank", gravity=(0, 0, -9.81))
        crank = model.body("crank", mass=0.12, inertia=(1e-4, 1e-4, 1e-5), at=(0, 0.1, 0.16))
        rod = model.body("rod", mass=0.5, inertia=along((-2, 1, 2), 0.004, 0.0004), at=(0.1, 0.05, 0.1))
        slider = model.body("slider", mass=2.0, inertia=(1e-4, 1e-4, 1e-4), at=C)
        model.add(ts.Revolute("A", model.ground, crank, point=A, axis=(1, 0, 0), start_rate=6.0))
        model.add(ts.Spherical("B", crank, rod, point=B))
        model.add(ts.Universal("C", slider, rod, point=C, axis=(1, 0, 0), second_axis=(0, -2, 1)))
        model.add(ts.Prismatic("slide", model.ground, slider, point=C, axis=(1, 0, 0)))
        return model
