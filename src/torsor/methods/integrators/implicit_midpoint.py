"""The implicit midpoint rule on a group.

    u = h ẋ(x · exp(u/2), t + h/2),      x₁ = x · exp(u)                                                 (1)

The way u is the same seen from the start and from the middle, so that dexp⁻¹(u/2) may stand before ẋ, and a step back leads
to where it began: the rule is symmetric. It is of order 2, and stable for any stiff, damped or fast part of the motion.
(1) is solved by Newton's method with the traced slope of a stage, ∂(dexp⁻¹(u) ẋ)/∂u.
"""

import numpy as np

from ...kernels import ask
from ...kernels.compiled import compiled, entry, reference
from ...registry import register
from ..codes import ACCEPTED, NOT_SOLVED
from ..integrator import Integrator
from ..newton import factored, solve
from ..records import Run
from ..vectors import first_rate, stage

at = reference(Run)
SOLVED = 1e-14  # last correction, over what a step may move the model by: no rounding is larger
ENOUGH = 1e-9  # correction that no longer shrinks: rounding of large terms
ITERATIONS = 30


@register("implicit-midpoint")
class ImplicitMidpoint(Integrator):
    """Implicit midpoint rule, order 2: one Newton iteration after another per step. For stiff springs, dampers and contacts
    by forces, with steps that explicit methods could not take; symmetric, so that energy does not drift in long runs."""

    order = 2
    loop = (__name__, "implicit_midpoint")
    needs = ("slope",)

    @classmethod
    def tables(cls):
        return {"stages": 2}

    @classmethod
    def adaptive(cls):
        return False


@compiled
def size_of(run, h, du):
    """How large a correction is, over the size of the model, and its largest component: speeds count as ways of a step."""
    plan, n, worst, place = run.plan, run.plan.velocities, 0.0, 0
    for m in range(2 * n):
        unit = run.scales.length if plan.linear[m % n] == 1 else 1.0
        size = abs(du[m]) / unit * (1.0 if m < n else h)
        if not size <= worst:
            worst, place = size, m
    for m in range(2 * n + 1, du.size):
        size = abs(du[m]) / max(abs(run.scratch.u[m]), run.scales.states[m - 2 * n - 1], 1e-300)
        if not size <= worst:
            worst, place = size, m
    return worst, place


@compiled
def matrix(run, k, t, h, x):
    """1 − h/2 ∂k/∂u at u/2, factored. Returns whether that could be done."""
    s, A = run.scratch, run.scratch.slope
    for m in range(s.u.size):
        s.left[m] = 0.5 * s.u[m]
    s.t[0] = t + 0.5 * h
    ask.slope(k, s, x, s.left, run.state.p, A)
    n = s.u.size
    for i in range(n):  # handed on column by column
        for j in range(i):
            A[i, j], A[j, i] = A[j, i], A[i, j]
    for i in range(n):
        for j in range(n):
            A[i, j] = (1.0 if i == j else 0.0) - 0.5 * h * A[i, j]
    return factored(A, s.order)


@compiled
def solved(run, k, t, h, x, x1):
    """Newton's method for (1), from the u in the scratch. Returns whether it converged."""
    s, state, last, fresh = run.scratch, run.state, np.inf, matrix(run, k, t, h, x)
    if not fresh:
        return False
    for _ in range(ITERATIONS):
        for m in range(s.u.size):
            s.left[m] = 0.5 * s.u[m]
        stage(run, k, t + 0.5 * h, x, s.left, x1, s.K[1])
        state.evaluations += 1
        for m in range(s.u.size):
            s.left[m] = h * s.K[1, m] - s.u[m]
        solve(s.slope, s.order, s.left, s.e)
        for m in range(s.u.size):
            s.u[m] += s.e[m]
        size, place = size_of(run, h, s.e)
        state.unsolved, state.worst = size, place
        if size <= SOLVED or (size <= ENOUGH and size > 0.3 * last):
            return True
        if not size < np.inf or (size > 2.0 * last and not matrix(run, k, t, h, x)):
            return False
        last = size
    return False


@entry("int64", "int64", "float64", "float64")
def implicit_midpoint(address, structure, t, h):
    """A step of length h from the present state: as `explicit` leaves it, without an estimate of its error."""
    run = at(address)
    k, s, state = run.kernels[structure], run.scratch, run.state
    x, x1 = state.xs[state.at], state.xs[(state.at + 1) % 3]
    first_rate(run, k, t)
    state.evaluations += 1
    for m in range(s.u.size):
        s.u[m] = h * s.K[0, m]
    found = solved(run, k, t, h, x, x1)
    for m in range(s.e.size):
        s.e[m] = 0.0
    if not found:
        return NOT_SOLVED
    ask.advance(k, s, x, s.u, x1)
    return ACCEPTED
