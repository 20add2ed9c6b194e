"""Kernels of a large system as functions of configuration and velocities.

The kernels of a large system are functions of its state only. `ts.compile` calls kernels with configuration and velocities."""

import numpy as np


class Block:
    """A function of q and v that calls a kernel of states."""

    def __init__(self, kernel, call):
        self._call = call
        self.kernel = kernel
        self.instructions = kernel.instructions

    def __call__(self, *arguments):
        return self._call(self.kernel, *arguments)

    def over(self, *arguments):
        """Evaluate row by row: see `Kernel.over`. One of a large system takes so long that a native loop gains nothing."""
        count = next((len(x) for x in arguments if x.ndim == 2), 1)
        results = [self(*[x[k] if x.ndim == 2 else x for x in arguments]) for k in range(count)]
        results = results or [
            self(*[np.zeros(x.shape[-1]) for x in arguments])
        ]  # without rows: for the sizes of the results
        return tuple(np.array(column)[:count] for column in zip(*results))


class Blocks(dict):
    """Blocks by name: the same names and arguments as the kernels of `prepare.mechanics`."""

    def __init__(self, system, built):
        self.layout = system.state
        names = {"accelerations": "rate"}
        super().__init__({
            name: Block(built[names.get(name, name)], getattr(self, f"_{name}"))
            for name in (
                "factor", "accelerations", "positions", "velocities", "turns", "spin", "retract", "advance", "outputs",
            )
        })  # fmt: skip

    def _state_at_rest(self, q, p):
        return self.layout.join_blocks(q, np.zeros(self.layout.v), p)

    def _factor(self, kernel, t, q, p):
        return kernel(t, self._state_at_rest(q, p), p)

    def _accelerations(self, kernel, t, q, v, p, F, gains=(0.0, 0.0, 0.0, 0.0)):
        n = self.layout.v
        xdot, lam = kernel(t, self.layout.join_blocks(q, v, p), p, F, np.array(gains))
        return xdot[n : 2 * n], lam, xdot[2 * n : 2 * n + 1]

    def _positions(self, kernel, t, q, p, F):
        y, g = kernel(t, self._state_at_rest(q, p), p, F)
        return self.layout.split_blocks(y)[0], g

    def _velocities(self, kernel, t, q, v, p, F):
        y, psi = kernel(t, self.layout.join_blocks(q, v, p), p, F)
        return self.layout.split_blocks(y)[1], psi

    def _turns(self, kernel, t, q, p):
        return kernel(t, self._state_at_rest(q, p), p)

    def _spin(self, kernel, t, q, v, p):
        return kernel(t, self.layout.join_blocks(q, v, p), p)

    def _retract(self, kernel, q, u):
        u_state = np.concatenate([u, np.zeros(self.layout.algebra - len(u))])
        x = np.concatenate([q, np.zeros(self.layout.x - len(q))])
        return (self.layout.split_blocks(kernel(x, u_state)[0])[0],)

    _advance = _retract

    def _outputs(self, kernel, t, q, v, p, a, lam):
        rest = np.zeros(self.layout.algebra - 2 * self.layout.v)
        return kernel(t, self.layout.join_blocks(q, v, p), p, np.concatenate([v, a, rest]), lam)
