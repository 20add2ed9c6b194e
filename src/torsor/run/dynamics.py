"""A compiled model: its kernels, callable with NumPy arrays, and the same graphs as CasADi functions."""

from collections.abc import Mapping
from functools import cached_property
from html import escape
from typing import Any

import casadi as ca
import numpy as np

from ..describe import quantity
from ..describe.model import Model
from ..errors import AssemblyError, OptionError
from ..kernels.deriving import deriving
from ..lie.groups import MAPS
from .automatic import prepared
from .batches import Batch
from .joint_dynamics import JointDynamics
from .prepare import mechanics

PORTION = 4096  # states whose factors are kept at a time
STEPS = 100  # of Newton's method onto the constraints
ROUNDING, ASTRAY = 1e-14, 1e-9  # largest residual over the size of the model: nothing is left, and something is


class Dynamics(JointDynamics):
    """What `torsor.compile` returns.

    q, v, p        the consistent start: configuration, velocities, parameters followed by joint angles near which turns count
    kernels        the compiled library, by name, each callable and with its `instructions`
    functions      the same as casadi.Function, by name
    coordinates    names of the velocities, in their order
    formulation    the one in use, and `formulation_reason`: why

    Also `poses`, `point` and `point_jacobian` of bodies and, in joint coordinates, `mass_matrix`, `coriolis`, `gravity`,
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
        self.model, self.map = model, map
        model.seal()
        chosen, self.system, self.kernels = prepared(model, formulation, map, parameters=parameters, build=mechanics)
        self.formulation, self.formulation_reason = chosen
        self._matrices: dict = {}
        self._derivatives: dict = {}
        self._points: dict = {}
        self._given = parameters
        self.q, self.v, self.p = (np.array(x) for x in (self.system.q, self.system.v, self.system.p))

    def __repr__(self):
        shown = ", ".join(self.coordinates[:8]) + (", …" if len(self.coordinates) > 8 else "")
        return (
            f"<Dynamics of {self.model.name!r}, {self.formulation}: q of {len(self.q)}, v of {len(self.v)} numbers ({shown}); "
            f"kernels {', '.join(self.kernels)}>"
        )

    def _repr_html_(self):
        return f"<pre>{escape(repr(self))}</pre>"

    def __reduce__(self):
        return Dynamics, (self.model, self.formulation, self.map, self._given)

    def accelerations(self, q: Any = None, v: Any = None, t: Any = 0.0, p: Any = None) -> np.ndarray:
        """v̇ of a state (the start where nothing is given), in the order of `coordinates`. In absolute coordinates ẍ in world axes
        and ω̇ in body axes, body by body."""
        batch, (a, _, _) = self._solve(q, v, t, p)
        return batch.shaped(a)

    def multipliers(self, q: Any = None, v: Any = None, t: Any = 0.0, p: Any = None) -> np.ndarray:
        """λ of the rows in use."""
        batch, (_, lam, _) = self._solve(q, v, t, p)
        return batch.shaped(lam[:, : len(self.system.keep)])

    def momenta(self, q: Any = None, v: Any = None, t: Any = 0.0, p: Any = None) -> np.ndarray:
        """π = ∂T/∂v, conjugate to the velocities of the formulation, whatever its state is."""
        batch = self._batch(q, v, t, p)
        return batch.shaped(self._momenta.over(*batch["t q v p"])[0])

    @cached_property
    def _momenta(self):
        from .. import kernels
        from ..formulations.lagrangian import Lagrangian

        if "momenta" in self.kernels:
            return self.kernels["momenta"]
        L = Lagrangian(self.formulation_object)
        return kernels.build({"momenta": ca.Function("momenta", [L.t, L.q, L.v, L.p], [L.momenta])})["momenta"]

    def residuals(self, q: Any = None, v: Any = None, t: Any = 0.0, p: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity residuals of the rows in use."""
        batch = self._batch(q, v, t, p)
        t, q, v, p = batch["t q v p"]
        F = self._factor(t, q, p)
        g, psi = self.kernels["positions"].over(t, q, p, F)[1], self.kernels["velocities"].over(t, q, v, p, F)[1]
        return batch.shaped(g[:, :-1]), batch.shaped(psi[:, :-1])

    def projected(self, q: Any = None, v: Any = None, t: Any = 0.0, p: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """The state moved onto the constraints: positions by Newton steps, then velocities."""
        batch = self._batch(q, v, t, p)
        t, q, v, p = batch["t q v p"]
        q = np.broadcast_to(q, (batch.count, q.shape[-1]))
        for _ in range(STEPS):
            moved, g = self.kernels["positions"].over(t, q, p, self._factor(t, q, p))
            left = g[:, -1] * self.system.unit / self.system.length
            off = ~(left <= ROUNDING)
            if not off.any():
                break
            q = np.where(off[:, None], moved, q)
        if len(far := np.flatnonzero(~(left <= ASTRAY))):
            raise AssemblyError(
                f"model {self.model.name!r}: Newton's method does not lead onto the constraints from {len(far)} of {batch.count} "
                f"states, the first of them number {far[0]}; begin nearer to them, or find a configuration with ts.assemble"
            )
        factor = self._factor(t, q, p)
        for _ in range(2):  # the second time takes away what rounding left of large changes
            v = self.kernels["velocities"].over(t, q, v, p, factor)[0]
        return batch.shaped(q), batch.shaped(v)

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

    def body_accelerations(self, q: Any = None, v: Any = None, t: Any = 0.0, p: Any = None) -> np.ndarray:
        """ẍ (world axes) and ω̇ (body axes) of all bodies, body by body, whatever the coordinates are."""
        batch, (a, lam, _) = self._solve(q, v, t, p)
        flat = self.kernels["outputs"].over(*batch["t q v p"], a, lam)[0]
        starts = dict(
            zip([name for name, _ in self.system.layout], np.cumsum([0, *[n for _, n in self.system.layout]]))
        )
        of = lambda name: flat[:, starts[name] :][:, : 3 * len(self.system.bodies)].reshape(len(flat), -1, 3)
        both = np.concatenate([of("acceleration"), of("angular_acceleration")], axis=-1)
        return batch.shaped(both.reshape(len(flat), 6 * len(self.system.bodies)))

    def partition_measure(self, q: Any = None, t: Any = 0.0, p: Any = None) -> dict[str, Any]:
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

    def _solve(self, q, v, t, p):
        """The states side by side, and v̇, λ and power of each, a row for each."""
        batch = self._batch(q, v, t, p)
        found = []
        for first in range(0, max(batch.count, 1), PORTION):  # what is factored is not kept for all of them
            few = [x[first : first + PORTION] if x.ndim == 2 else x for x in batch["t q v p"]]
            F = self.kernels["factor"].over(few[0], few[1], few[3])[0]
            found.append(self.kernels["accelerations"].over(*few, F))
        return batch, [np.concatenate(parts) for parts in zip(*found)]

    def _factor(self, t, q, p):
        return self.kernels["factor"].over(t, q, p)[0]

    def _batch(self, q=None, v=None, t=0.0, p=None, **more):
        """States as they are given, side by side: those of the start where nothing is given."""
        starts = {"q": (q, self.q), "v": (v, self.v), "p": (p, self.p)}
        given = {name: (start if value is None else value, start.size) for name, (value, start) in starts.items()}
        for name, value in more.items():
            n = 3 if name == "point" else self.v.size
            given[name] = (np.zeros(n) if value is None else value, n)
        return Batch(t=(t, None), **given)

    def _state(self, q, v, t, p):
        """One state."""
        batch = self._batch(q, v, t, p)
        if batch.shape:
            raise OptionError(f"one state is asked for here, got an array of {batch.shape} states")
        return batch["t q v p"]


@deriving
def compile(
    model: Model, formulation: str = "auto", map: str = "exp", parameters: Mapping[str, float] | None = None
) -> Dynamics:
    """Derive, diagnose and compile a model; returns its Dynamics.

    formulation, map, parameters   as in `simulate`
    """
    return Dynamics(model, formulation, map, parameters)
