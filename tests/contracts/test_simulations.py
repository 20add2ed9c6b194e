"""Simulations that advance together are those alone, bit for bit."""

import casadi as ca
import numpy as np
import pytest
from models import four_bar

import torsor as ts
from torsor.kernels.backends.llvm import LEVEL

DT, COUNT, CALLS = 0.01, 6, 4
FIXED = {"method": "rkmk4", "step": 0.004}


@pytest.fixture(autouse=True)
def code_of_users(monkeypatch):
    """Lanes need code that is generated with optimisation."""
    monkeypatch.setenv(LEVEL, "2")


def arm():
    """Two links with a mass as parameter, a torque as input and an own state; the root of the load is a number above zero only."""
    model = ts.Model("arm", gravity=(0, 0, -9.81))
    mass = model.parameter("mass", 1.0, positive=True)
    upper = model.body("upper", mass=mass, inertia=(0.01, 0.1, 0.1), at=(0.5, 0, 0))
    lower = model.body("lower", mass=0.7, inertia=(0.05, 0.06, 0.02), at=(1.3, 0, 0))
    shoulder = model.add(ts.Spherical("shoulder", model.ground, upper, point=(0, 0, 0)))
    elbow = model.add(ts.Revolute("elbow", upper, lower, point=(1, 0, 0), axis=(0, 1, 0.2)))
    heat = model.state("heat", rate=lambda x: 2.0 - x, start=0.5)
    model.add(ts.JointForce("motor", elbow, heat + model.input("torque", 0.0) + ca.sqrt(model.input("load", 0.0))))
    model.signal("place", lower.position)
    assert shoulder.dof == 3
    return model


def ball():
    """A ball that bounces, pushed by an input; high above the floor the run ends."""
    model = ts.Model("ball", gravity=(0, 0, -9.81))
    body = model.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, 0.001), velocity=(0.1, 0, -0.2))
    model.add(ts.PointForce("push", body, force=ca.vertcat(0, 0, model.input("torque", 0.0))))
    model.add(ts.Contact("floor", model.ground, body, plane=(0, 0, 0), restitution=0.8))
    model.when(body.position[2] >= 0.05, ts.end(), name="high")
    return model


def loop():
    model = four_bar()
    model.add(ts.JointForce("motor", model["A"], value=model.input("torque", 0.3)))
    return model


def seen(sims, k=None):
    names = ("time", "position", "velocity", "energy", "work")
    return np.concatenate([np.ravel(sims[name] if k is None else sims[name][k]) for name in names])


