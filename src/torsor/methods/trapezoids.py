"""What is not mechanics, in steps that solve equations of the mechanics: the work w and the user's states z, by trapezoids.

    z₁ = z₀ + h/2 (ż₀ + ż₁),     w₁ = w₀ + h/2 (P₀ + P₁)                                               (1)

Where forces at the end depend on z₁, or on the reactions of the motion there, the step is repeated until nothing changes.
"""

from ..kernels.compiled import compiled
from .vectors import copy, rate


@compiled
def coupled(run, k, x):
    """Whether there are such forces: efforts that depend on reactions, or states."""
    return k.efforts > 0 or x.size > run.plan.configuration + run.plan.velocities + 1


@compiled
def guessed(run, h, x, x1, before):
    """Work and states of x1 from their rates at x, to begin with."""
    first, n = run.plan.configuration, run.plan.velocities
    for m in range(2 * n, before.size):
        x1[first - n + m] = x[first - n + m] + h * before[m]


@compiled
def ended(run, k, t, h, x, x1, before, after):
    """ẋ at x1, the end of a step, in the place of what it was before, and work and states there: (1). Returns by how much
    velocities, as ways over the size of the model, or states, over their own, have changed; the component is noted."""
    s, state, plan = run.scratch, run.state, run.plan
    first, n, size = plan.configuration, plan.velocities, 0.0
    copy(after, s.left)
    rate(run, k, t, x1, state.p, after)
    state.evaluations += 1
    for m in range(n):
        change = abs(h * (after[m] - s.left[m])) / (run.scales.length if plan.linear[m] == 1 else 1.0)
        if not change <= size:
            size, state.worst = change, m
    for m in range(2 * n, after.size):
        new = x[first - n + m] + 0.5 * h * (before[m] + after[m])  # (1)
        if m > 2 * n:
            change = abs(new - x1[first - n + m]) / max(abs(new), run.scales.states[m - 2 * n - 1], 1e-300)
            if not change <= size:
                size, state.worst = change, m
        x1[first - n + m] = new
    return size
