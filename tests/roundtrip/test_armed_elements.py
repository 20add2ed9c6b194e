"""Whether an element is armed travels with a model and with the state of a run: copies, components, files, simulations, studies."""

import copy
import pickle

import numpy as np
import pytest

import torsor as ts

G = 9.81


def leg():
    """A body that falls through stops, friction and a controller, all inactive, onto a floor that is there from 0.2 s to 0.6 s."""
    model = ts.Model("leg", gravity=(0, 0, -G))
    height = model.parameter("height", 0.5)
    body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    guide = model.add(ts.Prismatic("guide", model.ground, body, axis="z"))
    floor = model.add(ts.Limit("floor", guide, lower=-height), active=False)
    model.add(ts.Contact("ceiling", model.ground, body, plane=(0, 0, -0.1)), active=False)
    model.add(ts.Friction("rub", guide, coefficient=0.5, normal=4.0), active=False)
    pilot = model.add(ts.Controller("pilot", 0.1, outputs={"f": 3.0 + 0 * guide.rate[0]}), active=False)
    model.add(ts.JointForce("push", guide, pilot["f"]))
    model.when(ts.time >= 0.2, ts.engage(floor), name="arm")
    model.when(ts.time >= 0.6, ts.release(floor), name="disarm")
    return model


def end(height=0.5):
    return -height - G * 0.08


def fallen(model):
    return ts.simulate(model, 1.0, outputs=1).position.values[-1, :, 2]


def included(model):
    top = ts.Model("top", gravity=(0, 0, -G))
    top.include("left", model)
    top.include("right", model, at=(1, 0, 0))
    return top


def stored(model, folder):
    ts.save_component(model, folder / "leg.torsor")
    return ts.load_component(folder / "leg.torsor")


COPIES = {
    "deepcopy": lambda model, folder: copy.deepcopy(model),
    "pickle": lambda model, folder: pickle.loads(pickle.dumps(model)),
    "included": lambda model, folder: included(model),
    "component": stored,
    "component, included": lambda model, folder: included(stored(model, folder)),
}


@pytest.mark.parametrize("how", COPIES)
def test_elements_of_a_copy_are_armed_when_those_of_the_original_are(how, tmp_path):
    np.testing.assert_allclose(fallen(COPIES[how](leg(), tmp_path)), end(), atol=1e-10)


def test_a_simulation_remembers_what_is_armed(tmp_path):
    sim = ts.Simulation(leg())
    sim.advance(0.4)
    sim.state.save(tmp_path / "state")
    twin, other = sim.copy(), ts.Simulation(leg())
    other.state = ts.load_state(tmp_path / "state")
    for one in (sim, twin, other):
        one.advance(0.6)
        np.testing.assert_allclose(one.coordinates["guide"], end(), atol=1e-10)
    sim.reset()
    sim.advance(0.15)
    np.testing.assert_allclose(sim.coordinates["guide"], -G * 0.15**2 / 2, atol=1e-10)


def test_runs_of_a_study_begin_with_what_is_armed_at_the_start():
    heights = [0.3, 0.5, 0.8]
    data = ts.study(leg(), 1.0, parameters={"height": heights}, outputs=1)
    np.testing.assert_allclose(data.position.values[:, -1, 0, 2], [end(h) for h in heights], atol=1e-10)


def test_equilibria_and_ranges_of_motion_know_no_stop_that_is_inactive():
    def spring(active):
        model = ts.Model("rest", gravity=(0, 0, -G))
        body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
        guide = model.add(ts.Prismatic("guide", model.ground, body, axis="z"))
        model.add(ts.TorsionSpring("spring", guide, stiffness=10.0))
        model.add(ts.Contact("floor", model.ground, body, plane=(0, 0, -0.5)), active=active)
        model.add(ts.Limit("stop", guide, lower=-0.7, upper=0.3), active=active)
        return model

    np.testing.assert_allclose(ts.equilibrium(spring(None)).coordinates["guide"], -0.5, atol=1e-9)
    found = ts.equilibrium(spring(False))
    np.testing.assert_allclose(found.coordinates["guide"], -G / 10, atol=1e-9)
    assert found.contacts == {"floor": "inactive", "stop": "inactive"}
    assert ts.range_of_motion(spring(False), "guide").lower < -1.0


def test_info_tells_what_is_inactive_at_the_start():
    info = ts.info(leg())
    inactive = {element["name"] for element in info["switched"] if element["start"] == "inactive"}
    assert inactive == {"floor", "ceiling", "rub", "pilot"} and "pilot" in str(info)
    assert str(info).count("inactive at the start") == 4
