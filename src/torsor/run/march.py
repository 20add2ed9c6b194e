"""The time loop. It sees kernels by address and records, and nothing of mechanics.

A run is a sequence of calls of `march`, each of at most `budget` attempts, so that a person can watch and interrupt it.
"""

from ..kernels import ask
from ..kernels.compiled import entry, reference
from ..methods.codes import ACCEPTED, FINISHED, REJECTED, RUNNING
from ..methods.extension import begins, ends_here
from ..methods.records import Evaluation, Run
from ..methods.vectors import rate
from .attempt import attempt
from .within import deliver, deliver_within, finished

at, evaluation_at = reference(Run), reference(Evaluation)


@entry("int64", "int64")
def march(address, budget):
    """Attempt at most so many steps; write the state at every output time that is reached. Returns a status."""
    run = at(address)
    run.state.fresh, run.state.rated = 0, 0
    deliver_within(run)
    for _ in range(budget):
        goal = deliver(run)
        if finished(run):
            return FINISHED
        begins(run, 0)
        status = attempt(run, 0, goal)
        if run.state.time > run.span.start:
            ends_here(run)
            deliver_within(run)
        if status != ACCEPTED and status != REJECTED:
            return status
    return RUNNING


@entry("int64", "int64")
def evaluate(address, wanted):
    """All outputs at recorded states."""
    run, e = at(address), evaluation_at(wanted)
    k, s = run.kernels[e.structure], run.scratch
    for i in e.which:
        rate(run, k, e.times[i], e.x[i], e.p[i], s.xdot)
        ask.outputs(k, s, e.x[i], e.p[i], s.xdot, s.lam, e.outputs[i])
    return RUNNING
