"""Cables, winches and belts against equations written by hand."""

import numpy as np
import pytest

import torsor as ts

G = 9.81


def atwood(masses=(2.0, 3.0), radius=0.1, J=0.02, friction=None, **options):
    """Two weights on a cable over a wheel with an inertia of its own."""
    model = ts.Model("atwood", gravity=(0, 0, -G), hints=False)
    wheel = model.body("wheel", 1.0, (J, J, J), at=(0, 0, 1.0))
    turn = model.add(ts.Revolute("turn", model.ground, wheel, axis="y"))
    weights = []
    for name, m, x in zip(("left", "right"), masses, (-radius, radius)):
        body = model.body(name, m, (0.01, 0.01, 0.01), at=(x, 0, 0.2))
        model.add(ts.Prismatic(f"{name}_rail", model.ground, body, axis="z"))
        weights.append(body)
    path = [weights[0].point((0, 0, 0)), ts.Pulley(turn, radius=radius, friction=friction), weights[1].point((0, 0, 0))]
    model.add(ts.Cable("rope", path, **options))
    return model


def by_joint(data, what, k=-1):
    return dict(zip(data.joint_coordinate.values, data[what].values[k]))


@pytest.mark.parametrize("formulation", ["absolute", "relative", "hamiltonian"])
def test_atwoods_machine_with_a_heavy_wheel(formulation):
    """a = (m₂ − m₁) g/(m₁ + m₂ + J/r²); the tensions differ by J a/r²."""
    model = atwood()
    model.signal("difference", model["rope.part1"].multiplier[0] - model["rope.part0"].multiplier[0])
    data = ts.simulate(model, 0.2, outputs=1, formulation=formulation)
    a = (3.0 - 2.0) * G / (5.0 + 0.02 / 0.01)
    found = by_joint(data, "coordinate_acceleration")
    assert found["left_rail"] == pytest.approx(a, rel=1e-9) and found["right_rail"] == pytest.approx(-a, rel=1e-9)
    assert found["turn"] == pytest.approx(a / 0.1, rel=1e-9)
    assert data["difference"].values[-1] == pytest.approx(0.02 * a / 0.01, rel=1e-9)


@pytest.mark.parametrize("options", [{}, {"stiffness": 1e5, "damping": 300.0}], ids=["inextensible", "elastic"])
def test_a_rope_slips_where_the_tensions_differ_by_more_than_the_capstan_limit(options):
    """T₂ = e^(μ π) T₁ while it slips; the wheel turns with (T₂ − T₁) r/J."""
    data = ts.simulate(atwood((1.0, 4.0), friction=0.1, **options), 0.2, outputs=1)
    k = np.exp(0.1 * np.pi)
    a = (4 - k) * G / (4 + k)
    found = by_joint(data, "coordinate_acceleration")
    assert found["left_rail"] == pytest.approx(a, rel=1e-6)
    assert found["turn"] == pytest.approx((k - 1) * (G + a) * 0.1 / 0.02, rel=1e-6)


@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_slack_cable_gets_taut_by_an_impact(e):
    """The right weight falls by its slack h: m v⁻ = m v⁺ + P, v⁺ − ω r = −e v⁻, J ω = P r; the other part stays slack."""
    h, m, J_r2 = 0.1, 3.0, 2.0
    model = atwood(slack=[0.5, h], restitution=e)
    model.add(ts.Contact("floor", model.ground, model["left"], point=(-0.1, 0, 0.2)))
    sim = ts.Simulation(model, tolerance=1e-11)
    before = np.sqrt(2 * h / G)
    sim.advance(before + 1e-6)
    v = G * before
    reduced = m * J_r2 / (m + J_r2)
    P = (1 + e) * reduced * v
    found = {name: sim[f"{name}.rate"] for name in ("turn", "right_rail")}
    assert -found["right_rail"] == pytest.approx(v - P / m, abs=2e-5)
    assert abs(found["turn"]) * 0.1 == pytest.approx(P / J_r2, abs=2e-5)


def test_an_elastic_cable_keeps_the_energy_also_where_it_gets_slack():
    model = atwood(stiffness=2e4, slack=[0.0, 0.02])
    data = ts.simulate(model, 0.3, outputs=6, tolerance=1e-10)
    assert {"rope.taut0", "rope.taut1"} <= set(data.event_name.values)
    np.testing.assert_allclose(data.energy, data.energy[0], atol=1e-7)


def test_a_block_and_tackle_lifts_with_half_the_force_and_a_winch():
    """A drum takes the cable in, which runs under a moving block and up to the ceiling: v_block = r ω/2, T = (m/2)(g + a)."""
    model = ts.Model("winch", gravity=(0, 0, -G), hints=False)
    drum = model.body("drum", 1.0, (0.05, 0.05, 0.05), at=(0.25, 0, 2.0))
    turn = model.add(ts.Revolute("turn", model.ground, drum, axis="y"))
    block = model.body("block", 8.0, (0.1, 0.1, 0.1), at=(0.0, 0, 0.0))
    model.add(ts.Prismatic("rail", model.ground, block, axis="z"))
    sheave = model.body("sheave", 1e-3, (1e-9, 1e-9, 1e-9), at=(0.0, 0, 0.0))
    shaft = model.add(ts.Revolute("shaft", block, sheave, axis="y"))
    model.add(ts.Cable("rope", [(-0.05, 0, 2.0), ts.Pulley(shaft, 0.05), ts.Pulley(turn, 0.2, winding=1)]))
    model.add(ts.JointForce("motor", turn, 10.0))
    data = ts.simulate(model, 0.2, outputs=1)
    a = (10.0 / 0.2 - 8.001 * G / 2) / (8.001 / 2 + 2 * 0.05 / 0.04)
    found = by_joint(data, "coordinate_acceleration")
    assert found["rail"] == pytest.approx(a, rel=1e-5) and abs(found["turn"]) == pytest.approx(2 * a / 0.2, rel=1e-5)


