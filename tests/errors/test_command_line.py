"""The command line: what it prints, what it keeps and with which status it ends."""

import os
import signal
import subprocess
import sys

import pytest

import torsor as ts
from torsor.cli import status_of

PENDULUM = """
import torsor as ts

model = ts.Model("pendulum", gravity=(0, 0, -9.81))
damping = model.parameter("damping", 0.0)
bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
hinge = model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
model.add(ts.EnergyForce("friction", dissipated=damping * bob.angular_velocity[1] ** 2 / 2))
until = 1.0
"""
CHAIN = """
import torsor as ts

def build(n=2):
    model = ts.Model("chain", gravity=(0, 0, -9.81))
    last = model.ground
    for k in range(n):
        link = model.body(f"link{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(k + 0.5, 0, 0))
        model.add(ts.Revolute(f"hinge{k}", last, link, point=(k, 0, 0), axis=(0, 1, 0)))
        last = link
    return model
"""
STIFF = """
import torsor as ts

model = ts.Model("stiff")
bob = model.body("bob", mass=1.0, inertia=0, at=(1, 0, 0))
model.add(ts.EnergyForce("spring", energy=1e8 * bob.position[0] ** 2 / 2))
until = 10
"""
ROBOT = """
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 0.25"/><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.001"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/><dynamics friction="0.05"/>
  </joint>
</robot>
"""
EMPTY = "import torsor as ts\nmodel = ts.Model('m')\n"
TURNING = {"rotation.png", "euler.png", "determinant.png"}
PICTURES = {"energy.png", "drift.png", "coordinates.png", "reactions.png", "paths.png", "snapshots.png"} | TURNING


