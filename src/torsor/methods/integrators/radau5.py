"""Radau IIA on a group: collocation at three points, the last of them the end of the step.

With the motion since the present state as u(τ), x(t + τ) = x · exp(u(τ)), a step is an ordinary one for u̇ = k(u) = dexp⁻¹(u) ẋ:

    uᵢ = h Σⱼ aᵢⱼ k(uⱼ, t + cⱼ h),      x₁ = x · exp(u₃)                                                  (1)

A⁻¹ has one real eigenvalue γ and two complex ones, so that Newton's method for (1) solves one real and one complex system of as
many equations as the state has:

    A⁻¹ T = T diag(γ, Γ),    w = T⁻¹ u,    (γ/h − ∂k/∂u) Δw₁ = (T⁻¹ k)₁ − γ/h w₁,   and w₂ + i w₃ likewise with Γ      (2)

The error is the difference to an embedded formula of order 3, filtered so that stiff parts do not blow it up:

    e = (γ/h − ∂k/∂u)⁻¹ (k₀ + Σᵢ dᵢ uᵢ/h),    d = −(13 + 7√6, 13 − 7√6, 1)/3                               (3)

Within the step u is the polynomial of the collocation, of which (1) takes values: the extension of the method, of order 3 as (3).
[hairer1996], sec. IV.8; on the group as in [munthekaas1999].
"""

import numpy as np

from ...kernels import call
from ...kernels.compiled import compiled, entry, inlined, reference
from ...registry import register
from ..error_control import relearn_states
from ..implicit_step import (
    CLOSELY,
    FAILS,
    FEW,
    GOES_ON,
    ITERATIONS,
    SLOW,
    SOLVED,
    evaluate_slope,
    factors_for,
    forget_after_jump,
    shrinks_slowly,
    verdict,
)
from ..integrator import Integrator
from ..run_records import Run
from ..shifted_equations import solve
from ..status_codes import ACCEPTED, NOT_SOLVED
from ..vector_functions import copy, first_rate, stage

at = reference(Run)
ROOT = np.sqrt(6.0)
C = ((4 - ROOT) / 10, (4 + ROOT) / 10, 1.0)
D = (-(13 + 7 * ROOT) / 3, -(13 - 7 * ROOT) / 3, -1 / 3)


def collocation(c):
    """A of the collocation at c: integrals of the Lagrange polynomials, which are exact for powers."""
    powers = np.array([[x**k for k in range(len(c))] for x in c])
    integrals = np.array([[x ** (k + 1) / (k + 1) for k in range(len(c))] for x in c])
    return integrals @ np.linalg.inv(powers)


def plain(M):
    """A matrix as numbers that compiled code takes for constants."""
    return tuple(tuple(float(x) for x in row) for row in M)


def transformation(A):
    """The eigenvalue γ of A⁻¹ that is real, the complex one Γ with a positive imaginary part, and T with its inverse: (2)."""
    values = np.linalg.eigvals(np.linalg.inv(A))
    real, turned = float(values[np.argmin(abs(values.imag))].real), complex(values[np.argmax(values.imag)])
    vector = lambda value: np.cross(*(A - np.eye(3) / value)[:2].astype(complex))
    T = np.column_stack([vector(real).real, vector(turned).real, -vector(turned).imag])
    return real, turned, plain(T), plain(np.linalg.inv(T))


GAMMA, TURNED, T, T_INVERSE = transformation(collocation(C))
RATIO = TURNED / GAMMA
A_INVERSE = plain(np.linalg.inv(collocation(C)))


def extension():
    """Weights of the rates within a step, those of its start and of the stages, as `methods/continuous_extension.py` takes them."""
    rates = np.linalg.inv(np.array([[x**k for k in range(3)] for x in C])).T  # of each stage: 1, θ, θ²
    first, second, third = (rates / (1, 2, 3)).T  # and of its integral: θ, θ², θ³
    return np.vstack([np.zeros(3), np.column_stack([first + second + third, -second - third, -third])])


@register("radau5")
class Radau5(Integrator):
    """Radau IIA with three stages, order 5: adaptive, implicit, for everything stiff. Damps what is faster than the step, and
    keeps its accuracy in what is slower; the first choice for stiff springs, dampers and states."""

    order = 5
    estimated = 4
    loop = (__name__, "radau5")
    needs = ("slope",)

    @classmethod
    def tables(cls):
        return {"stages": 4, "steady": 1.1, "dense": extension()}

    @classmethod
    def adaptive(cls):
        return True


@inlined
def weights(theta):
    """Of the three stages in the polynomial through them, and through 0 where the step begins."""
    a, b, c = C
    return (
        theta * (theta - b) * (theta - c) / (a * (a - b) * (a - c)),
        theta * (theta - a) * (theta - c) / (b * (b - a) * (b - c)),
        theta * (theta - a) * (theta - b) / (c * (c - a) * (c - b)),
    )


@compiled
def guess(run, t, h):
    """Stages from where the polynomial through those of the last step leads; a step that is tried again begins like itself."""
    past, ways = run.past, run.scratch.ways
    since = (t - past.began) / past.span if past.span > 0.0 else -1.0
    follows = abs(since - 1.0) < 1e-9
    known = follows or since == 0.0
    ratio, start = h / past.span if known else 0.0, 1.0 if follows else 0.0
    first, second, third = weights(start + C[0] * ratio), weights(start + C[1] * ratio), weights(start + ratio)
    for m in range(run.scratch.u.size):
        u0, u1, u2 = past.ways[0, m], past.ways[1, m], past.ways[2, m]
        for i, w in enumerate((first, second, third)):
            ways[i, m] = w[0] * u0 + w[1] * u1 + w[2] * u2 - start * u2 if known else 0.0


