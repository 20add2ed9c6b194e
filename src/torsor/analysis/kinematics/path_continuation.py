"""Path continuation: configurations that satisfy the constraints along a path, by Newton's method from one point to the next.

The predictor extrapolates the path so far, so that the method passes a branching point straight ahead. At the beginning of a path
Newton's first step is the tangent predictor. The following steps must shrink fast or, at a singular position, the residuals must
shrink steadily; otherwise the step along the path is halved. Where it becomes too short the mechanism cannot move on: it is at a
dead point or at a stop.
"""

import numpy as np

from ...start.levenberg_marquardt import RESIDUAL_ROUNDING, RESIDUAL_ZERO, constrained_step
from .path_tolerances import (
    FIRST_STEP_LIMIT,
    RESIDUAL_SHRINK,
    RESIDUAL_STALLED,
    SAME_ASSEMBLY,
    SINGULAR_CROSSING_STEP,
    STEP_FRACTION_MIN,
    STEP_SHRINK,
    STOP_GAP_CLOSED,
)

KNOT_SPACING = 16  # points of the path between two knots, which are solved one after the other
NEWTON_STEPS = 30  # at a singular position each step halves the residual


class PathFollower:
    """Follows the path of a driven model.

    inputs        x → (t, p): times and inputs at path parameters x, one row each, without the counted angles
    square_rows   indices of the rows of a square system, or None
    """

    def __init__(self, driven, inputs):
        self.problem, self.inputs, self._counted = driven.problem, inputs, driven.turns
        self._turns = self.problem.dynamics.kernels["turns"]
        self.square_rows = square_rows(self.problem)

    def inputs_at(self, x, turns):
        """Times and inputs at path parameters x, one row each."""
        t, p = self.inputs(np.atleast_1d(x))
        p[:, self._counted] = turns
        return t[:, None], p

    def rows(self, x, t, q, p):
        """Rows that must vanish at x, and their derivative."""
        return self.problem.constraint_rows(t, q, p)

    def correct_configurations(self, x, q, turns, prediction=None):
        """Solve for the configurations at x near q, one row each.

        prediction   û of the predictor; None: Newton's first step is the predictor

        Returns the configurations, their counted angles, and True where Newton's method converged.
        """
        problem, (t, p) = self.problem, self.inputs_at(x, turns)
        before, last_residual = (
            np.full(len(q), np.inf),
            np.full(len(q), np.inf),
        )  # length of the last step, residual before it
        if prediction is not None:
            q, before = problem.move(q, prediction), np.abs(prediction).max(axis=1, initial=0.0)
        q, alive, converged = q.copy(), np.arange(len(q)), np.zeros(len(q), bool)
        for k in range(NEWTON_STEPS):
            points = t[alive], q[alive], p[alive]
            (g, G), (d, B) = self.rows(x[alive], *points), problem.gaps(*points)
            off = np.abs(g).max(axis=1, initial=0.0)
            no_targets = np.zeros((len(alive), 0)), np.zeros((len(alive), 0, problem.n))
            u = constrained_step(*no_targets, g, G, d, B, np.zeros(len(alive)))[0]
            size = np.abs(u).max(axis=1, initial=0.0)
            slow = size > STEP_SHRINK * before[alive]
            failing = ~(size <= FIRST_STEP_LIMIT) | slow & ~((k > 0) & (off < RESIDUAL_SHRINK * last_residual[alive]))
            inside = d.min(axis=1, initial=0.0) >= -RESIDUAL_ZERO
            converged[alive] = inside & ((off <= RESIDUAL_ROUNDING) | failing & (off <= RESIDUAL_STALLED))
            continues = (off > RESIDUAL_ROUNDING) & ~failing
            q[alive[continues]], before[alive], last_residual[alive] = (
                problem.move(q[alive[continues]], u[continues]),
                size,
                off,
            )
            alive = alive[continues]
            if not len(alive):
                break
        return q, self._turns.over(t, q, p)[0], converged

    def solve_at(self, x, q, turns, prediction=None):
        """The configuration at x near q and its counted angles; None if Newton's method fails with and without the prediction."""
        for guess in (None,) if prediction is None else (prediction[None, :], None):
            there, angles, converged = self.correct_configurations(np.array([x]), q[None, :], turns, guess)
            if converged[0]:
                return there[0], angles[0]
        return None

    def follow(self, q, turns, x):
        """Configurations and counted angles at all points x that are reached, and the last point that is reached.

        The knots are solved one after the other, the points between them in all intervals at once.
        """
        states, counted = np.repeat(q[None, :], len(x), axis=0), np.repeat(turns[None, :], len(x), axis=0)
        knots, last, along = [*range(0, len(x) - 1, KNOT_SPACING), len(x) - 1], (x[0], q, turns), None
        for before, k in zip(knots, knots[1:]):
            last = self.advance(*last[1:], x[before], x[k], along)
            if last[0] != x[k]:
                break
            states[k], counted[k] = last[1:]
            along = self.problem.local(states[before : before + 1], states[k : k + 1])[0] / (x[k] - x[before])
        else:
            before = len(x) - 1
        self._fill_between(states, counted, x, knots, before)
        before = self._last_agreeing_knot(states, counted, x, knots, before)
        # the interval in which the path ends, or in which a long step led to another assembly, point by point
        for j in range(before + 1, len(x)):
            last = self.advance(states[j - 1], counted[j - 1], x[j - 1], x[j])
            if last[0] != x[j]:
                return states[:j], counted[:j], last
            states[j], counted[j] = last[1:]
        return states, counted, last

    def _fill_between(self, states, counted, x, knots, end):
        """Solve the points between the knots, up to the knot `end`."""
        for k in range(1, KNOT_SPACING):
            inner = np.array([j + k for j in knots if j + k < min(j + KNOT_SPACING, end)], int)
            if not len(inner):
                break
            first = np.array([min(j + KNOT_SPACING, end) for j in inner - k], int) if k == 1 else inner - 1
            base = inner - k if k == 1 else inner - 2
            prediction = self.problem.local(states[base], states[first]) / (x[first] - x[base])[:, None]
            prediction *= (x[inner] - x[inner - 1])[:, None]
            states[inner], counted[inner], fine = self.correct_configurations(
                x[inner], states[inner - 1], counted[inner - 1], prediction
            )
            for j in inner[~fine]:
                _, states[j], counted[j] = self.advance(states[j - 1], counted[j - 1], x[j - 1], x[j])

    def _last_agreeing_knot(self, states, counted, x, knots, end):
        """The last knot that the points before it lead to. A knot differs if a long step has led to another assembly."""
        for before, k in zip(knots, knots[1:]):
            if k <= end and k - before > 1:
                prediction = self.problem.local(states[k - 2 : k - 1], states[k - 1 : k])[0] / (x[k - 1] - x[k - 2])
                reached, q, _ = self.advance(states[k - 1], counted[k - 1], x[k - 1], x[k], prediction)
                if reached != x[k] or np.abs(self.problem.local(q[None, :], states[k : k + 1])).max() > SAME_ASSEMBLY:
                    return before
        return end

    def advance(self, q, turns, begin, end, along=None):
        """Advance from one path parameter to another: the last one reached, the configuration and counted angles there.

        along   tangent at the beginning: û per unit of the path parameter
        """
        x, step = begin, end - begin
        sign = self.determinant_sign(begin, q, turns)
        while x != end and step:
            goal = end if abs(end - x) <= abs(step) * (1 + 1e-12) else x + step
            solution = self.solve_at(goal, q, turns, None if along is None else along * (goal - x))
            displacement = np.zeros(1) if solution is None else self.problem.local(q[None, :], solution[0][None, :])[0]
            new_sign = 0.0 if solution is None else self.determinant_sign(goal, *solution)
            if solution is not None and (sign * new_sign >= 0 or np.abs(displacement).max() <= SINGULAR_CROSSING_STEP):
                along = displacement / (goal - x)
                sign = new_sign or sign
                q, turns = solution
                x, step = goal, 2 * step
            else:
                step /= 2
                if abs(step) < STEP_FRACTION_MIN * max(abs(end - begin), 1e-300):
                    break
        return x, q, turns

    def determinant_sign(self, x, q, turns):
        """The sign of the determinant of the constraint Jacobian; 0 if it is not square.

        It changes at singular positions only, and neighbouring assemblies have opposite signs. A step that changes it has led to
        another assembly or has passed a singular position; a short step can only have done the latter.
        """
        if self.square_rows is None:
            return 0.0
        t, p = self.inputs_at(x, turns)
        _, G = self.rows(np.atleast_1d(x), t, q[None, :], p)
        return float(np.linalg.slogdet(G[0][self.square_rows])[0])

    def stops_reached(self, x, q, turns):
        """Names of the stops that are reached."""
        t, p = self.inputs_at(x, turns)
        d, _ = self.problem.gaps(t, q[None, :], p)
        return [name for (_, _, name), gap in zip(self.problem.stops, d[0]) if gap < STOP_GAP_CLOSED]


def square_rows(problem, more=0):
    """Indices of the constraint rows in use and of `more` rows behind them; None unless they are as many as velocities."""
    keep = set(problem.dynamics.system.keep)
    places = [k for k, row in enumerate(problem.rows) if row in keep]
    places += range(len(problem.rows), len(problem.rows) + more)
    return places if len(places) == problem.n else None


def conditioning(problem, t, q, p, freedom=0):
    """The least singular value of the constraint Jacobian, with its right and left singular vectors (velocities and rows).

    freedom   degrees of freedom that the mechanism has everywhere; as many singular values are not counted
    """
    _, G = problem.constraint_rows(t, q, p)
    least = problem.n - freedom - 1
    if least < 0:
        return np.ones(len(q)), np.zeros((len(q), problem.n)), np.zeros((len(q), G.shape[1]))
    U, s, Vt = np.linalg.svd(G, full_matrices=False)
    if s.shape[1] <= least:
        return np.zeros(len(q)), Vt[:, -1], U[:, :, -1]
    return s[:, least], Vt[:, least], U[:, :, least]
