"""Velocities that a start leaves open follow from the least kinetic energy of the change: the same in any axes, order and form.

The mechanism of most tests: body a on a ball joint, body b on a hinge that turns at a given rate, and a rod between them. With the
pivot P of a, its inertia I_P there, the arm r of the rod and its direction n, the rod asks for (r × n)·ω = c, and

    ω = I_P⁻¹ (r × n) c / ((r × n)ᵀ I_P⁻¹ (r × n))                                    least ½ ωᵀ I_P ω
"""

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import torsor as ts

FORMULATIONS = ("absolute", "relative", "woronetz", "hamiltonian", "hierarchical")
PIVOT, HINGE, AXIS = np.array((0.1, 0.0, -0.3)), np.array((-0.9, 0.2, 0.1)), np.array((0.36, 0.48, 0.8))
A, B = np.array((0.5, 0.1, 0.2)), np.array((-0.4, 0.7, 0.3))
ENDS = np.array((0.6, 0.4, 0.5)), np.array((-0.2, 0.9, -0.1))
INERTIA = np.diag((0.1, 0.2, 0.25))
SHIFT = np.array((3.0, -2.0, 1.0))
TURN = Rotation.from_rotvec((1.1, -0.4, 0.7)).as_matrix()


def expected(rate=1.0):
    """Velocities of the two centres of mass, and ω of a."""
    r, n = ENDS[0] - PIVOT, (ENDS[1] - ENDS[0]) / np.linalg.norm(ENDS[1] - ENDS[0])
    arm = A - PIVOT
    at_pivot = INERTIA + (arm @ arm) * np.eye(3) - np.outer(arm, arm)  # its mass is 1
    row, c = np.cross(r, n), n @ np.cross(rate * AXIS, ENDS[1] - HINGE)
    w = np.linalg.solve(at_pivot, row)
    w *= c / (row @ w)
    return np.array([np.cross(w, arm), np.cross(rate * AXIS, B - HINGE)]), w


def mechanism(Q=None, shift=0.0, rate=1.0, order=1, twins=(), model=None, tag=""):
    """The mechanism, turned by Q and shifted; order: -1 adds everything the other way round; twins: added twice."""
    Q = np.eye(3) if Q is None else Q
    at = lambda x: Q @ x + shift
    model = ts.Model("tied") if model is None else model
    bodies = {}
    for name, mass, J, x in (("a", 1.0, (0.1, 0.2, 0.25), A), ("b", 2.0, (0.2, 0.3, 0.4), B))[::order]:
        bodies[name] = model.body(name + tag, mass=mass, inertia=J, at=at(x), rotation=Q)
    a, b, ground = bodies["a"], bodies["b"], model.ground
    ends = (at(ENDS[0]), at(ENDS[1]))
    every = {
        "ball": lambda name, **_: ts.Spherical(name, ground, a, point=at(PIVOT)),
        "hinge": lambda name, **given: ts.Revolute(name, ground, b, point=at(HINGE), axis=tuple(Q @ AXIS), **given),
        "rod": lambda name, **_: (
            ts.Distance(name, a, b, points=ends) if order > 0 else ts.Distance(name, b, a, points=ends[::-1])
        ),
    }
    for name in [*every][::order]:
        if name in twins:
            model.add(every[name](f"{name}-twin{tag}"))
        model.add(every[name](name + tag, **({} if rate is None else {"start_rate": rate})))
    return model


def start_of(model, **options):
    return ts.simulate(model, 0.01, outputs=1, **options).isel(time=0)


def velocities(data, names=("a", "b")):
    return data.velocity.sel(body=list(names)).values


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_open_velocities_have_the_least_kinetic_energy(formulation):
    data = start_of(mechanism(), formulation=formulation)
    told, w = expected()
    np.testing.assert_allclose(velocities(data), told, atol=1e-13)
    np.testing.assert_allclose(data.angular_velocity.sel(body="a"), w, atol=1e-13)
    assert float(data.rate.sel(joint_coordinate="hinge")) == pytest.approx(1.0, abs=1e-14)
    changes = json.loads(data.attrs["start_changes"])
    assert [c.split(":")[0] for c in changes] == ["ball.rate[0]", "ball.rate[1]", "ball.rate[2]"]
    assert all("left open, became" in c for c in changes)


