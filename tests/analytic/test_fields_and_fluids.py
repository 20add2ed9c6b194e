"""Drag, lift, buoyancy, gravity gradient, magnets and tendons against closed forms."""

import numpy as np
import pytest
from scipy.optimize import brentq

import torsor as ts

G = 9.81


def test_a_falling_ball_approaches_its_terminal_velocity():
    """v = v_t tanh(g t/v_t), v_t² = 2 m g/(ϱ C A); in a wind it moves relative to the air; 1 − exp(−c t/m) where it creeps."""
    m, area, C = 0.1, 0.01, 0.47
    fast = np.sqrt(2 * m * G / (1.225 * C * area))
    model = ts.Model("fall", gravity=(0, 0, -G))
    ball, still = (model.body(name, m, 0, at=(k, 0, 0)) for k, name in enumerate(("ball", "still")))
    drifts = model.body("drifts", m, 0, at=(2, 0, 0), velocity=(3.0, 0, 0))
    model.add(ts.Drag("air", ball, area=area, coefficient=C))
    model.add(ts.Drag("oil", still, linear=0.5))
    model.add(ts.Drag("wind", drifts, area=area, coefficient=C, wind=(3.0, 0, 0)))
    data = ts.simulate(model, 4.0, outputs=4, tolerance=1e-11)
    t = data.time.values
    z = data.velocity.sel(axis="z")
    np.testing.assert_allclose(z[:, 0], -fast * np.tanh(G * t / fast), atol=1e-8)
    np.testing.assert_allclose(z[:, 1], -m * G / 0.5 * (1 - np.exp(-0.5 * t / m)), atol=1e-8)
    np.testing.assert_allclose(z[:, 2], z[:, 0], atol=1e-9)
    np.testing.assert_allclose(data.velocity.sel(axis="x")[:, 2], 3.0, atol=1e-12)


def test_a_glider_sinks_with_its_glide_ratio():
    """A wing that is held level in a steady glide: tan γ = C_D/C_L, and its forces balance the weight."""
    m, area, rho = 5.0, 0.8, 1.225
    model = ts.Model("glider", gravity=(0, 0, -G))
    body = model.body("body", m, (1, 1, 1), velocity=(12.0, 0, -0.5))
    model.add(ts.SpatialTranslation("level", model.ground, body))
    wing = model.add(ts.Wing("wing", body, chord="x", span="y", area=area, drag_along=0.02, drag_across=1.2))
    data = ts.simulate(model, 120.0, outputs=1, signals={"angle": wing.angle})
    x, _, z = data.velocity.values[-1, 0]
    angle = float(data["angle"][-1])
    assert angle == pytest.approx(np.arctan2(-z, x), abs=1e-12)
    lift, drag = 2 * np.pi * np.sin(angle) * np.cos(angle), 0.02 + 1.2 * np.sin(angle) ** 2
    assert -z / x == pytest.approx(drag / lift, rel=1e-5)
    assert rho / 2 * area * (x**2 + z**2) * np.hypot(lift, drag) == pytest.approx(m * G, rel=1e-5)


def test_the_coefficients_of_a_wing_may_be_functions_of_the_angle_of_attack():
    forces = []
    for given in ({}, {"lift": lambda a: np.pi * np.sin(2 * a), "drag": lambda a: 0.01 + 1.2 * np.sin(a) ** 2}):
        model = ts.Model("wing")
        body = model.body("body", 2.0, (1, 1, 1), rotation=(0.2, 0.3, 0.4), velocity=(3, 1, -2))
        model.add(ts.Wing("wing", body, area=0.5, wind=(-5, 1, 0.5), point=(0.3, 0, 0), **given))
        data = ts.simulate(model, 0.1, outputs=1)
        forces.append(np.concatenate([data.acceleration[0, 0], data.angular_acceleration[0, 0]]))
    np.testing.assert_allclose(forces[0], forces[1], rtol=1e-12)


