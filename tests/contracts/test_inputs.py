"""Inputs of a model: parameters that may change while it runs."""

import pickle

import numpy as np
import pytest

import torsor as ts


def motor():
    """A wheel on an axle, turned by a torque that is an input."""
    model = ts.Model("motor")
    wheel = model.body("wheel", mass=1.0, inertia=(0.5, 0.5, 0.5))
    axle = model.add(ts.Revolute("axle", model.ground, wheel, axis="z"))
    model.add(ts.JointForce("drive", axle, value=model.input("torque", 1.0)))
    model.expose("shaft", wheel)
    return model


def turned(model, name="axle", **given):
    """Where it is after a second: τ t²/(2 J) = τ."""
    return ts.simulate(model, 1.0, outputs=1, **given).coordinate.sel(joint_coordinate=name).values[-1]


def test_an_input_is_held_in_a_run_and_its_value_is_a_parameter():
    assert turned(motor()) == pytest.approx(1.0, rel=1e-12)
    assert turned(motor(), parameters={"torque": -3.0}) == pytest.approx(-3.0, rel=1e-12)
    assert list(motor().declared_inputs) == ["torque"]


def test_events_set_an_input():
    model = motor()
    model.when(ts.time >= 0.5, ts.assign("torque", 0.0), name="off")
    assert turned(model) == pytest.approx(0.25 + 0.5, rel=1e-10)


def test_an_input_travels_with_its_model(tmp_path):
    ts.save_component(motor(), tmp_path / "motor.torsor", formulations=())
    for model in (pickle.loads(pickle.dumps(motor())), ts.load_component(tmp_path / "motor.torsor")):
        assert list(model.declared_inputs) == ["torque"]
        with pytest.raises(ts.ModelError, match="input 'torque': value must be finite, got nan"):
            model.values({"torque": np.nan})
        assert turned(model, parameters={"torque": 2.0}) == pytest.approx(2.0, rel=1e-12)


def test_an_input_of_a_component_is_one_of_the_model_or_any_signal_of_it():
    model = ts.Model("both")
    model.include("left", motor())
    model.include("right", motor(), at=(1, 0, 0), torque=4.0 * model["left.axle"].rate[0])
    assert list(model.declared_inputs) == ["left.torque"]
    data = ts.simulate(model, 1.0, outputs=1, parameters={"left.torque": 0.5}, tolerance=1e-12)
    last = dict(zip(data.joint_coordinate.values, data.coordinate.values[-1]))
    assert last["left.axle"] == pytest.approx(0.5) and last["right.axle"] == pytest.approx(8 / 6)


def test_a_speed_follows_an_input_through_a_state():
    """A constraint cannot jump; the rate of a state that it follows can."""
    model = ts.Model("servo")
    slide = model.body("slide", mass=2.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, slide, axis="x"))
    speed = model.state("speed", rate=model.input("push", 3.0))
    model.add(ts.Nonholonomic("servo", rail.rate[0] - speed))
    assert turned(model, "rail") == pytest.approx(1.5, rel=1e-10)


def test_a_place_follows_an_input_through_two_states():
    """The advice that a drive gives: the input is an acceleration, which changes sign on the way: two parabolas."""
    model = ts.Model("servo")
    slide = model.body("slide", mass=2.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, slide, axis="x"))
    push = model.input("push", 1.0)
    with pytest.raises(ts.ModelError, match=r"follows state 'late', whose rate contains 'push'.*take it for an accel"):
        model.add(ts.Drive("jump", rail, model.state("late", rate=push)))
    model.add(ts.Drive("servo", rail, model.state("way", rate=model.state("speed", rate=push))))
    sim = ts.Simulation(model)
    sim.advance(1.0)
    sim.advance(0.5, push=-2.0)
    assert sim["rail"] == pytest.approx(0.5 + 0.5 - 0.25, rel=1e-10)
    assert sim.rates["rail"] == pytest.approx(0.0, abs=1e-10) and sim["slide.acceleration"][0] == pytest.approx(-2.0)


def test_what_cannot_jump_contains_no_input():
    model = motor()
    torque = model["torque"].symbol
    for wrong in (
        lambda: model.body("other", mass=torque, inertia=(1, 1, 1)),
        lambda: model.add(ts.Drive("drive2", model["axle"], value=torque)),
        lambda: model.add(ts.Holonomic("held", model["axle"].coordinate[0] - torque)),
    ):
        with pytest.raises(ts.ModelError, match="contains 'torque'.*An input may jump: let a force follow it"):
            wrong()


def test_bad_inputs_are_refused():
    model = motor()
    with pytest.raises(
        ts.ModelError, match=r"input 'torque': model 'motor' has something of that name already \(Input\)"
    ):
        model.input("torque")
    with pytest.raises(ts.ModelError, match="input 'current': value must be finite, got inf"):
        model.input("current", np.inf)
    with pytest.raises(ts.ModelError, match="input 'current': value must be a number"):
        model.input("current", ts.time)
    with pytest.raises(ts.ModelError, match="unknown parameter 'torqe'"):
        ts.simulate(model, 1.0, parameters={"torqe": 1.0})


@pytest.mark.parametrize("name", ["dt", "start", "time", "self"])
def test_names_that_advance_and_reset_take_themselves_are_refused(name):
    with pytest.raises(ts.ModelError, match=f"input '{name}': Simulation.advance and .* by that name"):
        motor().input(name)
