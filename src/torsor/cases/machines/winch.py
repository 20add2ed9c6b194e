"""A winch hoists a load: DC motor, gear, drum, and a block and tackle.

    L İ = u − R I − k i ω,   drum torque i k I                      (1)
    v_load = r ω / 2                                               (2)

The rope runs from the frame under the sheave of the moving block onto the drum. At 3 s the motor is switched off and the brake
holds the drum.
"""

import torsor as ts

from ...registry import register
from ..base import Case

DRUM, SHEAVE = 0.2, 0.05  # radii [m]
LOAD = 60.0  # [kg]
TOP = 3.0  # height of the frame [m]
HOIST = 3.0  # time at which the brake closes [s]


@register("winch")
class Winch(Case):
    title = "winch: a DC motor with a gear hoists a load by a block and tackle, then a brake holds it"
    source = "own"
    until = 4.0
    equations = False

    @staticmethod
    def build():
        model = ts.Model("winch", gravity=(0, 0, -9.81))
        drum = model.body(
            "drum",
            inertia=ts.inertia.cylinder(12.0, DRUM, 0.3, axis="y"),
            at=(DRUM + SHEAVE, 0, TOP),
            shape=[
                ts.shapes.cylinder(DRUM, 0.3, axis="y", colour="steelblue"),
                ts.shapes.box((0.02, 0.31, 2 * DRUM), colour="gold"),
            ],
        )
        turn = model.add(ts.Revolute("turn", model.ground, drum, axis="y"))
        box = ts.shapes.box((0.5, 0.4, 0.3), at=(0, 0, -0.3), colour="orange")
        load = model.body("load", inertia=ts.inertia.box(LOAD, 0.5, 0.4, 0.3), at=(0, 0, 0.5), shape=box)
        model.add(ts.Prismatic("rail", model.ground, load, axis="z"))
        sheave = model.body("sheave", inertia=ts.inertia.disk(1.0, SHEAVE, axis="y"), at=(0, 0, 0.5))
        shaft = model.add(ts.Revolute("shaft", load, sheave, axis="y"))
        model.add(
            ts.Cable("rope", [(-SHEAVE, 0, TOP), ts.Pulley(shaft, SHEAVE), ts.Pulley(turn, DRUM, winding=1)]),
        )
        motor = model.add(
            ts.DCMotor(
                "motor", turn, voltage=24.0, resistance=0.8, inductance=4e-3, constant=0.12, ratio=30.0, inertia=2e-4
            )
        )
        brake = model.add(ts.Lock("brake", turn), active=False)
        model.when(ts.time >= HOIST, ts.switch(motor, on=False), ts.engage(brake), name="stop")
        model.signal("current", motor.current)
        return model