@pytest.mark.parametrize("kind", ["box", "cylinder"])
def test_a_float_heaves_and_rolls_as_its_waterplane_says(kind):
    """Heave ω² = ϱ g A/m, roll ω² = m g GM/J with GM = I/V − (distance of the centres), small; without added mass."""
    m, a, b, h = 300.0, 1.0, 0.8, 0.6
    shape, area, I = {
        "box": (ts.shapes.box((a, b, h)), a * b, a * b**3 / 12),
        "cylinder": (ts.shapes.cylinder(0.5, h), np.pi * 0.25, np.pi * 0.5**4 / 4),
    }[kind]
    draught = m / (1000 * area)
    model = ts.Model("float", gravity=(0, 0, -G))
    hull = model.body("hull", m, (20.0, 30, 40), at=(0, 0, h / 2 - draught), shape=shape)
    model.add(ts.Buoyancy("water", hull))
    GM = I / (area * draught) - (h - draught) / 2
    linear = ts.linearise(model)
    squares = sorted(np.unique(np.round(np.abs(linear.eigenvalues) ** 2, 6)))
    for expected in (1000 * G * area / m, m * G * GM / 20.0):
        assert min(abs(w - expected) for w in squares) < 1e-6 * expected


def test_a_ball_floats_where_it_displaces_its_weight_and_hangs_in_between_when_it_is_as_heavy_as_water():
    R, density = 0.2, 600.0
    m = 4 / 3 * np.pi * R**3 * density
    model = ts.Model("ball", gravity=(0, 0, -G))
    ball = model.body("ball", m, 0.1 * m * R**2 * np.ones(3), shape=ts.shapes.sphere(R))
    model.add(ts.Buoyancy("water", ball, level=0.3))
    model.add(ts.Drag("drag", ball, linear=400.0))
    h = brentq(lambda h: h**2 * (3 * R - h) / 4 / R**3 - density / 1000, 0, 2 * R)
    data = ts.simulate(model, 6.0, outputs=1)
    assert float(data.position[-1, 0, 2]) == pytest.approx(0.3 + R - h, abs=1e-7)
    deep = ts.simulate(model, 0.1, outputs=1, start={"ball.position": (0, 0, -5)})
    assert float(deep.acceleration[0, 0, 2]) == pytest.approx(G * (1000 / density - 1), rel=1e-12)


def test_a_satellite_librates_in_its_orbit():
    """Small pitch about the local vertical on a circular orbit: ω² = 3 n² (J_y − J_x)/J_z, of a dumbbell 3 n²; the torque is
    3 μ/r³ n × J n."""
    J = np.array([0.3, 1.0, 1.1])  # x: away from the centre, z: along the orbit's normal
    tilt = 1e-3
    model = ts.Model("orbit")
    n = 1.0
    body = model.body(
        "satellite", 1e10, J, at=(1, 0, 0), rotation=(0, 0, tilt), velocity=(0, n, 0), angular_velocity=(0, 0, n)
    )
    model.add(ts.CentralGravity("planet", model.ground, body, parameter=1.0))
    rate = np.sqrt(3 * n**2 * (J[1] - J[0]) / J[2])
    data = ts.simulate(model, 2.0, outputs=4, tolerance=1e-11)
    t = data.time.values
    R = data.rotation.values[:, 0]
    pitch = np.arctan2(R[:, 1, 0], R[:, 0, 0]) - np.arctan2(*data.position.values[:, 0, 1::-1].T)
    np.testing.assert_allclose(pitch, tilt * np.cos(rate * t), atol=2e-6 * tilt + 5e-9)  # sin 2x ≈ 2x
    x = np.array([0.3, -0.5, 0.8])
    spun = ts.Model("spun")
    body = spun.body("body", 2.0, J, at=x)
    spun.add(ts.CentralGravity("planet", spun.ground, body, parameter=0.7))
    found = ts.simulate(spun, 0.01, outputs=1).angular_acceleration.values[0, 0] * J
    r = np.linalg.norm(x)
    np.testing.assert_allclose(found, 3 * 0.7 / r**5 * np.cross(x, J * x), rtol=1e-12)


