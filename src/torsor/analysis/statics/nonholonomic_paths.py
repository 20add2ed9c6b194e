"""Finite displacements that satisfy velocity-level constraints along their whole path, as of a rolling disk.

    q(0) = q,      q' = q P(q) δ,      0 ≤ s ≤ 1                                                       (1)

P(q) δ is the displacement nearest to δ that all rows permit at q. In q(s) = q exp(u(s)) this is

    u' = w + ½ [u, w] + ¹⁄₁₂ [u, [u, w]] + …,      w = P δ                                            (2)

solved by the classical Runge-Kutta method of order 4, with steps for an error of 1e-10 [munthekaas1999].
"""

import numpy as np

from ...start.constraints import minimum_norm_solution

PATH_STEP = 0.03  # rad, or the size of the model: longest step


def follow_constraints(mechanism, point, displacement, rows):
    """The configuration at s = 1 of (1)."""
    examiner, q = mechanism.examiner(point), point.q
    if rows.position_rows == rows.keep:
        return examiner.move(q, displacement)
    count = int(np.ceil(examiner.rate(displacement) / PATH_STEP))
    for _ in range(count):

        def rate(u, q=q):
            return _rate(mechanism, point, displacement / count, rows.keep, q, u)

        a = rate(np.zeros_like(displacement))
        b = rate(a / 2)
        c = rate(b / 2)
        d = rate(c)
        q = examiner.move(q, (a + 2 * b + 2 * c + d) / 6)
    return q


def _rate(mechanism, point, displacement, keep, q, u):
    """u' of (2)."""
    examiner = mechanism.examiner(point)
    A = examiner.matrix(point.t, examiner.move(q, u), point.p, keep)
    w = displacement - examiner.columns * minimum_norm_solution(A, A @ (displacement / examiner.columns))
    ad = np.split(mechanism.equations.numeric_function("axes")(q, u), 3, axis=1)[2]
    return w + ad @ w / 2 + ad @ (ad @ w) / 12
