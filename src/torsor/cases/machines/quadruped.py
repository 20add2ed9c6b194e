"""A quadruped of twelve joints with servos that trots, or stands, on round feet with dry friction.

    r_thigh = r₀ + 0.25 s,   r_calf = r₀ − 0.4 s,   s = max(0, sin 2πf(t − t₀))      (1)

r are the set points of the servos; t₀ is 0 for two diagonal legs and half a period for the others.
"""

from math import pi

import casadi as ca

import torsor as ts

from ...errors import OptionError
from ...registry import register
from ..base import Case

HOME = {"hip": 0.0, "thigh": 0.9, "calf": -1.8}  # angles of a standing leg [rad]
SWING = {"hip": 0.0, "thigh": 0.25, "calf": -0.4}  # added while a foot is lifted [rad]
LEGS = {"FR": (0.19, -0.05), "FL": (0.19, 0.05), "RR": (-0.19, -0.05), "RL": (-0.19, 0.05)}
FIRST = ("FR", "RL")  # the diagonal that is lifted first
FREQUENCY, TROT_BEGINS = 2.0, 0.3  # of the trot [Hz], and when it begins [s]
HEIGHT, DROP = 0.45, -0.15  # of the trunk as drawn, and its displacement at the start [m]
GAITS = ("trot", "stand")


@register("quadruped")
class Quadruped(Case):
    title = "quadruped that trots on feet with dry friction, gait=trot or stand"
    source = "own; the size of a small robot dog"
    until = 1.0
    equations = False

    @staticmethod
    def build(gait="trot"):
        if gait not in GAITS:
            raise OptionError(f"case 'quadruped': gait must be one of {', '.join(GAITS)}; got {gait!r}")
        model = ts.Model("quadruped", gravity=(0, 0, -9.81))
        trunk = model.body("trunk", inertia=ts.inertia.box(6.0, 0.4, 0.2, 0.1), at=(0, 0, HEIGHT))
        root = (0, 0, 0, 0, 0, DROP)
        model.add(ts.Free("root", model.ground, trunk, point=(0, 0, HEIGHT), start=root))
        for leg, (x, y) in LEGS.items():
            phase = FREQUENCY * (ts.time - TROT_BEGINS) - (0 if leg in FIRST else 0.5)
            lift = ca.fmax(0, ca.sin(2 * pi * phase)) * (ts.time > TROT_BEGINS) if gait == "trot" else 0.0
            _add_leg(model, trunk, leg, x, y, lift)
        return model


def _add_leg(model, trunk, leg, x, y, lift):
    s = 0.08 if y > 0 else -0.08  # the thigh is further out than the hip
    hip = model.body(f"{leg}_hip", inertia=ts.inertia.box(0.6, 0.06, 0.06, 0.06), at=(x, y, HEIGHT))
    thigh_shape = ts.shapes.capsule(0.02, 0.19, colour="navy")
    thigh = model.body(
        f"{leg}_thigh", inertia=ts.inertia.box(0.9, 0.04, 0.04, 0.2), at=(x, y + s, HEIGHT - 0.105), shape=thigh_shape
    )
    calf_shape = [
        ts.shapes.capsule(0.012, 0.19, colour="navy"),
        ts.shapes.sphere(0.023, at=(0, 0, -0.108), colour="black"),
    ]
    calf = model.body(
        f"{leg}_calf", inertia=ts.inertia.box(0.15, 0.02, 0.02, 0.2), at=(x, y + s, HEIGHT - 0.318), shape=calf_shape
    )
    for first, second, point, axis, part in (
        (trunk, hip, (x, y, HEIGHT), "x", "hip"),
        (hip, thigh, (x, y + s, HEIGHT), "y", "thigh"),
        (thigh, calf, (x, y + s, HEIGHT - 0.213), "y", "calf"),
    ):
        name = f"{leg}_{part}_joint"
        joint = model.add(ts.Revolute(name, first, second, point=point, axis=axis, start=HOME[part]))
        target = HOME[part] + SWING[part] * lift
        model.add(ts.PositionServo(f"{leg}_{part}_servo", joint, target=target, stiffness=100.0, damping=2.0))
    foot = ts.Contact(
        f"{leg}_foot", model.ground, calf, point=(x, y + s, HEIGHT - 0.426), radius=0.023, plane=(0, 0, 0)
    )
    model.add(ts.Friction(f"{leg}_grip", model.add(foot), coefficient=0.8))