def test_a_compass_needle_swings_in_the_field_of_a_magnet_and_coaxial_magnets_attract():
    """On the axis B = μ₀ m/(2π r³), ω² = m' B/J; coaxial: F = 3 μ₀ m m'/(2π r⁴)."""
    m, needle, r, J = 2.0, 0.1, 0.3, 1e-6
    B = 4e-7 * np.pi * m / (2 * np.pi * r**3)
    model = ts.Model("compass")
    body = model.body("needle", 0.01, (J, J, J), at=(r, 0, 0), rotation=(0, 0, 1e-3))
    model.add(ts.Revolute("pin", model.ground, body, point=(r, 0, 0), axis="z"))
    model.add(ts.Magnets("field", model.ground, body, moments=((m, 0, 0), (needle, 0, 0))))
    w = np.sqrt(needle * B / J)
    data = ts.simulate(model, 3.0, outputs=3, tolerance=1e-11)
    np.testing.assert_allclose(1e-3 + data.coordinate[:, 0], 1e-3 * np.cos(w * data.time), atol=2e-9)
    free = ts.Model("pair")
    body = free.body("body", 0.5, (1, 1, 1), at=(r, 0, 0))
    free.add(ts.Magnets("field", free.ground, body, moments=((m, 0, 0), (needle, 0, 0))))
    pull = -0.5 * float(ts.simulate(free, 0.01, outputs=1).acceleration[0, 0, 0])
    assert pull == pytest.approx(3 * 4e-7 * np.pi * m * needle / (2 * np.pi * r**4), rel=1e-12)


def test_a_tendon_over_two_points_is_a_spring_that_only_pulls():
    """A mass on a tendon over an eye of the ground: ω² = k/m below the rest length, free flight above."""
    k, m = 200.0, 0.5
    model = ts.Model("tendon", gravity=(0, 0, -G))
    mass = model.body("mass", m, 0, at=(0, 0, -1))
    eye = [(-1, 0, 0), (0, 0, 0), (0, 0, -1)]
    tendon = model.add(ts.Tendon("tendon", [model.ground, model.ground, mass], eye, k))
    data = ts.simulate(model, 0.3, outputs=3, tolerance=1e-10, signals={"T": tendon.tension()})
    w = np.sqrt(k / m)
    z = -1 - m * G / k * (1 - np.cos(w * data.time.values))
    np.testing.assert_allclose(data.position[:, 0, 2], z, atol=1e-8)
    np.testing.assert_allclose(data["T"], k * (-1 - z), atol=1e-5)
    np.testing.assert_allclose(data.energy, data.energy[0], atol=1e-9)
    up = ts.simulate(model, 0.1, outputs=2, start={"mass.position": (0, 0, -0.8), "mass.velocity": (0, 0, 0)})
    np.testing.assert_allclose(up.acceleration[:, 0, 2], -G, rtol=1e-12)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda m, b: ts.Drag("f", b, area=-1.0), "drag 'f': area must be at least 0, got -1.0"),
        (lambda m, b: ts.Wing("f", b, chord="x", span="x"), "chord and span must be perpendicular"),
        (lambda m, b: ts.Buoyancy("f", b), "shape must be of sphere, box, cylinder, or several of these, got none"),
        (lambda m, b: ts.Buoyancy("f", b, shape=ts.shapes.cone(1, 1)), "got a cone"),
        (lambda m, b: ts.CentralGravity("f", b, m.ground), "second must be a body"),
        (lambda m, b: ts.Magnets("f", m.ground, b, moments=(1, 2, 3)), "moments must be two vectors of 3 numbers"),
        (lambda m, b: ts.Tendon("f", [b], [(0, 0, 0)], 1.0), "bodies must be two or more bodies of the model"),
        (lambda m, b: ts.Tendon("f", [m.ground, b], [(0, 0, 0)], 1.0), "give one point for each of the 2 bodies"),
        (lambda m, b: ts.Tendon("f", [m.ground, b], [(0, 0, 0)] * 2, 0.0), "stiffness must be positive"),
    ],
)
def test_what_has_no_meaning_is_refused(make, message):
    model = ts.Model("bad")
    body = model.body("body", 1.0, (1, 1, 1))
    with pytest.raises(ts.ModelError, match=message):
        model.add(make(model, body))
