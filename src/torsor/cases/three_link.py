"""A spatial three-link mechanism whose joints are composed of the two elementary constraints of its document.

    spherical:  0 = x·p,  0 = y·p,  0 = z·p                             p: second frame in the first's axes    (1)
    hinge:      (1), and no rotation about x and y of the first body                                           (2)

[aslanov2011], sec. 4, eq. 34 to 40.
"""

from dataclasses import dataclass

import casadi as ca

import torsor as ts

from ..constraints.elementary import on_plane
from ..joints.alignment import no_rotation
from ..lie import se3, so3
from ..registry import register
from .base import Case

X, Y, Z = (ca.SX(axis) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
LINK_SHAPE = ts.shapes.box((0.9, 0.1, 0.06))
PLANES = [f"point on plane with normal {axis}" for axis in "xyz"]


def three_planes(H):
    """The origin of the second frame on three planes of the first."""
    return ca.vertcat(*[on_plane(H, normal) for normal in (X, Y, Z)])  # (1)


@dataclass(frozen=True, eq=False)
class Ball(ts.Joint):
    """A spherical joint made of three planes of the first body; coordinates: rotation vector."""

    key = "three-planes"
    dof = 3
    angular = (False, False, False)

    def pose(self, q: ca.SX) -> ca.SX:
        return se3.pose(so3.exp(q), ca.SX.zeros(3))

    def motion(self, q: ca.SX) -> ca.SX:
        return se3.twist(angular=ca.SX.eye(3), linear=ca.SX.zeros(3, 3))

    def coordinates(self, H: ca.SX) -> ca.SX:
        return so3.log(se3.split_pose(H)[0])

    def residual(self, H: ca.SX) -> ca.SX:
        return three_planes(H)  # (1)

    def directions(self) -> list[str]:
        return list(PLANES)


@dataclass(frozen=True, eq=False)
class Hinge(ts.Joint):
    """A hinge about z of the first body: three planes, and no rotation about x and y; coordinate: angle."""

    key = "three-planes-no-rotation"
    dof = 1
    angular = (True,)

    def pose(self, q: ca.SX) -> ca.SX:
        return se3.pose(so3.rotation(Z, q), ca.SX.zeros(3))

    def motion(self, q: ca.SX) -> ca.SX:
        return se3.twist(angular=Z, linear=ca.SX.zeros(3))

    def coordinates(self, H: ca.SX) -> ca.SX:
        R, _ = se3.split_pose(H)
        return ca.atan2(R[1, 0], R[0, 0])

    def residual(self, H: ca.SX) -> ca.SX:
        return ca.vertcat(three_planes(H), no_rotation(H, (X, Y)))  # (2)

    def directions(self) -> list[str]:
        return PLANES + ["no rotation about x", "no rotation about y"]


@register("three-link")
class ThreeLink(Case):
    title = "spatial three-link mechanism of point-on-plane and no-rotation constraints"
    source = "Aslanov, Kruglov and Yuditsev, sec. 4"
    until = 10.0

    @staticmethod
    def build():
        """Links along +x from the origin, turning together about y; start and gravity are chosen."""
        model = ts.Model("three-link", gravity=(0, -9.81, 0))
        rate = 2.0
        links = [
            model.body(
                f"link{k + 1}", mass=1.0, inertia=(0.013, 0.083, 0.083), at=(k + 0.5, 0, 0), shape=LINK_SHAPE,
                velocity=(0, 0, -rate * (k + 0.5)), angular_velocity=(0, rate, 0),
            )
            for k in range(3)
        ]  # fmt: skip
        model.add(Ball("A", model.ground, links[0], point=(0, 0, 0)))
        model.add(Ball("B", links[0], links[1], point=(1, 0, 0)))
        model.add(Hinge("C", links[1], links[2], point=(2, 0, 0)))
        return model
