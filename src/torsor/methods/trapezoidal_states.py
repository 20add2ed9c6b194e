"""Work and the user's states at the end of steps that solve equations of the mechanics.

    w₁ = w₀ + h/2 (P₀ + P₁)                                                                              (1)
    z₁ = z₀ + h/2 (ż₀ + ż₁),     (I − h/2 ∂ż₁/∂z₁) Δz = z₀ + h/2 (ż₀ + ż₁) − z₁                           (2)

The work follows by trapezoids with every method. States follow by (2) with the variational methods, whose velocities at the end
depend on z₁: ∂ż₁/∂z₁ contains that, and Newton's method converges however stiff the states, or their coupling with the motion, are.
With generalised-α they are unknowns of its own equations (`formulations/graphs/generalized_alpha_equations.py`).

Where forces at the end depend on the reactions of the motion there, a step is repeated until nothing changes.
"""

import numpy as np

from ..kernels import call
from ..kernels.compiled import compiled, inlined
from .error_control import uncertain_change
from .vector_functions import copy, rate

CANCELLED = 1e-14  # pivot over the largest entry of its row, below which (2) is taken for singular


@inlined
def depends_on_reactions(k):
    """True if there are efforts that depend on reactions or accelerations."""
    return k.efforts > 0


@inlined
def states_of(run):
    """Number of the user's states."""
    return run.scales.states.size


@inlined
def state_change(run, h, x, m, value, change):
    """The change of a user's state over its size: its value at either end of a step of length h, or what rounding of all that its
    rate depends on makes of it, over the unit roundoff (`measure_states`)."""
    before = x[run.plan.configuration + run.plan.velocities + 1 + m]
    return abs(change) / max(abs(value), abs(before), uncertain_change(run, abs(h), m), 1e-300)


@inlined
def state_is_worst(run):
    """True if the largest correction of the last iteration was one of a user's state."""
    return run.state.worst > 2 * run.plan.velocities


@compiled
def evaluate_end(run, k, t, h, x, x1, before, after):
    """Write ẋ at x1, the end of a step, to `after`, and the work there to x1: (1). Returns by how much velocities differ from those
    that `after` had, as ways over the size of the model; the component is noted."""
    s, state, plan = run.scratch, run.state, run.plan
    first, n, size = plan.configuration, plan.velocities, 0.0
    copy(after, s.left)
    rate(run, k, t, x1, state.p, after)
    state.evaluations += 1
    for m in range(n):
        change = abs(h * (after[m] - s.left[m])) / (run.scales.length if plan.linear[m] == 1 else 1.0)
        if not change <= size:
            size, state.worst = change, m
    x1[first + n] = x[first + n] + 0.5 * h * (before[2 * n] + after[2 * n])  # (1)
    return size


@compiled
def factor_states(run, k, t, h, x, x1):
    """Factor I − h/2 ∂ż₁/∂z₁ by Gauss with exchange of rows, in the scratch. Returns False where it is singular."""
    s, count = run.scratch, states_of(run)
    A = s.state_slope
    s.t[0] = t
    call.landing_slope(k, s, s.h, x, x1, run.state.p, s.lam, s.d, s.m, A)
    for j in range(count):
        for i in range(count):
            A[i + j * count] = (1.0 if i == j else 0.0) - 0.5 * h * A[i + j * count]
    for j in range(count):
        best = j
        for i in range(j + 1, count):
            if abs(A[i + j * count]) > abs(A[best + j * count]):
                best = i
        largest = 0.0
        for i in range(count):
            A[j + i * count], A[best + i * count] = A[best + i * count], A[j + i * count]
            largest = max(largest, abs(A[j + i * count]) if i >= j else 0.0)
        s.state_pivots[j] = best
        if not (abs(A[j + j * count]) > CANCELLED * largest and largest < np.inf):
            return False
        for i in range(j + 1, count):
            A[i + j * count] /= A[j + j * count]
            for m in range(j + 1, count):
                A[i + m * count] -= A[i + j * count] * A[j + m * count]
    return True


@compiled
def solve_states(run, b):
    """Replace b by the solution of the factored equations."""
    s, count = run.scratch, states_of(run)
    A = s.state_slope
    for j in range(count):
        best = int(s.state_pivots[j])
        b[j], b[best] = b[best], b[j]
    for j in range(count):
        for i in range(j + 1, count):
            b[i] -= A[i + j * count] * b[j]
    for back in range(count):
        j = count - 1 - back
        b[j] /= A[j + j * count]
        for i in range(j):
            b[i] -= A[i + j * count] * b[j]


@compiled
def correct_states(run, h, x, x1, before, after):
    """Add a correction of Newton's method to the user's states in x1: (2). Returns the largest change of one over its size, or that
    its rate is no number; the component is noted."""
    state, n, count, size = run.state, run.plan.velocities, states_of(run), 0.0
    first, b = run.plan.configuration + n + 1, run.scratch.state_change
    for m in range(count):
        place = 2 * n + 1 + m
        b[m] = (x[first + m] - x1[first + m]) + 0.5 * h * (before[place] + after[place])
    solve_states(run, b)
    for m in range(count):
        x1[first + m] += b[m]
        change = state_change(run, h, x, m, x1[first + m], b[m])
        if not change <= size:
            size, state.worst = change, 2 * n + 1 + m
            if change != change:
                return np.inf
    return size
