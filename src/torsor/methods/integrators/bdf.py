"""Backward differentiation on a group: a polynomial through earlier states, with the rate at the end of the step.

With the motion since the present state as u(τ), x(t + τ) = x · exp(u(τ)), earlier states are points of it, and a step of order q is

    uⱼ = log(x⁻¹ xⱼ),   P(τⱼ) = uⱼ  for j < q,   P(h) = u,      Ṗ(h) = k(u) = dexp⁻¹(u) ẋ                   (1)

for steps of any lengths: its weights follow from the times. The polynomial through q + 1 earlier states predicts u. What it is off
by estimates the error, and divided differences of one order less and one more estimate the error with those:

    e_q = Δ_q Π_{j<q} (1 − θⱼ) · s_{q−1}/s_q,    s_q = Σ_{j≤q} 1/(1 − θⱼ),    θⱼ = τⱼ/h                       (2)

with the divided difference Δ_q over u, u₀, …, u_q. One step is off by e_q/s_{q−1}; k has the weight h/s_{q−1} in (1), so that
errors add up to s_{q−1} times as much.

Within a step u is P, given by its values at fifths of the step: the extension of the method, as exact as its result.

Steps of Radau IIA give the first states, at the start and after every jump. States that are turned by more than a quarter of a turn
against the present one are left out. [hairer1993], sec. III.5 and III.7; [hairer1996], sec. V.2.
"""

import numpy as np

from ...kernels import call
from ...kernels.compiled import compiled, entry, inlined, reference
from ...registry import register
from ..error_control import measure
from ..history import remember
from ..implicit_step import forget_after_jump, solve_stage
from ..integrator import Integrator
from ..run_records import Run
from ..status_codes import ACCEPTED, NOT_SOLVED
from ..vector_functions import copy
from .radau5 import Radau5, radau, weights

at = reference(Run)
ESTIMATED = float(Radau5.estimated)
HIGHEST, FIXED, PAST = (
    5,
    2,
    6,
)  # orders: the highest, and with a fixed step; states that are kept, the present one included
PARTS = HIGHEST  # of a step: a polynomial of the highest order is known by its values there
START = 3  # states that a first step with error control needs
TURNED = 1.5  # angle between states that are used together [rad]
ALIKE = (
    5.0  # how many times smaller than the tolerance errors are kept, since those of many steps are alike, and add up
)
BETTER = 1.1  # factor by which another order must allow a longer step
NEGLIGIBLE = 1e3  # factor by which a step could be longer, from which its error is rounding
EQUAL = 1e-3  # relative difference of steps that are as long as each other
SAFE = 0.9  # factor by which steps are shorter than their error asks for, since they stay as long for some time
GROWTH = 3.0  # factor by which a step may be longer than equal ones before
FAILURES = 6  # steps of several states that are refused, at least,
REFUSED = 0.25  # and their share, from which Radau's are taken:
HELPS, MOST_HELPS = 6, 96  # so many, at first and at most
LASTS = 60  # attempts after which refused ones are counted from zero
CLOCK = 1e-15  # of the time: how well it is known how far earlier states lie back, and what errors (2) make of that


@register("bdf")
class BDF(Integrator):
    """Backward differentiation formulas of order 1 to 5, adaptive in order and step; of order 2 with a fixed step. One evaluation
    per iteration instead of three: for stiff models that are large or smooth, where `radau5` costs more per step."""

    order = FIXED
    estimated = HIGHEST + 1
    loop = (__name__, "bdf")
    history = PAST
    needs = ("slope", "local")

    @classmethod
    def tables(cls):
        return {"stages": PARTS + 2, "dense": extension()}

    @classmethod
    def adaptive(cls):
        return True


def extension():
    """Weights of the rows of K within a step, for `methods/continuous_extension.py`: of mean rates since its start,
    at each fifth of it."""
    phi = lambda x: np.cumprod([x, *[1 - x if j % 2 == 1 else x for j in range(1, PARTS)]])
    weights = np.linalg.inv([phi(part / PARTS) for part in range(1, PARTS + 1)]).T
    return np.pad(weights, ((1, 1), (0, 0)))


@inlined
def node(run, j, t, h):
    """When a state was, from the present one on, in steps; the end of the step is number −1."""
    return (run.past.times[j] - t) / h if j >= 0 else 1.0


@compiled
def apart(run, i, first, last, t, h):
    """Π (τᵢ − τⱼ) over all nodes from first to last but i itself."""
    product = 1.0
    for j in range(first, last + 1):
        if j != i:
            product *= node(run, i, t, h) - node(run, j, t, h)
    return product


