"""Singular positions: rows that are dependent to first order only, as in a taut row of bars or a flat net.

Rows are dependent if there is a σ ≠ 0 with Gᵀσ = 0. Redundant rows are dependent at all positions nearby, so that every velocity
that the constraints permit, G v = 0, can be continued: G v̇ = γ(v) has a solution, and

    σᵀ γ₂(v) = 0,      γ₂(v) = (γ(v) + γ(−v))/2 − γ(0)                                                  (1)

At a singular position (1) does not hold: the constraints permit a velocity to first order and forbid its motion to second order.
"""

import numpy as np

from .constraints import limit_row_lengths
from .diagnosis import DEPENDENT_SINE
from .start_tolerances import SECOND_ORDER_ZERO, STRESS_ZERO

VELOCITY_SAMPLES = 4  # number of random velocities for which (1) is evaluated


def singular_elements(examiner, t, q, p):
    """Names of the constraints that make a position singular, in the order of the model; an empty list if it is regular."""
    A = examiner.matrix(t, q, p)
    units = examiner.units(t, q, p)
    if not len(A):
        return []
    units = units * np.maximum(np.linalg.norm(A, axis=1), 1.0)
    U, s, Vt = np.linalg.svd(limit_row_lengths(A)[0], full_matrices=True)
    rank = int((s > DEPENDENT_SINE).sum())
    stresses, free = U[:, rank:], Vt[rank:].T
    if not (stresses.shape[1] and free.shape[1]):
        return []
    random = np.random.default_rng(1)
    shares = np.zeros(len(A))
    gamma_at_rest = examiner.gamma(t, q, np.zeros(len(free)), p)
    for _ in range(VELOCITY_SAMPLES):
        v = examiner.columns * (free @ random.standard_normal(free.shape[1]))
        gamma2 = ((examiner.gamma(t, q, v, p) + examiner.gamma(t, q, -v, p)) / 2 - gamma_at_rest) / units
        violation = stresses.T @ gamma2  # (1)
        if np.abs(violation).max() > SECOND_ORDER_ZERO * np.abs(gamma2).max():
            shares = np.maximum(shares, np.abs(stresses @ violation) / np.abs(violation).max())
    names = [row.constraint.name for row, share in zip(examiner.rows, shares) if share > STRESS_ZERO * shares.max()]
    return list(dict.fromkeys(names))
