"""Controllers that travel: through checkpoints, pickles, copies, files, simulations that are driven, and studies."""

import copy
import pickle
from collections import deque

import numpy as np
import pytest
from test_checkpoint import OFTEN, same, stopped

import torsor as ts
from torsor.studies import executors, job_dispatch
from torsor.studies.executors import workers


def law(t, u, s):
    """A sum and two averages: a state of three numbers by name."""
    s = {"sum": s["sum"] + 0.05 * u[0], "mean": 0.5 * (s["mean"] + u)}
    return [-3 * u[0] - s["mean"][1] - 0.2 * s["sum"]], s


def slide(**options):
    model = ts.Model("slide")
    weight = model.parameter("weight", 2.0)
    mass = model.body("mass", mass=weight, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, mass, axis="x", start=1.0))
    seen = ts.Controller(
        "pilot", 0.05, [rail.coordinate, rail.rate], ["force"], law, {"sum": 0.0, "mean": [0.0, 0.0]}, 0.07, **options
    )
    model.add(ts.JointForce("motor", rail, model.add(seen)["force"]))
    return model


@pytest.fixture(scope="module")
def run():
    return ts.simulate(slide(), 4.0, outputs=80)


def same_motion(data, run, prefix="", within=1e-13):
    """Compiled arithmetic may round products and sums at once."""
    np.testing.assert_allclose(data.coordinate.values[:, :1], run.coordinate.values, rtol=0, atol=within)
    for name in ("force", "sum", "mean[0]", "mean[1]"):
        np.testing.assert_allclose(data[f"{prefix}pilot.{name}"].values, run[f"pilot.{name}"].values, atol=10 * within)


def test_a_run_that_is_stopped_and_resumed_gives_the_same_bits(tmp_path):
    """The state of a controller, and what waits to take effect, are part of a checkpoint."""
    whole = ts.simulate(slide(), 400.0, outputs=80)
    stopped(slide(), str(tmp_path / "run"), until=400.0, outputs=80, **OFTEN)
    same(ts.resume(str(tmp_path / "run"), slide()), whole)


def wander(t, u, s):
    """A noisy force, late by three samples, from a state that is changed in its place."""
    s["line"].append(-3 * u[0] - u[1] + 0.1 * s["noise"].normal())
    return s["line"].popleft(), s


def wanderer():
    """As `slide`, with a state that no numbers are made of."""
    model = ts.Model("slide")
    mass = model.body("mass", mass=2.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, mass, axis="x", start=1.0))
    state = {"noise": np.random.default_rng(7), "line": deque([0.0] * 3), "why": "to be late"}
    pilot = ts.Controller("pilot", 0.05, [rail.coordinate, rail.rate], ["force"], wander, state=state)
    model.add(ts.JointForce("motor", rail, model.add(pilot)["force"]))
    return model


def test_a_state_that_is_an_object_is_part_of_the_run(tmp_path):
    """Every run begins with a copy of it; states, copies, files, pickles and checkpoints hold it as it was. The same law outside,
    step by step with its own copy, tells the forces."""
    model, path = wanderer(), tmp_path / "slide.state"
    whole = ts.simulate(model, 400.0, outputs=8000)
    state = {"noise": np.random.default_rng(7), "line": deque([0.0] * 3)}
    seen = np.column_stack([whole.coordinate.values[:, 0], whole.rate.values[:, 0]])
    expected = [wander(0.0, u, state)[0] for u in seen]
    np.testing.assert_allclose(whole["pilot.force"].values, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ts.simulate(model, 1.0, outputs=20).rate.values, whole.rate.values[:21], atol=1e-13)
    stopped(wanderer(), str(tmp_path / "run"), until=400.0, outputs=8000, **OFTEN)
    same(ts.resume(str(tmp_path / "run"), wanderer()), whole)

    sim = ts.Simulation(model)
    way = lambda sim: [(sim.advance(0.05), float(sim["rail.coordinate"]))[1] for _ in range(20)]
    first, moment, twin, sent = way(sim), sim.state, sim.copy(), pickle.dumps(sim)
    on = way(sim)
    moment.save(path)
    for kept in (moment, ts.load_state(path), moment):
        sim.state = kept
        assert way(sim) == on
    assert way(twin) == on == way(pickle.loads(sent))
    sim.reset()
    assert way(sim) == first


def test_a_state_of_dictionaries_in_dictionaries_is_an_object():
    """It counts samples, two by two."""

    def law(t, u, s):
        return s["count"]["twice"], {"count": {"twice": s["count"]["twice"] + 2.0}}

    model = slide()
    model.add(ts.Controller("nested", 1.0, [], ["y"], law, state={"count": {"twice": 0.0}}))
    np.testing.assert_array_equal(ts.simulate(model, 3.0, outputs=3)["nested.y"], [0, 2, 4, 6])


