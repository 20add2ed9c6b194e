"""What a run refuses, and what it keeps when it ends early. Every message says what was given and what is allowed."""

import signal
import subprocess
import sys
from pathlib import Path

import casadi as ca
import models
import numpy as np
import pytest

import torsor as ts
from torsor.look.run_request import Options
from torsor.run.verdict import violated_redundant_constraints

NAN = float("nan")


def pendulum(*drives):
    model = models.pendulum()
    for k, motion in enumerate(drives):
        model.add(ts.Drive(f"drive{k}", model["hinge"], motion))
    return model


def stiff():
    model = ts.Model("stiff")
    bob = model.body("bob", mass=1.0, inertia=0, at=(1, 0, 0))
    k = model.parameter("k", 1e8)
    model.add(ts.EnergyForce("spring", energy=k * bob.position[0] ** 2 / 2))
    return model


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "rk4"}, "unknown integrator 'rk4'.*Known: abm4, .*, heun, .*, rkmk4, .*rkmk54"),
        ({"method": "rkmk45"}, "Did you mean"),
        ({"method": None}, "method must be the name of a method"),
        ({"method": ["rkmk4"]}, "method must be the name of a method"),
        ({"method": "rkmk4"}, "'rkmk4' has no step-size control: give a positive `step`, or use .*'rkmk54'"),
        ({"method": "rkmk4:rho=1"}, "integrator 'rkmk4': unknown option 'rho'. It has none"),
        ({"method": "generalized-alpha:rho=1.5", "step": 0.1}, "'generalized-alpha': rho must lie between 0 and 1, got 1.5"),
        ({"method": "generalized-alpha-2:rho=half"}, "'generalized-alpha-2': rho must lie between 0 and 1, got 'half'"),
        ({"method": "generalized-alpha:damping=1"}, "unknown option 'damping'. Known: rho"),
        ({"projection": "lsq"}, "unknown projection 'lsq'. Known: baumgarte, .*least-squares, none"),
        ({"projection": "baumgarte:gamma=1"}, "'baumgarte': unknown option 'gamma'. Known: .*alpha, beta"),
        ({"projection": "baumgarte:alpha"}, "write options as NAME=VALUE, got 'alpha'"),
        ({"projection": "baumgarte:alpha=-1"}, "alpha must be a number >= 0"),
        ({"projection": "baumgarte:alpha=nan"}, "alpha must be a number >= 0"),
        ({"projection": "least-squares:metric=gold"}, "metric must be 'mass' or 'plain', got 'gold'"),
        ({"formulation": "absolut"}, "unknown formulation 'absolut'. Did you mean 'absolute'.*Known: absolute"),
        ({"map": "log"}, "unknown map 'log'. Known: exp, cayley"),
        ({"method": "cf4", "step": 0.1, "map": "cayley"}, "method 'cf4' needs map 'exp', got 'cayley'"),
        ({"step": 0.0}, "step must be a positive number of seconds, got 0.0"),
        ({"step": -0.1}, "step must be a positive number of seconds, got -0.1"),
        ({"step": NAN}, "step must be a positive number of seconds, got nan"),
        ({"step": "small"}, "step must be a positive number of seconds, got 'small'"),
        ({"tolerance": 0}, "tolerance must lie between 1e-14 and 0.1, got 0"),
        ({"tolerance": 1.0}, "tolerance must lie between"),
        ({"tolerance": NAN}, "tolerance must lie between"),
        ({"tolerance": "tight"}, "tolerance must lie between"),
        ({"until": 0}, "until must be a positive number of seconds, got 0"),
        ({"until": -1.0}, "until must be a positive"),
        ({"until": NAN}, "until must be a positive"),
        ({"until": float("inf")}, "until must be a positive"),
        ({"until": "10"}, "until must be a positive"),
        ({"outputs": 0}, "a number of intervals from 1"),
        ({"outputs": True}, "number of intervals or an array of times, got True"),
        ({"outputs": []}, "number of intervals or an array of times"),
        ({"outputs": "all"}, "number of intervals or an array of times, got 'all'"),
        ({"outputs": 0.01}, r"a whole number of intervals or an array of times, got 0.01; .*numpy.arange\(0, until, step\)"),
        ({"outputs": [0.0, 1.5]}, "time 1.5 lies beyond the end, until = 1"),
        ({"outputs": [-0.5, 1.0]}, "time -0.5 lies before the start"),
        ({"outputs": [0.0, 0.5, 0.5]}, "increase strictly"),
        ({"outputs": [0.0, 0.7, 0.5]}, "increase strictly"),
        ({"outputs": [0.0, NAN]}, "must be finite"),
        ({"parameters": {"length": 2}}, "unknown parameter 'length'. Known: none"),
        ({"parameters": [2]}, "parameters must be values by name"),
        ({"signals": {"energy": ts.time}}, "signal 'energy': a result has a variable of that name"),
        ({"signals": {"load": ts.time}}, "signal 'load': `data.load` is something else, an attribute of xarray.Dataset"),
        ({"signals": {"height": "z"}}, "signal 'height': it must be an expression of signals"),
        ({"signals": ["height"]}, "signals must be expressions by name"),
        ({"signals": {"far": ca.SX.sym("elsewhere")}}, "'elsewhere' does not belong to model 'pendulum'"),
    ],
)  # fmt: skip
def test_an_option_out_of_its_range_is_refused(options, message):
    with pytest.raises((ts.OptionError, ts.ModelError), match=message):
        ts.simulate(pendulum(), **{"until": 1.0, **options})


