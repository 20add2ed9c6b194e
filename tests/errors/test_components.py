"""Components that are composed wrongly are refused, with the path of what is wrong."""

import copy
import pickle

import pytest

import torsor as ts
from torsor.errors import AssemblyError, ModelError


def arm():
    model = ts.Model("arm")
    bone = model.body("bone", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    model.expose("bone", bone)
    model.expose("root", bone.frame((-0.5, 0, 0)))
    model.expose("tip", bone.frame((0.5, 0, 0)))
    return model


def pair():
    """Two arms in a row, one of them a level further down."""
    model, box = ts.Model("pair"), ts.Model("box")
    box.include("inner", arm())
    left = model.include("left", arm())
    model.include("right", box, at=(1, 0, 0))
    return model, left, model["right.inner"]


def test_a_port_that_does_not_exist_is_refused_by_the_path_of_its_instance():
    _, left, right = pair()
    with pytest.raises(
        ModelError, match=r"instance 'right.inner' of 'arm' has no port 'hand'. Ports: bone, root, tip\."
    ):
        right.hand  # noqa: B018
    assert not hasattr(left, "hand") and hasattr(left, "tip")
    assert {"bone", "root", "tip"} <= set(dir(left))


@pytest.mark.parametrize("path", ["bon", 3, None, ["bone"], {"bone": 1}])
def test_what_an_instance_does_not_have_is_refused(path):
    _, _, right = pair()
    with pytest.raises(
        ModelError, match="instance 'right.inner' of 'arm' has nothing called .* Ports: .*Elements: ground, bone"
    ):
        right[path]


@pytest.mark.parametrize("port", ["name", "owner"])
def test_a_port_cannot_have_the_name_of_what_every_instance_has(port):
    model = arm()
    with pytest.raises(ModelError, match=f"model 'arm': port '{port}': every instance has something of that name"):
        model.expose(port, model["bone"])


def test_an_instance_cannot_be_given_other_ports():
    _, left, _ = pair()
    with pytest.raises(ModelError, match="instance 'left' of 'arm': tip cannot be assigned.* Ports: "):
        left.tip = left.root


@pytest.mark.parametrize("between", [0, 1, 2, 5])
def test_a_model_is_never_part_of_itself(between):
    """Directly, or through any number of models between."""
    first = ts.Model("first")
    inner, path = first, []
    for k in range(between):
        outer = ts.Model(f"level{k}")
        outer.include(f"part{k}", inner)
        inner, path = outer, [f"part{k}", *path]
    found = "cannot include itself" if not path else f"would become part of itself, as '{'.'.join(['loop', *path])}'"
    with pytest.raises(ModelError, match=f"instance 'loop': .*{found}"):
        first.include("loop", inner)
    assert list(first._names) == ["ground"]  # nothing of it stays
    first.include("fine", arm())


@pytest.mark.parametrize("again", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_of_a_model_is_another_model(again):
    model = arm()
    twin = again(model)
    twin.include("first", model)
    assert [b.name for b in twin.bodies] == ["bone", "first.bone"]
    with pytest.raises(ModelError, match="part of itself"):
        model.include("back", twin)


def test_a_model_that_was_refused_may_be_included_where_it_fits():
    a, b, c = ts.Model("a"), ts.Model("b"), ts.Model("c")
    b.include("a", a)
    with pytest.raises(ModelError, match="model 'b' contains 'a', which would become part of itself, as 'b.a'"):
        a.include("b", b)
    c.include("b", b)
    c.include("a", a)
    with pytest.raises(ModelError, match="'c.b.a'"):
        a.include("c", c)


def test_the_original_of_a_component_is_not_its_copy():
    model = ts.Model("outer")
    component, base = arm(), model.body("base", mass=1.0, inertia=(1, 1, 1))
    model.include("left", component)
    with pytest.raises(
        ModelError, match="body 'bone' does not belong to model 'outer'; an instance has .* 'left.bone'"
    ):
        model.add(ts.Fixed("clamp", base, component["bone"], point=(0, 0, 0)))


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
@pytest.mark.parametrize("kind", ["Fixed", "Spherical", "Revolute"])
def test_children_that_are_connected_in_two_ways_that_exclude_each_other_are_refused(kind, formulation):
    """The tip of one arm cannot be at both ends of the other."""
    model, left, right = pair()
    make, axis = getattr(ts, kind), {"axis": (0, 0, 1)} if kind == "Revolute" else {}
    model.add(make("near", left.bone, right.bone, frames=(left.tip, right.root), **axis))
    model.add(make("far", left.bone, right.bone, frames=(left.tip, right.tip), **axis))
    with pytest.raises(
        AssemblyError, match=r"far: translation along x \(1\) between 'left.bone' and 'right.inner.bone'"
    ):
        ts.simulate(model, 0.1, formulation=formulation)


def test_children_whose_motions_contradict_each_other_are_refused():
    model, left, right = pair()
    model.add(ts.Fixed("middle", left.bone, right.bone, frames=(left.tip, right.root)))
    model.add(ts.Motion("pull", left.bone, at=(0.5 + model.time, 0, 0)))
    model.add(ts.Motion("push", right.bone, at=(1.5 - model.time, 0, 0)))
    with pytest.raises(AssemblyError, match=r"contradictory.*push: translation along x .* of 'right.inner.bone'"):
        ts.simulate(model, 0.1)


def test_a_frame_of_another_instance_is_told_by_its_body():
    model, left, right = pair()
    with pytest.raises(ModelError, match="a frame of 'left.bone' and .*got .<Frame of 'right.inner.bone'>"):
        model.add(ts.Fixed("clamp", left.bone, right.bone, frames=(right.tip, left.root)))
