"""The base classes of connections of two bodies and of joints. A new one is one class in one file; see docs/extend.md.

A **joint** is a constraint between two bodies that also knows its free motions. It declares

    pose(q)        H, the pose of the second body's joint frame in the first's, from the joint coordinates
    motion(q)      S with V = S v, the twist of the second frame in its own axes
    coordinates(H) q, the inverse of pose
    residual(H)    the components of the relative pose that it keeps at zero

Both joint frames sit at `point`, parallel to the world, in the reference configuration, so that H = 1 and q = 0 there;
an axis has the same components in both. Frames given locally with `frames` replace `point`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from types import SimpleNamespace
from typing import Any, ClassVar, Self, cast

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.element import CONSTANT, Posed, Statement, fill_in, frame_poses
from ..elements.lazy_attributes import Frames, Signal, Start, storage_name, storage_of
from ..elements.placing import are_poses, local_frames
from ..elements.quantity import Number, Vector, time
from ..errors import ModelError
from ..lie import se3
from . import joint_keywords
from .alignment import is_strict
from .constraint import Constraint, Equations, Trace, in_world
from .elementary_motion import ElementaryMotion

PROPERTIES = ("armature", "limits", "spring", "damping", "friction")
NOT_IN_EQUATIONS = {"name", "first", "second", "point", "frames", "placed", "start", "start_rate", "cut", *PROPERTIES}
MOTIONS = (("position", (3, 1)), ("rotation", (3, 3)), ("velocity", (3, 1)), ("angular_velocity", (3, 1)))
_TRACES: dict = {}
_CONSTANTS: dict = {}
_START: Any = Start


@dataclass(frozen=True, eq=False)
class Connection(Constraint):
    """A constraint between a frame of one body and a frame of another.

    point    where, in the world, in the reference configuration [m]
    frames   instead of `point`: a frame of the first and a frame of the second body (`body.frame(...)`)
    """

    connects_bodies: ClassVar[bool] = True
    anchored = False  # True: the first three rows are 0 = p, in world axes (`in_world`), where they are cheapest

    reaction_force = Signal("reaction", 3)
    reaction_torque = Signal("reaction", 3)

    first: Posed
    second: Posed
    point: Vector | None = None
    frames: Sequence[Any] | None = None
    placed: Any = field(default=Frames(), repr=False)
    _placed: ClassVar[Any]

    def attach(self) -> Self:
        if self._placed is not None:
            if self.placed_numbers is not None and not are_poses(self._placed):
                raise ModelError(f"{self.owner}: its place must be two poses, got {quantity.show(self._placed)}")
            return self
        if self.frames is not None:
            if self.point is not None:
                raise ModelError(f"{self.owner}: give `point` or `frames`, not both")
            return fill_in(self, placed=frame_poses(self))
        where = self.second.reference[0]
        if self.point is not None:
            where = quantity.given(self.point, 3, 1, "point", self.owner)
        return fill_in(self, placed=local_frames((self.first, self.second), (where, where)))

    @property
    def placed_numbers(self) -> np.ndarray | None:
        """The two frames as numbers, an array (2, 4, 4); None where a parameter is in them."""
        frames = self._placed
        return frames if isinstance(frames, np.ndarray) and frames.shape == (2, 4, 4) else None

    def trace(self) -> Trace | None:
        """The equations as one function of the motions of two bodies and of the two frames.

        All elements with the same constants share it: a chain of a thousand equal hinges is traced once. None if a field is
        not constant, if the equations contain more than motions and frames, or in its strict form."""
        if is_strict():
            return None
        if "_shared_data" not in vars(self):
            fill_in(self, _shared_data=self._shared_trace())
        return vars(self)["_shared_data"]

    def shared_data(self) -> Trace | None:
        return self.trace()

    def _shared_trace(self):
        try:
            key = (type(self), *[quantity.key(getattr(self, name)) for name in self._constants()])
        except TypeError:
            return None
        if key not in _TRACES:
            try:
                _TRACES[key] = self._trace()
            except (AttributeError, RuntimeError):
                _TRACES[key] = None
        return _TRACES[key]

    def _constants(self):
        """Names of the fields that its equations are made from."""
        cls = type(self)
        if cls not in _CONSTANTS:
            _CONSTANTS[cls] = [f.name for f in fields(cls) if f.name not in NOT_IN_EQUATIONS]
        return _CONSTANTS[cls]

    def _trace(self):
        ends = [SimpleNamespace(**{k: ca.SX.sym(k, *shape) for k, shape in MOTIONS}) for _ in range(2)]
        frames = tuple(ca.SX.sym("frame", 3, 4) for _ in range(2))
        whole = tuple(ca.vertcat(f, ca.SX([[0, 0, 0, 1]])) for f in frames)
        twin: Any = replace(self, first=cast(Any, ends[0]), second=cast(Any, ends[1]), placed=whole)
        turn = ca.SX.sym("turn", self.dof)  # a name that does not tell which element was traced first
        if self.has_coordinates:
            fill_in(twin, turn=turn)
        stated = twin._own_equations()
        rows: Any = stated.velocity if stated.position is None else stated.position
        results = [rows, *(ca.SX(0, 1) if x is None else x for x in (stated.coordinates, stated.rates))]
        inputs = [getattr(end, k) for end in ends for k, _ in MOTIONS]
        function = ca.Function("equations", [*inputs, *frames, turn, time], results)
        return Trace(function, stated.position is not None, stated.directions, _sound(stated, ends))

    def equations(self) -> Equations:
        trace = self.trace()
        if trace is None:
            return self._own_equations()
        bodies = [getattr(b, k) for b in (self.first, self.second) for k, _ in MOTIONS]
        turn = self.turn
        rows, coordinates, rates = trace.function(*bodies, *(x[:3, :] for x in self.placed), turn, time)
        if self.anchored:
            rows = ca.vertcat(in_world(self, rows[:3]), rows[3:])
        g, psi = (rows, None) if trace.holonomic else (None, rows)
        return Equations(g, psi, trace.directions, coordinates, rates)

    def _own_equations(self):
        return Constraint.equations(self)

    def statements(self) -> list[Statement]:
        if self._has_sound_trace():
            return []
        return [Statement("its place", x, CONSTANT) for x in self.placed] + super().statements()

    def _has_sound_trace(self):
        """True if its equations are those of all of its kind, which are sound, with numbers in them; a particle has no
        orientation that they could ask for."""
        if self.placed_numbers is None:
            return False
        trace = self.trace()
        return (
            trace is not None
            and trace.sound
            and not any(getattr(b, "particle", False) for b in (self.first, self.second))
        )

    def ends(self) -> list[tuple[ca.SX, ca.SX]]:
        """World rotation and position of both joint frames: (R₁, p₁), (R₂, p₂)."""
        ends = []
        for body, local in zip((self.first, self.second), self.placed):
            R, p = se3.split_pose(local)
            ends.append((body.rotation @ R, body.position + body.rotation @ p))
        return ends

    def relative_pose(self) -> ca.SX:
        """H = (R₁ᵀ R₂, R₁ᵀ (p₂ − p₁)), the pose of the second frame in the first."""
        (R1, p1), (R2, p2) = self.ends()
        return se3.pose(R1.T @ R2, R1.T @ (p2 - p1))

    def relative_twist(self) -> ca.SX:
        """V of the second frame relative to the first, in axes and at the origin of the second."""
        (_, _), (R2, p2) = self.ends()
        a, b = self.first, self.second
        wa, wb = a.rotation @ a.angular_velocity, b.rotation @ b.angular_velocity
        linear = b.velocity + ca.cross(wb, p2 - b.position) - a.velocity - ca.cross(wa, p2 - a.position)
        return se3.twist(angular=R2.T @ (wb - wa), linear=R2.T @ linear)

    def drawn_at(self) -> list[tuple[Any, Any]]:
        return list(zip((self.first, self.second), storage_of(self, "placed")))

    def residual(self, H: ca.SX) -> ca.SX | None:
        """The components of H that are kept at zero."""
        return None

    def position(self) -> ca.SX | None:
        rows = self.residual(self.relative_pose())
        if not self.anchored or rows is None:
            return rows
        (_, p1), (_, p2) = self.ends()
        return ca.vertcat(in_world(self, p2 - p1), rows[3:])


@dataclass(frozen=True, eq=False)
class Joint(Connection):
    """A connection that knows its free motions.

    start        joint coordinates at the start, where they differ from the reference configuration
    start_rate   joint velocities at the start
    cut          for joint coordinates: True, it closes a loop; False, it is in the spanning tree; None, that is chosen
    armature     inertia along each coordinate that turns or slides with it and is no part of a body: that of a rotor times its
                 ratio squared; a number, or one for each coordinate                                          [kg m² or kg]
    limits       stops (lower, upper), None for none on a side; a list of pairs where it has several coordinates   [rad or m]
    spring       stiffness of a spring that is at rest where q = 0, or a function of q: the torque or force against it
    damping      of a linear damper, or a function of the rate: the torque or force against it
    friction     torque or force of dry friction                                                              [N m or N]
    """

    kind: ClassVar[str] = "joint"
    key: ClassVar[str] = "joint"
    coordinate = Signal("pose", lambda joint: joint.dof)
    rate = Signal("velocity", lambda joint: joint.dof)
    turn = Signal("pose", lambda joint: joint.dof)
    momentum = Signal("velocity", lambda joint: joint.dof)  # conjugate to its rate
    has_coordinates: ClassVar[bool] = True
    forms_group: ClassVar[bool] = False  # True: its motions of several coordinates are a subgroup of SE(3)
    axial: ClassVar[bool] = False  # True: its motion follows from its axis, whatever lies across it

    start: Number | Vector | None = _START()
    start_rate: Number | Vector | None = _START()
    cut: Any = field(default=None, kw_only=True)
    armature: Any = field(default=None, kw_only=True)
    limits: Any = field(default=None, kw_only=True)
    spring: Any = field(default=None, kw_only=True)
    damping: Any = field(default=None, kw_only=True)
    friction: Any = field(default=None, kw_only=True)

    def attach(self) -> Self:
        super().attach()
        quantity.check_true_false_or_none(self.cut, "cut", self.owner)
        for what in ("start", "start_rate"):
            given = storage_of(self, what)
            if given is not None:
                given = [given] if self.dof == 1 and not isinstance(given, (list, tuple, ca.SX)) else given
                found = quantity.given(given, self.dof, 1, what, self.owner)
                found = np.atleast_1d(found) if quantity.is_number(found) else found
                fill_in(self, **{what: quantity.constant(found) if storage_name(type(self), what) == what else found})
        if len(self.angular) != self.dof:
            raise ModelError(f"{self.owner}: `angular` needs one flag for each of its {self.dof} coordinates")
        if storage_of(self, "start") is not None:
            quantity.refuse_far_angles(storage_of(self, "start"), self.angular, "start", self.owner)
        return self

    def companions(self) -> list[Any]:
        return joint_keywords.companions(self)

    def statements(self) -> list[Statement]:
        starts = [(what, storage_of(self, what)) for what in ("start", "start_rate")]
        found = [Statement(what, x, CONSTANT) for what, x in starts if not quantity.is_number(x)]
        if (armature := joint_keywords.check_armature(self)) is not None:
            found.append(Statement("armature", armature, CONSTANT))
        if self._has_sound_trace():
            return found
        found = super().statements() + found
        if self.trace() is None:
            q = ca.SX.zeros(self.dof)
            found.append(Statement("its geometry", ca.vertcat(ca.vec(self.pose(q)), ca.vec(self.motion(q))), CONSTANT))
        return found

    def drawn_as(self) -> str:
        """What it declares, else what fits its free motions where q = 0."""
        return self.drawing or self._motion_picture()[0]

    def drawn_along(self) -> Any:
        return super().drawn_along() if self.drawing else self._motion_picture()[1]

    def drawn_member(self, index: int = 0) -> dict[str, Any]:
        """What a viewer needs to draw something that acts on a coordinate: bodies, frames, axis, whether it is an angle."""
        bodies, frames = zip(*self.drawn_at())
        return {"ends": bodies, "frames": frames, "along": self.drawn_along(), "turns": bool(self.angular[index])}

    def _motion_picture(self):
        """The word for what has these free motions, and their axis."""
        at = {} if self._home is None else self._home.values()
        angular, linear = (quantity.numbers(x, at) for x in se3.split(self.motion(ca.SX.zeros(self.dof))))
        if not (np.isfinite(angular).all() and np.isfinite(linear).all()):
            return "other", None
        turns, slides = np.linalg.matrix_rank(angular, 1e-6), np.linalg.matrix_rank(linear, 1e-6)
        axis = lambda S: S[:, np.argmax(np.abs(S).sum(axis=0))]
        if self.dof == 1 and turns:
            return ("screw" if slides else "hinge"), axis(angular)
        if self.dof == 1:
            return "slider", axis(linear)
        known = {
            (3, 0): "ball",
            (3, 3): "free",
            (2, 0): "universal",
            (1, 2): "plane",
            (0, 2): "plane",
            (1, 1): "cylinder",
        }
        return known.get((int(turns), int(slides)), "other"), axis(angular) if turns else None

    def _own_equations(self):
        stated = Constraint.equations(self)
        return stated._replace(coordinates=self.joint_coordinates(), rates=self.joint_rates())

    def sequence(self) -> list[ElementaryMotion] | None:
        """The joint as elementary motions one after the other, H(q) = T₁(q₁) … Tₙ(qₙ) with its coordinates in that order, for files
        of other programs; None where it is no such sequence."""
        return None

    def pose(self, q: ca.SX) -> ca.SX:
        raise NotImplementedError

    def motion(self, q: ca.SX) -> ca.SX:
        raise NotImplementedError

    def coordinates(self, H: ca.SX) -> ca.SX:
        raise NotImplementedError

    def joint_coordinates(self) -> ca.SX:
        """q of the present poses; an angle is continued from its last value `turn`, so that turns are counted."""
        q = self.coordinates(self.relative_pose())
        counted = q + 2 * ca.pi * ca.floor((self.turn - q) / (2 * ca.pi) + 0.5)
        return ca.vertcat(*[counted[k] if self.angular[k] else q[k] for k in range(self.dof)])

    def joint_rates(self) -> ca.SX:
        """v with V = S v: Tᵀ S v = Tᵀ V, where T has the free motions, of one that turns the rotation alone; and v = q̇ where
        several turn about axes that do not meet, whose rotations may be alike.

        What acts along a coordinate acts along T: on an angle it is a torque, in whatever unit lengths are.
        """
        H, V = self.relative_pose(), self.relative_twist()
        angular, linear = se3.split(S := self.motion(self.coordinates(H)))
        turning = [k for k in range(self.dof) if not angular[:, k].is_zero()]
        if len(turning) > 1 and not linear[:, turning].is_zero() and not self.quasi:
            at = ca.SX.sym("H", 4, 4)
            return ca.substitute(ca.jtimes(self.coordinates(at), at, H @ se3.hat(V)), at, H)
        if len(turning) == 1:
            linear[:, turning] = 0
        T = se3.twist(angular=angular, linear=linear)
        return ca.solve(T.T @ S, T.T @ V) if not (T.T @ S).is_eye() else T.T @ V

    def first_axis(self, what: str = "axis") -> ca.SX:
        """The named direction as a unit vector."""
        return quantity.unit(getattr(self, what), what, self.owner)


def _sound(stated, ends):
    """True if the equations of a trace may be those of any element of its kind; where not, `add` raises an error."""
    holonomic = stated.position is not None
    rows: Any = stated.position if holonomic else stated.velocity
    if not isinstance(rows, ca.SX) or rows.shape != (len(stated.directions), 1) or not quantity.finite(rows):
        return False
    velocities = ca.vertcat(*[x for end in ends for x in (end.velocity, end.angular_velocity)])
    motion = ca.vertcat(velocities, *[x for end in ends for x in (end.position, ca.vec(end.rotation))])
    moving = all(ca.depends_on(rows[k], motion) for k in range(rows.shape[0]))
    return moving and not (holonomic and ca.depends_on(rows, velocities))


def existing_coordinate(element, which="joint", place="index"):
    """Refuse the `index` of a coordinate that the `joint` of an element does not have."""
    joint, index = getattr(element, which), getattr(element, place)
    if not (isinstance(index, (int, np.integer)) and not isinstance(index, bool) and 0 <= index < joint.dof):
        allowed = f"{place} must be 0 to {joint.dof - 1}" if joint.dof else "there is none to choose"
        raise ModelError(f"{element.owner}: joint {joint.name!r} has {joint.dof} coordinates, {allowed}, got {index!r}")
