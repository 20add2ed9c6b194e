"""Edges, wheels and things that roll: constraints on velocities that no constraint on positions replaces.

All of them compare velocities of the second body with those that the first one has at the same place, so that the first
may be a ground, a moving ground or a body. With H = (R, p) the pose of the second frame in the first and v, ω the
relative velocity of its origin and the relative angular velocity, in axes of the first:

    u(r) = v + ω × r            relative velocity of the point of the second body that is r away from p          (1)

Sharp edge, rolling disk and sphere: Neimark and Fufaev [neimark1972].
"""

from dataclasses import dataclass
from typing import Any, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import fill_in
from ..elements.quantity import Axis, Number
from ..errors import ModelError
from ..joints.alignment import normals
from ..joints.base import Connection
from ..joints.directions import direction
from ..lie import se3
from ..registry import register


def slip(connection, arm=None):
    """u of the point at `arm` from the second frame's origin, in axes of the first frame: (1)."""
    (R1, _), (R2, _) = connection.ends()
    angular, linear = se3.split(connection.relative_twist())
    back = R1.T @ R2
    return back @ linear if arm is None else back @ linear + ca.cross(back @ angular, arm)


def positive(element, what):
    """A length of an element, refused where it is known not to be positive."""
    value = quantity.scalar(getattr(element, what), what, element.owner)
    if value.is_constant() and float(value) <= 0:
        raise ModelError(f"{element.owner}: {what} must be positive, got {float(value)!r}")
    return value


@register("knife-edge")
@dataclass(frozen=True, eq=False)
class KnifeEdge(Connection):
    """A blade at a point of the second body: no velocity of that point across the blade, relative to the first body.

        0 = b·Rᵀ v                                                     (1)

    across   b, the direction across the blade, fixed in the second body; given in the reference configuration
    """

    drawing, drawn_axis = "rolling", "across"
    variants = ({}, {"across": (1, -2, 0.5), "point": (0.2, 0.4, 0.1)})
    across: Axis = (0, 1, 0)

    def velocity(self) -> ca.SX:
        _, linear = se3.split(self.relative_twist())
        return ca.dot(quantity.unit(self.across, "across", self.owner), linear)  # (1)

    def directions(self) -> list[str]:
        return [f"slip along {direction(quantity.unit(self.across, 'across', self.owner))} of the second body"]


@register("wheel")
@dataclass(frozen=True, eq=False)
class Wheel(Connection):
    """A wheel that something holds upright: its centre has no velocity along the axle; with a radius, it rolls besides.

        0 = a·v,            a = R axis                                 (1)
        0 = t·v − r a·ω,    t = a × n / |a × n|                        (2)

    The second body is the wheel, or for (1) alone anything that carries its axle. What keeps the wheel upright and at its
    height is a joint of the vehicle or a planar joint; a wheel that may tilt is a `RollingDisk`.

    axis     axle, fixed in the second body, in the world, in the reference configuration, or in axes of its frame where
             `frames` are given; `point` is the wheel's centre, by default its centre of mass   [-]
    radius   r of the rolling wheel; None: (1) only, the wheel is free to spin or to lock                   [m]
    normal   n of the plane that it rolls on, fixed in the first body                                       [-]
    """

    drawing = "rolling"
    variants = ({}, {"axis": (1, -2, 0.5), "radius": 0.3}, {"radius": 0.5, "normal": (0, 0.2, 1)})
    axis: Axis = (0, 1, 0)
    radius: Number | None = None
    normal: Axis = (0, 0, 1)

    def attach(self) -> Self:
        super().attach()
        quantity.unit(self.normal, "normal", self.owner)
        if self.radius is not None:
            positive(self, "radius")
            upright(self)
        return self

    def velocity(self) -> ca.SX:
        R, _ = se3.split_pose(self.relative_pose())
        a, v = R @ quantity.unit(self.axis, "axis", self.owner), slip(self)
        if self.radius is None:
            return ca.dot(a, v)  # (1)
        t = ca.cross(a, quantity.unit(self.normal, "normal", self.owner))
        angular, _ = se3.split(self.relative_twist())
        spin = ca.dot(quantity.unit(self.axis, "axis", self.owner), angular)
        return ca.vertcat(ca.dot(a, v), ca.dot(t, v) / ca.sqrt(ca.sumsqr(t)) - positive(self, "radius") * spin)  # (2)

    def directions(self) -> list[str]:
        return ["slip along the axle"] + (["slip along the track"] if self.radius is not None else [])


def lowest(element, R):
    """Where a disk about `axis` touches a plane with `normal`, seen from its centre: −r n', and |n − (n·a) a|.

    n' = (n − (n·a) a) / |n − (n·a) a|,   a = R axis                 the steepest radius of the disk
    """
    a, n = (
        R @ quantity.unit(element.axis, "axis", element.owner),
        quantity.unit(element.normal, "normal", element.owner),
    )
    steep = n - ca.dot(n, a) * a
    length = ca.sqrt(ca.sumsqr(steep))
    return -positive(element, "radius") * steep / length, length


def upright(element):
    """Refuse a disk that lies flat in the reference configuration: no point of its rim is the lowest."""
    R1, R2 = (b.start_rotation @ se3.split_pose(x)[0] for b, x in zip((element.first, element.second), element.placed))
    a, n = quantity.unit(element.axis, "axis", element.owner), quantity.unit(element.normal, "normal", element.owner)
    across = ca.cross(R1 @ n, R2 @ a)
    if across.is_constant() and float(ca.norm_2(across)) < 1e-9:
        raise ModelError(
            f"{element.owner}: axis must not lie along normal: a disk that lies flat has no point of contact"
        )


