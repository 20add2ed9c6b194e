"""Displacements along which velocity-level constraints hold all the way, not only where they begin: as a disk rolls.

    q(0) = q,      q' = q P(q) δ,      0 ≤ s ≤ 1                                                       (1)

P(q) δ is the displacement nearest to δ that all rows permit at q. In q(s) = q exp(u(s)) this is

    u' = w + ½ [u, w] + ¹⁄₁₂ [u, [u, w]] + …,      w = P δ                                            (2)

solved by steps of the classical method of order 4, short enough for an error of 1e-10 [munthekaas1999].
"""

import numpy as np

from ..start.examiner import least

STEP = 0.03  # over the size of the model, or in rad


def rolled(mechanism, place, displacement, rows):
    """The configuration at s = 1 of (1)."""
    examiner, q = mechanism.examiner(place), place.q
    if rows.held == rows.keep:
        return examiner.move(q, displacement)
    count = int(np.ceil(examiner.rate(displacement) / STEP))
    for _ in range(count):
        rate = lambda u, q=q: _rate(mechanism, place, displacement / count, rows.keep, q, u)
        a = rate(np.zeros_like(displacement))
        b = rate(a / 2)
        c = rate(b / 2)
        d = rate(c)
        q = examiner.move(q, (a + 2 * b + 2 * c + d) / 6)
    return q


def _rate(mechanism, place, displacement, keep, q, u):
    """u' of (2)."""
    examiner = mechanism.examiner(place)
    A = examiner.matrix(place.t, examiner.move(q, u), place.p, keep)
    w = displacement - examiner.columns * least(A, A @ (displacement / examiner.columns))
    ad = np.split(mechanism.equations.evaluated("axes")(q, u), 3, axis=1)[2]
    return w + ad @ w / 2 + ad @ (ad @ w) / 12
