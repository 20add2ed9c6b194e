"""Contacts in number: what stands on more feet than needed is never pulled, lifts when statics says so, and shares its load."""

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import lsq_linear

import torsor as ts
from torsor.formulations.graphs import contact_load_sharing

G, MASS = 9.81, 2.0
FORMS = ("absolute", "relative", "woronetz")


def feet_of(count, radius=0.3):
    angles = 2 * np.pi * (np.arange(count) + 0.3) / count
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles)])


def stool(feet, centre=(0.0, 0.0), friction=0.0, restitution=0.0, height=0.4, **start):
    model = ts.Model("stool", gravity=(0, 0, -G))
    body = model.body("seat", inertia=ts.inertia.box(MASS, 0.5, 0.5, 0.1), at=(*centre, height), **start)
    for k, (x, y) in enumerate(feet):
        foot = model.add(
            ts.Contact(f"foot{k}", model.ground, body, point=(x, y, 0), plane=(0, 0, 0), restitution=restitution)
        )
        if friction:
            model.add(ts.Friction(f"rough{k}", foot, coefficient=friction))
    return model, body


def forces_of(data, feet):
    return data.reaction_force.sel(joint=[f"foot{k}" for k in range(len(feet))], axis="z").values


def nothing_pulls(data, feet):
    assert forces_of(data, feet).min() > -1e-9 * MASS * G
    assert np.diff(data.energy_by_events.values).max(initial=0.0) <= 1e-9 * MASS * G
    left = data.energy - data.energy[0] - data.work - data.energy_by_events
    assert np.abs(left).max() < 1e-6 * MASS * G


def least_forces(feet, centre, load):
    """The least forces that push, with the given load at the given point: by SciPy."""
    A = np.vstack([np.ones(len(feet)), feet.T])
    b = load * np.array([1.0, *centre])
    weight = 1e5  # of the equations against the size of the forces
    found = lsq_linear(np.vstack([weight * A, np.eye(len(feet))]), [*(weight * b), *np.zeros(len(feet))], (0, np.inf))
    return found.x


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [3, 4, 5, 8])
def test_feet_share_a_load_like_equally_stiff_ones(count, form):
    feet = feet_of(count)
    centres = [(0.0, 0.0), (0.1, -0.05), (0.2, 0.05) if count > 3 else (0.12, 0.03)]  # within the polygon of the feet
    for centre in centres if form == "absolute" else centres[count % 3 :][:1]:
        model, _ = stool(feet, centre)
        data = ts.simulate(model, 0.1, outputs=2, formulation=form)
        assert np.abs(forces_of(data, feet)[-1] - least_forces(feet, centre, MASS * G)).max() < 1e-6 * MASS * G
        assert np.abs(data.position.values[-1, 0] - [*centre, 0.4]).max() < 1e-12


def lift_time(feet, centre, at, rate):
    """When statics has no forces that push any more: the resultant leaves the polygon of the feet, or vanishes."""
    times = np.linspace(0, MASS * G / rate, 20001)[:-1]
    load = MASS * G - rate * times
    points = (MASS * G * np.array(centre) - np.outer(rate * times, at)) / load[:, None]
    first = len(times)
    for a, b in zip(feet, np.roll(feet, -1, axis=0)):
        side = (b[0] - a[0]) * (points[:, 1] - a[1]) - (b[1] - a[1]) * (points[:, 0] - a[0])
        outside = np.flatnonzero(side < 0)
        first = min(first, outside[0] if outside.size else first)
    return times[min(first, len(times) - 1)]


@pytest.mark.parametrize(
    "count, form", [(3, "relative"), (4, "absolute"), (4, "woronetz"), (5, "relative"), (8, "relative")]
)
def test_a_stool_that_is_pulled_lifts_when_statics_has_no_forces_that_push(count, form):
    feet, rate = feet_of(count), 40.0
    for centre, at in (((0.0, 0.0), (0.25, 0.1)), ((0.05, -0.02), (-0.1, 0.2))):
        model, body = stool(feet, centre)
        model.add(ts.PointForce("pull", body, force=(0, 0, rate * ts.time), point=(*at, 0.4)))
        expected = lift_time(feet, centre, at, rate)
        data = ts.simulate(model, expected + 0.1, outputs=40, formulation=form)
        lifts = [t for t, name in zip(data.event_time.values, data.event_name.values) if name.endswith("lift")]
        assert abs(lifts[0] - expected) < 2e-4  # the grid of `lift_time`
        assert forces_of(data, feet)[data.time.values < lifts[0]].min() >= -1e-9 * MASS * G
        nothing_pulls(data, feet)


