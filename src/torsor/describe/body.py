"""Bodies and grounds: what has a pose."""

from typing import Any

import casadi as ca
import numpy as np

from ..errors import ModelError
from ..lie import se3, so3
from . import inertia as shapes
from . import quantity
from .element import Owned
from .quantity import Axis, Number, Rotation, Vector


class Placed(Owned):
    """Something with a pose, and the signals that every formulation fills in.

    position x [m], rotation R [-]            of the frame at the centre of mass, in the world
    velocity ẋ [m/s], angular_velocity ω [rad/s]    world axes, body axes:  Ṙ = R ω~
    """

    def __init__(self, name: str):
        self.name = name
        self.position = quantity.symbol(f"{name}.position", 3)
        self.rotation = quantity.symbol(f"{name}.rotation", 3, 3)
        self.velocity = quantity.symbol(f"{name}.velocity", 3)
        self.angular_velocity = quantity.symbol(f"{name}.angular_velocity", 3)
        self.center = np.zeros(3)

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
        R = np.eye(3) if rotation is None else rotation
        return Frame(self, se3.pose(quantity.rotation_matrix(R, "frame rotation", self.name), self._arm(at)))

    def _arm(self, local):
        return quantity.vector(local, "point", self.name) - self.center

    def __repr__(self):
        return f"<{type(self).__name__} {self.name!r}>"


class Frame:
    """A frame fixed in a body: `pose` is its 4x4 pose from the centre of mass, in body axes."""

    def __init__(self, body, pose):
        self.body, self.pose = body, pose


