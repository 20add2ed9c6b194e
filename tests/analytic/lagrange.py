"""Lagrange's equations in minimal coordinates, for tests: independent of all that torsor derives.

    d/dt ∂T/∂v − ∂T/∂q + ∂U/∂q + ∂D/∂v = Q + Aᵀ λ,     A v = 0                                         (1)

A mechanism is written as positions x(q) of the centres of mass and rotations R(q); T follows from them, and (1) from T by
differentiation. CasADi differentiates, SciPy's DOP853 integrates.
"""

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp

t = ca.SX.sym("t")


def turn(axis, angle):
    """Rotation about a coordinate axis "x", "y" or "z"."""
    c, s = ca.cos(angle), ca.sin(angle)
    rows = {"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]]}[axis]  # fmt: skip
    return ca.vertcat(*[ca.horzcat(*row) for row in rows])


class Lagrange:
    """bodies: (mass, principal moments or tensor, x(q), R(q)); R may be None where J plays no role."""

    def __init__(self, q, v, bodies, gravity=(0, 0, 0), potential=0, dissipation=0, force=None, slip=None):
        T, U = ca.SX(0), ca.SX(potential)
        along = lambda expression: ca.jtimes(expression, q, v)
        for mass, J, x, R in bodies:
            T += 0.5 * mass * ca.sumsqr(along(x))
            U -= mass * ca.dot(ca.SX(ca.DM(gravity)), x)
            if R is not None:
                W = R.T @ ca.reshape(along(ca.vec(R)), 3, 3)
                w = ca.vertcat(W[2, 1], W[0, 2], W[1, 0])
                J = ca.DM(np.diag(J) if np.ndim(J) == 1 else np.array(J))
                T += 0.5 * ca.dot(w, J @ w)
        p = ca.gradient(T, v)
        M, bias = ca.jacobian(p, v), along(p)
        Q = ca.gradient(T, q) - ca.gradient(U, q) - bias - ca.gradient(ca.SX(dissipation), v)
        Q = ca.densify(Q if force is None else Q + force)
        if slip is None:
            a = ca.solve(M, Q)
        else:
            A = ca.jacobian(slip, v)
            m = A.shape[0]
            whole = ca.vertcat(ca.horzcat(M, A.T), ca.horzcat(A, ca.SX.zeros(m, m)))
            a = ca.solve(whole, ca.vertcat(Q, -along(slip)))[: q.shape[0]]
        self.n = q.shape[0]
        self.accelerations = ca.Function("a", [t, q, v], [ca.densify(a)])
        self.energy = ca.Function("E", [q, v], [T + U])
        self.potential_force = ca.Function("dU", [q], [ca.densify(ca.gradient(U, q))])

    def motion(self, start, rate, times, accuracy=1e-13, method="DOP853"):
        """q and v at the given times, one row each."""
        n = self.n

        def rates(time, y):
            return np.concatenate([y[n:], self.accelerations(time, y[:n], y[n:]).full().ravel()])

        y0 = np.concatenate([np.atleast_1d(start), np.atleast_1d(rate)]).astype(float)
        found = solve_ivp(rates, (0.0, times[-1]), y0, t_eval=times, method=method, rtol=accuracy, atol=accuracy * 1e-1)
        assert found.success, found.message
        return found.y[:n].T, found.y[n:].T
