"""A car with suspension, symmetric about x = 0, built from the components of its document.

Damper (piston and cylinder) and Wheel are basic, Suspension = Damper + beam is derived, Car = body + 2 suspensions +
2 wheels. `side` is −1 on the left, 1 on the right. [vlasenko2006], ch. 7.
"""

from math import pi

import torsor as ts

from ..registry import register
from .base import Case

SIDES = {"left": -1, "right": 1}


def damper(side):
    """Piston and cylinder, the damper's foot at the origin; it leans inward at 45° and is 0.6 √2 long."""
    model = ts.Model("damper")
    tilt = (0, -side * pi / 4, 0)
    along = lambda s: (-side * s * 0.5**0.5, 0, s * 0.5**0.5)
    piston = model.body("piston", inertia=ts.inertia.cylinder(13.23, 0.01, 0.6), at=along(0.3), rotation=tilt)
    cylinder = model.body(
        "cylinder",
        inertia=ts.inertia.cylinder(3.4, 0.03, 0.6, inner=0.026),
        at=along(0.6 * 2**0.5 - 0.3),
        rotation=tilt,
    )
    lower = piston.frame((0, 0, -0.3)), cylinder.frame((0, 0, -0.3))
    model.add(ts.Cylindrical("slide", piston, cylinder, frames=lower, axis=(0, 0, 1)))
    model.add(ts.SpringDamper("spring", piston, cylinder, frames=lower, stiffness=5e4, damping=1e4, length=0.35))
    model.expose("piston", piston)
    model.expose("cylinder", cylinder)
    return model


def suspension(side):
    """A beam, its centre at the origin, and the damper that stands on it, 0.2 outward."""
    model = ts.Model("suspension")
    beam = model.body("beam", mass=7.02, inertia=(0.06, 0.5855265, 0.5855265))
    leg = model.include("damper", damper(side), at=(side * 0.2, 0, 0))
    model.add(ts.Revolute("foot", beam, leg.piston, point=(side * 0.2, 0, 0), axis=(0, 1, 0)))
    model.expose("beam", beam)
    model.expose("cylinder", leg.cylinder)
    return model


def wheel():
    """A hollow wheel with its axis along x, and the spring below its centre that stands for tyre and ground."""
    model = ts.Model("wheel")
    ring = model.body("ring", inertia=ts.inertia.cylinder(15.0, 0.3, 0.3, axis="x", inner=0.29))
    ends = (0, 0, -0.35), (0, 0, 0)
    tyre = ts.SpringDamper("tyre", model.ground, ring, points=ends, stiffness=4e5, damping=100.0, length=0.35)
    model.add(tyre)
    model.expose("ring", ring)
    return model


@register("car")
class Car(Case):
    title = "car with suspension, symmetric, dropped onto its wheels"
    source = "Vlasenko's thesis, ch. 7"
    until = 1.5

    @staticmethod
    def build():
        model = ts.Model("car", gravity=(0, 0, -9.8))
        body = model.body("car_body", mass=585.0, inertia=(12.675, 450.9375, 439.2375), at=(0, 0, 0.95))
        model.add(ts.Cylindrical("guide", model.ground, body, point=(0, 0, 0.95), axis=(0, 0, 1)))
        for name, side in SIDES.items():
            arm = model.include(name, suspension(side), at=(side * 0.5, 0, 0.35))
            tyre = model.include(f"{name}_wheel", wheel(), at=(side * 1.0, 0, 0.35))
            y = {"axis": (0, 1, 0)}
            model.add(ts.Revolute(f"{name}_pivot", body, arm.beam, point=(0, 0, 0.35), **y))
            model.add(ts.Revolute(f"{name}_head", body, arm.cylinder, point=(side * 0.1, 0, 0.95), **y))
            model.add(ts.Revolute(f"{name}_axle", arm.beam, tyre.ring, point=(side * 1.0, 0, 0.35), axis=(1, 0, 0)))
        return model
