"""Projected runs stay on their constraints and on the rotation group; the other choices do what they claim."""

import casadi as ca
import models
import numpy as np
import pytest

import torsor as ts

CASES = [name for name in models.compared_cases() if name != "satellite"]  # which is satellite-1 unless told otherwise
LARGE = ("andrews", "bush", "car", "governor", "manipulator", "panels", "train")
ROUNDING = 1e-12  # relative to the model's size and speed


def relative_drift(data):
    """Residuals at position and velocity level over the model's size and its largest speed."""
    speed = max(np.abs(data.velocity.values).max(), np.abs(data.angular_velocity.values).max())
    return data.position_drift.values.max() / data.attrs["model_length"], data.velocity_drift.values.max() / speed


def orthogonality(data):
    R = data.rotation.values
    return np.abs(np.einsum("tbji,tbjk->tbik", R, R) - np.eye(3)).max()


@pytest.mark.parametrize(
    "case, metric", [*[(case, "mass") for case in CASES], *[(case, "plain") for case in CASES if case not in LARGE]]
)
def test_projection_keeps_every_case_on_its_constraints(case, metric):
    model = ts.cases.load(case, **({"n": 1} if case in ("train", "bush") else {}))
    data = ts.simulate(
        model,
        ts.cases.until(case),
        outputs=100,
        projection=ts.LeastSquares(metric=metric),
        tolerance=1e-9,
        formulation="absolute",
    )
    position, velocity = relative_drift(data)
    assert position <= ROUNDING
    assert velocity <= ROUNDING
    assert orthogonality(data) <= ROUNDING


@pytest.mark.parametrize("map", ["exp", "cayley"])
@pytest.mark.parametrize("case", ["three-link", "satellite-3", "four-bar"])
def test_projection_keeps_coarse_fixed_steps_on_their_constraints(case, map):
    data = ts.simulate(ts.cases.load(case), 5.0, outputs=50, method="rkmk4", step=0.01, map=map, formulation="absolute")
    position, velocity = relative_drift(data)
    assert max(position, velocity, orthogonality(data)) <= ROUNDING


def test_projection_does_not_cost_the_accuracy_of_the_motion():
    """Both metrics change a step by less than its own error: the runs agree to the tolerance they were made with."""
    runs = [
        ts.simulate(
            ts.cases.load("three-link"),
            3.0,
            outputs=30,
            projection=ts.LeastSquares(metric=metric),
            tolerance=1e-11,
            formulation="absolute",
        )
        for metric in ("mass", "plain")
    ]
    assert np.abs(runs[0].position.values - runs[1].position.values).max() < 1e-8


@pytest.mark.parametrize("form", ["absolute", "relative"])
def test_rotations_stay_orthogonal_over_many_steps(form):
    """Ten thousand full turns of the heavy top's spin in small steps; no reorthogonalisation is visible as drift."""
    data = ts.simulate(ts.cases.load("heavy-top"), 2.0, outputs=20, method="rkmk4", step=1e-4, formulation=form)
    assert data.attrs["steps"] == 20_000
    assert orthogonality(data) <= ROUNDING


def test_twenty_thousand_projected_steps_do_not_drift():
    """The small sister of bench/long_run.py, which takes a million."""
    data = ts.simulate(
        ts.cases.load("three-link"), 20.0, outputs=200, method="rkmk4", step=1e-3, formulation="absolute"
    )
    assert data.attrs["steps"] == 20_000
    assert max(*relative_drift(data), orthogonality(data)) <= ROUNDING


def drift_of(projection, until=10.0, step=0.005):
    data = ts.simulate(
        ts.cases.load("three-link"),
        until,
        outputs=100,
        method="rkmk4",
        step=step,
        projection=projection,
        formulation="absolute",
    )
    return data.position_drift.values


def test_without_projection_the_constraints_drift():
    drift = drift_of("none")
    assert drift[0] < 1e-15
    assert drift[-1] > 1e-6  # the error of the method is not held back by anything
    assert drift[-1] > 3 * drift[len(drift) // 4]  # and adds up


def test_baumgarte_bounds_the_drift():
    drift = drift_of("baumgarte:alpha=20,beta=20")
    assert 1e-12 < drift.max() < 0.2 * drift_of("none").max()  # held small, but not to rounding
    half = len(drift) // 2
    assert drift[half:].max() < 3 * drift[:half].max()  # it does not grow with time


@pytest.mark.filterwarnings("ignore::torsor.AccuracyWarning")  # the jump gives energy that nothing accounts for
@pytest.mark.parametrize("gain", [5.0, 20.0])
def test_baumgarte_decays_a_disturbance_as_its_gains_say(gain):
    """g̈ + 2α ġ + β² g = 0: with α = β a residual g₀ at rest decays as g₀ (1 + α t) exp(−α t); without, it stays.

    The disturbance is a constraint that jumps by 1 mrad when a clock hand passes, which its derivatives do not see.
    """
    found = {}
    for projection in ("none", ts.Baumgarte(alpha=gain, beta=gain)):
        model = ts.Model("jumping-drive")
        body = model.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
        hinge = model.add(ts.Revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
        hand = model.body("hand", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, 1), velocity=(1, 0, 0))
        model.add(ts.Holonomic("drive", hinge.coordinate - ca.if_else(hand.position[0] < 0.1, 0.0, 1e-3)))
        data = ts.simulate(model, 0.5, outputs=50, method="rkmk4", step=1e-4, projection=projection)
        found[str(projection)] = data.position_drift.values
    t = data.time.values - 0.1
    after = t > 0.005
    stays, decays = found.values()
    assert np.abs(stays[after] - 1e-3).max() < 1e-12
    exact = 1e-3 * (1 + gain * t) * np.exp(-gain * t)
    assert np.abs(decays[after] - exact[after]).max() < 0.01 * 1e-3  # the jump falls inside one step
