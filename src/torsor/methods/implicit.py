"""What implicit steps share: the slope and its factors, kept as long as they serve, and Newton's method.

Simplified Newton: ∂k/∂u is evaluated seldom, since a wrong one costs iterations and no accuracy. What is kept stands in the record
`Past`, so that a run that goes on from a checkpoint iterates as one that was never stopped, and a jump forgets it.
[hairer1996], sec. IV.8
"""

import numpy as np

from ..kernels import ask
from ..kernels.compiled import compiled, inlined
from .control import of_each_kind, sizes_of, speeds_met
from .newton import factored, solve
from .vectors import copy, stage

SAME = 0.02  # relative difference of shifts up to which factors of one serve for the other
SLOW = 0.03  # contraction of corrections, above which the slope is evaluated anew for the next step
BEGINS = 0.1  # what is taken for it where none was seen yet,
UNSEEN = 0.01  # and at least, where it was seen in earlier steps
CLOSELY = 0.001  # part of the tolerance to which equations are solved,
EXACTLY = 1e-15  # and of the size of the model, where a step is fixed
ROUNDING = 1e-9  # corrections below this that no longer shrink are rounding of large terms
ROUNDED, RESTING = 1e-15, 1e-9  # of its size: how far a model moves in a step by rounding, and at most where it rests
ITERATIONS, FEW = 30, 10  # that are tried with a fixed step, and where a shorter one may be cheaper
GOES_ON, SOLVED, FAILS = 0, 1, 2


@compiled
def forget_after_jump(run):
    """What belongs to the motion before a jump serves no more."""
    past = run.past
    if past.kept == 0:
        past.sloped, past.span = 0, 0.0


@compiled
def push_every_way(run, k, x, u):
    """∂k/∂u column by column, where it would be too long a kernel."""
    s, eq, slope, pushed = run.scratch, run.equations, run.past.slope, -1
    for m in range(k.slopes):
        row, column = eq.rows[k.source + m], eq.columns[k.source + m]
        if column != pushed:
            for i in range(eq.b.size):
                eq.b[i] = 1.0 if i == column else 0.0
            ask.push(k, s, x, u, run.state.p, eq.b, slope, eq.y)
            pushed = column
        slope[m] = eq.y[row]


@compiled
def evaluate_slope(run, k, t, x, u):
    """∂k/∂u at x · exp(u)."""
    past, s = run.past, run.scratch
    s.t[0] = t
    if k.slope != 0:
        ask.slope(k, s, x, u, run.state.p, past.slope)
    else:
        push_every_way(run, k, x, u)
    past.sloped, past.shift, past.contraction = 1, 0.0, BEGINS


@compiled
def factors_for(run, structure, shift, ratio):
    """Factors of shift − ∂k/∂u, and where the ratio is not zero of ratio · shift − ∂k/∂u; those that there are serve where they
    were made for nearly this shift. Returns whether there are any."""
    past, eq = run.past, run.equations
    if abs(past.shift - shift) > SAME * shift:
        past.shift, eq.known = shift, 0
    if eq.known == 0:
        good = factored(run, structure, past.slope, past.shift, eq.factors)
        if good and ratio != 0.0:
            good = factored(run, structure, past.slope, past.shift * ratio, eq.turned)
        eq.known = 1 if good else 0
        if not good:
            past.shift = 0.0
    return eq.known == 1


@inlined
def units(run, h, x, way, change):
    """What corrections of linear and of angular speeds and of work are compared with. Where errors are controlled this is what
    they are measured against; else what moves the model by its size in a step, and the energy of what moves."""
    plan, length = run.plan, run.scales.length
    first, last = run.scratch.K[0], run.scratch.K[run.method.stages - 1]
    along, about = of_each_kind(run, first, last, change, change)
    if plan.adaptive == 1:
        sizes, _ = sizes_of(run, h, x, way, along, about)
        return max(sizes.speed, ROUNDED * length / h), max(sizes.spin, ROUNDED / h), sizes.energy
    speed, spin = speeds_met(run, h, way, along, about)
    speed, spin = max(speed, RESTING * length / h), max(spin, RESTING / h)
    return length / h, 1.0 / h, plan.mass * speed**2 + plan.inertia * spin**2


