"""A start that was at another time than the run begins at."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts


def swung(value):
    model = ts.Model("swung", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis="y"))
    model.add(ts.JointForce("push", hinge, value=value))
    return model


def test_a_start_at_another_time_is_told_where_time_matters():
    """A former result begins at time 0; a model that depends on time goes on at its time where that is said."""
    model = swung(5 * ca.sin(3 * ts.time))
    whole = ts.simulate(model, 1.0, outputs=2, tolerance=1e-11)
    half = whole.isel(time=1)
    told = r"the start was at t = 0.5 s, and the run begins at t = 0.*time=0.5\)"
    with pytest.warns(UserWarning, match=told):
        ts.simulate(model, 0.5, start=half)
    with pytest.warns(UserWarning, match=told):
        sim = ts.Simulation(model, start=half, tolerance=1e-11)
    with pytest.warns(UserWarning, match=told):
        ts.study(model, 0.5, start=half, outputs=1)
    sim.reset(half, time=0.5)
    assert sim.time == 0.5
    sim.advance(0.5)
    np.testing.assert_allclose(sim["position"], whole.position[-1], atol=1e-9)
    with pytest.warns(UserWarning, match="the start was at t = 1 s"):
        ts.simulate(model, 0.5, start=sim.state)
    sim.reset(half, time=0.0)
    ts.simulate(model, 0.5, start=whole.isel(time=0))
    still = swung(5.0)
    ts.simulate(still, 0.5, start=ts.simulate(still, 1.0, outputs=2).isel(time=1))


def test_conditions_on_time_and_clocks_are_told_as_well():
    def sampled(model):
        law = lambda t, inputs: -0.1 * inputs[0]
        model.add(ts.Controller("law", period=0.1, inputs=[model["hinge"].rate], outputs=["torque"], function=law))

    for happens in (lambda model: model.when(ts.time >= 0.7, ts.end()), sampled):
        model = swung(5.0)
        happens(model)
        half = ts.simulate(model, 0.5, outputs=1).isel(time=1)
        with pytest.warns(UserWarning, match="the start was at t = 0.5 s"):
            ts.simulate(model, 0.5, start=half)