@compiled
def slope_at_end(run, last, t, h):
    """Σ 1/(1 − τⱼ) up to node `last`: how the derivative at the end of the step depends on u there."""
    total = 0.0
    for j in range(last + 1):
        total += 1.0 / (1.0 - node(run, j, t, h))
    return total


@compiled
def points(run, k, x):
    """Earlier states as ways from the present one; those that are turned too far are forgotten."""
    past, s, plan = run.past, run.scratch, run.plan
    turns = plan.configuration > plan.velocities  # some coordinates are those of rotations
    for j in range(1, past.kept):
        call.local(k, s, x, past.xs[j], s.points[j])
        for m in range(plan.velocities if turns else 0):
            if plan.linear[m] == 0 and abs(s.points[j, m]) > TURNED:
                past.kept = j
                return


@compiled
def predict(run, q, t, h):
    """The guess of u by the polynomial through earlier states, in u; and what (1) says of u = b + g k(u) besides: b in e, and g."""
    s, last, end = run.scratch, min(q, run.past.kept - 1), slope_at_end(run, q - 1, t, h)
    for m in range(s.u.size):
        s.u[m], s.e[m] = 0.0, 0.0
    for j in range(1, last + 1):
        distance = 1.0 - node(run, j, t, h)
        ahead = apart(run, -1, 0, last, t, h) / distance / apart(run, j, 0, last, t, h)
        within = apart(run, -1, 0, q - 1, t, h) / distance**2 / apart(run, j, 0, q - 1, t, h) / end if j < q else 0.0
        for m in range(s.u.size):
            s.u[m] += ahead * s.points[j, m]
            s.e[m] += within * s.points[j, m]
    return h / end


@compiled
def error_with(run, q, t, h, e):
    """The error that the step would have had with order q: (2)."""
    s = run.scratch
    scale = ALIKE * apart(run, -1, 0, q - 1, t, h) * slope_at_end(run, q - 1, t, h) / slope_at_end(run, q, t, h)
    for m in range(s.u.size):
        e[m] = s.u[m] / apart(run, -1, -1, q, t, h)
        for j in range(1, q + 1):
            e[m] += s.points[j, m] / apart(run, j, -1, q, t, h)
        e[m] *= scale


@compiled
def longer(run, q, h, x, e):
    """The factor by which a step of order q with this error could be longer."""
    return (max(measure(run, h, x, e), 1e-30) / run.plan.tolerance) ** (-1.0 / (q + 1))


@compiled
def equal_steps(run, q, t, h):
    """True if the last q steps had the order and the length of this one."""
    past = run.past
    if past.held < q or past.kept <= q:
        return False
    for j in range(q):
        if abs(past.times[j] - past.times[j + 1] - h) > EQUAL * h:
            return False
    return True


@compiled
def choose_order(run, q, t, h, x):
    """The order of the next step, one more or less where that allows a longer one, and by how much. Order and length change
    after as many equal steps as the order has, or where the error is too large: what a change excites has to decay first."""
    past, method, s = run.past, run.method, run.scratch
    same, equal = longer(run, q, h, x, s.e), equal_steps(run, q, t, h)
    past.next, best = q, BETTER * same
    if q > 1 and (equal or same < 1.0):
        error_with(run, q - 1, t, h, s.left)
        less = longer(run, q - 1, h, x, s.left)
        if less > best:
            past.next, best = q - 1, less
    if q < HIGHEST and equal and past.kept > q + 1:
        error_with(run, q + 1, t, h, s.left)
        more = longer(run, q + 1, h, x, s.left)
        if more > best or same > NEGLIGIBLE:  # what has no error may do work, which has one
            past.next, best = q + 1, more
    method.gain = SAFE * (best / same if past.next != q else 1.0)
    method.order, method.steady, method.growth, method.hold = (
        q + 1.0,
        1.2,
        GROWTH if equal else 1.0,
        0.0 if equal else 1.0,
    )


@compiled
def within(run, q, t, h):
    """Mean rates since the start of the step, at each fifth of it, by the polynomial through u and earlier states."""
    s = run.scratch
    for part in range(1, PARTS + 1):
        theta, K = part / PARTS, s.K[part]
        for m in range(s.u.size):
            K[m] = 0.0
        for j in range(-1, q):
            weight = 1.0 / (h * apart(run, j, -1, q - 1, t, h))
            for i in range(-1, q):
                if i != j:
                    weight *= theta - node(run, i, t, h)
            for m in range(s.u.size if j != 0 else 0):
                K[m] += weight * (s.u[m] if j < 0 else s.points[j, m])


