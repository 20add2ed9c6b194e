"""The time loop, compiled. It sees kernels by address and flat vectors, and nothing of mechanics.

A run is a sequence of calls of `march`, each of at most `budget` steps, so that a person can watch and interrupt it.
"""

import numpy as np
from numba import njit

from ..kernels.calls import call
from .accuracy import error_of, resolution
from .compiled import INLINE, MERGED, loop
from .records import Kernels, Plan, Scratch, State, accelerate, copy, largest  # noqa: F401  (for those who call the loop)

# to count full turns: angle that a step may turn a joint by at the rate of its start, and beyond which it is repeated [rad]
TURNING, TURNED = 1.5, 2.5
RUNNING, FINISHED, NOT_FINITE, STEP_TOO_SMALL, NOT_PROJECTED, ILL_CHOSEN = 0, 1, 2, 3, 4, 5


@njit(**INLINE)
def sweep(k, s, plan, t, h, q, v, p, fresh, q1, v1):
    """All stages of one step from (q, v); leaves the new state in q1, v1 and returns the work done."""
    stages, n = plan.b.size, v.size
    copy(v, s.K[0])
    accelerate(k, s, plan, t, q, v, p, fresh, s.A[0])
    s.P[0] = s.power[0]
    for i in range(1, stages):
        for m in range(n):
            du, dv = 0.0, 0.0
            for j in range(i):
                du += plan.A[i, j] * s.K[j, m]
                dv += plan.A[i, j] * s.A[j, m]
            s.u[m] = h * du
            v1[m] = v[m] + h * dv
        now = t + plan.c[i] * h
        if plan.choices[4] == 1:
            s.t[0] = now
            call(k.stage, (s.t, q, s.u, v1, p, s.K[i], s.A[i], s.power, s.work))
        else:
            call(k.retract, (q, s.u, q1, s.work))
            accelerate(k, s, plan, now, q1, v1, p, stages < 0, s.A[i])
            call(k.differential, (s.u, v1, s.K[i], s.work))
        s.P[i] = s.power[0]
    for m in range(n):
        du, dv = 0.0, 0.0
        for j in range(stages):
            du += plan.b[j] * s.K[j, m]
            dv += plan.b[j] * s.A[j, m]
        s.u[m] = h * du
        v1[m] = v[m] + h * dv
    call(k.advance, (q, s.u, q1, s.work))
    gain = 0.0
    for j in range(stages):
        gain += plan.b[j] * s.P[j]
    return h * gain


@njit(**MERGED)
def farthest(turn, p):
    """How far the farthest of these angles has turned from its last value in p."""
    worst = 0.0
    for m in range(turn.size):
        worst = max(worst, abs(turn[m] - p[p.size - turn.size + m]))
    return worst


@njit(**MERGED)
def dips(pivot, before):
    """Whether the constraints are nearly dependent here and were not before: a singular position, better stepped over than
    landed on, since a projection there magnifies rounding."""
    return pivot < 1e-5 and pivot < 0.01 * before


@njit(**MERGED)
def left(pivot, plan):
    """Whether the conditioning has left the window in which what was chosen is kept."""
    return pivot < plan.numbers[7] or pivot > plan.numbers[8]


@njit(**INLINE)
def project_position(k, s, plan, state, q, other, p):
    """Least squares onto the position constraints by simplified Newton steps between two buffers.

    The factor at the first position serves all corrections: their error is of second order in the residual. Returns how
    often the buffers were swapped, −1 if it did not converge.
    """
    tolerance = plan.numbers[2]
    for swaps in range(20):
        call(k.positions, (s.t, q, p, s.F, other, s.g, s.work))
        residual = s.g[plan.choices[7]]
        if not np.isfinite(residual):
            return -1
        if swaps == 0:
            state.values[4] = max(state.values[4], residual)
        if residual <= tolerance:
            return swaps
        if swaps > 4:  # slow: a factor of the present position
            call(k.factor, (s.t, q, p, s.F, s.work))
            call(k.positions, (s.t, q, p, s.F, other, s.g, s.work))
        q, other = other, q
        if residual <= 1e7 * tolerance:  # the next residual is of the order of its square
            return swaps + 1
    return -1


@njit(**INLINE)
def project_velocity(k, s, plan, state, q, v, other, p):
    """Least squares onto the velocity constraints, with the factor of q. Returns how often the buffers were swapped."""
    for swaps in range(3):
        call(k.velocities, (s.t, q, v, p, s.F, other, s.psi, s.work))
        residual = s.psi[plan.choices[7]]
        if swaps == 0:
            state.values[5] = max(state.values[5], residual)
        if residual <= plan.numbers[3]:
            return swaps
        v, other = other, v
        if residual <= 1e7 * plan.numbers[3]:
            return swaps + 1
    return 3


