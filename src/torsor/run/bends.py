"""Instants at which a force bends or jumps, as a table over time does at its points: steps end there.

Within a step everything is then as smooth as the order of a method takes it to be. A step ends just before and the next one begins
just after; no time passes between, but for rounding. States of earlier steps are forgotten, since no polynomial goes through both
sides.
"""

from ..kernels.compiled import inlined


@inlined
def passed(run):
    """How many of the instants lie behind, or are reached."""
    beyond, time = run.plan.beyond, run.state.time
    low, high = 0, beyond.size
    while low < high:
        middle = (low + high) // 2
        if beyond[middle] <= time:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def bend(run):
    """Pass the instant that is reached, if any. Returns the next one, or infinity."""
    plan, state = run.plan, run.state
    if plan.bends.size == 0:
        return float("inf")
    k = passed(run)
    if k < plan.bends.size and state.time >= plan.bends[k]:
        state.time = plan.beyond[k]
        k += 1
    if k > 0 and state.time == plan.beyond[k - 1]:
        state.fresh, state.rated, run.past.kept = 0, 0, 0
    return plan.bends[k] if k < plan.bends.size else float("inf")
