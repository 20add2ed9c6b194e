"""A flyball governor, stiff: two rods with heavy ends on a spinning shaft, tied to a slider by hard springs and dampers.

The dampers' fastest mode decays with more than 10⁴ 1/s: an explicit method takes short steps for the sake of stability,
not of accuracy. Parts have a density of 3000; shaft and rods are 1 × 0.01 × 0.01, the slider is a cube of 0.1.
"""

from math import cos, pi, sin

import torsor as ts

from ..registry import register
from .base import Case

DENSITY = 3000.0
THIN, CUBE = 0.01, 0.1
TILT = pi / 6  # of the rods below the horizontal
ROD_SHAPE = [  # from its middle
    ts.shapes.cylinder(0.012, 1.0, axis="x", colour="silver"),
    ts.shapes.sphere(0.075, at=(0.5, 0, 0), colour="brass"),
]


@register("governor")
class Governor(Case):
    title = "flyball governor, stiff springs and dampers on a free shaft"
    source = "MBS benchmark A05"
    until = 10.0

    @staticmethod
    def build():
        model = ts.Model("governor", gravity=(0, 0, -9.81))
        bar = ts.inertia.box(DENSITY * THIN**2, 1.0, THIN, THIN)
        shaft = model.body("shaft", inertia=ts.inertia.box(bar.mass, THIN, THIN, 1.0), at=(0, 0, 0.5))
        slider = model.body("slider", inertia=ts.inertia.box(DENSITY * CUBE**3, CUBE, CUBE, CUBE), at=(0, 0, 0.5))
        model.add(ts.Revolute("spin", model.ground, shaft, point=(0, 0, 0), axis=(0, 0, 1), start_rate=2 * pi))
        model.add(ts.Prismatic("slide", shaft, slider, point=(0, 0, 0.5), axis=(0, 0, 1), start_rate=0.0))
        for name, side, turn in (("right", 1, TILT), ("left", -1, pi - TILT)):
            middle = (side * (0.05 + cos(TILT) / 2), 0, 1 - sin(TILT) / 2)
            rod = model.body(
                f"{name}_rod", inertia=bar + ts.inertia.point(5.0, at=(0.5, 0, 0)), at=middle, rotation=(0, turn, 0),
                shape=ROD_SHAPE,
            )  # fmt: skip
            hinge = (side * 0.05, 0, 1)
            model.add(ts.Revolute(f"{name}_hinge", shaft, rod, point=hinge, axis=(0, 1, 0), start_rate=0.0))
            ends = middle, (side * 0.05, 0, 0.5)
            model.add(
                ts.SpringDamper(f"{name}_spring", rod, slider, points=ends, stiffness=8e5, damping=4e4, length=0.5)
            )
        return model
