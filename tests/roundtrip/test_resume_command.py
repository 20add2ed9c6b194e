"""`torsor resume`: goes on with what was begun, and runs nothing but what is given to it."""

import os
import subprocess
import sys

import pytest
from models import damped_pendulum as pendulum

import torsor as ts
from torsor.cli import status_of
from torsor.store import journal

PENDULUM = """
import torsor as ts

def build(n=1):
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    damping = model.parameter("damping", 0.1)
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(n, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.EnergyForce("friction", dissipated=damping * bob.angular_velocity[1] ** 2 / 2))
    return model
"""


def same(one, other):
    """The same numbers, whatever the clock said."""
    assert one.drop_attrs().identical(other.drop_attrs()) and one.attrs["steps"] == other.attrs["steps"]


@pytest.fixture
def torsor(tmp_path, monkeypatch, capsys):
    """Run a command line in a folder with a model file; returns status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "pendulum.py").write_text(PENDULUM)

    def command(line):
        status = status_of(line.split())
        return status, *capsys.readouterr()

    return command


ENDED = """
import os, signal, sys
from torsor.cli import main
from torsor.store.checkpoint import Checkpoint

commit, made = Checkpoint.commit, []

def ended(self, runner, status):
    made.append(commit(self, runner, status))
    if len(made) == 3:
        os.kill(os.getpid(), signal.SIGTERM)
    return made[-1]

Checkpoint.commit = ended
main(sys.argv[1:])
"""
SOURCE = "pendulum.py --set damping=0.2 --set n=2"
LINE = f"run {SOURCE}"


def test_sigterm_leaves_a_checkpoint_and_resume_goes_on(torsor, tmp_path):
    """143, a message that says how to go on, and the result of an undisturbed run; the model is built again by `resume`."""
    line = f"{LINE} --until 100 --outputs 300 --step 1e-3 --method rkmk4"
    command = [sys.executable, "-c", ENDED, *line.split(), "--checkpoint", "kept", "--checkpoint-interval", "5"]
    child = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    text, trouble = child.stdout, child.stderr
    assert child.returncode == 143, (text, trouble)
    assert "pendulum: interrupted" in text
    assert f"Go on with `torsor resume kept {SOURCE}`" in trouble and trouble.count("\n") == 1
    assert torsor(f"resume kept {SOURCE} --out resumed.nc --plot pictures")[0] == 0
    assert torsor(f"{line} --out whole.nc")[0] == 0
    same(ts.load_result("resumed.nc"), ts.load_result("whole.nc"))
    assert "energy.png" in os.listdir("pictures")
    assert torsor(f"resume kept {SOURCE} --out again.nc")[0] == 0
    same(ts.load_result("again.nc"), ts.load_result("whole.nc"))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("resume nowhere", "there is no such folder"),
        (f"{LINE} --until 1 --checkpoint-every 1", "need --checkpoint DIR"),
        (f"{LINE} --until 1 --checkpoint pendulum.py", "is not a folder"),
        (f"{LINE} --until 1 --checkpoint new --checkpoint-every never", "is not a number"),
    ],
)
def test_bad_input_on_the_command_line_ends_with_one_message(torsor, line, words):
    status, _, trouble = torsor(line)
    assert status == 2 and words in trouble and trouble.count("\n") == 1, trouble


def test_a_model_file_is_run_only_where_it_is_given_and_unchanged(torsor, tmp_path):
    """A folder may come from anybody: what it names is shown in the command to give, and never run."""
    assert torsor(f"{LINE} --until 1 --checkpoint kept")[0] == 0
    (tmp_path / "other.py").write_text("open('executed', 'w').close()\n")
    (tmp_path / "pendulum.py").write_text(PENDULUM + "open('executed', 'w').close()\n")
    for line in (
        "",
        " other.py",
        " pendulum.py --set damping=0.2 --set n=2",
        " four-bar",
        " pendulum.py",
        " nowhere.py",
    ):
        status, _, trouble = torsor(f"resume kept{line}")
        assert status == 2 and trouble.count("\n") == 1
        assert f"`torsor resume kept {SOURCE}`" in trouble or "nowhere.py" in line, trouble
    assert not (tmp_path / "executed").exists()
    (tmp_path / "pendulum.py").write_text(PENDULUM)
    assert torsor(f"resume kept {SOURCE}")[0] == 0
    status, _, trouble = torsor("resume kept pendulum.py --set damping=0.2")
    assert status == 2 and "other settings" in trouble and f"`torsor resume kept {SOURCE}`" in trouble


@pytest.mark.parametrize(
    "stored",
    [{"given": "evil.py", "settings": {}}, {"given": "evil.py", "settings": {}, "digest": None}, {"given": 3}, [], "evil.py",
     {"given": "evil.py", "settings": {"n": [1]}, "digest": ""}],
)  # fmt: skip
def test_what_a_forged_folder_names_is_not_run(torsor, tmp_path, stored):
    assert torsor("run pendulum --until 0.1 --checkpoint kept")[0] == 0
    (tmp_path / "evil.py").write_text("open('executed', 'w').close()\n")
    facts, arrays = journal.unpack((tmp_path / "kept" / "state").read_bytes(), "state")
    facts["static"]["source"] = stored
    (tmp_path / "kept" / "state").write_bytes(journal.pack(facts, arrays))
    status, _, trouble = torsor("resume kept")
    assert status == 2 and trouble.count("\n") == 1 and not (tmp_path / "executed").exists()


def test_a_case_is_resumed_by_the_name_of_its_folder(torsor):
    assert torsor("run four-bar --set n=1 --until 0.1 --checkpoint kept")[0] == 0
    assert torsor("resume kept")[0] == torsor("resume kept four-bar --set n=1")[0] == 0


def test_a_run_that_was_started_from_python_goes_on_with_a_file_that_has_its_model(torsor):
    ts.simulate(pendulum(), 1.0, checkpoint="python")
    status, _, trouble = torsor("resume python")
    assert status == 2 and "started from Python: go on with torsor.resume" in trouble
    assert torsor("resume python pendulum.py")[0] == 0
    assert "another model" in torsor("resume python pendulum.py --set n=2")[2]


def test_a_file_that_is_named_like_a_case_does_not_take_its_place(torsor, tmp_path):
    (tmp_path / "four-bar").write_text("open('executed', 'w').close()\n" + PENDULUM)
    status, text, trouble = torsor("info four-bar")
    assert status == 0 and text.startswith("four-bar") and "the file of that name is ./four-bar" in trouble
    assert not (tmp_path / "executed").exists()
    status, text, trouble = torsor("info ./four-bar")
    assert status == 0 and text.startswith("pendulum") and trouble == ""
