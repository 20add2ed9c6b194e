"""Cams: lifts of followers on an eccentric circle, and the instants at which they leave the cam and come back."""

import math

import casadi as ca
import numpy as np
import pytest

import torsor as ts

R, E, ROLLER = 0.03, 0.008, 0.01  # eccentric circle, and a roller on it [m]


def circle(theta):
    """Profile of a circle whose centre is at (e, 0)."""
    return E * np.cos(theta) + np.sqrt(R**2 - (E * np.sin(theta)) ** 2)


@pytest.mark.parametrize(
    ("options", "height"),
    [
        ({"follower": "flat"}, lambda a: R + E * np.cos(a)),
        (
            {"follower": "knife", "offset": 0.004},
            lambda a: E * np.cos(a) + np.sqrt(R**2 - (E * np.sin(a) - 0.004) ** 2),
        ),
        (
            {"follower": "roller", "radius": ROLLER, "offset": -0.004},
            lambda a: E * np.cos(a) + np.sqrt((R + ROLLER) ** 2 - (E * np.sin(a) + 0.004) ** 2),
        ),
    ],
    ids=["flat", "knife", "roller"],
)
def test_lifts_on_an_eccentric_circle(options, height):
    """Flat: R + e cos φ; a roller's centre is R + ϱ away from that of the circle."""
    angles = np.linspace(0, 2 * np.pi, 333)
    exact = height(angles) - height(0.0)
    np.testing.assert_allclose(ts.cam_lift(circle, **options)(angles), exact, atol=1e-11)  # splines of 720 points
    theta = np.linspace(0, 2 * np.pi, 361)
    by_points = ts.cam_lift((theta, circle(theta)), **options)(angles)
    np.testing.assert_allclose(by_points, exact, atol=1e-9)


def valve(lift, speed, m=0.2, k=4e3, preload=60.0, **options):
    """A follower of mass m that a spring k with a preload presses on a cam that turns steadily."""
    model = ts.Model("valve", hints=False)
    shaft = model.body("shaft", mass=1.0, inertia=(0.01, 0.01, 0.01))
    turn = model.add(ts.Revolute("turn", model.ground, shaft, axis="z"))
    model.add(ts.Drive("motor", turn, speed * ts.time))
    follower = model.body("follower", mass=m, inertia=(1e-3, 1e-3, 1e-3), at=(0, 0.1, 0))
    slide = model.add(ts.Prismatic("slide", model.ground, follower, axis="y"))
    model.add(ts.JointForce("spring", slide, -preload - k * slide.coordinate[0]))
    model.add(ts.Cam("cam", turn, slide, lift=lift, **options))
    return model


LIFTS = {
    "function": lambda angle: E * (1 - ca.cos(angle)),
    "profile": ts.cam_lift(lambda theta: circle(theta + np.pi), follower="flat"),
}


@pytest.mark.parametrize(
    "kind, formulation",
    [("profile", "relative"), *(("function", f) for f in ("absolute", "relative", "woronetz", "hamiltonian"))],
)
def test_a_follower_lifts_off_where_its_inertia_exceeds_the_spring_and_comes_back(kind, formulation):
    """s = e (1 − cos φ):  λ = m s̈ + k s + F = 0  at  cos φ = −(F + k e)/(e (m Ω² − k)); then m q̈ + k q + F = 0 until q = s."""
    m, k, F, speed = 0.2, 4e3, 60.0, 300.0
    off = np.arccos(-(F + k * E) / (E * (m * speed**2 - k))) / speed
    w, q0 = np.sqrt(k / m), E * (1 - np.cos(speed * off))
    v0 = E * speed * np.sin(speed * off)
    flight = lambda t: (q0 + F / k) * np.cos(w * (t - off)) + v0 / w * np.sin(w * (t - off)) - F / k
    s = lambda t: E * (1 - np.cos(speed * t))
    low, high = off + 1e-3, 2 * np.pi / speed
    assert flight(low) > s(low) and flight(high) < s(high)
    while high - low > 1e-14:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if flight(middle) > s(middle) else (low, middle)
    data = ts.simulate(valve(LIFTS[kind], speed), low + 1e-5, outputs=1, formulation=formulation, tolerance=1e-11)
    events = dict(zip(data.event_name.values, data.event_time.values))
    tolerance = 2e-9 if kind == "function" else 1e-7  # s̈ of a spline of 720 points
    assert events["cam.lift"] == pytest.approx(off, abs=tolerance)
    assert events["cam.touch"] == pytest.approx(low, abs=10 * tolerance)


