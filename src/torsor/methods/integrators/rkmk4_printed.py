"""The method of order 4 as [zenzerovic2012] prints it: the last combination without the inverse differential.

    uᵢ = h Σⱼ aᵢⱼ kⱼ,   kᵢ = dexp⁻¹(−uᵢ) vᵢ             stages, steps 3 to 5 of sec. 3.3.3                  (1)
    q ← q · exp(h Σ bᵢ vᵢ)                              steps 7 and 8: vᵢ in the place of kᵢ                (2)

Velocities vᵢ at different stages belong to different points of the group: their sum is right to second order only, where a
rotation changes its axis. With kᵢ in (2) it is `rkmk4`, of order 4.
"""

from ...kernels import call
from ...kernels.compiled import entry, reference
from ...registry import register
from ..explicit_step import combine
from ..integrator import Integrator
from ..run_records import Run
from ..status_codes import ACCEPTED
from ..vector_functions import copy, first_rate
from .tableaus import RKMK4

at = reference(Run)


@register("rkmk4-printed")
class RKMK4Printed(Integrator):
    """As `rkmk4`, with velocities instead of their images by dexp⁻¹ in the last combination: order 2 in the rotations, 4 where no
    axis of rotation moves. For comparison with [zenzerovic2012], sec. 3.3.3, step 7."""

    order = 2
    loop = (__name__, "printed_step")

    @classmethod
    def tables(cls):
        found = RKMK4.tables()
        return {**found, "stages": 2 * found["stages"]}  # kᵢ, and vᵢ after them

    @classmethod
    def adaptive(cls):
        return False


@entry("int64", "int64", "float64", "float64")
def printed_step(address, structure, t, h):
    """A step of length h."""
    run = at(address)
    k, s, method, state = run.kernels[structure], run.scratch, run.method, run.state
    x, x1, u, K, stages = state.xs[state.at], state.xs[(state.at + 1) % 3], s.u, s.K, method.b.size
    first_rate(run, k, t)
    copy(K[0], K[stages])
    for i in range(1, stages):
        combine(h, method.A[i], i, K, u)
        s.t[0] = t + method.c[i] * h
        call.retract(k, s, x, u, x1)
        call.factor(k, s, x1, state.p, s.F)
        call.rate(k, s, x1, state.p, s.F, run.plan.gains, K[stages + i], s.lam)
        call.differential(k, s, u, K[stages + i], K[i])  # (1)
    combine(h, method.b, stages, K[stages:], u)  # (2)
    call.advance(k, s, x, u, x1)
    state.evaluations += stages
    return ACCEPTED
