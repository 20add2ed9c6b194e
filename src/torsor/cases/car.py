"""A car with suspension, symmetric about x = 0, built from the components of its document.

    damper = piston + cylinder          wheel = ring + tyre
    suspension = beam + damper          car = body + 2 suspensions + 2 wheels

Each is a function that returns a new model with ports, to be simulated, tested and included by itself. `side` is −1 on the
left, 1 on the right. [vlasenko2006], ch. 7.
"""

from math import pi

import torsor as ts

from ..registry import register
from .base import Case

SIDES = {"left": -1, "right": 1}
BODY_SHAPE = [  # a post that carries the suspension, and a body that one can look through
    ts.shapes.box((0.22, 0.3, 0.75), at=(0, 0, -0.28), colour="grey"),
    ts.shapes.box((1.5, 2.2, 0.35), at=(0, 0, 0.27), colour=(0.16, 0.42, 0.68, 0.3)),
    ts.shapes.box((1.2, 1.3, 0.32), at=(0, 0.1, 0.6), colour=(0.16, 0.42, 0.68, 0.3)),
]
WHEEL_SHAPE = [
    ts.shapes.cylinder(0.3, 0.3, axis="x", colour="#2b2e33"),
    ts.shapes.cylinder(0.17, 0.31, axis="x", colour="silver"),
]
BEAM_SHAPE = ts.shapes.box((1.0, 0.09, 0.06))


def damper(side=1):
    """Piston and cylinder, the damper's foot at the origin; it leans inward at 45° and is 0.6 √2 long.

    Ports: piston, cylinder; foot and head, the frames at its two ends; slide, the joint between them.
    """
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
    slide = model.add(ts.Cylindrical("slide", piston, cylinder, frames=lower, axis=(0, 0, 1)))
    model.add(ts.SpringDamper("spring", piston, cylinder, frames=lower, stiffness=5e4, damping=1e4, length=0.35))
    model.expose("piston", piston)
    model.expose("cylinder", cylinder)
    model.expose("foot", lower[0])
    model.expose("head", cylinder.frame((0, 0, 0.3)))
    model.expose("slide", slide)
    return model


def suspension(side=1):
    """A beam, its centre at the origin, and the damper that stands on it, 0.2 outward.

    Ports: beam, cylinder; pivot and hub, the inner and the outer end of the beam; head, the upper end of the damper.
    """
    model = ts.Model("suspension")
    beam = model.body("beam", mass=7.02, inertia=(0.06, 0.5855265, 0.5855265), shape=BEAM_SHAPE)
    leg = model.include("damper", damper(side), at=(side * 0.2, 0, 0))
    model.add(ts.Revolute("foot", beam, leg.piston, point=(side * 0.2, 0, 0), axis=(0, 1, 0)))
    model.expose("beam", beam)
    model.expose("cylinder", leg.cylinder)
    model.expose("pivot", beam.frame((-side * 0.5, 0, 0)))
    model.expose("hub", beam.frame((side * 0.5, 0, 0)))
    model.expose("head", leg.head)
    return model


def wheel():
    """A hollow wheel with its axis along x, and the spring below its centre that stands for tyre and ground.

    Port: ring.
    """
    model = ts.Model("wheel")
    inertia = ts.inertia.cylinder(15.0, 0.3, 0.3, axis="x", inner=0.29)
    ring = model.body("ring", inertia=inertia, shape=WHEEL_SHAPE)
    ends = (0, 0, -0.35), (0, 0, 0)
    tyre = ts.SpringDamper("tyre", model.ground, ring, points=ends, stiffness=4e5, damping=100.0, length=0.35)
    model.add(tyre)
    model.expose("ring", ring)
    return model


def car():
    """The whole car on a vertical guide, 0.95 above the road. Ports: body, left and right, the rings of its wheels."""
    model = ts.Model("car", gravity=(0, 0, -9.8))
    inertia = (12.675, 450.9375, 439.2375)
    body = model.body("car_body", mass=585.0, inertia=inertia, at=(0, 0, 0.95), shape=BODY_SHAPE)
    model.add(ts.Cylindrical("guide", model.ground, body, point=(0, 0, 0.95), axis=(0, 0, 1)))
    model.expose("body", body)
    for name, side in SIDES.items():
        arm = model.include(name, suspension(side), at=(side * 0.5, 0, 0.35))
        tyre = model.include(f"{name}_wheel", wheel(), at=(side * 1.0, 0, 0.35))
        y = {"axis": (0, 1, 0)}
        model.add(ts.Revolute(f"{name}_pivot", body, arm.beam, point=(0, 0, 0.35), **y))
        model.add(ts.Revolute(f"{name}_head", body, arm.cylinder, point=(side * 0.1, 0, 0.95), **y))
        model.add(ts.Revolute(f"{name}_axle", arm.beam, tyre.ring, point=(side * 1.0, 0, 0.35), axis=(1, 0, 0)))
        model.expose(name, tyre.ring)
    return model


@register("car")
class Car(Case):
    title = "car with suspension, symmetric, dropped onto its wheels"
    source = "Vlasenko's thesis, ch. 7"
    until = 1.5

    @staticmethod
    def build():
        return car()
