"""The smallest functions on vectors, and the rate of a state, for compiled code."""

from ..kernels import ask
from ..kernels.compiled import inlined


@inlined
def copy(source, target):
    """Plain copy of as many numbers as the target has; slices would cost more than most kernels."""
    for i in range(target.size):
        target[i] = source[i]


@inlined
def largest(x, first, last):
    """Largest absolute value of some places; not a number if any is not."""
    worst = 0.0
    for i in range(first, last):
        y = abs(x[i])
        if not y <= worst:
            if y != y:
                return y
            worst = y
    return worst


@inlined
def rate(run, k, t, x, p, xdot):
    """ẋ and λ at a state; the factor is left in the scratch."""
    s = run.scratch
    s.t[0] = t
    ask.factor(k, s, x, p, s.F)
    ask.rate(k, s, x, p, s.F, run.plan.gains, xdot, s.lam)


@inlined
def fastest(run, x):
    """The largest velocity of a state, whatever it is measured in."""
    n = run.plan.configuration
    return largest(x, n, n + run.plan.velocities)
