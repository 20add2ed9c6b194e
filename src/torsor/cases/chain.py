"""A serial chain of n equal links that hang on each other, their joints turning about x, y, z in turn."""

from math import cos, sin
from typing import Any

import torsor as ts

from ..registry import register
from .base import Case, whole

JOINT_AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
LINK_SHAPE = ts.shapes.box((0.11, 0.11, 0.88))


@register("chain")
class Chain(Case):
    title = "serial chain of n links with axes x, y, z in turn"
    source = "usual measure of recursive dynamics"
    until = 2.0

    @staticmethod
    def build(n=7):
        """Links of unit length and mass below the origin, the centre of mass half way; start angles and rates small."""
        n = whole(n, "n", "chain", 1)
        model = ts.Model(f"chain-{n}", gravity=(0, 0, -9.81))
        above: ts.Ground | ts.Body = model.ground
        for k in range(n):
            link = model.body(f"link{k}", mass=1.0, inertia=(0.1, 0.1, 0.01), at=(0, 0, -k - 0.5), shape=LINK_SHAPE)
            start: Any = {"start": 0.1 * sin(1 + k), "start_rate": 0.1 * cos(1 + k)}
            model.add(ts.Revolute(f"joint{k}", above, link, point=(0, 0, -k), axis=JOINT_AXES[k % 3], **start))
            above = link
        return model