@pytest.mark.parametrize("count", [4, 6])
@pytest.mark.parametrize("way", ["simulation", "study", "controller", "action"])
def test_a_force_that_jumps_lifts_all_feet_at_once(count, way):
    feet, up, t1 = feet_of(count), 2 * MASS * G, 0.2
    model, body = stool(feet)
    risen = 0.5 * (up / MASS - G) * (0.5 - t1) ** 2
    if way == "controller":
        law = model.add(
            ts.Controller("law", 0.1, inputs=[ts.time], outputs=["up"], function=lambda t, u: up * (t > 0.15))
        )
        model.add(ts.PointForce("pull", body, force=(0, 0, law["up"])))
    elif way == "action":
        pull = model.parameter("pull", 0.0)
        model.add(ts.PointForce("lifter", body, force=(0, 0, pull)))
        model.when(ts.time >= t1, ts.assign("pull", up), name="go")
    else:
        model.add(ts.PointForce("pull", body, force=(0, 0, model.input("up"))))
    if way == "simulation":
        sim = ts.Simulation(model)
        sim.advance(t1)
        sim.advance(0.5 - t1, up=up)
        height = float(sim["seat.position"][2])
    elif way == "study":
        values = np.where(np.arange(5) >= 2, up, 0.0)[None]
        height = float(ts.study(model, 0.5, inputs={"up": values}, outputs=5).position.values[0, -1, 0, 2])
    else:
        height = float(ts.simulate(model, 0.5, outputs=5).position.values[-1, 0, 2])
    assert abs(height - 0.4 - risen) < 1e-9


@pytest.mark.parametrize("restitution", [0.0, 0.4])
@pytest.mark.parametrize(
    "count, tilt", [(3, (0.05, 0.02, 0)), (4, (0.06, -0.03, 0.1)), (4, (0.0, 0.05, 0)), (6, (0.03, 0.05, 0))]
)
def test_a_frame_that_falls_on_its_feet_comes_to_rest_without_gaining_energy(count, tilt, restitution):
    feet = feet_of(count)
    model, body = stool(feet, restitution=restitution, height=0.2)
    model.add(ts.Free("free", model.ground, body, point=(0, 0, 0.2)))
    data = ts.simulate(model, 1.2, outputs=60, formulation="relative", start={"free": (*tilt, 0, 0, 0.1)})
    assert data.attrs["status"] == "finished"
    nothing_pulls(data, feet)
    assert np.diff(data.energy.values).max() < 1e-9 * MASS * G


@pytest.mark.parametrize("count, spin", [(4, 0.0), (4, 2.0), (6, 1.0)])
def test_a_stool_that_slides_loses_energy_by_friction_alone(count, spin):
    feet = feet_of(count)
    model, _ = stool(feet, friction=0.2, velocity=(0.6, 0.2, 0), angular_velocity=(0, 0, spin))
    data = ts.simulate(model, 0.6, outputs=30, formulation="relative")
    nothing_pulls(data, feet)
    assert np.diff(data.energy.values).max() < 1e-9
    if spin == 0.0:  # a block that slides along a line: closed form
        speed = np.hypot(0.6, 0.2)
        stops = speed / (0.2 * G)
        way = np.linalg.norm(data.position.values[-1, 0, :2])
        assert abs(way - speed**2 / (2 * 0.2 * G)) < 1e-8 and stops < 0.6


