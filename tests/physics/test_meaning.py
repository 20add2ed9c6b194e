"""An element means the same, however its data are given and in whatever coordinates it is used."""

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from torsor.forces.loads_and_springs import Gravity
from torsor.lie import so3

FORMULATIONS = ("absolute", "relative", "relative-first", "woronetz")
axes = st.tuples(*[st.integers(-3, 3)] * 3).filter(any)


@settings(max_examples=60, deadline=None)
@given(axes)
def test_normals_are_one_rule_for_numbers_and_symbols(axis):
    a = ca.SX.sym("a", 3)
    symbolic = ca.Function("normals", [a], [so3.normals(a)])
    np.testing.assert_allclose(symbolic(axis).full(), so3.normals(axis), atol=1e-15)


@pytest.mark.parametrize("axis", [(0.6, 0, 1), (1, 0, 0.6), (0.2, -1, 0.1), (1, 1, 0), (0, 0, -1), (-0.9, 0.3, 0.4)])
def test_a_parameter_in_an_axis_gives_the_coordinates_of_the_same_number(axis):
    found = []
    for given_as in (float, str):
        model = ts.Model("plane", gravity=(0.3, 0, -1))
        values = [model.parameter("xyz"[k], x) if given_as is str else x for k, x in enumerate(axis)]
        body = model.body("body", mass=1, inertia=(1, 1.2, 1.5))
        model.add(ts.Planar("plane", model.ground, body, axis=values, start=(0.7, 0.1, 0.3), start_rate=(1.0, -0.5, 2)))
        found.append(ts.simulate(model, 0.5, outputs=2))
    for what in ("position", "rotation", "coordinate", "rate", "multiplier"):
        np.testing.assert_allclose(found[0][what], found[1][what], atol=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("length", [None, 1.0, 1.25])
def test_a_distance_without_points_holds_between_the_centres(formulation, length):
    """Two equal bodies on a massless rod turn about their common centre, each on a circle, without turning themselves."""
    model = ts.Model("dumbbell")
    turned = {"rotation": (0.3, 0.2, 0.1), "inertia": (0.1, 0.2, 0.25), "angular_velocity": (0, 0, 0)}
    a = model.body("a", mass=1.0, velocity=(0, 1, 0), **turned)
    b = model.body("b", mass=1.0, at=(1, 0, 0), velocity=(0, -1, 0), **turned)
    model.add(ts.Distance("rod", a, b, length=length))
    data = ts.simulate(model, 1.5, outputs=6, formulation=formulation)
    L = 1.0 if length is None else length
    apart = (data.position.sel(body="b") - data.position.sel(body="a")).values
    exact = L * np.array([[np.cos(s), -np.sin(s), 0] for s in 2 / L * data.time.values])
    np.testing.assert_allclose(apart, exact, atol=1e-7)
    np.testing.assert_allclose(data.angular_velocity, 0, atol=1e-12)


def test_a_distance_from_a_ground_without_points_is_one_from_its_origin():
    model = ts.Model("string", gravity=(0, 0, -9.81))
    nail = model.add(ts.Ground("nail", at=(0, 0, 2)))
    bob = model.body("bob", mass=1.0, inertia=0, at=(0.5, 0, 1))
    model.add(ts.Distance("string", nail, bob))
    data = ts.simulate(model, 1.0, outputs=5)
    np.testing.assert_allclose(
        np.linalg.norm(data.position.values[:, 0] - [0, 0, 2], axis=1), np.sqrt(1.25), atol=1e-11
    )


def test_a_distance_is_given_in_one_way():
    model = ts.Model("torn")
    bob = model.body("bob", mass=1.0, inertia=0, at=(0.5, 0, 1))
    with pytest.raises(ts.ModelError, match="give one of `points`, `frames` and `point`"):
        model.add(ts.Distance("string", model.ground, bob, points=((0, 0, 0), (1, 0, 0)), point=(0, 0, 0)))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_second_gravity_adds_to_the_first(formulation):
    """A free body falls with g₁ + g₂, another with g₁ alone; the potential energy is that of both."""
    model = ts.Model("two", gravity=(0, 0, -1.0))
    both = model.body("both", mass=2.0, inertia=(1, 1, 1))
    model.body("one", mass=2.0, inertia=(1, 1, 1))
    model.add(Gravity("wind", (1.0, 0, -3.0 * ts.time), (both,)))
    data = ts.simulate(model, 1.0, outputs=4, formulation=formulation)
    t = data.time.values
    np.testing.assert_allclose(
        data.position.sel(body="both"), np.stack([t**2 / 2, 0 * t, -(t**2) / 2 - t**3 / 2], 1), atol=1e-9
    )
    np.testing.assert_allclose(data.position.sel(body="one"), np.stack([0 * t, 0 * t, -(t**2) / 2], 1), atol=1e-9)
    assert data.attrs["energy_balance_error"] < 1e-8


@pytest.mark.parametrize("bodies", [(), None, "all", (1,)])
def test_a_gravity_without_bodies_is_refused(bodies):
    model = ts.Model("none")
    model.body("one", mass=2.0, inertia=(1, 1, 1))
    with pytest.raises(ts.ModelError, match="bodies must be a list of bodies"):
        model.add(Gravity("wind", (1.0, 0, 0), bodies))


R_LAB = so3.exp([0.3, -0.8, 1.1])


def machine():
    """Every kind of row that is written in world axes, and one that is not."""
    model = ts.Model("machine")
    arm, tip, plate, rotor, ball = (
        model.body(name, mass=1.0, inertia=(0.1, 0.2, 0.25), at=at, rotation=(0.1, 0, 0.2))
        for name, at in zip(
            ("arm", "tip", "plate", "rotor", "ball"), [(1, 0.2, 0), (2, 0, 0), (0, 3, 0), (0, 5, 0), (0, 7, 0)]
        )
    )
    elements = [
        ts.Revolute("hinge", model.ground, arm, point=(0, 0, 0), axis=(0, 1, 0.3)),
        ts.Spherical("wrist", arm, tip, point=(1.5, 0, 0)),
        ts.Motion("motion", plate, at=(ts.time, 3, 0), rotation=ca.vertcat(0, ts.time, 0)),
        ts.AngularVelocity("spin", rotor, (0.1, ts.time, 0)),
        ts.FixedPoint("pin", model.ground, ball, point=(0.5, 7, 0)),
    ]
    for element in [model.add(element) for element in elements]:
        for k in range(element.multiplier.shape[0]):
            model.signal(f"{element.name}_{k}", element.multiplier[k])
    return model


@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz"])
def test_a_component_that_is_turned_keeps_the_meaning_of_its_multipliers(formulation):
    """A machine in a laboratory that is turned together with gravity."""
    alone, gravity = machine(), np.array([1.0, 2.0, -9.0])
    alone.gravity = gravity
    lab = ts.Model("lab", gravity=R_LAB @ gravity)
    lab.include("unit", machine(), at=(1, 2, 3), rotation=R_LAB)
    one, two = (ts.simulate(model, 0.5, outputs=2, formulation=formulation) for model in (alone, lab))
    np.testing.assert_allclose(one.multiplier, two.multiplier, atol=1e-8)
    for name in alone.signals:
        np.testing.assert_allclose(one[name], two[f"unit.{name}"], atol=1e-8)
    forces = np.einsum("ij,tcj->tci", R_LAB, one.reaction_force.values)
    np.testing.assert_allclose(forces, two.reaction_force, atol=1e-8)


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
@pytest.mark.parametrize("where", ["point", "own frame", "own frame on the floor", "turned frame"])
@pytest.mark.parametrize("kinds", ["height", "both"])
def test_a_tilted_disk_keeps_its_tilt_and_touches_the_floor(formulation, where, kinds):
    tilt, r = 0.3, 0.5
    R, own, height = so3.exp([tilt, 0, 0]), np.array([0, 1.0, 0]), r * np.cos(tilt)
    model = ts.Model("disk", gravity=(0, 0, -9.81))
    spin = {"angular_velocity": (0, 2.0, 0)}
    disk = model.body("disk", mass=1.0, inertia=(0.1, 0.2, 0.1), at=(0, 0, height), rotation=R, **spin)
    above, floor = model.ground.frame((0, 0, height)), model.ground.frame()
    given = {
        "point": {"axis": tuple(R @ own)},
        "own frame": {"frames": (above, disk.frame()), "axis": own},
        "own frame on the floor": {"frames": (floor, disk.frame()), "axis": own},
        "turned frame": {"frames": (above, disk.frame(rotation=R.T)), "axis": tuple(R @ own)},
    }[where]
    model.add(ts.DiskOnPlane("height", model.ground, disk, radius=r, **given))
    if kinds == "both":
        model.add(ts.RollingDisk("roll", model.ground, disk, radius=r, contact=False, **given))
    data = ts.simulate(model, 0.3, outputs=3, formulation=formulation)
    axis = data.rotation.values[:, 0] @ own
    assert np.arcsin(axis[0, 2]) == pytest.approx(tilt, abs=1e-14)
    np.testing.assert_allclose(data.position.values[:, 0, 2], r * np.sqrt(1 - axis[:, 2] ** 2), atol=1e-11)
