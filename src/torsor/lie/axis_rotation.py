"""Rotations about one axis, kept as matrices: a subgroup of SO(3) with one direction of motion.

    R = exp(θ â),      Ṙ = R â ω                                                       (1)

An element has nine numbers where an angle would suffice: the description of [bai2024], eq. 43. The group keeps R a rotation.
"""

from dataclasses import dataclass

import casadi as ca

from ..registry import register
from . import so3
from .groups import SO3, Group, _choose
from .numeric import returns


@register("turning")
@dataclass(frozen=True)
class Turning(Group):
    """Rotations about a unit vector; an element is its 3 × 3 matrix R, column by column."""

    axis: tuple = (0.0, 0.0, 1.0)

    dimension = 1
    size = 9
    rotations = True

    @returns("vector")
    def velocity_of(self, w):
        """The velocity in the algebra of an angular velocity w: its component along the axis."""
        return ca.dot(ca.DM(self.axis), w)

    @classmethod
    def examples(cls):
        return (cls(), cls((0.6, 0.0, -0.8)))

    @returns("matrix")
    def matrix(self, x):
        """The 3 × 3 matrix of a flat element, R = I + sin θ â + (1 − cos θ) â². Entries that are zero for every θ are
        structural zeros."""
        sine, cosine = self._sine_and_cosine(x)
        A = ca.sparsify(ca.DM(so3.hat(ca.DM(self.axis))))
        return ca.DM.eye(3) + sine * A + (1 - cosine) * ca.sparsify(A @ A)

    def _sine_and_cosine(self, x):
        R = ca.reshape(x, 3, 3)
        return ca.dot(ca.DM(self.axis), so3.vee(R - R.T)) / 2, (ca.trace(R) - 1) / 2

    @returns("vector")
    def identity(self):
        return SO3().identity()

    @returns("vector")
    def compose(self, x, y):
        return SO3().compose(x, y)

    @returns("vector")
    def inverse(self, x):
        return SO3().inverse(x)

    @returns("vector")
    def exp(self, u, map="exp"):
        return SO3().exp(ca.DM(self.axis) * u, map)

    @returns("vector")
    def log(self, x, map="exp"):
        return _choose(map, ca.atan2, lambda s, c: 2 * s / (1 + c))(*self._sine_and_cosine(x))

    @returns("vector")
    def dexp_inverse(self, u, w, map="exp"):
        return _choose(map, w, (1 + u**2 / 4) * w)

    @returns("matrix")
    def Ad(self, x):
        return ca.DM.eye(1)

    @returns("matrix")
    def ad(self, u):
        return ca.DM.zeros(1, 1)

    @returns("vector")
    def tidy(self, x):
        return SO3().tidy(x)
