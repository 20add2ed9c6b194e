"""Generalised-α on a group: accelerations of the end of a step, and a memory of those before ([arnold2007]; [bruels2012]).

    q₁ = q₀ · τ(h Δ),     Δ = v₀ + (½ − β) h a₀ + β h a₁,     v₁ = v₀ + h ((1 − γ) a₀ + γ a₁)                 (1)
    (1 − α_m) a₁ + α_m a₀ = (1 − α_f) v̇₁ + α_f v̇₀                                                         (2)

v̇ are accelerations that satisfy the equations of motion, a those of the method. With ρ, the factor by which infinitely fast
oscillations shrink in each step, α_m = (2ρ − 1)/(ρ + 1), α_f = ρ/(ρ + 1), γ = ½ − α_m + α_f, β = ¼ (γ + ½)². By (2), Δ and v₁ are
affine in w = v̇₁, which Newton's method finds together with the multipliers (`formulations/graphs/generalized_alpha_equations.py`).

A run begins, and begins again after a jump, with a₀ = v̇₀. Where a step is not as long as the one before, a₀ − v̇₀, which is of the
order of the step, is taken in proportion; where it is much longer, a₀ = v̇₀ again. Work follows by trapezoids.

The user's states follow from their rates as velocities do from accelerations, with a memory s of the rates:

    z₁ = z₀ + h ((1 − γ) s₀ + γ s₁),     (1 − α_m) s₁ + α_m s₀ = (1 − α_f) ż₁ + α_f ż₀                         (3)

which is of order 2, and shrinks what is infinitely fast by ρ in each step. Newton's method finds z₁ together with w. [bruels2006]
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...elements import quantity
from ...errors import OptionError
from ...formulations.graphs import generalized_alpha_equations
from ...kernels import call
from ...kernels.compiled import compiled, entry, reference
from ...kernels.records import REAL, Record
from ...registry import register
from ..error_control import relearn_states
from ..integrator import Integrator
from ..run_records import Run
from ..status_codes import ACCEPTED, NOT_SOLVED
from ..trapezoidal_states import depends_on_reactions, evaluate_end, state_change, state_is_worst, states_of
from ..vector_functions import copy, rate


class AlphaNumbers(Record):
    """Numbers of the method: (1), (2)."""

    alpha_m: REAL
    alpha_f: REAL
    beta: REAL
    gamma: REAL


def alpha_numbers(alpha_m, alpha_f):
    """The numbers of a method of order 2 with the most damping of what is slow."""
    gamma = 0.5 - alpha_m + alpha_f
    return AlphaNumbers(alpha_m=alpha_m, alpha_f=alpha_f, gamma=gamma, beta=(gamma + 0.5) ** 2 / 4)


at = reference(Run)
numbers_at = reference(AlphaNumbers)
SOLVED = 1e-15  # way of a correction over the size of the model
SMALL = 1e-12  # way of one from which the next is foretold, or that is rounding where it no longer shrinks
ENOUGH = 1e-9  # way of one that is rounding of large terms where iterations do not help any more
TERMS = 4e-15  # of the largest term of a way: its rounding, where large accelerations nearly cancel
SHRINKS = 0.3  # factor by which corrections shrink, at least, before rounding stops them
ITERATIONS = 30
SAME = 1e-9  # difference of times over the step, below which they are the same
GROWN = 3.0  # step over the one before, from which a₀ = v̇₀ as after a jump: in proportion rounding would grow without bounds
INSTANTS = 2  # that are remembered; two rows each: ẋ, and a, v̇ and s


class AlphaMethod(Integrator):
    """Base of the methods whose steps are (1) and (2); each has its numbers."""

    order = 2
    loop = (__name__, "generalized_alpha")
    history = 2 * INSTANTS
    needs: ClassVar[tuple] = ("acceleration",)
    meets = True
    stabilised: ClassVar[bool] = False

    @classmethod
    def equations(cls, f, map, states, rates):
        stabilised = cls.stabilised or generalized_alpha_equations.has_mixed_rows(f)
        return generalized_alpha_equations.functions(f, map, stabilised, states, rates)

    @classmethod
    def adaptive(cls):
        return False


@register("generalized-alpha")
@dataclass(frozen=True)
class GeneralizedAlpha(AlphaMethod):
    """Generalised-α on the group, order 2, constraints at position level (index 3): for stiff and constrained systems with a fixed
    step. Option `rho`, from 0 to 1 (0.9): what is left of fast oscillations after a step."""

    rho: float = 0.9

    def __post_init__(self):
        rho = quantity.number(self.rho)
        if rho is None or not 0 <= rho <= 1:
            raise OptionError(f"method {self.key!r}: rho must lie between 0 and 1, got {quantity.show(self.rho)}")

    def tables(self):
        rho = float(self.rho)
        alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
        return {"stages": 2, "numbers": alpha_numbers(alpha_m, alpha_f)}


@register("generalized-alpha-2")
@dataclass(frozen=True)
class StabilisedGeneralizedAlpha(GeneralizedAlpha):
    """Generalised-α on the group, order 2, constraints at position and velocity level (stabilised index 2): as
    `generalized-alpha`, for long steps and where velocities have to satisfy the constraints, too."""

    stabilised: ClassVar[bool] = True


@compiled
def recall(run, k, t, h):
    """ẋ, and a, v̇ and s, at the present state, in the first two rows of the memory: from the last step, or computed again."""
    past, state, s = run.past, run.state, run.scratch
    n = run.plan.velocities
    while past.kept > 0 and past.times[0] > t + SAME * h:  # the run has gone back
        for row in range(2 * (INSTANTS - 1)):
            past.times[row] = past.times[row + 2]
            copy(past.rates[row + 2], past.rates[row])
        past.kept -= 2
    if past.kept > 0 and abs(past.times[0] - t) <= SAME * h:
        share = h / past.times[1] if h < GROWN * past.times[1] else 0.0
        for m in range(n):
            past.rates[1, m] = past.rates[1, n + m] + share * (past.rates[1, m] - past.rates[1, n + m])
        for m in range(2 * n + 1, past.rates.shape[1]):
            past.rates[1, m] = past.rates[0, m] + share * (past.rates[1, m] - past.rates[0, m])
    else:
        x = state.xs[state.at]
        rate(run, k, t, x, state.p, past.rates[0])
        state.evaluations += 1
        call.acceleration(k, s, x, state.p, past.rates[0], s.a)
        for m in range(n):
            past.rates[1, m] = past.rates[1, n + m] = s.a[m]
        for m in range(2 * n + 1, past.rates.shape[1]):
            past.rates[1, m] = past.rates[0, m]
    past.kept, past.times[0], past.times[1] = 2, t, h


@compiled
def predict(run, h, x):
    """What Δ and v₁ are in w: (1), (2), and z₁ in ż₁: (3). A guess of w and z₁ in d."""
    s, method, past, n = run.scratch, numbers_at(run.method.numbers), run.past, run.plan.velocities
    share = (1.0 - method.alpha_f) / (1.0 - method.alpha_m)
    s.known[0], s.known[1] = method.beta * share * h, method.gamma * share * h
    for m in range(n):
        v, a, accel = past.rates[0, m], past.rates[1, m], past.rates[1, n + m]
        known = (method.alpha_f * accel - method.alpha_m * a) / (1.0 - method.alpha_m)
        s.known[2 + m] = v + h * ((0.5 - method.beta) * a + method.beta * known)
        s.known[2 + n + m] = v + h * ((1.0 - method.gamma) * a + method.gamma * known)
        s.d[m] = accel
    for m in range(n, s.d.size):
        s.d[m] = 0.0
    for m in range(states_of(run)):
        z, zdot, memory = (
            x[run.plan.configuration + n + 1 + m],
            past.rates[0, 2 * n + 1 + m],
            past.rates[1, 2 * n + 1 + m],
        )
        known = (method.alpha_f * zdot - method.alpha_m * memory) / (1.0 - method.alpha_m)
        s.known[2 + 2 * n + m] = z + h * ((1.0 - method.gamma) * memory + method.gamma * known)  # (3)
        s.d[n + m] = z


@compiled
def correct(run, h, x):
    """Add a correction to accelerations, states and multipliers. Returns its way over the size of the model, or the change of a
    state over its size where that is larger."""
    s, plan, worst, n = run.scratch, run.plan, 0.0, run.plan.velocities
    for m in range(s.d.size):
        s.d[m] += s.dd[m]
    for m in range(plan.velocities):
        way = abs(h * s.way[m]) / (run.scales.length if plan.linear[m] == 1 else 1.0)
        if not way <= worst:
            worst, run.state.worst = way, m
    for m in range(states_of(run)):
        change = state_change(run, h, x, m, s.d[n + m], s.dd[n + m])
        if not change <= worst:
            worst, run.state.worst = change, 2 * n + 1 + m
    return worst


@compiled
def rounding_of_terms(run, h):
    """Rounding of the way h Δ over the size of the model: Δ̄ and b w may be much larger than their sum, Δ."""
    s, plan, worst = run.scratch, run.plan, 0.0
    for m in range(plan.velocities):
        term = h * max(abs(s.known[2 + m]), abs(s.known[0] * s.d[m]))
        worst = max(worst, term / (run.scales.length if plan.linear[m] == 1 else 1.0))
    return TERMS * worst


@compiled
def solve(run, k, t, h, x):
    """w, states and multipliers in d, by Newton's method with the slope at its first guess; the scratch has efforts at the end.
    Returns whether it converged."""
    s, state, last = run.scratch, run.state, np.inf
    s.t[0], s.h[0] = t, h
    call.newton_factor(k, s, s.h, x, state.p, s.lam, s.known, s.d, s.L)
    for _ in range(ITERATIONS):
        call.newton_step(k, s, s.h, x, state.p, s.lam, s.known, s.d, s.L, s.dd, s.way)
        state.evaluations += 1
        size = correct(run, h, x)
        state.unsolved = size
        if not size < np.inf:
            return False
        terms = rounding_of_terms(run, h)
        if size <= max(SOLVED, terms):
            return True
        if size <= max(SMALL, 100.0 * terms) and (size > SHRINKS * last or size * (size / last) <= SOLVED):
            return True
        if size > SHRINKS * last:
            call.newton_factor(k, s, s.h, x, state.p, s.lam, s.known, s.d, s.L)
        last = size
    return last <= max(ENOUGH, 100.0 * rounding_of_terms(run, h))


@compiled
def evaluate_arrival(run, k, t, h, x, x1, spare):
    """The state of the solution, and ẋ there in the last row of K. Returns by how much it has changed."""
    s, state, plan = run.scratch, run.state, run.plan
    first, n = plan.configuration, plan.velocities
    s.t[0] = t
    call.newton_way(k, s, s.h, x, state.p, s.lam, s.known, s.d, s.way)
    for m in range(s.u.size):
        s.u[m] = h * s.way[m] if m < n else 0.0
    call.advance(k, s, x, s.u, x1)
    for m in range(n):
        x1[first + m] = s.known[2 + n + m] + s.known[1] * s.d[m]
    for m in range(states_of(run)):
        x1[first + n + 1 + m] = s.d[n + m]
    if k.stored != 0:
        s.t[0] = t + h
        call.stored(k, s, x1, state.p, spare)
        copy(spare, x1)
    return evaluate_end(run, k, t + h, h, x, x1, run.past.rates[0], s.K[1])


@compiled
def remember(run, t, h):
    """ẋ, and a, v̇ and s, where the step has ended, become the newest rows of the memory. Rates of states are those that solve (3),
    as v̇ is that of (2): what a large rate constant makes of the rounding of a state is not in them."""
    past, s, method, n = run.past, run.scratch, numbers_at(run.method.numbers), run.plan.velocities
    for row in range(2):
        past.times[row + 2] = past.times[row]
        copy(past.rates[row], past.rates[row + 2])
    copy(s.K[1], past.rates[0])
    for m in range(n):
        a, accel = past.rates[3, m], past.rates[3, n + m]
        new = (1.0 - method.alpha_f) * s.d[m] + method.alpha_f * accel - method.alpha_m * a
        past.rates[1, m], past.rates[1, n + m] = new / (1.0 - method.alpha_m), s.d[m]  # (2)
    for m in range(2 * n + 1, past.rates.shape[1]):
        zdot = (s.d[m - n - 1] - s.known[m + 1]) / s.known[1]
        new = (1.0 - method.alpha_f) * zdot + method.alpha_f * past.rates[2, m] - method.alpha_m * past.rates[3, m]
        past.rates[0, m], past.rates[1, m] = zdot, new / (1.0 - method.alpha_m)  # (3)
    past.kept, past.times[0], past.times[1] = 4, t + h, h


@compiled
def step(run, k, t, h, x, x1, spare):
    """A step from x to x1. Returns whether it was found."""
    s, state, last = run.scratch, run.state, np.inf
    copy(run.past.rates[0], s.K[0])
    if depends_on_reactions(k):
        rate(run, k, t, x, state.p, s.K[1])  # efforts of the start, as a guess
    predict(run, h, x)
    for _ in range(ITERATIONS):
        if not solve(run, k, t, h, x):
            return False
        size = evaluate_arrival(run, k, t, h, x, x1, spare)
        terms = rounding_of_terms(run, h)
        enough = size <= max(ENOUGH, 100.0 * terms) and size > SHRINKS * last
        if not depends_on_reactions(k) or size <= max(SOLVED, terms) or enough:
            return True
        state.unsolved, last = size, size
    return False


@entry("int64", "int64", "float64", "float64")
def generalized_alpha(address, structure, t, h):
    """A step of length h from the present state: as `explicit` leaves it, without an estimate of its error."""
    run = at(address)
    k, s, state = run.kernels[structure], run.scratch, run.state
    x, x1, spare = state.xs[state.at], state.xs[(state.at + 1) % 3], state.xs[(state.at + 2) % 3]
    recall(run, k, t, h)
    found = step(run, k, t, h, x, x1, spare)
    if not found and state_is_worst(run):  # its rate may be rounding
        relearn_states(run, k, t, h, x, x1)
        found = step(run, k, t, h, x, x1, spare)
    if not found:
        return NOT_SOLVED
    remember(run, t, h)
    for m in range(s.e.size):
        s.e[m] = 0.0
    return ACCEPTED
