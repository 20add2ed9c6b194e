"""What is wrong with events and one-sided elements is refused by name; a run that fails at an event keeps its data."""

import casadi as ca
import numpy as np
import pytest
from refusing import refused

import torsor as ts
from torsor.errors import OptionError, RunError, TorsorError


def scene(name="scene", gravity=(0, 0, 0)):
    model = ts.Model(name, gravity=gravity)
    first = model.body("first", mass=2.0, inertia=(0.3, 0.4, 0.5), at=(0.1, 0.2, 0.3))
    second = model.body("second", mass=1.0, inertia=(0.2, 0.3, 0.25), at=(1.0, -0.4, 0.6))
    joint = model.add(ts.Revolute("joint", first, second, point=(0.4, 0, 0), axis=(0, 1, 1)))
    slider = model.add(ts.Prismatic("slider", model.ground, first, axis=(1, 0, 0)))
    push = model.add(ts.PointForce("push", second, force=(1, 0, 0)))
    return model, {"first": first, "second": second, "joint": joint, "slider": slider, "push": push}


# conditions


def test_conditions_that_are_none_are_refused():
    model, s = scene()
    x, act = s["first"].position[0], ts.end()
    refused(lambda: model.when(True, act, name="e"), "event 'e'", "comparison of signals")
    refused(lambda: model.when("x > 0", act, name="e"), "event 'e'")
    refused(lambda: model.when(x, act, name="e"), "event 'e'", "comparison")
    refused(lambda: model.when(s["first"].position >= 0, act, name="e"), "event 'e'")
    refused(lambda: model.when(x == 1, act, name="e"), "event 'e'", "equality", "crossing")
    refused(lambda: model.when(x != 1, act, name="e"), "event 'e'", "equality")
    refused(lambda: model.when(ca.logic_and(x >= 1, x == 2), act, name="e"), "event 'e'", "equality")
    refused(lambda: model.when(ca.SX(1) >= ca.SX(0), act, name="e"), "event 'e'")
    refused(lambda: model.when(x - x >= 1, act, name="e"), "event 'e'")
    refused(lambda: ts.rising(3.0), "constant")
    refused(lambda: ts.crossing(s["first"].position), "crossing")
    refused(lambda: ts.falling("x"), "falling")
    stranger, _ = scene("other")
    refused(
        lambda: model.when(stranger["first"].position[0] >= 0, act, name="e"),
        "event 'e'",
        "does not belong to model 'scene'",
    )
    assert model.events == [] and "e" not in model


# actions


