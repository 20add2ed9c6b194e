"""How large the error of a step is, against scales that the model and its motion give, and how long the next one may be."""

from typing import NamedTuple

import numpy as np

from ..kernels import call
from ..kernels.compiled import compiled, inlined
from .rank_agreement import alone, both_overall, common, overall
from .vector_functions import either, largest, rate
from .work_at_rest import notice_work_at_rest

COARSE = 1e-3  # error of a step, relative to the model's size, from which the projection surely finds back
UNMOVED = 1e-9  # of its size: what a model that is said to rest may move by in a run
BRIEF = 1e9  # smallest steps, 1e-4 of a run: what begins from nothing is measured against what it gains in that time
STILL = 1e-16  # of its size: what moves by less in a run does not move
SUDDEN = 1e4  # smallest steps, 1e-9 of a run: nothing but a force that jumps makes steps from rest so short
RUN = 1e13  # smallest steps
KNOWN = 4.0  # how often the measured rounding of accelerations is put up with
ROUNDED_COORDINATE = 4e-16  # of the size of the model: rounding of a coordinate
ROUNDED_RATE = 1e-14  # relative change by which rates of the user's states are measured where steps are fixed
MOST_PAUSE = 25  # steps and rejections after which the scales of states may be measured again, at most,
SERVES = 100  # and the number of steps for which they serve


class Largest(NamedTuple):
    """Largest components of one kind, linear or angular, in a step."""

    speed: float  # at its start
    first: float  # acceleration at its start,
    last: float  # and in the last stage
    moved: float  # error of positions
    faster: float  # and of speeds
    whole: float  # error of positions before any of it was taken away


class Sizes(NamedTuple):
    """What errors of a step are measured against, in addition to lengths and angles."""

    speed: float
    spin: float
    energy: float
    work_counts: bool  # whether errors of the work are measured, against this energy


@inlined
def larger(a, b):
    """The larger of each."""
    return Largest(
        max(a.speed, b.speed),
        max(a.first, b.first),
        max(a.last, b.last),
        max(a.moved, b.moved),
        max(a.faster, b.faster),
        max(a.whole, b.whole),
    )


@inlined
def on_momenta(run):
    """Whether momenta stand in a state in the place of velocities."""
    return run.kernels[0].stored != 0


