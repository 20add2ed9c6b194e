"""A train of n cars on straight rails, pulled out of rest at its first car; a system of any size made of components.

    suspension = axle + trailing arm            bogie = frame + 2 suspensions on springs and dampers
    car = body + 2 bogies on springs and dampers, each with a traction rod            train = n cars, coupled in a row

Axles slide along x on the rails, frames and bodies move in the plane y = 0. A bogie is a loop: rail, axle, arm, frame, arm,
axle, rail; traction rods close further ones. No constraint is redundant. At the start all springs carry what stands on them,
so that nothing moves but by the pull P, and the centre of mass of the train, of mass M, follows

    M ẍ = P                                                                                                            (1)

Every quantity is a number: a train of more than some cars is run by classes (`formulation="hierarchical"`).
"""

import torsor as ts

from ..registry import register
from .base import Case, whole

GRAVITY = 9.81
BODY_DATA, FRAME, ARM, AXLE = 30e3, 2500.0, 80.0, 1650.0  # masses [kg]
# from car to car; from the middle of a car to its bogies, of a bogie to its axles [m]
PITCH, PIVOTS, BASE = 20.0, 7.5, 1.25
PRIMARY: dict = {"stiffness": 1.2e6, "damping": 1e4}  # over each axle
SECONDARY: dict = {"stiffness": 9e5, "damping": 4e4}  # over each bogie
COUPLING: dict = {"stiffness": 2e6, "damping": 5e4}
PULL = 4e4  # P [N]
# heights of axles, of frames, of the springs on them, and of the body's floor [m]
WHEEL, PIN, SEAT, FLOOR = 0.46, 0.7, 1.0, 1.5
Y = {"axis": (0, 1, 0)}
AXLE_SHAPE = [
    ts.shapes.cylinder(0.09, 1.6, axis="y", colour="silver"),
    *(ts.shapes.cylinder(WHEEL, 0.13, at=(0, y, 0), axis="y", colour="#3a3f47") for y in (-0.75, 0.75)),
]
ARM_SHAPE = [ts.shapes.box((0.6, 0.12, 0.12), at=(0, y, 0), colour="copper") for y in (-0.5, 0.5)]
FRAME_SHAPE = [
    *(ts.shapes.box((3.2, 0.16, 0.22), at=(0, y, 0.1), colour="grey") for y in (-0.95, 0.95)),
    ts.shapes.box((0.5, 1.9, 0.22), at=(0, 0, 0.1), colour="grey"),
]
WINDOWS = [
    ts.shapes.box((1.6, 2.82, 0.8), at=(x, 0, 1.3), colour="#23303d") for x in (-7.2, -4.8, -2.4, 0, 2.4, 4.8, 7.2)
]
CAR_SHAPE = [ts.shapes.box((19.0, 2.8, 2.5), at=(0, 0, 1.05), colour="maroon"), *WINDOWS]


def suspension(side=1):
    """An axle at the origin and the arm that it trails or pushes, from a pivot towards the middle of the bogie; side: 1 for
    the axle in front, −1 for that behind. Ports: axle, arm."""
    model = ts.Model("suspension")
    axle = model.body("axle", inertia=ts.inertia.cylinder(AXLE, WHEEL, 1.6, axis="y"), shape=AXLE_SHAPE)
    arm = model.body("arm", mass=ARM, inertia=(1.0, 3.0, 3.0), at=(-side * 0.3, 0, 0), shape=ARM_SHAPE)
    # nothing is redundant in the loop of two: one eye turns about everything, the other slides along y
    kind, given = (ts.Spherical, {}) if side > 0 else (ts.Cylindrical, Y)
    model.add(kind("eye", axle, arm, point=(0, 0, 0), **given))
    model.expose("axle", axle)
    model.expose("arm", arm)
    return model


def bogie():
    """A frame on two suspensions, on rails along x below the origin. Port: frame."""
    model = ts.Model("bogie")
    frame = model.body("frame", mass=FRAME, inertia=(1500.0, 2000.0, 3000.0), at=(0, 0, PIN), shape=FRAME_SHAPE)
    load = GRAVITY * (BODY_DATA / 4 + FRAME / 2 + ARM / 2)
    for name, side in (("front", 1), ("rear", -1)):
        x = side * BASE
        wing = model.include(name, suspension(side), at=(x, 0, WHEEL))
        model.add(ts.Prismatic(f"{name}_rail", model.ground, wing.axle, point=(x, 0, WHEEL), axis=(1, 0, 0)))
        model.add(ts.Revolute(f"{name}_pivot", frame, wing.arm, point=(x - side * 0.6, 0, WHEEL), **Y))
        ends = (x, 0, WHEEL), (x, 0, SEAT)
        model.add(_spring(f"{name}_spring", wing.axle, frame, ends, load, PRIMARY))
    model.expose("frame", frame)
    return model


def car():
    """A body on two bogies, above the origin on the rails, along x. Port: body."""
    model = ts.Model("car", gravity=(0, 0, -GRAVITY))
    body = model.body("body", mass=BODY_DATA, inertia=(5e4, 1.2e6, 1.2e6), at=(0, 0, 1.8), shape=CAR_SHAPE)
    model.add(ts.Planar("plane", model.ground, body, **Y))
    for name, side in (("front", 1), ("rear", -1)):
        x = side * PIVOTS
        below = model.include(name, bogie(), at=(x, 0, 0))
        ends = (x, 0, SEAT), (x, 0, FLOOR)
        model.add(_spring(f"{name}_spring", below.frame, body, ends, GRAVITY * BODY_DATA / 2, SECONDARY))
        ends = (x, 0, PIN), (x - side * 1.5, 0, PIN)
        model.add(ts.Distance(f"{name}_rod", below.frame, body, points=ends))
    model.expose("body", body)
    return model


def _spring(name, first, second, ends, load, law):
    """A spring that carries a load at the start."""
    length = ends[1][2] - ends[0][2] + load / law["stiffness"]
    return ts.SpringDamper(name, first, second, points=ends, length=length, **law)


def train(n):
    """n cars, the first of them in front, at x = 0."""
    model = ts.Model(f"train-{n}", gravity=(0, 0, -GRAVITY))
    cars = model.include("car", car(), count=n, pitch=(-PITCH, 0, 0))
    for k, (ahead, behind) in enumerate(zip(cars, cars[1:])):
        x = -PITCH * (k + 0.5)
        ends = (x + 0.5, 0, 1.0), (x - 0.5, 0, 1.0)
        model.add(ts.SpringDamper(f"coupling{k}", ahead.body, behind.body, points=ends, **COUPLING))
    model.add(ts.PointForce("pull", cars[0].body, force=(PULL, 0, 0), point=(PITCH / 2 - 0.5, 0, 1.0)))
    return model


@register("train")
class Train(Case):
    title = "train of n cars on bogies with suspensions and traction rods, pulled out of rest"
    source = "own; for scale"
    until = 5.0

    @staticmethod
    def build(n=3):
        return train(whole(n, "n", "train", 1))
