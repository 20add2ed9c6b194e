"""Forces of contacts that hold more than they need to: a table on four legs, a box that stands on friction.

Where the rows of closed contacts depend on each other, their multipliers are not unique, and those of the rows in use may pull, or
ask too much of friction, although others would do. A body rests where any multipliers in their cones balance all forces:

    minimise |A x − b|  subject to  x_n ≥ 0,  |x_t| ≤ μ x_n of every contact                             (1)

A cone is the hull of its edges, x_n (1, μ e). With some edges, (1) is a problem with weights ≥ 0, solved by the active sets of
[lawson1974], ch. 23. What it leaves, r = b − A x, tells which edges are missing: those along which A x goes on towards r,

    e = A_tᵀ r / |A_tᵀ r|      where all have the same unit                                             (2)

Where no edge does, there are no such multipliers.
"""

from typing import NamedTuple

import numpy as np

ROUNDS = 60  # in which edges are added
SMALL = 1e-13  # beside what is to be balanced


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


class Cone(NamedTuple):
    """Places of a contact's multipliers among all, and how much friction holds of a unit of its load.

    normal   of the load, which pushes
    along    of friction; none without it
    widths   μ in the units of each of these
    """

    normal: int
    along: list
    widths: np.ndarray


def pushed(A, b, cones):
    """An x with A x = b inside the cones, or nearly so: (1). Entries that belong to no cone are free."""
    inside = [k for cone in cones for k in (cone.normal, *cone.along)]
    free = [k for k in range(A.shape[1]) if k not in set(inside)]
    U, s, _ = np.linalg.svd(A[:, free])
    beyond = U[:, int((s > 1e-12 * s.max(initial=0.0)).sum()) :].T
    x = _weighed(beyond @ A, beyond @ b, cones)
    if free:
        x[free] = np.linalg.lstsq(A[:, free], b - A @ x, rcond=1e-12)[0]
    return x


def _weighed(A, b, cones):
    """The best sum of edges of cones, where all that is free is left out of the equations."""
    edges = np.zeros((A.shape[1], 0))
    weights, left = np.zeros(0), b
    for _ in range(ROUNDS):
        more = np.array([edge for cone in cones for edge in _edges(A, left, cone)]).T
        gain = left @ A @ more if more.size else np.zeros(0)
        worth = gain > SMALL * np.linalg.norm(left)
        if not worth.any() or np.linalg.norm(left) <= SMALL * np.linalg.norm(b):
            break
        edges = np.hstack([edges[:, weights > 0], more[:, worth]])
        weights = nonnegative(A @ edges, b)
        left = b - A @ edges @ weights
    return edges @ weights


def _edges(A, left, cone):
    """Edges of a cone that lead towards what is left: (2), and the load alone."""
    load = np.zeros(A.shape[1])
    load[cone.normal] = 1.0
    found, way = [load], cone.widths * (left @ A[:, cone.along])
    if cone.along and np.linalg.norm(way) > 0:
        edge = load.copy()
        edge[cone.along] = cone.widths * way / np.linalg.norm(way)
        found.append(edge)
    return found
