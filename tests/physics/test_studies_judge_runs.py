"""A study judges every run as `simulate` does: the same runs are marked, from the same times on, whoever carries them out."""

import json
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import torsor as ts

SPEEDS = [0.5, 2.0, 5.0, 8.0, 12.0]
COARSE = {"method": "lie-euler", "step": 0.02}


def pendulum(stop=False):
    """A pendulum on a spring, which Euler's method drives; the faster, the sooner its energy is lost. A stop makes it eventful."""
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    speed = model.parameter("speed", 1.0)
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis="y", start_rate=speed))
    model.add(ts.TorsionSpring("spring", hinge, stiffness=5.0))
    if stop:
        model.when(hinge.coordinate >= 3.0, ts.record("speed_there", hinge.rate), name="past")
    return model


def loop():
    """A four-bar linkage, whose constraints are kept by projections, so that nothing goes side by side."""
    model = ts.Model("loop", gravity=(0, 0, -9.81))
    speed = model.parameter("speed", 1.0)
    make = lambda name, x, z: model.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), at=(x, 0, z))
    left, top, right = make("left", 0.0, 0.5), make("top", 0.5, 1.0), make("right", 1.0, 0.5)
    join = lambda name, a, b, at, **more: model.add(ts.Revolute(name, a, b, point=(at[0], 0, at[1]), axis="y", **more))
    join("a", model.ground, left, (0, 0), start_rate=speed)
    join("b", left, top, (0, 1))
    join("c", top, right, (1, 1))
    join("d", right, model.ground, (1, 0))
    return model


def judged(model, until, **options):
    """When the balance is lost in each run by itself; NaN: it holds."""
    found = []
    for speed in SPEEDS:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            data = ts.simulate(model, until, outputs=50, parameters={"speed": speed}, progress=False, **options)
        found.append(data.attrs.get("energy_balance_lost", np.nan))
        assert any(issubclass(w.category, ts.AccuracyWarning) for w in seen) == np.isfinite(found[-1])
    return np.array(found)


def studied(model, until, speeds=SPEEDS, executor=1, **options):
    """The same of a study; it warns once where any is lost."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        data = ts.study(
            model, until, {"speed": speeds}, outputs=50, keep=["energy"], executor=executor, progress=False, **options
        )
    lost = data["energy_balance_lost"].values
    told = [str(w.message) for w in seen if issubclass(w.category, ts.AccuracyWarning)]
    assert len(told) == bool(np.isfinite(lost).any())
    assert not told or f"is lost in {np.isfinite(lost).sum()} of {len(lost)} runs" in told[0]
    assert not data["message"].values.any() and json.loads(data.attrs["options"])["method"]
    return lost


@pytest.mark.parametrize(
    "model, options",
    [
        (pendulum, COARSE),
        (pendulum, {"method": "rkmk4", "step": 0.2}),
        (pendulum, {"tolerance": 1e-3}),
        (lambda: pendulum(stop=True), COARSE),
        (loop, {"method": "heun", "step": 0.02}),
        (loop, {}),
    ],
    ids=["Euler", "long steps", "adaptive", "events", "loop, fixed", "loop, adaptive"],
)
def test_runs_of_a_study_are_judged_as_alone(model, options):
    alone = judged(model(), 4.0, **options)
    np.testing.assert_array_equal(studied(model(), 4.0, **options), alone)


def test_lanes_and_other_processes_judge_alike(tmp_path):
    alone = judged(pendulum(), 4.0, **COARSE)
    assert 0 < np.isfinite(alone).sum()
    many = np.tile(SPEEDS, 10)  # enough for runs side by side
    np.testing.assert_array_equal(studied(pendulum(), 4.0, many, **COARSE), np.tile(alone, 10))
    with ProcessPoolExecutor(1) as pool:
        np.testing.assert_array_equal(studied(pendulum(), 4.0, executor=pool, **COARSE), alone)
    for _ in range(2):  # the second time they come from the folder
        np.testing.assert_array_equal(studied(pendulum(), 4.0, store=tmp_path / "study", **COARSE), alone)


def test_what_events_record_is_in_the_log_of_a_simulation():
    """A body that falls from 1 m passes 0.5 m with √(2 g 0.5 m)."""
    model = ts.Model("falling", gravity=(0, 0, -9.81))
    body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, 1))
    model.add(ts.Prismatic("slide", model.ground, body, axis="z"))
    noted = (ts.record("speed", body.velocity[2]), ts.record("height", body.position[2]))
    model.when(body.position[2] <= 0.5, *noted, name="half")
    model.when(body.position[2] <= 0.25, ts.record("speed", body.velocity[2]), name="quarter")
    sim = ts.Simulation(model)
    sim.advance(0.5)
    expected = {"half": {"speed": -np.sqrt(9.81), "height": 0.5}, "quarter": {"speed": -np.sqrt(1.5 * 9.81)}}
    for kept in (sim, sim.copy()):
        assert {event.name: event.recorded for event in kept.events} == {
            name: pytest.approx(values, abs=1e-8) for name, values in expected.items()
        }
