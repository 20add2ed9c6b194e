"""Outputs within a step are read from its continuous extension: they change nothing in the motion, and are as accurate as it."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.methods.integrators.tableaus import Tableau
from torsor.store import checkpointed_run

PAIRS = [key for key, cls in ts.registered("integrator").items() if issubclass(cls, Tableau) and cls.adaptive()]
STATE = ("position", "rotation", "velocity", "angular_velocity")


def loop():
    """A spatial slider-crank with a spring: a loop in space, with a rod that spins freely."""
    model = ts.Model("slider-crank", gravity=(0, 0, -9.81))
    A, B = np.array((0, 0.1, 0.12)), np.array((0, 0.1, 0.2))
    C = np.array((np.sqrt(0.09 - B[1] ** 2 - B[2] ** 2), 0, 0))
    crank = model.body("crank", mass=0.12, inertia=(1e-4, 1e-5, 1e-4), at=(A + B) / 2)
    rod = model.body("rod", mass=0.5, inertia=(1e-4, 3e-3, 3e-3), at=(B + C) / 2)
    slider = model.body("slider", mass=2.0, inertia=(1e-3, 1e-3, 1e-3), at=C)
    pin = model.add(ts.Revolute("pin", model.ground, crank, point=A, axis=(1, 0, 0), start_rate=6.0))
    model.add(ts.Spherical("b1", crank, rod, point=B))
    model.add(ts.Spherical("b2", rod, slider, point=C))
    model.add(ts.Prismatic("guide", model.ground, slider, axis=(1, 0, 0)))
    model.add(ts.TorsionSpring("spring", pin, stiffness=2.0, damping=0.01))
    return model


def top():
    """A body about a fixed point, turning fast, and a state of the user that follows its height."""
    model = ts.Model("top", gravity=(0, 0, -9.81))
    body = model.body("top", mass=1.5, inertia=(0.05, 0.05, 0.02), at=(0.3, 0, 0.6), angular_velocity=(0, 3, 12))
    model.add(ts.Spherical("tip", model.ground, body, point=(0, 0, 0)))
    model.state("lag", rate=lambda x: 5 * (body.position[2] - x), start=0.0)
    return model


MODELS = {"loop": loop, "top": top}


def difference(data, other):
    return max(
        float(np.abs(data[name].values - other[name].values).max() / np.abs(other[name].values).max()) for name in STATE
    )


@pytest.mark.parametrize("method", PAIRS)
@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz", "hierarchical", "hamiltonian"])
@pytest.mark.parametrize("build", MODELS)
def test_outputs_within_steps_are_as_accurate_as_the_motion(build, formulation, method):
    """Against a run of a ten-thousandth of the tolerance; and the constraints hold everywhere."""
    tolerance, given = 1e-8, {"outputs": np.linspace(0, 1, 402), "formulation": formulation}
    data = ts.simulate(MODELS[build](), 1.0, method=method, tolerance=tolerance, **given)
    exact = ts.simulate(MODELS[build](), 1.0, method="rkmk54", tolerance=1e-12, **given)
    assert data.attrs["steps"] < 300
    assert difference(data, exact) < 10 * tolerance
    assert data.attrs["position_drift_max"] < 1e-12 and data.attrs["velocity_drift_max"] < 1e-11


def stopped():
    """A pendulum that hits a stop again and again, with a state that follows its angle and an event of its own."""
    model = ts.Model("stopped", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.3, inertia=(0.2, 0.1, 0.15), at=(0, 0, -0.8))
    hinge = model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0), start=1.9))
    model.add(ts.Limit("stop", hinge, lower=-0.35, restitution=0.7))
    lag = model.state("lag", rate=lambda x: 4 * (hinge.coordinate[0] - x), start=0.0)
    model.when(ts.crossing(lag - 0.3), ts.record("speed", hinge.rate), name="passed")
    return model


def same(data, other, names=STATE):
    """Whether two runs agree bit for bit at the times that both have."""
    times = np.intersect1d(data.time.values, other.time.values)
    return len(times) > 1 and all(
        np.array_equal(data[name].sel(time=times), other[name].sel(time=times)) for name in names
    )


@pytest.mark.parametrize("method", PAIRS)
@pytest.mark.parametrize("projection", ["least-squares", "post", "partition", "baumgarte", "none"])
def test_outputs_do_not_change_the_motion(projection, method):
    """However many are wanted, each is the same bit for bit, and so is the number of steps."""
    given = {"method": method, "projection": projection, "tolerance": 1e-7}
    few = ts.simulate(loop(), 1.0, outputs=[0.37, 1.0], **given)
    many = ts.simulate(loop(), 1.0, outputs=np.unique(np.r_[np.linspace(0, 1, 1001), 0.37]), **given)
    assert few.attrs["steps"] == many.attrs["steps"] < 300 and same(few, many)


@pytest.mark.parametrize("method", PAIRS)
def test_outputs_do_not_change_events(method):
    few = ts.simulate(stopped(), 3.0, outputs=[1.7, 3.0], method=method)
    many = ts.simulate(stopped(), 3.0, outputs=np.unique(np.r_[np.linspace(0, 3, 901), 1.7]), method=method)
    assert few.attrs["steps"] == many.attrs["steps"] and few.sizes["event"] > 4
    assert np.array_equal(few.event_time, many.event_time) and same(few, many, (*STATE, "lag", "energy", "work"))
    assert many.attrs["energy_balance_relative"] < 1e-8


@pytest.mark.parametrize("build", [top, stopped])
@pytest.mark.parametrize("method", PAIRS)
def test_a_run_in_portions_is_the_same(build, method, tmp_path, monkeypatch):
    """A step may pass the last output of a portion: those that follow in it belong to the next one."""
    monkeypatch.setattr(checkpointed_run, "PORTION_BYTES", 8000)
    whole = ts.simulate(build(), 1.0, outputs=300, method=method)
    parts = ts.simulate(build(), 1.0, outputs=300, method=method, checkpoint=tmp_path / "run", checkpoint_every=0.0)
    assert whole.attrs["steps"] == parts.attrs["steps"] and same(whole, parts, (*STATE, "lag", "energy"))


def test_turns_are_counted_within_steps():
    """A wheel of constant speed, of which an angle knows its remainder alone."""
    for formulation in ("absolute", "relative"):
        model = ts.Model("wheel")
        wheel = model.body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2))
        model.add(ts.Revolute("axle", model.ground, wheel, axis=(0, 0, 1), start_rate=50.0))
        data = ts.simulate(model, 2.0, outputs=777, formulation=formulation)
        assert np.abs(data.coordinate.values[:, 0] - 50 * data.time.values).max() < 1e-9


@pytest.mark.parametrize("outputs", [1, 1000])
def test_what_begins_in_the_middle_of_a_run_is_seen(outputs):
    """A push that lasts for a fiftieth of the run: no step is long enough to pass it."""
    model = ts.Model("rest")
    body = model.body("body", mass=2.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis=(1, 0, 0), start_rate=0.1))
    push = ca.if_else(ca.logic_and(ts.time > 5.03, ts.time < 5.23), 10 * ca.sin(5 * np.pi * (ts.time - 5.03)) ** 2, 0)
    model.add(ts.JointForce("push", rail, value=push))
    data = ts.simulate(model, 10.0, outputs=outputs)
    assert abs(float(data.rate[-1, 0]) - 0.6) < 1e-6
