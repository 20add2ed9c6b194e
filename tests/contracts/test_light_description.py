"""A description by numbers is light: no symbols before they are asked for, no work that grows with the model, the same bits."""

import gc
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import torsor as ts
from torsor.formulations.fingerprint import fingerprint
from torsor.lie import so3

BYTES = 3000  # a link: a body of five arrays, a joint of two frames, names and their places


def chain(n, model=None, last=None):
    model = model or ts.Model("chain", gravity=(0, 0, -9.81))
    last = last or model.ground
    for k in range(n):
        link = model.body(f"link{k}", mass=1.0, inertia=(0.01, 0.1, 0.1), at=(k + 0.5, 0, 0), rotation=(0, 0.1, 0))
        model.add(ts.Revolute(f"hinge{k}", last, link, point=(k, 0, 0), axis=(0, 1, 0)))
        last = link
    return model


def train(n, length=3):
    """Components, each joined to the one before."""
    component, model = chain(length), ts.Model("train")
    last = model.ground
    component.expose("end", component[f"link{length - 1}"])
    for k in range(n):
        part = model.include(f"part{k}", component, at=(length * k, 0, 0))
        model.add(ts.Spherical(f"coupling{k}", last, part["link0"], point=(length * k, 0, 0)))
        last = part.end
    return model


