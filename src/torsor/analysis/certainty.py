"""How well eigenvalues of a linear model are known.

Entries of A come out of solving equations, so that even those that should vanish have errors of rounding as large as the largest
entries of their kind, in units of the model. With right and left vectors X and Y = X⁻¹ an eigenvalue changes by

    δs = Y δA X,       |δA| ≤ ε max|Â|, block by block: accelerations by coordinates, by velocities, …          (1)

Two that coincide (a double zero of a neutral direction, critical damping) have nearly the same vectors, and (1) is no bound. They
are known to the square root of rounding:

    |δs| ≤ √(ε (max|K̂| + max|D̂|²))                                                                     (2)
"""

import numpy as np

ROUNDED = 50 * np.finfo(float).eps  # ε


def errors(A, X, units, coordinates, velocities):
    """Bounds of what eigenvalues with vectors X may be off by.

    units         of the states;  coordinates, velocities: how many of the first states are such
    """
    sizes = np.abs(A) * units / units[:, None]
    ends = (0, coordinates, coordinates + velocities, len(A))
    blocks = [slice(a, b) for a, b in zip(ends, ends[1:]) if b > a]
    noise = np.zeros_like(sizes)
    for rows in blocks[1:] if coordinates else blocks:  # coordinates follow velocities, exactly
        for columns in blocks:
            noise[rows, columns] = sizes[rows, columns].max()
    noise *= units[:, None] / units
    stiff, damped = (sizes[coordinates:, block].max(initial=0.0) for block in (blocks[0], slice(coordinates, None)))
    most = np.sqrt(ROUNDED * (stiff + damped**2))  # (2)
    try:
        found = ROUNDED * np.einsum("ij,jk,ki->i", np.abs(np.linalg.inv(X)), noise, np.abs(X))  # (1)
    except np.linalg.LinAlgError:
        found = np.full(len(A), np.inf)
    return np.fmin(found, most)
