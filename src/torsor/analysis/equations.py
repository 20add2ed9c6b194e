"""The equations of a model as residuals of all that is unknown in them, with exact derivatives in any direction.

    0 = M v̇ + h − Gᵀ λ                 balance of forces; h holds everything that is applied            (1)
    0 = y − e(t, q, v, v̇, λ, y)        efforts that depend on reactions, where there are any            (2)
    0 = G v̇ − γ                        constraints at the level of accelerations                        (3)
    ż = r(t, q, v, v̇, λ, y, z)         states of the user, which stand among the inputs p               (4)

All declared rows are in them: whoever evaluates them says which rows hold, and sets λ of the others to zero. A derivative is
taken along x → x · exp(u) of the configuration, and along changes of all other arguments, by automatic differentiation of these
expressions; nothing is perturbed.
"""

from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..describe.quantity import time
from ..formulations.evaluation import Evaluated
from ..formulations.graphs import counting, named
from ..formulations.lagrangian import Lagrangian
from ..formulations.lengths import sloped
from ..formulations.outputs import Outputs
from ..formulations.signal_values import SignalValues
from .along import Along

# (1), (2), (3), (4), and what constraints say of q and v
ALL = ("balance", "efforts", "constraints", "states", "g", "psi")
FORCES = ("balance", "efforts", "states")
# arguments of which some change together; a derivative is made for the first of these that has all that change
CHANGING = (("a", "lam", "y"), ("q", "p"), ("q", "v", "p"), ("q", "v", "p", "a", "lam", "y"))


class Unknown(NamedTuple):
    """What a state leaves open: accelerations, multipliers of all declared rows, implicit efforts."""

    a: np.ndarray
    lam: np.ndarray
    y: np.ndarray


