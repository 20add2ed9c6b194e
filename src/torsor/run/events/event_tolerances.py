"""What all parts of a run with events share: how close to zero is zero, which events are looked at, which structure holds.

A mechanism of any size has the events of its copy of size 1: speeds and residuals are compared in units of their rows (see
`formulations/algebra/scales.py`), speeds of all kinds as rates [1/s], multipliers of all kinds as forces:

    ω = max(|ẋ|/L, |θ̇|),        F = |λ| u/L,        |ψ| ≪ u ω,        |λ| ≪ F L/u                          (1)

L   size of the model [m]
u   unit of a row: that of its residual
"""

from ...kernels import call
from ...kernels.compiled import compiled, inlined
from ...methods.rank_agreement import overall
from ...methods.vector_functions import copy

# how an event that is due was found; 1 is also "due now"
FALLING, RISING, AT_START, FALLING_AGAIN, FLAT, RISING_AGAIN = 1, 2, 3, 4, 5, 6

MANY = 1000  # parts of a step, at most; a fixed step may have a hundred times as many
NEAR = 1e-12  # of the largest value that a watched function had: closer to zero it is neither positive nor negative
DECIDED = 1e-7  # likewise for contacts and friction, where all of them were decided together or the structure is soft
LEAVES = 1e-9  # rate of a function at zero over its largest rate, above which it leaves zero on that side
LEANS = 1e-6  # cosine of the angle between a watched function and a constraint, from which it determines the side of it
TIME_ROUNDING = 1e-15  # of the time: what a function changes in that is rounding too
REBOUND = 1e-11  # height of a rebound over the unit of the row, below which the rest of the rebounds is summed up
INDEPENDENT = 1e-11  # conditioning of the active rows of a flagged structure, below which they depend on each other
PASSES = 16  # through an instant, before Python has its turn
FAR = 1e-6  # residual over its unit, above which a constraint is not engaged
CRAWL = (
    1e-8  # sliding speed over the largest, both as rates, below which the direction of sliding is held within a step
)
STILL = 1e-9  # likewise, below which sliding in two directions that slows down is stopped


@compiled
def structure_of(run, p):
    """The structure that p describes; -1 where its kernels are wanted."""
    keys, bits, events = run.structures.keys, run.program.bits, run.events
    if run.structures.only == 1:
        return run.structures.flagged
    for i in range(keys.shape[0]):
        same = True
        for k in range(bits.size):
            if keys[i, k] != p[bits[k]]:
                same = False
                break
        if same:
            return i
    if run.structures.flagged >= 0 and has_independent_rows(run, p):
        return run.structures.flagged
    if run.structures.soft >= 0:
        return run.structures.soft
    for k in range(bits.size):
        events.wanted[k] = p[bits[k]]
    run.structures.dependent = 1 if run.structures.flagged >= 0 else 0
    return -1


@compiled
def has_independent_rows(run, p):
    """True if the active rows of the flagged structure do not depend on each other at the trial state."""
    structures, bits, s = run.structures, run.program.bits, run.scratch
    same = True
    for k in range(bits.size):
        same = same and structures.confirmed[k] == p[bits[k]]
    if same:
        return True
    k = run.kernels[structures.flagged]
    s.t[0] = run.state.time
    call.factor(k, s, run.trial.x, p, s.F)
    if not s.F[k.last] > INDEPENDENT:
        return False
    for m in range(bits.size):
        structures.confirmed[m] = p[bits[m]]
    return True


@compiled
def is_watched(run, m, p):
    """Whether an event is looked at; those of clocks happen without."""
    watch = run.program.events[m]
    if run.events.disabled[m] == 1 or run.events.idle[m] == 1 or watch.period > 0.0:
        return False
    for k in range(watch.during, watch.during_end):
        if p[run.program.during[k].place] != run.program.during[k].value:
            return False
    return True


@inlined
def near(run, m, t, rate):
    """How close to zero the function of an event is neither positive nor negative; a rate may not exist."""
    coarse = run.events.decided == 1 or run.events.structure == run.structures.soft
    least = DECIDED if coarse and run.program.events[m].undecided_near_zero == 1 else NEAR
    return least * run.events.scale[m] + (TIME_ROUNDING * abs(t * rate) if abs(rate) < 1e300 else 0.0)


@inlined
def resolution(run, i):
    """Reactions over the largest one, below which they are zero in structure i: more is rounding where rows depend on others."""
    return DECIDED if i == run.structures.soft else NEAR


@inlined
def measure(run, m, x, rate):
    """Take note of how large the function of an event is, and its rate."""
    events = run.events
    if abs(x) < 1e300:
        events.scale[m] = max(events.scale[m], abs(x))
    if abs(rate) < 1e300:
        events.speed[m] = max(events.speed[m], abs(rate))


@inlined
def rounded_rate(run):
    """The rate against which speeds are rounded: the largest, or the one that what constraints hold would reach [1/s]."""
    return max(run.events.fastest, run.events.fall)


@compiled
def load_of(run, i):
    """The largest multiplier in the scratch, of a structure, as a force: (1)."""
    largest, units = 0.0, run.program.units
    for k in range(run.kernels[i].rows):
        largest = max(largest, abs(run.scratch.lam[k]) * units[run.structures.rows[i, k]])
    return overall(run, largest) / run.scales.length


@inlined
def progress(source, target):
    """How far a run is, from one record to another."""
    target.time, target.step, target.longest = source.time, source.step, source.longest
    target.pivot, target.least_pivot = source.pivot, source.least_pivot
    target.position_residual, target.velocity_residual = source.position_residual, source.velocity_residual
    target.steps, target.rejections, target.projections = source.steps, source.rejections, source.projections
    target.dodged, target.rejected = source.dodged, source.rejected


@inlined
def sizes(source, target):
    """What errors are measured against, from one record to another."""
    target.length, target.angle, target.energy = source.length, source.angle, source.energy
    target.speed, target.spin = source.speed, source.spin
    target.linear_rounding, target.angular_rounding = source.linear_rounding, source.angular_rounding
    copy(source.states, target.states)


@compiled
def keep(run):
    """Take note of the state before a step."""
    kept, state = run.kept, run.state
    copy(state.xs[state.at], kept.x)
    copy(state.p, kept.p)
    progress(state, kept)
    sizes(run.scales, kept)


@compiled
def go_back(run):
    """Back to the state before the step; the evaluations that it cost stay counted."""
    kept, state = run.kept, run.state
    copy(kept.x, state.xs[state.at])
    copy(kept.p, state.p)
    state.fresh, state.rated = 0, 0
    progress(kept, state)
    sizes(kept, run.scales)
