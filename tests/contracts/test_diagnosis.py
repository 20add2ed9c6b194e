"""Rows are kept or not by what they say beyond the rows before them, however many are looked at together."""

import numpy as np
import pytest

from torsor.start.diagnosis import DEPENDENT_SINE, ROWS_PER_BLOCK, independent


def one_by_one(A):
    """The rule itself: a row counts where its distance from the span of the rows kept before it is more than the bound."""
    keep, sizes = [], []
    for i, row in enumerate(A):
        rest = row - A[keep].T @ np.linalg.lstsq(A[keep].T, row)[0] if keep else row
        if np.linalg.norm(rest) > DEPENDENT_SINE:
            keep.append(i)
            sizes.append(np.linalg.norm(rest))
    return keep, min(sizes, default=1.0)


@pytest.mark.parametrize("rows, columns, rank", [(3, 6, 2), (40, 30, 30), (100, 90, 60), (150, 200, 120), (70, 70, 1)])
def test_rows_kept_are_those_beyond_the_rows_before_them(rows, columns, rank):
    random = np.random.default_rng(rows)
    A = random.standard_normal((rows, rank)) @ random.standard_normal((rank, columns))
    A /= np.linalg.norm(A, axis=1)[:, None]
    A[:: rows // 3] = 0.0
    found, expected = independent(A), one_by_one(A)
    assert found[0] == expected[0]
    assert found[1] == pytest.approx(expected[1], rel=1e-6)


@pytest.mark.parametrize("factor, kept", [(0.5, False), (2.0, True), (1e3, True)])
@pytest.mark.parametrize("apart", [1, ROWS_PER_BLOCK, 2 * ROWS_PER_BLOCK + 1])
def test_a_row_near_the_bound_is_judged_by_it(factor, kept, apart):
    """A copy of a row that leads away from it by a little, in the same block or in a later one; then a copy of that copy."""
    n = 3 * ROWS_PER_BLOCK
    A = np.linalg.qr(np.random.default_rng(1).standard_normal((n + 8, n + 8)))[0]
    A[1 + apart] = A[1] + factor * DEPENDENT_SINE * A[n + 5]
    A[n - 1] = A[1] + 3 * factor * DEPENDENT_SINE * A[n + 5]
    keep, _ = independent(A[:n])
    assert (1 + apart in keep) == kept
    assert (n - 1 in keep) == (not kept and 3 * factor > 1)