def test_the_force_and_the_torque_of_a_cam_that_is_touched():
    """λ = m s̈ + k s + F, and the shaft needs λ ds/dφ."""
    m, k, F, speed, t = 0.2, 4e3, 60.0, 50.0, 0.05
    model = valve(LIFTS["function"], speed)
    model.signal("force", model["cam"].multiplier[0])
    model.signal("torque", model["motor"].multiplier[0])
    data = ts.simulate(model, t, outputs=1)
    angle = speed * t
    force = m * E * speed**2 * np.cos(angle) + k * E * (1 - np.cos(angle)) + F
    assert data["force"].values[-1] == pytest.approx(force, rel=1e-9)
    assert abs(data["torque"].values[-1]) == pytest.approx(abs(force * E * np.sin(angle)), rel=1e-9)


def test_a_lash_is_passed_before_the_follower_moves():
    """s = c at cos φ = 1 − c/e."""
    model = valve(LIFTS["function"], 20.0, clearance=1e-3)
    model.add(ts.Limit("seat", model["slide"], lower=0.0))
    data = ts.simulate(model, 0.1, outputs=1)
    events = dict(zip(data.event_name.values[::-1], data.event_time.values[::-1]))
    assert events["cam.touch"] == pytest.approx(np.arccos(1 - 1e-3 / E) / 20.0, abs=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lift": 0.3}, "lift must be a function of the cam's angle"),
        ({"lift": lambda a: a}, "lift must be the same after a turn, got 0 at 0 and 6.28319 at 2π"),
        ({"lift": lambda a: ca.fabs(ca.sin(a / 2))}, "the slope of lift must be the same after a turn"),
        ({"lift": lambda a: math.cos(a)}, "lift failed at an expression of the angle"),
        ({"lift": ca.cos, "clearance": -1.0}, "clearance must not be negative"),
    ],
)
def test_cams_that_cannot_be_are_refused(options, words):
    with pytest.raises(ts.ModelError, match=f"cam 'cam': {words}"):
        valve(speed=1.0, **options)


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        ((circle,), {"follower": "round"}, "unknown follower 'round'. Known: knife, roller, flat"),
        ((circle,), {"follower": "roller"}, "radius must be positive for a roller, got 0"),
        ((circle,), {"follower": "flat", "radius": 0.1}, "radius must be left out"),
        ((circle,), {"follower": "flat", "offset": 0.1}, "offset belongs to a knife edge or a roller"),
        ((circle,), {"follower": "knife", "offset": 0.1}, "offset must be smaller than the radius of the profile, 0.022"),
        ((lambda a: 0.03 + 0.01 * np.cos(5 * a),), {"follower": "flat"}, "hollow or straight: a flat follower jumps"),
        ((lambda a: 0.03 + 0.04 * np.cos(a),), {"follower": "flat"}, "radius of the profile must be positive"),
        ((lambda a: a,), {}, "must be the same after a turn"),
        ((np.linspace(0, 3, 9), np.zeros(9)), {}, "angles must cover one turn"),
        ((np.linspace(0, 2 * np.pi, 9), np.arange(9.0)), {}, "values must be the same after a turn, got 0 and 8"),
        ((circle,), {"follower": "knife", "offset": "x"}, "offset must be a number"),
        ((3.0,), {}, "give a function, or angles and values, got 3.0"),
    ],
)  # fmt: skip
def test_profiles_that_cannot_be_are_refused(given, options, words):
    with pytest.raises(ts.ModelError, match=f"cam_lift: .*{words}"):
        ts.cam_lift(*given, **options)