class Equations:
    """The residuals (1) to (4) of a formulation, and what is linear in a change of their arguments.

    f        the formulation; all of its rows are taken as rows in use
    sizes    of q, v, p, rows, efforts and states
    states   places of the user's states in p
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
        self._known: dict = {}

    # functions of numbers

    def evaluated(self, name):
        """A function of NumPy columns: `balance`, `turns`, `bodies`, … made when first asked for."""
        if name not in self._known:
            self._known[name] = Evaluated(getattr(self, f"_{name}")())
        return self._known[name]

    def __getitem__(self, name):
        """As kernels are called: with a list of results."""
        return lambda *columns: [self.evaluated(name)(*columns).ravel()]

    def residuals(self, t, q, v, p, unknown):
        """(1), (2), (3) of all rows, and r of (4)."""
        found = self._parted(self.evaluated("residuals")(t, q, v, p, *unknown), ALL)
        found["efforts"] = unknown.y[:, None] - found["efforts"]  # (2)
        return found

    def slopes(self, t, q, v, p, unknown, directions, of=ALL):
        """Derivatives of the residuals, of g and of ψ in several directions at once, a column each.

        directions   by name: "q" along the group, "v", "p", "a", "lam", "y"; matrices with a column per direction
        of           which of `ALL` are asked for
        """
        changing = next(names for names in CHANGING if {*directions} <= {*names})
        if (of, changing) not in self._known:
            self._known[of, changing] = self._derivative("slopes", [self._stated[name] for name in of], changing)
        along = self._known[of, changing]
        found = self._parted(self._columns(along, t, q, v, p, unknown, directions, changing), of)
        if "efforts" in found:  # a size has no slope where it vanishes
            found["efforts"] = directions.get("y", 0.0) - np.where(np.isfinite(found["efforts"]), found["efforts"], 0.0)
        return found

    def outputs(self, column, t, q, v, p, unknown, directions=None):
        """Signals at a state; with directions, their derivatives as of the residuals."""
        key = tuple(x.element_hash() for x in ca.vertsplit(column))
        if key not in self._outputs:
            told = self.f.in_state(self.values.of(sloped(column)), self.a)
            along = self._derivative("along", [told], CHANGING[-1])
            self._outputs[key] = column, Evaluated(self._function("signals", told)), along
        _, values, along = self._outputs[key]
        if directions is None:
            return values(t, q, v, p, *unknown).ravel()
        return self._columns(along, t, q, v, p, unknown, directions, CHANGING[-1])

    def bending(self, t, q, v, p, a, directions):
        """Γ of `_bending` with accelerations a, times directions, a column each."""
        if "bending" not in self._known:
            self._known["bending"] = self._bending()
        return self._known["bending"]((t, q, v, p, a), directions)

    def _columns(self, f, t, q, v, p, unknown, directions, changing):
        count = next(iter(directions.values())).shape[1]
        every = [directions.get(name, np.zeros((self._size(name), count))) for name in changing]
        return f((t, q, v, p, *unknown), np.vstack(every))

    def _size(self, name):
        """Of a change of an argument."""
        return self.sizes[{"q": "v", "a": "v", "lam": "rows", "y": "efforts"}.get(name, name)]

    def _parted(self, found, names):
        """Results by name."""
        rows = self.sizes["rows"]
        sizes = {"balance": self.sizes["v"], "efforts": self.sizes["efforts"], "states": self.sizes["states"]}
        found = found if found.ndim == 2 else found[:, None]
        return dict(zip(names, np.split(found, np.cumsum([sizes.get(name, rows) for name in names])[:-1])))

    # graphs

    def _arguments(self):
        f = self.f
        return {"t": time, "q": f.q, "v": f.v, "p": f.p, "a": self.a, "lam": self.lam, "y": self.y}

    def _function(self, name, *results):
        return named(name, self._arguments(), ca.vertcat(*results))

    @cached_property
    def _stated(self):
        """Left sides of (1) and (3), e of (2), r of (4), g and ψ."""
        f = self.f
        G = f.jacobian()
        balance = f.needed(self.a) - G.T @ self.lam  # (1)
        efforts = f.in_state(self.values.of(f.loads.definitions()), self.a)  # e of (2)
        held = G @ self.a - f.stacked("gamma")  # (3)
        rates = sloped(ca.vertcat(*[state.rate for state in f.model.states], ca.SX(0, 1)))
        states = f.in_state(self.values.of(rates), self.a)  # (4)
        return dict(zip(ALL, (balance, efforts, held, states, f.stacked("g"), f.stacked("psi"))))

    def _residuals(self):
        return self._function("residuals", *self._stated.values())

    def _derivative(self, name, results, changing):
        """The derivative of a column along a change of some arguments, as a function."""
        arguments, L = self._arguments(), Lagrangian(self.f)
        changes = {x: ca.SX.sym(x, self._size(x)) for x in changing}
        ways = ca.vertcat(*[L.along @ u if x == "q" else u for x, u in changes.items()])
        varied = ca.vertcat(*[arguments[x] for x in changing])
        total = ca.jtimes(ca.densify(ca.vertcat(*results)), varied, ways)
        return Along(named(name, arguments | {"direction": ca.vertcat(*changes.values())}, total))

    def _bending(self):
        """How accelerations a meet the bending of free motions, as a function of a direction w of velocities:

            ½ ∂²(a·c)/∂v² w,      c(q, v) = ∂π/∂q v − ad(v)ᵀ π − ∂T/∂q                                  (5)

        where M v̇ + c = 0 is the motion without forces.
        """
        L, w = Lagrangian(self.f), ca.SX.sym("w", self.sizes["v"])
        T, pi, a, v = L.kinetic_energy, L.momenta, self.a, L.v
        carried = ca.jtimes(ca.dot(a, pi), L.q, L.along @ v) - ca.jtimes(T, L.q, L.along @ a)
        bent = carried - ca.dot(L.manifold.ad(v) @ a, pi)
        total = ca.jtimes(ca.densify(ca.gradient(bent, v)), v, w) / 2
        arguments = {name: x for name, x in self._arguments().items() if name in ("t", "q", "v", "p", "a")}
        return Along(named("bending", arguments | {"direction": w}, total))

    def _turns(self):
        return counting(self.f)["turns"]

    def _results(self):
        """Everything that a result holds, as a function (t, q, v, p, v̇, λ and efforts)."""
        return Outputs(self.f, self.f.model.signals).function()

    def _axes(self):
        """S that turns velocities into axes that stay (`Group.axes`), Ṡ along the motion and ad(v), one beside the other."""
        f, L = self.f, Lagrangian(self.f)
        S = ca.densify(ca.SX(f.manifold.axes(f.q)))
        rate = ca.reshape(ca.jtimes(ca.vec(S), f.q, L.along @ f.v), *S.shape)
        return named("axes", {"q": f.q, "v": f.v}, ca.horzcat(S, rate, ca.SX(f.manifold.ad(f.v))))

    def _bodies(self):
        """Positions, rotations (column by column), velocities and angular velocities in world axes of all bodies."""
        of, bodies = self.f.substitution.of, self.f.model.bodies
        turning = [b.rotation @ b.angular_velocity for b in bodies]
        columns = ([b.position for b in bodies], [b.rotation for b in bodies], [b.velocity for b in bodies], turning)
        every = self.f.placed(ca.vertcat(*[of(ca.vec(x)) for column in columns for x in column]))
        return named("bodies", {"t": time, "q": self.f.q, "v": self.f.v, "p": self.f.p}, every)