def test_a_parameter_that_is_no_number_is_refused():
    for value in (NAN, "much", None):
        with pytest.raises(ts.ModelError, match="parameter 'k'"):
            ts.simulate(stiff(), 1.0, parameters={"k": value})


def test_what_is_no_model_is_refused():
    with pytest.raises(ts.OptionError, match="give a torsor.Model, got 'pendulum'"):
        ts.simulate("pendulum", 1.0)
    with pytest.raises(ts.ModelError, match="model 'empty' has no bodies"):
        ts.simulate(ts.Model("empty"), 1.0)


def test_a_start_that_cannot_be_assembled_names_the_residuals():
    model = pendulum()
    bob = model["bob"]
    frames = (model.ground.frame((5, 0, 0)), bob.frame())
    model.add(ts.FixedPoint("pin", model.ground, bob, frames=frames))
    with pytest.raises(ts.AssemblyError, match=r"cannot be assembled.*pin: translation along x \(-4\)"):
        ts.simulate(model, 1.0)


def test_drives_that_contradict_each_other_are_refused():
    t = ts.time
    with pytest.raises(ts.AssemblyError, match="drive1: coordinate 0 of hinge"):
        ts.simulate(pendulum(t, t + 1), 1.0)
    with pytest.raises(
        ts.AssemblyError, match=r"contradictory.*drive1: coordinate 0 of hinge \(off by 1\).*against drive0\."
    ):
        ts.simulate(pendulum(t, 2 * t), 1.0)


def test_a_velocity_level_constraint_that_a_drive_contradicts_is_named():
    """A body that a hinge and a drive move, and a knife edge along its way: the edge is named, and what it is against."""
    model = pendulum(ts.time)
    model.add(ts.Nonholonomic("edge", model["bob"].velocity[2]))
    with pytest.raises(
        ts.AssemblyError, match=r"contradictory[^;]*: edge: row 0 \(off by 1\), against hinge, drive0\."
    ):
        ts.simulate(model, 1.0)


def test_outputs_off_the_constraints_are_no_contradiction():
    """Near a singular position outputs within steps may be off all constraints of a loop; what is redundant does not disagree
    there with what holds."""
    model = ts.cases.load("four-bar", n=1)
    task = Options(formulation="absolute", tolerance=1e-6).task(model, 0.1)
    system, _ = task.prepare()
    data = ts.simulate(model, 0.1, outputs=4, formulation="absolute")
    assert violated_redundant_constraints(task, system, data) is None
    data["position_drift"][2] = 1e-5 * system.length
    data.position[2, 1, 1] += 1e-5 * system.length  # in the plane of the loop: its constraints in use do not hold
    assert violated_redundant_constraints(task, system, data) is None


def test_drives_that_contradict_each_other_later_stop_the_run():
    t = ts.time
    with pytest.raises(
        ts.RunError, match="drive1: coordinate 0 of hinge were taken for redundant.* up to 0.0001 later"
    ) as told:
        ts.simulate(pendulum(t, t + 1e-4 * t**3), 1.0, tolerance=1e-3)
    assert told.value.data.attrs["time_reached"] == 1.0


