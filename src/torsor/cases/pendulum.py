"""A point mass on a massless rod, in closed form: the first problem of the benchmark library.

With θ from the lowest position:

    θ̈ = −(g/l) sin θ,   θ(0) = π/2,  θ̇(0) = 0                              (1)
"""

import torsor as ts

from ..registry import register
from .base import Case


@register("pendulum")
class Pendulum(Case):
    title = "planar pendulum, a point mass on a massless rod, from the horizontal"
    source = "MBS benchmark A01"
    until = 10.0

    @staticmethod
    def build():
        model = ts.Model("pendulum", gravity=(0, -9.81, 0))
        bob = model.body("bob", mass=1.0, inertia=0, at=(1, 0, 0), velocity=(0, 0, 0))
        model.add(ts.Distance("rod", model.ground, bob, points=((0, 0, 0), (1, 0, 0))))
        return model
