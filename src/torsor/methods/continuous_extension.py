"""A step between its ends: the continuous extension of a tableau.

    u(θ) = h Σ bᵢ(θ) kᵢ,      x(θ) = x₀ · exp(u(θ)),      bᵢ(θ) = Σⱼ Bᵢⱼ φⱼ(θ)                          (1)
    φ₁ = θ,  φ₂ = θ (1 − θ),  φ₃ = θ² (1 − θ),  φ₄ = θ² (1 − θ)² …                                      (2)

In the algebra a step of a Runge–Kutta–Munthe-Kaas method is one of the plain method, u̇ = k, so that its extension serves the
group with the same order. In these φ little cancels, and u(1) is the step itself, bit for bit.
"""

import numpy as np

from ..kernels import call
from ..kernels.compiled import compiled, inlined
from .explicit_step import combine
from .run_records import Span
from .vector_functions import copy

POOR = 0.1  # conditioning at a stage over that at the better end of the step, below which it is not used


def span_of(method, scratch, layout, p):
    """The record of a step and its interpolation, with the stages in the scratch."""
    of = lambda size, *names: {name: np.zeros(size) for name in names}
    vectors = (
        of(layout.algebra, "u", "xdot") | of(layout.x, "x", "y") | of(p.size, "p") | of(len(method.dense), "weights")
    )
    return Span(K=scratch.K, **vectors)


def longest(integrator, method, tolerance):
    """The longest step / length of the run. A longer step could miss a short motion between two phases of rest. Without a
    continuous extension the outputs limit the steps."""
    order = max(integrator.order, integrator.estimated or 0)
    return 0.5 * tolerance ** (1 / order) if method.dense.size else np.inf


@inlined
def begin_step(run, structure):
    """Store the start of a step."""
    span, state = run.span, run.state
    span.at, span.start, span.structure, span.pivot = state.at, state.time, structure, state.pivot
    copy(state.p, span.p)


@inlined
def end_step(run):
    """Store the length of the step that ends at the present state."""
    run.span.length, run.span.filled = run.state.time - run.span.start, 0


@compiled
def compute_extra_stages(run):
    """Compute the stages that only the extension uses. Near a singular position they violate the constraints too much; then the end
    of the step is the only further stage."""
    span, s, method, state = run.span, run.scratch, run.method, run.state
    k, x = run.kernels[span.structure], state.xs[span.at]
    if span.filled == 0:
        span.filled, span.poor = 1, 0
        for i in range(method.stages, method.dense.shape[0]):
            combine(span.length, method.A[i], i, s.K, span.u)
            call.retract(k, s, x, span.u, span.x)
            s.t[0] = span.start + method.c[i] * span.length
            call.factor(k, s, span.x, span.p, s.F)
            call.rate(k, s, span.x, span.p, s.F, run.plan.gains, span.xdot, s.lam)
            call.differential(k, s, span.u, span.xdot, s.K[i])
            state.evaluations += 1
            good = max(span.pivot, state.pivot) if k.constrained == 1 else 0.0
            if i > method.stages and s.F[k.last] < POOR * good and method.spare.size > 0:
                span.poor = 1
        for i in range(method.stages + 1, method.dense.shape[0] if span.poor == 1 else 0):
            for m in range(span.u.size):
                s.K[i, m] = 0.0


@compiled
def interpolate(run, poor, theta, h, K, u):
    """u(θ) of a step of length h with the stages K: (1)."""
    B = run.method.spare if poor == 1 else run.method.dense
    b, phi = run.span.weights, theta
    for i in range(b.size):
        b[i] = B[i, 0] * phi
    for j in range(1, B.shape[1]):
        phi *= 1 - theta if j % 2 == 1 else theta  # (2)
        for i in range(b.size):
            b[i] += B[i, j] * phi
    combine(h, b, b.size, K, u)