def test_actions_on_the_wrong_things_are_refused():
    model, s = scene()
    p = model.parameter("p", 1.0)
    machine = model.modes("machine", "a", "b")
    other, o = scene("other")
    foreign = other.modes("foreign", "a", "b")
    now, third = ts.time >= 1, ts.Model("third")
    when = lambda *actions, **options: lambda: model.when(now, *actions, name="e", **options)
    refused(when(), "event 'e'", "does nothing")
    refused(when("stop"), "event 'e'", "give actions", "'stop'")
    refused(when(ts.end), "event 'e'", "give actions")
    refused(when(ts.engage(s["push"], snap=True)), "event 'e'", "engage", "snap=True", "push")
    touch = third.add(ts.Contact("touch", third.ground, third.body("one", mass=1.0, inertia=(1, 1, 1))))
    refused(
        lambda: third.when(now, ts.engage(touch, snap=True), name="e"),
        "event 'e'",
        "engage",
        "snap=True",
        "contact 'touch'",
    )
    refused(when(ts.release(s["first"])), "event 'e'", "release")
    refused(when(ts.release("jint")), "event 'e'", "release", "jint")
    refused(when(ts.engage(o["joint"])), "event 'e'", "engage", "'joint'", "does not belong to model 'scene'")
    refused(when(ts.switch(s["joint"])), "event 'e'", "switch", "joint")
    refused(when(ts.switch(o["push"])), "event 'e'", "does not belong")
    refused(when(ts.switch(s["push"], on=s["first"].position)), "event 'e'", "switch", "on must be True or False")
    refused(when(ts.engage(s["joint"], snap=1)), "event 'e'", "engage", "snap must be True or False", "1")
    refused(when(ts.strike(s["joint"], restitution=2)), "event 'e'", "restitution", "between 0 and 1", "2")
    refused(when(ts.strike(s["joint"], restitution=-0.1)), "event 'e'", "restitution")
    refused(when(ts.assign("q", 1.0)), "event 'e'", "unknown parameter 'q'", "Known: p")
    refused(when(ts.assign(s["first"].position[0], 1.0)), "event 'e'", "assign")
    refused(when(ts.assign(p, "much")), "event 'e'")
    refused(when(ts.assign(p, o["first"].position[0])), "event 'e'", "does not belong")
    refused(when(ts.enter("a")), "event 'e'", "enter")
    refused(when(ts.enter(foreign["a"])), "event 'e'", "enter")
    refused(when(ts.enter(machine)), "event 'e'", "enter")
    refused(when(ts.record("", 1.0)), "event 'e'", "record")
    refused(when(ts.record("x", s["first"].position)), "event 'e'")
    refused(when(ts.end(), accumulate="stop"), "event 'e'", "accumulate", "'error', 'end', 'ignore'")
    refused(when(ts.end(), during="a"), "event 'e'", "during")
    refused(when(ts.end(), during=foreign["a"]), "event 'e'", "during")
    refused(lambda: model.when(now, ts.end(), name="joint"), "names must differ")
    refused(lambda: model.when(now, ts.end(), name="a b"), "a name is letters")
    refused(lambda: machine["c"], "modes 'machine'", "'c'", "Known: a, b")
    refused(lambda: model.modes("one", "a"), "modes 'one'", "two or more")
    refused(lambda: model.modes("same", "a", "a"), "modes 'same'")
    refused(lambda: model.modes("machine", "a", "b"), "names must differ")
    assert model.events == []


@pytest.mark.parametrize("action", [ts.release, ts.engage, ts.strike, ts.switch], ids=lambda f: f.__name__)
def test_actions_on_nothing_are_refused(action):
    model, _ = scene()
    refused(lambda: model.when(ts.time >= 1, action(), name="e"), "event 'e'", action.__name__)


