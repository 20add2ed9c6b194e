"""Back onto the constraints after a step: positions, then velocities."""

import numpy as np

from ..kernels import call
from ..kernels.compiled import inlined


@inlined
def correct_positions(run, k, x, y, p, most):
    """Least squares onto the position constraints by simplified Newton steps between two vectors.

    most   steps that are taken, 0: as many as it needs

    The factor at the first position serves all corrections: their error is of second order in the residual. Returns how
    often the vectors were swapped, −1 if it did not converge.
    """
    s, state, tolerance = run.scratch, run.state, run.plan.position_tolerance
    limit = run.plan.position_threshold
    for swaps in range(20):
        call.positions(k, s, x, p, s.F, y, s.g)
        residual = s.g[k.rows]
        if not np.isfinite(residual):
            return -1
        if swaps == 0:
            state.position_residual = max(state.position_residual, residual)
        if residual <= limit:
            return swaps
        limit = tolerance
        if swaps > 4:  # slow: a factor of the present position
            call.factor(k, s, x, p, s.F)
            call.positions(k, s, x, p, s.F, y, s.g)
        x, y = y, x
        if residual <= 1e7 * tolerance or swaps + 1 == most:  # the next residual is of the order of its square
            return swaps + 1
    return -1


@inlined
def correct_velocities(run, k, x, y, p):
    """Least squares onto the velocity constraints, with the factor of the position. Returns how often vectors were swapped."""
    s, state, tolerance = run.scratch, run.state, run.plan.velocity_tolerance
    limit = run.plan.velocity_threshold
    for swaps in range(3):
        call.velocities(k, s, x, p, s.F, y, s.psi)
        residual = s.psi[k.rows]
        if swaps == 0:
            state.velocity_residual = max(state.velocity_residual, residual)
        if residual <= limit:
            return swaps
        limit = tolerance
        x, y = y, x
        if residual <= 1e7 * tolerance or swaps + 1 == run.plan.corrections:
            return swaps + 1
    return 3


@inlined
def dips(run, pivot):
    """Whether the constraints are nearly dependent here and were not before: a singular position, better stepped over than
    landed on, since a projection there magnifies rounding."""
    return pivot < 1e-5 and pivot < 0.01 * run.state.pivot and run.state.dodged < 6


@inlined
def left_window(run, k):
    """Whether the conditioning has left the window in which what was chosen is kept."""
    pivot = run.scratch.F[k.last]
    return k.watched == 1 and (pivot < k.poor or pivot > k.rich)
