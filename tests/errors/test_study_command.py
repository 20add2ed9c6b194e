"""`torsor study`: values on the command line, what is written, and what is refused."""

import os
import signal
import time

import numpy as np
import pytest

import torsor as ts
from torsor.cli import status_of
from torsor.studies import job_dispatch
from torsor.studies.run_session import INTERRUPTED, Session

FILE = """
import torsor as ts

def build(count=1):
    model = ts.Model("swing", gravity=(0, 0, -9.81))
    mass, length = model.parameter("m", 1.0, positive=True), model.parameter("l", 1.0, positive=True)
    bob = model.body("bob", mass=mass, inertia=(0.1, 0.1, 0.1), at=(length, 0, 0))
    model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    return model
until = 0.2
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "swing.py").write_text(FILE)
    return str(tmp_path / "swing.py")


def test_lists_ranges_and_grids_become_runs(file, tmp_path, capsys):
    out = str(tmp_path / "study.nc")
    asked = ["study", file, "--set", "m=0.5:2:4", "--set", "l=1,2", "--set", "count=3", "--grid", "--reduce", "last"]
    assert status_of([*asked, "--out", out, "--keep", "energy", "--keep", "coordinate", "--threads", "1"]) == 0
    data = ts.load_result(out)
    assert data.sizes["run"] == 8 and list(data.m[::2]) == [0.5, 1.0, 1.5, 2.0] and set(data.l.values) == {1.0, 2.0}
    assert "8, 0 failed" in capsys.readouterr().out
    table = str(tmp_path / "study.csv")
    assert status_of(["study", file, "--set", "m=1,2", "--outputs", "4", "--csv", table]) == 0
    assert len(np.loadtxt(table, delimiter=",", skiprows=1, usecols=0)) == 10


def test_a_file_lists_runs(file, tmp_path, capsys):
    runs, out = tmp_path / "runs.csv", str(tmp_path / "study.nc")
    runs.write_text("# drawn by hand\nm;l\n1,5;2\n3;0,5\n")
    asked = ["study", file, "--runs", str(runs), "--reduce", "last"]
    assert status_of([*asked, "--keep", "coordinate", "--out", out]) == 0
    data = ts.load_result(out)
    assert (data.m.values.tolist(), data.l.values.tolist()) == ([1.5, 3.0], [2.0, 0.5])
    for separator in (",", " "):  # the names are a comment then
        np.savetxt(runs, [[1.5, 2.0], [3.0, 0.5]], header=separator.join("ml"), delimiter=separator)
        assert status_of([*asked, "--keep", "coordinate", "--out", out]) == 0
        assert ts.load_result(out).identical(data)
    for arguments, content, message in (
        (["--grid"], "m,l\n1,2\n", "--runs: not together with --grid"),
        (["--set", "m=1"], "m,l\n1,2\n", "'m' is given twice, with --set and as a column"),
        ([], "m,l\n1,heavy\n", "line 2: l must be a number, got 'heavy'"),
        ([], "m,z\n1,2\n", "has no parameter 'z' that could vary. Known: m, l."),
        ([], "m,l\n", "has names of columns, and no line for any run"),
        ([], "m,m\n1,2\n", "column 'm' is there more than once"),
    ):
        runs.write_text(content)
        capsys.readouterr()
        assert status_of([*asked, *arguments]) == 2
        assert message in capsys.readouterr().err


def test_ratios_words_with_commas_and_starts(file, tmp_path):
    out = str(tmp_path / "study.nc")
    asked = [
        "study",
        file,
        "--set",
        "m=1:100:3:log",
        "--reduce",
        "min,max",
        "--keep",
        "energy,coordinate",
        "--out",
        out,
    ]
    assert status_of([*asked, "--start", "hinge=0:1:3", "--start", "hinge.rate=2"]) == 0
    data = ts.load_result(out)
    np.testing.assert_allclose(data.m, [1, 10, 100], rtol=1e-15)
    assert data["start.hinge"].values.tolist() == [0, 0.5, 1] and set(data["start.hinge.rate"].values) == {2.0}
    assert {"energy_min", "energy_max", "coordinate_min", "coordinate_max"} < set(data.data_vars)
    np.testing.assert_array_equal(data.coordinate_min[:, 0], [0, 0.5, 1])


def test_where_all_runs_fail_the_status_is_3_and_the_messages_are_kept(file, tmp_path, capsys):
    out = str(tmp_path / "study.nc")
    assert status_of(["study", file, "--set", "m=-1,-2", "--reduce", "last", "--out", out]) == 3
    assert "all 2 runs of the study failed" in capsys.readouterr().err
    assert ts.load_result(out).message.values.tolist()[1] == "parameter 'm': must be positive, got -2.0"


def test_runs_that_fail_give_status_3_and_bad_input_status_2(file, capsys):
    assert status_of(["study", file, "--set", "m=-1,1", "--reduce", "last"]) == 3
    assert "run 0: parameter 'm': must be positive, got -1.0" in capsys.readouterr().out
    for arguments, message in (
        (["--set", "m=1:2"], "write FIRST:LAST:COUNT as in 1:10:50"),
        (["--set", "z=1,2"], "has no parameter 'z' that could vary. Known: m, l."),
        (["--set", "count=1,2"], "Options of a case or of build() take one value"),
        (["--set", "m=1,2", "--set", "m=3,4"], "--set m: it is given twice"),
        (["--set", "m=1:1e999:3"], "or values as in 0.5,1,2, all of them finite"),
        (["--set", "m=0:1:10000000000000"], "and 1000000000 at most"),
        (["--start", "hinge=0:1:3", "--start", "hinge=2"], "--start hinge: it is given twice, as 0:1:3 and as 2"),
        (["--start", "bob.velocity=0:1:3"], "--start bob.velocity=0:1:3: bob.velocity is several numbers"),
        (["--keep", ""], "there is no variable ''"),
        (["--set", "m=0:1:3:log"], "FIRST:LAST:COUNT:log as in 1:100:5:log"),
        (
            ["--set", "m=1,2", "--set", "l=1,2,3"],
            "unequal length: parameter 'm' has 2, parameter 'l' has 3. Give each run",
        ),
        (["--set", "m=1,2", "--set", "l=1,2,3"], "take every combination with --grid"),
        (["--out", "study.xlsx"], ".xlsx is not written here"),
        (["--reduce", "median"], "reduce must be 'last'"),
        (["--out", "/nowhere/x.nc"], "there is no folder"),
        (["--out", "study/"], "cannot write 'study/': it is not a file name"),
    ):
        assert status_of(["study", file, *arguments]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("done", [0, 2])
def test_a_study_that_is_interrupted_writes_what_it_has(file, tmp_path, capsys, monkeypatch, number, status, done):
    """The signal comes while a portion is carried out, which then takes its time to end."""
    carry_out, count = Session.carry_out, []

    def carried(self, first, values, pushes, stop):
        count.append(first)
        if len(count) > done:
            os.kill(os.getpid(), number)
            while not stop():
                time.sleep(0.01)
            time.sleep(0.6)
        return carry_out(self, first, values, pushes, stop)

    monkeypatch.setattr(Session, "carry_out", carried)
    monkeypatch.setattr(job_dispatch, "MAX_GROWTH", 1)
    out = tmp_path / "study.nc"
    asked = ["study", file, "--set", "m=1,2,3,4,5,6", "--reduce", "last", "--threads", "1", "--out", str(out)]
    assert status_of(asked) == status
    said = capsys.readouterr().err
    assert said.count("torsor:") == 1 and ("interrupted" if done or status == 130 else "SIGTERM") in said
    assert out.exists() == bool(done)
    if done:
        there = (ts.load_result(out).message != INTERRUPTED).values
        assert there[: count[done]].all() and not there[count[done] :].any()
