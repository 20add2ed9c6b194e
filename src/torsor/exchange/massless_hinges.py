"""Hinges in a row with nothing heavy between them: two in any position, three that meet in a point.

The angles of the hinges are the coordinates, as in the file that they were read from.
"""

from dataclasses import dataclass

import casadi as ca

from ..elements import quantity
from ..joints import Joint
from ..joints.alignment import about, tilt
from ..joints.elementary_motion import ElementaryMotion
from ..joints.spherical import Spherical
from ..lie import se3, so3
from ..lie.euler import to_euler

PARALLEL = 1e-9  # sine of the angle below which two axes are parallel


@dataclass(frozen=True, eq=False)
class HingePair(Joint):
    """Two hinges one after the other: `axis` fixed in the first body, through `point`, and `second_axis` in the second,
    through the point that is `offset` away, d, which is perpendicular to both axes.

        H(q) = (A B, A (d − B d)),            A = exp(q₀ â),  B = exp(q₁ b̂)                           (1)
        V    = S v,   S = [(Bᵀ a, Bᵀ a × (Bᵀ d − d)), (b, −b × d)]                                      (2)
        0    = a·R b − a·b,  0 = a·w,  0 = w·R b,  0 = w·(a × R b) − d·(a × b),   w = p + R d           (3)
        0    = n₁·R a,  0 = n₂·R a,  0 = a·w,  0 = (w·w − d·d) / 2|d|                                   (4)

    (3) where the axes cross or are skew, (4) where they are parallel.
    """

    dof = 2
    angular = (True, True)
    axis: tuple = (1, 0, 0)
    second_axis: tuple = (0, 1, 0)
    offset: tuple = (0, 0, 0)

    def geometry(self):
        """a, b, d, and whether the axes are parallel."""
        a, b = self.first_axis(), self.first_axis("second_axis")
        d = quantity.vector(self.offset, "offset", self.owner)
        return a, b, d, float(ca.norm_2(ca.cross(a, b))) < PARALLEL

    def pose(self, q: ca.SX) -> ca.SX:
        a, b, d, _ = self.geometry()
        A, B = so3.rotation(a, q[0]), so3.rotation(b, q[1])
        return se3.pose(A @ B, A @ (d - B @ d))  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        a, b, d, _ = self.geometry()
        back = so3.rotation(b, -q[1])
        first, arm = back @ a, back @ d - d
        angular, linear = ca.horzcat(first, b), ca.horzcat(ca.cross(first, arm), -ca.cross(b, d))
        return se3.twist(angular=angular, linear=linear)  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        a, b, d, parallel = self.geometry()
        R, p = se3.split_pose(H)
        if parallel:
            w = p + R @ d
            first = ca.atan2(ca.dot(ca.cross(a, d), w), ca.dot(d, w))
            return ca.vertcat(first, ca.dot(a, b) * (about(R, a) - first))
        across, normal = b - ca.dot(a, b) * a, ca.cross(a, b)  # R b = A b,  Rᵀ a = Bᵀ a
        across_second = a - ca.dot(a, b) * b
        turned, back = R @ b, R.T @ a
        return ca.vertcat(
            ca.atan2(ca.dot(normal, turned), ca.dot(across, turned)),
            ca.atan2(ca.dot(normal, back), ca.dot(across_second, back)),
        )

    def residual(self, H: ca.SX) -> ca.SX:
        a, b, d, parallel = self.geometry()
        R, p = se3.split_pose(H)
        w, turned = p + R @ d, R @ b
        if parallel:
            return ca.vertcat(tilt(R, a), ca.dot(a, w), (ca.sumsqr(w) - ca.sumsqr(d)) / (2 * ca.norm_2(d)))  # (4)
        volume = ca.dot(w, ca.cross(a, turned)) - ca.dot(d, ca.cross(a, b))
        return ca.vertcat(ca.dot(a, turned) - ca.dot(a, b), ca.dot(a, w), ca.dot(w, turned), volume)  # (3)

    def directions(self) -> list[str]:
        parallel = self.geometry()[3]
        skew = ["angle between the axes", *(f"{what} of the axes" for what in ("slip", "second slip", "distance"))]
        return ["tilt", "second tilt", "slip of the axes", "distance of the axes"] if parallel else skew

    def sequence(self) -> list[ElementaryMotion]:
        a, b, d, _ = self.geometry()
        return [ElementaryMotion("hinge", a), ElementaryMotion("hinge", b, d)]


@dataclass(frozen=True, eq=False)
class Gimbal(Spherical):
    """Three hinges through one point, each perpendicular to the others in the reference configuration.

        H(q) = (exp(q₀ â) exp(q₁ b̂) exp(q₂ ĉ), 0)                                      (1)
        V    = S v,   S = [(R₁₂ᵀ a, 0), (R₂ᵀ b, 0), (c, 0)]                             (2)
        0    = p                                                                        (3)

    R₁₂ = exp(q₁ b̂) exp(q₂ ĉ),  R₂ = exp(q₂ ĉ).  At q₁ = ±π/2 the first and the third hinge turn about the same line, as
    they do in the mechanism that this stands for: the angles are not defined there, the motion is.
    """

    angular = (True, False, True)
    quasi = False
    axis: tuple = (1, 0, 0)
    second_axis: tuple = (0, 1, 0)
    third_axis: tuple = (0, 0, 1)

    def axes(self) -> list[ca.SX]:
        return [self.first_axis(what) for what in ("axis", "second_axis", "third_axis")]

    def pose(self, q: ca.SX) -> ca.SX:
        R = [so3.rotation(a, q[k]) for k, a in enumerate(self.axes())]
        return se3.pose(R[0] @ R[1] @ R[2], ca.SX.zeros(3))  # (1)

    def motion(self, q: ca.SX) -> ca.SX:
        a, b, c = self.axes()
        back = so3.rotation(c, -q[2])
        first = back @ so3.rotation(b, -q[1]) @ a
        return se3.twist(angular=ca.horzcat(first, back @ b, c), linear=ca.SX.zeros(3, 3))  # (2)

    def coordinates(self, H: ca.SX) -> ca.SX:
        R, _ = se3.split_pose(H)
        a, b, c = self.axes()
        third = ca.cross(a, b)
        frame = ca.horzcat(a, b, third)
        q = to_euler(frame.T @ R @ frame, "123")
        return ca.vertcat(q[0], q[1], ca.dot(third, c) * q[2])  # c = ± a × b

    def sequence(self) -> list[ElementaryMotion]:
        return [ElementaryMotion("hinge", a) for a in self.axes()]