class Ground(Placed):
    """A body that is held, or moved as a given function of time.

    `at` and `rotation` place it in the world; both may be expressions of time, x(t) and R(t). Points and axes of joints
    that are attached to it are given for the reference configuration, where t = 0.
    """

    def __init__(self, name: str, at: Vector = (0, 0, 0), rotation: Rotation | None = None):
        super().__init__(name)
        self.path = (
            quantity.vector(at, "at", self.owner),
            ca.SX.eye(3) if rotation is None else quantity.rotation_matrix(rotation, "rotation", self.owner),
        )

    @property
    def owner(self) -> str:
        return f"ground {self.name!r}"

    @property
    def path(self) -> tuple[ca.SX, ...]:
        """x(t), R(t)."""
        return self._path

    @path.setter
    def path(self, path):
        self._path = tuple(ca.densify(x) for x in path)
        self.start_position, self.start_rotation = (ca.substitute(x, quantity.time, 0) for x in self._path)
        R = self.start_rotation
        self.turned = not (R.is_constant() and np.array_equal(quantity.numbers(R), np.eye(3)))

    def motion(self) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Pose and velocity as functions of time: x(t), R(t), ẋ, ω with ω~ = Rᵀ Ṙ."""
        (x, R), t = self.path, quantity.time
        rate = ca.reshape(ca.jacobian(ca.vec(R), t), 3, 3)
        return x, R, ca.densify(ca.jacobian(x, t)), ca.densify(so3.vee(R.T @ rate))

    @property
    def moves(self) -> bool:
        return bool(ca.depends_on(ca.vertcat(*(ca.vec(x) for x in self.path)), quantity.time))


class Body(Placed):
    """A rigid body: mass, inertia about the centre of mass in body axes, and where it starts.

    at                start and reference position of the body's frame, which sits at the centre of mass unless
                      `inertia` is a composed one with its centre elsewhere [m]
    rotation          start and reference orientation: matrix, quaternion (scalar first) or rotation vector
    velocity          of the centre of mass, world axes [m/s]; None: whatever the constraints leave, else at rest
    angular_velocity  body axes [rad/s]; None: likewise
    shape             how a viewer draws it; no influence on the motion

    An inertia of exactly 0 makes a particle: it has a position and no orientation.
    """

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
        super().__init__(name)
        owner = self.owner
        self.shape = shape
        if isinstance(inertia, shapes.Inertia):
            same = mass is None or quantity.scalar(mass, "mass", owner) - inertia.mass
            if same is not True and not (same.is_constant() and abs(float(same)) <= 1e-9 * inertia.mass):
                raise ModelError(f"{owner}: mass {mass!r} differs from the mass of its inertia, {inertia.mass!r}")
            mass, self.center, inertia = inertia.mass, inertia.center, inertia.tensor
        if mass is None or inertia is None:
            missing = "mass" if mass is None else "inertia"
            raise ModelError(
                f"{owner}: {missing} is missing: give mass and inertia (3 principal moments, a 3x3 matrix, 0 for a "
                "particle), or an inertia of ts.inertia, which carries its mass"
            )
        self.mass = quantity.scalar(mass, "mass", owner)
        self.inertia = self._tensor(inertia, owner)
        self.particle = self.inertia is None
        self.check()
        R = ca.SX.eye(3) if rotation is None else quantity.rotation_matrix(rotation, "rotation", owner)
        self.start_rotation = ca.densify(R)
        self.start_position = quantity.vector(at, "at", owner) + R @ ca.SX(self.center)
        self.start_velocity = None if velocity is None else quantity.vector(velocity, "velocity", owner)
        self.start_angular_velocity = (
            None if angular_velocity is None else quantity.vector(angular_velocity, "angular_velocity", owner)
        )
        if self.particle and angular_velocity is not None:
            raise ModelError(f"{owner}: a particle (inertia 0) has no angular velocity, got {angular_velocity!r}")
        self.acceleration = quantity.symbol(f"{name}.acceleration", 3)
        self.angular_acceleration = quantity.symbol(f"{name}.angular_acceleration", 3)

    @property
    def owner(self) -> str:
        return f"body {self.name!r}"

    @staticmethod
    def _tensor(given, owner):
        """J as a matrix, None for a particle."""
        if isinstance(given, (int, float)) and given == 0:
            return None
        if quantity.shape_of(given) == (3, 1):
            J = ca.diag(quantity.vector(given, "inertia", owner))
        else:
            J = quantity.expression(
                given, 3, 3, "inertia (3 principal moments or a 3x3 matrix, 0 for a particle)", owner
            )
        return None if J.is_constant() and not quantity.numbers(J).any() else ca.densify(J)

    @property
    def weights(self) -> list[ca.SX]:
        """Mass and, but for a particle, inertia."""
        return [self.mass] if self.particle else [self.mass, self.inertia]

    @property
    def given(self) -> bool:
        """Whether mass and inertia are numbers, and not expressions of parameters."""
        return all(x.is_constant() for x in self.weights)

    def check(self, numbers: np.ndarray | None = None) -> None:
        """Refuse a mass or an inertia that no body has; numbers: the weights with the parameters of a run, column by column."""
        if numbers is None:
            if self.mass.is_constant():
                self._check_mass(quantity.numbers(self.mass).item())
            if not self.particle and self.inertia.is_constant():
                self._check_inertia(quantity.numbers(self.inertia))
            return
        self._check_mass(float(numbers[0]))
        if not self.particle:
            self._check_inertia(numbers[1:].reshape(3, 3, order="F"))

    def _check_mass(self, mass):
        if not quantity.SMALLEST <= mass <= quantity.LARGEST:
            allowed = f"{quantity.SMALLEST:g} to {quantity.LARGEST:g} kg"
            raise ModelError(f"{self.owner}: mass must be positive ({allowed}), got {mass!r}")

    def _check_inertia(self, tensor):
        shapes.check(tensor, self.owner, tensor.tolist())

    @property
    def data(self) -> dict[str, ca.SX]:
        """What the body is made of: expressions of numbers and parameters, by name."""
        given = {
            "mass": self.mass, "inertia": self.inertia, "at": self.start_position, "rotation": self.start_rotation,
            "velocity": self.start_velocity, "angular_velocity": self.start_angular_velocity,
        }  # fmt: skip
        return {what: x for what, x in given.items() if x is not None}

    def kinetic_energy(self) -> ca.SX:
        """Signal: T = ½ m |ẋ|² + ½ ωᵀ J ω  [J]."""
        T = 0.5 * self.mass * ca.sumsqr(self.velocity)
        w = self.angular_velocity
        return T if self.particle else T + 0.5 * ca.dot(w, self.inertia @ w)
