"""Hinges and slides in any order with no mass between them, as one joint whose coordinates are their angles and displacements."""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..elements import quantity
from ..joints import Joint, alignment
from ..joints.alignment import no_turn, tilt
from ..joints.directions import X
from ..joints.elementary_motion import ElementaryMotion
from ..lie import se3, so3

DEPENDENT_BELOW = 1e-9  # singular value of directions of unit length below which they depend on each other


@dataclass(frozen=True, eq=False)
class HingeSlideSequence(Joint):
    """Elementary motions one after the other, from the first body to the second; at most three hinges and three slides.

        H(q) = T₁(q₁) … Tₙ(qₙ),   Tₖ = (exp(qₖ âₖ), cₖ − exp(qₖ âₖ) cₖ) or (1, qₖ aₖ)                    (1)
        V    = S v,   Sₖ = Ad⁻¹(Tₖ₊₁ … Tₙ) (aₖ, cₖ × aₖ) or (0, aₖ)                                     (2)
        0    = no rotation | tilt of a | a·R b − a·b | nothing        without, with 1, 2, 3 hinges      (3)
        0    = N·(p − p₀)                                                                               (4)

    aₖ, cₖ   axis of a hinge or slide, and a point of a hinge's axis from the joint's origin, in the reference configuration [-, m]
    p₀       translation with all slides at zero, from the angles of the hinges, which follow from R
    N        normals of the directions of the slides, as the hinges before them have turned them

    kinds    "hinge" or "slide" for each motion
    axes     aₖ, flat, three numbers for each
    points   cₖ, flat, three numbers for each
    """

    kinds: tuple = ("hinge",)
    axes: tuple = (0.0, 0.0, 1.0)
    points: tuple = (0.0, 0.0, 0.0)

    @property
    def dof(self):  # type: ignore[override]
        return len(self.kinds)

    @property
    def angular(self):  # type: ignore[override]
        several = (
            self.kinds.count("hinge") == 3
        )  # the second of three does not turn further than where it meets the others
        hinges = [k for k, kind in enumerate(self.kinds) if kind == "hinge"]
        return tuple(kind == "hinge" and not (several and k == hinges[1]) for k, kind in enumerate(self.kinds))

    def directions_of(self, kind):
        """Axes of all hinges or all slides, in their order."""
        return [self.axis_of(k) for k, one in enumerate(self.kinds) if one == kind]

    def axis_of(self, k):
        return quantity.unit(self.axes[3 * k : 3 * k + 3], "axes", self.owner)

    def point_of(self, k):
        return quantity.vector(self.points[3 * k : 3 * k + 3], "points", self.owner)

    def elementary(self, k, x):
        """Tₖ(x)."""
        a, c = self.axis_of(k), self.point_of(k)
        if self.kinds[k] == "slide":
            return se3.pose(ca.SX.eye(3), x * a)
        R = so3.rotation(a, x)
        return se3.pose(R, c - R @ c)

    def pose(self, q: ca.SX) -> ca.SX:
        H = ca.SX.eye(4)
        for k in range(self.dof):
            H = H @ self.elementary(k, q[k])  # (1)
        return ca.densify(H)

    def motion(self, q: ca.SX) -> ca.SX:
        after = ca.SX.eye(4)
        columns: list = [None] * self.dof
        for k in reversed(range(self.dof)):
            a, c = self.axis_of(k), self.point_of(k)
            hinge = self.kinds[k] == "hinge"
            screw = (
                se3.twist(angular=a, linear=ca.cross(c, a)) if hinge else se3.twist(angular=ca.SX.zeros(3), linear=a)
            )
            columns[k] = se3.Ad(se3.inverse(after)) @ screw  # (2)
            after = self.elementary(k, q[k]) @ after
        return ca.horzcat(*columns)

    def angles(self, R):
        """The angles of the hinges for a rotation, zero where R = 1."""
        axes = self.directions_of("hinge")
        if len(axes) == 0:
            return []
        if len(axes) == 1:
            return [alignment.about(R, axes[0])]
        if len(axes) == 2:
            a, b = axes
            return [angle_about(a, b, R @ b), angle_about(b, R.T @ a, a)]  # R b = A b,  Rᵀ a = Bᵀ a
        a, b, c = axes
        fixed = ca.dot(a, b) * ca.dot(b, c)  # a·R c = a·B c = fixed + cosine cos q₂ + sine sin q₂
        cosine, sine = ca.dot(a, c) - fixed, ca.dot(a, ca.cross(b, c))
        middle = ca.atan2(sine, cosine)
        x = (ca.dot(a, R @ c) - fixed) / ca.sqrt(cosine**2 + sine**2)
        turn = ca.atan2(ca.sqrt(ca.fmax(1 - x**2, 0)), x)
        second = middle - turn if float(middle) > 0 else middle + turn
        B = so3.rotation(b, second)
        return [angle_about(a, B @ c, R @ c), second, angle_about(c, R.T @ a, B.T @ a)]

    def slides(self, angles):
        """D, directions of the slides after the hinges before them have turned; their normals; and p₀."""
        left = list(angles)
        R, p, columns, normals = ca.SX.eye(3), ca.SX.zeros(3), [], list(ca.horzsplit(ca.SX.eye(3)))
        for k, kind in enumerate(self.kinds):
            if kind == "slide":
                columns.append(R @ self.axis_of(k))
                normals = [R @ n for n in alignment.normals(self.axis_of(k))]
                continue
            turn, shift = se3.split_pose(self.elementary(k, left.pop(0)))
            p = p + R @ shift
            R = R @ turn
        if len(columns) > 1:
            normals = [ca.cross(*columns)] if len(columns) == 2 else []
        return ca.horzcat(ca.SX(3, 0), *columns), normals, p

    def coordinates(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        angles = self.angles(R)
        D, _, start = self.slides(angles)
        shifts = ca.vertsplit(ca.solve(D.T @ D, D.T @ (p - start))) if D.shape[1] else []
        return ca.vertcat(*[(angles if kind == "hinge" else shifts).pop(0) for kind in self.kinds])

    def residual(self, H: ca.SX) -> ca.SX:
        R, p = se3.split_pose(H)
        axes = self.directions_of("hinge")
        _, normals, start = self.slides(self.angles(R))
        rows: list = []
        if not axes:
            rows.append(no_turn(R))
        elif len(axes) == 1:
            rows.append(tilt(R, axes[0]))
        elif len(axes) == 2:
            a, b = axes
            rows.append(ca.dot(a, R @ b) - ca.dot(a, b))  # (3)
        return ca.vertcat(*rows, *[ca.dot(n, p - start) for n in normals])  # (4)

    def directions(self) -> list[str]:
        hinges, slides = self.kinds.count("hinge"), self.kinds.count("slide")
        rotations = {0: [f"rotation about {x}" for x in X], 1: ["tilt", "second tilt"], 2: ["angle between the axes"]}
        shifts = {0: [f"translation along {x}" for x in X], 1: ["first offset", "second offset"], 2: ["offset"]}
        return [*rotations.get(hinges, []), *shifts.get(slides, [])]

    def sequence(self) -> list[ElementaryMotion]:
        return [ElementaryMotion(kind, self.axis_of(k), self.point_of(k)) for k, kind in enumerate(self.kinds)]


def angle_about(axis, u, w):
    """The angle about an axis that turns u to w, which have the same component along the axis."""
    return ca.atan2(ca.dot(axis, ca.cross(u, w)), ca.dot(u, w) - ca.dot(axis, u) * ca.dot(axis, w))


def sequence_arguments(motions):
    """Arguments of the joint for motions of a file, or None where it cannot express them: too many hinges or slides, or slides
    that depend on each other."""
    kinds = tuple(m.kind for m in motions)
    if not {*kinds} <= {"hinge", "slide"} or kinds.count("hinge") > 3 or kinds.count("slide") > 3:
        return None
    slides = np.array([m.axis for m in motions if m.kind == "slide"]).reshape(-1, 3)
    hinges = [m.axis for m in motions if m.kind == "hinge"]
    pairs = zip(hinges, hinges[1:])
    dependent = len(slides) and np.linalg.svd(slides, compute_uv=False).min() < DEPENDENT_BELOW
    if dependent or any(np.linalg.norm(np.cross(a, b)) < DEPENDENT_BELOW for a, b in pairs):
        return None
    if len(hinges) == 3 and abs(hinges[0] @ np.cross(hinges[1], hinges[2])) < DEPENDENT_BELOW:
        return None
    origin = motions[-1].point
    return {
        "point": origin,
        "kinds": kinds,
        "axes": tuple(float(x) for m in motions for x in m.axis),
        "points": tuple(float(x) for m in motions for x in m.point - origin),
    }
