"""Forces of contacts that hold more than they need to: a table on four legs.

Where the rows of closed contacts depend on each other, their multipliers are not unique, and those of the rows in use may pull
although others would push. A body rests where there are any multipliers that push and balance all forces:

    minimise |A x − b|  subject to  x ≥ 0                                                                (1)

by the active sets of [lawson1974], ch. 23.
"""

import numpy as np


def nonnegative(A, b):
    """The x ≥ 0 that fits A x = b best: (1)."""
    n = A.shape[1]
    x, active = np.zeros(n), np.zeros(n, bool)
    small = 1e-12 * max(np.abs(A.T @ b).max(initial=0.0), 1e-300)
    for _ in range(10 * n):
        gain = np.where(active, -np.inf, A.T @ (b - A @ x))
        if not n or gain.max() <= small:
            break
        active[int(np.argmax(gain))] = True
        while True:
            trial = np.zeros(n)
            trial[active] = np.linalg.lstsq(A[:, active], b, rcond=1e-12)[0]
            low = active & (trial <= 0)
            if not low.any():
                break
            part = np.min(x[low] / np.where(x[low] - trial[low] > 0, x[low] - trial[low], np.inf))
            x = x + part * (trial - x)
            active &= x > 1e-14 * max(x.max(), 1e-300)
        x = trial
    return x


def pushed(A, b, one_sided):
    """The least x with A x = b whose entries at some places are not negative, or nearly so; entries elsewhere are free."""
    free = [k for k in range(A.shape[1]) if k not in set(one_sided)]
    U, s, _ = np.linalg.svd(A[:, free])
    beyond = U[:, int((s > 1e-12 * s.max(initial=0.0)).sum()) :].T
    x = np.zeros(A.shape[1])
    x[one_sided] = nonnegative(beyond @ A[:, one_sided], beyond @ b)
    if free:
        x[free] = np.linalg.lstsq(A[:, free], b - A[:, one_sided] @ x[one_sided], rcond=1e-12)[0]
    return x
