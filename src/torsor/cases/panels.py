"""A satellite that unfolds two wings of four panels each by torsion springs at the hinges; planar, free of outer forces.

Energy and angular momentum are invariants; the springs of the two wings differ, so that the hub turns. All numbers are
chosen. A planar joint `plane` keeps the hub in the plane. [mueller2009], sec. 5.4.1.
"""

from math import pi
from typing import Any

import torsor as ts

from ..registry import register
from .base import Case

SIDE, LENGTH = 1.6, 1.8  # hub, panel [m]
HUB_SHAPE = [
    ts.shapes.box((SIDE, SIDE, SIDE), colour="gold"),
    ts.shapes.cone(0.5, 0.5, at=(0, 0, 1.0), colour="silver"),
]
PANEL_SHAPE = ts.shapes.box((0.96 * LENGTH, 0.05, 1.3), colour="#2f5fa8")
STIFFNESS = {"right": 20.0, "left": 22.0}  # [N m/rad]
FOLDED = tuple(0.9 * x for x in (pi / 2, -pi, pi, -pi))  # start angles of the right wing, from the hub outward


def angular_momentum(model):
    """Signal: angular momentum about the world origin, z component, Σ m (x × ẋ)·z + J ω  [N m s]."""
    spins = (b.inertia[2, 2] * b.angular_velocity[2] for b in model.bodies)
    orbits = (b.mass * (b.position[0] * b.velocity[1] - b.position[1] * b.velocity[0]) for b in model.bodies)
    return sum(spins) + sum(orbits)


@register("panels")
class Panels(Case):
    title = "satellite unfolding two wings of four panels, planar, with conserved angular momentum"
    source = "Müller and Terze, sec. 5.4.1"
    until = 10.0

    @staticmethod
    def build():
        model = ts.Model("panels")
        inertia = ts.inertia.box(1000.0, SIDE, SIDE, SIDE)
        still: Any = {"velocity": (0, 0, 0), "angular_velocity": (0, 0, 0.05)}
        hub = model.body("hub", inertia=inertia, shape=HUB_SHAPE, **still)
        model.add(ts.Planar("plane", model.ground, hub, point=(0, 0, 0), axis=(0, 0, 1)))
        for wing, side in (("right", 1), ("left", -1)):
            inner = hub
            for k, angle in enumerate(FOLDED):
                root = side * (SIDE / 2 + k * LENGTH)
                at = (root + side * LENGTH / 2, 0, 0)
                inertia = ts.inertia.rod(25.0, LENGTH, axis="x")
                panel = model.body(f"{wing}{k + 1}", inertia=inertia, at=at, shape=PANEL_SHAPE)
                start: Any = {"start": side * angle, "start_rate": 0.0}
                hinge = ts.Revolute(f"{wing}_hinge{k + 1}", inner, panel, point=(root, 0, 0), axis=(0, 0, 1), **start)
                model.add(hinge)
                model.add(ts.TorsionSpring(f"{wing}_spring{k + 1}", hinge, stiffness=STIFFNESS[wing]))
                inner = panel
        return model