@compiled
def correction(run, structure, h):
    """Correct the stages by (2) with the factors that there are; the largest change of each component is left in the scratch."""
    K, s, eq, u = run.scratch.K, run.scratch, run.equations, run.scratch.ways
    (p0, p1, p2), (q0, q1, q2), (r0, r1, r2) = T_INVERSE
    real, turned = GAMMA / h, TURNED / h
    for m in range(s.u.size):
        k0, k1, k2, u0, u1, u2 = K[1, m], K[2, m], K[3, m], u[0, m], u[1, m], u[2, m]
        eq.b[m] = p0 * k0 + p1 * k1 + p2 * k2 - real * (p0 * u0 + p1 * u1 + p2 * u2)
        way = complex(q0 * u0 + q1 * u1 + q2 * u2, r0 * u0 + r1 * u1 + r2 * u2)
        eq.c[m] = complex(q0 * k0 + q1 * k1 + q2 * k2, r0 * k0 + r1 * k1 + r2 * k2) - turned * way
    solve(run, structure, eq.factors, eq.b, eq.y)
    solve(run, structure, eq.turned, eq.c, eq.z)
    for m in range(s.u.size):
        s.left[m] = 0.0
        for i in range(3):
            change = T[i][0] * eq.b[m] + T[i][1] * eq.c[m].real + T[i][2] * eq.c[m].imag
            u[i, m] += change
            s.left[m] = max(s.left[m], abs(change))


@compiled
def iterate(run, structure, t, h, x, x1, renew):
    """Newton's method from the stages that are guessed, with the factors that there are; renew: with a slope at the present stages
    where corrections hardly shrink. Returns whether it converged."""
    k, s, found = run.kernels[structure], run.scratch, GOES_ON
    closely = min(CLOSELY, np.sqrt(run.plan.tolerance))  # its error is small: that of the solution must not add to it
    run.equations.found_motion = 0
    for turn in range(ITERATIONS if run.plan.adaptive == 0 else FEW):
        if renew and shrinks_slowly(run, turn):
            evaluate_slope(run, k, t + C[1] * h, x, s.ways[1])
            if not factors_for(run, structure, GAMMA / h, RATIO):
                return False
        for i in range(3):
            stage(run, k, t + C[i] * h, x, s.ways[i], x1, s.K[i + 1])
        run.state.evaluations += 3
        correction(run, structure, h)
        found = verdict(run, h, x, s.ways[2], s.left, turn, closely)
        if found == SOLVED or (found == FAILS and not (renew and run.state.unsolved < np.inf)):
            break
    return found == SOLVED


@compiled
def solve_stages(run, structure, t, h, x, x1):
    """The stages of (1), first with the slope that is kept, then with a fresh one, then, where steps are fixed, with one of every
    iterate. Returns whether they were found."""
    past, s = run.past, run.scratch
    for trial in range(0 if past.sloped == 1 else 1, 3 if run.plan.adaptive == 0 else 2):
        guess(run, t, h)
        if trial > 0:  # in the midst of the step as it is guessed
            evaluate_slope(run, run.kernels[structure], t + C[1] * h, x, s.ways[1])
        if factors_for(run, structure, GAMMA / h, RATIO) and iterate(run, structure, t, h, x, x1, trial == 2):
            past.began, past.span = t, h
            for i in range(3):
                copy(s.ways[i], past.ways[i])
            return True
        past.sloped = 0
        relearn_states(run, run.kernels[structure], t, h, x, x1)
    return False


@compiled
def estimate(run, structure, t, h, x, x1, first):
    """The error of the step: (3); filtered once more in the first step and after a rejection, where the start may not be smooth."""
    s, eq, past = run.scratch, run.equations, run.past
    for m in range(s.u.size):
        s.left[m] = (D[0] * past.ways[0, m] + D[1] * past.ways[1, m] + D[2] * past.ways[2, m]) / h
        s.e[m] = s.K[0, m] + s.left[m]
    solve(run, structure, eq.factors, s.e, eq.y)
    if first or run.state.rejected > 0:
        stage(run, run.kernels[structure], t, x, s.e, x1, eq.b)
        run.state.evaluations += 1
        for m in range(s.u.size):
            s.e[m] = eq.b[m] + s.left[m]
        solve(run, structure, eq.factors, s.e, eq.y)


@inlined
def radau(run, structure, t, h):
    """A step of length h. Returns whether its equations were solved."""
    k, s, state, past = run.kernels[structure], run.scratch, run.state, run.past
    x, x1 = state.xs[state.at], state.xs[(state.at + 1) % 3]
    forget_after_jump(run)
    state.evaluations += 1 if state.rated == 0 else 0
    first_rate(run, k, t)
    first = past.span == 0.0
    if not solve_stages(run, structure, t, h, x, x1):
        return False
    if run.plan.adaptive == 1:
        estimate(run, structure, t, h, x, x1, first)
    if past.contraction > SLOW:
        past.sloped = 0
    past.kept = max(past.kept, 1)
    for m in range(s.u.size):
        s.u[m] = past.ways[2, m]
        for i in range(3):  # rates of the polynomial that was found
            a, b, c = A_INVERSE[i]
            s.K[i + 1, m] = (a * past.ways[0, m] + b * past.ways[1, m] + c * past.ways[2, m]) / h
    call.advance(k, s, x, s.u, x1)
    return True


@entry("int64", "int64", "float64", "float64")
def radau5(address, structure, t, h):
    """A step of length h from the present state: as `explicit` leaves it."""
    run = at(address)
    run.method.growth = (
        1.0 if run.state.rejected > 0 else 5.0
    )  # after a refused step the estimate is filtered, and small
    return ACCEPTED if radau(run, structure, t, h) else NOT_SOLVED