def test_drives_that_agree_are_accepted():
    data = ts.simulate(pendulum(ts.time, ts.time), 1.0)
    assert np.allclose(data["coordinate"][:, 0], data["time"], atol=1e-12)


def test_a_run_that_blows_up_keeps_what_was_computed():
    message = r"'stiff': stopped at t = .* s of 10 s: the state is no longer finite.*kept"
    with pytest.raises(ts.RunError, match=message) as caught:
        ts.simulate(stiff(), 10.0, step=0.01, method="rkmk4")
    data = caught.value.data
    assert 0 < data.sizes["time"] < 201
    assert data.attrs["status"].startswith("the state is no longer finite: the motion grew beyond all bounds")
    assert float(data["position"][0, 0, 0]) == 1.0


INTERRUPTED = """
import sys, warnings
import torsor as ts
from torsor.run import runner

sys.path[:0] = sys.argv[1:]
from test_runs import pendulum

march = runner.Runner.run

def announced(self, progress=None):
    print("running", flush=True)
    return march(self, progress)

runner.Runner.run = announced
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    data = ts.simulate(pendulum(), 1e8, outputs=1_000_000, step=0.1, method="rkmk4")
print(data.attrs["status"], 0 < data.sizes["time"] < 1_000_001, said[0].message)
"""


def test_an_interrupted_run_returns_what_was_computed():
    command = [sys.executable, "-c", INTERRUPTED, *(str(p) for p in Path(__file__).parents[:2])]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "running\n"
    try:
        child.wait(0.5)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGINT)
    out, trouble = child.communicate(timeout=300)
    assert child.returncode == 0, trouble
    assert out.startswith("interrupted True interrupted at t = "), out


def test_points_that_shall_be_apart_and_coincide_are_named():
    """No direction helps there: an answer, and no traceback out of NumPy."""
    model = ts.Model("pair")
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add(ts.Distance("rod", model.ground, bob, points=((0, 0, 0), (0, 0, 0)), length=1.0))
    with pytest.raises(ts.AssemblyError, match="cannot be assembled.*rod: distance"):
        ts.simulate(model, 1.0)


def test_a_run_that_would_take_months_ends_and_says_why(monkeypatch):
    monkeypatch.setattr("torsor.run.runner.PROGRESS_CHECK_AFTER", 0.3)
    model = ts.Model("stiff")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1), at=(0.1, 0, 0))
    model.add(ts.PointForce("spring", body, force=(-1e25 * body.position[0], 0, 0)))
    with pytest.raises(ts.RunError, match="more than 30 days .*radau5") as error:
        ts.simulate(model, 10.0, outputs=5)
    assert error.value.data.sizes["time"] == 1


@pytest.mark.parametrize("driven", [False, True])
def test_a_control_loop_that_grows_without_bounds_is_told(monkeypatch, driven):
    """With a torque of −c ω over J held for a period T, ω grows by 1 − c T/J = −9 from sample to sample, and with it the steps."""
    monkeypatch.setattr(
        "torsor.run.stepper.PROGRESS_CHECK_AFTER" if driven else "torsor.run.runner.PROGRESS_CHECK_AFTER", 0.1
    )
    model = ts.Model("unstable", gravity=(0, 0, -9.81))
    arm = model.body("arm", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), at=(0.1, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, arm, point=(0, 0, 0), axis="y"))
    law = model.add(ts.Controller("law", 0.05, outputs={"torque": -2.2 * hinge.rate}))
    model.add(ts.JointForce("motor", hinge, law["torque"]))
    run = ts.Simulation(model).advance if driven else lambda until: ts.simulate(model, until)
    with pytest.raises(ts.RunError, match="the motion runs away: at rates of .* unstable at its period"):
        run(2.0)


@pytest.mark.parametrize("method", ["variational", "generalized-alpha"])
def test_methods_that_meet_constraints_by_themselves_take_no_projection(method):
    model = ts.cases.load("heavy-top")
    with pytest.raises(
        ts.OptionError, match=f"method '{method}' meets the constraints by its own equations.*Baumgarte"
    ):
        ts.simulate(model, 0.01, method=method, step=1e-3, projection="baumgarte")
    data = ts.simulate(model, 0.01, method=method, step=1e-3)
    assert "constraints met by the method" in data.attrs["options"]
