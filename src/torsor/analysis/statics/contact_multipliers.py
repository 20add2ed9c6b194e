"""Forces of statically indeterminate contacts: a table on four legs, a box that stands on friction.

If the rows of closed contacts are linearly dependent, their multipliers are not unique. The multipliers of the rows in use may pull
or exceed friction although others would not. A body rests if any multipliers inside their cones balance all forces:

    minimise |A x − b|  subject to  x_n ≥ 0,  |x_t| ≤ μ x_n of every contact                             (1)

A cone is the convex hull of its edges, x_n (1, μ e). With a finite set of edges, (1) is a non-negative least-squares problem for
their weights, solved by the active-set method of [lawson1974], ch. 23. The residual r = b − A x determines the edges to add:

    e = A_tᵀ r / |A_tᵀ r|      for equal units                                                          (2)

If no edge reduces the residual, no multipliers inside the cones balance the forces.
"""

from typing import NamedTuple

import numpy as np

from .equilibrium_tolerances import EDGE_GAIN_MIN

EDGE_ROUNDS = 60  # rounds in which edges of cones are added


def nonnegative(A, b):
    """Non-negative least squares: x ≥ 0 that minimises |A x − b|."""
    n = A.shape[1]
    x, active = np.zeros(n), np.zeros(n, bool)
    gain_min = 1e-12 * max(np.abs(A.T @ b).max(initial=0.0), 1e-300)
    for _ in range(10 * n):
        gain = np.where(active, -np.inf, A.T @ (b - A @ x))
        if not n or gain.max() <= gain_min:
            break
        active[int(np.argmax(gain))] = True
        while True:
            trial = np.zeros(n)
            trial[active] = np.linalg.lstsq(A[:, active], b, rcond=1e-12)[0]
            nonpositive = active & (trial <= 0)
            if not nonpositive.any():
                break
            fraction = np.min(
                x[nonpositive]
                / np.where(x[nonpositive] - trial[nonpositive] > 0, x[nonpositive] - trial[nonpositive], np.inf)
            )
            x = x + fraction * (trial - x)
            active &= x > 1e-14 * max(x.max(), 1e-300)
        x = trial
    return x


class Cone(NamedTuple):
    """The friction cone of a contact.

    normal   index of the multiplier of the normal force
    along    indices of the multipliers of friction; empty without friction
    widths   μ in the units of each friction multiplier
    """

    normal: int
    along: list
    widths: np.ndarray


def multipliers_in_cones(A, b, cones):
    """x inside the cones that minimises |A x − b|: (1). Entries that belong to no cone are free."""
    inside = [k for cone in cones for k in (cone.normal, *cone.along)]
    free = [k for k in range(A.shape[1]) if k not in set(inside)]
    U, s, _ = np.linalg.svd(A[:, free])
    left_null_space = U[:, int((s > 1e-12 * s.max(initial=0.0)).sum()) :].T
    x = _combine_edges(left_null_space @ A, left_null_space @ b, cones)
    if free:
        x[free] = np.linalg.lstsq(A[:, free], b - A @ x, rcond=1e-12)[0]
    return x


def _combine_edges(A, b, cones):
    """The best non-negative combination of edges of the cones, in equations from which the free entries are eliminated."""
    edges = np.zeros((A.shape[1], 0))
    weights, residual = np.zeros(0), b
    for _ in range(EDGE_ROUNDS):
        candidates = np.array([edge for cone in cones for edge in _edges(A, residual, cone)]).T
        gain = residual @ A @ candidates if candidates.size else np.zeros(0)
        useful = gain > EDGE_GAIN_MIN * np.linalg.norm(residual)
        if not useful.any() or np.linalg.norm(residual) <= EDGE_GAIN_MIN * np.linalg.norm(b):
            break
        edges = np.hstack([edges[:, weights > 0], candidates[:, useful]])
        weights = nonnegative(A @ edges, b)
        residual = b - A @ edges @ weights
    return edges @ weights


def _edges(A, residual, cone):
    """Edges of a cone that reduce the residual: the normal force alone, and (2)."""
    load = np.zeros(A.shape[1])
    load[cone.normal] = 1.0
    edges, tangential = [load], cone.widths * (residual @ A[:, cone.along])
    if cone.along and np.linalg.norm(tangential) > 0:
        edge = load.copy()
        edge[cone.along] = cone.widths * tangential / np.linalg.norm(tangential)
        edges.append(edge)
    return edges
