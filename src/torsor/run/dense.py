"""The step just taken, between its ends: a dense output, cubic in the algebra, and the watched functions on it.

u(θ) = h₁ u₁ + h₂ h ẋ₀ + h₃ h dexp⁻¹(u₁) ẋ₁,    x(θ) = x₀ · exp(u(θ))                               (1)
h₁ = 3θ² − 2θ³,   h₂ = θ − 2θ² + θ³,   h₃ = θ³ − θ²
"""

from ..kernels import ask
from ..kernels.compiled import compiled, inlined
from ..methods.vectors import copy, rate
from .event_records import END


@inlined
def watched(run, i, t, x, p, xdot, phi):
    """Values, rates and paces of all watched functions at a state; its rate is left in xdot, multipliers in the scratch."""
    s, k = run.scratch, run.kernels[i]
    rate(run, k, t, x, p, xdot)
    ask.guards(k, s, x, p, xdot, s.lam, phi)


@compiled
def dense(run, i, theta, phi):
    """Watched functions on the dense output: (1)."""
    step, k, h = run.step, run.kernels[i], run.step.span
    u, u1, rate, k1 = step.u, step.u1, step.rate, step.k1
    h1, h2, h3 = (3 - 2 * theta) * theta**2, theta * (1 - theta) ** 2, (theta - 1) * theta**2
    for m in range(u.size):
        u[m] = h1 * u1[m] + h * (h2 * rate[m] + h3 * k1[m])
    ask.retract(k, run.scratch, run.kept.x, u, step.x)
    watched(run, i, run.kept.time + theta * h, step.x, run.kept.p, step.xdot, phi)


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
    step.span = state.time - run.kept.time
    watched(run, i, state.time, x, state.p, s.xdot, step.samples[END])
    copy(s.xdot, step.rate1)
