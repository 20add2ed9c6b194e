"""Bodies and grounds: what has a pose."""

from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..elements import inertia as inertias
from ..elements import quantity
from ..elements.assignments import refuse_any
from ..elements.element import PARTICLE_ORIENTATION, Owned
from ..elements.lazy_attributes import Quantity, Signal
from ..elements.placing import EYE, ZERO, diagonal, pose, product, total
from ..elements.quantity import Axis, Number, Rotation, Vector
from ..elements.shapes import shapes_of
from ..errors import ModelError
from ..lie import so3

MADE_OF = {  # what a body is made of, and where it keeps it
    "mass": "_mass", "inertia": "_inertia", "at": "_start_position", "rotation": "_start_rotation",
    "velocity": "_start_velocity", "angular_velocity": "_start_angular_velocity",
}  # fmt: skip


class Numbers(NamedTuple):
    """A body that is made of numbers: mass, inertia about the centre of mass (0 of a particle), and where it starts."""

    mass: float
    inertia: np.ndarray
    position: np.ndarray
    rotation: np.ndarray


class Placed(Owned):
    """Something with a pose, and the signals that every formulation fills in.

    position x [m], rotation R [-]            of the frame at the centre of mass, in the world
    velocity ẋ [m/s], angular_velocity ω [rad/s]    world axes, body axes:  Ṙ = R ω~
    """

    position = Signal("pose", 3)
    rotation = Signal("pose", 3, 3, particle_kind=PARTICLE_ORIENTATION)
    velocity = Signal("velocity", 3)
    angular_velocity = Signal("velocity", 3, particle_kind=PARTICLE_ORIENTATION)
    start_position = Quantity()
    start_rotation = Quantity()
    shape: Any = None
    _start_position: Any
    _start_rotation: Any
    center = ZERO

    def __init__(self, name: str):
        self.name = name

    @property
    def reference(self) -> tuple[Any, Any]:
        """Position and rotation in the reference configuration: numbers, where they are made of them, or expressions."""
        return self._start_position, self._start_rotation

    @property
    def symbols(self) -> list[ca.SX]:
        return [self.position, ca.vec(self.rotation), self.velocity, self.angular_velocity]

    def point(self, local: Vector = (0, 0, 0)) -> ca.SX:
        """Signal: world position of a point given in the body's own axes, from the origin of its frame."""
        return self.position + self.rotation @ self._arm(local)

    def velocity_of(self, local: Vector = (0, 0, 0)) -> ca.SX:
        """Signal: world velocity of a point given in the body's own axes."""
        return self.velocity + self.rotation @ ca.cross(self.angular_velocity, self._arm(local))

    def direction(self, local: Axis) -> ca.SX:
        """Signal: world components of a direction given in the body's own axes."""
        return self.rotation @ quantity.axis(local, "direction", self.name)

    def frame(self, at: Vector = (0, 0, 0), rotation: Rotation | None = None) -> "Frame":
        """A frame fixed in this body, given in its own axes, for joints that are described locally."""
        R = EYE if rotation is None else quantity.orientation(rotation, "frame rotation", self.name)
        return Frame(self, pose(R, quantity.given(at, 3, 1, "point", self.name) - self.center))

    def _arm(self, local):
        return quantity.vector(local, "point", self.name) - self.center

    def _arguments(self):
        return list(signature(type(self)).parameters)

    def __repr__(self):
        return f"<{type(self).__name__} {self.name!r}>"


class Frame:
    """A frame fixed in a body: `pose` is its 4x4 pose from the centre of mass, in body axes."""

    pose = Quantity()
    body: Any
    _pose: Any
    _expressions: dict | None = None

    def __init__(self, body, pose):
        vars(self)["body"] = body
        object.__setattr__(self, "pose", pose)

    __setattr__ = __delattr__ = refuse_any("make another one with body.frame(at=…, rotation=…)")

    def __repr__(self):
        return f"<Frame of {self.body.name!r}>"