@pytest.mark.parametrize(
    "given",
    [
        {"Q": TURN},
        {"shift": SHIFT},
        {"Q": TURN, "shift": SHIFT, "order": -1},
        {"twins": ("rod",)},
        {"twins": ("ball", "hinge"), "Q": TURN},
    ],
)
def test_a_start_does_not_depend_on_axes_places_order_or_twins(given):
    data = start_of(mechanism(**given))
    np.testing.assert_allclose(velocities(data) @ given.get("Q", np.eye(3)), expected()[0], atol=1e-12)


def test_a_start_does_not_depend_on_where_a_component_is_placed():
    outer = ts.Model("outer")
    outer.include("inner", mechanism(), at=SHIFT, rotation=TURN)
    data = start_of(outer)
    np.testing.assert_allclose(velocities(data, ("inner.a", "inner.b")) @ TURN, expected()[0], atol=1e-12)


@pytest.mark.parametrize("own", [None, 1.0])
def test_a_start_that_is_asked_for_is_completed_as_that_of_a_model(own):
    """Also where the model gives another rate, from which it completes its own start: rates that are left open stay open."""
    model, start = mechanism(Q=TURN, rate=own), {"hinge.rate": 2.5}
    told = expected(2.5)[0] @ TURN.T
    for formulation in ("absolute", "relative", "woronetz"):
        data = start_of(model, start=start, formulation=formulation)
        np.testing.assert_allclose(velocities(data), told, atol=1e-12)
        assert "ball.rate[1]: left open" in data.attrs["start_changes"]
    sim = ts.Simulation(model, start=start)
    np.testing.assert_allclose(sim["velocity"], told, atol=1e-12)
    sim.reset({"hinge.rate": 1.0})
    np.testing.assert_allclose(sim["velocity"], expected(1.0)[0] @ TURN.T, atol=1e-12)
    runs = ts.study(model, 0.01, start={"hinge.rate": [2.5, 1.0]}, outputs=1)
    np.testing.assert_allclose(runs.velocity[0, 0], told, atol=1e-12)


def test_masses_of_a_study_have_a_say_in_what_is_left_open():
    model = ts.Model("heavy")
    m = model.parameter("m", 1.0)
    a = model.body("a", mass=m, inertia=(0.1, 0.2, 0.25), at=A)
    b = model.body("b", mass=2.0, inertia=(0.2, 0.3, 0.4), at=B)
    model.add(ts.Spherical("ball", model.ground, a, point=PIVOT))
    model.add(ts.Revolute("hinge", model.ground, b, point=HINGE, axis=tuple(AXIS), start_rate=1.0))
    model.add(ts.Distance("rod", a, b, points=ENDS))
    runs = ts.study(model, 0.01, {"m": [0.1, 1.0, 5.0]}, outputs=1)
    for k, mass in enumerate((0.1, 1.0, 5.0)):
        alone = start_of(model, parameters={"m": mass})
        np.testing.assert_array_equal(runs.velocity[k, 0], alone.velocity)
    np.testing.assert_allclose(runs.velocity[1, 0], expected()[0], atol=1e-12)
    assert np.abs(runs.velocity[0, 0] - runs.velocity[2, 0]).max() > 0.01


def test_a_large_model_starts_as_its_parts_do():
    model = ts.Model("many")
    for k in range(12):
        mechanism(shift=np.array((3.0 * k, 0, 0)), model=model, tag=f"{k}")
    for formulation in ("relative", "hierarchical"):
        data = start_of(model, formulation=formulation)
        for k in range(12):
            np.testing.assert_allclose(velocities(data, (f"a{k}", f"b{k}")), expected()[0], atol=1e-12)


def test_open_joints_of_a_tree_rest_whatever_moves_them():
    """On a link that is given a rate, on a crank drive, and on a ground that moves: a rate that nobody gives is zero."""
    model = ts.Model("tree")
    bodies = [model.body(f"b{k}", mass=1.0 + k, inertia=(0.1, 0.1, 0.1), at=(k + 0.5, 0, 0)) for k in range(3)]
    last = model.ground
    for k, body in enumerate(bodies):
        given = {"start_rate": 2.0} if k == 0 else {}
        model.add(ts.Revolute(f"h{k}", last, body, point=(k, 0, 0), axis="y", **given))
        last = body
    twin = model.add(ts.Revolute("twin", model.ground, bodies[0], point=(0, 0, 0), axis="y"))
    for formulation in ("absolute", "relative"):
        data = start_of(model, formulation=formulation)
        np.testing.assert_allclose(data.rate.sel(joint_coordinate=["h0", "h1", "h2"]), [2, 0, 0], atol=1e-13)
        assert data.attrs["start_changes"] == "[]" and twin.name == "twin"


