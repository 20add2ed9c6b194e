"""Reductions of a column (smallest, largest, length) by halves.

The longest chain of dependent operations has log₂ n steps instead of n, so that a processor can evaluate them in parallel.
"""

import casadi as ca


def fold(operation, x):
    """Combine all entries of a column by an associative and commutative operation."""
    x = ca.densify(x)
    while (n := x.shape[0]) > 1:
        half = n // 2
        x = ca.vertcat(operation(x[:half], x[half : 2 * half]), x[2 * half :])
    return x


def smallest(x):
    """The smallest entry of a column."""
    return fold(ca.fmin, x)


def largest(x):
    """The largest entry of a column."""
    return fold(ca.fmax, x)


def length(x):
    """The Euclidean length of a column."""
    return ca.sqrt(fold(ca.plus, x * x))
