"""The time loop of a run with events: steps of the plain loop, each looked through for events, and instants between them."""

from ..kernels.calls import call
from .codes import NOT_A_NUMBER, UNSEEN
from .compiled import loop
from .instant import instant
from .locate import locate
from .loop import FINISHED, RUNNING, copy, largest, march
from .switch import (
    AT_START,
    CRAWL,
    END,
    MANY,
    STILL,
    EventsReference,
    LogReference,
    PlanReference,
    ProgramReference,
    ScratchReference,
    StateReference,
    TableReference,
    TrialReference,
    enabled,
    keep,
    kernels_of,
    measure,
    near,
    restore,
    use,
)
from .watching import ends, first, quiet


@loop
def march_events(given, table_of, raw, log_to, times, end, outputs, budget):
    """Take at most `budget` steps, to `end`; write the state at every output time that is reached. Returns a status.

    given: program, events, trial; raw: scratch, plan, state of the plain loop; outputs: arrays for q, v, p, work, energy
    """
    program, events, trial = ProgramReference(*given[0]), EventsReference(*given[1]), TrialReference(*given[2])
    table, log = TableReference(*table_of), LogReference(*log_to)
    s, plan, state = ScratchReference(*raw[0]), PlanReference(*raw[1]), StateReference(*raw[2])
    out_q, out_v, out_p, out_w, out_e = outputs
    n = events.due.size
    use(table, plan, events.marks[0])
    for _ in range(budget):
        if events.marks[1] == 1:
            status = instant(program, table, s, plan, state, events, trial, log)
            if status != RUNNING:
                return status
            if events.marks[1] == 1:
                continue
        i = events.marks[0]
        k = kernels_of(table, i)
        t = state.values[0]
        while events.marks[3] < times.size and t >= times[events.marks[3]]:
            at = events.marks[3]
            copy(state.q, out_q[at])
            copy(state.v, out_v[at])
            copy(state.p, out_p[at])
            out_w[at], out_e[at] = state.values[2], events.values[0]
            events.marks[3] += 1
        goal = times[events.marks[3]] if events.marks[3] < times.size else end
        if t >= goal:
            return FINISHED

        if plan.choices[0] == 1 and events.values[6] > 0.0 and state.values[1] > MANY * events.values[6]:
            state.values[1] = MANY * events.values[6]
        keep(s, state, trial)
        trial.target[0], state.counts[2] = goal, 0
        status = march(k, *raw, trial.target[:1], goal, trial.oq, trial.ov, trial.op, trial.ow, 1)
        if status != RUNNING and status != FINISHED:
            return status
        if state.values[0] == t:
            continue
        events.values[3] = max(events.values[3], largest(state.v, state.v.size))
        ends(table, s, plan, i, state, events, trial)
        found = 0
        if not quiet(program, events, trial, state.p):
            found = first(program, table, s, plan, i, state, events, trial, state.p)
        if found < 0:
            restore(s, state, trial)
            if found == -1:
                return NOT_A_NUMBER
            if plan.choices[0] == 0:
                events.values[1] = plan.numbers[0]
                return UNSEEN
            continue
        if found > 0:
            at_start = False
            for m in range(n):
                at_start = at_start or events.due[m] == AT_START
            if at_start:
                restore(s, state, trial)
                for m in range(n):
                    events.due[m] = 1 if events.due[m] == AT_START else 0
            else:
                status = locate(program, table, raw, s, plan, state, events, i, trial)
                if status != RUNNING:
                    for m in range(n):
                        events.due[m] = 0
                    restore(s, state, trial)
                    return status
            events.marks[1] = 1
            continue
        copy(trial.samples[END], events.phi)
        for m in range(n):
            if enabled(program, events, m, state.p):
                measure(events, m, events.phi[m], events.phi[n + m])
            if abs(events.phi[m]) > near(events, m, state.values[0], events.phi[n + m]):
                events.side[m] = 1 if events.phi[m] > 0.0 else -1
        for m in range(program.headings.shape[0]):  # the way in which something slides is followed
            call(table.addresses[i, 12], (s.t, state.q, state.v, state.p, s.a, s.lam, trial.later, s.work))
            place, slot, parts, stop = program.headings[m]
            crawl = CRAWL * max(events.values[3], events.values[8])
            if trial.later[slot - 1] > 0.0:
                for l in range(parts if trial.later[slot - 1] > crawl else 0):
                    state.p[place + l] = trial.later[slot + l]
                slow = trial.later[slot - 1] < STILL * events.values[3] and events.phi[n + stop] < 0.0
                if trial.later[slot - 1] > 10 * STILL * events.values[3]:
                    events.armed[stop] = 1
                elif (
                    slow and events.armed[stop] == 1 and enabled(program, events, stop, state.p)
                ):  # it turns about zero
                    events.due[stop], events.marks[1], events.armed[stop] = 1, 1, 0
            state.p[program.crawls[m]] = crawl
    return RUNNING
