"""The length of steps where the speed of sliding in two directions is small compared with what it was.

With u = r e, |e| = 1, sliding u̇ = a − c u/|u| is

    ṙ = a·e − c,      r ė = a − (a·e) e                                                              (1)

Where r vanishes at an instant T, the direction e is no smooth function of time there: it tends to its limit with the power
|a|/(c − |a|) of T − t, and explicit stages beyond T see a direction that means nothing. Equal steps lose their order. Steps

    h_r = h (r/r₁)^α,     α = 1 − 0.8/p,        h_r |u̇| ≤ 0.3 r                                     (2)

of a method of order p keep it: their errors h_r^(p+1)/τ^p, summed over the time τ that is left, stay of the order hᵖ for
α > 1 − 1/p. Their number is p/0.8 times that of equal steps below r₁. Sliding that begins is the same in the other direction
of time. Adaptive methods find (2) by their error, except for its second part.

h    fixed step [s]
r₁   speed below which steps are shorter: SMALL times the largest since sliding began; where it begins, the speed after
     FIRST steps [m/s]
"""

import numpy as np

from ...kernels import call
from ...kernels.compiled import compiled
from ...prepare.event_records import RATE
from ..events.event_tolerances import is_watched

SMALL = 0.3  # r₁ over the largest sliding speed
FIRST = 10  # steps after which r₁ is reached, where sliding begins
MARGIN = 0.8  # α = 1 − MARGIN/p
TURN = 0.3  # largest change of the sliding velocity in a step, over itself
NEGLIGIBLE = (
    1e-3  # change of the sliding velocity in a step, over itself, below which steps of order 4 need not be shorter
)


@compiled
def limit_step(run, i):
    """Set the longest next step that (2) allows; ẋ of the present state is in the scratch."""
    events, state, s, later = run.events, run.state, run.scratch, run.trial.later
    events.slip_step = np.inf
    if run.program.headings.size > 0:
        call.slots(run.kernels[i], s, state.xs[state.at], state.p, s.xdot, s.lam, later)
    for heading in run.program.headings:
        stop = heading.stop
        if not is_watched(run, stop, state.p):  # it sticks, or its contact is open
            events.largest_slip[stop] = 0.0
            continue
        speed, crawl, change = later[heading.slot - 1], state.p[heading.crawl], 0.0
        for l in range(heading.parts):
            change += later[heading.drift + l] ** 2
        change = np.sqrt(change)
        largest = events.largest_slip[stop] = max(events.largest_slip[stop], speed)
        begins = events.phi[RATE, stop] >= 0.0
        if change > 0.0 and (speed > crawl or begins):
            events.slip_step = min(events.slip_step, slip_step(run, max(speed, crawl), largest, change, begins))


@compiled
def slip_step(run, speed, largest, change, begins):
    """The longest step that (2) allows at a sliding speed with a rate of change."""
    plan, p = run.plan, run.method.order
    turn = TURN * speed / change
    if plan.adaptive == 1:
        return turn
    small = max(SMALL * largest, FIRST * change * plan.step if begins else 0.0)
    graded = plan.step * min(1.0, (speed / small) ** (1 - MARGIN / p)) if small > 0.0 else plan.step
    needed = max(NEGLIGIBLE, 10 ** (-12 / p)) * speed / change
    return min(turn, max(graded, needed))