@inlined
def of_each_kind(run, first, last, e, whole):
    """The largest linear and the largest angular components of the rates at both ends of a step and of its errors, in one
    pass: most of the time would go by waiting for one comparison after the other. Where momenta are state their rates are no
    accelerations; what speeds up is seen at the end of the step."""
    linear, n, along = run.plan.linear, run.plan.velocities, Largest(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    about, momenta = along, on_momenta(run)
    for m in range(n):
        here = Largest(abs(first[m]), abs(first[n + m]), abs(last[n + m]), abs(e[m]), abs(e[n + m]), abs(whole[m]))
        if momenta:
            here = Largest(max(abs(first[m]), abs(last[m])), 0.0, 0.0, here.moved, here.faster, here.whole)
        if linear[m] == 1:
            along = larger(along, here)
        else:
            about = larger(about, here)
    return along, about


@inlined
def of_all_ranks(run, along, about):
    """The larger of each over all ranks."""
    if alone(run):
        return along, about
    c = run.scratch.common
    c[0], c[1], c[2], c[3], c[4], c[5] = along.speed, along.first, along.last, along.moved, along.faster, along.whole
    c[6], c[7], c[8], c[9], c[10], c[11] = about.speed, about.first, about.last, about.moved, about.faster, about.whole
    common(run, 12)
    return Largest(c[0], c[1], c[2], c[3], c[4], c[5]), Largest(c[6], c[7], c[8], c[9], c[10], c[11])


@inlined
def state_size(run, h, x, way, m):
    """What errors of a user's state are measured against: the largest value that it has had, or gains in a short time, and what it
    changes by in a step where all that its rate depends on changes by its own scale (`measure_states`). Rates of something stiff do
    not last: where steps may be longer than they do, the mean rate of the step counts."""
    scales, first, n = run.scales, run.plan.configuration + run.plan.velocities + 1, 2 * run.plan.velocities + 1
    fast, stages = abs(way[n + m]) / h, run.method.stages
    for j in range(stages if run.method.implicit == 0 else 0):
        fast = max(fast, abs(run.scratch.K[j, n + m]))
    gained = h * abs(run.scratch.K[0, n + m]) if run.method.implicit == 0 else abs(way[n + m])
    size = max(scales.states[m], abs(x[first + m]), gained, BRIEF * run.plan.smallest_step * fast)
    return max(size, uncertain_change(run, h, m))


@inlined
def uncertain_change(run, h, m):
    """What a user's state changes by in a step where all that its rate depends on changes by its own scale, as it was measured
    last; 0 where that was long ago."""
    scales = run.scales
    if run.state.steps + run.state.rejections > scales.states_measured + SERVES:
        return 0.0
    return h * scales.state_rates[m] / (1.0 + h * scales.state_damping[m])


@inlined
def of_states(run, h, x, way, e):
    """Largest error of a user's state, each over its size."""
    most, first, n, worst = (
        run.scales.states,
        run.plan.configuration + run.plan.velocities + 1,
        2 * run.plan.velocities + 1,
        0.0,
    )
    for m in range(most.size):
        size = state_size(run, h, x, way, m)
        most[m] = max(most[m], abs(x[first + m]))
        if size > 0.0:
            worst = max(worst, abs(e[n + m]) / size)
    return worst


@inlined
def largest_speeds(run, h, way, along, about):
    """The largest linear and angular speeds so far. What starts from rest speeds up: by its accelerations, or where these may be
    those of something stiff, which do not last, by what it has gained in the step."""
    scales, gained = run.scales, (h * max(along.first, along.last), h * max(about.first, about.last))
    if run.method.implicit == 1 and not on_momenta(run):
        gained = either(way, run.plan.linear, run.plan.velocities)
    return max(scales.speed, along.speed + gained[0]), max(scales.spin, about.speed + gained[1])


@inlined
def gaining(run, h, kind):
    """The largest acceleration of a step; where momenta are state, from what it ends with after rest."""
    return kind.speed / h if on_momenta(run) else max(kind.first, kind.last)


@inlined
def rests(run, run_time):
    """Whether nothing has moved so far that would be seen within the run."""
    slow = UNMOVED / run_time
    return run.scales.speed <= slow * run.scales.length and run.scales.spin <= slow


@inlined
def sizes_of(run, h, x, way, along, about):
    """What errors of a step along a way are measured against, and the speeds that it has met."""
    plan, scales, tolerance, K, n = run.plan, run.scales, run.plan.tolerance, run.scratch.K, run.plan.velocities
    met = largest_speeds(run, h, way, along, about)
    # where nothing turns (or nothing moves along), speeds of that kind are rounding of the others: keep it below the tolerance
    noise, known = 1e-14 / tolerance, KNOWN * h / tolerance
    # an error of a speed that moves nothing within the run is none
    run_time = RUN * plan.smallest_step
    least = STILL / (run_time * tolerance)
    speed = max(met[0], noise * met[1] * scales.length, known * scales.linear_rounding, least * scales.length)
    spin = max(met[1], noise * met[0] / scales.length, known * scales.angular_rounding, least)
    # a force that begins at once where nothing has moved yet: speeds are measured against what it gives in the run
    if h <= SUDDEN * plan.smallest_step and rests(run, run_time):
        speed, spin = max(speed, run_time * gaining(run, h, along)), max(spin, run_time * gaining(run, h, about))
    # the work of drives and forces counts too, where anything moves by more than rounding, or where it is done at rest
    scales.energy = max(scales.energy, abs(x[plan.configuration + n]))
    energy = max(scales.energy, plan.mass * speed**2 + plan.inertia * spin**2)
    for j in range(run.method.stages):
        energy = max(energy, max(h, BRIEF * plan.smallest_step) * abs(K[j, 2 * n]))
    moves = met[0] > known * scales.linear_rounding or met[1] > known * scales.angular_rounding
    return Sizes(speed, spin, energy, moves or scales.works_at_rest == 1), met


@inlined
def relative(run, h, x, e, along, about, sizes):
    """Largest component of an error over its size: lengths, angles, speeds of either kind, the work, and the user's states."""
    scales = run.scales
    worst = max(along.moved / scales.length, about.moved / scales.angle)
    worst = max(worst, along.faster / sizes.speed if sizes.speed > 0.0 else 0.0)
    worst = max(worst, about.faster / sizes.spin if sizes.spin > 0.0 else 0.0)
    if sizes.work_counts and sizes.energy > 0.0:
        worst = max(worst, abs(e[2 * run.plan.velocities]) / sizes.energy)
    return max(worst, of_states(run, h, x, run.scratch.u, e))


@inlined
def left(run, k, x1, projecting, e):
    """Whether an error is not judged as it is, but what a projection leaves of it, with velocities where momenta are state; that
    is in the scratch then."""
    s = run.scratch
    other = projecting or on_momenta(run)
    if other:
        call.tangent(k, s, x1, run.state.p, s.F, e, s.left)
    return other


@inlined
def with_a_second(run, k, h, x, x1, projecting, error, sizes):
    """An error that is estimated twice, by results of order p and q < p: E = Eₚ²/√(Eₚ² + (Eq/100)²), which falls by 2p − q + 1
    orders of the step. [hairer1993], sec. II.10, has Eq/10; a tenth of that keeps the tolerance between the ends of steps, too."""
    s = run.scratch
    e = s.left if left(run, k, x1, projecting, s.rough) else s.rough
    along, about = of_all_ranks(run, *of_each_kind(run, s.K[0], s.K[0], e, s.rough))
    coarse = 0.01 * relative(run, h, x, e, along, about, sizes)
    return error * (error / np.hypot(error, coarse)) if error > 0.0 else 0.0


@inlined
def error_of(run, k, h, x, x1, projecting):
    """Largest component of the estimated error over its scale: lengths, angles, and speeds of either kind.

    A speed is measured against the largest one met so far, and never more finely than accelerations are known: what the
    rounding of coordinates changes in them (`resolution`) is no error of the step.

    Where the step is projected, what the projection takes away is no error: only the admissible part counts. Without this
    a step would be judged by noise where the constraints are nearly dependent. Constraints at velocity level restore no
    position, so that an error along them stays.
    """
    s, scales, method, tolerance = run.scratch, run.scales, run.method, run.plan.tolerance
    e = s.left if left(run, k, x1, projecting, s.e) else s.e
    along, about = of_all_ranks(run, *of_each_kind(run, s.K[0], s.K[method.stages - 1], e, s.e))
    sizes, met = sizes_of(run, h, x, s.u, along, about)
    if not sizes.work_counts and notice_work_at_rest(run, k, h, x, x1):
        sizes = Sizes(sizes.speed, sizes.spin, sizes.energy, True)
    worst = relative(run, h, x, e, along, about, sizes)
    if method.rough.size > 0:
        worst = with_a_second(run, k, h, x, x1, projecting, worst, sizes)
    # as a whole the step must only stay where the projection finds back
    error = max(worst / tolerance, along.whole / scales.length / COARSE, about.whole / scales.angle / COARSE)
    if error <= 1.0:  # what a rejected step met does not count
        scales.speed, scales.spin = met
    return error


@compiled
def measure(run, h, x, e):
    """An error of the step whose way is in u over what it is measured against."""
    s = run.scratch
    along, about = of_each_kind(run, s.K[0], s.K[run.method.stages - 1], e, e)
    sizes, _ = sizes_of(run, h, x, s.u, along, about)
    return relative(run, h, x, e, along, about, sizes)


@compiled
def resolution(run, k, t, h, x, x1):
    """How well accelerations are known at a state, now and when a step from it ends: forces that vanish at its start, and their
    rounding with them, may be there at its end. Kept in the scales."""
    s, scales = run.scratch, run.scales
    rate(run, k, t, x, run.state.p, s.K[0])
    first = rounding(run, k, t, x, x1, s.K[0])
    rate(run, k, t + h, x, run.state.p, s.K[1])
    last = rounding(run, k, t + h, x, x1, s.K[1])
    scales.linear_rounding, scales.angular_rounding = max(first[0], last[0]), max(first[1], last[1])


@compiled
def rounding(run, k, t, x, x1, known):
    """What accelerations, which are known, change by where all coordinates are moved by their rounding, in several ways to either
    side. A force may jump just here: what would move the model within the run counts only if it is found on both sides."""
    plan, s, scales = run.plan, run.scratch, run.scales
    n, least, most = plan.velocities, (np.inf, np.inf), (0.0, 0.0)
    slow = UNMOVED / (RUN * plan.smallest_step) ** 2
    for side in (-1.0, 1.0):
        here = (0.0, 0.0)
        for way in range(4):
            for m in range(s.u.size):
                s.u[m] = 0.0
            for m in range(n):
                s.u[m] = side * (1 + (m + way) % 4) * 1e-16 * (scales.length if plan.linear[m] == 1 else 1.0)
            call.retract(k, s, x, s.u, x1)
            for m in range(plan.configuration):
                x1[m] += side * (1 + (m + way) % 2) * 1e-16 * x1[m]
            rate(run, k, t, x1, run.state.p, s.xdot)
            for m in range(s.u.size):
                s.u[m] = s.xdot[m] - known[m]
            change = s.left if left(run, k, x1, False, s.u) else s.u
            linear, angular = both_overall(run, *either(change, plan.linear, n))
            here = (max(here[0], linear), max(here[1], angular))
        least = (min(least[0], here[0]), min(least[1], here[1]))
        most = (max(most[0], here[0]), max(most[1], here[1]))
    return max(least[0], min(most[0], slow * scales.length)), max(least[1], min(most[1], slow))


@compiled
def shifted_rates(run, k, t, h, x, x1, relative, pattern, state):
    """Write to xdot the rate at x where all coordinates and velocities are shifted by this part of their scales, with signs that a
    pattern gives, or where one of the user's states alone is shifted (state ≥ 0). Returns by how much that state was."""
    plan, s, scales, n = run.plan, run.scratch, run.scales, run.plan.velocities
    along, about = either(s.K[0], plan.linear, 0)
    faster, turning = either(s.K[0], plan.linear, n)
    speed = max(scales.speed, along + min(h * faster, scales.length / h))
    spin = max(scales.spin, about + min(h * turning, 1.0 / h))
    elapsed, amount = abs(run.state.time) + h, 0.0
    for m in range(s.u.size):
        s.u[m] = 0.0
    for m in range(n if state < 0 else 0):
        side = 1.0 if (pattern >> (m % 3)) & 1 == 1 else -1.0
        length, fast = (scales.length, speed) if plan.linear[m] == 1 else (1.0, spin)
        s.u[m] = side * max(relative * min(length, fast * elapsed), ROUNDED_COORDINATE * length)
        s.u[n + m] = side * (1.0 + 0.25 * (m % 3)) * relative * fast
    if state >= 0:
        value = max(scales.states[state], abs(x[plan.configuration + n + 1 + state]))
        amount = max(ROUNDED_RATE * value, h * relative * scales.state_rates[state])
        s.u[2 * n + 1 + state] = amount
    call.retract(k, s, x, s.u, x1)
    rate(run, k, t, x1, run.state.p, s.xdot)
    run.state.evaluations += 1
    return amount


@compiled
def measure_states(run, k, t, h, x, x1):
    """How much rates of the user's states change where what they depend on changes by its scale, and how fast each state decays by
    itself. A state is not known better than what its rate depends on, and rounding of its rate is no error.

        ε_z = h σ/(1 + h d),     σ = max |ż(x + ε s) − ż(x)|/ε,     d = |∂ż/∂z|                               (1)

    ε   the tolerance, or rounding where steps are fixed
    s   scales of coordinates, velocities and other states
    """
    scales, s, first = run.scales, run.scratch, 2 * run.plan.velocities + 1
    relative = run.plan.tolerance if run.plan.adaptive == 1 else ROUNDED_RATE
    rate(run, k, t, x, run.state.p, s.K[0])
    run.state.evaluations += 1
    for m in range(scales.states.size):
        scales.state_rates[m], scales.state_damping[m] = 0.0, 0.0
    for pattern in range(4):
        shifted_rates(run, k, t, h, x, x1, relative, 2 * pattern + 1, -1)
        for m in range(scales.states.size):
            change = abs(s.xdot[first + m] - s.K[0, first + m]) / relative
            scales.state_rates[m] = max(scales.state_rates[m], change if change < np.inf else 0.0)
    for j in range(scales.states.size):
        amount = shifted_rates(run, k, t, h, x, x1, relative, 0, j)
        for m in range(scales.states.size if amount > 0.0 else 0):
            change = abs(s.xdot[first + m] - s.K[0, first + m])
            if m == j:
                scales.state_damping[m] = change / amount if change < np.inf else 0.0
            elif change < np.inf:
                scales.state_rates[m] = max(scales.state_rates[m], change / relative)


@compiled
def relearn_states(run, k, t, h, x, x1):
    """Measure the scales of the user's states where one of them has stopped a step, less and less often. K[0] is ẋ at x."""
    state, scales = run.state, run.scales
    tried = state.steps + state.rejections
    if scales.states.size == 0 or (scales.states_pause > 0 and tried < scales.states_measured + scales.states_pause):
        return
    measure_states(run, k, t, h, x, x1)
    scales.states_measured, scales.states_pause = tried, min(2 * scales.states_pause + 1, MOST_PAUSE)


@inlined
def propose_step(run, h, error):
    """The length of a step that has the error that is allowed, and by which factor it is longer."""
    method = run.method
    factor = 0.9 * method.gain * max(error, 1e-10) ** (-1.0 / method.order)
    if 1.0 < factor < method.steady:
        factor = 1.0
    return (h * min(method.growth, max(0.2, factor)) if np.isfinite(error) else 0.1 * h), factor


@inlined
def finite(run, x1):
    """Whether a step ends in numbers."""
    s, n = run.scratch, run.plan.configuration
    return np.isfinite(overall(run, largest(x1, n, x1.size) + largest(s.u, 0, s.u.size)))
