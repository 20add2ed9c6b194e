"""A run in a folder goes on beyond its end: as one that was asked to run that long from the beginning."""

import os

import models
import numpy as np
import pytest

import torsor as ts
from torsor.cli import status_of


def driven():
    """A pendulum on a rod that is driven in time, with a state of its own."""
    model = ts.Model("driven", gravity=(0, 0, -9.81))
    arm = model.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1.5, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, arm, point=(0, 0, 0), axis="y"))
    model.add(ts.Revolute("knee", arm, bob, point=(1, 0, 0), axis="y"))
    model.add(ts.Drive("drive", hinge, value=0.3 * ts.time**2))
    model.state("heat", rate=lambda x: 1.0 - x, start=0.0)
    return model


def ball():
    model = models.ball(1, 0.8, velocity=(0.3, 0, 0))
    model.when(model["ball"].velocity[2] >= 0, ts.record("height", model["ball"].position[2]))
    return model


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "run")


@pytest.mark.parametrize("build", [driven, ball], ids=["driven", "ball"])
def test_an_extended_run_is_one_run(build, folder):
    """Outputs, events and counts of both parts; the folder then holds one result, which can be extended again."""
    whole = ts.simulate(build(), 1.5, outputs=15)
    first = ts.simulate(build(), 1.0, outputs=10, checkpoint=folder)
    steps = first.attrs["steps"]
    data = ts.resume(folder, build(), until=1.5)
    np.testing.assert_allclose(data.time, whole.time, atol=1e-15)
    assert data.attrs["steps"] > steps and data.attrs["status"] == "finished" and data.attrs["time_reached"] == 1.5
    for name in ("position", "rotation", "velocity", "acceleration", "reaction_force", "multiplier", "energy", "work"):
        scale = 1 + np.abs(whole[name].values).max()
        np.testing.assert_allclose(data[name], whole[name], atol=1e-6 * scale, err_msg=name)
        np.testing.assert_array_equal(data[name][:11], first[name], err_msg=name)
    if "event_time" in whole:
        assert data.event_name.values.tolist() == whole.event_name.values.tolist()
        np.testing.assert_allclose(data.event_time, whole.event_time, atol=1e-9)
        np.testing.assert_allclose(data.event_impulse, whole.event_impulse, atol=1e-7)
        np.testing.assert_allclose(data.height, whole.height, atol=1e-9)
    assert sorted(os.listdir(folder)) == ["lock", "result.nc", "state"]
    assert ts.resume(folder, build()).identical(data) and ts.resume(folder, build(), until=1.5).identical(data)
    more = ts.resume(folder, build(), until=1.62, outputs=[1.55, 1.62])
    np.testing.assert_allclose(more.time, [*whole.time.values, 1.55, 1.62], atol=1e-14)
    again = ts.resume(folder, build(), until=1.8, outputs=3)
    np.testing.assert_allclose(again.time[-4:], [1.62, 1.68, 1.74, 1.8], atol=1e-14)
    np.testing.assert_array_equal(again.position[:18], more.position)


def test_fixed_steps_go_on_with_the_same_bits(folder):
    options = {"method": "rkmk4", "step": 2**-7}
    whole = ts.simulate(driven(), 2.0, outputs=8, **options)
    ts.simulate(driven(), 1.0, outputs=4, checkpoint=folder, **options)
    data = ts.resume(folder, driven(), until=2.0)
    np.testing.assert_array_equal(data.position, whole.position)
    assert data.attrs["steps"] == whole.attrs["steps"]


def test_further_outputs_are_as_far_apart_as_before(folder):
    ts.simulate(driven(), 0.5, outputs=[0.0, 0.1, 0.3, 0.5], checkpoint=folder)
    data = ts.resume(folder, driven(), until=1.0)
    np.testing.assert_allclose(data.time, [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0], atol=1e-14)
    data = ts.resume(folder, driven(), until=1.05)
    np.testing.assert_allclose(data.time[-2:], [1.0, 1.05], atol=1e-14)


def test_a_run_that_was_stopped_goes_on_beyond_its_end(folder):
    from test_checkpoint import stopped

    stopped(driven(), folder, after=2, until=1.0, outputs=10, checkpoint_interval=0.1)
    data = ts.resume(folder, driven(), until=1.2)
    whole = ts.simulate(driven(), 1.2, outputs=12)
    np.testing.assert_allclose(data.position, whole.position, atol=1e-7)


def test_what_cannot_be_extended_says_why(folder, tmp_path):
    ts.simulate(driven(), 1.0, outputs=4, checkpoint=folder)
    with pytest.raises(ts.OptionError, match="ends at 1 s; give a later time, got 0.5"):
        ts.resume(folder, driven(), until=0.5)
    with pytest.raises(ts.OptionError, match="until must be a positive number of seconds"):
        ts.resume(folder, driven(), until="later")
    with pytest.raises(ts.OptionError, match="give times after the former end at 1 s, got 0.9"):
        ts.resume(folder, driven(), until=2.0, outputs=[0.9, 2.0])
    with pytest.raises(ts.OptionError, match="give the time `until`"):
        ts.resume(folder, driven(), outputs=3)
    assert ts.resume(folder, driven()).attrs["time_reached"] == 1.0  # nothing was changed
    model = ball()
    model.when(model["ball"].position[2] <= 0.5, ts.end())
    ts.simulate(model, 1.0, checkpoint=tmp_path / "ended")
    with pytest.raises(ts.OptionError, match="ended .* cannot go on"):
        ts.resume(tmp_path / "ended", model, until=2.0)


def test_the_command_line_extends_a_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert status_of("run pendulum --until 1 --outputs 4 --checkpoint kept".split()) == 0
    assert status_of("resume kept --until 2 --out longer.nc".split()) == 0
    data = ts.load_result("longer.nc")
    np.testing.assert_allclose(data.time, np.arange(9) / 4)
    assert status_of("resume kept --until 1".split()) == 2
    assert "give a later time" in capsys.readouterr().err
