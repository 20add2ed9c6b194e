"""Error bounds of the eigenvalues of a linear model.

The entries of A result from the solution of equations. Even entries that should vanish have rounding errors proportional to the
largest scaled entries of their block. With right and left eigenvectors X and Y = X⁻¹ an eigenvalue changes by

    δs = Y δA X,       |δA| ≤ ε max|Â|, block by block: accelerations by coordinates, by velocities, …          (1)

Coincident eigenvalues (a double zero of a neutral direction, critical damping) have nearly parallel eigenvectors, and (1) is no
bound. Their error is proportional to the square root of the rounding error:

    |δs| ≤ √(ε ω²),      ω² = max|K̂| + max|D̂|²                                                         (2)

An eigenvalue that does not depend on these entries (the position of a rolling wheel) still has the rounding error of the eigenvalue
computation, which changes every entry of A; velocities are in units of ω:

    |δA| ≥ ε ω                                                                                          (3)
"""

import numpy as np

ENTRY_ROUNDING = 50 * np.finfo(float).eps  # ε


def eigenvalue_errors(A, X, units, coordinates, velocities):
    """Error bounds of the eigenvalues with eigenvectors X.

    units         units of the states
    coordinates   number of coordinates, the first states
    velocities    number of velocities, the following states
    """
    sizes = np.abs(A) * units / units[:, None]
    ends = (0, coordinates, coordinates + velocities, len(A))
    blocks = [slice(a, b) for a, b in zip(ends, ends[1:]) if b > a]
    stiffness_size, damping_size = (
        sizes[coordinates:, block].max(initial=0.0) for block in (blocks[0], slice(coordinates, None))
    )
    rate_scale = np.sqrt(stiffness_size + damping_size**2)
    velocity_units = np.where((np.arange(len(A)) >= coordinates) & (np.arange(len(A)) < ends[2]), rate_scale, 1.0)
    noise = rate_scale * np.outer(velocity_units, 1 / velocity_units) if rate_scale else np.zeros_like(sizes)  # (3)
    for rows in blocks[1:] if coordinates else blocks:  # the rates of coordinates are exact
        for columns in blocks:
            noise[rows, columns] = np.maximum(noise[rows, columns], sizes[rows, columns].max())
    noise *= units[:, None] / units
    coincident_bound = np.sqrt(ENTRY_ROUNDING) * rate_scale  # (2)
    try:
        bounds = ENTRY_ROUNDING * np.einsum("ij,jk,ki->i", np.abs(np.linalg.inv(X)), noise, np.abs(X))  # (1)
    except np.linalg.LinAlgError:
        bounds = np.full(len(A), np.inf)
    return np.fmin(bounds, coincident_bound)
