"""What `torsor.linearise` returns: matrices with names, eigenvalues, and modes."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import OptionError
from .certainty import errors
from .modes import Mode
from .repeated import parted

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False, eq=False)
class LinearModel:
    """Small motions about a state of a mechanism.

        ξ̇ = A ξ + B u,      η = C ξ + D u                                                             (1)

    A, B, C, D                 as arrays
    states, inputs, outputs    names of ξ, u and η: independent coordinates, their rates (`hinge.rate`), states of the user
    rates                      ξ̇ at the state itself: all zero at an equilibrium
    steady                     whether it is one, so that eigenvalues tell of its stability
    values                     of the outputs there
    time, formulation          at which, and in the coordinates of which formulation
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    rates: np.ndarray
    values: np.ndarray
    steady: bool
    time: float
    formulation: str
    _scales: Any = None  # units of the states, numbers of coordinates and velocities
    _shapes: Any = None
    _model: Any = None  # and values of its parameters

    @cached_property
    def _decomposed(self):
        values, vectors = np.linalg.eig(self.A) if len(self.A) else (np.zeros(0, complex), np.zeros((0, 0)))
        values = values.astype(complex)
        order = np.lexsort((-values.imag, values.real, np.round(np.abs(values), 9)))
        values, vectors, n = values[order], vectors[:, order], len(self._shapes.names)
        return values, parted(values, vectors, self._shapes.tangent[:n], self._shapes.masses)

    @cached_property
    def _errors(self):
        """How well eigenvalues are known."""
        return errors(self.A, self._decomposed[1], *self._scales) if len(self.A) else np.zeros(0)

    @property
    def eigenvalues(self) -> np.ndarray:
        """Of A [1/s], in the order of their size."""
        return self._decomposed[0]

    @cached_property
    def modes(self) -> list[Mode]:
        """One for each real eigenvalue, and one for each pair of complex ones."""
        (values, X), errors, found = self._decomposed, self._errors, []
        for k, s in enumerate(values):
            known = complex(*(x if abs(x) > errors[k] else 0.0 for x in (s.real, s.imag)))  # but for rounding
            if known.imag >= 0:
                found.append(Mode.of(known, X[:, k], bool(abs(s) <= errors[k]), self._shapes))
        return found

    @property
    def frequencies(self) -> np.ndarray:
        """|s|/2π of the modes that oscillate [Hz], ascending."""
        return np.array([mode.frequency for mode in self.modes if mode.oscillates])

    @property
    def damping(self) -> np.ndarray:
        """−Re s/|s| of the modes that oscillate, in the order of `frequencies`."""
        return np.array([mode.damping for mode in self.modes if mode.oscillates])

    @property
    def stability(self) -> str:
        """ "stable": every deviation dies out; "unstable": one grows; "marginal": none grows to first order, but one stays."""
        real = self.eigenvalues.real
        if np.any(real > self._errors):
            return "unstable"
        return "stable" if np.all(real < -self._errors) else "marginal"

    def control(self) -> Any:
        """The same as `control.StateSpace`, of the package python-control."""
        try:
            import control
        except ImportError:
            raise OptionError(
                "linearise: install python-control (pip install control) for StateSpace objects"
            ) from None
        names = {"states": self.states, "inputs": self.inputs, "outputs": self.outputs}
        return control.StateSpace(self.A, self.B, self.C, self.D, **names)

    def scipy(self) -> Any:
        """The same as `scipy.signal.StateSpace`."""
        try:
            from scipy.signal import StateSpace
        except ImportError:
            raise OptionError("linearise: install SciPy (pip install scipy) for its StateSpace objects") from None
        return StateSpace(self.A, self.B, self.C, self.D)

    def plot(self, only: Any = None, amplitude: float | None = None) -> "Figure":
        """A Matplotlib figure of the modes: every body as lines between its joints, at rest and at both ends of its motion.

        only        places among `modes`; None: those that are not neutral, the first six
        amplitude   of the largest coordinate [m or rad]; None: as can be seen
        """
        from .pictures import mode_shapes

        model, parameters = self._model
        return mode_shapes(self, model, parameters, only, amplitude)

    def dataset(self) -> "xr.Dataset":
        """Matrices and eigenvalues as an xarray.Dataset with names."""
        import xarray as xr

        rate = xr.Variable("rate_of", self.states)
        found = {
            "A": (("rate_of", "state"), self.A), "B": (("rate_of", "input"), self.B),
            "C": (("output", "state"), self.C), "D": (("output", "input"), self.D),
            "eigenvalue_real": (("mode",), self.eigenvalues.real), "eigenvalue_imaginary": (("mode",), self.eigenvalues.imag),
        }  # fmt: skip
        labels = {"rate_of": rate, "state": self.states, "input": self.inputs, "output": self.outputs}
        return xr.Dataset(found, labels, {"time": self.time, "formulation": self.formulation})

    def __repr__(self) -> str:
        parts = (("states", self.states), ("inputs", self.inputs), ("outputs", self.outputs))
        lines = ["linear model " + ("at rest" if self.steady else "about a motion") + f" at t = {self.time:g} s"]
        lines += [f"  {what:10}{', '.join(names) or 'none'}" for what, names in parts]
        return "\n".join([*lines, *(f"  {mode}" for mode in self.modes)])
