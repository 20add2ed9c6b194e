"""The velocity block y of the state: velocities v, or momenta scaled to velocity units.

    x = (q, y, w, z),      y = v     or     y = π / κ                                                    (1)

κ   momentum per unit speed of each coordinate, in the reference configuration, while the coordinates beyond it are free

Iterations and events compare y with speeds in both cases; errors are measured as velocities. Both classes have the methods that
`state_space.py` calls: v from y, y from v, the change of y from a change of v and the reverse, and the rate of y.
"""

import numpy as np

from ..elements.quantity import time


class Velocities:
    """y = v."""

    rate_function = "accelerations"  # the function of a formulation that yields ẏ

    def __init__(self, parts):
        self.parts = parts

    def velocities(self, q, y, p, F=None):
        """v from y."""
        return y

    def from_velocities(self, q, v, p):
        """y from v."""
        return v

    def momenta(self, q, y, p):
        """π, for methods that need it."""
        return self.parts["momenta"](time, q, y, p)

    def from_either(self, v, pi, p):
        """y where both v and π are available."""
        return v

    def block_change(self, q, p, dv):
        """Change of y for a change dv of the velocities."""
        return dv

    def corrected_block(self, y, q, p, v, w):
        """y after the velocities v are replaced by w."""
        return w

    def velocity_change(self, q, p, F, dy):
        """Change of v for a change dy of the block."""
        return dy

    def rate(self, t, q, v, p, *more):
        """ẏ, λ and power.

        more   the factor; also the gains if the constraints are stabilised
        """
        return self.parts["accelerations"](t, q, v, p, *more)

    def accelerations(self, q, v, p, ydot):
        """v̇ from ẏ."""
        return ydot


class Momenta:
    """y = π / κ: (1). The methods are those of `Velocities`."""

    rate_function = "forces"

    def __init__(self, parts):
        self.parts = parts

    def _unit(self, p):
        return self.parts["inertias"](p)

    def _factor(self, q, p):
        return self.parts["factor"](time, q, p)

    def velocities(self, q, y, p, F=None):
        return self.parts["speeds"](time, q, self._unit(p) * y, p, self._factor(q, p) if F is None else F)

    def from_velocities(self, q, v, p):
        return self.parts["momenta"](time, q, v, p) / self._unit(p)

    def momenta(self, q, y, p):
        return self._unit(p) * y

    def from_either(self, v, pi, p):
        return pi / self._unit(p)

    def block_change(self, q, p, dv):
        return self.parts["weighed"](time, q, p, dv) / self._unit(p)

    def corrected_block(self, y, q, p, v, w):
        return y + self.block_change(q, p, w - v)

    def velocity_change(self, q, p, F, dy):
        return self.parts["slowed"](q, p, F, self._unit(p) * dy)

    def rate(self, t, q, v, p, *more):
        rate, lam, power = self.parts["forces"](t, q, v, p, *more)
        return rate / self._unit(p), lam, power

    def accelerations(self, q, v, p, ydot):
        return self.parts["later"](time, q, v, p, self._factor(q, p), self._unit(p) * ydot)


def velocity_block(f, parts):
    """The velocity block of the states of formulation f."""
    return Momenta(parts) if f.conjugate else Velocities(parts)


def state_of(built, layout, t, q, v, p):
    """The state with configuration q and velocities v, computed with the kernels of a run."""
    x = layout.join_blocks(q, v, p)
    return built["stored"](np.array([t]), x, np.asarray(p, float))[0] if "stored" in built else x


def motion_of(built, layout, t, x, p):
    """Configuration and velocities of a state, computed with the kernels of a run."""
    return layout.split_blocks(built["shown"](np.array([t]), x, p)[0] if "shown" in built else x)
