"""The time loop, compiled. It sees kernels by address and flat vectors, and nothing of mechanics.

A run is a sequence of calls of `march`, each of at most `budget` steps, so that a person can watch and interrupt it.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from ..kernels.calls import call

RUNNING, FINISHED, NOT_FINITE, STEP_TOO_SMALL, NOT_PROJECTED = 0, 1, 2, 3, 4

# Addresses of kernels; `factor` serves the projection, `factor_mass` the accelerations (often the same).
Kernels = namedtuple("Kernels", "factor factor_mass accelerations positions velocities turns retract tidy differential outputs")

# Scratch arrays. K, A: stage rates of configuration and velocity, P: stage powers.
Scratch = namedtuple(
    "Scratch", "t q0 q1 v1 u k F E a lam power K A P dq g dv psi turn ab work scale"
)

# What the run does: tableau, steps, projection, tolerances. All float64 or int64 arrays, so that one compiled loop serves.
#   numbers: [step, tolerance, position tolerance, velocity tolerance, smallest step]
#   choices: [adaptive, project, baumgarte, same factor for both, number of turns]
Plan = namedtuple("Plan", "A b c estimate numbers choices linear order")

# The state that survives between calls. counts: [steps, rejections, outputs written, evaluations, projections]
#   values: [t, next step, work, smallest pivot ratio, largest position residual, largest velocity residual]
State = namedtuple("State", "values counts q v p")


@njit(cache=True, error_model="numpy", boundscheck=False)
def accelerate(k, s, plan, t, q, v, p, fresh):
    """v̇, λ and power at a state; the factor is taken as it stands where `fresh` says that it belongs to q."""
    s.t[0] = t
    if not fresh:
        call(k.factor_mass, (s.t, q, p, s.E, s.work))
    if plan.choices[2] == 1:
        call(k.accelerations, (s.t, q, v, p, s.E, s.ab, s.a, s.lam, s.power, s.work))
    else:
        call(k.accelerations, (s.t, q, v, p, s.E, s.a, s.lam, s.power, s.work))


@njit(cache=True, error_model="numpy", boundscheck=False)
def sweep(k, s, plan, t, h, q, v, p, fresh):
    """All stages of one step from (q, v); leaves the new state in q1, v1 and returns the work done."""
    stages, n = plan.b.size, v.size
    for i in range(stages):
        if i == 0:
            s.v1[:] = v
            accelerate(k, s, plan, t, q, v, p, fresh)
            s.K[0, :] = v
        else:
            for m in range(n):
                du, dv = 0.0, 0.0
                for j in range(i):
                    du += plan.A[i, j] * s.K[j, m]
                    dv += plan.A[i, j] * s.A[j, m]
                s.u[m] = h * du
                s.v1[m] = v[m] + h * dv
            call(k.retract, (q, s.u, s.q1, s.work))
            accelerate(k, s, plan, t + plan.c[i] * h, s.q1, s.v1, p, False)
            call(k.differential, (s.u, s.v1, s.k, s.work))
            s.K[i, :] = s.k
        s.A[i, :] = s.a
        s.P[i] = s.power[0]
    for m in range(n):
        du, dv = 0.0, 0.0
        for j in range(stages):
            du += plan.b[j] * s.K[j, m]
            dv += plan.b[j] * s.A[j, m]
        s.u[m] = h * du
        s.v1[m] = v[m] + h * dv
    call(k.retract, (q, s.u, s.q0, s.work))
    call(k.tidy, (s.q0, s.q1, s.work))
    gain = 0.0
    for j in range(stages):
        gain += plan.b[j] * s.P[j]
    return h * gain


@njit(cache=True, error_model="numpy", boundscheck=False)
def error_of(s, plan, h, v):
    """Largest component of the estimated error over its scale: lengths, angles, and speeds of either kind."""
    worst = 0.0
    for m in range(v.size):
        eu, ev = 0.0, 0.0
        for j in range(plan.b.size):
            eu += plan.estimate[j] * s.K[j, m]
            ev += plan.estimate[j] * s.A[j, m]
        kind = 0 if plan.linear[m] == 1 else 1
        speed = abs(v[m]) + h * abs(s.A[0, m])
        if speed > s.scale[2 + kind]:
            s.scale[2 + kind] = speed
        worst = max(worst, abs(h * eu) / s.scale[kind])
        if s.scale[2 + kind] > 0.0:
            worst = max(worst, abs(h * ev) / s.scale[2 + kind])
    return worst / plan.numbers[1]


@njit(cache=True, error_model="numpy", boundscheck=False)
def largest(x):
    worst = 0.0
    for i in range(x.size):
        y = abs(x[i])
        if not y <= worst:  # also when y is not a number
            worst = y
    return worst


@njit(cache=True, error_model="numpy", boundscheck=False)
def project(k, s, plan, state, t, q, v, p):
    """Least squares onto the constraints: positions by simplified Newton steps, then velocities. Returns success.

    The factor at the first position serves all its corrections: their error is of second order in the residual.
    """
    s.t[0] = t
    call(k.factor, (s.t, q, p, s.F, s.work))
    tolerance = plan.numbers[2]
    moved = False
    for iteration in range(20):
        call(k.positions, (s.t, q, p, s.F, s.dq, s.g, s.work))
        residual = largest(s.g)
        if not np.isfinite(residual):
            return False
        if iteration == 0:
            state.values[4] = max(state.values[4], residual)
        if residual <= tolerance:
            break
        if iteration > 4:  # slow: a factor of the present position
            call(k.factor, (s.t, q, p, s.F, s.work))
            call(k.positions, (s.t, q, p, s.F, s.dq, s.g, s.work))
        call(k.retract, (q, s.dq, s.q0, s.work))
        q[:] = s.q0
        moved = True
        if residual <= 1e5 * tolerance:  # the next residual is of the order of its square
            break
        if iteration == 19:
            return False
    if moved:
        call(k.factor, (s.t, q, p, s.F, s.work))
    for iteration in range(3):
        call(k.velocities, (s.t, q, v, p, s.F, s.dv, s.psi, s.work))
        residual = largest(s.psi)
        if iteration == 0:
            state.values[5] = max(state.values[5], residual)
        if residual <= plan.numbers[3]:
            break
        for m in range(v.size):
            v[m] += s.dv[m]
        if residual <= 1e7 * plan.numbers[3]:
            break
    state.values[3] = min(state.values[3], s.F[s.F.size - 1])
    state.counts[4] += 1
    return True


@njit(cache=True, error_model="numpy", boundscheck=False)
def march(k, s, plan, state, times, out_q, out_v, out_p, out_w, budget):
    """Take at most `budget` steps; write the state at every output time that is reached. Returns a status."""
    adaptive, projecting, same = plan.choices[0] == 1, plan.choices[1] == 1, plan.choices[3] == 1
    turns = plan.choices[4]
    first_turn = state.p.size - turns
    fresh = False
    for _ in range(budget):
        t = state.values[0]
        while state.counts[2] < times.size and t >= times[state.counts[2]]:
            i = state.counts[2]
            out_q[i, :] = state.q
            out_v[i, :] = state.v
            out_p[i, :] = state.p
            out_w[i] = state.values[2]
            state.counts[2] += 1
        if state.counts[2] == times.size:
            return FINISHED

        # step: equal parts of the way to the next output, or as long as the error allows
        way = times[state.counts[2]] - t
        h = plan.numbers[0] if not adaptive else state.values[1]
        parts = np.ceil(way / h * (1 - 1e-9))
        last = parts <= 1.0
        h = way if last else way / parts if (not adaptive or parts <= 2.0) else h
        gain = sweep(k, s, plan, t, h, state.q, state.v, state.p, fresh)
        state.counts[3] += plan.b.size
        fresh = False
        finite = np.isfinite(largest(s.v1)) and np.isfinite(largest(s.q1))

        if adaptive:
            error = error_of(s, plan, h, state.v) if finite else np.inf
            factor = 0.9 * max(error, 1e-10) ** (-1.0 / plan.order[0])
            proposal = h * min(5.0, max(0.2, factor)) if np.isfinite(error) else 0.1 * h
            if not error <= 1.0:
                state.values[1] = proposal
                state.counts[1] += 1
                if proposal < plan.numbers[4]:
                    return STEP_TOO_SMALL if finite else NOT_FINITE
                continue
            if h >= 0.99 * state.values[1] or factor < 5.0:  # a step cut short to meet an output says little
                state.values[1] = proposal
        elif not finite:
            return NOT_FINITE

        now = times[state.counts[2]] if last else t + h
        if projecting:
            if not project(k, s, plan, state, now, s.q1, s.v1, state.p):
                if not adaptive or 0.25 * h < plan.numbers[4]:
                    return NOT_PROJECTED
                state.values[1] = 0.25 * h
                state.counts[1] += 1
                continue
            fresh = same
        state.q[:] = s.q1
        state.v[:] = s.v1
        state.values[0] = now
        state.values[2] += gain
        state.counts[0] += 1
        if turns > 0:
            s.t[0] = now
            call(k.turns, (s.t, state.q, state.p, s.turn, s.work))
            state.p[first_turn:] = s.turn[:turns]
    return RUNNING


@njit(cache=True, error_model="numpy", boundscheck=False)
def evaluate(k, s, plan, times, out_q, out_v, out_p, accelerations, multipliers, outputs, row):
    """Accelerations, multipliers and all outputs at recorded states."""
    for i in range(times.size):
        accelerate(k, s, plan, times[i], out_q[i], out_v[i], out_p[i], False)
        call(k.outputs, (s.t, out_q[i], out_v[i], out_p[i], s.a, s.lam, row, s.work))
        accelerations[i, :] = s.a
        multipliers[i, :] = s.lam[: multipliers.shape[1]]
        outputs[i, :] = row[: outputs.shape[1]]
