"""A compiled model: its kernels, callable with NumPy arrays, and the same graphs as CasADi functions."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from ..describe import quantity
from ..describe.model import Model
from ..errors import OptionError
from .automatic import prepared
from .prepare import mechanics

Column: TypeAlias = np.ndarray | None  # None: that of the start


class Dynamics:
    """What `torsor.compile` returns.

    q, v, p        the consistent start: configuration, velocities, parameters followed by joint angles near which turns count
    kernels        the compiled library, by name, each callable and with its `instructions`
    functions      the same as casadi.Function, by name
    coordinates    names of the velocities, in their order
    formulation    the one in use, and `formulation_reason`: why

    In joint coordinates also `mass_matrix`, `coriolis`, `gravity`, `forward_dynamics`, `inverse_dynamics`, `body_jacobian`.
    """

    def __init__(
        self,
        model: Model,
        formulation: str = "auto",
        map: str = "exp",
        parameters: Mapping[str, float] | None = None,
    ):
        if not isinstance(model, Model):
            raise OptionError(f"compile: give a torsor.Model, got {quantity.show(model)}")
        self.model, self.map = model, map
        model.seal()
        chosen, self.system, self.kernels = prepared(model, formulation, map, parameters=parameters, build=mechanics)
        self.formulation, self.formulation_reason = chosen
        self._derivatives: dict = {}
        self._given = parameters
        self.q, self.v, self.p = (np.array(x) for x in (self.system.q, self.system.v, self.system.p))

    def __reduce__(self):
        return Dynamics, (self.model, self.formulation, self.map, self._given)

    def accelerations(self, q: Column = None, v: Column = None, t: float = 0.0, p: Column = None) -> np.ndarray:
        """v̇ of a state (the start where nothing is given), in the order of `coordinates`. In absolute coordinates ẍ in world axes
        and ω̇ in body axes, body by body."""
        return self._solve(q, v, t, p)[0]

    def multipliers(self, q: Column = None, v: Column = None, t: float = 0.0, p: Column = None) -> np.ndarray:
        """λ of the rows in use."""
        return self._solve(q, v, t, p)[1][: len(self.system.keep)]

    def momenta(self, q: Column = None, v: Column = None, t: float = 0.0, p: Column = None) -> np.ndarray:
        """π = ∂T/∂v, conjugate to the velocities of the formulation, whatever its state is."""
        return self._momenta(*self._state(q, v, t, p))[0]

    @cached_property
    def _momenta(self):
        from .. import kernels
        from ..formulations.lagrangian import Lagrangian

        if "momenta" in self.kernels:
            return self.kernels["momenta"]
        L = Lagrangian(self.formulation_object)
        return kernels.build({"momenta": ca.Function("momenta", [L.t, L.q, L.v, L.p], [L.momenta])})["momenta"]

    def residuals(
        self, q: Column = None, v: Column = None, t: float = 0.0, p: Column = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity residuals of the rows in use."""
        t, q, v, p = self._state(q, v, t, p)
        F = self._factor(t, q, p)
        return self.kernels["positions"](t, q, p, F)[1][:-1], self.kernels["velocities"](t, q, v, p, F)[1][:-1]

    def projected(
        self, q: Column = None, v: Column = None, t: float = 0.0, p: Column = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The state moved onto the constraints: positions by Newton steps, then velocities."""
        t, q, v, p = self._state(q, v, t, p)
        for _ in range(20):
            moved, g = self.kernels["positions"](t, q, p, self._factor(t, q, p))
            if g[-1] <= 1e-14 * self.system.length / self.system.unit:
                break
            q = moved
        return q, self.kernels["velocities"](t, q, v, p, self._factor(t, q, p))[0]

    @property
    def coordinates(self) -> list[str]:
        return list(self.system.coordinates)

    @property
    def instructions(self) -> dict[str, int]:
        """Number of arithmetic operations of each kernel."""
        return {name: kernel.instructions for name, kernel in self.kernels.items()}

    @cached_property
    def formulation_object(self) -> Any:
        """The equations behind the kernels, derived anew, with the rows in use chosen."""
        from ..registry import lookup

        f = lookup("formulation", self.formulation)(self.model)
        return self.system.choice.write(f)

    @cached_property
    def functions(self) -> dict[str, ca.Function]:
        """The kernels as casadi.Function objects."""
        f = self.formulation_object
        return {name: x for name, x in {**f.functions(), **f.retractions(self.map)}.items() if name in self.kernels}

    def body_accelerations(self, q: Column = None, v: Column = None, t: float = 0.0, p: Column = None) -> np.ndarray:
        """ẍ (world axes) and ω̇ (body axes) of all bodies, body by body, whatever the coordinates are."""
        a, lam, _ = self._solve(q, v, t, p)
        t, q, v, p = self._state(q, v, t, p)
        flat = self.kernels["outputs"](t, q, v, p, a, lam)[0]
        starts = dict(
            zip([name for name, _ in self.system.layout], np.cumsum([0, *[n for _, n in self.system.layout]]))
        )
        of = lambda name: flat[starts[name] :][: 3 * len(self.system.bodies)].reshape(-1, 3)
        return np.hstack([of("acceleration"), of("angular_acceleration")]).ravel()

    def partition_measure(self, q: Column = None, t: float = 0.0, p: Column = None) -> dict[str, Any]:
        """How straight each coordinate leads off the constraints, 0 to 1, for positions and for velocities: a good dependent
        coordinate has a large measure. `names`, `positions`, `velocities`."""
        from ..formulations.partition import measure

        t, q, _, p = self._state(q, None, t, p)
        f = self.formulation_object
        G, Minv = self._examiner.G(t, q, p, f.keep), self._examiner.Minv(q, p)
        held = np.array([f.rows[k].holonomic for k in f.keep], bool)
        return {"names": f.coordinate_names(), "positions": measure(G[held], Minv), "velocities": measure(G, Minv)}

    @cached_property
    def _examiner(self):
        from ..formulations.scales import Scales
        from ..start.examiner import Examiner

        return Examiner(self.formulation_object, Scales(**self.system.scales))

    # joint coordinates

    @cached_property
    def matrix_functions(self) -> dict[str, ca.Function]:
        """Mass and Coriolis matrix, gravity, forward and inverse dynamics, Jacobians, as casadi.Function, by name."""
        from ..formulations import matrices

        return matrices.functions(self.formulation_object)

    @cached_property
    def _matrices(self):
        from .. import kernels

        return kernels.build(self.matrix_functions)

    def mass_matrix(self, q: Column = None, p: Column = None, t: float = 0.0) -> np.ndarray:
        """M(q)."""
        _, q, v, p = self._state(q, None, t, p)
        return self._matrices["mass_matrix"](q, p)[0].reshape(v.size, v.size).T

    def coriolis(self, q: Column = None, v: Column = None, p: Column = None, t: float = 0.0) -> np.ndarray:
        """C(q, v) with Ṁ − 2 C skew-symmetric."""
        _, q, v, p = self._state(q, v, t, p)
        return self._matrices["coriolis"](q, v, p)[0].reshape(v.size, v.size).T

    def gravity(self, q: Column = None, p: Column = None, t: float = 0.0) -> np.ndarray:
        """g(q): joint forces that hold the tree at rest against gravity alone, on grounds that stand where they are at t."""
        t, q, _, p = self._state(q, None, t, p)
        return self._matrices["gravity"](t, q, p)[0]

    def inverse_dynamics(
        self,
        q: Column = None,
        v: Column = None,
        a: Column = None,
        t: float = 0.0,
        p: Column = None,
    ) -> np.ndarray:
        """Joint forces, beyond the model's own, that produce accelerations a (recursive Newton–Euler; loops left open)."""
        t, q, v, p = self._state(q, v, t, p)
        return self._matrices["inverse_dynamics"](t, q, v, self._velocity_like(a, "a"), p)[0]

    def forward_dynamics(
        self,
        q: Column = None,
        v: Column = None,
        tau: Column = None,
        t: float = 0.0,
        p: Column = None,
    ) -> np.ndarray:
        """v̇ under the model's forces and further joint forces tau, constraints included."""
        t, q, v, p = self._state(q, v, t, p)
        return self._matrices["forward_dynamics"](t, q, v, self._velocity_like(tau, "tau"), p)[0]

    def body_jacobian(self, name: str, q: Column = None, p: Column = None, t: float = 0.0) -> np.ndarray:
        """J of one body: (ẋ, ω) = J v, in world and in body axes."""
        if not isinstance(name, str) or name not in self.system.bodies:
            raise OptionError(f"unknown body {name!r}. Known: {', '.join(self.system.bodies)}.")
        t, q, v, p = self._state(q, None, t, p)
        whole = self._matrices["body_jacobian"](t, q, p)[0].reshape(v.size, -1).T
        k = self.system.bodies.index(name)
        return whole[6 * k : 6 * k + 6]

    def jacobian_derivative(
        self, name: str, q: Column = None, p: Column = None, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Twist Jacobian K of one body (angular first, own axes) and D with D[:, a, b] = ∂K_a/∂q_b, by Lie brackets."""
        from .. import kernels
        from ..formulations import matrices

        f = self.formulation_object
        if not isinstance(name, str) or name not in self.system.bodies:
            raise OptionError(f"unknown body {name!r}. Known: {', '.join(self.system.bodies)}.")
        if name not in self._derivatives:
            body = self.model[name]
            self._derivatives[name] = kernels.build(matrices.derivative_functions(f, body))
        _, q, v, p = self._state(q, None, t, p)
        built, n = self._derivatives[name], v.size
        K = built["twist_jacobian"](q, p)[0].reshape(n, 6).T
        return K, built["jacobian_derivative"](q, p)[0].reshape(n, n, 6).transpose(2, 1, 0)

    def _velocity_like(self, given, name):
        return np.zeros(self.v.size) if given is None else _numbers(given, name, self.v.size)

    def _solve(self, q, v, t, p):
        t, q, v, p = self._state(q, v, t, p)
        return self.kernels["accelerations"](t, q, v, p, self._factor(t, q, p))

    def _factor(self, t, q, p):
        return self.kernels["factor"](t, q, p)[0]

    def _state(self, q, v, t, p):
        given = []
        for name, value, start in (("q", q, self.q), ("v", v, self.v), ("p", p, self.p)):
            given.append(start if value is None else _numbers(value, name, start.size))
        return _numbers(t, "t", 1), *given


def _numbers(value, name, count):
    """So many finite numbers, as an array."""
    try:
        array = np.asarray(value, float).ravel()
    except Exception:  # whatever a stranger's class raises when it is asked for numbers
        array = np.array([np.nan])
    if array.size != count or not np.isfinite(array).all():
        given = array.size if np.isfinite(array).all() else quantity.show(value)
        raise OptionError(f"{name} must have {count} numbers, all finite, got {given}")
    return array


def compile(
    model: Model, formulation: str = "auto", map: str = "exp", parameters: Mapping[str, float] | None = None
) -> Dynamics:
    """Derive, diagnose and compile a model; returns its Dynamics."""
    return Dynamics(model, formulation, map, parameters)
