"""The N four-bar against its exact reduction on the parallelogram branch, through its singular positions."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts

G = 9.81


def crank_angle(n, times):
    """θ from x: ((N+1)/3 + N) θ̈ = −((N+1)/2 + N) g cos θ, from upright at −1 rad/s."""
    stiffness = ((n + 1) / 2 + n) * G / ((n + 1) / 3 + n)
    exact = solve_ivp(
        lambda t, y: [y[1], -stiffness * np.cos(y[0])], (0, times[-1]), [np.pi / 2, -1.0], method="DOP853",
        rtol=1e-13, atol=1e-13, t_eval=times,
    )  # fmt: skip
    return exact.y


def tip(data):
    """B0, the upper end of the first crank."""
    return data.position.sel(body="crank0").values + data.rotation.sel(body="crank0").values @ [0, 0.5, 0]


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("options", [{"tolerance": 1e-12}, {"step": 1 / 800}], ids=["adaptive", "fixed"])
def test_the_branch_is_kept_through_singular_positions(n, options):
    data = ts.simulate(ts.cases.load("four-bar", n=n), 10.0, outputs=200, **options)
    theta, rate = crank_angle(n, data.time.values)
    exact = np.stack([np.cos(theta), np.sin(theta), 0 * theta], axis=-1)
    assert np.abs(tip(data) - exact).max() < 1e-8
    angles = data.coordinate.sel(joint_coordinate=[f"A{i}" for i in range(n + 1)]).values
    assert np.abs(angles - (theta - np.pi / 2)[:, None]).max() < 1e-8  # all cranks turn alike, over full turns
    assert np.abs(data.rate.sel(joint_coordinate="A0").values - rate).max() < 1e-7


def test_cranks_pass_the_singular_position_and_come_round():
    """The motion really contains what makes the problem hard: all bars in line, several times."""
    theta, _ = crank_angle(2, np.linspace(0, 10, 2001))
    assert np.sum(np.diff(np.sign(np.sin(theta))) != 0) >= 4


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8, 1e-10, 1e-12])
def test_step_control_is_not_caught_by_the_singular_position(tolerance):
    """The error that counts is the one that projection leaves: steps stay as long as those of the one-dof motion."""
    data = ts.simulate(ts.cases.load("four-bar", n=10), 10.0, outputs=20, tolerance=tolerance)
    tries = data.attrs["steps"] + data.attrs["rejections"]
    assert tries < 100 + 12 * tolerance**-0.2  # order 5: a swing of 10 s takes about 10 tolerance^(-1/5) steps


def test_forty_loops_keep_their_energy():
    data = ts.simulate(ts.cases.load("four-bar", n=40), 10.0, outputs=50, tolerance=1e-10)
    assert data.attrs["energy_balance_error"] < 1e-6  # [J], of energies of some tens of joules
    assert data.attrs["degrees_of_freedom"] == 1
