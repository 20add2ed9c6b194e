"""The lower pairs, the universal joint, and the two extremes: fixed and free."""

from dataclasses import dataclass

import casadi as ca

from ..describe import quantity
from ..describe.quantity import Axis, Number
from ..errors import ModelError
from ..lie import se3, so3
from ..registry import register
from .alignment import about, no_turn, normals, tilt
from .base import Joint

X = ("x", "y", "z")
TRANSLATIONS = [f"translation along {x}" for x in X]


def rotation_rows(axis):
    names = [direction(n) for n in normals(axis)]
    return [f"rotation about {names[1]}", f"rotation about {names[0]}"]


def direction(axis):
    """A short name of a direction: x, y, z or its components."""
    if not axis.is_constant():
        return "a normal of the axis"
    values = quantity.numbers(axis).ravel()
    for k, x in enumerate(X):
        if abs(abs(values[k]) - 1) < 1e-12:
            return x
    return "(" + ", ".join(f"{v:.3g}" for v in values) + ")"


@register("fixed")
@dataclass(frozen=True, eq=False)
class Fixed(Joint):
    """No relative motion: two bodies as one.

    H = 1                                                          (1)
    0 = p,  0 = vee(R − Rᵀ)/2                                      (2)
    """

    anchored = True
    dof = 0

    def pose(self, q: ca.SX) -> ca.SX:
        return ca.SX.eye(4)  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        return ca.SX(6, 0)

    def coordinates(self, H: ca.SX) -> ca.SX:
        return ca.SX(0, 1)

    def residual(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        return ca.vertcat(p, no_turn(R))  # (2)

    def directions(self) -> list[str]:
        return TRANSLATIONS + [f"rotation about {x}" for x in X]


@register("revolute")
@dataclass(frozen=True, eq=False)
class Revolute(Joint):
    """Rotation about one axis that is fixed in both bodies.

        H(q) = (exp(q â), 0)                                           (1)
        V    = S v,           S = (a, 0)                               (2)
        0    = p,  0 = n₁·R a,  0 = n₂·R a                             (3)

    H = (R, p)  pose of the second body's joint frame in the first's   [-, m]
    a           unit axis, equal in both frames; n₁, n₂ ⟂ a            [-]
    """

    anchored = True
    dof = 1
    angular = (True,)
    variants = ({}, {"axis": (1, -2, 0.5)})
    axis: Axis = (0, 0, 1)

    def pose(self, q: ca.SX) -> ca.SX:
        return se3.pose(so3.rotation(self.first_axis(), q), ca.SX.zeros(3))  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        return se3.twist(angular=self.first_axis(), linear=ca.SX.zeros(3))  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        R, _ = se3.split_pose(H)
        return about(R, self.first_axis())

    def residual(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        return ca.vertcat(p, tilt(R, self.first_axis()))  # (3)

    def directions(self) -> list[str]:
        return TRANSLATIONS + rotation_rows(self.first_axis())


@register("prismatic")
@dataclass(frozen=True, eq=False)
class Prismatic(Joint):
    """Translation along one axis.

    H(q) = (1, q a)                                                (1)
    V    = S v,           S = (0, a)                               (2)
    0    = n₁·p,  0 = n₂·p,  0 = vee(R − Rᵀ)/2                     (3)
    """

    dof = 1
    angular = (False,)
    variants = ({}, {"axis": (1, -2, 0.5)})
    axis: Axis = (0, 0, 1)

    def pose(self, q: ca.SX) -> ca.SX:
        return se3.pose(ca.SX.eye(3), q * self.first_axis())  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        return se3.twist(angular=ca.SX.zeros(3), linear=self.first_axis())  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        _, p = se3.split_pose(H)
        return ca.dot(self.first_axis(), p)

    def residual(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        n1, n2 = normals(self.first_axis())
        return ca.vertcat(ca.dot(n1, p), ca.dot(n2, p), no_turn(R))  # (3)

    def directions(self) -> list[str]:
        names = [f"translation along {direction(n)}" for n in normals(self.first_axis())]
        return names + [f"rotation about {x}" for x in X]


@register("cylindrical")
@dataclass(frozen=True, eq=False)
class Cylindrical(Joint):
    """Rotation about and translation along one axis: coordinates (angle, displacement).

    H(q) = (exp(q₀ â), q₁ a)                                       (1)
    V    = S v,           S = [(a, 0), (0, a)]                     (2)
    0    = n₁·p,  0 = n₂·p,  0 = n₁·R a,  0 = n₂·R a               (3)
    """

    dof = 2
    angular = (True, False)
    variants = ({}, {"axis": (1, -2, 0.5)})
    axis: Axis = (0, 0, 1)

    def pose(self, q: ca.SX) -> ca.SX:
        return se3.pose(so3.rotation(self.first_axis(), q[0]), q[1] * self.first_axis())  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        a, none = self.first_axis(), ca.SX.zeros(3)
        return ca.horzcat(se3.twist(angular=a, linear=none), se3.twist(angular=none, linear=a))  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        return ca.vertcat(about(R, self.first_axis()), ca.dot(self.first_axis(), p))

    def residual(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        n1, n2 = normals(self.first_axis())
        return ca.vertcat(ca.dot(n1, p), ca.dot(n2, p), tilt(R, self.first_axis()))  # (3)

    def directions(self) -> list[str]:
        names = [f"translation along {direction(n)}" for n in normals(self.first_axis())]
        return names + rotation_rows(self.first_axis())


@register("screw")
@dataclass(frozen=True, eq=False)
class Screw(Joint):
    """Rotation about an axis that drives a translation along it; the coordinate is the angle, over any number of turns.

        H(q) = (exp(q â), h q a),          h = pitch / 2π              (1)
        V    = S v,           S = (a, h a)                             (2)
        0    = n₁·p,  0 = n₂·p,  0 = n₁·R a,  0 = n₂·R a               (3)
        0    = h φ,      φ = angle of R exp(−(a·p/h) â) about a        (4)

    (4) compares the angle with the one that the displacement asks for, modulo full turns, so that no turn is counted.
    pitch   displacement in one turn, positive for a right-handed thread, not zero   [m]
    """

    dof = 1
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
        return ca.dot(self.first_axis(), p) / self.lead

    def residual(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        a = self.first_axis()
        n1, n2 = normals(a)
        turned_back = R @ so3.rotation(a, -ca.dot(a, p) / self.lead)
        return ca.vertcat(ca.dot(n1, p), ca.dot(n2, p), tilt(R, a), self.lead * about(turned_back, a))  # (3), (4)

    def directions(self) -> list[str]:
        names = [f"translation along {direction(n)}" for n in normals(self.first_axis())]
        return names + rotation_rows(self.first_axis()) + ["thread"]


@register("spherical")
@dataclass(frozen=True, eq=False)
class Spherical(Joint):
    """Rotation about a common point; coordinates: rotation vector of R, velocities: relative angular velocity.

    H(q) = (exp(q~), 0)                                            (1)
    V    = S v,           S = (1, 0),   v = dexp(−q) q̇             (2)
    0    = p                                                       (3)
    """

    anchored = True
    dof = 3
    angular = (False, False, False)
    quasi = True

    def pose(self, q: ca.SX) -> ca.SX:
        return se3.pose(so3.exp(q), ca.SX.zeros(3))  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        return se3.twist(angular=ca.SX.eye(3), linear=ca.SX.zeros(3, 3))  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        R, _ = se3.split_pose(H)
        return so3.log(R)

    def residual(self, H: ca.SX) -> ca.SX:
        _, p = se3.split_pose(H)
        return p  # (3)

    def directions(self) -> list[str]:
        return list(TRANSLATIONS)


@register("universal")
@dataclass(frozen=True, eq=False)
class Universal(Joint):
    """Two crossing perpendicular axes: `axis` fixed in the first body, `second_axis` in the second (Hooke, Cardan).

    H(q) = (exp(q₀ â) exp(q₁ b̂), 0)                                (1)
    V    = S v,           S = [(exp(−q₁ b̂) a, 0), (b, 0)]          (2)
    0    = p,  0 = a·R b                                           (3)
    """

    anchored = True
    dof = 2
    angular = (True, True)
    variants = ({}, {"axis": (1, -2, 0.5), "second_axis": (2, 1, 0)})
    axis: Axis = (1, 0, 0)
    second_axis: Axis = (0, 1, 0)

    def axes(self) -> tuple[ca.SX, ca.SX]:
        a, b = self.first_axis(), self.first_axis("second_axis")
        slant = ca.dot(a, b)
        if slant.is_constant() and abs(float(slant)) > 1e-9:
            raise ModelError(f"{self.owner}: axis and second_axis must be perpendicular, a·b = {float(slant):.3g}")
        return a, b

    def pose(self, q: ca.SX) -> ca.SX:
        a, b = self.axes()
        return se3.pose(so3.rotation(a, q[0]) @ so3.rotation(b, q[1]), ca.SX.zeros(3))  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        a, b = self.axes()
        first = so3.rotation(b, -q[1]) @ a
        return se3.twist(angular=ca.horzcat(first, b), linear=ca.SX.zeros(3, 2))  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        R, _ = se3.split_pose(H)
        a, b = self.axes()
        c = ca.cross(a, b)
        turned, back = R @ b, R.T @ a  # R b = exp(q₀ â) b,  Rᵀ a = exp(−q₁ b̂) a
        return ca.vertcat(ca.atan2(ca.dot(c, turned), ca.dot(b, turned)), ca.atan2(ca.dot(c, back), ca.dot(a, back)))

    def residual(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        a, b = self.axes()
        return ca.vertcat(p, ca.dot(a, R @ b))  # (3)

    def directions(self) -> list[str]:
        a, b = self.axes()
        return TRANSLATIONS + [f"rotation about {direction(ca.cross(a, b))}"]


@register("planar")
@dataclass(frozen=True, eq=False)
class Planar(Joint):
    """Motion in the plane normal to `axis`: coordinates (displacement along n₁, along n₂, angle).

    H(q) = (exp(q₂ â), q₀ n₁ + q₁ n₂)                              (1)
    V    = S v,   S = [(0, Rᵀ n₁), (0, Rᵀ n₂), (a, 0)]             (2)
    0    = a·p,  0 = n₁·R a,  0 = n₂·R a                           (3)
    """

    dof = 3
    angular = (False, False, True)
    variants = ({}, {"axis": (1, -2, 0.5)})
    axis: Axis = (0, 0, 1)

    def pose(self, q: ca.SX) -> ca.SX:
        n1, n2 = normals(self.first_axis())
        return se3.pose(so3.rotation(self.first_axis(), q[2]), q[0] * n1 + q[1] * n2)  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        a, none = self.first_axis(), ca.SX.zeros(3)
        back = so3.rotation(a, -q[2])
        slides = [se3.twist(angular=none, linear=back @ n) for n in normals(a)]
        return ca.horzcat(*slides, se3.twist(angular=a, linear=none))  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        n1, n2 = normals(self.first_axis())
        return ca.vertcat(ca.dot(n1, p), ca.dot(n2, p), about(R, self.first_axis()))

    def residual(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        return ca.vertcat(ca.dot(self.first_axis(), p), tilt(R, self.first_axis()))  # (3)

    def directions(self) -> list[str]:
        return [f"translation along {direction(self.first_axis())}"] + rotation_rows(self.first_axis())


@register("free")
@dataclass(frozen=True, eq=False)
class Free(Joint):
    """No constraint: names the relative pose of two bodies. Coordinates: rotation vector, then position.

    H(q) = (exp(q₀₁₂ ~), q₃₄₅)                                     (1)
    V    = S v,   S = 1                                            (2)
    """

    dof = 6
    angular = (False,) * 6
    quasi = True

    def pose(self, q: ca.SX) -> ca.SX:
        turn, shift = se3.split(q)
        return se3.pose(so3.exp(turn), shift)  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        return ca.SX.eye(6)  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        return se3.twist(so3.log(R), p)

    def residual(self, H: ca.SX) -> ca.SX:
        return ca.SX(0, 1)

    def directions(self) -> list[str]:
        return []
