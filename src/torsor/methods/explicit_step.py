"""The step of every explicit tableau: Runge–Kutta–Munthe-Kaas, see `tableaus`."""

from ..kernels import call
from ..kernels.compiled import entry, inlined, reference
from .run_records import Run
from .status_codes import ACCEPTED
from .vector_functions import first_rate, stage

at = reference(Run)


@inlined
def combine(h, weights, count, K, out):
    """h times a combination of the first rows of K, as they lie in memory, three at a time: sums stay in registers, and a
    result is stored once for three rows. Rows are added in their order."""
    done = (count - 1) % 3 + 1
    scale = h if done == count else 1.0
    if done == 1:
        for m in range(out.size):
            out[m] = scale * (weights[0] * K[0, m])
    elif done == 2:
        for m in range(out.size):
            out[m] = scale * (weights[0] * K[0, m] + weights[1] * K[1, m])
    else:
        for m in range(out.size):
            out[m] = scale * (weights[0] * K[0, m] + weights[1] * K[1, m] + weights[2] * K[2, m])
    for j in range(done, count, 3):
        a, b, c, scale = weights[j], weights[j + 1], weights[j + 2], h if j + 3 == count else 1.0
        for m in range(out.size):
            out[m] = scale * (out[m] + a * K[j, m] + b * K[j + 1, m] + c * K[j + 2, m])


@inlined
def runge_kutta(run, structure, t, h):
    """A step of an explicit tableau."""
    k, s, method, state = run.kernels[structure], run.scratch, run.method, run.state
    x, x1 = state.xs[state.at], state.xs[(state.at + 1) % 3]
    K, A, b, u, e, stages = s.K, method.A, method.b, s.u, s.e, method.b.size
    first_rate(run, k, t)
    for i in range(1, stages):
        combine(h, A[i], i, K, u)
        stage(run, k, t + method.c[i] * h, x, u, x1, K[i])
    combine(h, b, stages, K, u)
    combine(h, method.estimate, stages, K, e)
    if method.rough.size > 0:
        combine(h, method.rough, stages, K, s.rough)
    call.advance(k, s, x, u, x1)
    state.evaluations += stages


@entry("int64", "int64", "float64", "float64")
def explicit(address, structure, t, h):
    """A step of length h from the present state: the new one in the next place of xs, its way in u, its error in e."""
    runge_kutta(at(address), structure, t, h)
    return ACCEPTED
