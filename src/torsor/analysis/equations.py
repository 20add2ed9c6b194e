"""The equations of motion of a model as residuals of their unknowns, with exact directional derivatives.

    0 = M v̇ + h − Gᵀ λ                 balance of forces; h contains all applied forces                 (1)
    0 = y − e(t, q, v, v̇, λ, y)        efforts that depend on reactions, where there are any            (2)
    0 = G v̇ − γ                        constraints at the level of accelerations                        (3)
    ż = r(t, q, v, v̇, λ, y, z)         states of the user, which are part of the inputs p               (4)

They contain all declared constraint rows. The caller selects the active rows and sets λ of the others to zero. Derivatives are
taken along q → q · exp(u) of the configuration and along changes of the other arguments, by automatic differentiation.
"""

from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..elements.quantity import time
from ..formulations.algebra.lagrangian import Lagrangian
from ..formulations.algebra.numpy_functions import NumericFunction
from ..formulations.algebra.safe_norm import regularise_norms
from ..formulations.graphs.outputs import Outputs
from ..formulations.graphs.run_kernels import named_function, turn_kernels
from ..formulations.graphs.signal_values import SignalValues
from .directional_derivatives import DirectionalDerivative

# (1), (2), (3), (4), and the constraints g and ψ
ALL_RESIDUALS = ("balance", "efforts", "constraints", "states", "g", "psi")
FORCE_RESIDUALS = ("balance", "efforts", "states")
# sets of arguments that are varied together; a derivative uses the first set that contains all varied arguments
VARIED_ARGUMENTS = (("a", "lam", "y"), ("q", "p"), ("q", "v", "p"), ("q", "v", "p", "a", "lam", "y"))


class Unknown(NamedTuple):
    """Unknowns at a state: accelerations, multipliers of all declared rows, implicit efforts."""

    a: np.ndarray
    lam: np.ndarray
    y: np.ndarray


