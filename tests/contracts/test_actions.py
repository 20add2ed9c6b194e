"""What actions do, on motions that are known exactly."""

import numpy as np
import pytest
from documented import documented

import torsor as ts


def runner():
    """A body that moves along x as x = t. Returns the model and x."""
    model = ts.Model("runner")
    body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(1, 0, 0))
    return model, body.position[0]


def test_a_force_may_use_the_time_of_the_event_that_switches_it():
    """A push that grows from the event on: v = (t − t₁)²/2."""
    model, x = runner()
    body = model.bodies[0]
    start = model.when(ts.time >= 0.4, ts.record("x", x), name="start")
    push = model.add(ts.PointForce("push", body, force=((ts.time - start.time) * body.mass, 0, 0)), active=False)
    assert start.then(ts.switch(push)) is start
    data = ts.simulate(model, 1.0, outputs=5)
    late = np.maximum(data.time.values - 0.4, 0)
    first = data.velocity.values[0, 0, 0]
    np.testing.assert_allclose(data.velocity.values[:, 0, 0], first + late**2 / 2, atol=1e-10)
    with pytest.raises(ts.ModelError, match="'start'.*give actions"):
        other, _ = runner()
        other.when(ts.time >= 0.4, ts.end(), name="start").then("push")
    with pytest.raises(ts.ModelError, match="compiled"):
        start.then(ts.end())


def test_a_strike_of_ones_own_rebounds_whatever_its_condition_is():
    """A bumper that is hit when a clock says so: v⁺ = −e v⁻, and the constraint is open again."""
    model, x = runner()
    bumper = model.add(ts.Holonomic("bumper", 0.5 - x), active=False)
    model.when(ts.time >= 0.5, ts.strike(bumper, restitution=0.4), name="hit")
    data = ts.simulate(model, 1.0, outputs=4)
    np.testing.assert_allclose(data.velocity.values[-1, 0, 0], -0.4, atol=1e-12)
    np.testing.assert_allclose(data.position.values[-1, 0, 0] - data.position.values[2, 0, 0], -0.2, atol=1e-9)


STEPS = {"ask", "decide", "set", "engage", "release", "strike", "land", "record", "end"}
ACTIONS = {**ts.registered("action"), **documented("action")}


def scene():
    """A model with something of everything that actions act on, by the names under which they take it."""
    model, x = runner()
    lock = model.add(ts.Holonomic("lock", x - 3), active=False)
    push = model.add(ts.PointForce("push", model.bodies[0], force=(1, 0, 0)))
    floor = model.add(ts.Contact("floor", model.ground, model.bodies[0]))
    rub = model.add(ts.Friction("rub", floor, coefficient=0.1))
    model.parameter("k", 1.0)
    mode = model.modes("machine", "on", "off")["off"]
    pilot = model.add(ts.Controller("pilot", period=1.0, outputs="u", function=lambda t, u: t))
    targets = {None: (), "constraints or joints": (lock,), "forces": (push,), "a controller": (pilot,)}
    targets |= {"one-sided constraints": (floor,), "forces, controllers or other rules": (push, rub, pilot)}
    targets |= {"joints, constraints, forces or rules": (lock, floor, rub, push, pilot), "one body": (model.bodies[0],)}
    return model, targets | {"assign": ("k",), "enter": (mode,), "land": (rub,)}


@pytest.mark.parametrize("key", ACTIONS)
def test_an_action_consists_of_elementary_steps_on_what_it_says_it_acts_on(key):
    cls = ACTIONS[key]
    model, targets = scene()
    extra = {"label": "x", "value": 1.0} if key == "record" else {}
    action = cls(targets.get(key, targets[cls.acts_on]), **extra)
    action.refers(model, "event 'e'")
    action.join(model, "e")
    steps = action.steps(model)
    assert steps and all(step.kind in STEPS or step.loop == cls.loop for step in steps)
    assert cls.__doc__ and set(action.switches()) <= set(action.targets) and set(action.arms()) <= set(action.targets)


@pytest.mark.parametrize("key", [key for key, cls in ACTIONS.items() if cls.acts_on is not None])
def test_an_action_refuses_what_it_does_not_act_on(key):
    model, targets = scene()
    own = targets[ACTIONS[key].acts_on]
    others = (targets["forces"][0], targets["constraints or joints"][0], model.bodies[0])
    wrong = [(x,) for x in others if not any(x is one for one in own)]
    for given in ((), ("nothing",), *wrong, (scene()[1][ACTIONS[key].acts_on][0],)):
        with pytest.raises(ts.ModelError, match=f"event 'e': action '{key}'"):
            ACTIONS[key](given).refers(model, "event 'e'")
