"""How well eigenvalues of a linear model are known.

Entries of A come out of solving equations, so that even those that should vanish have errors of rounding as large as the largest
entries of their kind, in units of the model. With right and left vectors X and Y = X⁻¹ an eigenvalue changes by

    δs = Y δA X,       |δA| ≤ ε max|Â|, block by block: accelerations by coordinates, by velocities, …          (1)

Two that coincide (a double zero of a neutral direction, critical damping) have nearly the same vectors, and (1) is no bound. They
are known to the square root of rounding:

    |δs| ≤ √(ε ω²),      ω² = max|K̂| + max|D̂|²                                                         (2)

Where an eigenvalue does not depend on these entries (the place of a wheel that rolls), it is as exact as eigenvalues are computed
at all, with changes of every entry of A by rounding, velocities in units of ω:

    |δA| ≥ ε ω                                                                                          (3)
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
    stiff, damped = (sizes[coordinates:, block].max(initial=0.0) for block in (blocks[0], slice(coordinates, None)))
    pace = np.sqrt(stiff + damped**2)
    moving = np.where((np.arange(len(A)) >= coordinates) & (np.arange(len(A)) < ends[2]), pace, 1.0)
    noise = pace * np.outer(moving, 1 / moving) if pace else np.zeros_like(sizes)  # (3)
    for rows in blocks[1:] if coordinates else blocks:  # coordinates follow velocities, exactly
        for columns in blocks:
            noise[rows, columns] = np.maximum(noise[rows, columns], sizes[rows, columns].max())
    noise *= units[:, None] / units
    most = np.sqrt(ROUNDED) * pace  # (2)
    try:
        found = ROUNDED * np.einsum("ij,jk,ki->i", np.abs(np.linalg.inv(X)), noise, np.abs(X))  # (1)
    except np.linalg.LinAlgError:
        found = np.full(len(A), np.inf)
    return np.fmin(found, most)
