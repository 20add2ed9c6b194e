"""Variational integrators: steps that make a discrete action stationary, see `formulations/graphs/variational_equations.py`.

A step solves for the mean velocities ξ and the impulses of the constraints (`leap`), moves along h ξ, and finds the velocities
on arrival from the momenta there (`landing`). Work and the user's states follow by trapezoids, the latter by Newton's method with
the velocities on arrival (`methods/trapezoidal_states.py`).

A symmetric step S of order 2 becomes one of order 4 or 6 as S(γₛ h) … S(γ₁ h), with γᵢ = γₛ₊₁₋ᵢ. [suzuki1990] for order 4,
[kahan1997] for order 6; [hairer2006], sec. V.3.
"""

import numpy as np

from ...kernels import call
from ...kernels.compiled import compiled, entry, inlined, reference
from ...lie import MAPS
from ...registry import register
from ..error_control import relearn_states
from ..integrator import Integrator
from ..run_records import Run
from ..status_codes import ACCEPTED, NOT_SOLVED
from ..trapezoidal_states import (
    correct_states,
    depends_on_reactions,
    evaluate_end,
    factor_states,
    state_is_worst,
    states_of,
)
from ..vector_functions import copy, either, rate

at = reference(Run)
CORRECTION_ZERO = 1e-20  # a correction over the largest velocity of its kind: no rounding is as small
ENOUGH = 1e-9  # way of a correction over the size of the model, that no longer shrinks: rounding of large terms
ITERATIONS = 30
SHRINKS = 0.3  # factor by which corrections shrink, at least, before rounding stops them
SUZUKI = 1 / (4 - 4 ** (1 / 3))
KAHAN_LI = (0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.08221359629355080023)


class Composition(Integrator):
    """Steps of the lengths γᵢ h, one after the other, each of order 2."""

    loop = (__name__, "variational")
    needs = ("leap_factor", "leap", "leaving", "landing", "landing_slope", "local")
    meets = True
    reversible, symplectic = MAPS, True
    lengths: tuple  # γᵢ: as many as make the last one end where the result is looked for, an odd number

    @classmethod
    def tables(cls):
        return {"stages": 3, "b": np.array(cls.lengths, float)}

    @classmethod
    def adaptive(cls):
        return False


@register("variational")
class Variational(Composition):
    """Lie-group variational integrator, order 2: symplectic, so that the energy of a long run does not drift, keeps the momenta
    of symmetries to rounding, meets constraints at position and velocity level; one linear factorisation per step."""

    order = 2
    lengths = (1.0,)


@register("variational4")
class Variational4(Composition):
    """Five variational steps in one, order 4 (Suzuki): for long runs that are to be accurate, too."""

    order = 4
    lengths = (SUZUKI, SUZUKI, 1 - 4 * SUZUKI, SUZUKI, SUZUKI)


@register("variational6")
class Variational6(Composition):
    """Nine variational steps in one, order 6 (Kahan and Li): for long runs near the limit of rounding."""

    order = 6
    lengths = (*KAHAN_LI, 1 - 2 * sum(KAHAN_LI), *KAHAN_LI[::-1])


@compiled
def correct(run, rows, h):
    """Add a correction to the mean velocities and impulses. Returns how large it is, over the largest velocity of its kind, and
    its way over the size of the model."""
    s, plan = run.scratch, run.plan
    n, linear = plan.velocities, plan.linear
    for m in range(n + rows):
        s.d[m] += s.dd[m]
    fast, slow = either(s.d, linear, 0), either(s.dd, linear, 0)
    size, way = 0.0, 0.0
    for kind in range(2):
        if slow[kind] > 0.0:
            size = max(size, slow[kind] / fast[kind])
    for m in range(n):
        part = abs(h * s.dd[m]) / (run.scales.length if linear[m] == 1 else 1.0)
        if not part <= way:
            way, run.state.worst = part, m
    return size, way


