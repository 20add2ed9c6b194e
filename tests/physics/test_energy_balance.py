"""A run whose energy balance does not close says so, and from when on; runs that are right never do."""

import warnings

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.cli import status_of
from torsor.look.energy_balance import Balance
from torsor.look.summary import summary


def stairs(height=0.05, size=1.0, mass=1.0):
    """A body that flies over a potential with a step, whose force is not there: the balance is lost where the step is."""
    model = ts.Model("stairs")
    body = model.body(
        "body", mass=mass, inertia=(mass * size**2,) * 3, velocity=(size, 0, 0), angular_velocity=(0.1, 0, 0)
    )
    model.add(
        ts.EnergyForce("step", energy=mass * size**2 * height * ca.if_else(body.position[0] < 0.4 * size, 0.0, 1.0))
    )
    return model


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("tolerance", [1e-5, 1e-9, 1e-12])
def test_energy_that_comes_from_nowhere_is_told_with_its_time(formulation, size, tolerance):
    model = stairs(size=size, mass=size)
    with pytest.warns(ts.AccuracyWarning, match="lost from t = 0.4.*smaller tolerance.*certify=True"):
        data = ts.simulate(model, 1.0, outputs=100, tolerance=tolerance, formulation=formulation)
    assert data.attrs["energy_balance_lost"] == pytest.approx(0.4, abs=0.011)
    assert "LOST from t = 0.4" in summary(data)


def test_the_time_does_not_depend_on_how_outputs_are_divided(tmp_path):
    with pytest.warns(ts.AccuracyWarning):
        whole = ts.simulate(stairs(), 1.0, outputs=100)
    with pytest.warns(ts.AccuracyWarning, match="t = 0.4"):
        kept = ts.simulate(stairs(), 1.0, outputs=100, checkpoint=tmp_path / "run")
    assert kept.attrs["energy_balance_lost"] == whole.attrs["energy_balance_lost"]


@pytest.mark.parametrize(
    "options",
    [{"method": "rkmk4", "step": 0.25}, {"method": "lie-euler", "step": 0.01}, {"method": "heun", "step": 0.1}],
    ids=str,
)
def test_a_step_that_is_far_too_long_is_told(options):
    with pytest.warns(ts.AccuracyWarning, match="smaller step"):
        ts.simulate(ts.cases.load("pendulum"), 10.0, outputs=10, **options)


@pytest.mark.parametrize("options", [{"method": "rkmk4", "step": 0.01}, {"method": "heun", "step": 1e-3}], ids=str)
@pytest.mark.parametrize("case", ["pendulum", "three-link", "chain"])
def test_sensible_steps_are_not_doubted(case, options):
    assert "energy_balance_lost" not in ts.simulate(ts.cases.load(case), 2.0, **options).attrs


@pytest.mark.parametrize("tolerance", [0.1, 1e-2, 1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("case", ["pendulum", "heavy-top", "slider-crank", "andrews", "three-link"])
def test_no_tolerance_makes_a_good_run_doubtful(case, tolerance):
    assert (
        "energy_balance_lost" not in ts.simulate(ts.cases.load(case), ts.cases.until(case), tolerance=tolerance).attrs
    )


@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz"])
def test_what_rests_is_not_doubted(formulation):
    """Nothing is turned over: all that the balance shows is rounding."""
    model = ts.Model("resting", gravity=(0, 0, -9.81))
    high = model.body("high", mass=1e3, inertia=(1, 1, 1), at=(0, 0, 1e3))
    low = model.body("low", mass=1.0, inertia=(1, 1, 1), at=(0, 0, -1.0))
    model.add(ts.Prismatic("slide", model.ground, high, axis=(0, 1, 0)))
    model.add(ts.Revolute("hinge", model.ground, low, point=(0, 0, 0), axis=(0, 1, 0), start=1e-9))
    model.add(ts.SpringDamper("spring", high, low, stiffness=10.0))
    data = ts.simulate(model, 20.0, formulation=formulation)
    assert "energy_balance_lost" not in data.attrs


@pytest.mark.parametrize("options", [{"tolerance": 1e-9}, {"method": "rkmk4", "step": 0.01}], ids=str)
def test_outputs_that_see_no_motion_do_not_make_a_run_doubtful(options):
    """A spring whose outputs lie a period apart: all that is turned over is turned over between them."""
    model = ts.Model("swinger")
    bob = model.body("bob", mass=1.0, inertia=(1, 1, 1), at=(1, 0, 0))
    model.add(ts.EnergyForce("spring", energy=0.5 * bob.position[0] ** 2))
    data = ts.simulate(model, 40.0, outputs=2 * np.pi * np.arange(7), **options)
    assert "energy_balance_lost" not in data.attrs


def test_blocks_and_the_whole_have_one_balance():
    rng = np.random.default_rng(1)
    t, E, W, T, U = np.arange(50.0), *rng.normal(size=(4, 50)).cumsum(axis=1)
    whole, parts = Balance(), Balance()
    whole.add(t, E, W, 0 * t, T, U)
    for k in range(0, 50, 7):
        parts.add(*(x[k : k + 7] for x in (t, E, W, 0 * t, T, U)))
    assert whole.reached == parts.reached and whole.worst == parts.worst and whole.turnover == parts.turnover
    counts = {"steps": 10, "energy": 0.0}
    assert whole.time_of_loss(counts, 1e-9, None) == parts.time_of_loss(counts, 1e-9, None) is not None


def test_the_command_line_warns_and_goes_on(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        assert status_of(["run", "pendulum", "--until", "10", "--method", "lie-euler", "--step", "0.01"]) == 0
    shown = capsys.readouterr()
    assert "LOST" in shown.out and "warning" in shown.err and "--certify" in shown.err
