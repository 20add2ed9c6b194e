"""Rotation that drives a translation."""

from dataclasses import dataclass

import casadi as ca

from ..elements import quantity
from ..elements.quantity import Axis, Number
from ..errors import ModelError
from ..lie import se3, so3
from ..registry import register
from .alignment import about, normals, tilt
from .base import Joint
from .directions import direction, rotation_rows
from .elementary_motion import ElementaryMotion


@register("screw")
@dataclass(frozen=True, eq=False)
class Screw(Joint):
    """Rotation about an axis that drives a translation along it; the coordinate is the angle, over any number of turns.

        H(q) = (exp(q â), h q a),          h = pitch / 2π              (1)
        V    = S v,           S = (a, h a)                             (2)
        0    = n₁·p,  0 = n₂·p,  0 = n₁·R a,  0 = n₂·R a               (3)
        0    = h φ,      φ = angle of R exp(−(a·p/h) â) about a        (4)

    (4) compares the angle with the one that the displacement asks for, modulo full turns, so that no turn is counted. The
    coordinate is q = a·p/h + φ, which changes with the rotation alone: what acts along it is a torque.
    pitch   displacement in one turn, positive for a right-handed thread, not zero   [m]
    """

    drawing = "screw"
    dof = 1
    axial = True
    angular = (False,)
    variants = ({}, {"axis": (1, -2, 0.5), "pitch": -0.02}, {"axis": (0, 1, 0), "pitch": 30})
    axis: Axis = (0, 0, 1)
    pitch: Number = 1.0

    @property
    def lead(self) -> ca.SX:
        pitch = quantity.scalar(self.pitch, "pitch", self.owner)
        if pitch.is_constant() and float(pitch) == 0:
            raise ModelError(f"{self.owner}: pitch must not be zero (a revolute joint has none), got {self.pitch!r}")
        return pitch / (2 * ca.pi)

    def pose(self, q: ca.SX) -> ca.SX:
        return se3.pose(so3.rotation(self.first_axis(), q), self.lead * q * self.first_axis())  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        return se3.twist(angular=self.first_axis(), linear=self.lead * self.first_axis())  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        _, p = se3.split_pose(H)
        return ca.dot(self.first_axis(), p) / self.lead + self._mismatch(H)

    def _mismatch(self, H):
        """φ of (4)."""
        R, p = se3.split_pose(H)
        a = self.first_axis()
        return about(R @ so3.rotation(a, -ca.dot(a, p) / self.lead), a)

    def residual(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        a = self.first_axis()
        n1, n2 = normals(a)
        return ca.vertcat(ca.dot(n1, p), ca.dot(n2, p), tilt(R, a), self.lead * self._mismatch(H))  # (3), (4)

    def directions(self) -> list[str]:
        names = [f"translation along {direction(n)}" for n in normals(self.first_axis())]
        return names + rotation_rows(self.first_axis()) + ["thread"]

    def sequence(self) -> list[ElementaryMotion]:
        return [ElementaryMotion("screw", self.first_axis(), pitch=2 * ca.pi * self.lead)]