def gripper(force, mass, friction):
    """Two fingers with four pads each that hold a cube, and lift it by an acceleration of 1 m/s²."""
    model = ts.Model("gripper", gravity=(0, 0, -G))
    hand = model.body("hand", mass=1.0, inertia=(0.01,) * 3, at=(0, 0, 0.2))
    lift = model.add(ts.Prismatic("lift", model.ground, hand, point=(0, 0, 0.2), axis="z"))
    model.add(ts.Drive("up", lift, 0.5 * ts.time**2))
    cube = model.body("cube", inertia=ts.inertia.box(mass, 0.04, 0.04, 0.04), at=(0, 0, 0.02))
    for s, side in ((1, "L"), (-1, "R")):
        finger = model.body("finger" + side, mass=0.05, inertia=(1e-5,) * 3, at=(s * 0.03, 0, 0.02))
        slide = model.add(ts.Prismatic("slide" + side, hand, finger, point=(s * 0.03, 0, 0.02), axis=(-s, 0, 0)))
        model.add(ts.JointForce("grip" + side, slide, force))
        for k, (y, z) in enumerate(((0.02, 0.04), (-0.02, 0.04), (0.02, 0), (-0.02, 0))):
            pad = model.add(ts.Contact(f"pad{side}{k}", finger, cube, point=(s * 0.02, y, z), normal=(-s, 0, 0)))
            model.add(ts.Friction(f"rough{side}{k}", pad, coefficient=friction))
    return model


@pytest.mark.parametrize("force", [3.0, 1.5])
def test_a_cube_is_lifted_where_friction_bears_it_and_slips_as_newton_says(force):
    mass, mu = 0.2, 0.5
    most = 2 * mu * force
    data = ts.simulate(gripper(force, mass, mu), 0.2, outputs=10, formulation="relative")
    risen = data.position.sel(body="cube", axis="z").values - 0.02
    acceleration = min(1.0, most / mass - G)
    assert np.abs(risen - 0.5 * acceleration * data.time.values**2).max() < 1e-9
    pads = data.reaction_force.sel(joint=[f"pad{s}{k}" for s in "LR" for k in range(4)])
    assert np.abs(np.abs(pads.sel(axis="x").values[1:]) - force / 4).max() < 1e-6 * force


def test_a_load_that_wanders_over_a_table_never_makes_a_leg_pull():
    feet = np.array([(0.3, 0.2), (-0.3, 0.2), (-0.3, -0.2), (0.3, -0.2)])
    model, body = stool(feet)
    x, y = 0.28 * ca.cos(3 * ts.time), 0.18 * ca.sin(5 * ts.time)
    model.add(ts.PointForce("load", body, force=(0, 0, -30.0)))
    model.add(ts.Torque("tips", body, torque=(-30 * y, 30 * x, 0)))
    data = ts.simulate(model, 1.5, outputs=150)
    nothing_pulls(data, feet)
    assert data.sizes["event"] == 4  # four feet touch at the start, none ever leaves
    assert np.abs(forces_of(data, feet).sum(axis=1) - MASS * G - 30).max() < 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_shared_loads_add_up_and_contacts_that_bear_nothing_bear_exactly_nothing(seed):
    """λ_K + Cᵀ λ_R = λ₀, and λ = 0 where c = 0, with no rounding that could pass for a force that pulls."""
    random = np.random.default_rng(seed)
    kept, redundant = 3, int(random.integers(3, 6))
    C, lam = random.normal(size=(redundant, kept)), random.uniform(1.0, 50.0, kept)
    c_kept, c_redundant = random.uniform(0.1, 0.3, kept), random.uniform(0.1, 0.3, redundant)
    c_kept[: 1 + seed % 3] = 0.0  # enough others share
    given = (ca.SX(C), ca.SX(c_kept), ca.SX(c_redundant), ca.SX(lam))
    own, others = (np.array(ca.DM(x)).ravel() for x in contact_load_sharing._shared_multipliers(*given))
    np.testing.assert_allclose(own + C.T @ others, lam, rtol=1e-9)
    assert np.abs(own[c_kept == 0]).max() < 1e-12 * np.abs(lam).max()


def test_a_stool_that_is_pulled_up_off_its_middle_comes_to_its_end():
    """Feet part one after the other; the lift of a foot that bears nothing is not due again and again."""
    feet = feet_of(7)
    model, body = stool(feet, centre=(0.05, -0.03))
    model.add(ts.PointForce("pull", body, force=(0, 0, 3 * MASS * G * ts.time), point=(0.12, -0.2, 0.4)))
    data = ts.simulate(model, 0.5, outputs=50)
    assert data.attrs["time_reached"] == 0.5 and data.sizes["event"] < 100
    nothing_pulls(data, feet)
