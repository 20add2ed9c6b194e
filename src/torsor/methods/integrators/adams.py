"""Adams methods on a group: rates of earlier steps instead of further evaluations.

With the motion since the present state as u(τ), x(t + τ) = x · exp(u(τ)), a step of length h is an integral of

    u̇ = K(τ) = dexp⁻¹(u) ẋ,      u(h) = ∫ K dτ,  from 0 to h                                            (1)

over a polynomial through known K(τⱼ). Those of earlier states xⱼ are taken to the algebra at x:

    uⱼ = log(x⁻¹ xⱼ),   Kⱼ = dexp⁻¹(uⱼ) ẋⱼ                                                              (2)

Steps need not be equally long: the weights of the integral follow from the times. Vlasenko simulates components with
such a method ([vlasenko2006], sec. 8.6); there on coordinates, which is (1) on Rⁿ.
"""

from ...kernels import call
from ...kernels.compiled import compiled, entry, inlined, reference
from ...registry import register
from ..explicit_step import runge_kutta
from ..history import remember
from ..integrator import Integrator
from ..run_records import Run
from ..status_codes import ACCEPTED
from ..vector_functions import copy, stage
from .tableaus import RKMK4

at = reference(Run)
PAST = 4  # states that are used, the present one included


@register("abm4")
class AdamsBashforthMoulton4(Integrator):
    """Adams–Bashforth–Moulton predictor and corrector of order 4, evaluated once each: two evaluations per step, started by
    RKMK4 and again after every event. For smooth motion whose forces are expensive."""

    order = 4
    loop = (__name__, "adams")
    history = PAST
    needs = ("local",)

    @classmethod
    def tables(cls):
        return {**RKMK4.tables(), "stages": PAST + 1}

    @classmethod
    def adaptive(cls):
        return False


@compiled
def member(c, ahead):
    """Rows of K that a polynomial goes through: the present rate and earlier ones, the last replaced by that at the end of the
    step for the corrector."""
    return PAST if ahead and c == PAST - 1 else c


@compiled
def node(run, j, t, h):
    """Time of a known rate from the present state on, in steps; the last is the end of the step."""
    return (run.past.times[j] - t) / h if j < PAST else 1.0


@compiled
def weight(run, j, ahead, t, h):
    """∫ ℓⱼ(θ) dθ from 0 to 1, of the Lagrange polynomial that is 1 at node j and 0 at the other ones."""
    c0, c1, c2, c3, scale = 1.0, 0.0, 0.0, 0.0, 1.0
    for c in range(PAST):
        m = member(c, ahead)
        if m != j:
            root = node(run, m, t, h)
            scale *= node(run, j, t, h) - root
            c3, c2, c1, c0 = c2 - root * c3, c1 - root * c2, c0 - root * c1, -root * c0
    return (c0 + c1 / 2 + c2 / 3 + c3 / 4) / scale


@inlined
def sum_rates(run, ahead, t, h):
    """u(h) of the polynomial through four rates: (1)."""
    u, K = run.scratch.u, run.scratch.K
    for m in range(u.size):
        u[m] = 0.0
    for c in range(PAST):
        j = member(c, ahead)
        w = h * weight(run, j, ahead, t, h)
        for m in range(u.size):
            u[m] += w * K[j, m]


@entry("int64", "int64", "float64", "float64")
def adams(address, structure, t, h):
    """A step of length h from the present state: as `explicit` leaves it."""
    run = at(address)
    k, s, past, state = run.kernels[structure], run.scratch, run.past, run.state
    remember(run, k, t, h)
    if past.kept < PAST:
        copy(s.K[0], s.xdot)
        state.rated = 1
        runge_kutta(run, structure, t, h)
        return ACCEPTED
    x, x1 = state.xs[state.at], state.xs[(state.at + 1) % 3]
    for j in range(1, PAST):
        call.local(k, s, x, past.xs[j], s.u)
        call.differential(k, s, s.u, past.rates[j], s.K[j])  # (2)
    sum_rates(run, False, t, h)
    stage(run, k, t + h, x, s.u, x1, s.K[PAST])
    sum_rates(run, True, t, h)
    call.advance(k, s, x, s.u, x1)
    state.evaluations += 2
    return ACCEPTED
