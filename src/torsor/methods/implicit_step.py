"""What implicit steps share: the slope and its factors, kept as long as they serve, and Newton's method.

Simplified Newton: ∂k/∂u is evaluated seldom, since a wrong one costs iterations and no accuracy. What is kept stands in the record
`Past`, so that a run that goes on from a checkpoint iterates as one that was never stopped, and a jump forgets it.
[hairer1996], sec. IV.8
"""

import numpy as np

from ..kernels import call
from ..kernels.compiled import compiled, inlined
from .error_control import largest_speeds, of_each_kind, relearn_states, sizes_of, state_size
from .shifted_equations import factorise, solve
from .vector_functions import copy, stage

SAME = 0.02  # relative difference of shifts up to which factors of one serve for the other
SLOW = 0.003  # contraction of corrections, above which the slope is evaluated again for the next step
BEGINS = 0.1  # what is taken for it where none was seen yet,
UNSEEN = 0.01  # and at least, where it was seen in earlier steps
CLOSELY = 0.003  # part of the tolerance to which equations are solved, at most,
OF_ROOT = 8.0  # and over its root, for methods with one stage,
EXACTLY = 1e-15  # and of the size of the model, where a step is fixed
ROUNDING_CORRECTION = 1e-9  # corrections below this that no longer shrink are rounding of large terms
NOISE = 1e-14  # likewise of corrections over the size of the model, as ways in a step, and over values of states
STAGNATES = 0.3  # ratio of successive corrections above which they no longer shrink
DIVERGES = 0.99  # mean ratio of successive corrections from which they do not converge
ROUNDED, RESTING = 1e-15, 1e-9  # of its size: how far a model moves in a step by rounding, and at most where it rests
ITERATIONS, FEW = 30, 10  # that are tried with a fixed step, and where a shorter one may be cheaper
GOES_ON, SOLVED, FAILS = 0, 1, 2


@compiled
def forget_after_jump(run):
    """What belongs to the motion before a jump serves no more."""
    past = run.past
    if past.kept == 0:
        past.sloped, past.span, past.ended = 0, 0.0, -np.inf


@compiled
def push_every_way(run, k, x, u):
    """∂k/∂u column by column, where it would be too long a kernel."""
    s, eq, slope, pushed = run.scratch, run.equations, run.past.slope, -1
    for m in range(k.slopes):
        row, column = eq.rows[k.source + m], eq.columns[k.source + m]
        if column != pushed:
            for i in range(eq.b.size):
                eq.b[i] = 1.0 if i == column else 0.0
            call.push(k, s, x, u, run.state.p, eq.b, slope, eq.y)
            pushed = column
        slope[m] = eq.y[row]


@compiled
def evaluate_slope(run, k, t, x, u):
    """∂k/∂u at x · exp(u)."""
    past, s = run.past, run.scratch
    s.t[0] = t
    if k.slope != 0:
        call.slope(k, s, x, u, run.state.p, past.slope)
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
        good = factorise(run, structure, past.slope, past.shift, eq.factors)
        if good and ratio != 0.0:
            good = factorise(run, structure, past.slope, past.shift * ratio, eq.turned)
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
        energy = sizes.energy if sizes.work_counts else 0.0
        return max(sizes.speed, ROUNDED * length / h), max(sizes.spin, ROUNDED / h), energy
    speed, spin = largest_speeds(run, h, way, along, about)
    speed, spin = max(speed, RESTING * length / h), max(spin, RESTING / h)
    return length / h, 1.0 / h, plan.mass * speed**2 + plan.inertia * spin**2


@compiled
def size_of(run, h, x, speed, spin, way, change):
    """The largest component of a correction of the way of a step over the size of the model, its speeds and states; which
    component that is; and the largest over the rounding of sizes and states."""
    plan, scales, n, worst, place, noise = run.plan, run.scales, run.plan.velocities, 0.0, 0, 0.0
    for m in range(2 * n):
        if plan.linear[m % n] == 1:
            unit, size = (scales.length, scales.length) if m < n else (speed, scales.length / h)
        else:
            unit, size = (1.0, 1.0) if m < n else (spin, 1.0 / h)
        part = abs(change[m]) / unit
        if not part <= worst:
            worst, place = part, m
        noise = max(noise, abs(change[m]) / size)
    for m in range(run.scales.states.size):
        unit = state_size(run, h, x, way, m)
        part = abs(change[2 * n + 1 + m]) / unit if unit > 0.0 else 0.0
        if not part <= worst:
            worst, place = part, 2 * n + 1 + m
        noise = max(noise, part)
    return worst, place, noise


@compiled
def remaining(run, size, turn):
    """The error that is left after a correction of this size, and the mean ratio of successive corrections.

    turn   number of corrections before this one

    The ratio of two corrections is that of the two before them: where a stiff direction turns within a step, corrections
    along it and across it alternate, and every second one may grow. With ratios a, b, a, b … what is left is

        size · b (1 + a)/(1 − a b),      mean ratio √(a b)                                                   (1)
    """
    eq, past = run.equations, run.past
    if turn == 0:
        eq.last, eq.ratio = size, 0.0
        left = max(past.contraction, UNSEEN)
        return left / (1.0 - left) * size if left < 1.0 else np.inf, past.contraction
    a = size / eq.last if eq.last > 0.0 else 0.0
    b = eq.ratio if turn > 1 else a
    eq.last, eq.ratio = size, a
    if a * b >= DIVERGES**2:
        return np.inf, np.sqrt(a * b)
    return size * b * (1.0 + a) / (1.0 - a * b), np.sqrt(a * b)  # (1)