# elements


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda s: ts.Contact("x", s["first"], s["second"], restitution=2.0), ("contact 'x'", "restitution")),
        (lambda s: ts.Contact("x", s["first"], s["second"], restitution=-0.5), ("contact 'x'", "restitution")),
        (lambda s: ts.Contact("x", s["first"], s["second"], restitution=float("nan")), ("contact 'x'", "restitution")),
        (lambda s: ts.Contact("x", s["first"], s["second"], radius=-1), ("contact 'x'", "radius")),
        (lambda s: ts.Contact("x", s["first"], s["second"], normal=(0, 0, 0)), ("contact 'x'", "normal")),
        (lambda s: ts.Contact("x", s["first"], s["second"], plane=(0, 0)), ("contact 'x'", "plane")),
        (lambda s: ts.Slot("x", s["first"], s["second"]), ("slot 'x'", "clearance must be positive")),
        (lambda s: ts.Slot("x", s["first"], s["second"], clearance=-1), ("slot 'x'", "clearance must be positive")),
        (lambda s: ts.Limit("x", s["joint"]), ("limit 'x'", "lower", "upper")),
        (lambda s: ts.Limit("x", s["joint"], lower=1, upper=0), ("limit 'x'", "lower must be below upper")),
        (lambda s: ts.Limit("x", s["joint"], lower=0, index=3), ("limit 'x'", "index")),
        (lambda s: ts.Limit("x", s["push"], lower=0), ("limit 'x'", "joint")),
        (lambda s: ts.Backlash("x", s["joint"], s["slider"]), ("backlash 'x'", "play must be positive")),
        (lambda s: ts.Backlash("x", s["joint"], None, play=1), ("backlash 'x'",)),
        (lambda s: ts.Lock("x", s["first"]), ("lock 'x'", "joint")),
        (lambda s: ts.Friction("x", s["joint"], coefficient=0.3), ("friction 'x'", "'joint' turns", "radius")),
        (lambda s: ts.Friction("x", s["first"], coefficient=0.3), ("friction 'x'", "joint or contact")),
        (lambda s: ts.Friction("x", s["slider"], coefficient=-0.3), ("friction 'x'", "coefficient")),
        (lambda s: ts.Friction("x", s["slider"], coefficient=0.3, static=0.2), ("friction 'x'", "static must not be below")),
        (lambda s: ts.Friction("x", s["slider"], coefficient="rough"), ("friction 'x'", "coefficient")),
        (lambda s: ts.Friction("x", s["slider"], coefficient=0.1, radius=-1), ("friction 'x'", "radius")),
        (lambda s: ts.Friction("x", s["slider"], coefficient=0.1, normal=-1), ("friction 'x'", "normal")),
        (lambda s: ts.Clutch("x", s["first"], s["second"], torque=-1), ("clutch 'x'", "torque")),
        (lambda s: ts.Clutch("x", s["first"], s["second"], torque=ts.time, static=-1), ("clutch 'x'", "static")),
        (lambda s: ts.Clutch("x", s["first"], s["second"], torque=2, static=1), ("clutch 'x'", "static must not be below")),
        (lambda s: ts.Clutch("x", s["first"], s["second"], axis=(0, 0, 0), torque=1), ("clutch 'x'", "axis")),
        (lambda s: ts.Breakable("x", s["joint"]), ("breakable 'x'", "force", "torque")),
        (lambda s: ts.Breakable("x", s["joint"], force=0), ("breakable 'x'", "force must be positive")),
        (lambda s: ts.Breakable("x", s["joint"], force=-1), ("breakable 'x'", "force")),
        (lambda s: ts.Breakable("x", s["push"], force=1), ("breakable 'x'",)),
        (lambda s: ts.Weld("x", s["first"], s["first"]), ("weld 'x'",)),
    ],
)  # fmt: skip
def test_elements_that_make_no_sense_are_refused(make, parts):
    model, s = scene()
    before = list(model._names)
    refused(lambda: model.add(make(s)), *parts)
    assert list(model._names) == before and model.events == []


def test_elements_of_another_model_are_refused():
    model, _ = scene()
    other, s = scene("other")
    for make in (
        lambda: ts.Limit("x", s["joint"], lower=0),
        lambda: ts.Friction("x", s["slider"], coefficient=0.1),
        lambda: ts.Breakable("x", s["joint"], force=1),
        lambda: ts.Lock("x", s["slider"]),
        lambda: ts.Contact("x", s["first"], s["second"]),
    ):
        refused(lambda make=make: model.add(make()), "'x'", "does not belong")


def test_whether_an_element_is_active_is_true_or_false():
    model, s = scene()
    refused(
        lambda: model.add(ts.Contact("x", s["first"], s["second"]), active=1), "contact 'x'", "active", "True or False"
    )
    refused(lambda: model.add(ts.Friction("y", s["slider"], coefficient=0.1), active="no"), "friction 'y'", "active")


# runs


def runner():
    model = ts.Model("runner")
    body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(1, 0, 0))
    return model, body


def stops(model, *parts, until=1.0, events=None, kept=None, **options):
    with pytest.raises(RunError) as caught:
        ts.simulate(model, until, outputs=10, **options)
    for part in parts:
        assert part in str(caught.value), str(caught.value)
    data = caught.value.data
    assert data is not None and np.all(np.isfinite(data.position.values))
    if events is not None:
        assert data.event_name.values.tolist() == events
    if kept is not None:
        assert data.sizes["time"] == kept
    return data


def test_a_condition_that_is_no_number_is_an_error():
    model, body = runner()
    model.when(ts.time >= 0.2, ts.record("x", body.position[0]), name="early")
    model.when(ca.sqrt(0.55 - body.position[0]) <= -1, ts.end(), name="root")
    stops(model, "event 'root'", "not a number", events=["early"], kept=6)


