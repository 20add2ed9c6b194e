"""Impacts and stops against closed forms: every instant, every speed, and what is left after infinitely many."""

import models
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ellipk, ellipkinc

import torsor as ts
from torsor.lie import so3

EXACT = 1e-10  # [s] what is asked of the time of an event at the default tolerance
G = 9.81


def ball(at=(0.0, 0.0, 0.0), tilt=(0.0, 0.0, 0.0), across=0.0, height=1.0):
    """A ball above a plane through `at`, tilted with its gravity; `across` is a part of gravity along the plane."""
    R = so3.exp(np.array(tilt))
    n, down = R[:, 2], R @ np.array([across, 0, -G])
    model = ts.Model("ball", gravity=tuple(down))
    e = model.parameter("e", 0.5)
    body = model.body("ball", mass=0.7, inertia=(0.1, 0.2, 0.15), at=tuple(np.array(at) + height * n))
    model.add(ts.Contact("floor", model.ground, body, normal=tuple(n), plane=at, restitution=e))
    return model


def bounces(e, until, height=1.0):
    """Times of the bounces before `until`, and the Zeno limit: T₀ + 2 T₀ (e + e² + …)."""
    first = np.sqrt(2 * height / G)
    if e == 1:
        return first * np.arange(1, until / first + 1, 2), np.inf
    times = first + 2 * first * e * (1 - e ** np.arange(4000)) / (1 - e)
    return times[times < until], first * (1 + e) / (1 - e)


