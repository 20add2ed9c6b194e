"""A mode of a linear model: an eigenvalue and its motion.

ξ(t) = Re(ξ₀ e^{st}),      x(t) = x₀ + Re(δx e^{st}),      R(t) = exp(Re(δθ e^{st})) R₀               (1)
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...lie import so3
from ..arguments import count, finite_number

if TYPE_CHECKING:
    import xarray as xr

OSCILLATION_RATIO = 1e-9  # imaginary part / absolute value of the eigenvalue of an oscillation, at least


class Shapes(NamedTuple):
    """Linear maps from a deviation ξ to the motion of all coordinates and bodies.

    tangent            T: all coordinates, all velocities and the user's states from ξ
    masses             M of all coordinates, in axes fixed in space
    names              names of all coordinates
    bodies             names of the bodies
    position           positions (body, 3) at the operating point
    rotation           rotations (body, 3, 3) at the operating point
    translation_jacobian, rotation_jacobian   ẋ and ω of the bodies, world axes, per rate of each coordinate: (body, 3, coordinate)
    """

    tangent: np.ndarray
    masses: np.ndarray
    names: list
    bodies: list
    position: np.ndarray
    rotation: np.ndarray
    translation_jacobian: np.ndarray
    rotation_jacobian: np.ndarray


@dataclass(frozen=True, repr=False, eq=False)
class Mode:
    """An eigenvalue s and its motion.

    eigenvalue      s [1/s]; parts within the error bound are 0
    coordinates     complex amplitudes of all coordinates by name, including dependent ones; the largest is 1
    displacement    displacements of the bodies' centres of mass (body, axis), complex, world axes, in the same scale
    rotation        small rotations of the bodies (body, axis), complex, world axes
    bodies          names of the bodies
    neutral         True if s is zero within the error bound: a deviation stays, or grows linearly with time
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
        ):  # only velocities or the user's states change
            change = np.zeros(n, complex)
        else:
            change = change / change[np.argmax(np.abs(change))]
        displacement, rotation = shapes.translation_jacobian @ change, shapes.rotation_jacobian @ change
        return cls(complex(s), dict(zip(shapes.names, change)), displacement, rotation, shapes.bodies, neutral, shapes)

    @property
    def oscillates(self) -> bool:
        """True if the mode oscillates."""
        return bool(not self.neutral and abs(self.eigenvalue.imag) > OSCILLATION_RATIO * abs(self.eigenvalue))

    @property
    def frequency(self) -> float:
        """|s|/2π [Hz], the frequency without damping."""
        return abs(self.eigenvalue) / (2 * np.pi)

    @property
    def damping(self) -> float:
        """Damping ratio −Re s/|s|: 0 undamped, 1 aperiodic, negative if the mode grows."""
        return 0.0 - self.eigenvalue.real / abs(self.eigenvalue) if self.eigenvalue else 0.0

    def motion(self, amplitude: float = 0.1, frames: int = 24) -> "xr.Dataset":
        """One period of (1) without growth or decay, as a dataset for `torsor.plot` and other viewers of results.

        amplitude   amplitude of the largest coordinate [m or rad]
        frames      number of instants
        """
        import xarray as xr

        shapes, times = self._shapes, np.linspace(0, 1, count(frames, "motion: frames"))
        phase = np.exp(2j * np.pi * times)[:, None, None] * finite_number(amplitude, "motion: amplitude")
        position = shapes.position + (phase * self.displacement).real
        small = (phase * self.rotation).real
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
            label = "neutral"
        elif self.oscillates:
            label = f"{self.frequency:.6g} Hz, damping {self.damping:.4g}"
        else:
            label = f"{'grows' if s.real > 0 else 'decays'} with {abs(s.real):.6g} 1/s"
        large = sorted(self.coordinates.items(), key=lambda x: -abs(x[1]))[:3]
        return f"{label}: " + ", ".join(f"{name} {abs(x):.3g}" for name, x in large if abs(x) > 1e-3)
