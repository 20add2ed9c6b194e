"""Kernels of a run as functions of configuration and velocities, for tests that look at one of them."""

import numpy as np


class Blocks:
    """Takes and gives q and v where the kernels of a run take and give a state."""

    def __init__(self, system, built):
        self.layout, self.built = system.state, built

    def __getitem__(self, name):
        return getattr(self, name)

    def state(self, q, v, p):
        return self.layout.joined(q, v, p)

    def still(self, q, p):
        return self.state(q, np.zeros(self.layout.v), p)

    def retract(self, q, u):
        along = np.concatenate([u, np.zeros(self.layout.algebra - len(u))])
        return self.layout.parted(self.built["retract"](self.still(q, np.zeros(self.layout.p)), along)[0])[:1]

    def factor(self, t, q, p):
        return self.built["factor"](t, self.still(q, p), p)

    def positions(self, t, q, p, F):
        y, g = self.built["positions"](t, self.still(q, p), p, F)
        return self.layout.parted(y)[0], g

    def velocities(self, t, q, v, p, F):
        y, psi = self.built["velocities"](t, self.state(q, v, p), p, F)
        return self.layout.parted(y)[1], psi

    def accelerations(self, t, q, v, p, F, gains):
        xdot, lam = self.built["rate"](t, self.state(q, v, p), p, F, gains)
        return xdot[self.layout.v : 2 * self.layout.v], lam
