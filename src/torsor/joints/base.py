"""What a constraint is, and what a joint is. A new one is one class in one file; see docs/extend.md.

A **constraint** keeps an expression of the bodies' poses at zero, g(x, R, t) = 0, or one of their velocities,
ψ(x, R, ẋ, ω, t) = 0, linear in ẋ and ω. It declares one of the two; everything else is derived from it.

A **joint** is a constraint between two bodies that also knows its free motions. It declares

    pose(q)        H, the pose of the second body's joint frame in the first's, from the joint coordinates
    motion(q)      S with V = S v, the twist of the second frame in its own axes
    coordinates(H) q, the inverse of pose
    residual(H)    the components of the relative pose that it keeps at zero

Both joint frames sit at `point`, parallel to the world, in the reference configuration, so that H = 1 and q = 0 there;
an axis has the same components in both. Frames given locally with `frames` replace `point`.
"""

from dataclasses import dataclass, field

import casadi as ca

from .. import quantity
from ..errors import ModelError
from ..lie import se3


def settle(element, **values):
    """Write what an element worked out about itself when it was added."""
    for name, value in values.items():
        object.__setattr__(element, name, value)
    return element


@dataclass(frozen=True, eq=False)
class Constraint:
    """Base of everything that takes freedom away."""

    kind = "constraint"

    name: str

    def position(self):
        """g, a column that is kept at zero, in signals of bodies and time; None for a velocity-level constraint."""
        return None

    def velocity(self):
        """ψ, a column linear in the velocities that is kept at zero; only where `position` is None."""
        return None

    def directions(self):
        """One short name per row, for messages and labels."""
        rows = self.position() if self.position() is not None else self.velocity()
        return [f"row {k}" for k in range(rows.shape[0])]

    def located(self):
        """The element with its world-frame data turned into body-fixed data; called once, when it is added."""
        return self

    @property
    def owner(self):
        return f"{self.key} {self.name!r}"


@dataclass(frozen=True, eq=False)
class Connection(Constraint):
    """A constraint between a frame of one body and a frame of another.

    point    where, in the world, in the reference configuration [m]
    frames   instead of `point`: a frame of the first and a frame of the second body (`body.frame(...)`)
    """

    anchored = False  # True: the first three rows are 0 = p, and are taken in world axes, where they are cheapest

    first: object
    second: object
    point: tuple | None = None
    frames: tuple | None = None
    placed: tuple | None = field(default=None, repr=False)

    def __post_init__(self):
        signal = lambda what, size: ca.SX.sym(f"{self.name}.{what}", size)
        settle(self, reaction_force=signal("reaction_force", 3), reaction_torque=signal("reaction_torque", 3))

    def located(self):
        if self.placed is not None:
            return self
        for body in (self.first, self.second):
            if not hasattr(body, "rotation"):
                raise ModelError(f"{self.owner}: {quantity.show(body)} is not a body; give bodies of the model")
        if self.first is self.second:
            raise ModelError(f"{self.owner}: connects body {self.first.name!r} with itself; give two different bodies")
        if self.frames is not None:
            a, b = self.frames
            if a.body is not self.first or b.body is not self.second:
                raise ModelError(f"{self.owner}: frames must belong to {self.first.name!r} and {self.second.name!r}")
            return settle(self, placed=(a.pose, b.pose))
        where = self.second.start_position if self.point is None else quantity.vector(self.point, "point", self.owner)
        world = se3.pose(ca.SX.eye(3), where)
        local = [
            se3.inverse(se3.pose(body.start_rotation, body.start_position)) @ world for body in (self.first, self.second)
        ]
        return settle(self, placed=tuple(ca.densify(x) for x in local))

    def ends(self):
        """World rotation and position of both joint frames: (R₁, p₁), (R₂, p₂)."""
        ends = []
        for body, local in zip((self.first, self.second), self.placed):
            R, p = se3.split_pose(local)
            ends.append((body.rotation @ R, body.position + body.rotation @ p))
        return ends

    def relative_pose(self):
        """H = (R₁ᵀ R₂, R₁ᵀ (p₂ − p₁)), the pose of the second frame in the first."""
        (R1, p1), (R2, p2) = self.ends()
        return se3.pose(R1.T @ R2, R1.T @ (p2 - p1))

    def relative_twist(self):
        """V of the second frame relative to the first, in axes and at the origin of the second."""
        (_, _), (R2, p2) = self.ends()
        a, b = self.first, self.second
        wa, wb = a.rotation @ a.angular_velocity, b.rotation @ b.angular_velocity
        linear = b.velocity + ca.cross(wb, p2 - b.position) - a.velocity - ca.cross(wa, p2 - a.position)
        return se3.twist(angular=R2.T @ (wb - wa), linear=R2.T @ linear)

    def residual(self, H):
        """The components of H that are kept at zero."""
        return None

    def position(self):
        rows = self.residual(self.relative_pose())
        if not self.anchored:
            return rows
        (_, p1), (_, p2) = self.ends()
        return ca.vertcat(p2 - p1, rows[3:])


@dataclass(frozen=True, eq=False)
class Joint(Connection):
    """A connection that knows its free motions.

    start        joint coordinates at the start, where they differ from the reference configuration
    start_rate   joint velocities at the start
    """

    kind = "joint"
    dof = 0
    angular = ()  # one flag per coordinate: True for an angle that may turn many times

    start: object = None
    start_rate: object = None

    def __post_init__(self):
        super().__post_init__()
        for what in ("coordinate", "rate", "turn"):
            settle(self, **{what: ca.SX.sym(f"{self.name}.{what}", self.dof)})

    def located(self):
        super().located()
        for what in ("start", "start_rate"):
            given = getattr(self, what)
            if given is not None:
                given = [given] if self.dof == 1 and not isinstance(given, (list, tuple, ca.SX)) else given
                settle(self, **{what: quantity.vector(given, what, self.owner, self.dof)})
        return self

    def pose(self, q):
        raise NotImplementedError

    def motion(self, q):
        raise NotImplementedError

    def coordinates(self, H):
        raise NotImplementedError

    def joint_coordinates(self):
        """q of the present poses; an angle is continued from its last value `turn`, so that turns are counted."""
        q = self.coordinates(self.relative_pose())
        full = 2 * ca.pi
        return ca.vertcat(
            *[
                q[k] + full * ca.floor((self.turn[k] - q[k]) / full + 0.5) if self.angular[k] else q[k]
                for k in range(self.dof)
            ]
        )

    def joint_rates(self):
        """v with V = S v, by least squares over the free motions."""
        S, V = self.motion(self.coordinates(self.relative_pose())), self.relative_twist()
        return ca.solve(S.T @ S, S.T @ V) if not (S.T @ S).is_eye() else S.T @ V

    def first_axis(self, what="axis"):
        """The named direction as a unit vector."""
        return quantity.unit(getattr(self, what), what, self.owner)