@pytest.mark.parametrize("compiled", [False, True])
def test_states_and_inputs_that_are_matrices_stay_matrices(compiled):
    """Row by row in their names: a quarter turn of the rows in every sample."""
    model = slide()
    rotation = model.bodies[0].rotation

    def turned(t, u, s):
        assert u["R"].shape == (3, 3) and s["P"].shape == (2, 3) and s["x"].shape == (2, 1)
        return u["R"][0, 1] + s["P"][0, 1], {"P": np.array([[0, -1], [1, 0]]) @ s["P"], "x": s["x"]}

    start = {"P": np.arange(6.0).reshape(2, 3), "x": np.ones((2, 1))}
    model.add(ts.Controller("matrix", 1.0, {"R": rotation}, ["y"], turned, state=start, compiled=compiled))
    data = ts.simulate(model, 1.5, outputs=3)
    found = np.array([[data[f"matrix.P[{i}, {j}]"][-1] for j in range(3)] for i in range(2)])
    np.testing.assert_array_equal(found, -start["P"])
    np.testing.assert_array_equal(data["matrix.y"].values, [1, 1, -4, -4])


def test_copies_of_a_model_have_controllers_of_their_own(run):
    for twin in (pickle.loads(pickle.dumps(slide())), copy.deepcopy(slide())):
        data = ts.simulate(twin, 4.0, outputs=80)
        np.testing.assert_array_equal(data.coordinate.values, run.coordinate.values)


def test_a_function_that_does_not_travel_is_told():
    model = slide()
    model.add(ts.Controller("idle", 0.1, [], ["nothing"], lambda t, u: 0.0))
    with pytest.raises(
        ts.ModelError, match="controller 'idle': its function <function .* cannot go to another process"
    ):
        pickle.dumps(model)
    assert copy.deepcopy(model)["idle"].function is model["idle"].function  # in this process it does


@pytest.mark.parametrize("compiled", [False, True])
def test_a_controller_is_part_of_its_component(run, compiled):
    whole = ts.Model("whole")
    for name, place in (("near", 0.0), ("far", 9.0)):
        whole.include(name, slide(compiled=compiled), at=(0, place, 0), rotation=(0, 0, place))
    data = ts.simulate(whole, 4.0, outputs=80)
    for prefix in ("near.", "far."):
        same_motion(data, run, prefix)
    assert {"near.pilot", "far.pilot"} <= set(whole._names)


def test_a_law_of_expressions_is_data_and_a_python_function_is_not(run, tmp_path):
    ts.save_component(slide(compiled=True), tmp_path / "slide.tsc", formulations=())
    same_motion(ts.simulate(ts.load_component(tmp_path / "slide.tsc"), 4.0, outputs=80), run)
    with pytest.raises(ts.ModelError, match="'pilot': its function cannot be saved.*compiled=True"):
        ts.save_component(slide(), tmp_path / "python.tsc")


def test_a_simulation_that_is_driven_samples_as_a_run_does(run):
    """Also one that is copied, restored and reset on the way; none of it calls the function in vain."""
    sim = ts.Simulation(slide())
    way = lambda sim, n: [(sim.advance(0.05), float(sim["rail.coordinate"]))[1] for _ in range(n)]
    first = way(sim, 20)
    np.testing.assert_allclose(first, run.coordinate.values[1:21, 0], atol=1e-12)
    moment, twin = sim.state, sim.copy()
    on = way(sim, 20)
    sim.state = moment
    assert way(sim, 20) == on == way(twin, 20)
    sim.reset()
    assert way(sim, 20) == first


def test_a_run_that_begins_later_samples_from_there_on():
    """What is past is not made up for: 3 s after 0 there is one sample, and its answer takes effect 0.07 s later; with a phase
    of 0.03 s, that much later again."""
    for phase, none in ((0.0, 1), (0.03, 2), (3.08, 3)):
        sim, seen = ts.Simulation(slide(phase=phase)), []
        sim.reset(time=3.0)
        for _ in range(4):
            sim.advance(0.04)
            seen.append(float(sim["pilot.force"]))
        assert seen[:none] == [0.0] * none and max(seen[none:]) < -2.9


def test_a_study_asks_laws_in_python_in_one_thread_unless_it_is_told_otherwise(monkeypatch):
    """Several would wait for each other at every sample."""
    asked = []
    monkeypatch.setattr(executors, "processors", lambda: 4)
    monkeypatch.setattr(job_dispatch, "workers", lambda given: asked.append(workers(given).count) or workers(given))
    for executor, options in ((None, {}), (None, {"compiled": True}), (2, {})):
        ts.study(slide(**options), 0.1, {"weight": [1.0, 2.0]}, reduce="last", executor=executor)
    assert asked == [1, 4, 2]


def test_a_study_runs_controllers(run):
    weights = [1.0, 2.0, 3.0]
    data = ts.study(slide(), 4.0, parameters={"weight": weights}, outputs=80)
    np.testing.assert_allclose(data.coordinate.values[1], run.coordinate.values, atol=1e-12)
    assert np.abs(data.coordinate.values[2] - data.coordinate.values[1]).max() > 0.01
