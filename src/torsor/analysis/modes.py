"""A mode of a linear model: an eigenvalue, and the motion that belongs to it.

ξ(t) = Re(ξ₀ e^{st}),      x(t) = x₀ + Re(δx e^{st}),      R(t) = exp(Re(δθ e^{st})) R₀               (1)
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..lie import so3
from .given import count, finite

if TYPE_CHECKING:
    import xarray as xr

REAL = 1e-9  # imaginary part over the size of an eigenvalue below which nothing oscillates


class Shapes(NamedTuple):
    """What turns a deviation ξ into a motion of everything.

    tangent            T: all coordinates, all velocities and the user's states from ξ
    masses             M of all coordinates, in axes that stay
    names              of all coordinates
    bodies             their names; positions (body, 3) and rotations (body, 3, 3) at the state
    moved, turned      ẋ and ω of the bodies, world axes, from changes of all coordinates: (body, 3, coordinate)
    """

    tangent: np.ndarray
    masses: np.ndarray
    names: list
    bodies: list
    position: np.ndarray
    rotation: np.ndarray
    moved: np.ndarray
    turned: np.ndarray


@dataclass(frozen=True, repr=False, eq=False)
class Mode:
    """An eigenvalue s, and what moves.

    eigenvalue      s [1/s], its parts 0 where they are rounding
    coordinates     complex amplitudes of all coordinates by name, dependent ones included; the largest is 1
    displacement    of the bodies' centres of mass (body, axis), complex, world axes, in the same scale
    rotation        small turns of the bodies (body, axis), complex, world axes
    bodies          names of the bodies
    neutral         whether s is zero but for rounding: a deviation that stays, or grows with time alone
    """

    eigenvalue: complex
    coordinates: dict
    displacement: np.ndarray
    rotation: np.ndarray
    bodies: list
    neutral: bool = False
    _shapes: Any = None

    @classmethod
    def of(cls, s, vector, neutral, shapes):
        """The mode of an eigenvector ξ₀."""
        n = len(shapes.names)
        change = (shapes.tangent @ vector)[:n]
        if (
            not np.abs(change).max(initial=0.0) > 1e-12 * np.abs(vector).max()
        ):  # of velocities or the user's states alone
            change = np.zeros(n, complex)
        else:
            change = change / change[np.argmax(np.abs(change))]
        moved, turned = shapes.moved @ change, shapes.turned @ change
        return cls(complex(s), dict(zip(shapes.names, change)), moved, turned, shapes.bodies, neutral, shapes)

    @property
    def oscillates(self) -> bool:
        return bool(not self.neutral and abs(self.eigenvalue.imag) > REAL * abs(self.eigenvalue))

    @property
    def frequency(self) -> float:
        """|s|/2π [Hz]: without damping, it would oscillate so often."""
        return abs(self.eigenvalue) / (2 * np.pi)

    @property
    def damping(self) -> float:
        """−Re s/|s|: 0 undamped, 1 aperiodic, negative: it grows."""
        return 0.0 - self.eigenvalue.real / abs(self.eigenvalue) if self.eigenvalue else 0.0

    def motion(self, amplitude: float = 0.1, frames: int = 24) -> "xr.Dataset":
        """One period of (1) without growth or decay, as a dataset that `torsor.plot` and other viewers of results take.

        amplitude   of the largest coordinate [m or rad];  frames: how many instants
        """
        import xarray as xr

        shapes, times = self._shapes, np.linspace(0, 1, count(frames, "motion: frames"))
        turn = np.exp(2j * np.pi * times)[:, None, None] * finite(amplitude, "motion: amplitude")
        position = shapes.position + (turn * self.displacement).real
        small = (turn * self.rotation).real
        rotation = np.array([[so3.exp(u) @ R for u, R in zip(frame, shapes.rotation)] for frame in small]).reshape(
            *small.shape, 3
        )
        period = 1 / self.frequency if self.oscillates else 1.0
        variables = {
            "position": (("time", "body", "axis"), position),
            "rotation": (("time", "body", "row", "column"), rotation),
        }
        axes = dict.fromkeys(("axis", "row", "column"), ["x", "y", "z"])
        return xr.Dataset(variables, {"time": times * period, "body": self.bodies, **axes})

    def __repr__(self) -> str:
        s = self.eigenvalue
        if self.neutral:
            told = "neutral"
        elif self.oscillates:
            told = f"{self.frequency:.6g} Hz, damping {self.damping:.4g}"
        else:
            told = f"{'grows' if s.real > 0 else 'decays'} with {abs(s.real):.6g} 1/s"
        large = sorted(self.coordinates.items(), key=lambda x: -abs(x[1]))[:3]
        return f"{told}: " + ", ".join(f"{name} {abs(x):.3g}" for name, x in large if abs(x) > 1e-3)
