"""Singular positions: rows that depend on each other to first order only, as in a row of bars that is taut or a net that is flat.

Rows depend on each other where there is a σ ≠ 0 with Gᵀσ = 0. Redundant rows do so at all positions nearby, so that every velocity
that the constraints permit, G v = 0, can be continued: G v̇ = γ(v) has a solution, and

    σᵀ γ₂(v) = 0,      γ₂(v) = (γ(v) + γ(−v))/2 − γ(0)                                                  (1)

At a singular position (1) does not hold: the constraints permit a velocity to first order and forbid its motion to second order.
"""

import numpy as np

from .diagnosis import DEPENDENT
from .examiner import shortened

SAMPLES = 4  # random velocities for which (1) is looked at
VIOLATED = 1e-7  # (1) over the largest γ₂
TAKES_PART = 1e-3  # share of a row in σ over the largest one


def singular_elements(examiner, t, q, p):
    """Names of the constraints that make a position singular, in the order of the model; none where it is regular."""
    A, units = examiner.matrix(t, q, p), examiner.units(t, q, p)
    if not len(A):
        return []
    units = units * np.maximum(np.linalg.norm(A, axis=1), 1.0)
    U, s, Vt = np.linalg.svd(shortened(A)[0], full_matrices=True)
    rank = int((s > DEPENDENT).sum())
    stresses, free = U[:, rank:], Vt[rank:].T
    if not (stresses.shape[1] and free.shape[1]):
        return []
    random, parts = np.random.default_rng(1), np.zeros(len(A))
    still = examiner.gamma(t, q, np.zeros(len(free)), p)
    for _ in range(SAMPLES):
        v = examiner.columns * (free @ random.standard_normal(free.shape[1]))
        curved = ((examiner.gamma(t, q, v, p) + examiner.gamma(t, q, -v, p)) / 2 - still) / units
        off = stresses.T @ curved  # (1)
        if np.abs(off).max() > VIOLATED * np.abs(curved).max():
            parts = np.maximum(parts, np.abs(stresses @ off) / np.abs(off).max())
    found = [row.constraint.name for row, part in zip(examiner.rows, parts) if part > TAKES_PART * parts.max()]
    return list(dict.fromkeys(found))
