"""Models, elements, results and errors travel: by pickle to other processes, by copy within one."""

import copy
import multiprocessing
import pickle

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.formulations.fingerprint import fingerprint

WAYS = [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), lambda x: copy.deepcopy(pickle.loads(pickle.dumps(x)))]
ways = pytest.mark.parametrize("way", WAYS, ids=["copied", "pickled", "both"])


def leg():
    """A component with a parameter, a port that is a signal, a driven part and a signal."""
    model = ts.Model("leg")
    k, w = model.parameter("k", 100.0, positive=True), model.parameter("w", 2.0)
    foot = model.body("foot", mass=1.0, inertia=(1, 1, 1), at=(0, 0, 1))
    model.add(ts.Prismatic("slide", model.ground, foot, axis=(0, 0, 1)))
    model.add(ts.SpringDamper("spring", model.ground, foot, stiffness=k, damping=1.0, length=1.0))
    wheel = model.body("wheel", mass=1.0, inertia=(1, 1, 1), at=(0, 1, 0))
    axle = model.add(ts.Revolute("axle", model.ground, wheel, point=(0, 1, 0), axis=(1, 0, 0)))
    model.add(ts.Drive("motor", axle, lambda t: ca.sin(w * t)))
    model.signal("height", foot.position[2])
    model.expose("foot", foot)
    return model


def everything():
    """Components, a contact with friction, modes, events that remember, a ground that moves, switched forces."""
    model, part = ts.Model("everything", gravity=(0, 0, -9.81)), leg()
    left = model.include("left", part, at=(1, 0, 0))
    model.include("right", part, at=(-1, 0, 0), k=150.0)
    ball = model.body("ball", mass=0.5, inertia=(0.1, 0.1, 0.1), at=(0, 0, 0.5))
    floor = model.add(ts.Contact("floor", model.ground, ball, point=(0, 0, 0.5), plane=(0, 0, 0), restitution=0.3))
    model.add(ts.Friction("rub", floor, coefficient=0.2))
    modes = model.modes("mode", "up", "down")
    push = model.add(ts.PointForce("push", ball, force=(1.0, 0, 0)), active=False)
    event = model.when(model.time >= 0.2, ts.switch(push), ts.enter(modes["down"]), ts.record("seen", ball.position[2]))
    model.when(ball.position[2] >= 2, ts.end(), during=modes["down"])
    belt = model.add(ts.Ground("belt", at=(0.1 * model.time, 0, 0)))
    wheel = model.body("wheel", mass=1.0, inertia=(1, 1, 1), at=(0, 2, 0))
    model.add(ts.Revolute("axle", belt, wheel, point=(0, 2, 0), axis=(1, 0, 0), start_rate=1.0))
    model.signal("since", model.time - event.time)
    model.signal("hub", left.foot.position[2])
    return model


def run(model):
    return ts.simulate(model, 0.5, outputs=5)


def same(one, two):
    return one.drop_attrs().identical(two.drop_attrs())


@ways
@pytest.mark.parametrize("case", ts.cases.names())
def test_a_copy_of_a_case_is_the_same_model(way, case):
    """The fingerprint is what kernels are kept under: everything that the equations are made from."""
    model = ts.cases.load(case)
    twin = way(model)
    assert fingerprint(twin, twin.signals) == fingerprint(model, model.signals)
    assert [type(c) for c in twin.constraints] == [type(c) for c in model.constraints]


@ways
@pytest.mark.parametrize("build", [leg, everything])
def test_a_copy_gives_the_same_result_to_the_last_bit(way, build):
    model = build()
    twin = way(model)
    expected = run(model)
    assert same(run(twin), expected)
    assert same(run(way(model)), expected)  # of a model that was compiled


@ways
def test_what_travels_with_its_model_stays_its(way):
    names = ("ball", "left", "event1", "mode", "left.slide", "rub", "belt")
    model = everything()
    twin, *things = way((model, *[model[name] for name in names]))
    assert all(thing is twin[name] and thing is not model[name] for thing, name in zip(things, names))
    alone = way(model["ball"])  # brings its model along
    assert alone.name == "ball" and alone is not model["ball"]


@ways
def test_a_copy_may_be_changed_and_the_original_stays(way):
    model = everything()
    run(model)
    twin = way(model)
    twin.add(ts.Torque("extra", twin["ball"], (1, 0, 0)))
    twin.when(twin["event1"].count >= 1, ts.end())
    assert "extra" not in model and len(twin.events) == len(model.events) + 1
    assert run(twin).attrs["time_reached"] == pytest.approx(0.2)
    assert run(model).attrs["time_reached"] == 0.5


def test_a_drive_by_a_function_of_time_follows_the_parameter_of_its_component():
    model = ts.Model("pair")
    slow, fast = (model.include(name, leg(), at=(x, 0, 0), w=w) for name, x, w in (("a", 0, 1.0), ("b", 2, 3.0)))
    data = ts.simulate(model, 0.5, outputs=10)
    t = data.time.values
    np.testing.assert_allclose(data.coordinate.sel(joint_coordinate="a.axle"), np.sin(t), atol=1e-9)
    np.testing.assert_allclose(data.coordinate.sel(joint_coordinate="b.axle"), np.sin(3 * t), atol=1e-9)
    assert slow["motor"].name == "a.motor" and fast["motor"].name == "b.motor"


def fails(model):
    """Runs into the end of what a constraint allows, with some results."""
    return ts.simulate(model, 2.0, outputs=20)


def beyond_reach():
    """A slider that is driven farther than its rod is long."""
    model = ts.Model("rod")
    a, b = (model.body(name, mass=1.0, inertia=(1, 1, 1), at=at) for name, at in (("a", (0, 0, 1)), ("b", (1, 0, 0))))
    model.add(ts.Prismatic("up", model.ground, a, axis=(0, 0, 1)))
    slide = model.add(ts.Prismatic("out", model.ground, b, axis=(1, 0, 0)))
    model.add(ts.Distance("rod", a, b))
    model.add(ts.Drive("pull", slide, model.time))
    return model


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_pools_of_processes_simulate_models_and_hand_errors_back(method):
    model = everything()
    expected = run(model)
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert all(same(data, expected) for data in pool.map(run, [model, copy.deepcopy(model)]))
        with pytest.raises(ts.RunError) as caught:
            pool.map(fails, [beyond_reach()])
    assert 0.1 < caught.value.data.time.values[-1] < 0.5  # 1² + (1 + x)² = 2 has no solution beyond √2 − 1


def test_compiled_dynamics_travel():
    model = ts.cases.load("four-bar", n=2)
    one = ts.compile(model, "relative")
    two = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(one.accelerations(), two.accelerations())