@loop
def march(k, s, plan, state, times, end, out_q, out_v, out_p, out_w, budget):
    """Take at most `budget` steps, to `end`; write the state at every output time that is reached. Returns a status."""
    adaptive, projecting = plan.choices[0] == 1, plan.choices[1] == 1
    turns = plan.choices[3]
    fresh, status = times.size < 0, RUNNING  # not a literal: Numba would compile the stages once more for it
    q, q1, q2, v, v1, v2 = s.q0, s.q1, s.q2, s.v0, s.v1, s.v2
    copy(state.q, q)
    copy(state.v, v)
    for _ in range(budget):
        t = state.values[0]
        while state.counts[2] < times.size and t >= times[state.counts[2]]:
            i = state.counts[2]
            copy(q, out_q[i])
            copy(v, out_v[i])
            copy(state.p, out_p[i])
            out_w[i] = state.values[2]
            state.counts[2] += 1
        goal = times[state.counts[2]] if state.counts[2] < times.size else end
        if t >= goal:
            status = FINISHED
            break

        # step: equal parts of the way to the next output, or as long as the error allows
        way = goal - t
        h = plan.numbers[0] if not adaptive else state.values[1]
        if turns > 0:
            s.t[0] = t
            call(k.spin, (s.t, q, v, state.p, s.spin, s.work))
            h = min(h, state.values[7], TURNING / max(largest(s.spin, turns), TURNING / h))
        parts = np.ceil(way / h * (1 - 1e-9))
        last = parts <= 1.0
        h = way if last else way / parts if (not adaptive or parts <= 2.0) else h
        now = goal if last else t + h
        gain = sweep(k, s, plan, t, h, q, v, state.p, fresh, q1, v1)
        state.counts[3] += plan.b.size
        fresh = times.size < 0
        finite = np.isfinite(largest(v1, v1.size) + largest(s.u, v1.size) + gain)
        s.t[0] = now
        if turns > 0 and finite:
            call(k.turns, (s.t, q1, state.p, s.turn, s.work))
            if farthest(s.turn, state.p) > TURNED:
                state.values[7] = 0.5 * h
                state.counts[1] += 1
                continue
        if projecting and finite:
            call(k.factor, (s.t, q1, state.p, s.F, s.work))
        if adaptive and not (
            last and h <= plan.numbers[4]
        ):  # what is left to an output may be rounding: no error there
            error = error_of(k, s, plan, h, q1, v, state.p, projecting, state.values[2]) if finite else np.inf
            factor = 0.9 * max(error, 1e-10) ** (-1.0 / plan.order[0])
            proposal = h * min(5.0, max(0.2, factor)) if np.isfinite(error) else 0.1 * h
            if (
                error <= 1.0
                and projecting
                and not last
                and state.counts[5] < 6
                and dips(s.F[plan.choices[6]], state.values[6])
            ):
                state.values[1] = 0.8 * h
                state.counts[1] += 1
                state.counts[5] += 1
                continue
            if not error <= 1.0:
                if finite and state.counts[6] == 1:  # an error that does not shrink with the step may be rounding
                    resolution(k, s, plan, t, q, v, state.p, q1)
                state.values[1] = proposal
                state.counts[1] += 1
                state.counts[6] += 1
                if proposal < plan.numbers[4]:
                    status = STEP_TOO_SMALL if finite else NOT_FINITE
                    break
                continue
            # a step that was cut short to meet an output says little about how much longer it could have been
            cut = h < 0.99 * state.values[1] and factor >= 5.0
            state.values[1] = max(state.values[1], proposal) if cut else proposal
        elif not finite:
            status = NOT_FINITE
            break

        if projecting and plan.choices[5] == 1 and left(s.F[plan.choices[6]], plan):
            copy(q1, s.trial)  # before a projection with this choice does harm: the step is repeated with another
            status = ILL_CHOSEN
            break
        if projecting:
            swaps = project_position(k, s, plan, state, q1, q2, state.p)
            if swaps < 0:
                if not adaptive or 0.25 * h < plan.numbers[4]:
                    status = NOT_PROJECTED
                    break
                state.values[1] = 0.25 * h
                state.counts[1] += 1
                continue
            if swaps % 2 == 1:
                q1, q2 = q2, q1
            if swaps > 0:
                call(k.factor, (s.t, q1, state.p, s.F, s.work))
            if project_velocity(k, s, plan, state, q1, v1, v2, state.p) % 2 == 1:
                v1, v2 = v2, v1
            state.values[6], state.counts[5] = s.F[plan.choices[6]], 0
            state.values[3] = min(state.values[3], state.values[6])
            state.counts[4] += 1
            fresh = times.size >= 0
        q, q1, v, v1 = q1, q, v1, v
        state.values[0] = now
        state.values[2] += gain
        state.counts[0] += 1
        state.counts[6] = 0
        if turns > 0:
            for m in range(turns):
                state.p[state.p.size - turns + m] = s.turn[m]
            state.values[7] = np.inf
        if plan.choices[5] == 1 and not projecting:
            call(k.factor, (s.t, q, state.p, s.F, s.work))
            fresh = times.size >= 0
            if left(s.F[plan.choices[6]], plan):
                copy(q, s.trial)
                status = ILL_CHOSEN
                break
    copy(q, state.q)
    copy(v, state.v)
    return status


@loop
def evaluate(k, s, plan, times, out_q, out_v, out_p, rows, outputs, row):
    """All outputs at the recorded states that `rows` names."""
    for i in rows:
        accelerate(k, s, plan, times[i], out_q[i], out_v[i], out_p[i], times.size < 0, s.a)
        call(k.outputs, (s.t, out_q[i], out_v[i], out_p[i], s.a, s.lam, row, s.work))
        copy(row, outputs[i])
