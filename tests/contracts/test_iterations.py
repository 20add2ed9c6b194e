"""An iteration of a schedule finds numbers equal to those that its passes compute from them, or says that there are none."""

import casadi as ca
import numpy as np
import pytest

from torsor.errors import OptionError
from torsor.formulations.schedules.schedule import Schedule
from torsor.kernels import build


def solve(e, count, data):
    """y = e(y, data) by an iteration, and how often e was computed."""
    s = Schedule("k", takes={"x": len(data)}, gives={"y": count, "calls": 1})
    values, calls = s.reserve(count), s.reserve(1)
    x, y, n = ca.SX.sym("x", len(data)), ca.SX.sym("y", count), ca.SX.sym("n")
    begin = ca.Function("begin", [x], [ca.SX.zeros(count), ca.SX(0)])
    s.call([begin], ["x", "y", "memory"], [0], [[0], [0], [calls]])
    begun = s.begin_iteration(count)
    body = ca.Function("body", [x, y, n], [ca.densify(e(y, x)), n + 1])
    s.call([body], ["x", "y", "memory", "memory", "calls"], [0], [[0], [0], [calls], [values], [0]])
    copy = ca.Function("copy", [n], [n])
    s.call([copy], ["calls", "memory"], [0], [[0], [calls]])
    s.end_iteration(begun, ("y", 0), ("memory", values))
    found, (calls,) = build({"k": s})["k"](np.asarray(data, float))
    with pytest.raises(OptionError, match="no graph"):
        s.unroll()
    return found, calls


@pytest.mark.parametrize("count, slope", [(1, 0.3), (1, -5.0), (4, 2.0), (12, 1.5), (40, 0.6)])
def test_affine_equations_are_solved_also_where_plain_iteration_diverges(count, slope):
    random = np.random.default_rng(count)
    A = random.normal(size=(count, count))
    A *= slope / np.abs(np.linalg.eigvals(A)).max()
    b = random.normal(size=count)
    found, calls = solve(lambda y, x: ca.DM(A) @ y + x, count, b)
    np.testing.assert_allclose(found, np.linalg.solve(np.eye(count) - A, b), rtol=1e-12, atol=1e-12 * np.abs(b).max())
    assert calls <= max(12, 3 * count)


def test_equations_with_a_known_solution_are_solved_to_rounding():
    found, calls = solve(lambda y, x: ca.cos(y) * x, 2, [1.0, 1e-8])
    np.testing.assert_allclose(found, [0.7390851332151607, 1e-8 * (1 - 5e-17)], rtol=1e-14)
    assert calls < 20


def test_values_that_do_not_depend_on_the_numbers_take_two_evaluations():
    found, calls = solve(lambda y, x: x, 3, [1.0, -2.0, 0.0])
    assert found.tolist() == [1.0, -2.0, 0.0] and calls == 2
    assert solve(lambda y, x: 0 * x, 1, [1.0])[1] == 1


def test_without_a_solution_there_are_no_numbers():
    assert np.isnan(solve(lambda y, x: ca.fabs(y) + x, 1, [1.0])[0]).all()
    assert np.isnan(solve(lambda y, x: ca.sqrt(y - x), 1, [1.0])[0]).all()
