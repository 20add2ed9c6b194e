"""A free asymmetric body that tumbles: it starts close to its intermediate axis, which is unstable.

Data are chosen: J = diag(1, 2, 2.5), body rate (0.2, 2, 0.1), m = 3, drifting at (0.3, −0.2, 0.1). The body rates are
Jacobi elliptic functions of time; energy and both momenta are exact invariants.
"""

import torsor as ts

from ..registry import register
from .base import Case


@register("free-body")
class FreeBody(Case):
    title = "free asymmetric body, tumbling about its intermediate axis"
    source = "Euler's case, exact in elliptic functions"
    until = 20.0

    @staticmethod
    def build():
        model = ts.Model("free-body")
        model.body("body", mass=3.0, inertia=(1, 2, 2.5), velocity=(0.3, -0.2, 0.1), angular_velocity=(0.2, 2, 0.1))
        return model
