"""N four-bar: N + 1 cranks and N couplers, parallelograms in a row that pass through singular positions.

On the parallelogram branch, with θ the crank angle from x:

    ((N+1)/3 + N) θ̈ = −((N+1)/2 + N) g cos θ,    θ(0) = π/2,  θ̇(0) = −1                               (1)

At θ = 0 and π all bars lie in line and the mobility jumps from 1 to N + 1. Bars are slender: their inertia about
their own axis, which plays no role in the plane, is 1e-4.
"""

import torsor as ts

from ..registry import register
from .base import Case, whole

ACROSS, THIN = 1 / 12, 1e-4  # inertia of a unit rod across and about its axis [kg m²]


@register("four-bar")
class FourBar(Case):
    title = "N four-bar, n parallelograms in a row through their singular positions"
    source = "MBS benchmark A02"
    until = 10.0
    recommended = {"tolerance": 1e-10}

    @staticmethod
    def build(n=2):
        n = whole(n, "n", "four-bar", 1)
        model = ts.Model(f"four-bar-{n}", gravity=(0, -9.81, 0))
        cranks = [
            model.body(
                f"crank{i}", mass=1.0, inertia=(ACROSS, THIN, ACROSS), at=(i, 0.5, 0),
                velocity=(0.5, 0, 0), angular_velocity=(0, 0, -1),
            )
            for i in range(n + 1)
        ]  # fmt: skip
        couplers = [
            model.body(
                f"coupler{i}", mass=1.0, inertia=(THIN, ACROSS, ACROSS), at=(i + 0.5, 1, 0),
                velocity=(1, 0, 0), angular_velocity=(0, 0, 0),
            )
            for i in range(n)
        ]  # fmt: skip
        for i, crank in enumerate(cranks):
            model.add(ts.Revolute(f"A{i}", model.ground, crank, point=(i, 0, 0), axis=(0, 0, 1)))
        for i, coupler in enumerate(couplers):
            model.add(ts.Revolute(f"B{i}", cranks[i], coupler, point=(i, 1, 0), axis=(0, 0, 1)))
            model.add(ts.Revolute(f"C{i}", coupler, cranks[i + 1], point=(i + 1, 1, 0), axis=(0, 0, 1)))
        return model
