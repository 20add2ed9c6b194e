"""Work that is done while no coordinate moves: on grounds that move, or by potentials that change with time.

In joint coordinates a body that rests on a moving ground has no velocity, and its work may be all that changes. Its error counts
then, as it does where anything moves. Power that comes from velocities which are rounding does not count: the difference between
the power of a state and that of the same configuration at rest bounds its size. Nor does power that is rounding itself, as
that of a force at a right angle to the motion of a ground: it is not a smooth function of time.
"""

import numpy as np

from ..kernels import call
from ..kernels.compiled import compiled
from .rank_agreement import overall
from .vector_functions import copy, largest, rate

ABOVE_ROUNDING = 100.0  # power at rest over that of velocities which are rounding, from which on it counts
ROUGHNESS_SPACING = 1e-4  # between the times at which power is compared with a straight line / step
ROUGHNESS_TIMES = 12


@compiled
def power_at_rest(run, k, t, x, spare):
    """Power at the configuration of x with all velocities zero; spare: a state to work with."""
    plan, s, p = run.plan, run.scratch, run.state.p
    first, n = plan.configuration, plan.velocities
    s.t[0] = t
    if k.stored != 0:
        call.shown(k, s, x, p, s.tried)
    else:
        copy(x, s.tried)
    for m in range(n):
        s.tried[first + m] = 0.0
    if k.stored != 0:
        call.stored(k, s, s.tried, p, spare)
    else:
        copy(s.tried, spare)
    rate(run, k, t, spare, p, s.xdot)
    return s.xdot[2 * n]


@compiled
def power_roughness(run, k, t, delta, x, spare):
    """Largest distance of the power at rest, at times delta apart from t on, from the straight line through its ends."""
    first = power_at_rest(run, k, t, x, spare)
    slope = (power_at_rest(run, k, t + ROUGHNESS_TIMES * delta, x, spare) - first) / ROUGHNESS_TIMES
    distance = 0.0
    for j in range(1, ROUGHNESS_TIMES):
        distance = max(distance, abs(power_at_rest(run, k, t + j * delta, x, spare) - first - j * slope))
    return distance


@compiled
def notice_work_at_rest(run, k, h, x, x1):
    """True if work is done in a step from x to x1 though no coordinate moves; this is noted for the rest of the run."""
    s, state, n, peak = run.scratch, run.state, run.plan.velocities, 0.0
    for j in range(run.method.stages):
        peak = max(peak, largest(s.K[j], 2 * n, 2 * n + 1))
    if not 0.0 < overall(run, peak) < np.inf:
        return False
    spare, end = state.xs[(state.at + 2) % 3], state.time + h
    before, after = power_at_rest(run, k, state.time, x, spare), power_at_rest(run, k, end, x1, spare)
    delta = ROUGHNESS_SPACING * h
    roughness = max(
        power_roughness(run, k, state.time, delta, x, spare), power_roughness(run, k, end, -delta, x1, spare)
    )
    rate(run, k, end, x1, state.p, s.xdot)  # leaves the factor of x1 in the scratch, as it was
    rounding = max(roughness, abs(s.K[0, 2 * n] - before), abs(s.xdot[2 * n] - after))
    counts = overall(run, max(abs(before), abs(after))) > ABOVE_ROUNDING * overall(run, rounding)
    run.scales.works_at_rest = 1 if counts else 0
    return counts
