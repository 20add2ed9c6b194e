"""Interpolation of the last step, and the watched functions within it.

A method with a continuous extension uses that, corrected by the change u₁ − u(1) of the velocities by the projection (1). Other
methods use a cubic in the algebra (2).

u(θ) = h Σ bᵢ(θ) kᵢ + h₁ (u₁ − u(1)),                    x(θ) = x₀ · exp(u(θ))                         (1)
u(θ) = h₁ u₁ + h₂ h ẋ₀ + h₃ h dexp⁻¹(u₁) ẋ₁                                                         (2)
h₁ = 3θ² − 2θ³,   h₂ = θ − 2θ² + θ³,   h₃ = θ³ − θ²
"""

from ...kernels import call
from ...kernels.compiled import compiled, inlined
from ...methods.continuous_extension import compute_extra_stages, interpolate
from ...methods.vector_functions import copy, rate
from ...prepare.event_records import LAST_SAMPLE


@inlined
def evaluate_guards(run, i, t, x, p, xdot, phi):
    """Evaluate values, rates and paces of all watched functions at a state. Also sets xdot, and the multipliers in the scratch."""
    s, k = run.scratch, run.kernels[i]
    rate(run, k, t, x, p, xdot)
    call.guards(k, s, x, p, xdot, s.lam, phi)


@inlined
def interpolate_by_extension(run, theta):
    """u(θ) of the extension: (1)."""
    step = run.step
    interpolate(run, step.poor, theta, step.span, step.K, step.u)
    for m in range(run.plan.velocities, step.u.size):
        step.u[m] += (3 - 2 * theta) * theta**2 * step.off[m]


@inlined
def interpolate_by_cubic(run, theta):
    """u(θ) of the cubic: (2)."""
    step, h = run.step, run.step.span
    u, u1, rate, k1 = step.u, step.u1, step.rate, step.k1
    h1, h2, h3 = (3 - 2 * theta) * theta**2, theta * (1 - theta) ** 2, (theta - 1) * theta**2
    for m in range(u.size):
        u[m] = h1 * u1[m] + h * (h2 * rate[m] + h3 * k1[m])


@compiled
def prepare_interpolation(run, i):
    """Prepare the interpolation of the last step. Later steps do not change it."""
    step = run.step
    if run.method.dense.size > 0:
        compute_extra_stages(run)
        step.poor = run.span.poor
        for j in range(step.K.shape[0]):
            copy(run.scratch.K[j], step.K[j])
    else:
        call.differential(run.kernels[i], run.scratch, step.u1, step.rate1, step.k1)


@compiled
def evaluate_within_step(run, i, theta, phi):
    """Evaluate the watched functions at θ within the step."""
    step, k, h = run.step, run.kernels[i], run.step.span
    if run.method.dense.size > 0:
        interpolate_by_extension(run, theta)
    else:
        interpolate_by_cubic(run, theta)
    call.retract(k, run.scratch, run.kept.x, step.u, step.x)
    evaluate_guards(run, i, run.kept.time + theta * h, step.x, run.kept.p, step.xdot, phi)


@compiled
def evaluate_step_ends(run, i):
    """Evaluate the watched functions at both ends of the last step."""
    step, state, s, plan = run.step, run.state, run.scratch, run.plan
    x = state.xs[state.at]
    for row in range(3):
        copy(run.events.phi[row], step.samples[0, row])
    copy(s.K[0], step.rate)
    copy(s.u, step.u1)
    for m in range(plan.velocities, s.u.size):  # as they are after the projection
        step.u1[m] = x[plan.configuration - plan.velocities + m] - run.kept.x[plan.configuration - plan.velocities + m]
        step.off[m] = step.u1[m] - s.u[m]
    step.span = state.time - run.kept.time
    evaluate_guards(run, i, state.time, x, state.p, s.xdot, step.samples[LAST_SAMPLE])
    copy(s.xdot, step.rate1)
