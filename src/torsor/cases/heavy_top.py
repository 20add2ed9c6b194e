"""A fast heavy top on a spherical joint.

The energy, the angular momentum about the vertical through the fixed point and the body rate about the axis of
symmetry (y) are exact invariants.
"""

import torsor as ts

from ..registry import register
from .base import Case

TOP_SHAPE = [  # a disk on a rod; the mark shows that it spins
    ts.shapes.cylinder(0.25, 0.1, axis="y", colour="steelblue"),
    ts.shapes.cylinder(0.02, 1.2, at=(0, -0.4, 0), axis="y", colour="silver"),
    ts.shapes.box((0.2, 0.102, 0.05), at=(0.13, 0, 0), colour="orange"),
]


@register("heavy-top")
class HeavyTop(Case):
    title = "heavy symmetric top, spinning at 150 rad/s on a spherical joint"
    source = "Brüls and Cardona 2010, benchmark"
    until = 2.0

    @staticmethod
    def build():
        model = ts.Model("heavy-top", gravity=(0, 0, -9.81))
        top = model.body(
            "top", mass=15.0, inertia=(0.234375, 0.46875, 0.234375), at=(0, 1, 0), shape=TOP_SHAPE,
            velocity=(4.61538, 0, 0), angular_velocity=(0, 150, -4.61538),
        )  # fmt: skip
        model.add(ts.Spherical("pivot", model.ground, top, point=(0, 0, 0)))
        return model
