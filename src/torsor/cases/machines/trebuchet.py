"""A trebuchet with a hinged counterweight and a sling.

The sling is a rope: it can only pull. The stone lies on the field, is dragged backwards, swings round the end of the arm and leaves
the sling when this is nearly in line with the arm. From then on it flies freely:

    x(t) = x₀ + u₀ t,   z(t) = z₀ + w₀ t − g t²/2                   (1)

until it strikes the field, on which it slides with friction.
"""

from math import asin

import casadi as ca

import torsor as ts

from ...registry import register
from ..base import Case

PIVOT = 3.0  # height of the arm's axis [m]
LONG, SHORT = 4.0, 1.0  # arms of the stone and of the counterweight [m]
HANG = 0.8  # from the end of the short arm to the centre of the counterweight [m]
SLING = 3.2  # length [m]
STONE, RADIUS = 20.0, 0.12  # [kg, m]
WEIGHT = 400.0  # [kg]
RELEASE = 0.1  # angle between sling and arm at which it leaves the arm [rad]


@register("trebuchet")
class Trebuchet(Case):
    title = "trebuchet: counterweight, sling that can only pull, release, and the flight of the stone"
    source = "own"
    until = 6.0
    equations = False

    @staticmethod
    def build():
        model = ts.Model("trebuchet", gravity=(0, 0, -9.81))
        down = (PIVOT - RADIUS) / LONG  # sine of the arm's slope: its end starts at the height of the stone
        along = (-((1 - down**2) ** 0.5), 0.0, -down)  # from the axis to the end of the long arm
        end = tuple(LONG * x + (0, 0, PIVOT)[k] for k, x in enumerate(along))
        heel = tuple(-SHORT * x + (0, 0, PIVOT)[k] for k, x in enumerate(along))
        middle = tuple((a + b) / 2 for a, b in zip(end, heel))
        beam = ts.inertia.rod(40.0, LONG + SHORT, axis="x")
        arm = model.body("arm", inertia=beam, at=middle, rotation=(0, -asin(down), 0))
        model.add(ts.Revolute("axle", model.ground, arm, point=(0, 0, PIVOT), axis="y"))
        box = model.body(
            "counterweight", inertia=ts.inertia.box(WEIGHT, 0.6, 0.6, 0.6), at=(heel[0], 0, heel[2] - HANG)
        )
        model.add(ts.Revolute("hanger", arm, box, point=heel, axis="y"))
        stone = model.body("stone", inertia=ts.inertia.sphere(STONE, RADIUS), at=(end[0] + SLING, 0, RADIUS))
        model.add(ts.Planar("throw", model.ground, stone, axis="y"))
        field = model.add(ts.Contact("field", model.ground, stone, radius=RADIUS, plane=(0, 0, 0)))
        model.add(ts.Friction("grass", field, coefficient=0.5))
        tip = arm.point((-(LONG + SHORT) / 2, 0, 0))
        model.add(ts.Cable("sling", [tip, stone.point()]))

        phase = model.modes("phase", "swing", "flight")
        out, lever = stone.position - tip, tip - ca.DM([0, 0, PIVOT])
        in_line = ca.dot(out, lever) / (SLING * LONG)
        leave = (ts.release(model["sling.part0"]), ts.enter(phase["flight"]))
        model.when(in_line >= ca.cos(RELEASE), *leave, name="leave", during=phase["swing"])
        return model
