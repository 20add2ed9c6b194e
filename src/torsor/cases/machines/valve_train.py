"""A valve train: cam, flat-faced tappet and valve spring. At high speed the tappet lifts off the cam and bounces.

    s(φ) = h sin⁴(φ/2)                    lift of the valve          (1)
    N = m s̈ + k s + F₀ ≥ 0                force between cam and tappet (2)

It lifts off where N = 0, flies, and hits the cam with a restitution of 0.2.
"""

import numpy as np

import torsor as ts

from ...registry import register
from ..base import Case

BASE, RISE, DEEP = 0.02, 0.01, 0.05  # radius of the base circle, lift h, length of the valve [m]


@register("valve-train")
class ValveTrain(Case):
    title = "valve train whose tappet lifts off the cam at high speed"
    source = "own"
    until = 0.1
    equations = False

    @staticmethod
    def build(speed=260.0):
        model = ts.Model("valve-train")
        lobe = [
            ts.shapes.cylinder(BASE, 0.012, colour="steelblue"),
            ts.shapes.cylinder(0.6 * BASE, 0.012, at=(0, -0.9 * BASE, 0), colour="steelblue"),
        ]
        shaft = model.body("shaft", mass=0.5, inertia=(2e-4, 2e-4, 2e-4), shape=lobe)
        turn = model.add(ts.Revolute("turn", model.ground, shaft, axis="z"))
        model.add(ts.Drive("motor", turn, speed * ts.time))
        parts = [
            ts.shapes.cylinder(0.016, 0.006, at=(0, 0.003, 0), axis="y", colour="brass"),
            ts.shapes.cylinder(0.003, DEEP, at=(0, DEEP / 2, 0), axis="y", colour="silver"),
            ts.shapes.cone(0.014, 0.006, at=(0, DEEP, 0), rotation=(1.5707963267948966, 0, 0), colour="silver"),
        ]
        valve = model.body("valve", mass=0.3, inertia=(2e-5, 1e-6, 2e-5), at=(0, BASE, 0), shape=parts)
        slide = model.add(ts.Prismatic("slide", model.ground, valve, point=(0, BASE, 0), axis="y"))
        model.add(ts.JointForce("spring", slide, -60.0 - 1e4 * slide.coordinate[0] - 5.0 * slide.rate[0]))
        angles = np.linspace(0, 2 * np.pi, 361)
        lift = ts.table(angles, RISE * np.sin(angles / 2) ** 4, kind="cubic", name="lift")  # (1)
        model.add(ts.Cam("cam", turn, slide, lift=lift, restitution=0.2))
        return model
