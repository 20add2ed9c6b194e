"""The time loop. It sees kernels by address and records, and nothing of mechanics.

A run is a sequence of calls of `march`, each of at most `budget` attempts, so that a person can watch and interrupt it.
"""

import numpy as np

from ..kernels import ask
from ..kernels.compiled import compiled, entry, reference
from ..methods.codes import ACCEPTED, FINISHED, ILL_CHOSEN, LOST, REJECTED, RUNNING
from ..methods.extension import begins, ends_here
from ..methods.records import Evaluation, Run
from ..methods.vectors import rate
from .attempt import attempt
from .repetition import Repetition, begin, hold, leave
from .within import deliver, deliver_within, finished

at, evaluation_at, repetition_at = reference(Run), reference(Evaluation), reference(Repetition)


@compiled
def go_on(run, edge, budget):
    """Attempt at most so many steps, no further than to an edge; write the state at every output time that is reached."""
    run.state.fresh, run.state.rated = 0, LOST if run.state.rated != 0 else 0
    deliver_within(run)
    for _ in range(budget):
        goal = deliver(run)
        if finished(run) or run.state.time >= edge:
            return FINISHED
        begins(run, 0)
        status = attempt(run, 0, min(goal, edge))
        if run.state.time > run.span.start:
            ends_here(run)
            deliver_within(run)
        if status != ACCEPTED and status != REJECTED:
            return status
    return RUNNING


@entry("int64", "int64")
def march(address, budget):
    """Attempt at most so many steps; write the state at every output time that is reached. Returns a status."""
    return go_on(at(address), np.inf, budget)


@entry("int64", "int64", "int64")
def repeat(address, wanted, budget):
    """Runs one after the other, each to its end, with at most about so many attempts. Returns FINISHED after the last."""
    run, r = at(address), repetition_at(wanted)
    while r.run < r.status.size and budget > 0:
        status, held, before = RUNNING, r.places.size > 0, 0
        if r.begun == 0:
            r.begun = 1
            if not begin(run, r):
                status = ILL_CHOSEN
            if held:
                hold(run, r)
        if status == RUNNING:
            before = run.state.steps + run.state.rejections
            status = go_on(run, r.edges[r.interval] if held else np.inf, budget)
            budget -= run.state.steps + run.state.rejections - before
        if status == RUNNING:
            return RUNNING
        if status == FINISHED and held and r.interval + 1 < r.edges.size:
            r.interval += 1
            hold(run, r)
        else:
            leave(run, r, status)
            r.run, r.begun = r.run + 1, 0
    return FINISHED if r.run == r.status.size else RUNNING


@entry("int64", "int64")
def evaluate(address, wanted):
    """All outputs at recorded states."""
    run, e = at(address), evaluation_at(wanted)
    k, s = run.kernels[e.structure], run.scratch
    for i in e.which:
        rate(run, k, e.times[i], e.x[i], e.p[i], s.xdot)
        ask.outputs(k, s, e.x[i], e.p[i], s.xdot, s.lam, e.outputs[i])
    return RUNNING
