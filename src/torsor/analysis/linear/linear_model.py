"""`LinearModel`, the result of `torsor.linearise`: matrices with names, eigenvalues and modes."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import OptionError
from .eigenvalue_accuracy import eigenvalue_errors
from .equal_eigenvalues import separate_equal_modes
from .modes import Mode

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False, eq=False)
class LinearModel:
    """Linear model of small motions about an operating point.

        ξ̇ = A ξ + B u,      η = C ξ + D u                                                             (1)

    A, B, C, D                 as arrays
    states, inputs, outputs    names of ξ, u and η: independent coordinates, their rates (`hinge.rate`), states of the user
    rates                      ξ̇ at the operating point: zero at an equilibrium
    steady                     True at an equilibrium, where the eigenvalues determine the stability
    values                     outputs at the operating point
    time, formulation          time of the operating point [s], and the formulation whose coordinates are used
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
    _model: Any = None  # the model and its parameter values

    @property
    def model(self) -> Any:
        """The model that was linearised."""
        return self._model[0]

    @cached_property
    def _decomposition(self):
        """Sorted eigenvalues and eigenvectors of A; coincident eigenvalues have orthogonal eigenvectors."""
        values, vectors = np.linalg.eig(self.A) if len(self.A) else (np.zeros(0, complex), np.zeros((0, 0)))
        values = values.astype(complex)
        order = np.lexsort((-values.imag, values.real, np.round(np.abs(values), 9)))
        values, vectors, n = values[order], vectors[:, order], len(self._shapes.names)
        return values, separate_equal_modes(values, vectors, self._shapes.tangent[:n], self._shapes.masses)

    @cached_property
    def _error_bounds(self):
        """Error bounds of the eigenvalues."""
        return eigenvalue_errors(self.A, self._decomposition[1], *self._scales) if len(self.A) else np.zeros(0)

    @property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues of A [1/s], in the order of their absolute values."""
        return self._decomposition[0]

    @cached_property
    def modes(self) -> list[Mode]:
        """Modes: one for each real eigenvalue and one for each complex pair."""
        (values, X), error_bounds, result = self._decomposition, self._error_bounds, []
        for k, s in enumerate(values):
            rounded = complex(
                *(x if abs(x) > error_bounds[k] else 0.0 for x in (s.real, s.imag))
            )  # parts within the error bound are zero
            if rounded.imag >= 0:
                result.append(Mode.of(rounded, X[:, k], bool(abs(s) <= error_bounds[k]), self._shapes))
        return result

    @property
    def frequencies(self) -> np.ndarray:
        """Frequencies |s|/2π of the oscillating modes [Hz], ascending."""
        return np.array([mode.frequency for mode in self.modes if mode.oscillates])

    @property
    def damping(self) -> np.ndarray:
        """Damping ratios −Re s/|s| of the oscillating modes, in the order of `frequencies`."""
        return np.array([mode.damping for mode in self.modes if mode.oscillates])

    @property
    def stability(self) -> str:
        """ "stable": every deviation decays; "unstable": one grows; "marginal": none grows to first order, one stays."""
        real = self.eigenvalues.real
        if np.any(real > self._error_bounds):
            return "unstable"
        return "stable" if np.all(real < -self._error_bounds) else "marginal"

    def control(self) -> Any:
        """The linear model as `control.StateSpace` of the package python-control."""
        try:
            import control
        except ImportError:
            raise OptionError(
                "linearise: install python-control (pip install control) for StateSpace objects"
            ) from None
        names = {"states": self.states, "inputs": self.inputs, "outputs": self.outputs}
        return control.StateSpace(self.A, self.B, self.C, self.D, **names)

    def scipy(self) -> Any:
        """The linear model as `scipy.signal.StateSpace`."""
        try:
            from scipy.signal import StateSpace
        except ImportError:
            raise OptionError("linearise: install SciPy (pip install scipy) for its StateSpace objects") from None
        return StateSpace(self.A, self.B, self.C, self.D)

    def plot(self, only: Any = None, amplitude: float | None = None) -> "Figure":
        """A Matplotlib figure of the modes: every body as lines between its joints, at rest and at both ends of its motion.

        only        indices in `modes`; None: the first six that are not neutral
        amplitude   amplitude of the largest coordinate [m or rad]; None: chosen for a clear picture
        """
        from .mode_pictures import mode_shapes

        model, parameters = self._model
        return mode_shapes(self, model, parameters, only, amplitude)

    def dataset(self) -> "xr.Dataset":
        """Matrices and eigenvalues as an xarray.Dataset with named states, inputs and outputs."""
        import xarray as xr

        rate = xr.Variable("rate_of", self.states)
        result = {
            "A": (("rate_of", "state"), self.A), "B": (("rate_of", "input"), self.B),
            "C": (("output", "state"), self.C), "D": (("output", "input"), self.D),
            "eigenvalue_real": (("mode",), self.eigenvalues.real), "eigenvalue_imaginary": (("mode",), self.eigenvalues.imag),
        }  # fmt: skip
        labels = {"rate_of": rate, "state": self.states, "input": self.inputs, "output": self.outputs}
        return xr.Dataset(result, labels, {"time": self.time, "formulation": self.formulation})

    def _repr_html_(self) -> str:
        return self.model.html_writer(self)

    def __repr__(self) -> str:
        parts = (("states", self.states), ("inputs", self.inputs), ("outputs", self.outputs))
        lines = ["linear model " + ("at rest" if self.steady else "about a motion") + f" at t = {self.time:g} s"]
        lines += [f"  {what:10}{', '.join(names) or 'none'}" for what, names in parts]
        return "\n".join([*lines, *(f"  {mode}" for mode in self.modes)])
