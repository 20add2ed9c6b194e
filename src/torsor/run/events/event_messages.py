"""What is said of a run that came to its end by an event, or by a function that gave no answer."""

import numpy as np

from ...prepare import event_codes
from ..run_messages import failures_of_other_programs

REPEATED = 20  # last events of an instant, whose elements a message names
LISTED = 6  # elements that a message names at most


def message(runner, status):
    """What is said of a run that an event or a controller brought to its end; None where it was neither."""
    w, t = event_codes, runner.state.time
    if status == w.CONTROLLER_FAILED:
        return runner.controllers.reason
    if not w.NEEDS_STRUCTURE <= status <= w.VARIES_TOO_FAST:
        return None
    name = runner.structures.program.names[runner.events.failed]
    if status == w.PENETRATES and (violated := _violation(runner)):
        return violated
    if status == w.CHATTERS and (conflict := _inconsistent_contacts(runner)):
        return conflict
    off = f"{runner.events.number:.3g}"
    if status == w.NOT_SATISFIED and runner.events.failed in runner.program.clocks:
        return (
            f"controller {name.rpartition('.')[0]!r}: an output would move a constraint by {off} at once (t = {t:.9g} s). Outputs "
            "are held and change in steps: let a drive follow a state whose rate is the output (model.state), or let a force act"
        )
    why = failures_of_other_programs(runner) if status == w.NOT_A_NUMBER else ""
    return {
        w.ENDED: f"ended by event {name!r}",
        w.NEEDS_STRUCTURE: f"event {name!r} cannot happen: {runner.refused}",
        w.NOT_A_NUMBER: f"event {name!r}: {why or 'its condition, or a value that it sets, is not a number'} at t = {t:.9g} s",
        w.NOT_SATISFIED: (
            f"event {name!r} engages constraints that are far from satisfied, or moves them: the largest residual is {off}. "
            "Engage them where they hold, or allow the bodies to be moved with engage(..., snap=True)"
        ),
        w.VARIES_TOO_FAST: (
            f"event {name!r}: its condition varies too fast to be resolved with steps of {off} s: reduce `step`"
        ),
        w.RESTITUTION: f"event {name!r}: restitution must lie between 0 and 1, it is {off}",
        w.UNDECIDED: (
            f"event {name!r}: it cannot be decided which dry friction sticks and which slides (t = {t:.12g} s): "
            f"{', '.join(x for x, tried in zip(runner.structures.program.frictions, runner.rubbing.tries) if tried)}"
        ),
        w.PENETRATES: f"event {name!r} strikes a constraint that is broken by {off} there; it must hold where it is struck",
        w.CHATTERS: (
            f"event {name!r} and others that follow from it fire again and again without time passing (t = {t:.12g} s): "
            "the conditions call for each other. Let them differ (hysteresis), or choose accumulate='end' or 'ignore' "
            "for the event"
        ),
        w.ACCUMULATES: (
            f"event {name!r} fires at ever shorter intervals, which end at about t = {runner.events.number:.12g} s. "
            "Choose accumulate='end' to end there, accumulate='ignore' to go on without the event, or a constraint "
            "that stays engaged (ts.strike does that by itself)"
        ),
    }[status]  # fmt: skip


def _inconsistent_contacts(runner):
    """The message for contacts and friction whose structure repeats at one instant; None for other events."""
    events, log, t = runner.structures.derivation.model.events, runner.log, runner.state.time
    source = events[runner.events.failed].source
    if source is None or not (source.one_sided or source.dry_friction):
        return None
    now = log.event[: log.count][log.time[: log.count] >= t]
    changed = {events[k].source for k in now[-REPEATED:] if events[k].source is not None} | {source}
    forces = _multipliers(runner)
    shown = [
        f"{c.name!r} ({forces.get(c.name, 'open or sliding')})"
        for c in runner.structures.program.constraints
        if c in changed
    ]
    more = f" and {len(shown) - LISTED} more" if len(shown) > LISTED else ""
    return (
        f"contacts and friction have no consistent solution at t = {t:.12g} s: they close, open, stick and slide again and again "
        f"without time passing: {', '.join(shown[:LISTED])}{more}. Change coefficients of friction or the start a little, give the "
        "contacts compliance (ts.Bushing, a one-sided spring), or keep fewer of them where they hold the same body"
    )


def _multipliers(runner):
    """The multipliers of each constraint in use at the instant at which the run has stopped, as text, by its name."""
    index = runner.events.structure
    forces: dict[str, list[str]] = {}
    active = {
        c.name
        for c in runner.structures.program.constraints
        if runner.state.p[runner.structures.program.places[id(c.active)]] == 1.0
    }
    for place in range(int(runner.run_.kernels["rows"][index])):
        name = runner.system.rows[runner.table.rows[index, place]][0].rpartition("[")[0]
        if name in active:
            forces.setdefault(name, []).append(f"{runner.scratch.lam[place]:.3g}")
    return {name: f"multiplier {', '.join(values)}" for name, values in forces.items()}


def _violation(runner):
    """The message for a one-sided element whose gap is negative where it begins to act; None for a strike of the user's own."""
    events, t = runner.structures.derivation.model.events, runner.state.time
    event = events[runner.events.failed]
    if not hasattr(event.source, "violation"):
        return None
    element, side, depth = event.source, event.name.rpartition(".")[2], -runner.events.number
    if element.starts_armed and t == runner.system.t:
        return (
            f"{element.violation(side, 'starts', depth)}. Start where the gap is not negative, or add the {element.key} with "
            "active=False and engage it there (ts.engage)"
        )
    return (
        f"{element.violation(side, 'is', depth)} at t = {t:.9g} s, where the {element.key} is to act. Engage it, or move it by "
        "inputs, parameters and events, only where its gap is not negative"
    )


def at_end(runner):
    """Outputs, work, and what events have changed the energy by, at the state that a run has come to: one row of each."""
    runner.begin(np.array([runner.state.time]))
    runner.out.x[0], runner.out.p[0], runner.out.by_events[0] = runner.state.x, runner.state.p, runner.events.energy
    runner._evaluate(np.arange(1))
    return runner.outputs, runner._work(slice(1)), runner.out.by_events
