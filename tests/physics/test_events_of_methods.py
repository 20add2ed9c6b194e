"""Events with every registered method: impacts, dry friction, changes of structure, states with thresholds, and a run that goes on.

Each method meets the same events as a fine run of another one, at times that its order explains.
"""

from functools import cache

import models
import numpy as np
import pytest
from models import block_on_a_belt as belt
from models import four_bar

import torsor as ts
from torsor.run import runner
from torsor.simulation import resume

pytestmark = pytest.mark.filterwarnings("ignore::torsor.AccuracyWarning")  # some methods are for drafts
METHODS = ts.registered("integrator")
STEP = {1: 5e-4, 2: 1e-3}  # by order; others 4e-3
ERROR = {1: 5e-3, 2: 2e-5}  # of event times, and a tenth of that of positions; others 5e-6


def ball():
    """Bounces with a restitution of 0.7, thrown along the floor."""
    return models.ball(0.4, 0.7, velocity=(0.5, 0, 0), angular_velocity=(1, 2, 3))


def released():
    """A rod breaks off another one when its joint's load is large enough."""
    model = ts.Model("rods", gravity=(0, 0, -9.81))
    upper = model.body("upper", mass=1.0, inertia=(0.1, 0.1, 0.02), at=(0.5, 0, 0))
    lower = model.body("lower", mass=0.7, inertia=(0.05, 0.06, 0.02), at=(1.3, 0, 0))
    top = model.add(ts.Revolute("top", model.ground, upper, point=(0, 0, 0), axis=(0, 1, 0)))
    knee = model.add(ts.Revolute("knee", upper, lower, point=(1, 0, 0), axis=(0, 1, 0)))
    model.when(top.coordinate >= 0.8, ts.release(knee), name="break")
    return model


def stopped():
    """A closed loop whose crank hits a stop."""
    model = four_bar()
    model.add(ts.Limit("stop", model["A"], upper=0.4, restitution=0.5))
    return model


def thermostat():
    """A state that is switched at thresholds, beside a pendulum that it pushes."""
    model = ts.Model("thermostat", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, -1))
    hinge = model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0), start=0.3))
    power = model.parameter("power", 8.0)
    heat = model.state("heat", rate=lambda x: power - 2 * x + hinge.rate[0], start=0.0)
    model.add(ts.JointForce("push", hinge, value=heat))
    model.when(heat >= 2.0, ts.assign("power", 0.5), name="off")
    model.when(heat <= 1.0, ts.assign("power", 8.0), name="on")
    return model


MODELS = {
    "ball": (ball, 0.9),
    "belt": (belt, 1.0),
    "released": (released, 0.8),
    "four-bar": (stopped, 0.68),
    "thermostat": (thermostat, 1.5),
}


def run(build, until, **given):
    return ts.simulate(build(), until, outputs=[0.0, until], formulation="relative", **given)


@cache
def exact(name):
    return run(*MODELS[name], tolerance=1e-12)


def compared(data, name, most):
    """The same events at the same times, and the same end."""
    other = exact(name)
    assert data.event_name.values.tolist() == other.event_name.values.tolist() and other.sizes["event"] > 0
    assert np.abs(data.event_time.values - other.event_time.values).max() < most
    assert np.abs(data.position.values[-1] - other.position.values[-1]).max() < 10 * most


@pytest.mark.parametrize("method", METHODS)
def test_every_method_meets_the_same_events(method):
    order = METHODS[method].order
    for name, model in MODELS.items():
        compared(run(*model, method=method, step=STEP.get(order, 4e-3)), name, ERROR.get(order, 5e-6))
        if METHODS[method].adaptive():
            compared(run(*model, method=method, tolerance=1e-8), name, 1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_run_with_events_goes_on_bit_for_bit(method, tmp_path, monkeypatch):
    """Interrupted between friction that sticks and slips, and gone on with from its last checkpoint."""
    given, march, calls = (
        {"outputs": 8, "method": method, "step": 2e-3, "formulation": "relative"},
        runner.Runner._advance,
        [],
    )
    whole = ts.simulate(belt(), 0.8, **given)

    def interrupted(self, budget):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return march(self, min(budget, 40))

    monkeypatch.setattr(runner.Runner, "_advance", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        ts.simulate(belt(), 0.8, checkpoint=tmp_path / "run", checkpoint_every=0.0, **given)
    monkeypatch.undo()
    data = resume(tmp_path / "run", belt())
    assert len(calls) == 6 and data.sizes["event"] == whole.sizes["event"] > 0
    for name in ("coordinate", "rate", "event_time", "energy"):
        assert np.array_equal(data[name], whole[name])