class Ground(Placed):
    """A body that is held, or moved as a given function of time.

    `at` and `rotation` place it in the world; both may be expressions of time, x(t) and R(t). Points and axes of joints
    that are attached to it are given for the reference configuration, where t = 0. `shape` is how a viewer draws it.
    """

    def __init__(self, name: str, at: Vector = (0, 0, 0), rotation: Rotation | None = None, shape: Any = None):
        super().__init__(name)
        self.shape = shapes_of(shape, self.owner)
        self.path = (
            quantity.given(at, 3, 1, "at", self.owner),
            EYE if rotation is None else quantity.orientation(rotation, "rotation", self.owner),
        )

    @property
    def owner(self) -> str:
        return f"ground {self.name!r}"

    @property
    def path(self) -> tuple[ca.SX, ...]:
        """x(t), R(t)."""
        return self._path or (self.start_position, self.start_rotation)

    @path.setter
    def path(self, path):
        fixed = all(quantity.is_number(x) for x in path)
        moving = () if fixed else tuple(ca.densify(quantity.constant(x)) for x in path)
        start = path if fixed else (quantity.numbers_or(ca.substitute(x, quantity.time, 0)) for x in moving)
        self._path, (self.start_position, self.start_rotation) = moving, start
        _, R = self.reference
        self.turned = not (quantity.is_number(R) and np.array_equal(R, EYE))

    @property
    def is_fixed(self) -> bool:
        """True if it is placed by numbers and never moves."""
        return not self._path

    def motion(self) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Pose and velocity as functions of time: x(t), R(t), ẋ, ω with ω~ = Rᵀ Ṙ."""
        (x, R), t = self.path, quantity.time
        rate = ca.reshape(ca.jacobian(ca.vec(R), t), 3, 3)
        return x, R, ca.densify(ca.jacobian(x, t)), ca.densify(so3.vee(R.T @ rate))

    @property
    def moves(self) -> bool:
        return not self.is_fixed and bool(ca.depends_on(ca.vertcat(*(ca.vec(x) for x in self.path)), quantity.time))


class Body(Placed):
    """A rigid body: mass, inertia about the centre of mass in body axes, and where it starts.

    at                start and reference position of the body's frame, which sits at the centre of mass unless
                      `inertia` is a composed one whose centre is not the origin [m]
    rotation          start and reference orientation: matrix, quaternion (scalar first) or rotation vector
    velocity          of the centre of mass, world axes [m/s]; None: whatever the constraints leave, else at rest
    angular_velocity  body axes [rad/s]; None: likewise
    shape             how a viewer draws it, see `ts.shapes`: one shape or a list of them, with their poses in the body's frame;
                      None: the shape that `inertia` was calculated for, or one that the viewer chooses; no influence on the motion

    An inertia of exactly 0 makes a particle: it has a position and no orientation.
    """

    acceleration = Signal("acceleration", 3)
    angular_acceleration = Signal("acceleration", 3)
    mass, inertia = Quantity(), Quantity()
    start_velocity = Quantity()
    start_angular_velocity = Quantity()
    _mass: Any
    _inertia: Any

    def __init__(
        self,
        name: str,
        mass: Number | None = None,
        inertia: Any = None,
        at: Vector = (0, 0, 0),
        rotation: Rotation | None = None,
        velocity: Vector | None = None,
        angular_velocity: Vector | None = None,
        shape: Any = None,
    ):
        put = partial(object.__setattr__, self)  # it belongs to no model yet
        put("name", name)
        owner = self.owner
        put("shape", shapes_of(shape, owner))
        if isinstance(inertia, inertias.Inertia):
            self._agree(mass, inertia)
            put("center", inertia.center)
            if shape is None and inertia.outline:
                put("shape", inertia.outline)
            mass, inertia = inertia.mass, inertia.tensor
        if mass is None or inertia is None:
            missing = "mass" if mass is None else "inertia"
            raise ModelError(
                f"{owner}: {missing} is missing: give mass and inertia (3 principal moments, a 3x3 matrix, 0 for a "
                "particle), or an inertia of ts.inertia, which carries its mass"
            )
        put("mass", quantity.given(mass, 1, 1, "mass", owner))
        put("inertia", self._tensor(inertia, owner))
        self.check()
        R = EYE if rotation is None else quantity.orientation(rotation, "rotation", owner)
        put("start_rotation", R)
        put("start_position", total(quantity.given(at, 3, 1, "at", owner), product(R, self.center)))
        v, w = velocity, angular_velocity
        put("start_velocity", None if v is None else quantity.given(v, 3, 1, "velocity", owner))
        put(
            "start_angular_velocity",
            None if w is None else quantity.given(w, 3, 1, "angular_velocity", owner),
        )
        if self.particle and angular_velocity is not None:
            raise ModelError(f"{owner}: a particle (inertia 0) has no angular velocity, got {angular_velocity!r}")

    @property
    def owner(self) -> str:
        return f"body {self.name!r}"

    def _agree(self, mass, inertia):
        """Refuse a mass that is not that of the inertia."""
        same = None if mass is None else quantity.given(mass, 1, 1, "mass", self.owner)
        if same is not None and not (quantity.is_number(same) and abs(same - inertia.mass) <= 1e-9 * inertia.mass):
            raise ModelError(f"{self.owner}: mass {mass!r} differs from the mass of its inertia, {inertia.mass!r}")

    @staticmethod
    def _tensor(given, owner):
        """J as a matrix, None for a particle."""
        if isinstance(given, (int, float)) and given == 0:
            return None
        if quantity.shape_of(given) == (3, 1):
            J = quantity.given(given, 3, 1, "inertia", owner)
            J = diagonal(J) if quantity.is_number(J) else ca.densify(ca.diag(J))
        else:
            J = quantity.given(given, 3, 3, "inertia (3 principal moments or a 3x3 matrix, 0 for a particle)", owner)
        return None if quantity.is_number(J) and not np.count_nonzero(J) else J

    @property
    def particle(self) -> bool:
        """True if it has a position and no orientation."""
        return self._inertia is None

    @property
    def numbers(self) -> Numbers | None:
        """Mass, inertia, position and rotation as numbers; None where a parameter is in one of them."""
        J = np.zeros((3, 3)) if self.particle else self._inertia
        found = Numbers(self._mass, J, *self.reference)
        return found if all(quantity.is_number(x) for x in found) else None

    @property
    def weights(self) -> list[ca.SX]:
        """Mass and, but for a particle, inertia."""
        return [self.mass] if self.particle else [self.mass, self.inertia]

    @property
    def has_numeric_inertia(self) -> bool:
        """True if mass and inertia are numbers, and not expressions of parameters."""
        return quantity.is_number(self._mass) and quantity.is_number(self._inertia)

    def check(self, numbers: np.ndarray | None = None) -> None:
        """Refuse a mass or an inertia that no body has; numbers: the weights with the parameters of a run, column by column."""
        if numbers is None:
            mass, J = self._mass, self._inertia
            if quantity.is_number(mass):
                self._check_mass(mass)
            if not self.particle and quantity.is_number(J):
                self._check_inertia(J)
            return
        self._check_mass(float(numbers[0]))
        if not self.particle:
            self._check_inertia(numbers[1:].reshape(3, 3, order="F"))

    def _check_mass(self, mass):
        if not quantity.SMALLEST <= mass <= quantity.LARGEST:
            allowed = f"{quantity.SMALLEST:g} to {quantity.LARGEST:g} kg"
            raise ModelError(f"{self.owner}: mass must be positive ({allowed}), got {mass!r}")

    def _check_inertia(self, tensor):
        inertias.check(tensor, self.owner, tensor.tolist())

    @property
    def expressions(self) -> dict[str, ca.SX]:
        """What the body is made of that is no number: expressions of parameters, by name."""
        found = {what: getattr(self, attribute) for what, attribute in MADE_OF.items()}
        return {what: x for what, x in found.items() if not quantity.is_number(x)}

    @property
    def momentum(self) -> ca.SX:
        """Signal: m ẋ, world axes [kg m/s]."""
        return self.mass * self.velocity

    @property
    def angular_momentum(self) -> ca.SX:
        """Signal: R J ω about the centre of mass, world axes; 0 of a particle [kg m²/s]."""
        return ca.SX.zeros(3) if self.particle else self.rotation @ (self.inertia @ self.angular_velocity)

    def kinetic_energy(self) -> ca.SX:
        """Signal: T = ½ m |ẋ|² + ½ ωᵀ J ω  [J]."""
        T = 0.5 * self.mass * ca.sumsqr(self.velocity)
        w = self.angular_velocity
        return T if self.particle else T + 0.5 * ca.dot(w, self.inertia @ w)
