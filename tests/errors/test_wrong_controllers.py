"""Controllers that cannot be, and functions that fail: each is told with its name, what was given, and what is allowed."""

import math
import pathlib
import re
import time
import traceback

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.cli import status_of


def cart():
    model = ts.Model("cart")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis="x"))
    model.signal("speed", rail.rate[0])
    return model, rail


def add(function=lambda t, u: 1.0, **given):
    model, rail = cart()
    given = {"period": 0.1, "inputs": [rail.coordinate], "outputs": ["push"], "function": function} | given
    pilot = model.add(ts.Controller("pilot", **given))
    model.add(ts.JointForce("motor", rail, pilot["push"]))
    return model


WRONG = {
    "period zero": ({"period": 0}, "period must be a positive number of seconds, got 0"),
    "period negative": ({"period": -0.1}, "period must be a positive number of seconds, got -0.1"),
    "period none": ({"period": None}, "period must be a positive number of seconds, got None"),
    "delay negative": ({"delay": -1}, "delay must be 0 or a positive number of seconds, got -1"),
    "phase negative": ({"phase": -0.1}, "phase must be 0 or a positive number of seconds, got -0.1"),
    "delay long": ({"delay": 11.0}, "delay must be at most 100 periods, 10 s, got 11 s"),
    "unknown signal": ({"inputs": ["sped"]}, r"model 'cart' has no signal 'sped'. Did you mean 'speed'.*as in hinge.rate"),
    "input of another": ({"inputs": [ca.SX.sym("x")]}, "inputs contains 'x', which does not belong to model 'cart'"),
    "no outputs": ({"outputs": []}, r"outputs must be names such as \['torque'\]"),
    "outputs numbered": ({"outputs": [1, 2]}, r"outputs must be names such as .* got \[1, 2\]"),
    "output twice": ({"outputs": ["push", "push"]}, "outputs and state have 'push' twice"),
    "output and state": ({"state": {"push": 0.0}, "function": lambda t, u, s: 0}, "outputs and state have 'push' twice"),
    "no function": ({"function": None}, "give a function of time and inputs, or outputs as expressions"),
    "not a function": ({"function": 3.0}, "give a function of time and inputs, or outputs as expressions .* got 3.0"),
    "too few arguments": ({"function": lambda t: 0}, r"is called as function\(t, inputs\), and takes \(t\)"),
    "too many arguments": ({"state": 0.0}, r"is called as function\(t, inputs, state\), and takes \(t, u\)"),
    "both": ({"outputs": {"push": 1.0}}, "outputs are expressions, which need no function"),
    "state of code": ({"state": {"g": lambda: 0}, "function": lambda t, u, s: 0}, "state {.* cannot be copied and saved"),
    "state infinite": ({"state": {"sum": math.inf}, "function": lambda t, u, s: 0}, "state must be made of finite numbers"),
    "state huge": ({"state": [0.0, -1e200], "function": lambda t, u, s: 0}, "state must be made of finite numbers"),
    "state infinite within": ({"state": {"a": {"b": math.inf}}, "function": lambda t, u, s: 0}, "made of finite numbers"),
    "object compiled": ({"state": "idle", "compiled": True, "function": lambda t, u, s: 0}, "compiled, got 'idle'"),
    "state of signals": ({"state": ts.time, "function": lambda t, u, s: 0}, "state must be made of finite numbers"),
    "start too long": ({"start": [1, 2]}, r"start must be a number, or one for each of push, got \[1, 2\]"),
    "start not a number": ({"start": math.nan}, "start must be a number"),
    "start of nothing": ({"start": {"pull": 1.0}}, "there is no output 'pull'. Known: push"),
    "compiled": ({"compiled": 1.0}, "compiled must be True or False, got 1.0"),
    "cannot be compiled": ({"compiled": True, "function": lambda t, u: math.sin(u[0])}, "cannot be compiled|before a run"),
    "compiled and wrong": ({"compiled": True, "function": lambda t, u: (u, u)}, "2 numbers instead of 1"),
    "compiled stranger": ({"compiled": True, "function": lambda t, u: ca.SX.sym("y")}, "outputs contains 'y'"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_a_controller_is_refused_when_it_is_made_or_added(case):
    given, message = WRONG[case]
    with pytest.raises(ts.ModelError, match=message):
        add(**given)


def test_an_unknown_output_is_told():
    with pytest.raises(
        ts.ModelError, match=r"controller 'pilot' has no output 'pull'. Did you mean 'pulls'\? Known: push, pulls"
    ):
        ts.Controller("pilot", 0.1, [], ["push", "pulls"], lambda t, u: (0, 0))["pull"]


def test_an_output_of_a_controller_that_was_not_added_is_told():
    model, rail = cart()
    pilot = ts.Controller("pilot", 0.1, [], ["push"], lambda t, u: 0.0)
    with pytest.raises(
        ts.ModelError, match="contains 'pilot.push', which .* model 'cart'; 'pilot' is not added to it, or not yet"
    ):
        model.add(ts.JointForce("motor", rail, pilot["push"]))


def late(bad):
    """A law that answers well before 0.25 s, and then as it is told."""
    return lambda t, u: bad(u) if t > 0.25 else 1.0


FAILING = {
    "nan": (late(lambda u: math.nan), "the function returned nan for 'push'"),
    "huge": (
        late(lambda u: -1e200),
        r"the function returned -1e\+200 for 'push', where numbers of up to 1e\+100 are allowed",
    ),
    "infinite": (late(lambda u: np.inf), "the function returned inf for 'push'"),
    "none": (late(lambda u: None), "the function returned as outputs 'push': None, not a number"),
    "text": (late(lambda u: "full"), "the function returned as outputs 'push': 'full', not a number"),
    "too many": (
        late(lambda u: [1.0, 2.0]),
        r"the function returned as outputs 'push': \[1.0, 2.0\], 2 numbers instead of 1",
    ),
    "an expression": (late(lambda u: ts.time), r"the function returned the expression SX\(time\), and not a number"),
    "other names": (
        late(lambda u: {"pull": 1.0}),
        "the function returned as outputs 'push': {'pull': 1.0}, not a dictionary with 'push'",
    ),
    "raises": (late(lambda u: 1 / 0), "the function raised ZeroDivisionError: division by zero"),
    "index": (late(lambda u: u[3]), "the function raised IndexError"),
}


@pytest.mark.parametrize("case", FAILING)
def test_a_function_that_fails_stops_the_run_which_keeps_what_was_computed(case):
    law, message = FAILING[case]
    with pytest.raises(
        ts.RunError, match=f"model 'cart': stopped at t = 0.3 s of 1 s: controller 'pilot': {message}"
    ) as caught:
        ts.simulate(add(law), 1.0, outputs=10)
    data = caught.value.data
    assert data.sizes["time"] == 3 and data.attrs["time_reached"] == pytest.approx(0.3)
    np.testing.assert_allclose(data.coordinate.values[:, 0], data.time.values**2 / 2, atol=1e-12)
    if case in ("raises", "index"):
        told = "".join(traceback.format_exception(caught.value.__cause__))
        assert __file__ in told and "lambda" in told
        assert re.search(rf"\({pathlib.Path(__file__).name}, line \d+\) at t = 0.3 s", str(caught.value))


def test_a_function_that_fails_with_its_state_is_told():
    with pytest.raises(
        ts.RunError, match="the function returned 1.0; with a state it returns outputs and the next state"
    ):
        ts.simulate(add(lambda t, u, s: 1.0, state=0.0), 1.0)
    with pytest.raises(ts.RunError, match=r"as next state \[1.0\], a number instead of 2"):
        ts.simulate(add(lambda t, u, s: (1.0, [1.0]), state=[0.0, 0.0]), 1.0)


def test_a_state_that_does_not_let_itself_be_saved_is_told_where_it_is_saved():
    sim = ts.Simulation(add(lambda t, u, s: (0.0, [lambda: t]), state=[]))
    sim.advance(0.05)
    with pytest.raises(ts.ModelError, match="controller 'pilot': its state .* cannot be copied and saved"):
        sim.state  # noqa: B018


def test_a_state_without_that_of_a_controller_is_refused():
    """One that was saved by a model whose controller had none."""
    sim, other = ts.Simulation(add()), ts.Simulation(add(lambda t, u, s: (1.0, s), state=[]))
    with pytest.raises(ts.OptionError, match="another model: the function of a controller differs"):
        other.state = sim.state


def test_a_simulation_stays_at_the_last_good_state():
    sim = ts.Simulation(add(late(lambda u: 1 / 0)))
    sim.advance(0.28)
    with pytest.raises(ts.RunError, match="controller 'pilot': the function raised ZeroDivisionError") as caught:
        sim.advance(0.1)
    assert isinstance(caught.value.__cause__, ZeroDivisionError) and sim.time == pytest.approx(0.3)


def test_a_function_that_fails_leaves_its_state_as_it_was_and_is_called_again():
    """Also where it has changed an object in its place before it raised, or somebody interrupted it."""
    trouble: list = []

    def law(t, u, s):
        s.append(t)
        if trouble:
            raise trouble.pop()
        return float(len(s)), s

    sim, twin = (ts.Simulation(add(law, state=[])) for _ in range(2))
    for until, error, told in (
        (0.15, ValueError("worn"), ts.RunError),
        (0.25, KeyboardInterrupt(), KeyboardInterrupt),
    ):
        twin.advance(until - twin.time)
        trouble.append(error)
        with pytest.raises(told):
            sim.advance(until - sim.time)
        sim.advance(until - sim.time)
        assert sim["pilot.push"] == twin["pilot.push"] == int(10 * until) + 1
        assert sim["rail.rate"] == pytest.approx(twin["rail.rate"], abs=1e-14)


def test_a_function_may_look_at_the_simulation_that_asks_it_and_not_drive_it():
    """Under a force of 1 N on 1 kg it is at t²/2, in the function and after the call."""
    seen, asked = [], {}

    def law(t, u):
        seen.append((sim.coordinates["rail"], t**2 / 2) if t < 0.15 else asked["to"]())
        return 1.0

    sim = ts.Simulation(add(law))
    start = sim.state
    for asked["to"] in (lambda: sim.advance(0.1), sim.reset, lambda: setattr(sim, "state", start)):
        sim.reset()
        seen.clear()
        with pytest.raises(ts.RunError, match="a call of advance goes on at t = 0.2 s"):
            sim.advance(0.35)
        np.testing.assert_allclose(*np.transpose(seen), atol=1e-14)
        assert sim.coordinates["rail"] == pytest.approx(0.02) and sim.time == pytest.approx(0.2)


def test_what_failed_earlier_is_not_the_cause_of_what_fails_later():
    sim = ts.Simulation(add(lambda t, u: 1 / 0 if t < 0.05 else math.nan))
    with pytest.raises(ts.RunError) as caught:
        sim.advance(0.1)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    sim.reset(time=0.1)
    with pytest.raises(ts.RunError, match="returned nan") as caught:
        sim.advance(0.1)
    assert caught.value.__cause__ is None


def test_a_function_that_is_slower_than_its_period_is_told_once():
    model = add(lambda t, u: time.sleep(0.002) or 0.0, period=0.001)
    with pytest.warns(
        ts.TimingWarning, match="controller 'pilot': a call of its function takes .*, longer than its period of 0.001 s"
    ) as told:
        ts.simulate(model, 0.03)
    assert len(told) == 1


def test_a_held_number_cannot_jump_a_constraint():
    model, rail = cart()
    pilot = model.add(ts.Controller("pilot", 0.1, [], ["place"], lambda t, u: t))
    model.add(ts.Drive("drive", rail, pilot["place"]))
    with pytest.raises(
        ts.RunError, match="controller 'pilot': an output would move a constraint by .* a state whose rate"
    ):
        ts.simulate(model, 1.0)


@pytest.mark.parametrize("what", ["joint-force", "torque", "point-force", "signal"])
def test_a_function_in_the_place_of_a_force_is_told_both_ways(what):
    model, rail = cart()
    body, function = model.bodies[0], lambda t: 1.0
    with pytest.raises(ts.ModelError, match=r"got <function .*expression of torsor.time .* torsor.Controller"):
        {
            "joint-force": lambda: model.add(ts.JointForce("f", rail, function)),
            "torque": lambda: model.add(ts.Torque("f", body, function)),
            "point-force": lambda: model.add(ts.PointForce("f", body, force=function)),
            "signal": lambda: model.signal("f", function),
        }[what]()  # fmt: skip


def test_a_run_of_a_study_whose_function_fails_leaves_the_others_unharmed():
    model, rail = cart()
    gain = model.parameter("gain", 1.0)
    pilot = model.add(ts.Controller("pilot", 0.1, [gain], ["push"], lambda t, u: 1 / (float(u[0]) - 2)))
    model.add(ts.JointForce("motor", rail, pilot["push"]))
    data = ts.study(model, 1.0, parameters={"gain": [1.0, 2.0, 3.0]}, outputs=1, progress=False)
    assert [bool(message) for message in data.message.values] == [False, True, False]
    assert "controller 'pilot': the function raised ZeroDivisionError" in str(data.message.values[1])
    np.testing.assert_allclose(data.coordinate.values[[0, 2], -1, 0], [-0.5, 0.5], atol=1e-12)


PILOT = """
import torsor as ts

model = ts.Model("cart")
body = model.body("body", mass=1.0, inertia=(1, 1, 1))
rail = model.add(ts.Prismatic("rail", model.ground, body, axis="x"))
pilot = model.add(ts.Controller("pilot", 0.1, [rail.rate], ["push"], lambda t, u: 1 / (0.3 - t)))
model.add(ts.JointForce("motor", rail, pilot["push"]))
until = 1.0
"""


def test_the_command_line_runs_controllers_and_tells_where_one_failed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pilot.py").write_text(PILOT.replace("0.3", "30"))
    assert status_of(["run", "pilot.py", "--out", "r.nc"]) == 0
    assert ts.load_result("r.nc")["pilot.push"][-1] == 1 / (30 - 1.0)
    (tmp_path / "pilot.py").write_text(PILOT.replace("0.3", "0.5"))
    assert status_of(["run", "pilot.py", "--out", "r.nc"]) == 3
    told = capsys.readouterr().err
    assert (
        "controller 'pilot': the function raised ZeroDivisionError" in told
        and "(pilot.py, line 7) at t = 0.5 s" in told
    )
    assert ts.load_result("r.nc").time[-1] < 0.5
