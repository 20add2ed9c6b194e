"""Motions that belong to the same eigenvalue, or to none: any combination of them would do as well.

Those that are told are orthogonal in the masses, and easy to read. With a basis Q of unit mass, Qᴴ M Q = 1, the first is the motion
that moves any one coordinate farthest, that is with the row ρ of Q of the greatest length

    Q ρᴴ / |ρ|                                                                                          (1)

and so on with the rest, which does not move that coordinate. Two equal pendula then swing one after the other.
"""

import numpy as np

SAME = 1e-9  # difference of eigenvalues over their size below which they coincide
APART = 1e-8  # singular value over the largest one from which on motions are different


def readable(Q):
    """(1): other columns of unit mass that span the same."""
    Q, found = np.array(Q), []
    for _ in range(Q.shape[1]):
        lengths = np.linalg.norm(Q, axis=1)
        row = Q[int(np.argmax(lengths > (1 - 1e-6) * lengths.max()))]  # of equal ones the first
        first = row.conj()[:, None] / np.linalg.norm(row)
        found.append(Q @ first[:, 0])
        Q = Q @ np.linalg.qr(first, mode="complete")[0][:, 1:]
    return np.array(found).T.reshape(len(Q), len(found))


def parted(values, X, moves, masses):
    """Eigenvectors, those of eigenvalues that coincide replaced by combinations that are orthogonal and easy to read.

    moves   changes of all coordinates from a vector;  masses: M of these
    """
    X, done = np.array(X, complex), np.zeros(len(values), bool)
    for k, s in enumerate(values):
        group = np.flatnonzero(~done & (np.abs(values - s) <= SAME * abs(s)))
        done[group] = True
        if not done[k] or len(group) < 2:
            continue
        Y = moves @ X[:, group]
        Q = _of_unit_mass(Y, masses)
        if Q is not None:
            X[:, group] = X[:, group] @ np.linalg.lstsq(Y, readable(Q), rcond=None)[0]
    return X


def _of_unit_mass(Y, M):
    """A basis of the same motions of unit mass, a real one where there is one; None where they are not all different."""
    root = np.linalg.cholesky((M + M.T) / 2).T
    count = Y.shape[1]
    real, s, _ = np.linalg.svd(root @ np.hstack([Y.real, Y.imag]), full_matrices=False)
    found, t, _ = np.linalg.svd(root @ Y, full_matrices=False)
    if t.size < count or t[-1] <= APART * t[0]:
        return None
    if s[count:].max(initial=0.0) <= 1e-6 * s[0] and s[count - 1] > APART * s[0]:
        found = real[:, :count]
    return np.linalg.solve(root, found)
