"""Dry friction that holds one body in several places: more of it than the motion tells apart, but one motion."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.joints.alignment import normals

FORMS = ("absolute", "relative", "woronetz")
G, MU, M = 9.81, 0.5, 2.0
FEET = {
    2: [(0.1, 0), (-0.1, 0)],
    3: [(0.1, 0.1), (-0.1, 0.1), (0, -0.1)],
    4: [(0.1, 0.1), (-0.1, 0.1), (-0.1, -0.1), (0.1, -0.1)],
    5: [(0.1, 0.1), (-0.1, 0.1), (-0.1, -0.1), (0.1, -0.1), (0, 0)],
}


def block(feet, slope=0.0, mu=MU, upright=False, belt=0.0, **start):
    """A block that stands on feet on a slope along x; upright: something else keeps it from turning over."""
    model = ts.Model("block", gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    ground = model.add(ts.Ground("belt", at=(belt * ts.time, 0, 0))) if belt else model.ground
    body = model.body("block", inertia=ts.inertia.box(M, 0.2, 0.2, 0.1), at=(0, 0, 0.05), **start)
    if upright:
        model.add(ts.Planar("guide", model.ground, body, axis=(0, 1, 0)))
    for k, (x, y) in enumerate(FEET[feet]):
        foot = model.add(ts.Contact(f"foot{k}", ground, body, point=(x, y, 0), normal=(0, 0, 1)))
        model.add(ts.Friction(f"rough{k}", foot, coefficient=mu))
    return model, body


def x_of(data):
    return data.position.sel(body="block", axis="x").values


@pytest.mark.parametrize(
    "feet, form", [*[(3, form) for form in FORMS], (2, "absolute"), (4, "relative"), (5, "absolute")]
)
def test_a_block_comes_to_rest_where_a_point_would(feet, form):
    slope = 0.3
    model, _ = block(feet, slope, upright=feet < 3, velocity=(1.0, 0, 0))
    slows = G * (MU * np.cos(slope) - np.sin(slope))
    data = ts.simulate(model, 1.2, outputs=24, formulation=form)
    late = data.time.values > 1 / slows
    assert np.abs(x_of(data)[late] - 0.5 / slows).max() < 1e-9
    assert np.abs(data.velocity.values[late]).max() < 1e-9
    rubs = [n.rsplit(".")[-1] for n in data.event_name.values if n.startswith("rough")]
    assert "slide" not in rubs  # it stops once, and stays
    assert np.abs(data.energy - data.energy[0] - data.work - data.energy_by_events).max() < 1e-9


@pytest.mark.parametrize("feet, slope", [(2, 0.2), (3, 0.45), (4, 0.5), (2, 0.9), (3, 0.9), (4, 0.2), (2, 0.5)])
def test_a_block_slides_where_the_slope_is_steeper_than_the_friction(feet, slope):
    model, _ = block(feet, slope, upright=feet < 3)
    gains = max(0.0, G * (np.sin(slope) - MU * np.cos(slope)))
    data = ts.simulate(model, 0.5, outputs=5)
    assert np.abs(x_of(data) - gains / 2 * data.time.values**2).max() < 1e-9


@pytest.mark.parametrize("feet, form, outputs", [(4, "absolute", 7), (3, "relative", 10), (2, "woronetz", 100)])
def test_all_feet_let_go_together_under_a_ramp(feet, form, outputs):
    model, body = block(feet, upright=feet < 3)
    model.add(ts.PointForce("ramp", body, force=ca.vertcat(3 * ts.time, 0, 0)))
    go = MU * M * G / 3
    data = ts.simulate(model, 5.0, outputs=outputs, formulation=form)
    t = np.maximum(data.time.values - go, 0)
    assert np.abs(x_of(data) - 3 * t**3 / (6 * M)).max() < 1e-7
    slid = data.event_time.values[[n.endswith("slide") for n in data.event_name.values]]
    assert len(slid) and np.abs(slid - go).max() < 1e-8


def test_a_belt_takes_a_block_along():
    model, _ = block(4, belt=1.0)
    data = ts.simulate(model, 1.0, outputs=10)
    grips = 1 / (MU * G)
    t = data.time.values
    exact = np.where(t < grips, MU * G * t**2 / 2, t - grips / 2)
    assert np.abs(x_of(data) - exact).max() < 1e-9


@pytest.mark.parametrize("feet, arm", [(4, np.sqrt(0.02)), (2, 0.1)])
def test_a_spinning_block_stops_after_the_angle_that_friction_allows(feet, arm):
    model = ts.Model("spin", gravity=(0, 0, -G))
    body = model.body("block", inertia=ts.inertia.box(M, 0.2, 0.2, 0.1), at=(0, 0, 0.05))
    model.add(ts.Cylindrical("pole", model.ground, body, axis=(0, 0, 1), start_rate=(8.0, 0.0)))
    for k, (x, y) in enumerate(FEET[feet]):
        foot = model.add(ts.Contact(f"foot{k}", model.ground, body, point=(x, y, 0), normal=(0, 0, 1)))
        model.add(ts.Friction(f"rough{k}", foot, coefficient=MU))
    slows = MU * M * G * arm / (M * 0.08 / 12)
    data = ts.simulate(model, 1.0, outputs=10)
    assert abs(float(data.coordinate[-1, 0]) - 8.0**2 / 2 / slows) < 1e-9
    assert np.abs(data.angular_velocity.values[-1]).max() < 1e-12


@pytest.mark.parametrize("torques", [(8.0,), (5.0, 3.0), (1.0, 2.0, 3.0, 2.0)])
@pytest.mark.parametrize("form", FORMS)
def test_parallel_brakes_hold_what_they_hold_together(torques, form):
    model = ts.Model("brakes")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    shaft = model.add(ts.Revolute("shaft", model.ground, body, axis=(0, 0, 1)))
    for k, torque in enumerate(torques):
        model.add(ts.Clutch(f"brake{k}", model.ground, body, axis=(0, 0, 1), torque=torque))
    model.add(ts.JointForce("motor", shaft, ts.time))
    for outputs in (7, 10, 100):
        data = ts.simulate(model, 10.0, outputs=outputs, formulation=form)
        assert abs(float(data.coordinate[-1, 0]) - 2.0**3 / 6) < 1e-9
        assert np.abs(data.event_time.values - 8.0).max() < 1e-9
        assert sorted(data.event_name.values) == [f"brake{k}.slide" for k in range(len(torques))]


@pytest.mark.parametrize("form", FORMS)
def test_a_stack_is_pulled_apart_when_friction_can_carry_the_upper_block_no_more(form):
    model = ts.Model("stack", gravity=(0, 0, -G))
    low = model.body("low", mass=2.0, inertia=(1, 1, 1))
    top = model.body("top", mass=1.0, inertia=(1, 1, 1), at=(0, 0, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, low, axis=(1, 0, 0), point=(0, 0, 0)))
    upper = model.add(ts.Prismatic("upper", low, top, axis=(1, 0, 0), point=(0, 0, 1)))
    model.add(ts.Friction("under", rail, coefficient=0.2))
    model.add(ts.Friction("between", upper, coefficient=0.3))
    model.add(ts.PointForce("pull", low, force=ca.vertcat(5 * ts.time, 0, 0)))
    first, second = 0.6 * G / 5, (0.6 * G + 0.9 * G) / 5
    data = ts.simulate(model, 5.0, outputs=10, formulation=form)
    assert list(data.event_name.values) == ["under.slide", "between.slide"]
    assert np.abs(data.event_time.values - [first, second]).max() < 1e-9
    since, tau = second - first, 5.0 - second
    x, v = 5 * since**3 / 18, 5 * since**2 / 6
    top_x = x + v * tau + 0.3 * G * tau**2 / 2
    assert abs(float(data.position.sel(body="top", axis="x")[-1]) - top_x) < 1e-8


@pytest.mark.parametrize("form, e", [("relative", 0.0), ("absolute", 0.5)])
def test_a_block_that_lands_flat_is_slowed_by_friction_on_all_its_feet(form, e):
    """The impulse (1 + e) m w of the floor is shared by four feet somehow; friction is μ times it, whoever bears it."""
    w = 1.0
    for along in (3.0, 0.2):
        model = ts.Model("lands")
        at = {"at": (0, 0, 0.15), "velocity": (along, 0, -w)}
        body = model.body("block", inertia=ts.inertia.box(M, 0.2, 0.2, 0.1), **at)
        for k, (x, y) in enumerate(FEET[4]):
            foot = model.add(
                ts.Contact(f"foot{k}", model.ground, body, point=(x, y, 0.1), plane=(0, 0, 0), restitution=e)
            )
            model.add(ts.Friction(f"rough{k}", foot, coefficient=0.3))
        data = ts.simulate(model, 0.15, outputs=3, formulation=form)
        v = data.velocity.values[-1, 0]
        assert np.abs(v - [max(0.0, along - 0.3 * (1 + e) * w), 0, e * w]).max() < 1e-9
        assert data.event_energy.values.max() < 1e-12


def wedged(angle, mu, left, right, turn=0.0):
    """A body in a groove, held by two points with friction: one force more than the balance of three tells apart."""
    model = ts.Model("wedged", gravity=(0, 0, -9.81))
    body = model.body("body", mass=2.0, inertia=(1, 1, 1))
    model.add(ts.Planar("plane", model.ground, body, axis=(0, 1, 0)))
    for name, (x, z), side in (("left", left, 1), ("right", right, -1)):
        normal = (side * np.sin(angle + turn * side), 0, np.cos(angle + turn * side))
        place = ts.Contact(name, model.ground, body, point=(x, 0, z), plane=(x, 0, z), normal=normal)
        model.add(ts.Friction(f"rub_{name}", model.add(place), coefficient=mu))
    return model


@pytest.mark.parametrize("formulation", FORMS)
@pytest.mark.parametrize(
    "angle, mu, left, right, turn",
    [
        (0.7, 0.5, (-0.5, -0.2), (0.4, -0.3), 0.0),
        (0.7, 0.5, (-0.4, -0.3), (0.5, -0.2), 0.1),
        (0.3, 0.9, (-0.5, -0.4), (0.2, -0.1), 0.0),
        (1.1, 0.8, (-0.3, 0.0), (0.3, 0.05), 0.05),
        (0.2, 0.3, (-0.6, -0.2), (0.1, -0.2), -0.1),
    ],
)
def test_forces_on_a_wedged_body_balance_and_stay_in_their_cones(angle, mu, left, right, turn, formulation):
    """Which of the forces acts is not told by the balance; what is told must balance, all the same."""
    model = wedged(angle, mu, left, right, turn)
    data = ts.simulate(model, 0.05, outputs=1, formulation=formulation)
    assert np.abs(data.position.values).max() < 1e-12
    lam = dict(zip(map(str, data.constraint.values), data.multiplier.values[-1]))
    force, moment = np.array([0, 0, -2 * 9.81]), 0.0
    for name, (x, z), side in (("left", left, 1), ("right", right, -1)):
        n = np.array([side * np.sin(angle + turn * side), 0, np.cos(angle + turn * side)])
        push = data.reaction_force.sel(joint=name).values[-1]
        np.testing.assert_allclose(push, lam[f"{name}[0]"] * n, atol=1e-9)
        friction = [lam[f"rub_{name}[{k}]"] for k in range(2)]
        total = push + sum(size * np.array(ca.DM(t)).ravel() for size, t in zip(friction, normals(ca.SX(n))))
        assert np.hypot(*friction) <= mu * lam[f"{name}[0]"] * (1 + 1e-9) and lam[f"{name}[0]"] > 0
        force, moment = force + total, moment + z * total[0] - x * total[2]
    np.testing.assert_allclose(force, 0, atol=1e-8)
    assert abs(moment) < 1e-8