@compiled
def verdict(run, h, x, way, change, turn, closely):
    """GOES_ON, SOLVED or FAILS after a correction: SOLVED where the error that is left is small against the tolerance, or where
    corrections are rounding; FAILS where they do not shrink, or too slowly. One correction may grow.

    turn      number of corrections before this one
    closely   part of the tolerance to which equations are solved where errors are controlled

    Nothing depends on the work, which follows the motion by an iteration: it may ask for one more.
    """
    plan, state, past, eq, n = run.plan, run.state, run.past, run.equations, run.plan.velocities
    speed, spin, energy = units(run, h, x, way, change)
    size, state.worst, noise = size_of(run, h, x, speed, spin, way, change)
    state.unsolved = size
    goal, rounding, most = EXACTLY, ROUNDING_CORRECTION, ITERATIONS
    if plan.adaptive == 1:
        goal = closely * plan.tolerance
        rounding, most = min(ROUNDING_CORRECTION, 0.1 * plan.tolerance), FEW
    if not size < np.inf:
        return FAILS
    left, mean = remaining(run, size, turn)
    rounded = turn > 0 and (size <= rounding or noise <= NOISE) and eq.ratio > STAGNATES
    if turn > 0 and not rounded:
        past.contraction = min(mean, 1.0)
    if rounded or size == 0.0 or left <= goal:
        found_before, eq.found_motion = eq.found_motion == 1, 1
        follows = max(eq.ratio, UNSEEN) if turn > 0 else BEGINS  # its next correction over this one
        worked = follows * abs(change[2 * n]) <= 10.0 * goal * max(energy, abs(way[2 * n]))
        return SOLVED if worked or found_before else GOES_ON
    if turn < 2 or size <= rounding:
        return GOES_ON
    hopeless = mean >= DIVERGES or (plan.adaptive == 1 and size * mean ** (most - 1 - turn) / (1.0 - mean) > goal)
    return FAILS if hopeless else GOES_ON


@inlined
def shrinks_slowly(run, turn):
    """True where a slope at the present iterate is worth its evaluation: steps are fixed, and corrections hardly shrink."""
    return run.plan.adaptive == 0 and turn > 0 and run.equations.ratio > STAGNATES


@compiled
def iterate(run, structure, t, h, x, x1, within, b, g, renew):
    """Newton's method for u = b + g k(within · u) from the u in the scratch, with the factors that there are; renew: with a slope
    at the present u where corrections hardly shrink. Returns whether it converged; k of the last iteration is left in the last
    row of K."""
    k, s, eq, n = run.kernels[structure], run.scratch, run.equations, run.scratch.u.size
    K, shift, eq.found_motion, found = s.K[run.method.stages - 1], 1.0 / (within * g), 0, GOES_ON
    closely = min(CLOSELY, OF_ROOT * np.sqrt(run.plan.tolerance))
    for turn in range(ITERATIONS):
        for m in range(n):
            s.left[m] = within * s.u[m]
        if renew and shrinks_slowly(run, turn):
            evaluate_slope(run, k, t, x, s.left)
            if not factors_for(run, structure, shift, 0.0):
                return False
        stage(run, k, t, x, s.left, x1, K)
        run.state.evaluations += 1
        for m in range(n):
            eq.b[m] = shift * (b[m] + g * K[m] - s.u[m])
        solve(run, structure, eq.factors, eq.b, eq.y)
        for m in range(n):
            s.u[m] += eq.b[m]
        found = verdict(run, h, x, s.u, eq.b, turn, closely)
        if found == SOLVED or (found == FAILS and not (renew and run.state.unsolved < np.inf)):
            break
    return found == SOLVED


@compiled
def solve_stage(run, structure, t, h, x, x1, within, b, g):
    """u = b + g k(within · u) at time t, from the u in the scratch on; first with the slope that is kept, then with a fresh one,
    then, where steps are fixed, with one of every iterate. Returns whether it was solved."""
    k, s, eq, past = run.kernels[structure], run.scratch, run.equations, run.past
    copy(s.u, eq.guess)
    for trial in range(0 if past.sloped == 1 else 1, 3 if run.plan.adaptive == 0 else 2):
        if trial > 0:
            for m in range(s.u.size):
                s.left[m] = within * s.u[m]
            evaluate_slope(run, k, t, x, s.left)
        good = factors_for(run, structure, 1.0 / (within * g), 0.0)
        if good and iterate(run, structure, t, h, x, x1, within, b, g, trial == 2):
            if past.contraction > SLOW:
                past.sloped = 0
            return True
        past.sloped = 0
        relearn_states(run, k, t, h, x, x1)
        copy(eq.guess, s.u)
    return False
