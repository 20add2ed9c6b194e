"""Scenes of models: every body and every element is drawn where the model says it is."""

import json

import numpy as np
import pytest

import torsor as ts
from torsor.elements.element import Element
from torsor.joints.base import Connection
from torsor.lie import pose_stacks
from torsor.scene.scene import scene, scene_attributes

CASES = ts.cases.names()
KINDS = ("joint", "constraint", "force")
OURS = {c.key: c for kind in KINDS for c in ts.registered(kind).values() if c.__module__.startswith("torsor.")}


@pytest.mark.parametrize("key", sorted(OURS))
def test_every_kind_of_element_is_drawn_or_says_why_not(key):
    cls = OURS[key]
    assert cls.drawing, f"{cls.__name__} does not declare how it is drawn"
    assert (cls.drawing == "none") == bool(cls.not_drawn)
    model, (made, *_) = model_with(cls)
    if cls.drawing == "none":
        assert _entries(model, made.name) == []
        return
    (entry,) = _entries(model, made.name)
    for place in entry.get("frames", entry.get("points")):
        assert np.isfinite(place["p"]).all()
        assert abs(np.linalg.norm(place.get("q", [1.0])) - 1) < 1e-8


def _entries(model, name):
    found = scene(model)
    return [x for x in [*found["joints"], *found["forces"]] if x["name"] == name]


def model_with(cls):
    """A model with the first example of a class in it."""
    model = ts.Model("example", hints=False)
    first = model.body("first", mass=1.0, inertia=(1.0, 1.1, 1.2), at=(0.2, 0, 0.1), rotation=(0.1, 0.2, 0.3))
    second = model.body("second", mass=2.0, inertia=(1.0, 1.1, 1.2), at=(1.2, 0.1, 0.3), rotation=(0.3, -0.2, 0.1))
    joint = model.add(ts.Revolute("joint", first, second, point=(0.6, 0, 0)))
    other = model.add(ts.Revolute("other", model.ground, first, point=(0, 0.3, 0)))
    offered = {"first": first, "second": second, "body": second, "joint": joint, "other": other}
    if cls.key == "friction":
        offered["on"] = joint
    made = cls.examples(offered, "made")[:1]
    return model, [model.add(x) for x in made]


@pytest.mark.parametrize("name", CASES)
def test_frames_of_a_joint_coincide_in_the_reference_configuration(name):
    """Both ends of a joint, calculated from their bodies, are at one place with one axis; also where joints are the user's."""
    model = ts.cases.load(name)
    found, bodies = scene(model), {b.name: b for b in model.bodies}
    names = [b["name"] for b in found["bodies"]]
    assert names == list(bodies) and all(b["shapes"] for b in found["bodies"])
    joints = {j.name: j for j in model.joints}
    size = found["size"]
    for entry in found["joints"]:
        if entry["name"] not in joints or joints[entry["name"]].frames is not None:
            continue
        ends = []
        for k, frame in zip((entry["first"], entry["second"]), entry["frames"]):
            p, R = np.array(frame["p"]), pose_stacks.rotations(np.array(frame["q"]))
            if k >= 0:
                x, R0 = np.array(found["bodies"][k]["p"]), pose_stacks.rotations(np.array(found["bodies"][k]["q"]))
                p, R = x + R0 @ p, R0 @ R
            ends.append((p, R))
        assert np.linalg.norm(ends[0][0] - ends[1][0]) < 1e-6 * size
        assert np.abs(ends[0][1] - ends[1][1]).max() < 1e-6


@pytest.mark.parametrize("axis", [(0, 1, 0), (0, 0, -1), (1, -2, 0.5), "-x"])
def test_a_hinge_is_drawn_along_its_axis(axis):
    model = ts.Model("m")
    body = model.body("b", mass=1.0, inertia=(1, 1, 1), at=(1, 2, 3), rotation=(0.3, -1.0, 0.2))
    model.add(ts.Revolute("hinge", model.ground, body, point=(0, 1, 0), axis=axis))
    (entry,) = scene(model)["joints"]
    along = (-1, 0, 0) if axis == "-x" else np.array(axis) / np.linalg.norm(axis)
    on_ground, on_body = entry["frames"]
    assert np.allclose(pose_stacks.rotations(np.array(on_ground["q"]))[:, 2], along)
    R = model.bodies[0].reference[1]
    assert np.allclose(R @ pose_stacks.rotations(np.array(on_body["q"]))[:, 2], along)
    assert np.allclose(model.bodies[0].reference[0] + R @ on_body["p"], (0, 1, 0))


@pytest.mark.parametrize("plane, radius, height", [((0, 0, 0.2), 0.3, 0.2), (None, 0.3, 0.7), (None, 0.0, 1.0)])
def test_the_floor_of_a_contact_is_where_the_ball_touches_it(plane, radius, height):
    model = ts.Model("ball")
    ball = model.body("ball", mass=1.0, inertia=(1, 1, 1), at=(0, 0, 1.0))
    model.add(ts.Contact("floor", model.ground, ball, radius=radius, plane=plane))
    found = scene(model)
    (floor,) = found["ground"]
    assert floor["kind"] == "plane" and floor["made"] and floor["p"][2] == pytest.approx(height)
    assert found["joints"][0]["switchable"] and found["joints"][0]["radius"] == radius


def test_a_users_joint_is_drawn_by_its_free_motions():
    drawn = {j["name"]: j["draw"] for j in scene(ts.cases.load("three-link"))["joints"]}
    assert drawn == {"A": "ball", "B": "ball", "C": "hinge"}


def test_parameters_of_a_run_are_those_of_its_scene():
    model = ts.Model("arm", gravity=(0, 0, -9.81))
    length = model.parameter("length", 1.0)
    body = model.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(length, 0, 0))
    model.add(ts.Revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    data = ts.simulate(model, 0.1, outputs=2, parameters={"length": 2.5})
    assert json.loads(data.attrs["scene"])["bodies"][0]["p"] == [2.5, 0, 0]
    assert json.loads(ts.simulate(model, 0.1, outputs=2).attrs["scene"])["bodies"][0]["p"] == [1, 0, 0]


def test_scenes_are_plain_json_and_are_left_out_of_results_of_very_large_models():
    model = ts.cases.load("train")
    text = scene_attributes(model)["scene"]
    assert json.loads(text) == scene(model) and len(text) < 1500 * len(model.bodies)
    large = ts.Model("large")
    for k in range(2001):
        large.body(f"b{k}", mass=1.0, inertia=0)
    assert scene_attributes(large) == {}


def test_every_element_class_has_the_fields_that_scenes_read():
    assert Element.drawing == "" and Connection.drawn_axis == "axis"
