"""N four-bar with equal bars passes positions in which all its bars are in line; its exact motion is that of a pendulum."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts


@pytest.mark.parametrize(("n", "tolerance"), [(2, 1e-6), (5, 1e-11), (8, 1e-9), (10, 1e-9)])
@pytest.mark.parametrize("form", ["absolute", "relative", "woronetz"])
def test_bars_in_line_are_passed(form, n, tolerance):
    k = ((n + 1) / 2 + n) / ((n + 1) / 3 + n) * 9.81
    fall = lambda t, y: (y[1], -k * np.cos(y[0]))
    exact = solve_ivp(fall, (0, 2), (np.pi / 2, -1.0), rtol=1e-12, atol=1e-12, method="DOP853").y[0, -1]
    data = ts.simulate(ts.cases.load("four-bar", n=n), 2.0, outputs=4, formulation=form, tolerance=tolerance)
    found = float(data.coordinate.sel(joint_coordinate="A0")[-1]) + np.pi / 2
    assert abs(found - exact) < 1e3 * tolerance + 1e-9


@pytest.mark.parametrize("method", ["rkmk54", "dop853"])
@pytest.mark.parametrize("form", ["absolute", "relative", "woronetz"])
def test_outputs_close_to_bars_in_line_are_accurate(form, method):
    """Neither a stage nor a projection there magnifies what steps are off."""
    times, tolerance, k = np.linspace(0, 2, 1001), 1e-9, (3 / 2 + 2) / (3 / 3 + 2) * 9.81
    fall = lambda t, y: (y[1], -k * np.cos(y[0]))
    exact = solve_ivp(fall, (0, 2), (np.pi / 2, -1.0), t_eval=times, rtol=1e-12, atol=1e-12, method="DOP853").y
    given = {"outputs": times, "formulation": form, "method": method, "tolerance": tolerance}
    data = ts.simulate(ts.cases.load("four-bar", n=2), 2.0, **given)
    found = (data[name].sel(joint_coordinate="A0").values for name in ("coordinate", "rate"))
    angle, rate = (np.abs(x - y).max() for x, y in zip(found, (exact[0] - np.pi / 2, exact[1])))
    assert data.attrs["steps"] < 200 and angle < 10 * tolerance and rate < 100 * tolerance
    assert data.attrs["position_drift_max"] < 1e-12
