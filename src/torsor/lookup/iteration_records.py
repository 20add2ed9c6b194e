"""How the work memory of an iteration of numbers y = e(y) is divided (`kernels/schedule_functions/fixed_point.py`).

The work memory has a header, then scales, y and residuals of the iterate before, then for each of the latest changes those of y and
of the residual, orthogonal directions, and the triangular system of the least squares.
"""

ITERATES, BEST_RESIDUAL, STALLS, ITERATION_HEADER = 0, 1, 2, 3
LATEST_CHANGES = 16  # largest number of changes whose combination reduces the residual


def window(count):
    """How many of the latest changes an iteration of `count` numbers uses."""
    return min(count, LATEST_CHANGES)


def iteration_work_size(count):
    """How many numbers an iteration of `count` numbers needs."""
    m = window(count)
    return ITERATION_HEADER + 3 * count + 3 * m * count + m * m + m
