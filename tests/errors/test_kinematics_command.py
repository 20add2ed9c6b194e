"""The command `torsor kinematics`: what it prints, what it keeps and with which status it ends."""

import numpy as np
import pytest

import torsor as ts
from torsor.cli import status_of

LINKAGE = """
import torsor as ts

model = ts.Model("linkage", gravity=(0, 0, -9.81))
length = model.parameter("length", 0.6)
crank = model.body("crank", mass=1.0, inertia=(0.01, 0.02, 0.02), at=(0.1, 0, 0))
block = model.body("block", mass=1.0, inertia=(0.01, 0.01, 0.01), at=(0.8, 0, 0))
model.add(ts.Revolute("shaft", model.ground, crank, point=(0, 0, 0), axis="y"))
model.add(ts.Prismatic("guide", model.ground, block, axis="x"))
model.add(ts.Distance("rod", crank, block, points=((0.2, 0, 0), (0.8, 0, 0)), length=length))
until = 0.5
"""


@pytest.fixture
def torsor(tmp_path, monkeypatch, capsys):
    (tmp_path / "linkage.py").write_text(LINKAGE)
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        status = status_of(["kinematics", *arguments])
        return status, *capsys.readouterr()

    return run


def test_a_sweep_is_told_and_kept(torsor):
    status, out, _ = torsor("linkage.py", "--sweep", "shaft=0.1:6:30", "--out", "a.nc", "--csv", "a.csv")
    assert status == 0 and "linkage: kinematics" in out and "shaft" in out
    data = ts.load_result("a.nc")
    angle = data.drive_value.values[:, 0]
    np.testing.assert_allclose(angle, np.linspace(0.1, 6, 30), atol=1e-12)
    expected = 0.2 * np.cos(angle) + np.sqrt(0.36 - (0.2 * np.sin(angle)) ** 2) - 0.8
    np.testing.assert_allclose(data.coordinate.sel(joint_coordinate="guide"), expected, atol=1e-11)
    with open("a.csv") as file:
        header = file.readline().strip().split(",")
    assert header[0] == "sweep" and "shaft.drive_force [N or N m]" in header


def test_a_motion_over_time_takes_parameters_and_draws(torsor):
    status, out, _ = torsor(
        "linkage.py",
        "--drive",
        "shaft=0.2,10,1",
        "--outputs",
        "20",
        "--set",
        "length=0.6",
        "--plot",
        "pictures",
        "--out",
        "b.nc",
    )
    assert status == 0 and "coordinates.png" in out
    data = ts.load_result("b.nc")
    times = data.time.values
    assert len(times) == 21 and times[-1] == 0.5
    np.testing.assert_allclose(
        data.coordinate.sel(joint_coordinate="shaft"), 0.2 + 10 * times + times**2 / 2, atol=1e-12
    )


def test_ranges_are_told(torsor):
    status, out, _ = torsor("linkage.py", "--range", "shaft", "--range", "guide")
    assert status == 0 and "shaft: turns fully" in out and "guide: from -0.4 (dead point" in out


@pytest.mark.parametrize("side", [1, -1])
def test_a_sweep_begins_near_a_start(torsor, side):
    """The block at two fifths of its way: the crank is above or below."""
    status, _, _ = torsor("linkage.py", "--sweep", "guide=-0.1:-0.2:3", "--start", f"shaft={side}", "--out", "d.nc")
    shaft = ts.load_result("d.nc").coordinate.sel(joint_coordinate="shaft").values
    x = 0.7  # of the block; the law of cosines at the shaft
    assert status == 0 and shaft[0] == pytest.approx(side * np.arccos((0.04 + x**2 - 0.36) / (0.4 * x)), abs=1e-9)


def test_a_dead_point_ends_with_status_3_and_what_was_reached(torsor):
    status, out, err = torsor("linkage.py", "--sweep", "guide=-0.1:-0.5:20", "--out", "c.nc")
    assert status == 3 and "beyond guide = -0.4: dead point" in err
    assert 0 < ts.load_result("c.nc").sizes["sweep"] < 20


def test_forces_beside_a_singular_position_are_told(torsor):
    status, out, err = torsor("linkage.py", "--sweep", "guide=-0.1:-0.4:5")
    assert status == 0 and "singular" in out and "1 position" in out and "nan" not in out


def test_warnings_are_messages_of_one_line(torsor, tmp_path):
    (tmp_path / "led.py").write_text(LINKAGE + "model.state('way', rate=1.0)\n")
    status, out, err = torsor("led.py", "--drive", "shaft=0,1")
    assert status == 0 and "drive forces" in out
    assert err.startswith("torsor: warning: model 'linkage': nothing is integrated") and err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["--sweep", "shaft"], "--sweep shaft: write NAME=VALUES"),
        (["--sweep", "shaft=0:1"], "write FIRST:LAST:COUNT"),
        (["--sweep", "shaft=0:1:0"], "write FIRST:LAST:COUNT"),
        (["--sweep", "shaft=0:1:3", "--until", "2"], "--until: not together with --sweep"),
        (["--drive", "shaft=0,2", "--until", "0"], "until must be a positive number of seconds"),
        (["--range", "shaft", "--csv", "a.csv"], "--csv: --range alone prints ranges"),
        (["--drive", "shaft=1,2,3,4"], "one to three numbers"),
        (["--drive", "shaft=1", "--drive", "shaft=2"], "--drive shaft: it is given twice, as 1 and as 2"),
        (["--drive", "shaft=1", "--sweep", "shaft=0:1:3"], "give --sweep or --drive"),
        (["--range", "shft"], "Did you mean 'shaft'"),
        ([], "1 of its degrees of freedom are not driven"),
    ],
)
def test_mistakes_end_with_one_message(torsor, arguments, told):
    status, _, err = torsor("linkage.py", *arguments)
    assert status == 2 and told in err and "Traceback" not in err


def test_assemblies_are_told(torsor, capsys):
    status = status_of(["assemble", "linkage.py", "--target", "shaft=0.5", "--modes"])
    out = capsys.readouterr().out
    ends = 0.2 * np.cos(0.5) + np.array([1, -1]) * np.sqrt(0.36 - (0.2 * np.sin(0.5)) ** 2) - 0.8
    assert status == 0 and "2 assemblies" in out and all(f"{end:.9g}" in out for end in ends)
    assert status_of(["assemble", "linkage.py", "--target", "shaft=0.5,0.7"]) == 0
    assert "2 assemblies" in (out := capsys.readouterr().out) and f"{ends[0]:.9g}" in out
    pose = "crank.pose=0.0877582562,0,-0.0479425539,0,0.5,0"  # turned by 0.5 about y
    far = pose.replace("0.0877582562", "0.1")
    assert status_of(["assemble", "linkage.py", "--target", far, "--start", "shaft=0.4"]) == 2
    told = capsys.readouterr().err
    assert "out of reach" in told and "--least-squares returns it" in told and "of this error" not in told
    assert status_of(["assemble", "linkage.py", "--target", pose, "--least-squares"]) == 0
    assert "shaft     0.5" in capsys.readouterr().out
    for wrong, told in (
        ("shaft", "write NAME=VALUES"),
        ("shaft=one", "--target shaft=one: write NAME=VALUES"),
        ("crank.pose=1,2", "a pose is 3 numbers"),
        ("shft=1", "Did you mean"),
    ):
        assert status_of(["assemble", "linkage.py", "--target", wrong]) == 2
        assert told in capsys.readouterr().err
