"""Breakpoints over time: instants at which a force has a kink or a jump, such as the points of a table. Steps end there.

Within a step everything is then as smooth as the order of a method requires. One step ends just before a breakpoint, the next
one begins just after it; the time between is rounding only. Multistep methods forget their history there, since no polynomial
fits both sides.
"""

from ..kernels import call
from ..kernels.compiled import compiled, inlined


@inlined
def count_passed(run):
    """Number of breakpoints that the present time has passed or reached."""
    beyond, time = run.plan.beyond, run.state.time
    low, high = 0, beyond.size
    while low < high:
        middle = (low + high) // 2
        if beyond[middle] <= time:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def potential_energy(run):
    """The potential energy of the present state."""
    state, s = run.state, run.scratch
    s.t[0] = state.time
    call.energies(run.kernels[run.span.structure], s, state.xs[state.at], state.p, s.energy)
    return s.energy[1]


@inlined
def add_work(run, energy):
    """Count what changes the energy at an instant as work."""
    run.state.xs[run.state.at, run.plan.configuration + run.plan.velocities] += energy


@inlined
def reaches_breakpoint(run):
    """True if the present time is at a breakpoint and has not been moved across it."""
    k = count_passed(run)
    return k < run.plan.bends.size and run.state.time >= run.plan.bends[k]


@inlined
def next_breakpoint(run):
    """Move the time across a breakpoint if one is reached. Returns the next breakpoint [s], or infinity."""
    plan, state = run.plan, run.state
    if plan.bends.size == 0:
        return float("inf")
    k = count_passed(run)
    if k < plan.bends.size and state.time >= plan.bends[k]:
        before = potential_energy(run) if plan.potential_jumps == 1 else 0.0
        state.time = plan.beyond[k]
        if plan.potential_jumps == 1:
            add_work(run, potential_energy(run) - before)
        k += 1
    if k > 0 and state.time == plan.beyond[k - 1]:
        state.fresh = 0
        state.rated = 0
        run.past.kept = 0
    return plan.bends[k] if k < plan.bends.size else float("inf")
