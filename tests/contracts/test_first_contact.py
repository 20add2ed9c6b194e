"""First contact: `torsor` alone, `torsor new`, `torsor doctor`."""

import re

import torsor as ts
from torsor.cli import status_of
from torsor.cli.commands import app
from torsor.cli.model_source import load


def test_torsor_alone_names_commands_that_exist(capsys):
    assert status_of([]) == 0
    shown = capsys.readouterr().out
    commands = {c.name or c.callback.__name__ for c in app.registered_commands}
    named = set(re.findall(r"^  torsor ([a-z]+)", shown, re.M)) | set(
        re.search("torsor (study.*)$", shown, re.M).group(1).split(", ")
    )
    assert named - commands == set()
    assert {"new", "run", "info", "cases", "doctor", "study"} <= named


def test_a_new_model_runs_and_bounces(tmp_path, monkeypatch, capsys):
    """The file is a model of two bodies whose ball hits the wall; energy is lost by impacts and by the bearing alone."""
    monkeypatch.chdir(tmp_path)
    assert status_of(["new", "swing"]) == 0
    assert "torsor run swing.py" in capsys.readouterr().out
    found = load("swing.py", {})
    data = ts.simulate(found.model, found.until(), outputs=20)
    lost = data.energy[-1] - data.energy[0] - data.work[-1]
    assert data.energy_by_events[-1] < -0.1
    assert abs(lost - data.energy_by_events[-1]) < 1e-6
    assert data.work[-1] < 0  # of the damper
    assert (data.position.sel(body="ball", axis="x") > -0.14 - 1e-9).all()  # the wall, and the radius of the ball


def test_new_keeps_what_is_there_and_refuses_odd_names(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("model = 1\n")
    assert status_of(["new", "mine.py"]) == 2
    assert "'mine.py' exists already" in capsys.readouterr().err
    assert (tmp_path / "mine.py").read_text() == "model = 1\n"
    assert status_of(["new", "my model.py"]) == 2
    assert "give a file name of letters, digits and '_'" in capsys.readouterr().err
    assert status_of(["new", "nowhere/mine.py"]) == 2
    assert "cannot write 'nowhere/mine.py'" in capsys.readouterr().err


def test_doctor_says_that_all_works(capsys):
    assert status_of(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert "a pendulum runs" in shown and shown.endswith("everything that is needed works\n")


def test_doctor_says_what_to_do(tmp_path, monkeypatch, capsys):
    """A cache in which nothing can be written, and extras that are absent."""
    from importlib import util

    found = util.find_spec
    monkeypatch.setenv("TORSOR_CACHE", str(tmp_path / "file"))
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(util, "find_spec", lambda name, *a: None if name == "mujoco" else found(name, *a))
    assert status_of(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert "TORSOR_CACHE" in shown and "pip install 'torsor[mjcf]'" in shown


def test_doctor_fails_where_something_necessary_is_missing(monkeypatch, capsys):
    from torsor.cli import doctor_command

    known = doctor_command.version_of
    monkeypatch.setattr(doctor_command, "version_of", lambda name: None if name == "xarray" else known(name))
    assert status_of(["doctor"]) == 2
    shown = capsys.readouterr().out
    assert "WRONG  is not installed: pip install xarray" in shown and "1 of the above must be mended" in shown
