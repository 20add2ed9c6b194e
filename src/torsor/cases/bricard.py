"""Bricard's six-bar: five rods and the ground, six hinges; mobile only because its geometry is special.

30 constraint equations of rank 29 leave one degree of freedom where counting gives none. Rods have a square section
of 0.1.
"""

import torsor as ts

from ..registry import register
from .base import Case

POINTS = ((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1))
JOINT_AXES = ((0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0))
WIDTH = 0.1


@register("bricard")
class Bricard(Case):
    title = "Bricard's six-bar, one redundant constraint throughout its motion"
    source = "MBS benchmark A04"
    until = 10.0
    recommended = {"tolerance": 1e-10}

    @staticmethod
    def build():
        model = ts.Model("bricard", gravity=(0, -9.81, 0))
        bars: list[ts.Ground | ts.Body] = [model.ground]
        for k, (one, two) in enumerate(zip(POINTS, POINTS[1:])):
            edges = [max(abs(b - a), WIDTH) for a, b in zip(one, two)]
            middle = [(a + b) / 2 for a, b in zip(one, two)]
            bars.append(model.body(f"rod{k + 1}", inertia=ts.inertia.box(1.0, *edges), at=middle))
        bars.append(model.ground)
        for k, (point, axis) in enumerate(zip(POINTS, JOINT_AXES)):
            model.add(ts.Revolute(f"P{k}", bars[k], bars[k + 1], point=point, axis=axis))
        return model
