"""Clocks: events at instants that are known beforehand. Steps end there, so that no root has to be located.

    t_n = (n + first) period + rest                                                                  (1)

n is the number of times that the event has fired, a parameter in p. Instants that differ by rounding are one.
"""

from ...kernels.compiled import compiled, inlined
from ..step_outputs import TIMES_EQUAL


@inlined
def is_stopped(run, m):
    """True if the clock of event m is stopped, because its controller is disarmed."""
    watch = run.program.events[m]
    for k in range(watch.during, watch.during_end):
        if run.state.p[run.program.during[k].place] != run.program.during[k].value:
            return True
    return False


@inlined
def has_rung(run, m, t):
    """True if the next tick of the clock of event m is at or before a time."""
    watch = run.program.events[m]
    late = (run.state.p[watch.count] + watch.first) * watch.period + watch.rest <= t + TIMES_EQUAL * abs(t)  # (1)
    return late and not is_stopped(run, m)


@compiled
def start_clock_instants(run):
    """Start an instant if a clock ticks now."""
    for m in run.program.clocks:
        if has_rung(run, m, run.state.time):
            run.events.pending = 1


@compiled
def time_before_clock(run, goal):
    """The end of the next step at most: the goal, or an earlier tick of a clock."""
    found = goal
    for m in run.program.clocks:
        watch = run.program.events[m]
        next = (run.state.p[watch.count] + watch.first) * watch.period + watch.rest
        if next + TIMES_EQUAL * abs(next) < found and not is_stopped(run, m):
            found = next
    return found
