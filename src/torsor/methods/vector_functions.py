"""The smallest functions on vectors, and the rate of a state, for compiled code."""

from ..kernels import call
from ..kernels.compiled import inlined
from .rank_agreement import overall


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
    call.factor(k, s, x, p, s.F)
    call.rate(k, s, x, p, s.F, run.plan.gains, xdot, s.lam)


@inlined
def first_rate(run, k, t):
    """ẋ at the start of a step, in the first row of K."""
    s, state = run.scratch, run.state
    s.t[0] = t
    if state.rated == 1:
        copy(s.xdot, s.K[0])
    else:
        x = state.xs[state.at]
        if state.fresh == 0:
            call.factor(k, s, x, state.p, s.F)
        call.rate(k, s, x, state.p, s.F, run.plan.gains, s.K[0], s.lam)


@inlined
def stage(run, k, t, x, u, x1, out):
    """dexp⁻¹(u) ẋ at x · exp(u), as one kernel or in parts; x1 is overwritten."""
    s, p = run.scratch, run.state.p
    s.t[0] = t
    if k.stage != 0:
        call.stage(k, s, x, u, p, out)
    else:
        call.retract(k, s, x, u, x1)
        call.factor(k, s, x1, p, s.F)
        call.rate(k, s, x1, p, s.F, run.plan.gains, s.xdot, s.lam)
        call.differential(k, s, u, s.xdot, out)


@inlined
def either(x, linear, first):
    """Largest absolute value of the components from `first` on that are linear, and of those that are angular."""
    along, about = 0.0, 0.0
    for m in range(linear.size):
        if linear[m] == 1:
            along = max(along, abs(x[first + m]))
        else:
            about = max(about, abs(x[first + m]))
    return along, about


@inlined
def without_length(run, x, first):
    """The largest of the components from `first` on, over all ranks: lengths over the size of the model, angles as they are."""
    along, about = either(x, run.plan.linear, first)
    return overall(run, max(along / run.scales.length, about))


@inlined
def fastest(run, x):
    """The largest rate of a state [1/s]."""
    return without_length(run, x, run.plan.configuration)