CASES = {
    "lanes": (arm, FIXED, "lanes"),
    "adaptive": (arm, {}, "straight"),
    "events": (ball, FIXED, "straight"),
    "closed loop": (loop, FIXED, "straight"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_simulation_is_the_one_alone_bit_for_bit(case):
    make, options, path = CASES[case]
    model = make()
    torques = np.random.default_rng(1).normal(size=(CALLS, COUNT))
    sims = ts.Simulations(model, COUNT, **options)
    assert sims.path == path and sims.path_reason and len(sims) == COUNT
    alone = [ts.Simulation(model, **options) for _ in range(COUNT)]
    for row in torques:
        sims.advance(DT, torque=row)
        for one, torque in zip(alone, row):
            one.advance(DT, torque=float(torque))
    for k, one in enumerate(alone):
        assert np.array_equal(seen(sims, k), seen(one))
        assert np.array_equal(seen(sims[k]), seen(one))
    name = model.joints[0].name if model.joints else None
    if name:
        assert np.array_equal(sims.rates[name][2], alone[2].rates[name])
    assert np.asarray(sims.coordinates).shape == (COUNT, len(alone[0].coordinates.names))
    sims[1].advance(DT)
    alone[1].advance(DT)


@pytest.mark.parametrize("options", [FIXED, {}])
def test_parameters_and_starts_differ(options):
    model, masses = arm(), np.linspace(0.5, 2.0, COUNT)
    starts = [{"elbow": 0.1 * k, "elbow.rate": -1.0} for k in range(COUNT)]
    sims = ts.Simulations(model, COUNT, parameters={"mass": masses}, start=starts, **options)
    sims.advance(DT, torque=1.0)
    for k in (0, 3):
        one = ts.Simulation(model, parameters={"mass": masses[k]}, start=starts[k], **options)
        one.advance(DT, torque=1.0)
        assert np.array_equal(seen(sims, k), seen(one))


@pytest.mark.parametrize("options", [FIXED, {}])
def test_some_begin_again_while_others_go_on(options):
    model = arm()
    sims = ts.Simulations(model, COUNT, **options)
    fresh, old = ts.Simulation(model, **options), ts.Simulation(model, **options)
    sims.advance(DT, torque=2.0)
    old.advance(DT, torque=2.0)
    sims.reset([1, 4], torque=[0.0, 5.0])
    fresh.reset(torque=5.0)
    assert sims.time.tolist() == [DT, 0, DT, DT, 0, DT]
    sims.advance(DT)
    fresh.advance(DT)
    old.advance(DT)
    assert np.array_equal(seen(sims, 0), seen(old))
    np.testing.assert_allclose(
        seen(sims, 4), seen(fresh), rtol=1e-13, atol=1e-13
    )  # steps end at other roundings of the time
    sims.reset(start={"elbow": 0.3})
    assert not sims.time.any() and np.allclose(sims.coordinates["elbow"], 0.3, atol=1e-12)
    sims.reset(np.arange(COUNT) < 2)
    assert np.array_equal(sims.coordinates["elbow"] == 0.0, np.arange(COUNT) < 2)


@pytest.mark.parametrize("options", [FIXED, {}])
def test_one_that_fails_leaves_its_neighbours_unharmed(options):
    sims, other = (ts.Simulations(arm(), COUNT, **options) for _ in range(2))
    load = np.where(np.arange(COUNT) == 2, -1.0, 1.0)
    with pytest.raises(ts.RunError, match=r"model 'arm': simulation 2 stopped"):
        sims.advance(DT, load=load)
    other.advance(DT, load=1.0)
    sims.advance(DT)  # the one that failed stays where it is
    other.advance(DT)
    assert [bool(reason) for reason in sims.end_reasons] == [k == 2 for k in range(COUNT)]
    assert sims.time[2] < DT and np.isfinite(sims["position"]).all()
    for k in (0, 1, 3, 5):
        assert np.array_equal(seen(sims, k), seen(other, k))
    sims.reset(2, load=1.0)
    sims.advance(DT)
    assert not any(sims.end_reasons)


def test_simulations_that_an_event_ends_wait():
    sims = ts.Simulations(ball(), 3, **FIXED)
    for _ in range(10):
        sims.advance(DT, torque=[0.0, 100.0, 9.81])
    assert [reason != "" for reason in sims.end_reasons] == [False, True, False]
    assert sims.time[1] < sims.time[0] == sims.time[2] and sims[1].events[-1].name == "high"
    with pytest.raises(ts.RunError, match="all 3 simulations have ended"):
        for _ in range(40):
            sims.advance(DT, torque=100.0)


@pytest.mark.parametrize("options", [FIXED, {}])
def test_threads_give_the_same_bits(options):
    one, two = (ts.Simulations(arm(), 9, threads=threads, **options) for threads in (1, 2))
    for sims in (one, two):
        sims.advance(DT, torque=np.arange(9.0))
        sims.advance(DT)
    assert all(np.array_equal(seen(one, k), seen(two, k)) for k in range(9))


def test_wrong_arguments_are_refused():
    model = arm()
    for count in (0, 2.5, True, "3"):
        with pytest.raises(ts.OptionError, match="count must be a whole number from 1 on"):
            ts.Simulations(model, count)
    with pytest.raises(ts.OptionError, match="give a torsor.Model, got 3"):
        ts.Simulations(3, 2)
    with pytest.raises(ts.OptionError, match="give one start, or a list of 2 starts, got 1"):
        ts.Simulations(model, 2, start=[{}])
    sims = ts.Simulations(model, 2, **FIXED)
    wrong = [
        ({"dt": -1.0}, "dt"),
        ({"dt": DT, "torqe": 1.0}, "unknown input 'torqe'. Did you mean 'torque'"),
        ({"dt": DT, "torque": np.ones(3)}, r"give a number, or 2 of them, got an array of shape \(3,\)"),
        ({"dt": DT, "torque": [0.0, np.nan]}, "input 'torque' of simulation 1: give a finite number, got nan"),
        ({"dt": DT, "torque": "much"}, "torque"),
        ({"dt": DT, "torque": ["a", "b"]}, "input 'torque': give a number, or 2 of them"),
    ]
    for arguments, message in wrong:
        with pytest.raises(ts.TorsorError, match=message):
            sims.advance(**arguments)
    assert not sims.time.any()
    for which in (2, [-1], [True], [0.5]):
        with pytest.raises(ts.OptionError, match="which: give indices from 0 to 1, or a mask of 2 values"):
            sims.reset(which)
    with pytest.raises(ts.OptionError, match="there are simulations 0 to 1, got 2"):
        sims[2]
    with pytest.raises(ts.OptionError, match="unknown signal 'enrgy'. Did you mean 'energy'"):
        sims["enrgy"]
    with pytest.raises(ts.OptionError, match="unknown coordinate 'elbo'"):
        sims.coordinates["elbo"]
