"""The time loop. It sees kernels by address and records, and nothing of mechanics.

A run is a sequence of calls of `march`, each of at most `budget` attempts, so that Python can show progress and stop the run.
"""

import numpy as np

from ..kernels import call
from ..kernels.compiled import compiled, entry, reference
from ..methods.continuous_extension import begin_step, end_step
from ..methods.run_records import Evaluation, Run
from ..methods.status_codes import ACCEPTED, FINISHED, ILL_CHOSEN, LOST, REJECTED, RUNNING
from ..methods.vector_functions import rate
from .attempt import attempt
from .many.repeat_loop import Repetition, begin_run, set_inputs, store_results
from .step_outputs import outputs_are_complete, write_due_outputs, write_outputs_within_step

at, evaluation_at, repetition_at = reference(Run), reference(Evaluation), reference(Repetition)


@compiled
def advance_to(run, end, budget):
    """Attempt at most `budget` steps up to the time `end`; write the state at every output time that is reached."""
    run.state.fresh = 0
    run.state.rated = LOST if run.state.rated != 0 else 0
    write_outputs_within_step(run)
    for _ in range(budget):
        goal = write_due_outputs(run)
        if outputs_are_complete(run) or run.state.time >= end:
            return FINISHED
        begin_step(run, 0)
        status = attempt(run, 0, min(goal, end))
        if run.state.time > run.span.start:
            end_step(run)
            write_outputs_within_step(run)
        if status != ACCEPTED and status != REJECTED:
            return status
    return RUNNING


@entry("int64", "int64")
def march(address, budget):
    """Attempt at most `budget` steps; write the state at every output time that is reached. Returns a status."""
    return advance_to(at(address), np.inf, budget)


@entry("int64", "int64", "int64")
def repeat(address, repetition, budget):
    """Carry out runs one after the other, with at most about `budget` attempts. Returns FINISHED after the last run."""
    run, r = at(address), repetition_at(repetition)
    while r.run < r.status.size and budget > 0:
        status, has_inputs, before = RUNNING, r.places.size > 0, 0
        if r.begun == 0:
            r.begun = 1
            if not begin_run(run, r):
                status = ILL_CHOSEN
            if has_inputs:
                set_inputs(run, r)
        if status == RUNNING:
            before = run.state.steps + run.state.rejections
            status = advance_to(run, r.edges[r.interval] if has_inputs else np.inf, budget)
            budget -= run.state.steps + run.state.rejections - before
        if status == RUNNING:
            return RUNNING
        if status == FINISHED and has_inputs and r.interval + 1 < r.edges.size:
            r.interval += 1
            set_inputs(run, r)
        else:
            store_results(run, r, status)
            r.run += 1
            r.begun = 0
    return FINISHED if r.run == r.status.size else RUNNING


@entry("int64", "int64")
def evaluate(address, evaluation):
    """Evaluate all outputs at recorded states."""
    run, e = at(address), evaluation_at(evaluation)
    k, s = run.kernels[e.structure], run.scratch
    for i in e.which:
        rate(run, k, e.times[i], e.x[i], e.p[i], s.xdot)
        call.outputs(k, s, e.x[i], e.p[i], s.xdot, s.lam, e.outputs[i])
    return RUNNING
