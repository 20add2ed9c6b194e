"""A compiled model: its kernels, callable with NumPy arrays, and the same graphs as CasADi functions."""

from collections.abc import Mapping
from functools import cached_property
from html import escape
from typing import Any

import casadi as ca
import numpy as np

from ..elements import quantity
from ..errors import AssemblyError, OptionError
from ..kernels.derivation_lock import deriving
from ..lie.groups import MAPS
from ..model.model import Model
from ..prepare.auto_formulation import choose_and_prepare
from ..prepare.choice import KernelOptions
from ..prepare.prepare import equation_kernels
from .batches import Batch
from .robot_dynamics import JointDynamics
from .state_functions import StateFunction

STEP_RESULTS = ("accelerations", "multipliers", "power")  # outputs of the kernel of accelerations
CHUNK = 4096  # states that are factorised at a time
PROJECTION_STEPS = 100  # largest number of Newton steps in `projected`
PROJECTION_CONVERGED = 1e-14  # position residual / model size below which Newton's method stops
PROJECTION_FAILED = 1e-9  # position residual / model size above which the projection has failed


class Dynamics(JointDynamics):
    """A compiled model, as returned by `torsor.compile`.

    q, v, p               the consistent start: configuration, velocities, parameters. After the parameters p contains reference
                          values of the joint angles that are counted over full turns
    kernels               the compiled kernels by name, each callable and with its number of `instructions`
    functions             the same as casadi.Function, by name
    coordinates           names of the velocities, in their order
    formulation           key of the formulation in use
    formulation_reason    why it was chosen

    Methods: `poses`, `point` and `point_jacobian` of bodies and, in joint coordinates, `mass_matrix`, `coriolis`, `gravity`,
    `christoffel`, `forward_dynamics`, `inverse_dynamics`, `body_jacobian`. All take arrays of states with leading dimensions.
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
        if not isinstance(map, str) or map not in MAPS:
            raise OptionError(f"compile: unknown map {quantity.show(map)}. Known: {', '.join(MAPS)}")
        self.model = model
        self.map = map
        model.seal()
        chosen, self.system, self.kernels = choose_and_prepare(
            model, formulation, KernelOptions(map), parameters=parameters, build=equation_kernels
        )
        self.formulation, self.formulation_reason = chosen
        self._matrices: dict = {}
        self._derivatives: dict = {}
        self._parameters = parameters
        self.q = np.array(self.system.q)
        self.v = np.array(self.system.v)
        self.p = np.array(self.system.p)

    def __repr__(self):
        shown = ", ".join(self.coordinates[:8]) + (", …" if len(self.coordinates) > 8 else "")
        return (
            f"<Dynamics of {self.model.name!r}, {self.formulation}: q of {len(self.q)}, v of {len(self.v)} numbers ({shown}); "
            f"kernels {', '.join(self.kernels)}>"
        )

    def _repr_html_(self):
        return f"<pre>{escape(repr(self))}</pre>"

    def __reduce__(self):
        return Dynamics, (self.model, self.formulation, self.map, self._parameters)

    def state(self, start: Any) -> tuple[np.ndarray, np.ndarray]:
        """q and v of anything that `start=` of `simulate` takes: values by name, a keyframe of a file, a result at one time."""
        system, _ = self._simulation._task.starts.at(start, None)
        return np.array(system.q), np.array(system.v)

    @cached_property
    def _simulation(self):
        from ..stepping import Simulation

        return Simulation(
            self.model, formulation=self.formulation, map=self.map, parameters=dict(self._parameters or {})
        )

    def accelerations(self, q: Any = None, v: Any = None, t: Any = 0.0, p: Any = None) -> np.ndarray:
        """v̇ of a state, in the order of `coordinates`; arguments that are not given are those of the start. In absolute coordinates
        v̇ consists of ẍ in world axes and ω̇ in body axes, body by body."""
        return self._functions["accelerations"](t, q, v, p)

    def multipliers(self, q: Any = None, v: Any = None, t: Any = 0.0, p: Any = None) -> np.ndarray:
        """Multipliers λ of the constraint rows in use."""
        return self._functions["multipliers"](t, q, v, p)

    def momenta(self, q: Any = None, v: Any = None, t: Any = 0.0, p: Any = None) -> np.ndarray:
        """π = ∂T/∂v, conjugate to the velocities of the formulation, also where the state has other variables than v."""
        return self._functions["momenta"](t, q, v, p)

    def _state_function(self, name):
        if name == "momenta":
            return self._function_of_kernel(self._momenta_kernel(), "t q v p", "t q v p")
        if name == "difference":
            return self._difference()
        if name not in ("accelerations", "multipliers"):
            return super()._state_function(name)
        count = len(self.system.keep) if name == "multipliers" else self.v.size

        def general(t, q, v, p):
            batch, results = self._solve(q, v, t, p)
            return batch.reshape(results[STEP_RESULTS.index(name)][:, :count])

        steps = [
            (self.kernels["factor"], "t q p", "factor"),
            (self.kernels["accelerations"], "t q v p factor", " ".join(STEP_RESULTS)),
        ]
        return StateFunction("t q v p", self._starts(), steps, (name, lambda x: x[:count]), general)

    def _difference(self):
        from .. import kernels
        from .configurations import difference

        kernel = kernels.build({"difference": difference(self.formulation_object, self.map)})["difference"]
        return self._function_of_kernel(kernel, "q target", "q target")

    def _momenta_kernel(self):
        from .. import kernels
        from ..formulations.algebra.lagrangian import Lagrangian

        if "momenta" in self.kernels:
            return self.kernels["momenta"]
        L = Lagrangian(self.formulation_object)
        return kernels.build({"momenta": ca.Function("momenta", [L.t, L.q, L.v, L.p], [L.momenta])})["momenta"]

    def residuals(self, q: Any = None, v: Any = None, t: Any = 0.0, p: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity residuals of the constraint rows in use."""
        batch = self._batch(q, v, t, p)
        t, q, v, p = batch["t q v p"]
        F = self._factor(t, q, p)
        g = self.kernels["positions"].over(t, q, p, F)[1]
        psi = self.kernels["velocities"].over(t, q, v, p, F)[1]
        return batch.reshape(g[:, :-1]), batch.reshape(psi[:, :-1])

    def projected(self, q: Any = None, v: Any = None, t: Any = 0.0, p: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """The state (q, v) projected onto the constraints: positions by Newton's method, then velocities."""
        batch = self._batch(q, v, t, p)
        t, q, v, p = batch["t q v p"]
        q = np.broadcast_to(q, (batch.count, q.shape[-1]))
        for _ in range(PROJECTION_STEPS):
            q_next, g = self.kernels["positions"].over(t, q, p, self._factor(t, q, p))
            residual = g[:, -1] * self.system.unit / self.system.length
            active = ~(residual <= PROJECTION_CONVERGED)
            if not active.any():
                break
            q = np.where(active[:, None], q_next, q)
        if len(failed := np.flatnonzero(~(residual <= PROJECTION_FAILED))):
            raise AssemblyError(
                f"model {self.model.name!r}: Newton's method does not converge to the constraints from {len(failed)} of "
                f"{batch.count} states, the first of them number {failed[0]}; give states closer to the constraints, or find a "
                "configuration with ts.assemble"
            )
        factor = self._factor(t, q, p)
        for _ in range(2):  # the second projection removes the rounding errors of the first
            v = self.kernels["velocities"].over(t, q, v, p, factor)[0]
        return batch.reshape(q), batch.reshape(v)

    @property
    def coordinates(self) -> list[str]:
        """Names of the velocities, in their order."""
        return list(self.system.coordinates)

    @property
    def instructions(self) -> dict[str, int]:
        """Number of arithmetic operations of each kernel."""
        return {name: kernel.instructions for name, kernel in self.kernels.items()}

    @cached_property
    def formulation_object(self) -> Any:
        """The formulation behind the kernels, derived again, with the constraint rows in use selected."""
        from ..registry import lookup

        f = lookup("formulation", self.formulation)(self.model)
        return f.with_choice(self.system.choice)

    @cached_property
    def functions(self) -> dict[str, ca.Function]:
        """The kernels as casadi.Function objects."""
        f = self.formulation_object
        return {name: x for name, x in {**f.functions(), **f.retractions(self.map)}.items() if name in self.kernels}

    def body_accelerations(self, q: Any = None, v: Any = None, t: Any = 0.0, p: Any = None) -> np.ndarray:
        """ẍ (world axes) and ω̇ (body axes) of all bodies, body by body, for any formulation."""
        batch, (a, lam, _) = self._solve(q, v, t, p)
        rows = self.kernels["outputs"].over(*batch["t q v p"], a, lam)[0]
        outputs = self.system.outputs.split(rows)
        parts = [outputs[name].reshape(len(rows), -1, 3) for name in ("acceleration", "angular_acceleration")]
        return batch.reshape(np.concatenate(parts, axis=-1).reshape(len(rows), 6 * len(self.system.bodies)))

    def partition_measure(self, q: Any = None, t: Any = 0.0, p: Any = None) -> dict[str, Any]:
        """How directly a change of each coordinate violates the constraints, from 0 to 1, for positions and for velocities.

        A good dependent coordinate has a large measure. Keys: `names`, `positions`, `velocities`.
        """
        from ..formulations.algebra.partition import dependence_measure

        t, q, _, p = self._state(q, None, t, p)
        f = self.formulation_object
        G = self._examiner.G(t, q, p, f.keep)
        Minv = self._examiner.Minv(q, p)
        holonomic = np.array([f.rows[k].holonomic for k in f.keep], bool)
        return {
            "names": f.coordinate_names(),
            "positions": dependence_measure(G[holonomic], Minv),
            "velocities": dependence_measure(G, Minv),
        }

    @cached_property
    def _examiner(self):
        from ..formulations.algebra.scales import Scales
        from ..start.constraints import Examiner

        return Examiner(self.formulation_object, Scales(**self.system.scales))

    def _solve(self, q, v, t, p):
        """The batch of states, and v̇, λ and power with one row per state."""
        batch = self._batch(q, v, t, p)
        results = []
        for first in range(0, max(batch.count, 1), CHUNK):  # factors are stored for one chunk of states only
            chunk = [x[first : first + CHUNK] if x.ndim == 2 else x for x in batch["t q v p"]]
            F = self.kernels["factor"].over(chunk[0], chunk[1], chunk[3])[0]
            results.append(self.kernels["accelerations"].over(*chunk, F))
        return batch, [np.concatenate(parts) for parts in zip(*results)]

    def _factor(self, t, q, p):
        return self.kernels["factor"].over(t, q, p)[0]

    def _batch(self, q=None, v=None, t=0.0, p=None, **more):
        """A batch of the given arguments; those that are None are taken from the start, further ones are zero."""
        starts = {"q": (q, self.q), "v": (v, self.v), "p": (p, self.p)}
        arguments = {name: (start if value is None else value, start.size) for name, (value, start) in starts.items()}
        for name, value in more.items():
            n = 3 if name == "point" else self.v.size
            arguments[name] = (np.zeros(n) if value is None else value, n)
        return Batch(t=(t, None), **arguments)

    def _state(self, q, v, t, p):
        """The vectors t, q, v, p of a single state; an array of states is refused."""
        batch = self._batch(q, v, t, p)
        if batch.shape:
            raise OptionError(f"this function takes a single state, got an array of states of shape {batch.shape}")
        return batch["t q v p"]


@deriving
def compile(
    model: Model, formulation: str = "auto", map: str = "exp", parameters: Mapping[str, float] | None = None
) -> Dynamics:
    """Derive, diagnose and compile a model; returns its Dynamics.

    formulation, map, parameters   as in `simulate`
    """
    return Dynamics(model, formulation, map, parameters)
