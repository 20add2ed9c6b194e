"""The choice of dependent coordinates, by a measure (Müller and Terze, sec. 5.3.2 [mueller2009]).

The measure of a coordinate is the squared length of its direction projected onto the constraint subspace, relative to the
direction itself, in the mass metric:

    Δᵢ = eᵢᵀ Gᵀ S⁻¹ G eᵢ / Mᵢᵢ,     S = G M⁻¹ Gᵀ                    (eq. 67)                              (1)

Δ = 1: the coordinate moves perpendicular to the constraint manifold, and is a good dependent one; Δ = 0: it moves tangentially.
The choice is greedy: each step takes the coordinate whose direction is longest after the span of the chosen ones is removed.
"""

import numpy as np

NEAR_MAXIMUM = 0.01  # relative difference from the maximum, below which values are equal in a choice
BETTER_CHOICE = 3  # ratio of smallest singular values, above which a new choice replaces the previous one


def dependence_measure(G, Minv):
    """Δ of every coordinate: (1)."""
    A = _projected_directions(G, Minv)
    return np.einsum("ij,ij->j", A, A)


def _projected_directions(G, Minv):
    """Directions of the coordinates in an orthonormal basis of the constraint subspace, as columns.

    Their squared lengths are the measure. The basis exists also if rows of G depend on each other.
    """
    root = np.linalg.cholesky(Minv)
    rows = G @ root
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    basis = np.linalg.qr((rows / np.where(lengths > 0, lengths, 1.0)).T)[0]
    inverse = np.linalg.inv(root)
    return basis.T @ inverse / np.linalg.norm(inverse, axis=0)  # M = R⁻ᵀ R⁻¹ has the diagonal of squared columns of R⁻¹


def choose_dependent(G, Minv, before=()):
    """The best dependent coordinates, as many as there are rows.

    before   the previous choice, which is kept unless the new one is clearly better
    """
    A = _projected_directions(G, Minv)
    chosen = _choose_greedily(A.copy())
    if len(before) != len(chosen):
        return chosen

    def smallest_singular_value(columns):
        return np.linalg.svd(A[:, columns], compute_uv=False).min(initial=1.0)

    better = smallest_singular_value(chosen) > BETTER_CHOICE * smallest_singular_value(list(before))
    return chosen if better else sorted(before)


def _choose_greedily(A):
    """Indices of columns; each step takes the longest one after the span of the chosen ones is removed."""
    chosen: list = []
    for _ in range(len(A)):
        lengths = np.einsum("ij,ij->j", A, A)
        lengths[chosen] = -1.0
        k = first_near_maximum(lengths)
        chosen.append(k)
        direction = A[:, k] / np.linalg.norm(A[:, k])
        A = A - np.outer(direction, direction @ A)
    return sorted(chosen)


def first_near_maximum(sizes):
    """The index of the first value that is close to the maximum.

    With this tolerance, rounding does not decide between values that are equal by symmetry, and a small change of a parameter
    rarely changes a choice.
    """
    return int(np.argmax(sizes >= (1 - NEAR_MAXIMUM) * np.max(sizes)))
