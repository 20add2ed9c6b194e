"""A car with tyres on a road: four wheels on springs, steered in front and driven at the back.

    r = V δ/(l + K V²),   K = m/l (b/C_f − a/C_r)                   (1)

Steady turning of the bicycle model: yaw rate r, speed V, angle δ of the front wheels, wheelbase l = a + b, distances a and b of
the axles from the centre of mass, cornering stiffness C_f and C_r of the axles.
"""

from typing import Any

import casadi as ca

import torsor as ts

from ...errors import OptionError
from ...registry import register
from ..base import Case

G = 9.81
CHASSIS, WHEEL, KNUCKLE = 1200.0, 20.0, 15.0  # masses [kg]
FRONT, REAR, TRACK = 1.1, 1.5, 1.5  # distances of the axles from the centre of mass, and between wheels [m]
HEIGHT, RADIUS, SPIN = (
    0.5,
    0.31,
    0.9,
)  # of the body's centre of mass; of a tyre without load; inertia of a wheel [m, m, kg m²]
SPRING, DAMPER = 3.0e4, 3.0e3  # of a wheel [N/m, N s/m]
TYRE: dict[str, Any] = {
    "stiffness": 2.0e5,
    "damping": 300.0,
    "slip_stiffness": 6.0e4,
    "cornering_stiffness": 4.5e4,
    "friction": 1.0,
}
BRAKES = {"front": 450.0, "rear": 200.0}  # torques of a wheel [N m]
BEGIN, RAMP = 0.5, 0.4  # when the driver steers or brakes, and how long that takes [s]
MANEUVERS = ("turn", "lane-change", "brake")


def weight_on(axle):
    """Static load of one wheel."""
    unsprung = WHEEL + KNUCKLE
    return (CHASSIS * (REAR if axle == "front" else FRONT) / (FRONT + REAR) / 2 + unsprung) * G


@register("road-car")
class RoadCar(Case):
    title = "car with tyres on a road, maneuver=turn, lane-change or brake, speed=20, steer=0.03"
    source = "own; the size of a small car"
    until = 5.0
    equations = False

    @staticmethod
    def build(maneuver="turn", speed=20.0, steer=0.03):
        if maneuver not in MANEUVERS:
            raise OptionError(f"case 'road-car': maneuver must be one of {', '.join(MANEUVERS)}; got {maneuver!r}")
        speed, steer = float(speed), float(steer)
        if not 5 <= speed <= 60 or not abs(steer) <= 0.3:
            raise OptionError(
                f"case 'road-car': speed must be 5 to 60 m/s and steer at most 0.3 rad, got {speed:g} and {steer:g}"
            )
        model = ts.Model("road_car", gravity=(0, 0, -G))
        paint = [
            ts.shapes.box((4.0, 1.5, 0.4), colour="maroon"),
            ts.shapes.box((1.9, 1.3, 0.4), at=(-0.2, 0, 0.4), colour="silver"),
        ]
        body = model.body(
            "body", mass=CHASSIS, inertia=(400, 1600, 1800), at=(0, 0, HEIGHT), velocity=(speed, 0, 0), shape=paint
        )
        model.add(ts.Free("motion", model.ground, body))
        along = ca.dot(body.velocity, body.direction((1, 0, 0)))
        model.signal("speed", along)
        model.signal("yaw_rate", body.angular_velocity[2])
        clip = lambda x, most: ca.fmin(ca.fmax(x, 0), most)
        begun = clip((ts.time - BEGIN) / RAMP, 1)
        begun = begun**2 * (3 - 2 * begun)
        swerve = ca.pi * clip(ts.time - BEGIN, 2)
        sway = {"turn": begun, "lane-change": ca.sin(swerve) * ca.sin(swerve / 2) ** 2, "brake": 0}
        drive = 0 if maneuver == "brake" else 400.0 * (speed - along)  # of a rear wheel, holds the speed [N m]
        for axle, x in (("front", FRONT), ("rear", -REAR)):
            for side, y in (("left", TRACK / 2), ("right", -TRACK / 2)):
                torque = -BRAKES[axle] * begun if maneuver == "brake" else drive if axle == "rear" else 0
                _add_wheel(model, body, f"{axle}_{side}", (x, y), speed, torque, steer * sway[maneuver])
        return model


def _add_wheel(model, body, name, place, speed, torque, angle):
    axle = name.partition("_")[0]
    sunk = weight_on(axle) / TYRE["stiffness"]
    center = (*place, RADIUS - sunk)
    knuckle = model.body(f"{name}_knuckle", inertia=ts.inertia.sphere(KNUCKLE, 0.1), at=center, velocity=(speed, 0, 0))
    slide = (ts.Cylindrical if axle == "front" else ts.Prismatic)(f"{name}_strut", body, knuckle, axis="z")
    up = model.add(slide).dof - 1
    sprung = weight_on(axle) - (WHEEL + KNUCKLE) * G
    model.add(ts.Spring(f"{name}_spring", slide, stiffness=SPRING, damping=DAMPER, rest=-sprung / SPRING, index=up))
    if axle == "front":
        model.add(ts.Drive(f"{name}_steering", slide, value=angle, index=0))
    look = [
        ts.shapes.cylinder(RADIUS - sunk, 0.2, axis="y", colour="black"),
        ts.shapes.box((1.2 * RADIUS, 0.21, 0.05), colour="silver"),
    ]
    wheel = model.body(f"{name}_wheel", mass=WHEEL, inertia=(SPIN / 2, SPIN, SPIN / 2), at=center, shape=look)
    rolling = RADIUS - sunk / 3
    hub = model.add(ts.Revolute(f"{name}_hub", knuckle, wheel, axis="y", start_rate=speed / rolling))
    model.add(ts.JointForce(f"{name}_torque", hub, torque))
    tyre = model.add(ts.Tyre(f"{name}_tyre", model.ground, wheel, axis="y", radius=RADIUS, **TYRE))
    model.signal(f"{name}_load", tyre.normal_force())
