"""A point or a sphere on one side of a plane."""

from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca

from ..elements import quantity
from ..elements.element import fill_in
from ..elements.quantity import Axis, Number, Vector
from ..errors import ModelError
from ..joints.alignment import normals
from ..joints.base import Connection
from ..joints.constraint import Trace
from ..joints.directions import direction
from ..lie import se3
from ..registry import register
from .elementary import on_plane
from .unilateral import Unilateral


@register("contact")
@dataclass(frozen=True, eq=False)
class Contact(Unilateral, Connection):
    """A point of the second body, or a sphere about it, stays on one side of a plane of the first.

        0 ≤ n·p − r,       reaction on the second body: λ n, λ ≥ 0     (1)

    point    of the second body, or centre of the sphere, in the world, in the reference configuration               [m]
    normal   n, outward from the plane, fixed in the first body                                                      [-]
    radius   r of the sphere about the point; 0: the point itself                                                    [m]
    plane    a point of the plane in the reference configuration; None: they touch there (with `frames`: the origin of
             the first frame)                                                                                        [m]

    Aslanov, Kruglov and Yuditsev, sec. 5 [aslanov2011].
    """

    drawing, drawn_axis = "contact", "normal"
    variants = ({}, {"normal": (1, -2, 0.5), "restitution": 0.3}, {"radius": 0.1, "plane": (0, 0, -0.4)})
    normal: Axis = (0, 0, 1)
    radius: Number = 0.0
    plane: Vector | None = None
    height: Any = field(default=None, repr=False)

    def attach(self) -> Self:
        n = quantity.unit(self.normal, "normal", self.owner)
        r = quantity.scalar(self.radius, "radius", self.owner)
        if r.is_constant() and float(r) < 0:
            raise ModelError(f"{self.owner}: radius must not be negative, got {quantity.show(self.radius)}")
        if self.height is not None:  # worked out before, where it was described
            return super().attach()
        if self.plane is None:
            fill_in(self, height=ca.SX(0) if self.frames is None else -r)
            return super().attach()
        if self.frames is not None:
            raise ModelError(f"{self.owner}: give `plane` or `frames`, not both")
        super().attach()
        at = self.second.start_position if self.point is None else quantity.vector(self.point, "point", self.owner)
        fill_in(self, height=ca.dot(n, at - quantity.vector(self.plane, "plane", self.owner)) - r)
        return self

    def drawn_at(self) -> list[tuple[Any, Any]]:
        """The plane, and the centre of the sphere."""
        (first, frame), second = super().drawn_at()
        below = quantity.scalar(self.height, "height", self.owner) + quantity.scalar(self.radius, "radius", self.owner)
        shift = se3.pose(ca.SX.eye(3), -below * quantity.unit(self.normal, "normal", self.owner))
        return [(first, quantity.numbers_or(quantity.constant(frame) @ shift)), second]

    def gaps(self) -> list[ca.SX]:
        return [on_plane(self.relative_pose(), quantity.unit(self.normal, "normal", self.owner)) + self.height]

    def trace(self) -> Trace | None:
        return None if self.plane is not None or self.frames is not None else super().trace()

    def directions(self) -> list[str]:
        return [f"translation along {direction(quantity.unit(self.normal, 'normal', self.owner))}"]

    def violation(self, side: str, verb: str, depth: float) -> str:
        return f"{self.second.owner} {verb} {depth:.3g} m below the plane of {self.owner}"

    def sliding(self) -> ca.SX:
        """Velocity of the touching point along two directions of the plane."""
        (R1, p1), (_, p2) = self.ends()
        a, b = self.first, self.second
        n = R1 @ quantity.unit(self.normal, "normal", self.owner)
        touching = p2 - quantity.scalar(self.radius, "radius", self.owner) * n
        wa, wb = a.rotation @ a.angular_velocity, b.rotation @ b.angular_velocity
        relative = b.velocity + ca.cross(wb, touching - b.position) - a.velocity - ca.cross(wa, touching - a.position)
        along = normals(quantity.unit(self.normal, "normal", self.owner))
        return ca.vertcat(*[ca.dot(tangent, R1.T @ relative) for tangent in along])

    @property
    def sliding_parts(self) -> int:
        return 2

    def sliding_velocity(self) -> ca.SX:
        return self.sliding()
