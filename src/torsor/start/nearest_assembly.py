"""The assembled configuration nearest to coordinates that no assembly has together.

    min |ξ(q) − ξ₁|²    with  g(q) = 0,   ξ_h(q) = ξ_h                                                   (1)
    û = N z,    (NᵀJᵀJN + μ) z = −NᵀJᵀ r,    r = ξ(q) − ξ₁                                                (2)

Levenberg–Marquardt steps in the tangent space of the constraints, each followed by Newton's method back onto them. N spans the
directions that the constraints and the fixed coordinates ξ_h leave free; J is the derivative of ξ.
"""

import numpy as np

from .constraints import solve_with_null_space
from .start_tolerances import NULL_SPACE

MOST_STEPS = 60
GRADIENT_ZERO = 1e-14  # dimensionless gradient of |r|²/2 at a minimum
LEAST_DAMPING = 1e-9  # smallest μ, for directions in which no coordinate changes
LONGEST_SEARCH_STEP = 0.3  # rad, or lengths divided by the size of the model


def nearest(continuation, t, q, p, targets, fixed):
    """The configuration (1) that is found from q, and |r| there; None if the constraints cannot be satisfied near q.

    continuation     gives residuals and derivatives of the coordinates
    targets, fixed   coordinates by index: values to approach, and values to keep
    """
    examiner = continuation.examiner
    kept = [*fixed], np.array([*fixed.values()])
    aims = [*targets], np.array([*targets.values()])
    q, _ = continuation.correct(t, q, p, *kept)
    if q is None:
        return None
    r = continuation.residuals(t, q, p, *aims)
    damping = 1e-3
    for _ in range(MOST_STEPS):
        A = np.vstack([examiner.matrix(t, q, p), continuation.jacobian(t, q, p, *kept)])
        J = continuation.jacobian(t, q, p, *aims)
        N = solve_with_null_space(A, np.zeros(len(A)), NULL_SPACE)[1]
        gradient = N.T @ (J.T @ r)
        if np.abs(gradient).max(initial=0.0) <= GRADIENT_ZERO or damping > 1e8:
            break
        u = -N @ np.linalg.solve(N.T @ (J.T @ J) @ N + damping * np.eye(N.shape[1]), gradient)  # (2)
        step = examiner.columns * u
        step *= min(1.0, LONGEST_SEARCH_STEP / examiner.rate(step))
        trial, _ = continuation.correct(t, examiner.move(q, step), p, *kept)
        there = r if trial is None else continuation.residuals(t, trial, p, *aims)
        if there @ there < r @ r:
            q, r, damping = trial, there, max(damping / 10, LEAST_DAMPING)
        else:
            damping *= 10
    return q, float(np.linalg.norm(r))
