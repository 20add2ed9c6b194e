"""The time loop. It sees kernels by address and records, and nothing of mechanics.

A run is a sequence of calls of `march`, each of at most `budget` attempts, so that a person can watch and interrupt it.
"""

from ..kernels import ask
from ..kernels.compiled import entry, inlined, reference
from ..methods.codes import ACCEPTED, FINISHED, REJECTED, RUNNING
from ..methods.records import Evaluation, Run
from ..methods.vectors import copy, rate
from .attempt import attempt

at, evaluation_at = reference(Run), reference(Evaluation)


@inlined
def deliver(run):
    """Write the present state where its time is wanted. Returns the time to go to next."""
    out, state = run.out, run.state
    while out.written < out.times.size and state.time >= out.times[out.written]:
        i = out.written
        copy(state.xs[state.at], out.x[i])
        copy(state.p, out.p[i])
        out.written += 1
    return out.times[out.written] if out.written < out.times.size else out.end


@entry("int64", "int64")
def march(address, budget):
    """Attempt at most so many steps; write the state at every output time that is reached. Returns a status."""
    run = at(address)
    run.state.fresh, run.state.rated = 0, 0
    for _ in range(budget):
        goal = deliver(run)
        if run.state.time >= goal:
            return FINISHED
        status = attempt(run, 0, goal)
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
