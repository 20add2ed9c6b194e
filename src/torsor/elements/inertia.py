"""Mass, centre of mass and inertia of standard shapes, and their composition.

Shapes are solids of uniform density, centred at the origin, their axis along z unless `axis` says otherwise. Inertias
add when they are given about one point (Steiner):

    J = Σ Jₖ + mₖ (|dₖ|² I − dₖ dₖᵀ),      dₖ = cₖ − c,   m c = Σ mₖ cₖ                       (1)
"""

from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from ..errors import ModelError
from . import quantity, shapes
from .quantity import Rotation, Vector


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass [kg], centre of mass [m] and inertia about it [kg m²], all in one frame.

    outline   shapes of the parts, in the same frame: how a viewer draws a body that is given no other shape
    """

    mass: float
    tensor: np.ndarray
    center: Any = (0.0, 0.0, 0.0)
    outline: tuple = field(default=(), repr=False)

    def __post_init__(self):
        object.__setattr__(self, "mass", float(_positive("mass", self.mass)))
        object.__setattr__(self, "tensor", _numbers(quantity.given(self.tensor, 3, 3, "tensor", "inertia")))
        object.__setattr__(self, "center", _numbers(quantity.given(self.center, 3, 1, "center", "inertia")))

    def move(self, at: Vector = (0, 0, 0), rotation: Rotation | None = None) -> "Inertia":
        """The same part at another position in the frame: rotated first, then shifted by `at`.

        rotation   matrix, quaternion (scalar first) or rotation vector
        """
        R = np.eye(3) if rotation is None else _numbers(quantity.orientation(rotation, "rotation", "inertia"))
        shift = _numbers(quantity.given(at, 3, 1, "at", "inertia"))
        outline = tuple(shape.move(shift, R) for shape in self.outline)
        return Inertia(self.mass, R @ self.tensor @ R.T, R @ self.center + shift, outline)

    def __add__(self, other):
        if not isinstance(other, Inertia):
            return NotImplemented
        mass = self.mass + other.mass
        center = (self.mass * self.center + other.mass * other.center) / mass
        tensor = np.zeros((3, 3))
        for part in (self, other):
            d = part.center - center
            tensor += part.tensor + part.mass * (d @ d * np.eye(3) - np.outer(d, d))  # (1)
        return Inertia(mass, tensor, center, self.outline + other.outline)


SLENDER, FLAT = 40, 20  # drawn proportions: length / radius of a rod; radius / thickness of a disk
_TURN = {"x": (2, 0, 1), "y": (1, 2, 0), "z": (0, 1, 2)}


def _with_shape(inertia, maker, *arguments, **options):
    """Return the inertia with the shape from which it was computed as its outline."""
    if isinstance(axis := options.get("axis"), str):
        options["axis"] = axis.lstrip("+-")
    try:
        return replace(inertia, outline=(maker(*arguments, **options),))
    except ModelError:  # lengths outside the range of shapes
        return inertia


def _along(axis, across1, across2, along):
    """Return the diagonal tensor with the moment `along` about the named axis."""
    name = axis.lstrip("+-") if isinstance(axis, str) else axis
    if not isinstance(name, str) or name not in _TURN:
        raise ModelError(f"inertia: axis must be 'x', 'y' or 'z', got {axis!r}")
    return np.diag([(across1, across2, along)[k] for k in _TURN[name]])


def _numbers(given):
    if not quantity.is_number(given):
        raise ModelError(
            f"inertia: shapes are made of numbers, got {quantity.show(given)}; give a body its inertia directly"
        )
    return given


def _positive(name, value):
    number = _numbers(quantity.given(value, 1, 1, name, "inertia"))
    if not number > 0:
        raise ModelError(f"inertia: {name} must be positive, got {quantity.show(value)}")
    return np.float64(number)


def _with_positive_arguments(function):
    """Decorate a function of a shape: its arguments are checked and converted to numbers.

    Results that overflow are refused by the checks of `Inertia`.
    """
    parameters = signature(function)

    @wraps(function)
    def check_arguments(*arguments, **options):
        given = parameters.bind(*arguments, **options).arguments
        numbers = {name: value for name, value in given.items() if name not in ("axis", "at", "inner")}
        given |= {name: _positive(name, value) for name, value in numbers.items()}
        if "inner" in given:
            inner = _numbers(quantity.given(given["inner"], 1, 1, "inner radius", "inertia"))
            if not 0 <= inner < given["radius"]:
                raise ModelError(f"inertia: inner radius must lie in [0, radius), got {quantity.show(given['inner'])}")
            given["inner"] = np.float64(inner)
        with np.errstate(all="ignore"):
            return function(**given)

    return check_arguments


@_with_positive_arguments
def box(mass: float, x: float, y: float, z: float) -> Inertia:
    """Cuboid with edges x, y, z."""
    tensor = np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) * mass / 12
    return _with_shape(Inertia(mass, tensor), shapes.box, (x, y, z))


@_with_positive_arguments
def cylinder(mass: float, radius: float, height: float, axis: str = "z", inner: float = 0.0) -> Inertia:
    """Solid or hollow circular cylinder; `inner` is the radius of the bore."""
    r2 = radius**2 + inner**2
    across = mass * (3 * r2 + height**2) / 12
    return _with_shape(
        Inertia(mass, _along(axis, across, across, mass * r2 / 2)), shapes.cylinder, radius, height, axis=axis
    )


@_with_positive_arguments
def sphere(mass: float, radius: float, inner: float = 0.0) -> Inertia:
    """Solid or hollow sphere."""
    tensor = np.eye(3) * 0.4 * mass * (radius**5 - inner**5) / (radius**3 - inner**3)
    return _with_shape(Inertia(mass, tensor), shapes.sphere, radius)


@_with_positive_arguments
def rod(mass: float, length: float, axis: str = "z") -> Inertia:
    """Slender rod. The moment about its own axis is 1e-4 of the one across, since a body needs a positive one."""
    across = mass * length**2 / 12
    thin = Inertia(mass, _along(axis, across, across, 1e-4 * across))
    return _with_shape(thin, shapes.cylinder, length / SLENDER, length, axis=axis)


@_with_positive_arguments
def disk(mass: float, radius: float, axis: str = "z") -> Inertia:
    """Thin circular disk."""
    flat = Inertia(mass, _along(axis, mass * radius**2 / 4, mass * radius**2 / 4, mass * radius**2 / 2))
    return _with_shape(flat, shapes.cylinder, radius, radius / FLAT, axis=axis)


@_with_positive_arguments
def cone(mass: float, radius: float, height: float, axis: str = "z") -> Inertia:
    """Solid circular cone, centred at its centre of mass (a quarter of the height above its base)."""
    across = mass * (3 / 20 * radius**2 + 3 / 80 * height**2)
    solid = Inertia(mass, _along(axis, across, across, 0.3 * mass * radius**2))
    middle = [0.25 * height * (name == axis) for name in "xyz"]  # half the height above the base
    return _with_shape(solid, shapes.cone, radius, height, at=middle, axis=axis)


@_with_positive_arguments
def point(mass: float, at: Vector = (0.0, 0.0, 0.0)) -> Inertia:
    """Point mass, to be composed with other parts."""
    return Inertia(mass, np.zeros((3, 3)), at)


def check(tensor: np.ndarray, owner: str, given: Any) -> None:
    """Refuse tensors that are no inertia: asymmetric, not positive, or against the triangle inequality."""
    least, most = quantity.SMALLEST**2, quantity.LARGEST**2
    a, b, c = moments = tensor.diagonal().tolist()
    if np.count_nonzero(tensor) == 3 and least < min(moments) and max(moments) <= min(a + b + c - max(moments), most):
        return  # fast path: a diagonal tensor, as most bodies have it
    if not np.abs(tensor).max() <= most:
        raise ModelError(f"{owner}: inertia must be finite, and not larger than {most:g} kg m², got {given}")
    if np.abs(tensor - tensor.T).max() > 1e-9 * max(np.abs(tensor).max(), 1e-300):
        raise ModelError(f"{owner}: inertia must be symmetric, got {given}")
    moments = np.linalg.eigvalsh((tensor + tensor.T) / 2)
    if not moments[0] >= least:
        allowed = f"at least {least:g} kg m²"
        raise ModelError(f"{owner}: principal moments of inertia must be positive ({allowed}), got {moments.tolist()}")
    if moments[2] > (moments[0] + moments[1]) * (1 + 1e-6):
        raise ModelError(
            f"{owner}: impossible inertia, principal moments {moments.tolist()} break the triangle inequality "
            "Jmax <= Jmin + Jmid"
        )
