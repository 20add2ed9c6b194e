"""A rubber mount, and gravity between bodies."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.argument_help import WORKED_OUT
from ..elements.element import REQUIRED, Posed, check_bodies, fill_in
from ..elements.placing import local_frames
from ..elements.quantity import Number, Vector
from ..errors import ModelError
from ..lie import se3, so3
from ..registry import register
from .base import Force

NEWTON = 6.6743e-11  # gravitational constant [m³/(kg s²)]


@register("bushing")
@dataclass(frozen=True, eq=False)
class Bushing(Force):
    """An elastic mount between two bodies: stiffness and damping in six directions about a rest pose.

        U = ½ xᵀ K x,   x = (p, log R)                                 (1)
        D = ½ uᵀ C u,   u = (ṗ, ω)                                     (2)

    p and R are the displacement and the rotation of the second frame relative to the first, in axes of the first, u their
    velocities. The rotation vector log R has no order of axes: the energy is the same for every way to the same pose, up to a
    rotation of half a turn.

    point       where, in the world, in the reference configuration, which is the rest pose                       [m]
    stiffness   K: six numbers along x, y, z and about x, y, z, or a symmetric 6x6 matrix                 [N/m, N m/rad]
    damping     C likewise                                                                          [N s/m, N m s/rad]
    """

    drawing = "bushing"
    variants = (
        {"stiffness": (30, 40, 50, 3, 4, 5), "damping": (3, 4, 5, 0.3, 0.4, 0.5)},
        {"stiffness": (np.eye(6) * 20 + 1).tolist(), "point": (0.5, 0.1, 0.2)},
    )
    first: Posed = REQUIRED
    second: Posed = REQUIRED
    stiffness: Any = REQUIRED
    damping: Any = 0.0
    point: Vector | None = None
    placed: Any = field(default=None, repr=False)

    def attach(self) -> Self:
        for what in ("stiffness", "damping"):
            matrix = self._matrix(what)
            if matrix.is_constant():
                numbers = quantity.numbers(matrix)
                least = np.linalg.eigvalsh((numbers + numbers.T) / 2).min()
                if not np.allclose(numbers, numbers.T) or least < -1e-12 * np.abs(numbers).max():
                    raise ModelError(
                        f"{self.owner}: {what} must be symmetric and not negative, got {quantity.show(getattr(self, what))}"
                    )
        if self.placed is not None:
            if np.shape(self.placed) != (2, 4, 4) and not isinstance(self.placed, tuple):
                raise ModelError(f"{self.owner}: placed is {WORKED_OUT}")
            return self
        where = self.second.reference[0]
        if self.point is not None:
            where = quantity.given(self.point, 3, 1, "point", self.owner)
        return fill_in(self, placed=local_frames((self.first, self.second), (where, where)))

    def _matrix(self, what):
        """K or C: of one number, six, or a whole matrix."""
        given = getattr(self, what)
        shape = quantity.shape_of(given)
        if shape == (6, 6):
            return quantity.expression(given, 6, 6, what, self.owner)
        if shape == (6, 1):
            return ca.diag(quantity.expression(given, 6, 1, what, self.owner))
        if shape == (1, 1):
            return quantity.scalar(given, what, self.owner) * ca.SX.eye(6)
        raise ModelError(f"{self.owner}: {what} must be six numbers or a 6x6 matrix, got {quantity.show(given)}")

    @property
    def own_code(self) -> bool:
        return True  # its stiffness may be one number, six or a matrix

    def drawn_at(self) -> list[tuple[Any, Any]]:
        return list(zip((self.first, self.second), self.placed))

    def drawn_details(self) -> dict[str, Any]:
        return {"ends": [{"body": body, "frame": frame} for body, frame in self.drawn_at()]}

    def _ends(self):
        """World rotation and position of both frames."""
        ends = []
        for body, local in zip((self.first, self.second), self.placed):
            R, p = se3.split_pose(ca.SX(local))
            ends.append((body.rotation @ R, body.position + body.rotation @ p))
        return ends

    def potential(self) -> ca.SX | None:
        (R1, p1), (R2, p2) = self._ends()
        x = ca.vertcat(R1.T @ (p2 - p1), so3.log(R1.T @ R2))
        return x.T @ self._matrix("stiffness") @ x / 2  # (1)

    def dissipation(self) -> ca.SX | None:
        C = self._matrix("damping")
        if ca.sparsify(C).nnz() == 0:
            return None
        (R1, p1), (_, p2) = self._ends()
        a, b = self.first, self.second
        wa, wb = a.rotation @ a.angular_velocity, b.rotation @ b.angular_velocity
        linear = b.velocity + ca.cross(wb, p2 - b.position) - a.velocity - ca.cross(wa, p2 - a.position)
        u = ca.vertcat(R1.T @ linear, R1.T @ (wb - wa))
        return u.T @ C @ u / 2  # (2)


@register("attraction")
@dataclass(frozen=True, eq=False)
class Attraction(Force):
    """Gravity between the centres of mass of bodies: planets, satellites, binaries.

        U = −G Σ mᵢ mⱼ/|xⱼ − xᵢ|                                       (1)

    bodies     two or more of them
    constant   G, by default Newton's                                                              [m³/(kg s²)]
    """

    drawing = "none"
    not_drawn = "it acts between all bodies that it names"
    variants = (lambda scene: {"bodies": (scene["first"], scene["second"]), "constant": 2.0},)
    bodies: Sequence[Any] = ()
    constant: Number = NEWTON

    def attach(self) -> Self:
        check_bodies(self)
        if len(self.bodies) < 2:
            raise ModelError(f"{self.owner}: bodies must be at least two, got {quantity.show(self.bodies)}")
        return self

    def potential(self) -> ca.SX | None:
        G = quantity.scalar(self.constant, "constant", self.owner)
        total = ca.SX(0)
        for i, a in enumerate(self.bodies):
            for b in self.bodies[i + 1 :]:
                total -= G * a.mass * b.mass / ca.sqrt(ca.sumsqr(b.position - a.position))  # (1)
        return total
