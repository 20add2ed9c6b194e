"""A gripper with two fingers of three frictional pads each lifts a cube from the floor, and holds it.

    2 μ N ≥ m (g + a)                                              (1)

N is the force of a finger. The cube stands on its corners until the hand pulls with more than its weight; the pads stick.
"""

import casadi as ca

import torsor as ts

from ...registry import register
from ..base import Case

EDGE, MASS = 0.04, 0.1  # of the cube [m, kg]
GRIP, FRICTION = 5.0, 0.8  # force of a finger [N], coefficient
HAND, FINGER = 1.0, 0.05  # masses [kg]
RISE = 0.1  # height of the lift [m]
PADS = ((0.0, 0.03), (0.015, 0.01), (-0.015, 0.01))  # across, and height [m]


@register("gripper")
class Gripper(Case):
    title = "gripper that closes on a cube, lifts it by friction and holds it"
    source = "own"
    until = 2.0
    equations = False

    @staticmethod
    def build():
        model = ts.Model("gripper", gravity=(0, 0, -9.81))
        palm = ts.shapes.box((0.16, 0.03, 0.03), at=(0, 0, -0.05), colour="steel")
        hand = model.body("hand", mass=HAND, inertia=(0.01,) * 3, at=(0, 0, 0.2), shape=palm)
        lift = model.add(ts.Prismatic("lift", model.ground, hand, point=(0, 0, 0.2), axis="z"))
        half = EDGE / 2
        cube = model.body("cube", inertia=ts.inertia.box(MASS, EDGE, EDGE, EDGE), at=(0, 0, half))
        model.add(ts.Free("loose", model.ground, cube, point=(0, 0, half)))
        for k, (x, y) in enumerate(((1, 1), (-1, 1), (1, -1), (-1, -1))):
            model.add(ts.Contact(f"corner{k}", model.ground, cube, point=(x * half, y * half, 0), plane=(0, 0, 0)))
        for side, name in ((1, "left"), (-1, "right")):
            _add_finger(model, hand, cube, side, name)
        height = RISE * (1 - ca.exp(-(ca.fmax(0, ts.time - 0.3) ** 2) / 0.1))
        weight = 9.81 * (HAND + 2 * FINGER + MASS)
        model.add(ts.JointForce("lifter", lift, weight + 400.0 * (height - lift.coordinate[0]) - 40.0 * lift.rate[0]))
        return model


def _add_finger(model, hand, cube, side, name):
    half = EDGE / 2
    blade = ts.shapes.box((0.008, EDGE, 0.14), at=(side * 0.004, 0, 0.06), colour="steelblue")
    finger = model.body(
        f"{name}_finger", mass=FINGER, inertia=(1e-5,) * 3, at=(side * (half + 0.005), 0, half), shape=blade
    )
    slide = model.add(ts.Prismatic(f"{name}_slide", hand, finger, point=(side * 0.025, 0, half), axis=(-side, 0, 0)))
    model.add(ts.JointForce(f"{name}_grip", slide, GRIP - 2.0 * slide.rate[0]))
    for k, (y, z) in enumerate(PADS):
        point, plane = (side * half, y, z), (side * (half + 0.005), 0, half)
        pad = model.add(ts.Contact(f"{name}_pad{k}", finger, cube, point=point, normal=(-side, 0, 0), plane=plane))
        model.add(ts.Friction(f"{name}_stick{k}", pad, coefficient=FRICTION))