@register("disk-on-plane")
@dataclass(frozen=True, eq=False)
class DiskOnPlane(Connection):
    """The edge of a thin disk touches a plane and slides on it freely; what keeps the height of a disk that rolls.

        0 = n·(p − p₀) − r |n − (n·a) a| + h                           (1)

    axis     a, axis of the disk, as of a `RollingDisk`
    point    p₀ and the disk's centre coincide there in the reference configuration, as in all connections; with `frames`, they
             are the origins of the two
    offset   h, the height of p₀ above the plane: r for a disk that stands upright at first; None: touches at first [m]
    """

    drawing = "rolling"
    variants = (
        {"axis": (0, 1, 0.3), "radius": 0.4},
        {"axis": (1, 0, 0), "normal": (0, 0.2, 1), "radius": 0.2, "offset": 0.2},
    )
    axis: Axis = (0, 1, 0)
    radius: Number = 1.0
    normal: Axis = (0, 0, 1)
    offset: Any = None

    def attach(self) -> Self:
        super().attach()
        positive(self, "radius")
        upright(self)
        return fill_in(self, offset=-self._height(self._reference())) if self.offset is None else self

    def _reference(self):
        """H in the reference configuration, where frames need not coincide."""
        ends = [
            se3.pose(b.start_rotation, b.start_position) @ x for b, x in zip((self.first, self.second), self.placed)
        ]
        return se3.inverse(ends[0]) @ ends[1]

    def _height(self, H):
        """Height of the lowest point of the disk above p₀: n·p − r |n − (n·a) a|."""
        R, p = se3.split_pose(H)
        n = quantity.unit(self.normal, "normal", self.owner)
        return ca.dot(n, p) - positive(self, "radius") * lowest(self, R)[1]

    def residual(self, H: ca.SX) -> ca.SX:
        return self._height(H) + quantity.scalar(self.offset, "offset", self.owner)  # (1)

    def directions(self) -> list[str]:
        return [f"contact along {direction(quantity.unit(self.normal, 'normal', self.owner))}"]


@dataclass(frozen=True, eq=False)
class Rolling(Connection):
    """The point of contact of the second body stands still on a plane of the first: three rows, or two without `contact`."""

    drawing, drawn_axis = "rolling", "normal"
    radius: Number = 1.0
    normal: Axis = (0, 0, 1)
    contact: bool = True

    def arm(self, R: ca.SX) -> ca.SX:
        """From the second frame's origin to the point of contact, in axes of the first."""
        raise NotImplementedError

    def attach(self) -> Self:
        super().attach()
        positive(self, "radius")
        if not isinstance(self.contact, bool):
            raise ModelError(f"{self.owner}: contact must be True or False, got {quantity.show(self.contact)}")
        return self

    def axes(self) -> list[ca.SX]:
        n = quantity.unit(self.normal, "normal", self.owner)
        return [n, *normals(n)] if self.contact else list(normals(n))

    def velocity(self) -> ca.SX:
        R, _ = se3.split_pose(self.relative_pose())
        u = slip(self, self.arm(R))
        return ca.vertcat(*[ca.dot(n, u) for n in self.axes()])

    def directions(self) -> list[str]:
        names = [f"slip along {direction(n)}" for n in self.axes()]
        return ["contact" + names[0].removeprefix("slip"), *names[1:]] if self.contact else names


@register("rolling-disk")
@dataclass(frozen=True, eq=False)
class RollingDisk(Rolling):
    """A thin disk rolls without slipping on a plane of the first body: its point of contact stands still there.

        0 = v + ω × r,      r = −radius n',     n' = (n − (n·a) a)/|n − (n·a) a|                             (1)

    The row along n is the rate of the height of contact n·p − radius |n − (n·a) a|: alone it is integrable, the two others
    are not. All three are kept at velocity level, so that the plane lies where the disk touches it at the start, and the
    height is as accurate as the integration. `contact=False` leaves that row out for a `DiskOnPlane`, which keeps the
    height at position level. The disk must not lie flat (a along n).

    axis     a, axis of the disk, fixed in the second body; in the world, in the reference configuration, also where the body
             is turned there, or in axes of its frame where `frames` are given   [-]
    radius   [m];  `point` is the disk's centre, by default its centre of mass
    normal   n of the plane, fixed in the first body   [-]
    """

    drawn_axis = "axis"
    variants = ({"radius": 0.3}, {"axis": (1, 0.2, 0), "normal": (0, 0.2, 1), "radius": 0.5, "contact": False})
    axis: Axis = (0, 1, 0)

    def attach(self) -> Self:
        super().attach()
        upright(self)
        return self

    def arm(self, R: ca.SX) -> ca.SX:
        return lowest(self, R)[0]  # (1)


@register("rolling-sphere")
@dataclass(frozen=True, eq=False)
class RollingSphere(Rolling):
    """A sphere rolls without slipping on a plane of the first body: its point of contact stands still there.

        0 = v + ω × r,      r = −radius n                                                                    (1)

    It may spin about the normal. The row along n says n·v = 0 and is integrable; all three are kept at velocity level.
    `contact=False` leaves that row out for a `PointOnPlane` at the centre, which keeps the height at position level.
    """

    variants = ({"radius": 0.3}, {"normal": (0, 0.2, 1), "radius": 0.5, "contact": False})

    def arm(self, R: ca.SX) -> ca.SX:
        return -positive(self, "radius") * quantity.unit(self.normal, "normal", self.owner)  # (1)