def sprung(n):
    """Bodies in a row with springs and pulls between them, and to the ground."""
    model, last = ts.Model("sprung"), None
    for k in range(n):
        body = model.body(f"b{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(k, 0, 0))
        ends = ((k - 0.6, 0, 0.1), (k - 0.4, 0, 0.1))
        model.add(ts.SpringDamper(f"s{k}", last or model.ground, body, points=ends, stiffness=3.0 + k, damping=0.1))
        model.add(ts.PointForce(f"p{k}", body, force=(0, 1.0 + k, 0)))
        last = body
    return model


def calls(build, *sizes):
    """How many functions are called while something is built; not those of garbage that others left."""
    counted = 0

    def count(frame, event, argument):
        nonlocal counted
        counted += event in ("call", "c_call")

    gc.collect()
    gc.disable()
    sys.setprofile(count)
    try:
        build(*sizes)
    finally:
        sys.setprofile(None)
        gc.enable()
    return counted


@pytest.mark.parametrize("build", [chain, train, sprung])
def test_the_work_of_a_link_does_not_grow_with_the_model(build):
    build(3)
    few, more, most = (calls(build, n) for n in (20, 40, 200))
    assert most - more == pytest.approx(8 * (more - few), rel=0.05)


@pytest.mark.parametrize("build", [chain, train, sprung])
def test_a_link_costs_bytes_and_no_symbols(build):
    build(3)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        model = build(200)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (after - before) / len(model.bodies) < (BYTES if build is not sprung else 2 * BYTES)  # two forces a body
    assert len(model._symbols) == 1  # time


def test_a_signal_is_made_once_and_is_known_to_its_model():
    model = chain(2)
    other = chain(2)
    body, joint = model["link1"], model["hinge1"]
    things = [body.position, body.rotation, body.angular_acceleration, joint.coordinate, joint.rate, joint.multiplier]
    again = [body.position, body.rotation, body.angular_acceleration, joint.coordinate, joint.rate, joint.multiplier]
    for one, two in zip(things, again):
        assert [model.knows(s) for s in one.elements()] == [True] * one.numel()
        assert not any(other.knows(s) for s in one.elements())
        assert [s.element_hash() for s in one.elements()] == [s.element_hash() for s in two.elements()]
    assert (model.kind_of(body.position[0]), model.kind_of(joint.rate), model.kind_of(joint.multiplier[0])) == (
        "pose", "velocity", "reaction",
    )  # fmt: skip


@pytest.mark.parametrize(("wrong", "words"), [
    ({"stiffness": float("nan")}, "stiffness must be finite"), ({"stiffness": -1.0}, "stiffness must not be negative"),
    ({"stiffness": "soft"}, "stiffness must be a number"), ({"length": float("inf")}, "length must be finite"),
    ({"points": ((0, 0, 0), (0, 0))}, "points must be 3 numbers"),
])  # fmt: skip
def test_a_force_that_is_wrong_is_refused_also_beside_many_that_are_right(wrong, words):
    model = sprung(3)
    with pytest.raises(ts.ModelError, match=f"spring-damper 'x': {words}"):
        model.add(ts.SpringDamper("x", model["b0"], model["b2"], **({"stiffness": 3.0, "damping": 0.1} | wrong)))
    for force in ((0, float("nan"), 0), (0, "up", 0), (0, 1.0), (0, 1e200, 0)):
        with pytest.raises(ts.ModelError, match="force 'x': force must"):
            model.add(ts.PointForce("x", model["b0"], force=force))
    particle = model.body("p", mass=1.0, inertia=0)
    with pytest.raises(ts.ModelError, match="a particle .* has no orientation"):
        model.add(
            ts.SpringDamper("x", model["b0"], particle, points=((0, 0, 0), (0, 0, 1)), stiffness=3.0, damping=0.1)
        )


def test_threads_that_ask_together_get_the_same_symbol():
    model = chain(200)
    with ThreadPoolExecutor(8) as pool:
        for joint in model.joints:
            marks = set(pool.map(lambda _, j=joint: j.coordinate.element_hash(), range(16)))
            assert len(marks) == 1 and model.knows(joint.coordinate)


def test_what_could_not_be_added_is_a_stranger():
    model = chain(2)
    wrong = ts.Revolute("wrong", model["link0"], model["link1"], axis=(0, 0, 0))
    angle = wrong.coordinate
    known = dict(model._symbols)
    with pytest.raises(ts.ModelError, match="must not be zero"):
        model.add(wrong)
    assert model._symbols == known and not model.knows(angle) and not model.knows(wrong.rate)
    with pytest.raises(ts.ModelError, match="does not belong"):
        model.signal("angle", angle)


def test_a_failed_include_leaves_nothing_behind_and_takes_nothing_away():
    component = chain(3)
    component.parameter("k", 1.0)
    spring = component.add(ts.TorsionSpring("spring", component["hinge0"], stiffness=component["k"].symbol))
    component.add(ts.Limit("stop", component["hinge1"], upper=1.0, restitution=component["k"].symbol))
    model = chain(2)
    before = (len(model.bodies), len(model.constraints), len(model.forces), list(model._names), list(model.memory))
    with pytest.raises(ts.ModelError, match="restitution"):
        model.include("part", component, k=2.0)
    assert before == (
        len(model.bodies),
        len(model.constraints),
        len(model.forces),
        list(model._names),
        list(model.memory),
    )
    assert all(model.knows(s) for s in model.ground.position.elements())
    model.signal("height", model["link1"].position[2])
    model.include("part", component, k=0.5)
    assert spring.name == "spring" and "part.spring" in model


def test_numbers_are_what_expressions_say():
    random = np.random.default_rng(3)
    model = ts.Model("m")
    a, b = (
        model.body(
            name, mass=random.random(), inertia=ts.inertia.box(1, 1, 2, 3).move(random.random(3), random.random(3)).tensor,
            at=random.random(3), rotation=random.random(3),
        )
        for name in "ab"
    )  # fmt: skip
    joint = model.add(ts.Revolute("j", a, b, point=random.random(3), start=0.3, axis=(0, 0, 1)))
    for body in (a, b):
        for number, expression in zip(
            body.numbers, (body.mass, body.inertia, body.start_position, body.start_rotation)
        ):
            np.testing.assert_array_equal(np.ravel(number), ts.quantity.numbers(expression).ravel())
    for number, expression in zip(joint.placed_numbers, joint.placed):
        np.testing.assert_array_equal(number, ts.quantity.numbers(expression))
    m = model.parameter("m", 2.0)
    c = model.body("c", mass=m, inertia=(1, 1, 1))
    d = model.body("d", mass=1.0, inertia=(1, 1, 1), at=(m, 0, 0))
    assert c.numbers is None and d.numbers is None
    assert model.add(ts.Revolute("k", c, d, axis=(0, 0, 1))).placed_numbers is None
    assert model.body("e", mass=1.0, inertia=0).numbers.inertia.tolist() == np.zeros((3, 3)).tolist()


def placed(values, symbols):
    """A component of two bodies, by numbers, or by parameters that get these numbers where it is included."""
    component = ts.Model("component")
    given = [component.parameter(f"p{k}", 1.0) for k in range(len(values))] if symbols else list(values)
    at, point, speed = given[0:3], given[3:6], given[6:9]
    one = component.body(
        "one", mass=given[9], inertia=(0.3, 0.4, 0.5), at=(0.1, 0.2, 0.3), rotation=so3.exp((0.3, -0.5, 0.2))
    )
    two = component.body(
        "two", mass=1.0, inertia=(0.2, 0.3, 0.25), at=at, rotation=(0.7, -0.7, 0.1, 0.4), velocity=speed
    )
    component.add(ts.Revolute("joint", one, two, point=point, axis=(0, 1, 1)))
    component.add(ts.Spherical("ball", component.ground, one, point=(0.2, 0.1, given[5])))
    model = ts.Model("model")
    overrides = {f"p{k}": value for k, value in enumerate(values)} if symbols else {}
    model.include("part", component, at=(0.3, -0.7, 0.11), rotation=(0.3, -1.2, 0.7), **overrides)
    return model


@pytest.mark.parametrize("seed", range(5))
def test_numbers_and_expressions_give_the_same_bits(seed):
    values = np.random.default_rng(seed).uniform(0.1, 1.0, 10).tolist()
    one, two = placed(values, False), placed(values, True)
    assert fingerprint(one, one.signals) == fingerprint(two, two.signals)
    assert all(body.numbers is not None for body in two.bodies) and all(
        j.placed_numbers is not None for j in two.joints
    )
