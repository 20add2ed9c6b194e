"""Readable bases of motions with equal eigenvalues, and of neutral motions.

Any basis of such motions is valid. The one chosen here is orthogonal in the metric of the masses, and each motion moves few
coordinates. With a basis Q of unit mass, Qᴴ M Q = 1, the first motion is the one that moves a single coordinate most. ρ is the
row of Q with the largest norm:

    Q ρᴴ / |ρ|                                                                                          (1)

The remaining motions do not move that coordinate; they are treated in the same way. The modes of two equal uncoupled pendula are
then the motions of one pendulum each.
"""

import numpy as np

EIGENVALUES_EQUAL = 1e-9  # difference of eigenvalues / their absolute value
MOTIONS_INDEPENDENT = 1e-8  # smallest / largest singular value of linearly independent motions


def readable_basis(Q):
    """The basis (1) of the space that the columns of Q span; Q and the result have unit mass."""
    Q, basis = np.array(Q), []
    for _ in range(Q.shape[1]):
        lengths = np.linalg.norm(Q, axis=1)
        row = Q[int(np.argmax(lengths > (1 - 1e-6) * lengths.max()))]  # the first of nearly equal ones
        first = row.conj()[:, None] / np.linalg.norm(row)
        basis.append(Q @ first[:, 0])
        Q = Q @ np.linalg.qr(first, mode="complete")[0][:, 1:]
    return np.array(basis).T.reshape(len(Q), len(basis))


def separate_equal_modes(values, X, moves, masses):
    """Eigenvectors X; those of coincident eigenvalues are replaced by readable orthogonal combinations.

    moves    matrix from an eigenvector to changes of all coordinates
    masses   mass matrix of all coordinates
    """
    X, assigned = np.array(X, complex), np.zeros(len(values), bool)
    for k, s in enumerate(values):
        group = np.flatnonzero(~assigned & (np.abs(values - s) <= EIGENVALUES_EQUAL * abs(s)))
        assigned[group] = True
        if not assigned[k] or len(group) < 2:
            continue
        Y = moves @ X[:, group]
        Q = _unit_mass_basis(Y, masses)
        if Q is not None:
            X[:, group] = X[:, group] @ np.linalg.lstsq(Y, readable_basis(Q), rcond=None)[0]
    return X


def _unit_mass_basis(Y, M):
    """A basis of unit mass of the motions Y, real if possible; None if the motions are linearly dependent."""
    root = np.linalg.cholesky((M + M.T) / 2).T
    count = Y.shape[1]
    real, s, _ = np.linalg.svd(root @ np.hstack([Y.real, Y.imag]), full_matrices=False)
    basis, singular_values, _ = np.linalg.svd(root @ Y, full_matrices=False)
    if singular_values.size < count or singular_values[-1] <= MOTIONS_INDEPENDENT * singular_values[0]:
        return None
    if s[count:].max(initial=0.0) <= 1e-6 * s[0] and s[count - 1] > MOTIONS_INDEPENDENT * s[0]:
        basis = real[:, :count]
    return np.linalg.solve(root, basis)
