"""Shapes of bodies: what is accepted, what is refused, and that they change nothing but the picture."""

import pickle

import numpy as np
import pytest

import torsor as ts
from torsor.scene.scene import scene


def pendulum(shape=None):
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0), shape=shape)
    model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    return model


HAMMER = [ts.shapes.cylinder(0.02, 0.3, axis="x", colour="sienna"), ts.shapes.box((0.1, 0.2, 0.3), at=(0.1, 0, 0))]


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda: ts.shapes.sphere(-1.0), "size must be positive, got"),
        (lambda: ts.shapes.box((1, 2)), "size must be 3 positive numbers"),
        (lambda: ts.shapes.box((1, 2, float("nan"))), "size must be 3 positive numbers"),
        (lambda: ts.shapes.cylinder(1, 2, colour="reed"), "Did you mean 'red'?"),
        (lambda: ts.shapes.cylinder(1, 2, colour=(1, 2, 3)), "numbers from 0 to 1"),
        (lambda: ts.shapes.cylinder(1, 2, axis="w"), "axis must be 'x', 'y' or 'z'"),
        (lambda: ts.shapes.cylinder(1, 2, axis="x", rotation=(0, 0, 1)), "`axis` or `rotation`, not both"),
        (lambda: pendulum({"kind": "bax"}), "body 'bob': shape: kind must be one of box, sphere"),
        (lambda: pendulum({"kind": "box"}), "body 'bob': shape box: size is missing"),
        (
            lambda: pendulum({"kind": "box", "size": (1, 1, 1), "color": "red"}),
            "unknown argument 'color'. Known: size, at",
        ),
        (lambda: pendulum(3), "body 'bob': shape must be made by ts.shapes"),
        (lambda: pendulum([ts.shapes.sphere(1), None]), "body 'bob': shape must be made by ts.shapes"),
    ],
)
def test_what_is_no_shape_is_refused_with_what_is_allowed(wrong, words):
    with pytest.raises(ts.ModelError) as error:
        wrong()
    assert words in str(error.value) and "\n" not in str(error.value)


def test_a_shape_is_a_dictionary_too():
    (shape,) = pendulum({"kind": "cylinder", "radius": 0.1, "length": 2, "colour": "#ff8000"}).bodies[0].shape
    assert shape == ts.shapes.cylinder(0.1, 2, colour=(1, 128 / 255, 0))


def test_shapes_survive_pickling_inclusion_and_component_files(tmp_path):
    model = pendulum(HAMMER)
    assert pickle.loads(pickle.dumps(model)).bodies[0].shape == tuple(HAMMER)
    ts.save_component(model, tmp_path / "hammer.tsc")
    again = ts.load_component(tmp_path / "hammer.tsc")
    assert again.bodies[0].shape == tuple(HAMMER)
    parent = ts.Model("two", gravity=(0, 0, -9.81))
    parent.include("left", again, at=(0, 1, 0), rotation=(0, 0, 0.3))
    assert parent["left.bob"].shape == tuple(HAMMER)


def test_shapes_change_neither_the_equations_nor_the_results():
    plain, drawn = (ts.simulate(pendulum(shape), 0.5, outputs=5) for shape in (None, HAMMER))
    assert plain.attrs["model_hash"] == drawn.attrs["model_hash"]
    assert all(np.array_equal(plain[name].values, drawn[name].values) for name in plain.data_vars)
    assert plain.attrs["scene"] != drawn.attrs["scene"]


@pytest.mark.parametrize(
    "inertia, kind",
    [
        (ts.inertia.rod(1, 2, axis="x"), "cylinder"), (ts.inertia.box(1, 1, 2, 3), "box"), (ts.inertia.sphere(1, 2), "sphere"),
        (ts.inertia.disk(1, 2), "cylinder"), (ts.inertia.cone(1, 2, 3, axis="y"), "cone"),
    ],
)  # fmt: skip
def test_a_body_is_drawn_as_what_its_inertia_was_calculated_for(inertia, kind):
    model = ts.Model("one")
    model.body("part", inertia=inertia)
    (shape,) = scene(model)["bodies"][0]["shapes"]
    assert shape["kind"] == kind and not shape["made"]


def test_shapes_of_composed_inertias_are_where_their_parts_are():
    """Places are counted from the common centre of mass."""
    hammer = ts.inertia.rod(1.0, 2.0, axis="x") + ts.inertia.sphere(3.0, 0.2).move(at=(1, 0, 0), rotation=(0, 0, 1.0))
    model = ts.Model("one")
    model.body("hammer", inertia=hammer)
    rod, head = scene(model)["bodies"][0]["shapes"]
    assert np.allclose(rod["p"], (-0.75, 0, 0)) and np.allclose(head["p"], (0.25, 0, 0))


def test_the_tip_of_a_cone_is_three_quarters_of_its_height_from_its_centre_of_mass():
    (shape,) = ts.inertia.cone(1.0, 0.2, 0.8, axis="x").outline
    tip = np.array(shape.at) + shape.size[1] / 2 * np.array((1, 0, 0))
    assert np.allclose(tip, (0.6, 0, 0))