@pytest.fixture
def torsor(tmp_path, monkeypatch, capsys):
    """Run a command line in a folder with model files; returns status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name, text in {"pendulum.py": PENDULUM, "chain.py": CHAIN, "stiff.py": STIFF}.items():
        (tmp_path / name).write_text(text)

    def command(line):
        status = status_of(line.split())
        return status, *capsys.readouterr()

    return command


def refused(answer, *words):
    status, _, trouble = answer
    assert status == 2
    assert trouble.startswith("torsor: ") and trouble.count("\n") == 1, trouble
    for word in words:
        assert word in trouble, trouble


def test_a_run_ends_with_a_summary_a_file_and_plots(torsor):
    status, text, trouble = torsor("run pendulum.py --outputs 20 --out result.nc --plot pictures")
    assert (status, trouble) == (0, "")
    for word in ("pendulum: finished", "steps", "rejected", "energy balance", "relative", "drift", "position",
                 "velocity", "orthogonality", "preparation", "1 s in", "result.nc"):  # fmt: skip
        assert word in text, word
    assert ts.load_result("result.nc").sizes["time"] == 21
    assert set(os.listdir("pictures")) == PICTURES


def test_a_stored_result_is_drawn_again(torsor):
    torsor("run pendulum.py --outputs 20 --out result.nc")
    assert torsor("plot result.nc pictures")[0] == 0
    assert set(os.listdir("pictures")) == PICTURES


def test_options_reach_the_run(torsor):
    line = "run pendulum.py --until 0.5 --step 0.01 --method rkmk4 --projection baumgarte:alpha=5 --map cayley"
    assert torsor(f"{line} --outputs 0,0.25,0.5 --set damping=0.5 --formulation absolute --out r.nc")[0] == 0
    data = ts.load_result("r.nc")
    assert data["time"].values.tolist() == [0.0, 0.25, 0.5]
    for word in ('"step": 0.01', '"method": "rkmk4"', "Baumgarte", "alpha=5", '"map": "cayley"', '"damping": 0.5'):
        assert word in data.attrs["options"]
    assert data.attrs["work_done"] < 0
    assert torsor("run pendulum.py --tolerance 1e-5 --projection post --out r.nc")[0] == 0
    assert (
        '"tolerance": 1e-05' in ts.load_result("r.nc").attrs["options"]
        and "Post(" in ts.load_result("r.nc").attrs["options"]
    )


def test_settings_reach_the_builder_of_a_file_and_of_a_case(torsor):
    assert "chain: 4 bodies" in torsor("info chain.py --set n=4")[1]
    assert "7 bodies" in torsor("info four-bar --set n=3")[1]


def test_a_case_runs_by_its_name(torsor):
    status, text, _ = torsor("run pendulum --until 0.5")
    assert status == 0 and "0.5 s in" in text


def test_a_robot_runs_from_its_file_and_what_is_left_out_is_told(torsor, tmp_path):
    (tmp_path / "arm.urdf").write_text(ROBOT)
    status, text, told = torsor("run arm.urdf --until 0.2 --formulation relative")
    assert status == 0 and "arm: finished" in text
    assert told.startswith("arm.urdf: 1 note on") and "friction" in told and told.count("\n") == 2
    for line in (
        "info arm.urdf",
        "modes arm.urdf",
        "study arm.urdf --until 0.1 --reduce last",
        "assemble arm.urdf --target shoulder=0.1",
    ):
        status, text, told = torsor(line)
        assert status == 0 and text and told.startswith("arm.urdf: 1 note on") and "friction" in told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ROBOT.replace("</robot>", ""), ("broken.urdf:",)),
        (ROBOT.replace('"upper"/>', '"lower"/>'), ("broken.urdf:", "lower")),
        (ROBOT.replace("robot", "machine"), ("broken.urdf:", "<machine>", "<robot>")),
        (ROBOT, ("broken.urdf: does not say how long to run: give --until",)),
    ],
)
def test_a_broken_robot_ends_with_one_message(torsor, tmp_path, text, words):
    (tmp_path / "broken.urdf").write_text(text)
    refused(torsor("run broken.urdf"), *words)


def test_the_table_of_cases_has_every_case(torsor):
    status, text, _ = torsor("cases")
    assert status == 0
    told = text.splitlines()
    assert [line.split()[0] for line in told[3:] if not line.startswith(" ")] == ts.cases.names()
    assert max(len(line) for line in told) <= 80


def test_info_names_what_is_redundant(torsor):
    status, text, _ = torsor("info four-bar --set n=1")
    assert status == 0
    words = " ".join(text.split())
    for word in ("generic 1", "by counting (Grübler) -2", "independent loops 1", "of which 3 redundant",
                 "translation along z", "reactions that are not unique", "rate "):  # fmt: skip
        assert word in words, word


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("run nothing", ("'nothing' is neither a case nor a file", "four-bar")),
        ("run nothing.py", ("cannot read 'nothing.py'", "No such file")),
        ("run nothing.urdf", ("nothing.urdf",)),
        ("run .", ("'.' is a folder",)),
        ("run", ("Missing argument", "torsor run --help")),
        ("walk", ("No such command 'walk'",)),
        ("run chain.py", ("chain.py: does not say how long to run", "--until")),
        ("run pendulum.py --untill 3", ("No such option", "--untill")),
        ("run pendulum.py --until soon", ("'--until'", "'soon' is not a number")),
        ("run pendulum.py --until 0", ("until must be a positive number",)),
        ("run pendulum.py --until nan", ("until must be a positive number",)),
        ("run pendulum.py --method rk4", ("unknown integrator 'rk4'", "rkmk54")),
        ("run pendulum.py --method rkmk4", ("give a positive `step`",)),
        ("run pendulum.py --step -1", ("step must be a positive number", "-1")),
        ("run pendulum.py --formulation fast", ("unknown formulation 'fast'", "absolute")),
        ("run pendulum.py --projection lsq", ("unknown projection 'lsq'", "least-squares")),
        ("run pendulum.py --map log", ("unknown map 'log'", "cayley")),
        ("run pendulum.py --tolerance 2", ("tolerance must lie between",)),
        ("run pendulum.py --outputs some", ("--outputs 'some'", "number of intervals")),
        ("run pendulum.py --outputs 0,2", ("time 2 lies beyond the end",)),
        ("run pendulum.py --set damping", ("write NAME=VALUE",)),
        ("run pendulum.py --step 0.1 --method generalized-alpha:rho=2", ("rho must lie between 0 and 1, got 2.0",)),
        ("run pendulum.py --method variational", ("'variational' has no step-size control", "give a positive `step`")),
        ("run pendulum.py --set length=2", ("--set length", "Known: damping")),
        ("run pendulum.py --set damping=much", ("parameter 'damping'", "'much'")),
        ("run four-bar --set m=2", ("--set m", "Known: n")),
        ("run four-bar --set n=two", ("n must be a whole number", "'two'")),
        ("run pendulum.py --out nowhere/r.nc", ("cannot write 'nowhere/r.nc'", "no folder")),
        ("run pendulum.py --out .", ("not a regular file",)),
        ("run pendulum.py --plot pendulum.py", ("cannot write plots to 'pendulum.py'",)),
        ("info nothing", ("'nothing' is neither a case nor a file",)),
        ("plot nothing.nc pictures", ("cannot read 'nothing.nc'", "no such file")),
        ("plot pendulum.py pictures", ("cannot read 'pendulum.py'", "not a NetCDF")),
    ],
)  # fmt: skip
def test_bad_input_ends_with_one_message(torsor, line, words):
    refused(torsor(line), *words)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import torsor as ts\nmodel = ts.Model('m'\n", ("bad.py:2: SyntaxError",)),
        ("x = 1\ny = x / 0\n", ("bad.py:2: ZeroDivisionError: division by zero",)),
        ("import nowhere_to_be_found\n", ("bad.py:1: ModuleNotFoundError", "nowhere_to_be_found")),
        (f"{EMPTY}model.body('b', mass=-1, inertia=0)\n", ("bad.py:3: body 'b': mass", "-1")),
        ("def build():\n    return missing\n", ("bad.py:2: NameError", "missing")),
        ("def build():\n    return 3\n", ("bad.py: must define `model`", "found a int")),
        ("x = 1\n", ("bad.py: must define `model`", "no `model` and no function `build()`")),
        ("import sys\nsys.exit(4)\n", ("bad.py: called exit(4)",)),
        (EMPTY, ("model 'm' has no bodies",)),
    ],
)
def test_a_mistake_in_a_model_file_is_shown_with_its_line(torsor, tmp_path, code, words):
    (tmp_path / "bad.py").write_text(code)
    refused(torsor("run bad.py --until 1"), *words)


def test_an_integration_that_fails_keeps_its_result(torsor):
    status, text, trouble = torsor("run stiff.py --method rkmk4 --step 0.01 --out result.nc --plot pictures")
    assert status == 3
    assert trouble.startswith("torsor: model 'stiff': stopped at") and trouble.count("\n") == 1
    assert "no longer finite" in text
    assert ts.load_result("result.nc").sizes["time"] > 1
    without_joints = PICTURES - {"coordinates.png", "reactions.png"}
    assert set(os.listdir("pictures")) == without_joints


ANNOUNCED = (
    PENDULUM
    + """
