"""What no body can be is refused when it is given, by a message that names the body and what is allowed."""

import casadi as ca
import numpy as np
import pytest
from refusing import refused

import torsor as ts

NAN = float("nan")


def scene():
    model = ts.Model("scene")
    return model, {"first": model.body("first", mass=2.0, inertia=(0.3, 0.4, 0.5), at=(0.1, 0.2, 0.3))}


def body(**given):
    return lambda: ts.Model("m").body(**{"name": "rod", "mass": 1.0, "inertia": (1, 1, 1), **given})


@pytest.mark.parametrize("mass", [0, -1.0, NAN, float("inf"), "heavy", None, (1, 2), [], 10**400, {}, ca.MX.sym("m")])
def test_mass_is_a_positive_number(mass):
    refused(body(mass=mass), "body 'rod'", "mass")


@pytest.mark.parametrize(
    ("inertia", "why"),
    [
        ((1, 1, 3), "triangle inequality"),
        ((1, -1, 1), "must be positive"),
        ((0, 1, 1), "must be positive"),
        (np.diag([1, 1, 1]) + np.eye(3, k=1), "symmetric"),
        ((1, NAN, 1), "finite"),
        ((1, 2), "3 principal moments or a 3x3 matrix"),
        ([[1, 0], [0, 1]], "3x3 matrix"),
        (5.0, "3x3 matrix"),
        ("round", "3x3 matrix"),
        ([[1, 0, 0], [0, 1], [0, 0, 1]], "3x3 matrix"),
        (None, "missing"),
    ],
)
def test_inertia_is_one_that_a_body_can_have(inertia, why):
    refused(body(inertia=inertia), "body 'rod'", why)


@pytest.mark.parametrize("what", ["at", "velocity", "angular_velocity", "rotation"])
@pytest.mark.parametrize("value", [(NAN, 0, 0), (1, 2), "here", ((1, 2, 3), (4, 5, 6)), (1, 2, "x"), 7, [[1], [2, 3]]])
def test_places_and_velocities_of_bodies_are_vectors(what, value):
    refused(body(**{what: value}), "body 'rod'", what)


@pytest.mark.parametrize("rotation", [np.diag([1, 1, -1]), 2 * np.eye(3), (0, 0, 0, 0), np.full((3, 3), NAN)])
def test_rotations_are_rotations(rotation):
    refused(body(rotation=rotation), "body 'rod'", "rotation")
    refused(lambda: ts.Ground("wall", rotation=rotation), "ground 'wall'", "rotation")


def test_data_of_a_body_is_made_of_its_models_parameters():
    model, s = scene()
    mine, other = model.parameter("size", 2.0), ts.Model("other").parameter("size", 2.0)
    model.body("fine", mass=mine, inertia=(mine, mine, mine), at=(mine, 0, 0))
    make = lambda **given: lambda: model.body("bad", **{"mass": 1.0, "inertia": (1, 1, 1), **given})
    refused(make(mass=other), "body 'bad'", "mass", "'size'", "does not belong to model 'scene'")
    refused(make(mass=1 + ts.time), "body 'bad'", "mass contains 'time'", "parameters")
    refused(make(at=s["first"].position), "body 'bad'", "at contains 'first.position_0'")
    refused(make(velocity=(mine * NAN, 0, 0)), "body 'bad'", "velocity must be finite")


def test_a_mass_that_becomes_negative_with_a_parameter_is_refused():
    model = ts.Model("m")
    m = model.parameter("m", 1.0)
    model.body("rod", mass=m, inertia=(1, 1, m))
    refused(lambda: ts.simulate(model, 1.0, parameters={"m": -1.0}), "body 'rod'", "mass must be positive")
    refused(lambda: ts.simulate(model, 1.0, parameters={"m": 3.0}), "body 'rod'", "triangle inequality")
    refused(lambda: ts.simulate(model, 1.0, parameters={"mm": 3.0}), "unknown parameter 'mm'", "Known: m")
    for value in (NAN, "one", ts.time, None):
        refused(lambda: ts.simulate(model, 1.0, parameters={"m": value}), "parameter 'm'")  # noqa: B023
        refused(lambda: model.parameter("new", value), "parameter 'new'")  # noqa: B023
    refused(lambda: model.parameter("new", -1, positive=True), "parameter 'new'", "positive")


def test_shapes_are_made_of_positive_numbers():
    shapes = ts.inertia
    for make in (
        lambda x: shapes.box(x, 1, 1, 1), lambda x: shapes.box(1, 1, x, 1), lambda x: shapes.cylinder(1, x, 1),
        lambda x: shapes.sphere(1, x), lambda x: shapes.rod(1, x), lambda x: shapes.disk(x, 1),
        lambda x: shapes.cone(1, 1, x), lambda x: shapes.point(x), lambda x: shapes.Inertia(x, np.eye(3)),
    ):  # fmt: skip
        for value in (0, -1.0, NAN, "big", None, ts.time, (1, 2)):
            refused(lambda: make(value), "inertia")  # noqa: B023
    refused(lambda: shapes.sphere(1, 1, inner=2), "inner radius")
    refused(lambda: shapes.rod(1, 1, axis="w"), "axis must be 'x', 'y' or 'z'")
    refused(lambda: shapes.point(1, at=(NAN, 0, 0)), "center must be finite")
    refused(lambda: shapes.sphere(1, 1).move(rotation=2 * np.eye(3)), "not a rotation")
    refused(body(mass=2.0, inertia=shapes.sphere(1, 1)), "body 'rod'", "differs from the mass of its inertia")
    refused(body(mass="x", inertia=shapes.sphere(1, 1)), "body 'rod'", "mass must be a number")
