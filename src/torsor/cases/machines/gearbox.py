"""A planetary gearbox with three planets: the sun drives, the ring is held, the carrier turns slowly against a load.

    ω_sun = (1 + z_r/z_s) ω_carrier                                (1)

Each planet is a body on a pin of the carrier, with a gear to the sun and one to the ring. One planet determines the motion: the
meshes of the two others are redundant, which the diagnosis reports.
"""

from math import cos, pi, sin

import torsor as ts

from ...registry import register
from ..base import Case, whole

SUN, PLANET, RING = 24, 18, 60  # teeth
MODULE = 0.004  # pitch diameter over number of teeth [m]
DRIVE, LOAD = 2.0, 0.5  # torque on the sun [N m]; load over speed of the carrier [N m s]


@register("gearbox")
class Gearbox(Case):
    title = "planetary gearbox with planets that have an inertia of their own"
    source = "own; Willis' equation"
    until = 2.0
    equations = False

    @staticmethod
    def build(planets=3):
        count = whole(planets, "planets", "gearbox", 1, 5)
        model = ts.Model("gearbox")
        wide = MODULE / 2
        sun = model.body("sun", inertia=ts.inertia.disk(0.5, wide * SUN, axis="z"))
        arm = (SUN + PLANET) * wide
        plate = ts.shapes.cylinder(1.15 * arm, 0.004, at=(0, 0, -0.02), colour="steel")
        carrier = model.body("carrier", inertia=ts.inertia.disk(1.0, arm, axis="z"), shape=plate)
        on_sun = model.add(ts.Revolute("input", model.ground, sun, axis="z"))
        on_carrier = model.add(ts.Revolute("output", model.ground, carrier, axis="z"))
        for k in range(count):
            angle = 2 * pi * k / count
            at = (arm * cos(angle), arm * sin(angle), 0)
            planet = model.body(f"planet{k}", inertia=ts.inertia.disk(0.3, wide * PLANET, axis="z"), at=at)
            pin = model.add(ts.Revolute(f"pin{k}", carrier, planet, point=at, axis="z"))
            model.add(ts.Gear(f"sun_mesh{k}", on_sun, pin, teeth=(SUN, PLANET), carrier=on_carrier))
            model.add(ts.Gear(f"ring_mesh{k}", pin, on_carrier, ratio=-RING / PLANET))  # the ring is held
        model.add(ts.JointForce("motor", on_sun, DRIVE))
        model.add(ts.JointForce("load", on_carrier, -LOAD * on_carrier.rate[0]))
        return model