from torsor.run import runner

march = runner.Runner.run

def announced(self, progress=None):
    print("running", flush=True)
    return march(self, progress)

runner.Runner.run = announced
"""
)


def test_an_interrupted_run_keeps_its_result(tmp_path):
    (tmp_path / "long.py").write_text(ANNOUNCED)
    line = "run long.py --until 1e8 --outputs 1000000 --step 0.1 --method rkmk4 --out result.nc --plot pictures"
    command = [sys.executable, "-m", "torsor", *line.split()]
    child = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "running\n"
    try:
        child.wait(0.5)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGINT)
    text, trouble = child.communicate(timeout=300)
    assert child.returncode == 130, trouble
    assert "pendulum: interrupted" in text
    assert trouble.startswith("torsor: interrupted at t = ") and trouble.count("\n") == 1, trouble
    assert 0 < ts.load_result(tmp_path / "result.nc").sizes["time"] < 1_000_001
    assert set(os.listdir(tmp_path / "pictures")) == PICTURES


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import torsor", ("typer", "rich", "numba", "xarray", "matplotlib")),
        ("from torsor.cli import status_of; status_of(['--help'])", ("numba", "llvmlite", "xarray", "matplotlib")),
        (
            "import torsor as ts; ts.simulate(ts.cases.load('pendulum'), 0.1)",
            ("numba", "typer", "rich", "matplotlib", "netCDF4"),
        ),
    ],
)
def test_import_help_and_runs_load_nothing_heavy_that_they_do_not_need(code, heavy):
    """A run in memory needs no compiler of loops, no command line, no pictures and no files."""
    if "simulate" in code:
        ts.simulate(ts.cases.load("pendulum"), 0.1)  # loops of a checkout that changed are compiled here
    code += f"\nimport sys\nprint([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


def test_help_and_version_end_well(torsor):
    assert torsor("--help")[0] == torsor("")[0] == 0
    assert torsor("--version")[:2] == (0, f"torsor {ts.__version__}\n")
    for command in ("run", "cases", "info", "plot"):
        assert torsor(f"{command} --help")[0] == 0


def test_check_says_what_holds(torsor):
    status, out, _ = torsor("check chain.py --until 0.2 --set n=1")
    assert status == 0
    assert [line.split("  ")[0] for line in out.splitlines() if " holds " in line] == [
        "energy balance", "no drift", "formulations agree", "placed anywhere"
    ]  # fmt: skip
    refused(torsor("check chain.py"), "chain.py: does not say how long to run: define `until` in it, or give --until")


def test_check_ends_with_status_3_where_something_does_not_hold(torsor):
    status, out, _ = torsor("check chain.py --until 5 --set n=3 --tolerance 0.01")
    assert status == 3
    assert "energy balance      FAILS  energy balance of 'chain'" in out and "no drift            holds" in out


def test_threads_are_for_large_models(torsor):
    refused(torsor("run chain.py --until 0.1 --threads 2"), "cannot be run by threads", "more than 64 bodies")
    refused(torsor("run chain.py --until 0.1 --threads 0"), "threads must be a whole number of at least 1")


@pytest.mark.parametrize(
    "command, status",
    [(["cases"], 0), (["run", "heavy-top", "--until", "0.01", "--out", "kept.nc"], 0), (["run", "no"], 2)],
)
def test_a_command_whose_reader_has_gone_ends_as_ever(tmp_path, command, status):
    """`torsor … | head`: what is kept is kept, nothing is said about the pipe."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "torsor", *command], stdout=writer, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    os.close(writer)
    assert done.returncode == status
    assert "Broken" not in done.stderr and "Traceback" not in done.stderr
    assert (tmp_path / "kept.nc").exists() == ("--out" in command)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a system without a device that is always full")
def test_a_standard_output_that_takes_no_more_is_told():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "torsor", "study", "--help"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr == "torsor: cannot write to standard output: No space left on device\n"
