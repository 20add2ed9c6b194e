"""What a certificate says: every variable has an error, chaos and different events are told, failures are not hidden."""

import numpy as np
import pytest
from xarray import Dataset

import torsor as ts
from torsor.cli import status_of
from torsor.look import certificate
from torsor.look.summary import summary
from torsor.run.task import Task

G = 9.81


def double_pendulum(first=2.5, second=2.0):
    model = ts.Model("double", gravity=(0, 0, -G))
    last = model.ground
    for k, start in enumerate((first, second)):
        link = model.body(f"link{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, -0.5 - k))
        model.add(ts.Revolute(f"hinge{k}", last, link, point=(0, 0, -k), axis=(0, 1, 0), start=start))
        last = link
    return model


def bouncing(height=1.0, restitution=0.8):
    model = ts.Model("bouncing", gravity=(0, 0, -G))
    ball = model.body("ball", mass=1.0, inertia=(1, 1, 1), at=(0, 0, height))
    model.add(ts.Contact("floor", model.ground, ball, normal=(0, 0, 1), plane=(0, 0, 0), restitution=restitution))
    model.signal("height", ball.position[2])
    return model


@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz"])
def test_every_variable_has_an_error(formulation):
    data = ts.simulate(ts.cases.load("four-bar", n=1), 0.5, outputs=10, formulation=formulation, certify=True)
    for name, variable in data.data_vars.items():
        if name.endswith("_error") or "time" not in variable.dims or name.endswith("_drift"):
            continue
        error = data[f"{name}_error"]
        assert np.all(error.values > 0) and np.all(np.isfinite(error)), name
        assert set(error.dims) <= set(variable.dims) - {"time"}
        assert data.attrs[f"{name}_error_max"] >= float(error.max()) > 0
    assert data.rotation_error.dims == ("body",) and data.rotation_error.units == "rad"
    assert data.position_error.dims == ("body", "axis") and data.position_error.units == "m"
    assert data.coordinate_error.dims == ("joint_coordinate",) and data.motion_error.dims == ("time",)


def test_a_certificate_survives_a_file(tmp_path):
    data = ts.simulate(bouncing(), 1.0, outputs=4, certify=True)
    ts.save_result(data, tmp_path / "run.nc")
    again = ts.load_result(tmp_path / "run.nc")
    assert again.identical(data) and summary(again) == summary(data)


def test_a_result_that_is_exact_is_exact_to_rounding_and_never_to_zero():
    model = ts.Model("resting")
    model.body("body", mass=1.0, inertia=(1, 1, 1))
    data = ts.simulate(model, 1.0, certify=True)
    assert 0 < data.attrs["position_error_max"] < 1e-15 and 0 < data.attrs["velocity_error_max"] < 1e-15
    assert "positions to rounding" in summary(data)


def test_the_summary_says_what_was_measured_and_that_the_balance_is_no_error():
    plain, measured = (ts.simulate(bouncing(), 1.0, outputs=4, tolerance=1e-6, certify=c) for c in (False, True))
    assert "accuracy" in summary(plain) and "not measured" in summary(plain) and "certify=True" in summary(plain)
    for word in ("positions to", "event times to", "velocities to", "measured against a run at tolerance 1e-07"):
        assert word in summary(measured), word
    for text in (summary(plain), summary(measured)):
        assert "not the error" in text
    assert "steps of 0.0005 s" in summary(ts.simulate(bouncing(), 0.2, method="rkmk4", step=1e-3, certify=True))


def test_the_first_run_is_that_without_a_certificate():
    plain, measured = (ts.simulate(double_pendulum(), 3.0, certify=c) for c in (False, True))
    for name in plain.data_vars:
        assert np.array_equal(plain[name], measured[name])


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_chaos_is_recognised_and_how_long_a_result_can_be_trusted(formulation, tolerance):
    run = lambda tau, **more: ts.simulate(
        double_pendulum(), 40.0, outputs=800, tolerance=tau, formulation=formulation, **more
    )
    data, exact = run(tolerance, certify=True), run(1e-13)
    turned = np.linalg.norm(data.rotation.values - exact.rotation.values, axis=(2, 3)).max(axis=1) / np.sqrt(2)
    true = data.time.values[np.flatnonzero(turned > data.attrs["trusted_accuracy"])[0]]
    doubling = data.attrs["error_doubling_time"]
    assert 0.05 < doubling < 2.0
    assert abs(data.attrs["trusted_until"] - true) < 3 * doubling + 0.1
    assert "chaotic" in summary(data) and "trusted until" in summary(data)


@pytest.mark.parametrize("case", ["pendulum", "heavy-top", "slider-crank", "andrews"])
def test_regular_motion_is_not_called_chaotic(case):
    data = ts.simulate(ts.cases.load(case), ts.cases.until(case), certify=True)
    assert "error_doubling_time" not in data.attrs and data.attrs["trusted_until"] == data.attrs["time_reached"]


def test_rotation_vectors_that_pass_a_half_turn_are_compared_as_rotations():
    model = ts.Model("spinning")
    body = model.body("body", mass=1.0, inertia=(1, 2, 2.5), angular_velocity=(0.1, 0.2, 3.0))
    model.add(ts.Spherical("ball", model.ground, body, point=(0, 0, 0)))
    data = ts.simulate(model, 20.0, outputs=4000, tolerance=1e-6, certify=True)
    assert np.abs(np.diff(data.coordinate.values, axis=0)).max() > 3  # the vector jumps from one end to the other
    assert float(data.coordinate_error.max()) < 20 * data.attrs["rotation_error_max"]


def test_an_output_at_the_time_of_a_bounce_is_not_taken_for_an_error():
    first = np.sqrt(2 / G)
    for at in (first, np.nextafter(first, 0), first * (1 + 1e-12)):
        data = ts.simulate(bouncing(), 1.0, outputs=[0.2, at, 0.9, 1.0], tolerance=1e-8, certify=True)
        assert data.attrs["velocity_error_max"] < 1e-6, at


def test_different_events_are_told():
    """A ball that only just reaches the ceiling at one tolerance, and at the other does not."""
    data = Dataset(
        {"event_name": ("event", ["a", "b", "a"]), "event_time": ("event", [1.0, 2.0, 3.0])}, {"time": [0.0, 4.0]}
    )
    other = Dataset(
        {"event_name": ("event", ["b", "a", "c"]), "event_time": ("event", [2.0, 1.1, 3.0])}, {"time": [0.0, 4.0]}
    )
    matched = certificate._matches(data, other)
    assert matched.tolist() == [1, 0, -1]
    told = certificate._sequence(data, other, matched)
    assert told["events_unmatched"] == 2
    assert "'a' 2 against 1 times" in told["event_sequence"] and "'c' 0 against 1 times" in told["event_sequence"]


def test_a_run_that_an_event_ends_is_certified():
    model = bouncing()
    model.when(model["ball"].position[2] <= 0.3, ts.end(), name="low")
    data = ts.simulate(model, 5.0, outputs=500, tolerance=1e-6, certify=True)
    assert data.attrs["status"].startswith("ended") and data.event_name.values.tolist() == ["low"]
    assert abs(data.event_time.values[0] - np.sqrt(1.4 / G)) < 3 * data.event_time_error.values[0]


def test_a_second_run_that_fails_is_told_with_the_result(monkeypatch):
    judged = Task.judge

    def fail(task, system, data, count, folder=None):
        if task.tolerance < 1e-6:
            raise ts.RunError(f"model {task.model.name!r}: stopped at t = 0.5 s of 1 s: for a test.", data)
        return judged(task, system, data, count, folder)

    monkeypatch.setattr(Task, "judge", fail)
    with pytest.raises(
        ts.RunError, match="cannot be certified: a run at tolerance 1e-07 stopped at t = 0.5 s"
    ) as caught:
        ts.simulate(bouncing(), 1.0, tolerance=1e-6, certify=True)
    assert caught.value.data.attrs["status"] == "finished" and "position_error" in caught.value.data


def test_what_cannot_be_certified_is_refused(tmp_path):
    with pytest.raises(ts.OptionError, match="certify: not together with a checkpoint"):
        ts.simulate(bouncing(), 1.0, certify=True, checkpoint=tmp_path / "run")
    with pytest.raises(ts.OptionError, match="certify must be True or False"):
        ts.simulate(bouncing(), 1.0, certify=1e-3)
    model = bouncing()
    for name in ("position_error", "height_error", "motion_error"):
        with pytest.raises(ts.OptionError, match=f"signal '{name}' has the name of a measured error"):
            ts.simulate(model, 1.0, certify=True, signals={name: ts.time})


def test_the_command_line_certifies(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert status_of(["run", "pendulum", "--until", "1", "--certify", "--out", "run.nc"]) == 0
    assert "positions to" in capsys.readouterr().out
    assert ts.load_result("run.nc").attrs["position_error_max"] > 0
