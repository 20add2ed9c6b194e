"""Likely mistakes are pointed out by one warning each, which can be silenced; legitimate models get none."""

import copy
import pickle
import warnings

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.checks.rate_jumps import forces_that_jump


def hinted(make, *parts):
    """`make` gives one hint, whose message has every part in it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = make()
    assert [w.category for w in caught] == [ts.HintWarning] * len(caught)
    assert len(caught) == 1, [str(w.message) for w in caught]
    assert caught[0].filename == __file__  # the line of the user
    for part in parts:
        assert part in str(caught[0].message)
    return made


def scene(**options):
    model = ts.Model("scene", gravity=(0, 0, -9.81), **options)
    bob = model.body("bob", mass=1.0, inertia=(1, 1, 1), at=(1, 0, 0))
    pin = model.add(ts.Revolute("pin", model.ground, bob, point=(0, 0, 0), axis="y"))
    return model, bob, pin


JOINTS = [cls for cls in ts.registered("joint").values() if cls.__module__.startswith("torsor.")]


@pytest.mark.parametrize("cls", [cls for cls in JOINTS if any(cls.angular) or cls.quasi], ids=lambda cls: cls.key)
@pytest.mark.parametrize("degrees", [30.0, 90.0, -45.0, 180.0, 360.0])
def test_a_start_angle_in_degrees_is_pointed_out(cls, degrees):
    model = ts.Model("scene")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    turning = 0 if cls.quasi else cls.angular.index(True)
    start = [degrees if k == turning else 0.0 for k in range(cls.dof)]
    (made, *_) = cls.examples({"first": model.ground, "second": body}, "joint")
    made = copy.copy(made)
    object.__setattr__(made, "start", start)
    hinted(lambda: model.add(made), "'joint'", f"{abs(degrees):.6g}", "radians")


@pytest.mark.parametrize("angle", [0.0, 3.0, -6.28, 2 * np.pi, 4 * np.pi, 20.5 * np.pi, -7 * np.pi / 3])
def test_angles_in_radians_are_not(angle):
    model = ts.Model("scene")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1), rotation=(0, 0, angle))
    model.add(ts.Revolute("pin", model.ground, body, axis="z", start=angle))
    model.add(
        ts.Prismatic("rail", model.ground, model.body("other", mass=1.0, inertia=(1, 1, 1)), axis="z", start=90.0)
    )


def test_a_rotation_vector_in_degrees_is_pointed_out():
    model = ts.Model("scene")
    turned = lambda: model.body("body", mass=1.0, inertia=(1, 1, 1), rotation=(0, 0, 45))
    hinted(turned, "body 'body': rotation is a rotation vector of 45 rad")
    quaternion = model.body("other", mass=1.0, inertia=(1, 1, 1), rotation=(30, 0, 0, 40))  # is normalised
    assert quaternion.name == "other"


@pytest.mark.parametrize("keep", [True, False])
def test_an_element_that_was_never_added_is_pointed_out(keep):
    model, bob, pin = scene()
    kept = [ts.TorsionSpring("spring", pin, stiffness=3.0)]
    kept = kept if keep else []
    hinted(lambda: ts.simulate(model, 0.1), "torsion-spring 'spring' was made for model 'scene' and never added")
    ts.simulate(model, 0.1)  # it is said once
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        ts.simulate(twin, 0.1)


def test_an_element_that_was_refused_and_added_right_is_not():
    model, bob, pin = scene()
    with pytest.raises(ts.ModelError):
        model.add(ts.TorsionSpring("spring", pin, stiffness=3.0, index=7))
    model.add(ts.TorsionSpring("spring", pin, stiffness=3.0))
    with pytest.raises(ts.ModelError):
        model.add(ts.TorsionSpring("other", pin, stiffness=3.0, index=7))
    ts.simulate(model, 0.1)


def test_a_body_that_nothing_connects_is_pointed_out_where_others_are():
    model, _, _ = scene()
    model.body("lost", mass=1.0, inertia=(1, 1, 1))
    hinted(lambda: ts.simulate(model, 0.1), "body 'lost' of model 'scene': nothing connects it")


def test_free_bodies_are_legitimate():
    ball = ts.Model("ball", gravity=(0, 0, -9.81))
    for k in range(3):
        ball.body(f"ball{k}", mass=1.0, inertia=(1, 1, 1), at=(k, 0, 0))
    ts.simulate(ball, 0.1)  # nothing else is there
    model, _, _ = scene()
    model.body("thrown", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0))
    pulled = model.body("pulled", mass=1.0, inertia=(1, 1, 1))
    model.add(ts.PointForce("pull", pulled, force=(1, 0, 0)))
    model.add(ts.Contact("floor", model.ground, model.body("falling", mass=1.0, inertia=(1, 1, 1), at=(3, 0, 1))))
    watched = model.body("watched", mass=1.0, inertia=(1, 1, 1))
    model.signal("height", watched.position[2])
    model.add(ts.Free("meant", model.ground, model.body("meant_body", mass=1.0, inertia=(1, 1, 1))))
    ts.simulate(model, 0.1)


def test_a_model_that_cannot_move_is_pointed_out():
    model = ts.Model("frame")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    model.add(ts.Fixed("glue", model.ground, body))
    hinted(lambda: ts.simulate(model, 0.1), "model 'frame' has no degree of freedom left")
    ts.simulate(model, 0.1)


def test_a_model_that_is_driven_is_not():
    model, _, pin = scene()
    model.add(ts.Drive("motor", pin, 0.3 * ca.sin(ts.time)))
    ts.simulate(model, 0.1)


@pytest.mark.parametrize("name", ["Revolute", "Prismatic", "Cylindrical", "Planar", "Universal"])
def test_an_axis_that_was_not_given_is_pointed_out(name):
    model = ts.Model("scene")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    given = {"second_axis": (0, 1, 0)} if name == "Universal" else {}
    hinted(lambda: model.add(getattr(ts, name)("joint", model.ground, body, **given)), "axis was not given, axis=(")


def test_hints_can_be_silenced():
    for silence in ({"hints": False}, {}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if not silence:
                warnings.simplefilter("ignore", ts.HintWarning)
            model, bob, pin = scene(**silence)
            model.body("lost", mass=1.0, inertia=(1, 1, 1), rotation=(90, 0, 0))
            ts.TorsionSpring("spring", pin, stiffness=3.0)
            model.add(ts.Revolute("second", bob, model.body("tip", mass=1.0, inertia=(1, 1, 1)), start=90.0))
            ts.simulate(model, 0.1)
    assert not copy.deepcopy(scene(hints=False)[0]).hints
    with pytest.raises(ts.ModelError, match="hints must be True or False, got 'no'"):
        ts.Model("scene", hints="no")


JUMPING = {
    "sign": lambda v: -3 * ca.sign(v),
    "condition": lambda v: ca.if_else(v > 0, -3.0, 3.0),
    "copysign": lambda v: -3 * ca.copysign(1.0, v),
    "of a point": lambda v: -3 * ca.sign(2 * v - 0.5),
}
SMOOTH = {
    "linear": lambda v: -3 * v,
    "drag": lambda v: -v * ca.fabs(v),
    "sign times square": lambda v: -ca.sign(v) * v**2,
    "smooth friction": lambda v: -3 * ca.tanh(v / 1e-3),
    "one-sided damper": lambda v: -ca.fmax(v, 0),
}


def block(law):
    model = ts.Model("block")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis="x"))
    model.add(ts.JointForce("rub", rail, law(rail.rate[0])))
    model.add(ts.JointForce("push", rail, 1.0))
    return model


def test_forces_that_jump_with_a_rate_are_found():
    for law in JUMPING.values():
        assert [force.name for force in forces_that_jump(block(law))] == ["rub"]
    for law in SMOOTH.values():
        assert forces_that_jump(block(law)) == []
    model = block(lambda v: 0.0)
    model.add(ts.EnergyForce("dry", dissipated=3 * ca.fabs(model["rail"].rate[0])))
    assert [force.name for force in forces_that_jump(model)] == ["dry"]


def test_a_force_that_jumps_with_a_rate_is_named_when_steps_collapse(monkeypatch):
    """A block that sign(v) brings to rest: v = 0 at t = ½, and no step is short enough from there on."""
    monkeypatch.setattr("torsor.run.auto_method.STABILITY_CHECK_AFTER", 0.05)
    monkeypatch.setattr("torsor.run.runner.PROGRESS_CHECK_AFTER", 0.2)
    monkeypatch.setattr("torsor.run.run_messages.LONGEST_RUN", 1e-9)
    with pytest.warns(
        ts.HintWarning,
        match="steps of .* at t = 0.5.* s; joint-force 'rub' jumps where a rate passes zero.*ts.Friction",
    ):
        with pytest.raises(ts.RunError, match="joint-force 'rub' jumps where a rate passes zero"):
            ts.simulate(block(JUMPING["sign"]), 2.0)
    assert ts.simulate(block(SMOOTH["drag"]), 2.0).attrs["status"] == "finished"
