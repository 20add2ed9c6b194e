"""Atwood's machine with a massive pulley.

    (m₁ + m₂ + J/r²) a = (m₂ − m₁) g                               (1)
    T₁ = m₁ (g + a),   T₂ = m₂ (g − a)                             (2)

The rope turns the pulley. a is the acceleration of the heavier weight downwards, T₁ and T₂ are the tensions of its two parts.
"""

import torsor as ts

from ...registry import register
from ..base import Case

RADIUS, WHEEL = 0.15, 4.0  # of the pulley [m, kg]
LIGHT, HEAVY = 3.0, 4.0  # [kg]
LOW = 0.2  # height of the weights at the start [m]


@register("atwood")
class Atwood(Case):
    title = "Atwood's machine: two weights on a rope that turns a massive pulley"
    source = "own; textbook equations"
    until = 1.0
    equations = False

    @staticmethod
    def build():
        model = ts.Model("atwood", gravity=(0, 0, -9.81))
        wheel = model.body("wheel", inertia=ts.inertia.disk(WHEEL, RADIUS, axis="y"), at=(0, 0, 1.2))
        shaft = model.add(ts.Revolute("shaft", model.ground, wheel, axis="y"))
        weights = []
        for name, mass, x in (("light", LIGHT, -RADIUS), ("heavy", HEAVY, RADIUS)):
            low = LOW if name == "light" else 1.2 - 2 * LOW
            body = model.body(name, inertia=ts.inertia.cylinder(mass, 0.05, 0.1), at=(x, 0, low))
            model.add(ts.Prismatic(f"{name}_rail", model.ground, body, axis="z"))
            weights.append(body)
        path = [weights[0].point((0, 0, 0)), ts.Pulley(shaft, radius=RADIUS), weights[1].point((0, 0, 0))]
        model.add(ts.Cable("rope", path))
        return model
