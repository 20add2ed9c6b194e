"""What stands beside the configuration in a state: velocities, or momenta in units of speed.

    x = (q, y, w, z),      y = v     or     y = π / κ                                                    (1)

κ   how much momentum moves a coordinate at unit speed in the reference configuration, while what hangs on it is free

Iterations and events compare y with speeds, whichever of the two it is; errors are judged as velocities. Both classes say what the
waist asks for: v from y and y from v, changes of one as changes of the other, and what y changes by.
"""

import numpy as np

from ..describe.quantity import time


class Velocities:
    """y = v."""

    solves = "accelerations"  # the function of a formulation that ẏ comes from

    def __init__(self, parts):
        self.parts = parts

    def velocities(self, q, y, p, F=None):
        return y

    def stored(self, q, v, p):
        return v

    def momenta(self, q, y, p):
        """π, for methods that ask for it."""
        return self.parts["momenta"](time, q, y, p)

    def either(self, v, pi, p):
        """y, where both are known."""
        return v

    def added(self, q, p, dv):
        """What y changes by where v does."""
        return dv

    def corrected(self, y, q, p, v, w):
        """y with the velocities w in the place of v."""
        return w

    def taken(self, q, p, F, dy):
        """What v changes by where y does."""
        return dy

    def rate(self, t, q, v, p, *more):
        """ẏ, λ and power; more: the factor, and gains where the constraints are stabilised."""
        return self.parts["accelerations"](t, q, v, p, *more)

    def accelerations(self, q, v, p, ydot):
        return ydot


class Momenta:
    """y = π / κ: (1)."""

    solves = "forces"

    def __init__(self, parts):
        self.parts = parts

    def _unit(self, p):
        return self.parts["inertias"](p)

    def _factor(self, q, p):
        return self.parts["factor"](time, q, p)

    def velocities(self, q, y, p, F=None):
        return self.parts["speeds"](time, q, self._unit(p) * y, p, self._factor(q, p) if F is None else F)

    def stored(self, q, v, p):
        return self.parts["momenta"](time, q, v, p) / self._unit(p)

    def momenta(self, q, y, p):
        return self._unit(p) * y

    def either(self, v, pi, p):
        return pi / self._unit(p)

    def added(self, q, p, dv):
        return self.parts["weighed"](time, q, p, dv) / self._unit(p)

    def corrected(self, y, q, p, v, w):
        return y + self.added(q, p, w - v)

    def taken(self, q, p, F, dy):
        return self.parts["slowed"](q, p, F, self._unit(p) * dy)

    def rate(self, t, q, v, p, *more):
        rate, lam, power = self.parts["forces"](t, q, v, p, *more)
        return rate / self._unit(p), lam, power

    def accelerations(self, q, v, p, ydot):
        return self.parts["later"](time, q, v, p, self._factor(q, p), self._unit(p) * ydot)


def beside(f, parts):
    """What stands beside the configuration in the states of a formulation."""
    return Momenta(parts) if f.conjugate else Velocities(parts)


def state_of(built, layout, t, q, v, p):
    """The state with this configuration and these velocities, with kernels of a run."""
    x = layout.joined(q, v, p)
    return built["stored"](np.array([t]), x, np.asarray(p, float))[0] if "stored" in built else x


def motion_of(built, layout, t, x, p):
    """Configuration and velocities of a state, with kernels of a run."""
    return layout.parted(built["shown"](np.array([t]), x, p)[0] if "shown" in built else x)
