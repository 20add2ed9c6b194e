"""A column folded in halves gives what it gives entry by entry."""

import casadi as ca
import numpy as np
import pytest

from torsor.formulations.algebra.balanced_sums import largest, length, smallest


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 33])
def test_folding_gives_the_smallest_the_largest_and_the_length(n):
    x = ca.SX.sym("x", n)
    values = np.random.default_rng(n).standard_normal(n)
    low, high, long = (float(ca.Function("f", [x], [f(x)])(values)) for f in (smallest, largest, length))
    assert (low, high) == (values.min(), values.max())
    assert long == pytest.approx(np.linalg.norm(values), rel=1e-15)


def test_entries_that_are_no_numbers_and_entries_that_are_not_there_do_not_count():
    x = ca.SX.sym("x", 5)
    assert float(ca.Function("f", [x], [smallest(x)])([3, np.nan, 2, np.nan, 4])) == 2
    assert float(smallest(ca.SX(ca.DM([1.0]) * ca.DM(1, 1)))) == 0  # a structural zero is a zero
    assert smallest(ca.SX(0, 1)).shape == (0, 1)
