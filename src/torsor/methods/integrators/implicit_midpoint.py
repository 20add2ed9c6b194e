"""The implicit midpoint rule on a group.

    u = h ẋ(x · exp(u/2), t + h/2),      x₁ = x · exp(u)                                                 (1)

The way u is the same seen from the start and from the middle, so that dexp⁻¹(u/2) may stand before ẋ, and a step back leads
to where it began: the rule is symmetric with the exponential map. It is of order 2, and stable for any stiff, damped or fast
part of the motion.
(1) is solved by Newton's method with the traced slope of a stage, ∂(dexp⁻¹(u) ẋ)/∂u.
"""

from ...kernels import call
from ...kernels.compiled import entry, reference
from ...registry import register
from ..implicit_step import forget_after_jump, solve_stage
from ..integrator import Integrator
from ..run_records import Run
from ..status_codes import ACCEPTED, NOT_SOLVED
from ..vector_functions import first_rate

at = reference(Run)


@register("implicit-midpoint")
class ImplicitMidpoint(Integrator):
    """Implicit midpoint rule, order 2: one Newton iteration after another per step. For stiff springs, dampers and contacts
    by forces, with steps that explicit methods could not take; symmetric where no projection follows."""

    order = 2
    loop = (__name__, "implicit_midpoint")
    reversible = ("exp",)  # cay(u/2) cay(u/2) is not cay(u)
    needs = ("slope",)

    @classmethod
    def tables(cls):
        return {"stages": 2}

    @classmethod
    def adaptive(cls):
        return False


@entry("int64", "int64", "float64", "float64")
def implicit_midpoint(address, structure, t, h):
    """A step of length h from the present state: as `explicit` leaves it, without an estimate of its error."""
    run = at(address)
    k, s, state = run.kernels[structure], run.scratch, run.state
    x, x1 = state.xs[state.at], state.xs[(state.at + 1) % 3]
    forget_after_jump(run)
    state.evaluations += 1 if state.rated == 0 else 0
    first_rate(run, k, t)
    for m in range(s.u.size):
        s.u[m], s.e[m] = h * s.K[0, m], 0.0
    if not solve_stage(run, structure, t + 0.5 * h, h, x, x1, 0.5, s.e, h):
        return NOT_SOLVED
    run.past.kept = 1
    call.advance(k, s, x, s.u, x1)
    return ACCEPTED