@compiled
def states_coincide(run, t, h, x):
    """Whether states lie so close together, as after a force that jumps, that what moves within the rounding of the time would
    pass for an error, however short the step is."""
    past, s, tolerance = run.past, run.scratch, run.plan.tolerance
    if min(t - past.times[1], past.times[1] - past.times[2]) * tolerance > CLOCK * t:
        return False
    for m in range(s.u.size):
        s.left[m] = CLOCK * t * s.K[0, m]
    return measure(run, h, x, s.left) > tolerance


@compiled
def struggles(run, advanced):
    """Whether Radau's step is to be taken, since too many steps of several states were refused of late. It is taken for a number
    of steps, which is doubled each time that they are soon refused again."""
    past = run.past
    if past.helping > 0:
        past.helping -= 1 if advanced else 0
        return past.helping > 0
    past.attempts += 1
    past.failures += 0 if advanced else 1
    if past.failures < FAILURES or past.failures < REFUSED * past.attempts:
        if past.attempts > LASTS:
            past.attempts, past.failures, past.pause = 0, 0, 0
        return False
    past.pause = min(max(2 * past.pause, HELPS), MOST_HELPS)
    past.helping, past.attempts, past.failures = past.pause, 0, 0
    return True


@inlined
def order_of(run, advanced, t, h, x):
    """The order of this step, as it was chosen after the last; 0: Radau's, where there are too few states, or too close ones, or
    where too many steps were refused."""
    past = run.past
    if run.plan.adaptive == 0:
        return FIXED if past.kept >= FIXED else 0
    if past.kept < START or states_coincide(run, t, h, x):
        past.order, past.next, past.held = 0, START - 1, 0
        return 0
    if struggles(run, advanced):
        past.order, past.next, past.held = 0, START, 0
        return 0
    if advanced:
        past.held = past.held + 1 if past.next == past.order else 0
        past.order = past.next
    elif past.next < past.order:
        past.order, past.held = past.next, 0
    past.order = min(past.order, past.kept - 1)
    return past.order


@inlined
def bdf_step(run, structure, q, t, h):
    """A step of order q. Returns whether its equations were solved."""
    k, s, state = run.kernels[structure], run.scratch, run.state
    x, x1 = state.xs[state.at], state.xs[(state.at + 1) % 3]
    g = predict(run, q, t, h)
    if not solve_stage(run, structure, t + h, h, x, x1, 1.0, s.e, g):
        return False
    within(run, q, t, h)
    if run.plan.adaptive == 1:
        error_with(run, q, t, h, s.e)
        choose_order(run, q, t, h, x)
    call.advance(k, s, x, s.u, x1)
    return True


@inlined
def end_at(run, t):
    """Keep the rate with which a step ends, as its equations have it."""
    copy(run.scratch.K[PARTS + 1], run.past.rates[1])
    run.past.ended = t


@entry("int64", "int64", "float64", "float64")
def bdf(address, structure, t, h):
    """A step of length h from the present state: as `explicit` leaves it."""
    run = at(address)
    k, s, method, state = run.kernels[structure], run.scratch, run.method, run.state
    forget_after_jump(run)
    advanced = remember(run, k, t, h, True)
    points(run, k, state.xs[state.at])
    q = order_of(run, advanced, t, h, state.xs[state.at])
    if q > 0:
        if not bdf_step(run, structure, q, t, h):
            return NOT_SOLVED
        end_at(run, t + h)
        return ACCEPTED
    copy(s.K[0], s.xdot)
    state.rated = run.past.exact
    helps = (
        run.past.kept + 1 >= START and run.past.helping <= 1
    )  # the next step uses several states, with a larger error
    method.order, method.gain, method.steady, method.hold = ESTIMATED, 1.0, 1.2, 0.0
    method.growth = 1.0 if helps or state.rejected > 0 else 5.0
    if not radau(run, structure, t, h):
        return NOT_SOLVED
    copy(s.K[3], s.K[PARTS + 1])
    for part in range(1, PARTS + 1):
        a, b, c = weights(part / PARTS)
        for m in range(s.u.size):
            s.K[part, m] = (a * run.past.ways[0, m] + b * run.past.ways[1, m] + c * run.past.ways[2, m]) / h
    end_at(run, t + h)
    return ACCEPTED