@compiled
def size_of(run, speed, spin, way, change):
    """How large a correction of the way of a step is, over the size of the model and its speeds, and its largest component."""
    plan, scales, n, worst, place = run.plan, run.scales, run.plan.velocities, 0.0, 0
    for m in range(2 * n):
        if plan.linear[m % n] == 1:
            unit = scales.length if m < n else speed
        else:
            unit = 1.0 if m < n else spin
        size = abs(change[m]) / unit
        if not size <= worst:
            worst, place = size, m
    for m in range(2 * n + 1, change.size):
        size = abs(change[m]) / max(abs(way[m]), scales.states[m - 2 * n - 1], 1e-300)
        if not size <= worst:
            worst, place = size, m
    return worst, place


@compiled
def verdict(run, h, x, way, change, last, turn):
    """Whether a correction is the last that is needed, or no hope is left; and its size.

    last   size of the correction before;  turn: how many there were

    Nothing depends on the work, which follows the motion by an iteration: it may ask for one more.
    """
    plan, state, past, eq, n = run.plan, run.state, run.past, run.equations, run.plan.velocities
    speed, spin, energy = units(run, h, x, way, change)
    size, state.worst = size_of(run, speed, spin, way, change)
    state.unsolved = size
    goal, rounding, most = EXACTLY, ROUNDING, ITERATIONS
    if plan.adaptive == 1:
        goal, rounding, most = CLOSELY * plan.tolerance, min(ROUNDING, 0.1 * plan.tolerance), FEW
    if not size < np.inf:
        return FAILS, size
    ratio = size / last if turn > 0 and last > 0.0 else 0.0
    rounded = turn > 0 and size <= rounding and ratio > 0.3
    if turn > 0 and not rounded:
        past.contraction = ratio
    left = min(past.contraction, 0.99) if turn > 0 else max(past.contraction, UNSEEN)
    if rounded or size == 0.0 or left / (1.0 - left) * size <= goal:
        settled, eq.settled = eq.settled == 1, 1
        worked = abs(change[2 * n]) <= 100.0 * goal * max(energy, abs(way[2 * n]))
        return (SOLVED if worked or settled else GOES_ON), size
    hopeless = past.contraction >= 0.99 or size * left ** (most - turn) > goal
    return (FAILS if turn > 0 and size > rounding and hopeless else GOES_ON), size


@compiled
def iterated(run, structure, t, h, x, x1, within, b, g):
    """Newton's method for u = b + g k(within · u) from the u in the scratch, with the factors that there are. Returns whether it
    converged; k of the last iteration is left in the last row of K."""
    k, s, eq, n, last = run.kernels[structure], run.scratch, run.equations, run.scratch.u.size, np.inf
    K, shift, eq.settled = s.K[run.method.stages - 1], 1.0 / (within * g), 0
    for turn in range(ITERATIONS):
        for m in range(n):
            s.left[m] = within * s.u[m]
        stage(run, k, t, x, s.left, x1, K)
        run.state.evaluations += 1
        for m in range(n):
            eq.b[m] = shift * (b[m] + g * K[m] - s.u[m])
        solve(run, structure, eq.factors, eq.b, eq.y)
        for m in range(n):
            s.u[m] += eq.b[m]
        found, last = verdict(run, h, x, s.u, eq.b, last, turn)
        if found != GOES_ON:
            return found == SOLVED
    return False


@compiled
def solved_stage(run, structure, t, h, x, x1, within, b, g):
    """u = b + g k(within · u) at time t, from the u in the scratch on; first with the slope that is kept, then with a fresh one.
    Returns whether it was solved."""
    k, s, eq, past = run.kernels[structure], run.scratch, run.equations, run.past
    copy(s.u, eq.guess)
    for _ in range(2):
        fresh = past.sloped == 0
        if fresh:
            for m in range(s.u.size):
                s.left[m] = within * s.u[m]
            evaluate_slope(run, k, t, x, s.left)
        if factors_for(run, structure, 1.0 / (within * g), 0.0) and iterated(run, structure, t, h, x, x1, within, b, g):
            if past.contraction > SLOW:
                past.sloped = 0
            return True
        past.sloped = 0
        if fresh:
            return False
        copy(eq.guess, s.u)
    return False
