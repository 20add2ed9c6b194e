"""Clocks: events at instants that are known beforehand. Steps end there, so that nothing has to be located.

    t_n = (n + first) period + rest                                                                  (1)

n is how often the event has happened, and stands in p. Instants that differ by rounding are one.
"""

from ...kernels.compiled import compiled, inlined
from ..step_outputs import TIMES_EQUAL


@inlined
def is_stopped(run, m):
    """Whether the clock of event m does not run: its controller is disarmed."""
    watch = run.program.events[m]
    for k in range(watch.during, watch.during_end):
        if run.state.p[run.program.during[k].place] != run.program.during[k].value:
            return True
    return False


@inlined
def rings(run, m, t):
    """Whether the clock of event m rings at or before a time."""
    watch = run.program.events[m]
    late = (run.state.p[watch.count] + watch.first) * watch.period + watch.rest <= t + TIMES_EQUAL * abs(t)  # (1)
    return late and not is_stopped(run, m)


@compiled
def ring(run):
    """Let an instant begin where a clock rings."""
    for m in run.program.clocks:
        if rings(run, m, run.state.time):
            run.events.pending = 1


@compiled
def before(run, goal):
    """The time to go to next: the goal, or where a clock rings before."""
    found = goal
    for m in run.program.clocks:
        watch = run.program.events[m]
        next = (run.state.p[watch.count] + watch.first) * watch.period + watch.rest
        if next + TIMES_EQUAL * abs(next) < found and not is_stopped(run, m):
            found = next
    return found