def test_a_cable_winds_itself_onto_a_post():
    """A ball on a cable circles a fixed post: the straight part gets shorter by r φ, (l − r φ) φ̇ = v, by more than a whole turn."""
    r, start = 0.05, 0.6
    model = ts.Model("tetherball", hints=False)
    post = model.body("post", 1.0, (0.1, 0.1, 0.1))
    turn = model.add(ts.Revolute("turn", model.ground, post, axis="z"))
    model.add(ts.Drive("held", turn, 0.0))
    ball = model.body("ball", 2.0, 0, at=(start, r, 0), velocity=(0, -4.5, 0))
    model.add(ts.PointOnPlane("plane", model.ground, ball, point=(start, r, 0), normal="z"))
    model.add(ts.Cable("rope", [ts.Pulley(turn, r, winding=-1), ball.position]))
    data = ts.simulate(model, 0.7, outputs=40, tolerance=1e-10)
    x, y, _ = data.position.sel(body="ball").values.T
    straight = np.sqrt(x**2 + y**2 - r**2)
    angle = -np.unwrap(np.arctan2(y, x) - np.arctan2(r, straight))
    assert angle[-1] == pytest.approx((start - np.sqrt(start**2 - 2 * r * 4.5 * 0.7)) / r, abs=1e-6)
    np.testing.assert_allclose(straight, start - r * angle, atol=1e-9)
    np.testing.assert_allclose(data.energy, 20.25, rtol=1e-8)


@pytest.mark.parametrize("winding", [1, -1])
def test_a_belt_turns_wheels_in_the_ratio_of_their_radii(winding):
    """r₁ φ₁ = r₂ φ₂, τ = (J₁ + J₂ (r₁/r₂)²) φ̈₁; crossed, the second turns the other way."""
    model, path = belt_drive(winding, None)
    model.add(ts.Belt("belt", path))
    a = ts.simulate(model, 0.1, outputs=1).coordinate_acceleration.values[-1]
    np.testing.assert_allclose(a, np.array([1, winding / 3]) / (0.1 + 0.2 / 9), rtol=1e-9)


def belt_drive(winding, friction, torque=1.0):
    model, joints = ts.Model("belt", hints=False), []
    for k, x in enumerate((0.0, 1.0)):
        wheel = model.body(f"wheel{k}", 1.0, (0.1 * (k + 1),) * 3, at=(x, 0, 0))
        joints.append(model.add(ts.Revolute(f"shaft{k}", model.ground, wheel, axis="z")))
    model.add(ts.JointForce("motor", joints[0], torque))
    return model, [ts.Pulley(joints[0], 0.1, 1, friction), ts.Pulley(joints[1], 0.3, winding)]


def test_a_belt_slips_on_the_small_wheel():
    """The tensions add up to 2 T₀: the wheel gets at most 2 T₀ tanh(μ ϑ/2) r, ϑ = π − 2 asin((r₂ − r₁)/d)."""
    model, path = belt_drive(1, 0.2, torque=8.0)
    model.add(ts.Belt("belt", path, stiffness=1e4, damping=50.0, pretension=20.0))
    a = ts.simulate(model, 0.3, outputs=1).coordinate_acceleration.values[-1]
    pull = 2 * 20.0 * np.tanh(0.2 * (np.pi - 2 * np.arcsin(0.2)) / 2)
    np.testing.assert_allclose(a, [(8.0 - pull * 0.1) / 0.1, pull * 0.3 / 0.2], rtol=1e-4)


@pytest.mark.parametrize(
    "path, words",
    [
        (lambda wheel, p: [p((1, 0, 0))], "list of at least two"),
        (lambda wheel, p: [p((-1, 0, 0)), ts.Pulley(wheel, -0.1), p((1, 0, 0))], "must be a positive number"),
        (lambda wheel, p: [p((0.05, 0, 0)), ts.Pulley(wheel, 0.1), p((1, 0, 0))], "does not touch them"),
        (lambda wheel, p: [p((-1, 0.5, 0)), ts.Pulley(wheel, 0.1, winding=-1), p((1, 0.5, 0))], "does not touch pulley 1"),
        (lambda wheel, p: [ts.Pulley(wheel, 0.1), p((1, 0, 0))], "give its winding"),
        (lambda wheel, p: [ts.Pulley(wheel, 0.1, 1, 0.2), p((1, 0, 0))], "leave out its friction"),
        (lambda wheel, p: [p((-1, 0, 0)), ts.Pulley(wheel, 0.1), p((1, 0, 0.5))], "must lie in one plane"),
        (lambda wheel, p: [p((-1, 0, 0)), ts.Pulley("wheel", 0.1), p((1, 0, 0))], "must turn on a revolute joint"),
        (lambda wheel, p: [p((-1, 0, 0)), 2 * p((1, 0, 0))], "points of bodies"),
    ],
)  # fmt: skip
def test_paths_that_cannot_be_are_refused(path, words):
    model = ts.Model("path")
    wheel = model.body("wheel", 1.0, (0.1, 0.1, 0.1))
    load = model.body("load", 1.0, (0.1, 0.1, 0.1))
    turn = model.add(ts.Revolute("turn", model.ground, wheel, axis="z"))
    with pytest.raises(ts.ModelError, match=words):
        model.add(ts.Cable("rope", path(turn, load.point)))
