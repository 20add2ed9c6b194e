"""The step of explicit tableaus for independent coordinates alone: dependent ones follow from the constraints in every stage.

    u = h Σⱼ aᵢⱼ kⱼ,   q_ind = q_ind⁰ + u_ind,   g(q_ind, q_dep) = 0,   ψ(q, v_ind, v_dep) = 0              (1)

This is the method applied to the equations of motion in independent coordinates ([mueller2009], sec. 5.3); what it makes of
the dependent ones is where their solution begins. Coordinates are numbers, kᵢ = ẋᵢ: no rotation is among them.
"""

from ..kernels import call
from ..kernels.compiled import compiled, entry, reference
from .constraint_projection import correct_positions, correct_velocities
from .explicit_step import combine
from .run_records import Run
from .status_codes import ACCEPTED, NOT_SOLVED
from .vector_functions import first_rate

at = reference(Run)


@compiled
def on_constraints(run, structure, t, place, other):
    """Dependent positions and velocities of the state at a place: (1). Returns where the state is then, −1 where there is none."""
    k, s, state = run.kernels[structure], run.scratch, run.state
    s.t[0] = t
    call.factor(k, s, state.xs[place], state.p, s.F)
    if k.constrained == 0:
        return place
    before = (state.position_residual, state.velocity_residual)
    swaps = correct_positions(run, k, state.xs[place], state.xs[other], state.p, 0)
    if swaps >= 0:
        if swaps % 2 == 1:
            place, other = other, place
        if swaps > 0:
            call.factor(k, s, state.xs[place], state.p, s.F)
        if correct_velocities(run, k, state.xs[place], state.xs[other], state.p) % 2 == 1:
            place, other = other, place
    state.position_residual, state.velocity_residual = before  # what a stage is off is no drift
    return place if swaps >= 0 else -1


@entry("int64", "int64", "float64", "float64")
def independent(address, structure, t, h):
    """A step of length h, as `explicit` takes it, with every stage on the constraints."""
    run = at(address)
    k, s, method, state = run.kernels[structure], run.scratch, run.method, run.state
    x, u, K, stages = state.xs[state.at], s.u, s.K, method.b.size
    next_place, spare = (state.at + 1) % 3, (state.at + 2) % 3
    first_rate(run, k, t)
    for i in range(1, stages):
        combine(h, method.A[i], i, K, u)
        call.retract(k, s, x, u, state.xs[next_place])
        found = on_constraints(run, structure, t + method.c[i] * h, next_place, spare)
        if found < 0:
            return NOT_SOLVED
        call.rate(k, s, state.xs[found], state.p, s.F, run.plan.gains, K[i], s.lam)
    combine(h, method.b, stages, K, u)
    combine(h, method.estimate, stages, K, s.e)
    if method.rough.size > 0:
        combine(h, method.rough, stages, K, s.rough)
    call.advance(k, s, x, u, state.xs[next_place])
    state.evaluations += stages
    return ACCEPTED
