"""Tolerances of a run with events, and what its parts share: which events are watched, which structure is active.

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

# how a due event was found; 1 is also "due now"
FALLING, RISING, AT_START, FALLING_AGAIN, FLAT, RISING_AGAIN = 1, 2, 3, 4, 5, 6

MANY = 1000  # most parts in which a step is searched; a fixed step may have a hundred times as many
NEAR = 1e-12  # watched function / its largest value so far, below which it counts as zero
DECIDED = 1e-7  # the same for contacts and friction that were decided together, or in a soft structure
LEAVES = 1e-9  # rate of a function at zero / its largest rate, above which it leaves zero
LEANS = 1e-6  # cosine between the gradients of a watched function and a constraint, from which it gives the side of the impact
TIME_ROUNDING = 1e-15  # of the time: the change of a function in it counts as rounding
REBOUND = 1e-11  # height of a rebound / unit of the row, below which no rebound follows
INDEPENDENT = 1e-11  # conditioning of the active rows of a flagged structure, below which they count as dependent
PASSES = 16  # events at one instant before the loop returns to Python
FAR = 1e-6  # residual / its unit, above which a constraint is not engaged
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
    """True if the function of an event is watched. Events of clocks have none."""
    watch = run.program.events[m]
    if run.events.disabled[m] == 1 or run.events.idle[m] == 1 or watch.period > 0.0:
        return False
    for k in range(watch.during, watch.during_end):
        if p[run.program.during[k].place] != run.program.during[k].value:
            return False
    return True


@inlined
def zero_tolerance(run, m, t, rate):
    """The value of the function of an event below which it counts as zero. Its rate may be nan."""
    coarse = run.events.decided == 1 or run.events.structure == run.structures.soft
    least = DECIDED if coarse and run.program.events[m].undecided_near_zero == 1 else NEAR
    return least * run.events.scale[m] + (TIME_ROUNDING * abs(t * rate) if abs(rate) < 1e300 else 0.0)


@inlined
def load_resolution(run, i):
    """Reaction / largest reaction, below which it counts as zero in structure i."""
    return DECIDED if i == run.structures.soft else NEAR


@inlined
def update_scale(run, m, x, rate):
    """Update the largest value and the largest rate of the function of an event."""
    events = run.events
    if abs(x) < 1e300:
        events.scale[m] = max(events.scale[m], abs(x))
    if abs(rate) < 1e300:
        events.speed[m] = max(events.speed[m], abs(rate))


@inlined
def rounded_rate(run):
    """The rate that speeds are compared with: the largest so far, or the one that bodies would reach without constraints [1/s]."""
    return max(run.events.fastest, run.events.fall)


@compiled
def largest_load(run, i):
    """The largest multiplier in the scratch, of a structure, as a force: (1)."""
    largest, units = 0.0, run.program.units
    for k in range(run.kernels[i].rows):
        largest = max(largest, abs(run.scratch.lam[k]) * units[run.structures.rows[i, k]])
    return overall(run, largest) / run.scales.length


@inlined
def copy_progress(source, target):
    """Copy the progress of a run from one record to another."""
    target.time, target.step, target.longest = source.time, source.step, source.longest
    target.pivot, target.least_pivot = source.pivot, source.least_pivot
    target.position_residual, target.velocity_residual = source.position_residual, source.velocity_residual
    target.steps, target.rejections, target.projections = source.steps, source.rejections, source.projections
    target.dodged, target.rejected = source.dodged, source.rejected


@inlined
def copy_error_scales(source, target):
    """Copy the scales of errors from one record to another."""
    target.length, target.angle, target.energy = source.length, source.angle, source.energy
    target.speed, target.spin = source.speed, source.spin
    target.linear_rounding, target.angular_rounding = source.linear_rounding, source.angular_rounding
    copy(source.states, target.states)


@compiled
def save_step_start(run):
    """Store the state before a step."""
    kept, state = run.kept, run.state
    copy(state.xs[state.at], kept.x)
    copy(state.p, kept.p)
    copy_progress(state, kept)
    copy_error_scales(run.scales, kept)


@compiled
def restore_step_start(run):
    """Restore the state before the step. The evaluations stay counted."""
    kept, state = run.kept, run.state
    copy(kept.x, state.xs[state.at])
    copy(kept.p, state.p)
    state.fresh, state.rated = 0, 0
    copy_progress(kept, state)
    copy_error_scales(kept, run.scales)