PLACES = {
    "at the origin": {},
    "far away, tilted": {"at": (100.0, 50.0, 30.0), "tilt": (0.3, -0.4, 0.2)},
    "far away, sliding off": {"at": (100.0, 50.0, 30.0), "tilt": (0.3, -0.4, 0.2), "across": 2.0},
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("e", [0.0, 0.5, 0.8, 0.95, 1.0])
def test_a_ball_bounces_at_the_exact_instants_and_rests_at_the_exact_limit(e, place):
    until = {0.0: 1.0, 0.5: 2.0, 0.8: 5.0, 0.95: 20.0, 1.0: 20.0}[e]
    data = ts.simulate(ball(**PLACES[place]), until, outputs=20, parameters={"e": e})
    times, limit = data.event_time.values, bounces(e, until)[1]
    exact = bounces(e, until)[0][: len(times)]
    if e == 1:
        assert len(times) == len(exact)
        return np.testing.assert_allclose(times, exact, rtol=0, atol=EXACT)
    resolved = len(times) - 1  # the last one closes the contact: it stands for all that is left, and has its time
    assert e == 0 or resolved > 10
    # a position that is rounded by δ moves a bounce by δ/v, and with it all that is left of the series by 2 δ/(v (1 − e))
    where = PLACES[place]
    rounding = 2e-16 * (np.linalg.norm(where.get("at", 0.0)) + where.get("across", 0.0) / 2 * limit**2)
    bound = EXACT + 2 * rounding / (np.sqrt(2 * G) * max(e, 0.1) ** np.arange(len(times)) * (1 - e))
    assert np.all(np.abs(times - exact)[:resolved] < bound[:resolved])
    assert abs(times[-1] - limit) < (bound[-1] if e > 0 else EXACT)
    assert set(data.event_name.values) == {"floor.touch"}
    rest = data.time.values > limit
    n = so3.exp(np.array(PLACES[place].get("tilt", (0, 0, 0.0))))[:, 2]
    assert rest.any() and np.abs(data.velocity.values[rest, 0] @ n).max() < 1e-10
    np.testing.assert_allclose(data.multiplier.values[rest, 0], 0.7 * G, rtol=1e-9)


def test_speeds_and_impulses_of_a_bounce_are_those_of_newton():
    """v⁺ = −e v⁻, Λ = (1 + e) m |v⁻|, energy lost (1 − e²) m v²/2."""
    data = ts.simulate(ball(), 1.2, outputs=4, parameters={"e": 0.8})
    v = np.sqrt(2 * G)
    np.testing.assert_allclose(data.event_impulse.values[:2, 0], 1.8 * 0.7 * v * np.array([1, 0.8]), rtol=1e-11)
    np.testing.assert_allclose(data.event_energy.values[:2], -0.36 * 0.7 * v**2 / 2 * np.array([1, 0.64]), rtol=1e-11)
    assert data.attrs["energy_balance_relative"] < 1e-11


@pytest.mark.parametrize("second", [1.0, 1.7])
def test_balls_that_land_together_and_apart_do_not_disturb_each_other(second):
    model = ts.Model("balls", gravity=(0, 0, -G))
    heights = model.parameter("h", 1.0)
    for k, h in enumerate((1.0, heights)):
        body = model.body(f"ball{k}", mass=1.0 + k, inertia=(0.1, 0.2, 0.15), at=(k, 0, h))
        model.add(ts.Contact(f"floor{k}", model.ground, body, plane=(0, 0, 0), restitution=0.3 + 0.2 * k))
    data = ts.simulate(model, 2.0, outputs=5, parameters={"h": second})
    for k, (h, e) in enumerate(((1.0, 0.3), (second, 0.5))):
        times = data.event_time.values[data.event_name.values == f"floor{k}.touch"]
        exact, limit = bounces(e, 2.0, h)
        assert len(times) > 5
        np.testing.assert_allclose(times[:-1], exact[: len(times) - 1], rtol=0, atol=EXACT)
        assert abs(times[-1] - limit) < EXACT


# a pendulum and a stop: the vehicle on which every formulation, method and projection is tried

L, M, J = 0.8, 1.3, 0.1
K2 = M * G * L / (J + M * L**2)  # θ̈ = −K2 sin θ
START, STOP, E = 1.9, -0.35, 0.7


def pendulum(restitution=E, start=START, **stops):
    model = models.pendulum(mass=M, inertia=(0.2, J, 0.15), at=(0, 0, -L), start=start)
    model.add(ts.Limit("stop", model["hinge"], restitution=restitution, **(stops or {"lower": STOP})))
    return model


def fall(stop, depth):
    """Time from rest at stop + depth to the stop: ∫ dθ/√(2 K2 (cos θ − cos top)) with θ = top − s², which is smooth."""
    top, (x, w) = stop + depth, np.polynomial.legendre.leggauss(60)
    s = np.sqrt(depth) * (x + 1) / 2
    return np.sqrt(depth) / 2 * w @ (s / np.sqrt(K2 * np.sin(top - s**2 / 2) * np.sin(s**2 / 2)))


def hits(top, stop, e, count):
    """Times at which a pendulum that starts at rest at `top` > stop hits the stop; a hit keeps e² of the energy over it."""
    energy, depth, times = np.cos(stop) - np.cos(top), top - stop, []
    for k in range(count):
        times.append(fall(stop, depth) if k == 0 else times[-1] + 2 * fall(stop, depth))
        energy *= e**2
        excess = lambda x, energy=energy: 2 * np.sin(stop + x / 2) * np.sin(x / 2) - energy
        depth = brentq(excess, (0.0 if stop >= 0 else -2 * stop), depth, xtol=1e-300, rtol=1e-15)
    return np.array(times)


def test_the_oracle_agrees_with_elliptic_integrals():
    m = np.sin(START / 2) ** 2
    elliptic = (ellipk(m) - ellipkinc(np.arcsin(np.sin(STOP / 2) / np.sqrt(m)), m)) / np.sqrt(K2)
    assert abs(fall(STOP, START - STOP) - elliptic) < 1e-14


def test_a_pendulum_hits_its_stop_at_the_times_of_the_elliptic_integrals():
    data = ts.simulate(pendulum(), 6.0, outputs=10)
    exact = hits(START, STOP, E, 20)
    exact = exact[exact < 6.0]
    assert len(exact) > 3 and data.sizes["event"] == len(exact)
    np.testing.assert_allclose(data.event_time, exact, rtol=0, atol=EXACT)
    speed = np.sqrt(2 * K2 * (np.cos(STOP) - np.cos(START)))
    np.testing.assert_allclose(data.event_impulse.values[0, -1], (1 + E) * (J + M * L**2) * speed, rtol=1e-10)


def test_a_pendulum_falls_to_rest_on_a_stop_after_infinitely_many_hits():
    """A stop on the far side of the lowest point: the hits accumulate, and the pendulum leans on it with M g L sin θ."""
    stop = 0.4
    data = ts.simulate(pendulum(0.3, lower=stop), 3.0, outputs=30)
    exact = hits(START, stop, 0.3, 40)
    assert data.sizes["event"] > 8
    np.testing.assert_allclose(data.event_time[:-1], exact[: data.sizes["event"] - 1], rtol=0, atol=EXACT)
    assert abs(data.event_time.values[-1] - exact[-1]) < EXACT
    row = list(data.constraint.values).index("stop[0]")
    np.testing.assert_allclose(data.coordinate.values[-5:, 0], stop, atol=1e-12)
    np.testing.assert_allclose(data.multiplier.values[-5:, row], M * G * L * np.sin(stop), rtol=1e-9)


def test_a_pendulum_between_two_stops_hits_them_in_turn():
    data = ts.simulate(pendulum(1.0, start=0.0, lower=-0.5, upper=0.3), 0.1, outputs=1)
    assert data.sizes["event"] == 0  # at rest
    model = ts.Model("pendulum", gravity=(0, 0, -G))
    bob = model.body("bob", mass=M, inertia=(0.2, J, 0.15), at=(0, 0, -L))
    hinge = model.add(ts.Revolute("hinge", model.ground, bob, axis=(0, 1, 0), point=(0, 0, 0), start_rate=4.0))
    model.add(ts.Limit("stop", hinge, lower=-0.5, upper=0.3, restitution=1.0))
    data = ts.simulate(model, 2.0, outputs=4)
    rate = lambda x: np.sqrt(16.0 - 2 * K2 * (1 - np.cos(x)))
    up, down = (quad(lambda x: 1 / rate(x), 0, a, epsabs=1e-14)[0] for a in (0.3, 0.5))
    exact = up + (up + down) * np.arange(data.sizes["event"])
    np.testing.assert_allclose(data.event_time, exact, rtol=0, atol=EXACT)
    assert list(data.event_name.values[:4]) == ["stop.upper", "stop.lower"] * 2


WAYS = [
    {"formulation": "relative"},
    {"formulation": "woronetz"},
    {"projection": "none"},
    {"projection": "baumgarte"},
    {"projection": "partition"},
    {"method": "rkmk4", "step": 2e-3},
    {"method": "rkmk4", "step": 2e-3, "formulation": "relative", "map": "cayley"},
    {"method": "rkmk54", "step": 1e-2, "formulation": "woronetz", "projection": "partition"},
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(str(x) for x in way.values()))
def test_every_way_to_run_meets_the_stop_at_the_same_times(way):
    """Without a projection, and with Baumgarte's, the constraints drift by what the tolerance allows: some 1e-9."""
    data = ts.simulate(pendulum(), 2.0, outputs=4, **way)
    exact = hits(START, STOP, E, data.sizes["event"])
    assert data.sizes["event"] >= 2
    loose = way.get("projection") in ("none", "baumgarte") or way.get("method") is not None
    np.testing.assert_allclose(data.event_time, exact, rtol=0, atol=1e-8 if loose else EXACT)


def test_the_lie_euler_method_finds_its_own_instants():
    """First order: an error of the size of the step, and an event that is exact on the method's own motion."""
    data = ts.simulate(pendulum(), 1.5, outputs=2, method="lie-euler", step=1e-4, formulation="relative")
    assert abs(data.event_time.values[0] - hits(START, STOP, E, 1)[0]) < 2e-4
    assert data.attrs["position_drift_max"] < 1e-12


# play, slots


def test_a_pin_in_a_slot_runs_to_and_fro_more_slowly_each_time():
    """Between walls at ±c/2 with restitution e: intervals c/v, c/(e v), c/(e² v) …"""
    c, v, e = 0.3, 2.0, 0.8
    model = ts.Model("slot")
    pin = model.body("pin", mass=0.5, inertia=(0.1, 0.2, 0.3), at=(1, 2, 3), velocity=(0.4, 0, v))
    model.add(ts.Slot("slot", model.ground, pin, clearance=c, restitution=e))
    data = ts.simulate(model, 1.5, outputs=5)
    n = np.arange(data.sizes["event"])
    exact = c / 2 / v + c / v * (e**-n - 1) / (1 / e - 1) / e
    assert len(n) >= 5
    np.testing.assert_allclose(data.event_time, exact, rtol=0, atol=EXACT)
    assert list(data.event_name.values[:3]) == ["slot.upper", "slot.lower", "slot.upper"]
    np.testing.assert_allclose(data.position.values[:, 0, 0], 1 + 0.4 * data.time.values, atol=1e-12)


@pytest.mark.parametrize("e", [1.0, 0.6])
def test_gears_with_play_hit_each_other_and_keep_what_momentum_there_is(e):
    """u = ω − i ω': u⁺ = −e u⁻, and i J ω + J' ω' is conserved since the impulse on the second is −i times that on the first."""
    J1, J2, i, play, w1, w2 = 0.5, 0.3, 0.5, 0.1, 3.0, 1.0
    model = ts.Model("gears")
    hinges = []
    for k, (inertia, w) in enumerate(((J1, w1), (J2, w2))):
        wheel = model.body(f"wheel{k}", mass=1.0, inertia=(0.4, 0.4, inertia), at=(k, 0, 0))
        hinges.append(model.add(ts.Revolute(f"axle{k}", model.ground, wheel, axis=(0, 0, 1), start_rate=w)))
    model.add(ts.Backlash("teeth", *hinges, ratio=i, play=play, restitution=e))
    data = ts.simulate(model, 0.3, outputs=30)
    u = w1 - i * w2
    n = np.arange(data.sizes["event"])
    exact = play / 2 / u + (play / u * n if e == 1 else play / u * (e**-n - 1) / (1 / e - 1) / e)
    assert len(n) >= 2
    np.testing.assert_allclose(data.event_time, exact, rtol=0, atol=EXACT)
    w = data.rate.values
    np.testing.assert_allclose(i * J1 * w[:, 0] + J2 * w[:, 1], i * J1 * w1 + J2 * w2, rtol=1e-12)
    hit = np.searchsorted(exact, data.time.values)
    apart = np.abs(data.time.values[:, None] - exact).min(axis=1) > EXACT  # at the instant itself both values are right
    np.testing.assert_allclose((w[:, 0] - i * w[:, 1])[apart], (u * (-e) ** hit)[apart], rtol=1e-10)


def test_a_driven_gear_takes_the_other_along_after_the_play_is_used_up():
    """A motor torque T on the first, none on the second: apart at first, then together as one inertia."""
    J1, J2, i, play, T = 0.5, 0.3, 2.0, 0.2, 1.5
    model = ts.Model("gears")
    hinges = []
    for k, inertia in enumerate((J1, J2)):
        wheel = model.body(f"wheel{k}", mass=1.0, inertia=(0.4, 0.4, inertia), at=(k, 0, 0))
        hinges.append(model.add(ts.Revolute(f"axle{k}", model.ground, wheel, axis=(0, 0, 1))))
    model.add(ts.Backlash("teeth", *hinges, ratio=i, play=play))
    model.add(ts.JointForce("motor", hinges[0], value=T))
    data = ts.simulate(model, 2.0, outputs=20)
    t1 = np.sqrt(play * J1 / T)
    assert data.sizes["event"] == 1 and abs(data.event_time.values[0] - t1) < EXACT
    whole = J1 + J2 / i**2
    w0 = J1 * (T / J1 * t1) / whole
    t, after = data.time.values, data.time.values > t1
    np.testing.assert_allclose(data.rate.values[after, 0], w0 + T / whole * (t[after] - t1), rtol=1e-9)
    np.testing.assert_allclose(i * data.rate.values[after, 1], data.rate.values[after, 0], rtol=1e-11)
