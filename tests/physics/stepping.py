"""Single steps of a method, forwards and backwards, as a function of a state: what laws of a discrete flow are told of."""

import casadi as ca
import numpy as np

import torsor as ts
from torsor.elements.quantity import time
from torsor.formulations.algebra.lagrangian import Lagrangian
from torsor.kernels.loops import loops
from torsor.methods.projections import LeastSquares
from torsor.methods.status_codes import ACCEPTED
from torsor.prepare.choice import KernelOptions
from torsor.prepare.prepare import prepare
from torsor.run.runner import Runner, RunOptions

WEIGHTS = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}  # of central differences of order 6


class Flow:
    """Steps of a model from states x, with the group of its configuration and its momenta."""

    def __init__(self, model, formulation, method, map="exp"):
        cls = ts.registered("integrator")[method]
        system, built = prepare(model, formulation, KernelOptions(map, needs=cls.needs))
        self.runner = Runner(system, built, RunOptions(method, 0.1, 1e-9, LeastSquares(), 10.0))
        self.step_ = loops(cls.loop[0])[cls.loop[1]]
        self.start, self.p, self.layout = self.runner.state.x.copy(), self.runner.state.p.copy(), system.state
        f = ts.compile(model, formulation=formulation).formulation_object
        q, y, u, v = (ca.SX.sym(c, n) for c, n in zip("qyuv", (f.q.shape[0],) * 2 + (f.v.shape[0],) * 2))
        M = f.manifold
        self._moved = ca.Function("moved", [q, u], [M.retract(q, u)])
        self._between = ca.Function("between", [q, y], [M.local(q, y)])
        self._ad = ca.Function("ad", [u], [M.ad(u)])
        self._momenta = ca.Function("momenta", [time, f.q, f.v, f.p], [Lagrangian(f).momenta])
        rows = [f.stack_rows(what)[f.keep, :] for what in ("g", "psi")]
        self._rows = ca.Function("rows", [time, f.q, f.v, f.p], rows)

    def step(self, x, h, t=0.0):
        """The state after a step of length h."""
        state = self.runner.state
        state.at, state.fresh, state.rated, state.p[...] = 0, 0, 0, self.p
        state.xs[0] = x
        assert self.step_(self.runner.run_.address, 0, t, h) == ACCEPTED
        return state.xs[1].copy()

    def steps(self, x, h, count):
        for k in range(count):
            x = self.step(x, h, k * h)
        return x

    def split_blocks(self, x):
        return self.layout.split_blocks(x)

    def momenta(self, x):
        return self._momenta(0.0, *self.split_blocks(x), self.p).full().ravel()

    def residuals(self, x):
        """g and ψ of the rows in use."""
        return [r.full().ravel() for r in self._rows(0.0, *self.split_blocks(x), self.p)]

    def moved(self, x, change):
        """The state with its configuration moved along the group by the first half of a change, velocities by the second."""
        n = self.layout.v
        q, v = self.split_blocks(x)
        rest = x[self.layout.q + n :]
        return np.concatenate([self._moved(q, change[:n]).full().ravel(), v + change[n:], rest])

    def seen(self, base, x):
        """(η, π) of a state: where its configuration is, from that of a base, and its momenta."""
        return np.concatenate(
            [self._between(self.split_blocks(base)[0], self.split_blocks(x)[0]).full().ravel(), self.momenta(x)]
        )

    def derivative(self, function, size=3e-3):
        """∂/∂change of a function of a change of the state, by central differences of order 6."""
        columns = []
        for way in np.eye(2 * self.layout.v):
            terms = [w * (function(k * size * way) - function(-k * size * way)) for k, w in WEIGHTS.items()]
            columns.append(sum(terms) / size)
        return np.array(columns).T

    def form(self, x):
        """The canonical two-form at a state, in (η, δπ): dθ of θ = π · q⁻¹ dq, which is δπ₁·η₂ − δπ₂·η₁ − π·[η₁, η₂]."""
        n, momenta = self.layout.v, self.momenta(x)
        bracket = np.array([momenta @ self._ad(e).full() for e in np.eye(n)])
        return np.block([[-bracket, -np.eye(n)], [np.eye(n), np.zeros((n, n))]])


def order_of(method, build, formulation, steps, until=0.5):
    """By which power of the step all that a model is at the end of a run differs from the motion, from two numbers of steps."""
    exact = ts.simulate(build(), until, outputs=1, tolerance=1e-13, formulation=formulation)
    errors = []
    for n in steps:
        data = ts.simulate(build(), until, outputs=1, method=method, step=until / n, formulation=formulation)
        known = [name for name in ("position", "velocity", "lag", "work") if name in data]
        errors.append(max(np.abs(data[name].values[-1] - exact[name].values[-1]).max() for name in known))
    return np.log2(errors[0] / errors[1]) / np.log2(steps[1] / steps[0])
