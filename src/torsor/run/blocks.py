"""Kernels of a run as functions of configuration and velocities, for those who call them one by one: those of a large system are
made for its state alone."""

import numpy as np


class Block:
    """A function of q and v, made of a kernel of states."""

    def __init__(self, kernel, action):
        self._action, self.kernel, self.instructions = action, kernel, kernel.instructions

    def __call__(self, *given):
        return self._action(self.kernel, *given)

    def over(self, *given):
        """Row by row: see `Kernel.over`. A large system takes so long for each that nothing is gained by a loop in native code."""
        count = next((len(x) for x in given if x.ndim == 2), 1)
        found = [self(*[x[k] if x.ndim == 2 else x for x in given]) for k in range(count)]
        found = found or [self(*[np.zeros(x.shape[-1]) for x in given])]  # no rows: of this size
        return tuple(np.array(column)[:count] for column in zip(*found))


class Blocks(dict):
    """Blocks by name, as `prepare.mechanics` has kernels."""

    def __init__(self, system, built):
        self.layout = system.state
        names = {"accelerations": "rate"}
        super().__init__({
            name: Block(built[names.get(name, name)], getattr(self, f"_{name}"))
            for name in (
                "factor", "accelerations", "positions", "velocities", "turns", "spin", "retract", "advance", "outputs",
            )
        })  # fmt: skip

    def _still(self, q, p):
        return self.layout.joined(q, np.zeros(self.layout.v), p)

    def _factor(self, kernel, t, q, p):
        return kernel(t, self._still(q, p), p)

    def _accelerations(self, kernel, t, q, v, p, F, gains=(0.0, 0.0, 0.0, 0.0)):
        n, (xdot, lam) = self.layout.v, kernel(t, self.layout.joined(q, v, p), p, F, np.array(gains))
        return xdot[n : 2 * n], lam, xdot[2 * n : 2 * n + 1]

    def _positions(self, kernel, t, q, p, F):
        y, g = kernel(t, self._still(q, p), p, F)
        return self.layout.parted(y)[0], g

    def _velocities(self, kernel, t, q, v, p, F):
        y, psi = kernel(t, self.layout.joined(q, v, p), p, F)
        return self.layout.parted(y)[1], psi

    def _turns(self, kernel, t, q, p):
        return kernel(t, self._still(q, p), p)

    def _spin(self, kernel, t, q, v, p):
        return kernel(t, self.layout.joined(q, v, p), p)

    def _retract(self, kernel, q, u):
        along = np.concatenate([u, np.zeros(self.layout.algebra - len(u))])
        x = np.concatenate([q, np.zeros(self.layout.x - len(q))])
        return (self.layout.parted(kernel(x, along)[0])[0],)

    _advance = _retract

    def _outputs(self, kernel, t, q, v, p, a, lam):
        rest = np.zeros(self.layout.algebra - 2 * self.layout.v)
        return kernel(t, self.layout.joined(q, v, p), p, np.concatenate([v, a, rest]), lam)
