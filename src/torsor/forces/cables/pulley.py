"""Pulleys and points of the path of a cable, as they are given and as they are kept."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ...elements import quantity
from ...elements.lazy_attributes import storage_of
from ...errors import ModelError
from ...joints.base import Joint
from ...lie import se3


@dataclass(frozen=True, eq=False)
class Pulley:
    """A wheel that a cable or a belt runs over, or the drum that it is wound on.

    joint      the revolute joint of the wheel, which is its second body
    radius     to the middle of the rope                                                                             [m]
    winding    +1 where the rope, in the order of the path, runs anticlockwise about the joint's axis, −1 clockwise; None: the way
               that wraps less of the wheel (only between two others), and in a belt anticlockwise about the first axis
    friction   None: the rope does not slip; 0: it slides without friction and does not turn the wheel; μ: it slips where one
               tension exceeds e^(μ ϑ) times the other, ϑ the angle of wrap                                                  [-]
    turns      whole turns of the rope about the wheel, beyond the angle that the path shows
    """

    joint: Any
    radius: Any
    winding: int | None = None
    friction: float | None = None
    turns: int = 0


class Stop(NamedTuple):
    """A pulley or a point of a path, in numbers of the reference configuration.

    body      that carries the axis, or that the point belongs to;   wheel: that moves with the rope
    arm       from the centre of mass of `body`, in its axes                                                         [m]
    place     in the world                                                                                           [m]
    axis      of the joint in the world; None for a point
    """

    label: str
    body: Any
    wheel: Any
    arm: np.ndarray
    place: np.ndarray
    radius: float
    axis: Any = None
    joint: Any = None
    winding: int | None = None
    friction: float | None = None
    turns: int = 0

    @property
    def grips(self) -> bool:
        """True if the rope does not slide on it."""
        return self.joint is not None and self.friction is None

    @property
    def rubs(self) -> bool:
        """True for a pulley that the rope slips on against friction."""
        return self.friction is not None and self.friction > 0

    def kept(self) -> tuple:
        """The stop as an element keeps it: (body, arm) or the arguments of the pulley."""
        if self.joint is None:
            return (self.body, tuple(self.arm.tolist()))
        return (self.joint, self.radius, self.winding, self.friction, self.turns)


def stop_of(element: Any, item: Any, k: int) -> Stop:
    """The stop that a user describes by a `Pulley` or a point, or that an element has kept."""
    if isinstance(item, (tuple, list)) and item and isinstance(item[0], Joint):
        item = Pulley(*item)
    if isinstance(item, Pulley):
        return _pulley(element, item, f"pulley {k}")
    body, arm = _point(element, item)
    x, R = _numeric_pose(element, body)
    return Stop(f"point {k}", body, body, arm, x + R @ arm, 0.0)


def _pulley(element, item, label):
    owner, joint = element.owner, item.joint
    if not isinstance(joint, Joint) or joint.dof != 1 or not joint.angular[0]:
        raise ModelError(f"{owner}: {label} must turn on a revolute joint, got {quantity.show(joint)}")
    if element._home is not None and joint._home is not element._home:
        raise ModelError(f"{owner}: {label} turns on {joint.owner}, which is not in the model")
    radius = quantity.scalar(item.radius, "radius", owner)
    if not radius.is_constant() or not float(radius) > 0:
        raise ModelError(f"{owner}: the radius of {label} must be a positive number, got {quantity.show(item.radius)}")
    if item.winding not in (None, 1, -1):
        raise ModelError(f"{owner}: the winding of {label} must be 1 or -1, got {quantity.show(item.winding)}")
    if item.friction is not None and (not quantity.is_number(item.friction) or not float(item.friction) >= 0):
        raise ModelError(
            f"{owner}: the friction of {label} must be None or at least 0, got {quantity.show(item.friction)}"
        )
    if isinstance(item.turns, bool) or not isinstance(item.turns, (int, np.integer)) or item.turns < 0:
        raise ModelError(
            f"{owner}: the turns of {label} must be a whole number from 0, got {quantity.show(item.turns)}"
        )
    if joint.placed_numbers is None:
        raise ModelError(f"{owner}: {joint.owner} must be placed by numbers, its place depends on parameters")
    frame = joint.placed_numbers[0]
    x, R = _numeric_pose(element, joint.first)
    turn, arm = (quantity.numbers(part) for part in se3.split_pose(ca.DM(frame)))
    arm = arm.ravel()
    axis = R @ turn @ quantity.numbers(se3.split(joint.motion(ca.SX.zeros(1)))[0]).ravel()
    friction = None if item.friction is None else float(item.friction)
    return Stop(
        label, joint.first, joint.second, arm, x + R @ arm, float(radius), axis, joint, item.winding, friction, int(item.turns)
    )  # fmt: skip


def _point(element, item):
    """Body and arm of a point that is given by `body.point(…)`, a frame, numbers of the world, or as it was kept."""
    owner, home = element.owner, element._home
    refused = f"{owner}: path must consist of ts.Pulley(…) and points of bodies, body.point(…), or of the ground, got "
    if isinstance(item, (tuple, list)) and len(item) == 2 and hasattr(item[0], "reference"):
        body, arm = item[0], quantity.given(item[1], 3, 1, "path", owner)
        if quantity.is_number(arm) and body._home is home:
            return body, np.asarray(arm, float).ravel()
        raise ModelError(refused + quantity.show(item))
    if hasattr(item, "pose") and hasattr(item, "body"):
        pose = storage_of(item, "pose")
        if not quantity.is_number(pose):
            raise ModelError(refused + quantity.show(item))
        return item.body, quantity.numbers(se3.split_pose(ca.DM(np.asarray(pose, float)))[1]).ravel()
    given = quantity.vector(item, "path", owner)
    hosts = [body for body in (*home.bodies, *home.grounds) if ca.depends_on(given, body.position)]
    if given.is_constant():
        world = element.world if element.world is not None else home.ground
        x, R = _numeric_pose(element, world)
        return world, R.T @ (quantity.numbers(given).ravel() - x)
    if len(hosts) != 1:
        raise ModelError(refused + quantity.show(item))
    body = hosts[0]
    arm = ca.substitute([given], [ca.vertcat(body.position, ca.vec(body.rotation))], [_at_origin()])[0]
    if not arm.is_constant():
        raise ModelError(refused + quantity.show(item))
    found = quantity.numbers(arm).ravel()
    difference = ca.simplify(given - body.position - body.rotation @ ca.SX(found))
    random = np.random.default_rng(0).uniform(-1, 1, 12)
    rest = ca.Function("rest", [ca.vertcat(body.position, ca.vec(body.rotation))], [difference])(random)
    if not np.abs(rest.full()).max() < 1e-9 * (1 + np.abs(found).max()):
        raise ModelError(refused + quantity.show(item))
    return body, found


def _at_origin():
    return ca.densify(ca.vertcat(ca.SX.zeros(3), ca.vec(ca.SX.eye(3))))


def _numeric_pose(element, body):
    """Position and rotation of a body in the reference configuration, as arrays."""
    x, R = body.reference
    if not (quantity.is_number(x) and quantity.is_number(R)):
        raise ModelError(f"{element.owner}: the pose of {body.owner} in the reference configuration must be numbers")
    return np.asarray(x, float), np.asarray(R, float)
