"""The step just taken, between its ends, and the watched functions there: on the extension of the method (`extension`), where
it has one, corrected by what the projection has changed in the velocities, u₁ − u(1); or on a cubic in the algebra.

u(θ) = h Σ bᵢ(θ) kᵢ + h₁ (u₁ − u(1)),                    x(θ) = x₀ · exp(u(θ))                         (1)
u(θ) = h₁ u₁ + h₂ h ẋ₀ + h₃ h dexp⁻¹(u₁) ẋ₁                                                         (2)
h₁ = 3θ² − 2θ³,   h₂ = θ − 2θ² + θ³,   h₃ = θ³ − θ²
"""

from ...kernels import call
from ...kernels.compiled import compiled, inlined
from ...methods.continuous_extension import along, fill
from ...methods.vector_functions import copy, rate
from ...prepare.event_records import LAST_SAMPLE


@inlined
def watch(run, i, t, x, p, xdot, phi):
    """Values, rates and paces of all watched functions at a state; its rate is left in xdot, multipliers in the scratch."""
    s, k = run.scratch, run.kernels[i]
    rate(run, k, t, x, p, xdot)
    call.guards(k, s, x, p, xdot, s.lam, phi)


@inlined
def on_extension(run, theta):
    """u(θ) of the extension: (1)."""
    step = run.step
    along(run, step.poor, theta, step.span, step.K, step.u)
    for m in range(run.plan.velocities, step.u.size):
        step.u[m] += (3 - 2 * theta) * theta**2 * step.off[m]


@inlined
def on_cubic(run, theta):
    """u(θ) of the cubic: (2)."""
    step, h = run.step, run.step.span
    u, u1, rate, k1 = step.u, step.u1, step.rate, step.k1
    h1, h2, h3 = (3 - 2 * theta) * theta**2, theta * (1 - theta) ** 2, (theta - 1) * theta**2
    for m in range(u.size):
        u[m] = h1 * u1[m] + h * (h2 * rate[m] + h3 * k1[m])


@compiled
def open_step(run, i):
    """Make the step ready to be looked at between its ends; steps that are taken after it do not change that."""
    step = run.step
    if run.method.dense.size > 0:
        fill(run)
        step.poor = run.span.poor
        for j in range(step.K.shape[0]):
            copy(run.scratch.K[j], step.K[j])
    else:
        call.differential(run.kernels[i], run.scratch, step.u1, step.rate1, step.k1)


@compiled
def dense(run, i, theta, phi):
    """Watched functions within the step."""
    step, k, h = run.step, run.kernels[i], run.step.span
    if run.method.dense.size > 0:
        on_extension(run, theta)
    else:
        on_cubic(run, theta)
    call.retract(k, run.scratch, run.kept.x, step.u, step.x)
    watch(run, i, run.kept.time + theta * h, step.x, run.kept.p, step.xdot, phi)


@compiled
def ends(run, i):
    """Watched functions at both ends of the step just taken."""
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
    watch(run, i, state.time, x, state.p, s.xdot, step.samples[LAST_SAMPLE])
    copy(s.xdot, step.rate1)
