"""Pose, velocity and Jacobian of any frame that is fixed in a body: of a body, a site of a robot file, a point.

    H = (R R_f, x),     x = x_c + R (r − c)                                                                (1)
    V = (ẋ, R ω) = J v + …                                                                                (2)
    V̇ = J v̇ + J̇ v,     J̇ = ∂J/∂q q̇ + ∂J/∂t                                                                (3)
    Λ = (J M⁻¹ Jᵀ)⁻¹                                                                                       (4)

r, R_f   origin and rotation of the frame in the body's frame; c: the centre of mass in the body's frame [m, -]
V        velocity of the frame's origin and angular velocity, both in world axes or both in axes of the frame [m/s, rad/s]
J        Jacobian with respect to the velocities v; the prescribed velocity of a moving ground is not part of J v
Λ        operational-space inertia: V̇ = Λ⁻¹ W under forces W at the frame, at rest and without other forces
"""

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.quantity import time
from ..errors import OptionError
from ..formulations.algebra.factorisation import mass_solver
from ..formulations.graphs.run_kernels import eliminate_common_subexpressions
from ..lie import se3
from ..model.body import Body, Frame, Placed
from .joint_space_matrices import require_joint_coordinates

AXES = ("world", "frame")
ROWS = {"all": slice(0, 6), "position": slice(0, 3), "rotation": slice(3, 6)}


class BodyFrame(NamedTuple):
    """A frame fixed in a body: its position from the centre of mass and its rotation, both in the body's axes."""

    body: Any
    arm: np.ndarray
    rotation: np.ndarray


def body_frame(model, where) -> BodyFrame:
    """The frame that a name, a body, a frame of a body or a placement of a robot file stands for."""
    thing = model[where] if isinstance(where, str) and where in model else where
    if isinstance(thing, Frame):
        R, r = se3.split_pose(ca.DM(quantity.numbers(thing.pose)))
        return BodyFrame(thing.body, np.array(r).ravel(), np.array(R))
    if isinstance(thing, Placed):
        return BodyFrame(thing, -np.array(quantity.numbers(ca.SX(thing.center))).ravel(), np.eye(3))
    if hasattr(thing, "body") and hasattr(thing, "at") and isinstance(thing.body, str) and thing.body in model:
        frame = model[thing.body].frame(thing.at, thing.rotation)
        return body_frame(model, frame)
    bodies = [body.name for body in model.bodies]
    ports = [name for name, port in model.ports.items() if isinstance(port, (Frame, Body))]
    raise OptionError(
        f"unknown frame {quantity.show(where)}: give the name of a body or of a port that is a frame, or body.frame(…). "
        f"Known: {', '.join([*bodies, *ports])}."
    )


class FrameMotion:
    """Symbols of the motion of one frame in a formulation; all results are expressions of t, q, v, p and of `point`.

    point   a point in the axes of the frame, from its origin, which moves with the frame
    """

    def __init__(self, f, where: BodyFrame):
        self.f = f
        self.point = ca.SX.sym("point", 3)
        body, arm, R_f = where.body, ca.DM(where.arm), ca.DM(where.rotation)
        r = arm + R_f @ self.point
        x = body.position + body.rotation @ r
        velocity = body.velocity + body.rotation @ ca.cross(body.angular_velocity, r)
        angular = body.rotation @ body.angular_velocity
        R, x, velocity, angular = (
            f.to_state_symbols(f.substitution.of(ca.densify(e))) for e in (body.rotation @ R_f, x, velocity, angular)
        )
        self.R, self.x = R, x
        self.V = ca.vertcat(velocity, angular)

    def pose(self, axes):
        """H: (1)."""
        return se3.pose(self.R, self.x)

    def velocity(self, axes):
        """V: (2)."""
        return self.to_axes(self.V, axes)

    def jacobian(self, axes):
        """J of (2)."""
        return self.to_axes(ca.jacobian(self.V, self.f.v), axes)

    def jacobian_rate(self, axes):
        """J̇ of (3)."""
        return self.rate(self.jacobian(axes))

    def operational_inertia(self, rows, axes):
        """Λ of (4) column by column, then the smallest ratio of a pivot of Λ⁻¹ to its diagonal element, 0 where it is singular."""
        require_joint_coordinates(self.f)
        J = self.jacobian(axes)[ROWS[rows], :]
        inverse = ca.densify(J @ solve_columns(self.f.mass_matrix(), J.T))
        pivots, _, _ = ca.ldl(inverse, False)
        ratio = ca.mmin(pivots / (ca.diag(inverse) + (ca.diag(inverse) <= 0)))
        return ca.vertcat(ca.vec(solve_columns(inverse, ca.SX.eye(inverse.shape[0]))), ratio)

    def to_axes(self, x, axes):
        """Rows of linear and of angular components, in world axes, in the requested axes."""
        if axes == "world":
            return x
        return ca.vertcat(self.R.T @ x[:3, :], self.R.T @ x[3:, :])

    def rate(self, matrix):
        """d/dt of a matrix that depends on q and t."""
        return time_derivative(self.f, matrix)


def solve_columns(A, B):
    """A⁻¹ B for a symmetric positive definite A."""
    solve = mass_solver(A)
    return ca.horzcat(*[solve(column) for column in ca.horzsplit(B)])


def time_derivative(f, matrix):
    """∂X/∂q q̇ + ∂X/∂t of a matrix X(t, q)."""
    require_joint_coordinates(f)
    q_dot = ca.vertcat(*[link.rates for link in f.links])
    matrix = ca.densify(matrix)
    rate = ca.jtimes(ca.vec(matrix), f.q, q_dot) + ca.jacobian(ca.vec(matrix), time)
    return ca.reshape(rate, *matrix.shape)


def function(f, name, where, axes, rows=None):
    """The CasADi function of one quantity of a frame, by name."""
    motion = FrameMotion(f, body_frame(f.model, where))
    result = motion.operational_inertia(rows, axes) if rows else getattr(motion, name)(axes)
    symbols = {"t": time, "q": f.q, "v": f.v, "p": f.p, "point": motion.point}
    graph = ca.Function(name, [symbols[x] for x in QUANTITIES[name].split()], [ca.densify(ca.vec(result))])
    return eliminate_common_subexpressions(graph)


QUANTITIES = {  # inputs of the functions of a frame
    "pose": "t q p point",
    "velocity": "t q v p point",
    "jacobian": "t q p point",
    "jacobian_rate": "t q v p point",
    "operational_inertia": "t q p point",
}
