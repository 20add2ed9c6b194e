"""Which coordinates should depend on the others: a measure, and a choice (Müller and Terze, sec. 5.3.2 [mueller2009]).

The measure of a coordinate is the squared length of its direction projected onto the constraint subspace, relative to the
direction itself, in the mass metric:

    Δᵢ = eᵢᵀ Gᵀ S⁻¹ G eᵢ / Mᵢᵢ,     S = G M⁻¹ Gᵀ                    (eq. 67)                              (1)

1: the coordinate moves straight off the constraints, a good dependent one; 0: along them. Coordinates are taken greedily,
each time the one whose direction is longest after what the chosen ones already span has been taken away.
"""

import numpy as np

NEARLY = 0.01


def measure(G, Minv):
    """Δ of every coordinate: (1)."""
    A = _spanned(G, Minv)
    return np.einsum("ij,ij->j", A, A)


def _spanned(G, Minv):
    """Columns whose squared lengths are the measure: of an orthonormal basis of the constraint subspace, which is there where
    rows of G depend on each other, too."""
    root = np.linalg.cholesky(Minv)
    rows = G @ root
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    basis = np.linalg.qr((rows / np.where(lengths > 0, lengths, 1.0)).T)[0]
    inverse = np.linalg.inv(root)
    return basis.T @ inverse / np.linalg.norm(inverse, axis=0)  # M = R⁻ᵀ R⁻¹ has the diagonal of squared columns of R⁻¹


def best(G, Minv, before=()):
    """Dependent coordinates, as many as there are rows, by the measure; those before, where others are not much better."""
    A = _spanned(G, Minv)
    found = _greedy(A.copy())
    if len(before) != len(found):
        return found
    stand = lambda places: np.linalg.svd(A[:, places], compute_uv=False).min(initial=1.0)
    return found if stand(found) > 3 * stand(list(before)) else sorted(before)


def _greedy(A):
    """Columns, each time the one that is longest after what the chosen ones span has been taken away."""
    chosen: list = []
    for _ in range(len(A)):
        lengths = np.einsum("ij,ij->j", A, A)
        lengths[chosen] = -1.0
        k = first_of_the_largest(lengths)
        chosen.append(k)
        direction = A[:, k] / np.linalg.norm(A[:, k])
        A = A - np.outer(direction, direction @ A)
    return sorted(chosen)


def first_of_the_largest(sizes):
    """The first among those that are nearly the largest: what is equal by symmetry is not told apart by rounding, and a small
    change of a parameter mostly leaves a choice as it was."""
    return int(np.argmax(sizes >= (1 - NEARLY) * np.max(sizes)))
