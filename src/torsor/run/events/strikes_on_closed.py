"""Strikes of events of the user on constraints that are closed already.

An event that watches the gap of a constraint, φ = φ(g), and strikes it, cannot fire while the constraint is closed: g is zero but
for rounding. The angle between their gradients shows whether φ is a function of g. Elements that strike their own constraints
are watched only while these are open.
"""

from ...kernels import call
from ...kernels.compiled import compiled
from ...prepare.event_codes import STRIKE
from ...prepare.event_records import VALUE
from .event_tolerances import FAR

PARALLEL = 1 - 1e-9  # cosine of the angle between the gradients of φ and g, from which φ is a function of g


@compiled
def mark_idle_strikes(run, i):
    """Mark the events that watch and strike constraints that are closed at present; ẋ is in the scratch, φ in the trial."""
    events, state, s, looked = run.events, run.state, run.scratch, False
    for m in range(events.due.size):
        watch = run.program.events[m]
        if watch.approach < 0 or watch.undecided_near_zero == 1:
            continue
        if not looked:
            call.slots(run.kernels[i], s, state.xs[state.at], state.p, s.xdot, s.lam, run.trial.later)
            looked = True
        events.idle[m] = 1 if strikes_closed_constraints(run, m) else 0


@compiled
def strikes_closed_constraints(run, m):
    """True if all constraints that event m strikes are closed, and its function is a function of their gaps and is zero."""
    watch, p = run.program.events[m], run.state.p
    if not abs(run.trial.phi[VALUE, m]) <= FAR * watch.unit:
        return False
    for k in range(watch.ops, watch.ops_end):
        op = run.program.ops[k]
        if op.code == STRIKE and (p[op.place] != 1.0 or not abs(run.trial.later[op.slot + 2]) > PARALLEL):
            return False
    return True
