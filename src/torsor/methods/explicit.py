"""The step of every explicit tableau: Runge–Kutta–Munthe-Kaas, see `tableaus`."""

from ..kernels import ask
from ..kernels.compiled import entry, reference
from .codes import ACCEPTED
from .records import Run
from .vectors import copy

at = reference(Run)


@entry("int64", "int64", "float64", "float64")
def explicit(address, structure, t, h):
    """A step of length h from the present state: the new one in the next place of xs, its way in u, its error in e."""
    run = at(address)
    k, s, method, state = run.kernels[structure], run.scratch, run.method, run.state
    x, x1, p = state.xs[state.at], state.xs[(state.at + 1) % 3], state.p
    K, A, b, u, e, stages = s.K, method.A, method.b, s.u, s.e, method.stages
    s.t[0] = t
    if state.rated == 1:
        copy(s.xdot, K[0])
    else:
        if state.fresh == 0:
            ask.factor(k, s, x, p, s.F)
        ask.rate(k, s, x, p, s.F, run.plan.gains, K[0], s.lam)
    for i in range(1, stages):
        for m in range(u.size):
            du = 0.0
            for j in range(i):
                du += A[i, j] * K[j, m]
            u[m] = h * du
        s.t[0] = t + method.c[i] * h
        if k.stage != 0:
            ask.stage(k, s, x, u, p, K[i])
        else:
            ask.retract(k, s, x, u, x1)
            ask.factor(k, s, x1, p, s.F)
            ask.rate(k, s, x1, p, s.F, run.plan.gains, s.xdot, s.lam)
            ask.differential(k, s, u, s.xdot, K[i])
    for m in range(u.size):
        du, de = 0.0, 0.0
        for j in range(stages):
            du += b[j] * K[j, m]
            de += method.estimate[j] * K[j, m]
        u[m] = h * du
        e[m] = h * de
    ask.advance(k, s, x, u, x1)
    return ACCEPTED
