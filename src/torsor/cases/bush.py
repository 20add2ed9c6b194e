"""A hanging chain with side branches and loops, of n segments with five bodies each; a system of any size.

    segment = two links of the stem, a twig of two links on the upper one, and a stay from the twig to the lower one

The stay closes a loop of four joints with one degree of freedom. The end of the twig hangs on a ball joint and on a spring. A
segment has 7 degrees of freedom with the ball joint that it hangs on; no constraint is redundant. Every quantity is a number: a
bush of more than some segments is run by classes (`formulation="hierarchical"`).
"""

import numpy as np

import torsor as ts

from ..registry import register
from .base import Case, whole

LENGTH = 2.0  # of a segment along the stem [m]
QUARTERS = [
    np.array([(c, -s, 0), (s, c, 0), (0, 0, 1.0)]) for c, s in ((1, 0), (0, 1), (-1, 0), (0, -1))
]  # about z, exactly
ROD = (0.09, 0.09, 0.002)  # inertia of a link of unit mass and length that hangs down


def segment():
    """Five bodies below the origin. Ports: top and bottom, the two links of the stem."""
    model = ts.Model("segment", gravity=(0, 0, -9.81))
    top = model.body("top", mass=1.0, inertia=ROD, at=(0, 0, -0.5))
    bottom = model.body("bottom", mass=1.0, inertia=ROD, at=(0, 0, -1.5))
    twig = model.body("twig", mass=0.4, inertia=(0.002, 0.02, 0.02), at=(0.4, 0, -0.5))
    tip = model.body("tip", mass=0.2, inertia=(0.002, 0.01, 0.01), at=(1.0, 0, -0.5))
    stay = model.body("stay", mass=0.2, inertia=(0.02, 0.015, 0.01), at=(0.4, 0, -1.0))
    model.add(ts.Revolute("knee", top, bottom, point=(0, 0, -1), axis=(0, 1, 0)))
    model.add(ts.Revolute("fork", top, twig, point=(0, 0, -0.5), axis=(0.2, 1, 0)))
    model.add(ts.Spherical("bud", twig, tip, point=(0.8, 0, -0.5)))
    model.add(ts.Universal("foot", twig, stay, point=(0.8, 0, -0.5), axis=(0, 1, 0), second_axis=(0.5, 0, 0.4)))
    model.add(ts.Spherical("head", stay, bottom, point=(0, 0, -1.5)))
    model.add(ts.SpringDamper("sinew", top, tip, points=((0, 0, 0), (1.2, 0, -0.5)), stiffness=20.0, damping=0.3))
    model.expose("top", top)
    model.expose("bottom", bottom)
    return model


def bush(n):
    """n segments, one below the other, each turned by a quarter."""
    model = ts.Model(f"bush-{n}", gravity=(0, 0, -9.81))
    segments = model.include("segment", segment(), count=n, pitch=(0, 0, -LENGTH), rotation=lambda k: QUARTERS[k % 4])
    above = model.ground
    for k, part in enumerate(segments):
        model.add(ts.Spherical(f"joint{k}", above, part.top, point=(0, 0, -LENGTH * k)))
        above = part.bottom
    return model


@register("bush")
class Bush(Case):
    title = "hanging chain of n segments with side branches and loops"
    source = "own; for scale"
    until = 1.0

    @staticmethod
    def build(n=3):
        return bush(whole(n, "n", "bush", 1))
