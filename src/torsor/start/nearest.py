"""Configurations on the constraints that come nearest to coordinates that no assembly has together.

    min |ξ(q) − ξ₁|²    with  g(q) = 0,   ξ_h(q) = ξ_h                                                   (1)
    û = N z,    (NᵀJᵀJN + μ) z = −NᵀJᵀ r,    r = ξ(q) − ξ₁                                                (2)

Steps of Levenberg and Marquardt on the constraints, each followed by Newton's method back onto them. N spans what constraints and
held coordinates, ξ_h, leave free; J is the slope of ξ.
"""

import numpy as np

from .examiner import solved

STEPS = 60
DEPENDENT = 1e-9  # of rows of length 1
FLAT = 1e-14  # slope of r, without units, at which it is least
LIGHTEST = 1e-9  # damping of what no coordinate sees
LONGEST = 0.3  # rad, or the size of the model: longest step


def nearest(holding, t, q, p, asked, held):
    """The configuration (1) to which steps from q lead, and |r| there; None where the constraints cannot be satisfied near q.

    asked, held   coordinates by place: to come near to, and to have
    """
    examiner, fixed = holding.examiner, ([*held], np.array([*held.values()]))
    wish = [*asked], np.array([*asked.values()])
    q, _ = holding.corrected(t, q, p, *fixed)
    if q is None:
        return None
    r, damping = holding.away(t, q, p, *wish), 1e-3
    for _ in range(STEPS):
        A, J = np.vstack([examiner.matrix(t, q, p), holding.rows(t, q, p, *fixed)]), holding.rows(t, q, p, *wish)
        N = solved(A, np.zeros(len(A)), DEPENDENT)[1]
        slope = N.T @ (J.T @ r)
        if np.abs(slope).max(initial=0.0) <= FLAT or damping > 1e8:
            break
        u = -N @ np.linalg.solve(N.T @ (J.T @ J) @ N + damping * np.eye(N.shape[1]), slope)  # (2)
        step = examiner.columns * u
        step *= min(1.0, LONGEST / examiner.rate(step))
        trial, _ = holding.corrected(t, examiner.move(q, step), p, *fixed)
        there = r if trial is None else holding.away(t, trial, p, *wish)
        if there @ there < r @ r:
            q, r, damping = trial, there, max(damping / 10, LIGHTEST)
        else:
            damping *= 10
    return q, float(np.linalg.norm(r))
