"""Impulses on the rows of a structure, worked out on the trial state of an instant."""

from ...kernels import call
from ...kernels.compiled import compiled, inlined


@compiled
def place_of(run, i, row, p):
    """Where a row of the model is among the rows in use of structure i, which p describes; -1 where it is not."""
    if row < 0:
        return -1
    place = run.structures.places[i, row]
    if place >= 0 and (i == run.structures.flagged or i == run.structures.soft):
        for k in range(run.program.switches.shape[1]):
            switch = run.program.switches[row, k]
            if switch >= 0 and p[switch] != 1.0:
                return -1
    return place


@inlined
def unit_of(run, i, place):
    """Unit of one of the rows in use."""
    return run.program.units[run.structures.rows[i, place]]


@compiled
def residuals(run, i, t):
    """ψ of a structure at the trial state, and its factor, in the scratch."""
    k, s, trial = run.kernels[i], run.scratch, run.trial
    s.t[0] = t
    call.factor(k, s, trial.x, trial.p, s.F)
    call.velocities(k, s, trial.x, trial.p, s.F, trial.other, s.psi)


@compiled
def answer(run, i, r):
    """Impulses that take residuals away, and what they change velocities by, of a structure whose factor is in the scratch."""
    trial, s = run.trial, run.scratch
    call.impulse(run.kernels[i], s, trial.x, trial.p, s.F, r, trial.dv, trial.impulse)


@compiled
def push(run, i):
    """Apply the impulses that take the residuals trial.r away, and add them up."""
    trial, first = run.trial, run.plan.configuration
    answer(run, i, trial.r)
    for m in range(trial.dv.size):
        trial.x[first + m] += trial.dv[m]
    for k in range(run.kernels[i].rows):
        trial.impulses[run.structures.rows[i, k]] += trial.impulse[k]


@compiled
def loosen(run, p, contacts):
    """Dry friction slides, for the time being; in contacts that take part in an impact it takes part in it
    (`impact_friction.py`)."""
    for f in run.program.frictions:
        armed = f.armed < 0 or p[f.armed] == 1.0
        takes_part = contacts and f.host >= 0 and f.sliding >= 0 and p[f.host] == 1.0 and armed
        p[f.stick], p[f.slip] = (1.0, 0.0) if takes_part else (0.0, 1.0 if armed else 0.0)
