"""Threads that run a system together meet the same events as one process, and fail together where an event fails."""

import warnings

import casadi as ca
import numpy as np
import pytest
from together import bush

import torsor as ts
from torsor.errors import RunError

OPTIONS = {"method": "rkmk4", "step": 0.005, "formulation": "hierarchical", "outputs": 3, "progress": False}
EXACT = 1e-12  # largest difference / (1 + largest value)


@pytest.fixture(autouse=True)
def every_size(monkeypatch):
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "0")
    monkeypatch.setattr("os.cpu_count", lambda: 4)


def follow(t, inputs, seen):
    """The law of a controller whose state is no number."""
    return [-0.4 * inputs[0] - 0.1 * inputs[1] - 0.01 * len(seen)], [*seen, t]


def busy():
    """A bush with contacts, controllers, a state, and events of bodies of several ranks, of reactions and accelerations."""
    model = bush(3, 3)
    tips = [model[f"b{k}_2"] for k in range(3)]
    for k in (0, 2):
        place = {"point": (k + 0.2, 0.05, -3.0), "plane": (0, 0, -3.01)}
        model.add(ts.Contact(f"floor{k}", model.ground, tips[k], restitution=0.1 * k, **place))
    pressure = model.state("pressure", rate=lambda p: tips[0].velocity[0] + tips[2].velocity[0] - 3 * p)
    model.add(ts.PointForce("piston", tips[1], force=ca.vertcat(-pressure, 0, 0.1 * pressure)))
    pilot = model.add(
        ts.Controller("pilot", 0.02, [tips[0].position[0], tips[2].velocity[2]], ["push"], follow, state=[])
    )
    quick = model.add(ts.Controller("quick", 0.03, outputs={"pull": -model["s2"].rate[0]}))
    model.add(ts.JointForce("driven", model["s1"], pilot["push"] + quick["pull"]))
    apart = ts.record("apart", tips[0].position[2] - tips[2].position[2])
    model.when(
        tips[1].position[0] - tips[2].position[0] + 1 >= 0.012, ts.kick(tips[0], (0.3, 0, 0.1)), apart, name="apart"
    )
    carried = model["s0"].reaction_force[2] + model["j2_1"].reaction_force[2]
    model.when(carried >= 60, ts.record("jerk", tips[1].acceleration[2]), name="loaded")
    model.when(ts.time >= 0.05, ts.release(model["rod2"]), name="breaks")
    model.signal("height", tips[0].position[2] + tips[2].position[2])
    return model


def assert_equal(one, several):
    assert list(one.event_name.values) == list(several.event_name.values)
    compared = [name for name in one.data_vars if one[name].dims[:1] in (("time",), ("event",))]
    for name in (name for name in compared if one[name].dtype.kind == "f"):
        a, b = one[name].values, several[name].values
        np.testing.assert_allclose(b, a, rtol=0, atol=EXACT * (1 + np.nanmax(np.abs(a), initial=0.0)), err_msg=name)


@pytest.mark.parametrize("threads", [2, 3])
def test_events_of_threads_are_those_of_one_process(threads):
    one, several = (ts.simulate(busy(), 0.15, **OPTIONS, threads=n) for n in (1, threads))
    assert several.attrs["path"] == "threads" and several.attrs["steps"] == one.attrs["steps"]
    assert {"apart", "breaks", "loaded", "floor2.touch"} <= set(one.event_name.values)
    assert_equal(one, several)


def test_adaptive_steps_locate_events_as_one_process_does():
    def thrown():
        model = bush(3, 2)
        ball = model.body("ball", inertia=ts.inertia.sphere(1.0, 0.1), at=(5, 0, 0.3))
        model.add(ts.Contact("floor", model.ground, ball, radius=0.1, plane=(0, 0, 0), normal="z", restitution=0.6))
        model.when(
            ball.position[2] - 0.1 * model["b0_1"].position[2] <= 0.4,
            ts.record("turning", model["s1"].rate[0]),
            name="low",
        )
        return model

    options = OPTIONS | {"method": "rkmk54", "step": None, "tolerance": 1e-9}
    one, several = (ts.simulate(thrown(), 0.6, **options, threads=n) for n in (1, 2))
    assert {"low", "floor.touch"} <= set(one.event_name.values)
    assert several.event_time.values == pytest.approx(one.event_time.values, rel=1e-10)
    fall = np.sqrt(2 * 0.2 / 9.81)
    assert several.event_time.values[list(several.event_name.values).index("floor.touch")] == pytest.approx(
        fall, rel=1e-9
    )
    np.testing.assert_allclose(several.position.values, one.position.values, rtol=0, atol=1e-9)


def test_a_function_that_fails_ends_all_threads_with_its_message():
    def give_up(t, u):
        raise ValueError("no more fuel")

    model = bush(2, 2)
    pilot = model.add(ts.Controller("pilot", 0.02, [model["s0"].rate], ["push"], give_up))
    model.add(ts.JointForce("driven", model["s1"], pilot["push"]))
    with pytest.raises(RunError, match="'pilot'.*no more fuel") as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ts.simulate(model, 0.1, **OPTIONS, threads=2)
    assert isinstance(caught.value.__cause__, ValueError)


def test_an_event_that_cannot_happen_ends_all_threads_with_its_message():
    model = bush(2, 2)
    clamp = model.add(ts.Fixed("clamp", model.ground, model["b1_1"], point=(9, 0, 0)), active=False)
    model.when(ts.time >= 0.02, ts.engage(clamp), name="grab")
    model.when(model["s0"].rate[0] >= 0.001, ts.record("turning", model["s1"].rate[0]), name="turns")
    with pytest.raises(RunError, match="event 'grab' engages constraints that are far from satisfied"):
        ts.simulate(model, 0.1, **OPTIONS, threads=2)
