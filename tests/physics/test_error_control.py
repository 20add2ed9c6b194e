"""Errors are judged by scales of the model and its motion: what rests takes few steps, what is slow is exact, what nothing
restores is controlled."""

import casadi as ca
import models
import numpy as np
import pytest

import torsor as ts

FORMS = ("absolute", "relative", "woronetz")


def four_bar(size, mass):
    pins = size * np.array(models.FOUR_BAR)
    model = models.four_bar(pins, (mass,) * 3, (0.01 * size**2,) * 3, gravity=(0, 0, 0))
    model.add(ts.TorsionSpring("spring", model["A"], stiffness=30 * mass * size**2, damping=0.1 * mass * size**2))
    return model


def pushed(stiffness=1e5):
    """A block between two springs that press on it."""
    m = ts.Model("pressed")
    b = m.body("block", mass=1, inertia=(0.1, 0.1, 0.1))
    for side in (-1, 1):
        ends = ((side, 0, 0), (0, 0, 0))
        m.add(ts.SpringDamper(f"s{side}", m.ground, b, points=ends, stiffness=stiffness, length=3.0, damping=1))
    return m


def held_up():
    """A spatial slider-crank in a position of rest under its weight."""
    m = ts.Model("slider-crank", gravity=(0, 0, -9.81))
    A, r, L = np.array((0, 0.1, 0.12)), 0.08, 0.3
    B = A + (0, 0, r)
    C = np.array((np.sqrt(L**2 - B[1] ** 2 - B[2] ** 2), 0, 0))
    crank = m.body("crank", mass=0.12, inertia=(1e-4, 1e-5, 1e-4), at=(A + B) / 2)
    rod = m.body("rod", mass=0.5, inertia=(1e-4, 3e-3, 3e-3), at=(B + C) / 2)
    slider = m.body("slider", mass=2.0, inertia=(1e-3, 1e-3, 1e-3), at=C)
    pin = m.add(ts.Revolute("pin", m.ground, crank, point=A, axis=(1, 0, 0)))
    m.add(ts.Spherical("b1", crank, rod, point=B))
    m.add(ts.Spherical("b2", rod, slider, point=C))
    m.add(ts.Prismatic("guide", m.ground, slider, axis=(1, 0, 0)))
    m.add(ts.TorsionSpring("spring", pin, stiffness=2.0, damping=0.05))
    return m


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "build", (lambda: four_bar(1, 1), lambda: four_bar(1e-6, 1e-9), lambda: four_bar(1e4, 1e6), pushed, held_up)
)
def test_what_rests_takes_few_steps(build, form):
    data = ts.simulate(build(), 2.0, outputs=10, formulation=form)
    assert data.attrs["steps"] + data.attrs["rejections"] < 1500
    assert float(np.abs(data.position - data.position[0]).max()) < 1e-9 * data.attrs["model_length"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("amplitude", (1e-3, 1e-6, 1e-10))
def test_small_motions_are_as_accurate_as_large_ones(form, amplitude):
    m = ts.Model("pendulum", gravity=(0, 0, -9.81))
    b = m.body("bob", mass=1, inertia=(0.1, 0.1, 0.1), at=(0, 0, -1))
    w = np.sqrt(9.81 / 1.1)
    m.add(ts.Revolute("hinge", m.ground, b, point=(0, 0, 0), axis=(0, 1, 0), start_rate=amplitude * w))
    data = ts.simulate(m, 5.0, outputs=10, formulation=form)
    swing = amplitude * np.sin(w * data.time.values)  # and the period grows with the square of the amplitude
    assert np.abs(data.coordinate.values[:, 0] - swing).max() < (1e-7 + amplitude**2) * amplitude


@pytest.mark.parametrize("form", FORMS)
def test_a_rejected_step_does_not_coarsen_the_run(form):
    """The first attempt may be far too long: what it met does not count."""
    found = []
    for until in (0.5, 5e3):
        m = ts.Model("weight", gravity=(0, 0, -9.81))
        b = m.body("bob", mass=1, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
        m.add(ts.Revolute("hinge", m.ground, b, point=(0, 0, 0), axis=(0, 1, 0)))
        m.when(ts.time >= 0.5, ts.end(), name="end")
        data = ts.simulate(m, until, outputs=[0.25], formulation=form, tolerance=1e-7)
        found.append(float(data.coordinate[0, 0]))
    assert abs(found[0] - found[1]) < 1e-6


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("tolerance", (1e-6, 1e-9))
def test_positions_that_only_velocities_constrain_are_controlled(form, tolerance):
    m = ts.Model("imposed")
    w = m.body("wheel", mass=100, inertia=(50, 50, 50), at=(0, 0, 1))
    m.add(ts.Revolute("spin", m.ground, w, axis=(0, 0, 1), start_rate=20.0))
    b = m.body("b", mass=1e-3, inertia=(1e-4, 1e-4, 1e-4))
    j = m.add(ts.Prismatic("slide", m.ground, b, axis=(1, 0, 0)))
    m.add(ts.Nonholonomic("speed", j.rate - ca.cos(7 * ts.time)))
    data = ts.simulate(m, 10.0, outputs=10, formulation=form, tolerance=tolerance)
    off = data.coordinate.sel(joint_coordinate="slide").values - np.sin(7 * data.time.values) / 7
    assert np.abs(off).max() < 1e3 * tolerance


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("speed", (0.1, 1.0, 30.0))
def test_a_sphere_that_rolls_straight_keeps_its_way(form, speed):
    m = ts.Model("roll", gravity=(0, 0, -9.81))
    b = m.body("b", mass=1, inertia=(0.1, 0.1, 0.1), at=(0, 0, 0.1), velocity=(speed, 0, 0))
    m.add(ts.RollingSphere("rolling", m.ground, b, radius=0.1))
    data = ts.simulate(m, 4.0, outputs=4, formulation=form)
    assert np.abs(data.position.sel(body="b", axis="x") - speed * data.time).max() < 1e-7 * max(1, speed)


def test_every_coordinate_is_judged_by_its_own_scale():
    """A slow oscillation beside a fast motion that is imposed."""
    for form in FORMS:
        m = ts.Model("both")
        a = m.body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, 1))
        h = m.add(ts.Prismatic("h", m.ground, a, axis=(0, 0, 1), start_rate=100.0))
        m.add(ts.Drive("d", h, 100 * ts.time))
        b = m.body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(2, 0, 0))
        g = m.add(ts.Revolute("g", m.ground, b, axis=(0, 0, 1), start_rate=0.5))
        m.add(ts.TorsionSpring("s", g, stiffness=10.0))
        data = ts.simulate(m, 10.0, outputs=10, formulation=form)
        off = data.coordinate.sel(joint_coordinate="g").values - 0.05 * np.sin(10 * data.time.values)
        assert np.abs(off).max() < 1e-8, form


@pytest.mark.parametrize("method", ["rkmk54", "radau5", "bdf"])
@pytest.mark.parametrize("since", [0.0, 500.0])
def test_swift_motions_late_in_a_run_are_not_taken_for_errors(method, since):
    """1 kHz after 500 s: what moves within the rounding of the time is not far below the tolerance."""
    model, w = ts.Model("oscillator"), 2000 * np.pi
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis="x", start=0.01))
    model.add(ts.JointForce("spring", rail, -(w**2) * rail.coordinate[0]))
    sim = ts.Simulation(model, method=method)
    sim.reset(time=since)
    sim.advance(2e-3)
    assert sim.coordinates["rail"] == pytest.approx(0.01 * np.cos(w * 2e-3), abs=1e-9)
