"""Separation of a strap-on booster from its core stage: contact at one point, three stages, no gravity.

    held      0 = nₖ·p,  k = x, y, z         the nose is held to the core by three points on planes       (1)
    sliding   0 = nₖ·p,  k = y, z            once the booster does not push any more: −λ_x ≤ 0            (2)
    free      no constraint                  once the contact would pull: λ_y ≤ 0                         (3)

p is the nose relative to its seat on the core, in core axes. λ is the force of the core on the booster, so that the booster
pushes with −λ_x. When the nose has slid back by 5 mm a gas nozzle opens, at t_n, which throws it outward:

    F_y = 2·10⁴ (1 − exp(−(t − t_n)/0.1))    at the nose, body axes                                       (4)

x is the long axis of both, y points outward from the core. Numbers are chosen, Soyuz-like. Aslanov, Kruglov and Yuditsev,
sec. 5 [aslanov2011].
"""

from math import cos, pi, radians, sin
from typing import Any

import casadi as ca

import torsor as ts

from ..registry import register
from .base import Case

NOSE = (5.0, 1.4, 0.0)  # where they touch, in core axes [m]
REACH, TAIL = 11.6, -8.0  # nose and engine of the booster along its axis [m]
THRUST, DECAY, CANT = 2.0e5, 0.45, radians(3)  # of the booster [N, s, rad]
SLIDE = 0.005  # way of the nose until the nozzle opens [m]
NOZZLE, RISE = 2.0e4, 0.1  # [N, s]
CORE_SHAPE = [  # narrow below, where the boosters are, and wide above
    ts.shapes.cylinder(0.72, 15.0, at=(-4.5, 0, 0), axis="x", colour="silver"),
    ts.shapes.cone(1.4, 2.5, at=(3.75, 0, 0), rotation=(0, -pi / 2, 0), colour="silver"),
    ts.shapes.cylinder(1.4, 7.0, at=(8.5, 0, 0), axis="x", colour="silver"),
    ts.shapes.cone(1.4, 3.5, at=(13.75, 0, 0), axis="x", colour="red"),
    ts.shapes.cone(0.8, 1.4, at=(-12.5, 0, 0), axis="x", colour="black"),
]
BOOSTER_SHAPE = [
    ts.shapes.cone(0.66, REACH - TAIL - 0.8, at=((REACH + TAIL + 0.8) / 2, 0, 0), axis="x", colour="orange"),
    ts.shapes.cone(0.6, 1.2, at=(TAIL + 0.2, 0, 0), axis="x", colour="black"),
]


@register("booster")
class Booster(Case):
    title = "separation of a strap-on booster: held, sliding, free"
    source = "Aslanov, Kruglov and Yuditsev, sec. 5"
    until = 4.0

    @staticmethod
    def build():
        model = ts.Model("booster")
        rest = {"velocity": (0, 0, 0), "angular_velocity": (0, 0, 0)}
        core = model.body("core", mass=1.0e5, inertia=(2.0e5, 4.0e6, 4.0e6), shape=CORE_SHAPE, **rest)
        center = (NOSE[0] - REACH, NOSE[1], 0)
        booster = model.body(
            "booster", mass=4400.0, inertia=(6.0e3, 1.2e5, 1.2e5), at=center, shape=BOOSTER_SHAPE, **rest
        )
        x, y, z = (
            model.add(ts.PointOnPlane(f"nose_{axis}", core, booster, point=NOSE, normal=normal))
            for axis, normal in zip("xyz", ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
        )

        model.add(ts.PointForce("core_thrust", core, force=(9.4e5, 0, 0), axes="body"))
        fading = THRUST * ca.exp(-ts.time / DECAY)
        thrust = (fading * cos(CANT), fading * sin(CANT), 0)
        engine = (center[0] + TAIL, center[1], 0)
        model.add(ts.PointForce("booster_thrust", booster, force=thrust, point=engine, axes="body"))

        stage = model.modes("stage", "held", "sliding", "free")
        valve = model.modes("valve", "closed", "open")
        gap: Any = x.position()
        slid = -gap[0]
        model.when(-x.multiplier[0] <= 0, ts.release(x), ts.enter(stage["sliding"]), name="slide", during=stage["held"])
        nozzle = model.when(
            slid >= SLIDE, ts.enter(valve["open"]), name="nozzle", during=(stage["sliding"], valve["closed"])
        )
        blow = valve.number * NOZZLE * (1 - ca.exp(-(ts.time - nozzle.time) / RISE))  # (4): closed is 0, open is 1
        model.add(ts.PointForce("gas", booster, force=(0, blow, 0), point=NOSE, axes="body"))
        model.when(
            y.multiplier[0] <= 0, ts.release(y, z), ts.enter(stage["free"]), name="separation", during=stage["sliding"]
        )
        return model
