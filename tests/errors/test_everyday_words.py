"""What is wrong in everyday calls is told with what was given, where, and what is allowed."""

import math
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

import torsor as ts
from torsor.cli import status_of


def arm():
    """Two rods on hinges; a motor stands on an input and is damped."""
    model = ts.Model("arm")
    before = model.ground
    for k in range(2):
        rod = model.body(f"rod{k}", mass=1.0, inertia=(0.01, 0.1, 0.1), at=(k + 0.5, 0, 0))
        hinge = model.add(ts.Revolute(f"hinge{k}", before, rod, point=(k, 0, 0), axis="z"))
        before = rod
    model.add(ts.JointForce("motor", hinge, model.input("torque") - model.parameter("damping", 0.1) * hinge.rate[0]))
    return model


def controlled(**given):
    model = arm()
    return model.add(ts.Controller("pilot", 0.1, [model["hinge0"].coordinate], ["u"], **given))


def closed():
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    return pool


KNOWN = r"Known: hinge0, hinge1\."
CALLS = {
    "a drive of nothing": (
        lambda: ts.kinematics(arm(), {"hing0": ts.time}, [0, 1]),
        rf"drives: 'hing0' is not the coordinate of a joint of model 'arm'. Did you mean 'hinge0'\? {KNOWN}",
    ),
    "a range of a body": (lambda: ts.range_of_motion(arm(), "rod0"), rf"range_of_motion: 'rod0' is not .*{KNOWN}"),
    "a range of several": (lambda: ts.range_of_motion(arm(), ["hinge0"]), rf"\['hinge0'\] is not .*{KNOWN}"),
    "limits of nothing": (
        lambda: ts.assemble(arm(), {"hinge0": 0.1}, limits={"hing1": (0, 1)}),
        rf"limits: 'hing1' is not .*{KNOWN}",
    ),
    "too few drives": (
        lambda: ts.kinematics(arm(), {"hinge0": ts.time}, [0, 1]),
        r"1 of its degrees of freedom are not driven.* Driven: hinge0; free to move: hinge1, and with them rod1$",
    ),
    "an input that is none": (
        lambda: ts.equilibrium(arm(), inputs={"tork": 1.0}),
        r"equilibrium: model 'arm' has no input 'tork'. Known: torque\.",
    ),
    "inputs in a list": (
        lambda: ts.equilibrium(arm(), inputs=["torque"]),
        r"inputs must be numbers by name.*\['torque'\]",
    ),
    "a law that cannot be compiled": (
        lambda: controlled(function=lambda t, u: math.sin(u[0]), compiled=True),
        "controller 'pilot': its function cannot be compiled: .*has no number before a run",
    ),
    "an executor that is closed": (
        lambda: ts.study(arm(), 0.1, {"damping": [1, 2]}, executor=closed()),
        "study: the executor takes no runs: cannot schedule new futures after shutdown",
    ),
    "an empty table of runs": (lambda: ts.study(arm(), 0.1, pd.DataFrame()), "study: the table of parameters is empty"),
    "progress in words": (
        lambda: ts.study(arm(), 0.1, {"damping": [1, 2]}, progress="loud"),
        "progress must be True, False or None, got 'loud'",
    ),
    "a coordinate that is set": (
        lambda: ts.Simulation(arm()).coordinates.__setitem__("hinge0", 1.0),
        "'hinge0' follows from the motion and cannot be set to 1.0: `reset`",
    ),
    "an action on a name": (
        lambda: arm().when(ts.time >= 1, ts.release("hinge7"), name="let_go"),
        "event 'let_go': action 'release': give joints, constraints, forces or rules, got 'hinge7'",
    ),
    "a table with a number for a name": (
        lambda: ts.table([0, 1], [0, 1], name=3),
        "table: its name must be a text, got 3",
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_it_is_told(call):
    make, words = CALLS[call]
    with pytest.raises(ts.TorsorError, match=words):
        make()


COMMANDS = {
    "run pendulum --set n=1 --set n=2": "--set n: it is given twice, as 1 and as 2",
    "run pendulum --start hinge": "--start hinge: there is no such file; values are written as in hinge=0.3",
    "run measured.csv --until 1": "'measured.csv' is no model: give a case, or a Python, YAML, URDF, MJCF, SDF or CAD file",
}


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_tell_it_too(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "measured.csv").write_text("a,b\n1,2\n")
    assert status_of(line.split()) == 2 and COMMANDS[line] in capsys.readouterr().err