@compiled
def leapt(run, k, t, h, x):
    """ξ and impulses of a step from x, in d: Newton's method with the slope at its first guess. Returns whether it converged."""
    s, state, last = run.scratch, run.state, np.inf
    s.t[0], s.h[0] = t, h
    call.leap_factor(k, s, s.h, x, state.p, s.lam, s.d, s.L)
    for _ in range(ITERATIONS):
        call.leap(k, s, s.h, x, state.p, s.lam, s.d, s.L, s.dd)
        state.evaluations += 1
        size, way = correct(run, k.rows, h)
        state.unsolved = way
        if not way < np.inf:
            return False
        if size <= CORRECTION_ZERO or (way <= ENOUGH and size > SHRINKS * last):
            return True
        if last < np.inf and size * (size / last) <= CORRECTION_ZERO:
            return True
        if size > SHRINKS * last:
            call.leap_factor(k, s, s.h, x, state.p, s.lam, s.d, s.L)
        last = size
    return False


@compiled
def land(run, k, t, h, x, x1, before, after):
    """Velocities, work and states on arrival. x1 has the configuration there, `before` is ẋ at the start; ẋ on arrival is left in
    `after`. Returns whether that converged."""
    s, state, first, last = run.scratch, run.state, run.plan.configuration, np.inf
    s.t[0] = t
    call.leaving(k, s, s.h, x, state.p, s.lam, s.d, s.m)
    copy(before, after)  # what was there may be of a step that failed
    iterates = depends_on_reactions(k) or states_of(run) > 0
    slow = states_of(run) > 0
    for _ in range(ITERATIONS):
        if slow and not factor_states(run, k, t, h, x, x1):
            return False
        s.t[0] = t
        call.landing(k, s, s.h, x, x1, state.p, s.lam, s.d, s.m, s.b)
        for m in range(run.plan.velocities):
            x1[first + m] = s.b[m]
        size = evaluate_end(run, k, t + h, h, x, x1, before, after)
        if states_of(run) > 0:
            size = max(size, correct_states(run, h, x, x1, before, after))
        if not iterates or size <= CORRECTION_ZERO or (size <= ENOUGH and size > SHRINKS * last):
            return size < np.inf
        slow = states_of(run) > 0 and size > SHRINKS * last
        state.unsolved, last = size, size
        if not size < np.inf:
            return False
    return False


@inlined
def step(run, k, t, h, x, x1, before, after):
    """A step of order 2 from x to x1; before and after: ẋ there. The scratch has λ and efforts at x, and has them at x1 in the
    end. Returns whether it was found."""
    s, n = run.scratch, run.plan.velocities
    ahead = 0.5 * h if k.stored == 0 else 0.0  # accelerations are known where velocities stand in x
    for m in range(n + k.rows):
        s.d[m] = before[m] + ahead * before[n + m] if m < n else 0.0
    if not leapt(run, k, t, h, x):
        return False
    for m in range(s.u.size):
        s.u[m] = h * s.d[m] if m < n else 0.0
    call.advance(k, s, x, s.u, x1)
    return land(run, k, t, h, x, x1, before, after)


@compiled
def steps(run, k, t, h):
    """The steps of a composition from the present state, one after the other. Returns where in xs the last one ends; −1: one was
    not found."""
    s, state, now = run.scratch, run.state, t
    rate(run, k, t, state.xs[state.at], state.p, s.K[0])
    state.evaluations += 1
    copy(s.K[0], s.K[1])
    place = state.at
    for part in run.method.b:
        target = (state.at + 2) % 3 if place == (state.at + 1) % 3 else (state.at + 1) % 3
        if not step(run, k, now, part * h, state.xs[place], state.xs[target], s.K[1], s.K[2]):
            return -1
        copy(s.K[2], s.K[1])
        now += part * h
        place = target
    return place


@entry("int64", "int64", "float64", "float64")
def variational(address, structure, t, h):
    """A step of length h from the present state: as `explicit` leaves it, without an estimate of its error."""
    run = at(address)
    k, s, state = run.kernels[structure], run.scratch, run.state
    x = state.xs[state.at]
    place = steps(run, k, t, h)
    if place < 0 and state_is_worst(run):  # its rate may be rounding
        relearn_states(run, k, t, h, x, state.xs[(state.at + 1) % 3])
        place = steps(run, k, t, h)
    if place < 0:
        return NOT_SOLVED
    x1 = state.xs[place]
    call.local(k, s, x, x1, s.u)
    for m in range(s.e.size):
        s.e[m] = 0.0
    return ACCEPTED