def test_a_value_that_is_no_number_is_an_error():
    model, body = runner()
    p = model.parameter("p", 1.0)
    model.when(ts.time >= 0.35, ts.assign(p, ca.log(-body.position[0])), name="log")
    stops(model, "event 'log'", "not a number", kept=4)


def test_engaging_far_from_satisfied_says_how_far_and_snap_allows_it():
    def built(snap):
        model, body = runner()
        pin = model.add(ts.Holonomic("pin", body.position[1] - 0.25), active=False)
        model.when(ts.time >= 0.5, ts.engage(pin, snap=snap), name="catch")
        return model

    stops(built(False), "event 'catch'", "0.25", "snap=True", events=[], kept=5)
    data = ts.simulate(built(True), 1.0, outputs=10)
    np.testing.assert_allclose(data.position.values[-1, 0], [1.0, 0.25, 0], atol=1e-10)


def test_engagements_that_contradict_each_other_are_named():
    model, body = runner()
    a = model.add(ts.Holonomic("one", body.position[0] - ts.time), active=False)
    b = model.add(ts.Holonomic("two", body.position[0] - ts.time**2 - 0.25), active=False)
    model.when(ts.time >= 0.2, ts.engage(a), name="first")
    model.when(ts.time >= 0.5, ts.engage(b), name="second")
    stops(model, "event 'second'", "contradict", "two", events=["first"], kept=5)


def test_a_restitution_by_parameter_out_of_range_is_an_error():
    model = ts.Model("ball", gravity=(0, 0, -9.81))
    e = model.parameter("e", 0.5)
    body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, 0.3))
    model.add(ts.Contact("floor", model.ground, body, plane=(0, 0, 0), restitution=e))
    with pytest.raises(TorsorError) as caught:
        ts.simulate(model, 1.0, parameters={"e": 2.0})
    assert "floor" in str(caught.value) and "restitution" in str(caught.value)


@pytest.mark.parametrize("label", ["position", "event_time", "event", "speed", "way[1]", "count", "load"])
def test_a_recorded_name_that_a_result_has_already_is_refused(label):
    """Variables of a result, the model's signals, those of the run, and what a dataset itself offers."""
    model, body = runner()
    model.signal("speed", body.velocity[0])
    model.when(ts.time >= 0.5, ts.record(label, body.position[0]), name="e")
    with pytest.raises(OptionError) as caught:
        ts.simulate(model, 1.0, outputs=2, signals={"way": body.position})
    assert "event 'e'" in str(caught.value) and repr(label) in str(caught.value)


@pytest.mark.parametrize("restitution", [lambda e: e, lambda e: 4 * e])
def test_a_restitution_of_a_strike_by_parameter_out_of_range_is_an_error(restitution):
    model, body = runner()
    e = model.parameter("e", 0.1)
    wall = model.add(ts.Holonomic("wall", 0.5 - body.position[0]), active=False)
    model.when(body.position[0] >= 0.5, ts.strike(wall, restitution=restitution(e)), name="hit")
    assert model.values() == {"e": 0.1}
    refused(lambda: ts.simulate(model, 1.0, parameters={"e": 1.5}), "event 'hit'", "restitution", "between 0 and 1")


def test_a_model_that_was_run_does_not_change():
    model, _ = runner()
    event = model.when(ts.time >= 0.5, ts.end(), name="e")
    ts.simulate(model, 1.0, outputs=2)
    refused(lambda: model.when(ts.time >= 0.1, ts.end(), name="f"), "compiled", "'f'")
    refused(lambda: event.count, "compiled", "'e.count'")
    refused(lambda: model.modes("m", "a", "b"), "compiled", "'m'")


def test_a_parameter_that_moves_a_constraint_away_is_refused():
    """A rod does not become longer at once; nothing jumps silently."""
    model = ts.Model("rod", gravity=(0, 0, -9.81))
    length = model.parameter("length", 1.0, positive=True)
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    model.add(ts.Distance("rod", model.ground, bob, points=((0, 0, 0), (1, 0, 0)), length=length))
    model.when(ts.time >= 0.33, ts.assign(length, 1.2), name="longer")
    stops(model, "event 'longer'", "far from satisfied", "0.18", events=[], kept=4)
