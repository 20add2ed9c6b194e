"""A snakeboard: a coupler B with a steered wheel board at either end and a rotor in the middle; planar, nonholonomic.

    0 = y_A·ẋ_A,  0 = y_C·ẋ_C                             no lateral slip at the boards' centres            (1)
    τ = P (φd − φ) + D (φ̇d − φ̇),  φd = ±0.5 sin 2πt       on the boards, front +, rear −                    (2)

P and D are the document's, all else is chosen. A planar joint `plane` keeps the coupler in the plane. [mueller2009],
sec. 5.4.2.
"""

import casadi as ca

import torsor as ts

from ..registry import register
from .base import Case

HALF = 0.25  # half length of the coupler [m]
P, D = 10.0, 0.1  # gains [N m/rad, N m s/rad]
SPEED = 0.5  # [m/s]
BOARD_SHAPE = [  # a board for one foot on two wheels
    ts.shapes.box((0.13, 0.22, 0.012), at=(0, 0, 0.03)),
    ts.shapes.cylinder(0.006, 0.15, axis="y", colour="silver"),
    *(ts.shapes.cylinder(0.03, 0.025, at=(0, y, 0), axis="y", colour="#2b2e33") for y in (-0.07, 0.07)),
]
COUPLER_SHAPE = ts.shapes.box((2 * HALF, 0.05, 0.015), at=(0, 0, 0.045))
ROTOR_SHAPE = [
    ts.shapes.cylinder(0.08, 0.015, at=(0, 0, 0.065)),
    ts.shapes.box((0.05, 0.3, 0.02), at=(0, 0, 0.075), colour="orange"),
]


def steering(t):
    """φd of the front board and its rate."""
    return 0.5 * ca.sin(2 * ca.pi * t), ca.pi * ca.cos(2 * ca.pi * t)


@register("snakeboard")
class Snakeboard(Case):
    title = "snakeboard with two steered wheel boards and a rotor, no lateral slip"
    source = "Müller and Terze, sec. 5.4.2"
    until = 5.0

    @staticmethod
    def build():
        model = ts.Model("snakeboard")
        moving = {"velocity": (SPEED, 0, 0), "angular_velocity": (0, 0, 0)}
        J = (0.005, 0.005, 0.005)
        A = model.body("A", mass=0.5, inertia=J, at=(HALF, 0, 0), shape=BOARD_SHAPE, **moving)
        B = model.body("B", mass=2.0, inertia=(0.05, 0.05, 0.05), shape=COUPLER_SHAPE, **moving)
        C = model.body("C", mass=0.5, inertia=J, at=(-HALF, 0, 0), shape=BOARD_SHAPE, **moving)
        rotor = model.body("D", mass=1.0, inertia=(0.05, 0.05, 0.05), shape=ROTOR_SHAPE, **moving)
        model.add(ts.Planar("plane", model.ground, B, point=(0, 0, 0), axis=(0, 0, 1)))
        pins = [
            model.add(ts.Revolute(f"pin_{b.name}", B, b, point=at, axis=(0, 0, 1)))
            for b, at in ((A, (HALF, 0, 0)), (C, (-HALF, 0, 0)), (rotor, (0, 0, 0)))
        ]
        for board in (A, C):
            slip = ca.dot(board.direction((0, 1, 0)), board.velocity)
            model.add(ts.Nonholonomic(f"wheel_{board.name}", slip))  # (1)
        model.add(ts.PointForce("push", B, force=(1.0, 0, 0), axes="body"))  # B's centre is that of the whole board
        angle, rate = steering(ts.time)
        for pin, side in zip(pins, (1, -1)):
            torque = P * (side * angle - pin.coordinate) + D * (side * rate - pin.rate)  # (2)
            model.add(ts.JointForce(f"steer_{pin.second.name}", pin, torque))
        return model
