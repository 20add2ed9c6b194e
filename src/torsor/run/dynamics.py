"""A compiled model: its kernels, callable with NumPy arrays, and the same graphs as CasADi functions."""

from functools import cached_property

import numpy as np

from ..errors import OptionError
from .prepare import prepare


class Dynamics:
    """What `torsor.compile` returns.

    q, v, p        the consistent start: configuration, velocities, parameters followed by joint angles near which turns count
    kernels        the compiled library, by name, each callable and with its `instructions`
    functions      the same as casadi.Function, by name
    """

    def __init__(self, model, formulation="absolute", map="exp", parameters=None):
        self.model, self.formulation, self.map = model, formulation, map
        self.system, self.kernels = prepare(model, formulation, map, parameters=parameters)
        self.q, self.v, self.p = (np.array(x) for x in (self.system.q, self.system.v, self.system.p))

    def accelerations(self, q=None, v=None, t=0.0, p=None):
        """v̇ of a state (the start where nothing is given): ẍ in world axes and ω̇ in body axes, body by body."""
        return self._solve(q, v, t, p)[0]

    def multipliers(self, q=None, v=None, t=0.0, p=None):
        """λ of the rows in use."""
        return self._solve(q, v, t, p)[1]

    def residuals(self, q=None, v=None, t=0.0, p=None):
        """Position and velocity residuals of the rows in use."""
        t, q, v, p = self._state(q, v, t, p)
        F = self._factor(t, q, p)
        return self.kernels["positions"](t, q, p, F)[1], self.kernels["velocities"](t, q, v, p, F)[1]

    def projected(self, q=None, v=None, t=0.0, p=None):
        """The state moved onto the constraints: positions by Newton steps, then velocities."""
        t, q, v, p = self._state(q, v, t, p)
        for _ in range(20):
            moved, g = self.kernels["positions"](t, q, p, self._factor(t, q, p))
            if np.abs(g).max(initial=0.0) <= 1e-14 * self.system.length:
                break
            q = moved
        return q, self.kernels["velocities"](t, q, v, p, self._factor(t, q, p))[0]

    @property
    def instructions(self):
        """Number of arithmetic operations of each kernel."""
        return {name: kernel.instructions for name, kernel in self.kernels.items()}

    @cached_property
    def formulation_object(self):
        """The equations behind the kernels, derived anew, with the rows in use chosen."""
        from ..registry import lookup

        f = lookup("formulation", self.formulation)(self.model)
        f.keep = self.system.keep
        return f

    @cached_property
    def functions(self):
        """The kernels as casadi.Function objects."""
        f = self.formulation_object
        return {**f.functions(), **f.retractions(self.map)}

    def body_accelerations(self, q=None, v=None, t=0.0, p=None):
        """ẍ (world axes) and ω̇ (body axes) of all bodies, body by body, whatever the coordinates are."""
        a, lam, _ = self._solve(q, v, t, p)
        t, q, v, p = self._state(q, v, t, p)
        flat = self.kernels["outputs"](t, q, v, p, a, lam)[0]
        found, at = {}, 0
        for name, size in self.system.layout:
            found[name] = (
                flat[at : at + size].reshape(-1, 3) if name.endswith("acceleration") and size % 3 == 0 else None
            )
            at += size
        return np.hstack([found["acceleration"], found["angular_acceleration"]]).ravel()

    def _solve(self, q, v, t, p):
        t, q, v, p = self._state(q, v, t, p)
        return self.kernels["accelerations"](t, q, v, p, self._factor(t, q, p))

    def _factor(self, t, q, p):
        return self.kernels["factor"](t, q, p)[0]

    def _state(self, q, v, t, p):
        given = []
        for name, value, start in (("q", q, self.q), ("v", v, self.v), ("p", p, self.p)):
            array = start if value is None else np.asarray(value, float).ravel()
            if array.shape != start.shape:
                raise OptionError(f"{name} must have {start.size} numbers, got {array.size}")
            given.append(array)
        return np.array([float(t)]), *given


def compile(model, formulation="absolute", map="exp", parameters=None):
    """Derive, diagnose and compile a model; returns its Dynamics."""
    return Dynamics(model, formulation, map, parameters)
