"""A three-axis rotating platform: three tables on each other, turning about z, y and x.

The motion is chaotic: trajectories compare up to 4 s. Energy and the angular momentum about the vertical through the
first joint are invariants. Gravity is chosen; all else is the document's.
"""

from math import pi
from typing import Any

import numpy as np

import torsor as ts

from ..registry import register
from .base import Case

HINGE_AXES = ((0, 0, 1), (0, 1, 0), (1, 0, 0))
MASS = (0.87, 0.66, 3.5)
CENTER = ((-28.5e-3, -1e-3, -7.2e-3), (27e-3, -0.3e-3, 1.3e-3), (34e-3, -0.48e-3, 55e-3))  # from the table's own joint
INERTIA = ((6.55e-4, 7.10e-4, 11.3e-4), (1.79e-4, 4.45e-4, 4.6e-4), (1.46e-2, 2.09e-2, 3.29e-2))
ARM = ((0, 0, 0), (0, 0, 78.5e-3), (81.5e-3, 0, 0))  # from the joint below
TABLE_SHAPES = (  # of each table, from its own joint
    [
        ts.shapes.cylinder(0.075, 0.012, at=(0, 0, 0.006), colour="grey"),
        ts.shapes.box((0.03, 0.09, 0.0785), at=(0, 0, 0.045), colour="grey"),
    ],
    [
        ts.shapes.cylinder(0.022, 0.11, axis="y", colour="orange"),
        ts.shapes.box((0.0815, 0.04, 0.03), at=(0.04, 0, 0), colour="orange"),
    ],
    [
        ts.shapes.cylinder(0.028, 0.06, at=(0.02, 0, 0), axis="x", colour="steelblue"),
        ts.shapes.box((0.03, 0.06, 0.05), at=(0.034, 0, 0.02), colour="steelblue"),
        ts.shapes.box((0.24, 0.19, 0.03), at=(0.034, 0, 0.06), colour="steelblue"),
    ],
)
START = (pi, pi / 3, pi / 3)  # angles, and rates


@register("platform")
class Platform(Case):
    title = "three-axis rotating platform, three revolute joints about z, y and x"
    source = "textbook example, joint rotations and momenta"
    until = 10.0
    recommended = {"tolerance": 1e-10}

    @staticmethod
    def build():
        model = ts.Model("platform", gravity=(0, 0, -9.81))
        below: ts.Ground | ts.Body = model.ground
        joint: tuple[float, ...] = (0.0, 0.0, 0.0)
        for k in range(3):
            joint = tuple(a + b for a, b in zip(joint, ARM[k]))
            center = tuple(a + b for a, b in zip(joint, CENTER[k]))
            shape = [s.move(-np.array(CENTER[k]), np.eye(3)) for s in TABLE_SHAPES[k]]  # from the centre of mass
            table = model.body(f"table{k + 1}", mass=MASS[k], inertia=INERTIA[k], at=center, shape=shape)
            start: Any = {"start": START[k], "start_rate": START[k]}
            model.add(ts.Revolute(f"joint{k + 1}", below, table, point=joint, axis=HINGE_AXES[k], **start))
            below = table
        return model