def test_what_hangs_on_a_loop_that_is_driven_rests_relative_to_it():
    from models import four_bar

    model = four_bar()
    model.add(
        ts.Revolute("hung", model["link1"], model.body("bob", mass=0.3, inertia=(0.01, 0.01, 0.01), at=(0.7, 0, 0)),
                    point=(0.7, 0, 0.4), axis="y")
    )  # fmt: skip
    for formulation in ("absolute", "relative"):
        data = start_of(model, start={"A.rate": 2.0}, formulation=formulation)
        assert abs(float(data.rate.sel(joint_coordinate="hung"))) < 1e-12
        assert float(data.rate.sel(joint_coordinate="A")) == pytest.approx(2.0)


def test_bodies_that_nothing_holds_keep_their_momentum_zero():
    """A rate between two bodies that float: the least kinetic energy is that without momentum; start= and the model agree."""

    def pair(**given):
        model = ts.Model("pair")
        a = model.body("a", mass=1.0, inertia=(0.1, 0.2, 0.3), at=(-0.5, 0, 0))
        b = model.body("b", mass=3.0, inertia=(0.2, 0.3, 0.4), at=(0.7, 0.1, 0))
        model.add(ts.Revolute("h", a, b, point=(0, 0, 0), axis=(0, 0, 1), **given))
        return model

    for data in (
        start_of(pair(start_rate=2.0)),
        start_of(pair(), start={"h.rate": 2.0}),
        start_of(pair(start_rate=1.0), start={"h.rate": 2.0}),
    ):
        x, v, w = (data[name].values for name in ("position", "velocity", "angular_velocity"))
        mass, J = np.array((1.0, 3.0)), (np.diag((0.1, 0.2, 0.3)), np.diag((0.2, 0.3, 0.4)))
        np.testing.assert_allclose(mass @ v, 0, atol=1e-13)
        turning = sum(m * np.cross(p, u) + I @ s for m, p, u, I, s in zip(mass, x, v, J, w))
        np.testing.assert_allclose(turning, 0, atol=1e-13)
        assert float(data.rate[0]) == pytest.approx(2.0) and "a.velocity[" in data.attrs["start_changes"]


def test_a_rod_between_particles_takes_the_second_along():
    """One of them is given a velocity u: the other gets n (n·u), whatever the axes are; masses from 1e-9 to 1e9 kg."""
    n = TURN @ np.array((0.6, 0.0, 0.8))
    for mass in (1e-9, 1.0, 1e9):
        model = ts.Model("pair")
        a = model.body("a", mass=mass, inertia=0, at=(0, 0, 0), velocity=(1.0, 2.0, 3.0))
        b = model.body("b", mass=1.0, inertia=0, at=2 * n)
        model.add(ts.Distance("rod", a, b))
        data = start_of(model)
        np.testing.assert_allclose(data.velocity.sel(body="a"), (1, 2, 3), atol=1e-12)
        np.testing.assert_allclose(data.velocity.sel(body="b"), n * (n @ (1.0, 2.0, 3.0)), atol=1e-12)


def test_given_velocities_that_cannot_be_kept_change_least():
    """A body on a straight guide along d keeps d (d·u) of the velocity u that it was given, in any axes."""
    d, u = np.array((0.36, 0.48, 0.8)), np.array((1.0, -2.0, 0.5))
    for Q in (np.eye(3), TURN):
        model = ts.Model("guide")
        body = model.body("body", mass=2.0, inertia=(0.1, 0.2, 0.25), at=(1, 2, 3), velocity=Q @ u)
        model.add(ts.Prismatic("guide", model.ground, body, point=(1, 2, 3), axis=tuple(Q @ d)))
        data = start_of(model)
        np.testing.assert_allclose(data.velocity.values[0] @ Q, d * (d @ u), atol=1e-13)
        assert "body.velocity[0]" in data.attrs["start_changes"]