class Equations:
    """The residuals (1) to (4) of a formulation, and their directional derivatives.

    f        the formulation, with all of its rows in use
    sizes    sizes of q, v, p, rows, efforts and states
    states   indices of the user's states in p
    """

    def __init__(self, f, states):
        self.f, self.states = f, list(states)
        f.keep, f.multipliers = list(range(len(f.rows))), lambda lam, a: lam
        self.a, self.lam = ca.SX.sym("a", f.v.shape[0]), ca.SX.sym("lam", len(f.rows))
        self.y = f.loads.unknown()
        self.values = SignalValues(f, self.a, self.lam, shared=False)
        sizes = {"q": f.q, "v": f.v, "p": f.p, "rows": self.lam, "efforts": self.y}
        self.sizes = {name: x.shape[0] for name, x in sizes.items()} | {"states": len(self.states)}
        self._outputs: dict = {}
        self._functions: dict = {}

    # numeric functions

    def numeric_function(self, name):
        """A function of NumPy columns: `residuals`, `turns`, `bodies`, `axes` or `results`. It is built at the first call."""
        if name not in self._functions:
            self._functions[name] = NumericFunction(getattr(self, f"_{name}")())
        return self._functions[name]

    def __getitem__(self, name):
        """A function with the interface of a kernel: it returns a list of results."""
        return lambda *columns: [self.numeric_function(name)(*columns).ravel()]

    def residuals(self, t, q, v, p, unknown):
        """(1), (2), (3) of all rows, and r of (4)."""
        result = self._split_by_name(self.numeric_function("residuals")(t, q, v, p, *unknown), ALL_RESIDUALS)
        result["efforts"] = unknown.y[:, None] - result["efforts"]  # (2)
        return result

    def slopes(self, t, q, v, p, unknown, directions, of=ALL_RESIDUALS):
        """Derivatives of the residuals, of g and of ψ in several directions, one column each.

        directions   by name: "q" along the group, "v", "p", "a", "lam", "y"; matrices with a column per direction
        of           names from `ALL_RESIDUALS` to return
        """
        changing = next(names for names in VARIED_ARGUMENTS if {*directions} <= {*names})
        if (of, changing) not in self._functions:
            expressions = [self._expressions[name] for name in of]
            self._functions[of, changing] = self._derivative("slopes", expressions, changing)
        along = self._functions[of, changing]
        result = self._split_by_name(self._columns(along, t, q, v, p, unknown, directions, changing), of)
        if "efforts" in result:  # a norm has no derivative at zero
            efforts = result["efforts"]
            result["efforts"] = directions.get("y", 0.0) - np.where(np.isfinite(efforts), efforts, 0.0)
        return result

    def outputs(self, column, t, q, v, p, unknown, directions=None):
        """Signals at a state; with directions, their directional derivatives as in `slopes`."""
        key = tuple(x.element_hash() for x in ca.vertsplit(column))
        if key not in self._outputs:
            expression = self.f.in_state(self.values.of(regularise_norms(column)), self.a)
            along = self._derivative("along", [expression], VARIED_ARGUMENTS[-1])
            self._outputs[key] = column, NumericFunction(self._function("signals", expression)), along
        _, values, along = self._outputs[key]
        if directions is None:
            return values(t, q, v, p, *unknown).ravel()
        return self._columns(along, t, q, v, p, unknown, directions, VARIED_ARGUMENTS[-1])

    def bending(self, t, q, v, p, a, directions):
        """(5) of `_bending` with accelerations a, for several directions, one column each."""
        if "bending" not in self._functions:
            self._functions["bending"] = self._bending()
        return self._functions["bending"]((t, q, v, p, a), directions)

    def _columns(self, derivative, t, q, v, p, unknown, directions, changing):
        count = next(iter(directions.values())).shape[1]
        all_changes = [directions.get(name, np.zeros((self._size(name), count))) for name in changing]
        return derivative((t, q, v, p, *unknown), np.vstack(all_changes))

    def _size(self, name):
        """Size of a change of an argument."""
        return self.sizes[{"q": "v", "a": "v", "lam": "rows", "y": "efforts"}.get(name, name)]

    def _split_by_name(self, result, names):
        """Split stacked rows into parts by name."""
        rows = self.sizes["rows"]
        sizes = {"balance": self.sizes["v"], "efforts": self.sizes["efforts"], "states": self.sizes["states"]}
        result = result if result.ndim == 2 else result[:, None]
        return dict(zip(names, np.split(result, np.cumsum([sizes.get(name, rows) for name in names])[:-1])))

    # graphs

    def _arguments(self):
        f = self.f
        return {"t": time, "q": f.q, "v": f.v, "p": f.p, "a": self.a, "lam": self.lam, "y": self.y}

    def _function(self, name, *results):
        return named_function(name, self._arguments(), ca.vertcat(*results))

    @cached_property
    def _expressions(self):
        """Right-hand sides of (1) and (3), e of (2), r of (4), g and ψ, as expressions by name."""
        f = self.f
        G = f.jacobian()
        balance = f.inverse_dynamics(self.a) - G.T @ self.lam  # (1)
        efforts = f.in_state(self.values.of(f.loads.definitions()), self.a)  # e of (2)
        constraints = G @ self.a - f.stack_rows("gamma")  # (3)
        rates = regularise_norms(ca.vertcat(*[state.rate for state in f.model.states], ca.SX(0, 1)))
        states = f.in_state(self.values.of(rates), self.a)  # (4)
        return dict(zip(ALL_RESIDUALS, (balance, efforts, constraints, states, f.stack_rows("g"), f.stack_rows("psi"))))

    def _residuals(self):
        return self._function("residuals", *self._expressions.values())

    def _derivative(self, name, results, changing):
        """The directional derivative of a column of expressions for changes of the arguments `changing`."""
        arguments, L = self._arguments(), Lagrangian(self.f)
        changes = {x: ca.SX.sym(x, self._size(x)) for x in changing}
        tangents = ca.vertcat(*[L.along @ u if x == "q" else u for x, u in changes.items()])
        varied = ca.vertcat(*[arguments[x] for x in changing])
        total = ca.jtimes(ca.densify(ca.vertcat(*results)), varied, tangents)
        return DirectionalDerivative(
            named_function(name, arguments | {"direction": ca.vertcat(*changes.values())}, total)
        )

    def _bending(self):
        """The second derivative of the inertial forces along free motions, as a function of a direction w of velocities:

            ½ ∂²(a·c)/∂v² w,      c(q, v) = ∂π/∂q v − ad(v)ᵀ π − ∂T/∂q                                  (5)

        M v̇ + c = 0 is the motion without forces; a are accelerations.
        """
        L, w = Lagrangian(self.f), ca.SX.sym("w", self.sizes["v"])
        T, pi, a, v = L.kinetic_energy, L.momenta, self.a, L.v
        transported = ca.jtimes(ca.dot(a, pi), L.q, L.along @ v) - ca.jtimes(T, L.q, L.along @ a)
        covariant = transported - ca.dot(L.manifold.ad(v) @ a, pi)
        total = ca.jtimes(ca.densify(ca.gradient(covariant, v)), v, w) / 2
        arguments = {name: x for name, x in self._arguments().items() if name in ("t", "q", "v", "p", "a")}
        return DirectionalDerivative(named_function("bending", arguments | {"direction": w}, total))

    def _turns(self):
        return turn_kernels(self.f)["turns"]

    def _results(self):
        """All outputs of a result as a function of t, q, v, p, v̇, and λ with efforts."""
        return Outputs(self.f, self.f.model.signals).function()

    def _axes(self):
        """S that transforms velocities to axes fixed in space (`Group.axes`), Ṡ along the motion, and ad(v), side by side."""
        f, L = self.f, Lagrangian(self.f)
        S = ca.densify(ca.SX(f.manifold.axes(f.q)))
        rate = ca.reshape(ca.jtimes(ca.vec(S), f.q, L.along @ f.v), *S.shape)
        return named_function("axes", {"q": f.q, "v": f.v}, ca.horzcat(S, rate, ca.SX(f.manifold.ad(f.v))))

    def _bodies(self):
        """Positions, rotations (column by column), velocities and angular velocities in world axes of all bodies."""
        of, bodies = self.f.substitution.of, self.f.model.bodies
        world_angular_velocities = [b.rotation @ b.angular_velocity for b in bodies]
        columns = (
            [b.position for b in bodies],
            [b.rotation for b in bodies],
            [b.velocity for b in bodies],
            world_angular_velocities,
        )
        all_changes = self.f.to_state_symbols(ca.vertcat(*[of(ca.vec(x)) for column in columns for x in column]))
        return named_function("bodies", {"t": time, "q": self.f.q, "v": self.f.v, "p": self.f.p}, all_changes)
