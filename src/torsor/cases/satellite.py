"""A satellite with a manipulator: hull on a fixed point, base rod, slider rod and slider, driven by imposed motions.

    s(t) = 0.02 t − 0.0007 t²/2                               slider along z of the slider rod, motions 1 and 3   (1)
    L(t) = −0.00058 Jx₃ + F₄y (s(t) + L₃/2)                   torque about x between base rod and slider rod      (2)

Masses and dimensions are those of the document where it gives them; d1, L1, m4, a and L4 are chosen.
[zenzerovic2012], ch. 4.
"""

from math import pi

import torsor as ts

from ..registry import register
from .base import Case, whole

M1, D1, L1 = 1800.0, 1.6, 2.4  # hull: cylinder
M2, D2, L2 = 80.0, 0.15, 1.5  # base rod: cylinder
M3, D3, L3 = 60.0, 0.1, 1.5  # slider rod: square prism
M4, A4, L4 = 11.0, 0.2, 0.3  # slider: square sleeve around the slider rod

# hull and base-rod angular velocities in the world [rad/s], force on the slider in its own axes [N], slider imposed or free
MOTIONS = {
    1: ((0, 0, 2 * pi / 60), (pi / 120, 0, 0), (0, 25.0, 0), True),
    2: ((0, 0, 2 * pi / 60), (pi / 120, 0, 0), (0, 0, -0.014), False),
    3: ((0, 2 * pi / 60, 3 * pi / 60), (pi / 120, 2 * pi / 60, 0), (0, 25.0, 0), True),
}


def displacement(t):
    """s, the imposed displacement of the slider [m]."""
    return 0.02 * t - 0.0007 * t**2 / 2  # (1)


def sleeve():
    """The slider from its four plates, two as wide as the bore and two as wide as the sleeve."""
    b = (A4 - D3) / 2
    narrow, wide = (M4 * b * width / (A4**2 - D3**2) for width in (D3, A4))
    off = (D3 + b) / 2
    plates = [ts.inertia.box(narrow, D3, b, L4).move(at=(0, side * off, 0)) for side in (1, -1)]
    plates += [ts.inertia.box(wide, b, A4, L4).move(at=(side * off, 0, 0)) for side in (1, -1)]
    return plates[0] + plates[1] + plates[2] + plates[3]


def satellite(motion):
    """The model of one of the three motions."""
    hull_rate, rod_rate, force, imposed = MOTIONS[motion]
    model = ts.Model(f"satellite-{motion}")
    z2, z3 = L1 / 2 + L2 / 2, L1 / 2 + L2 + L3 / 2
    hull = model.body("hull", inertia=ts.inertia.cylinder(M1, D1 / 2, L1))
    base_rod = model.body("base_rod", inertia=ts.inertia.cylinder(M2, D2 / 2, L2), at=(0, 0, z2))
    slider_rod = model.body("slider_rod", inertia=ts.inertia.box(M3, D3, D3, L3), at=(0, 0, z3))
    slider = model.body("slider", inertia=sleeve(), at=(0, 0, z3))

    model.add(ts.FixedPoint("pivot", model.ground, hull, point=(0, 0, 0)))
    model.add(ts.Spherical("shoulder", hull, base_rod, point=(0, 0, L1 / 2)))
    model.add(ts.Revolute("elbow", base_rod, slider_rod, point=(0, 0, L1 / 2 + L2), axis=(1, 0, 0)))
    slide = model.add(ts.Prismatic("slide", slider_rod, slider, point=(0, 0, z3), axis=(0, 0, 1)))

    model.add(ts.AngularVelocity("hull_rate", hull, hull_rate))
    model.add(ts.AngularVelocity("base_rod_rate", base_rod, rod_rate))
    if imposed:
        model.add(ts.Drive("slider_motion", slide, displacement))

    torque = -0.00058 * M3 * (D3**2 + L3**2) / 12
    if force[1]:
        torque = torque + force[1] * (displacement(ts.time) + L3 / 2)  # (2)
    model.add(ts.PointForce("tool", slider, force=force, axes="body"))
    model.add(ts.Torque("motor", slider_rod, torque=(torque, 0, 0), axes="body"))
    model.add(ts.Torque("motor_reaction", base_rod, torque=(-torque, 0, 0), axes="body"))
    return model


@register("satellite")
class Satellite(Case):
    title = "satellite with a manipulator, motion=1, 2 or 3"
    source = "Zagreb thesis, ch. 4"
    until = 60.0
    recommended = {"outputs": 600}

    @staticmethod
    def build(motion=1):
        return satellite(whole(motion, "motion", "satellite", 1, 3))


@register("satellite-1")
class Satellite1(Case):
    title = "satellite with a manipulator, hull and base rod turning about one axis each, slider driven"
    source = "Zagreb thesis, ch. 4, motion 1"
    until = 60.0
    recommended = {"outputs": 600}

    @staticmethod
    def build():
        return satellite(1)


@register("satellite-2")
class Satellite2(Case):
    title = "satellite with a manipulator, the slider's drive has failed"
    source = "Zagreb thesis, ch. 4, motion 2"
    until = 60.0
    recommended = {"outputs": 600}

    @staticmethod
    def build():
        return satellite(2)


@register("satellite-3")
class Satellite3(Case):
    title = "satellite with a manipulator, hull and base rod in general rotation, slider driven"
    source = "Zagreb thesis, ch. 4, motion 3"
    until = 60.0
    recommended = {"outputs": 600}

    @staticmethod
    def build():
        return satellite(3)
