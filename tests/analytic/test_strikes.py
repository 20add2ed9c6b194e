"""Strikes by a user's own events, against closed forms: whichever way condition and constraint are written."""

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import brentq

import torsor as ts

G = 9.81


def rebounds(t, e, height=1.0):
    """Height of a ball at times t that falls from rest and rebounds with e; it lies after the last of the rebounds."""
    start, speed = np.sqrt(2 * height / G), e * np.sqrt(2 * G * height)
    z = np.where(t < start, height - G * t**2 / 2, 0.0)
    while e > 0 and speed > 1e-9 and start < t[-1]:
        since, flight = t - start, 2 * speed / G
        z = np.where((since >= 0) & (since < flight), speed * since - G * since**2 / 2, z)
        start, speed = start + flight, e * speed
    return z


CONDITIONS = {
    "z <= 0": lambda z: z <= 0,
    "-7 z > 0": lambda z: -7 * z > 0,
    "falling(z)": ts.falling,
    "rising(-1000 z)": lambda z: ts.rising(-1000 * z),
    "crossing(z)": ts.crossing,
    "z <= 0 and t >= 0.1": lambda z: ca.logic_and(z <= 0, ts.time >= 0.1),
}
CONSTRAINTS = {"z": lambda z: z, "-z": lambda z: -z, "-1000 z": lambda z: -1000 * z, "z + z²": lambda z: z + z**2}
WAYS = [
    ("z <= 0", "z", "absolute", 30),
    ("z <= 0", "-1000 z", "relative", 1),
    ("-7 z > 0", "-z", "absolute", 2000),
    ("falling(z)", "z", "woronetz", 200),
    ("falling(z)", "z + z²", "absolute", 7),
    ("rising(-1000 z)", "-z", "relative", 30),
    ("crossing(z)", "z", "absolute", 13),
    ("crossing(z)", "-z", "relative", 200),
    ("z <= 0 and t >= 0.1", "-z", "absolute", 30),
]


@pytest.mark.parametrize(("condition", "constraint", "formulation", "outputs"), WAYS)
def test_a_ball_never_falls_through_a_floor_of_ones_own(condition, constraint, formulation, outputs):
    model = ts.Model("ball", gravity=(0, 0, -G))
    body = model.body("ball", mass=1.0, inertia=(1, 1, 1), at=(0, 0, 1))
    z = body.position[2]
    if formulation != "absolute":
        z = 1 + model.add(ts.Prismatic("guide", model.ground, body, axis=(0, 0, 1))).coordinate[0]
    e = model.parameter("e", 0.5)
    floor = model.add(ts.Holonomic("floor", CONSTRAINTS[constraint](z)), active=False)
    model.when(CONDITIONS[condition](z), ts.strike(floor, restitution=e), name="hit")
    for value in (0.0, 0.3, 0.5, 0.9, 1.0):
        data = ts.simulate(model, 3.0, outputs=outputs, formulation=formulation, parameters={"e": value})
        found = data.position.values[:, 0, 2]
        np.testing.assert_allclose(found, rebounds(data.time.values, value), atol=1e-8, err_msg=f"e = {value}")


@pytest.mark.parametrize("condition", ["z <= 0", "falling(z)", "crossing(z)"])
def test_what_leaves_a_floor_is_not_struck(condition):
    """Thrown up from the floor: the condition is true at once, and the way is free."""
    model = ts.Model("ball", gravity=(0, 0, -G))
    body = model.body("ball", mass=1.0, inertia=(1, 1, 1), velocity=(0, 0, 3.0))
    floor = model.add(ts.Holonomic("floor", -body.position[2]), active=False)
    model.when(CONDITIONS[condition](body.position[2]), ts.strike(floor, restitution=0.5), name="hit")
    data = ts.simulate(model, 0.9, outputs=9)
    t, flight = data.time.values, 2 * 3.0 / G
    exact = np.where(t < flight, 3 * t - G * t**2 / 2, 1.5 * (t - flight) - G * (t - flight) ** 2 / 2)
    np.testing.assert_allclose(data.position.values[:, 0, 2], exact, atol=1e-9)


def test_a_ceiling_is_struck_from_below():
    """Between a floor and a ceiling, without gravity: to and fro."""
    model = ts.Model("between")
    body = model.body("ball", mass=1.0, inertia=(1, 1, 1), velocity=(0, 0, 1.0))
    walls = [model.add(ts.Holonomic(f"wall{k}", body.position[2] - k), active=False) for k in (-1, 1)]
    model.when(ts.falling(1 + body.position[2]), ts.strike(walls[0], restitution=1.0), name="floor")
    model.when(ts.rising(body.position[2] - 1), ts.strike(walls[1], restitution=1.0), name="ceiling")
    data = ts.simulate(model, 40.3, outputs=13)
    np.testing.assert_allclose(data.event_time, np.arange(1, 41, 2), atol=1e-10)
    assert list(data.event_name.values) == ["ceiling", "floor"] * 10


STRINGS = {
    "l - r": lambda m, b: m.add(ts.Holonomic("string", 1 - ca.norm_2(b.position))),
    "r - l": lambda m, b: m.add(ts.Holonomic("string", ca.norm_2(b.position) - 1)),
    "r² - l²": lambda m, b: m.add(ts.Holonomic("string", ca.sumsqr(b.position) - 1)),
    "distance": lambda m, b: m.add(ts.Distance("string", m.ground, b, points=((0, 0, 0), (0, 0, -1)))),
}


def string(constraint, restitution, formulation):
    """A bob on a string of length 1 in a vertical plane, thrown so that the string becomes slack: v² = 3.5 g l."""
    model = ts.Model("string", gravity=(0, 0, -G))
    bob = model.body("bob", mass=1.0, inertia=(1, 1, 1), at=(0, 0, -1), velocity=(np.sqrt(3.5 * G), 0, 0))
    model.add(ts.PointOnPlane("plane", model.ground, bob, normal=(0, 1, 0)))
    line, r = STRINGS[constraint](model, bob), ca.norm_2(bob.position)
    state = model.modes("state", "taut", "loose")
    tension = ca.dot(bob.velocity, bob.velocity) - G * bob.position[2]  # m v²/l − m g·r/l
    model.when(ts.falling(tension), ts.release(line), ts.enter(state["loose"]), name="slack", during=state["taut"])
    then = [ts.enter(state["taut"])] if restitution == 0 else []
    model.when(ts.rising(r - 1), ts.strike(line, restitution=restitution), *then, name="taut", during=state["loose"])
    model.signal("r", r)
    return ts.simulate(model, 3.0, outputs=100, formulation=formulation)


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
@pytest.mark.parametrize("constraint", STRINGS)
def test_a_string_is_never_longer_than_it_is(constraint, formulation):
    """It becomes slack where v² = g z, at height z = v₀²/3g − 2/3 of the circle, and taut where the parabola meets it again."""
    for restitution in (0.5, 0.0):
        data = string(constraint, restitution, formulation)
        z = (3.5 - 2) / 3
        x, vx, vz = np.sqrt(1 - z**2), -z * np.sqrt(G * z), np.sqrt(1 - z**2) * np.sqrt(G * z)
        # |(x, z) + v t − g t²/2|² = 1 beyond the triple root t = 0: t = 4 v_z/g
        taut = 4 * vz / G
        slack = float(data.event_time[0])
        assert list(data.event_name.values[:2]) == ["slack", "taut"]
        np.testing.assert_allclose(data.event_time[1] - slack, taut, atol=1e-8)
        assert float(data.r.max()) < 1 + 1e-9
        end = (x + vx * taut, z + vz * taut - G * taut**2 / 2)
        np.testing.assert_allclose(np.hypot(*end), 1, atol=1e-12)
        lost = np.dot(end, (vx, vz - G * taut)) ** 2 / 2 * (1 - restitution**2)
        np.testing.assert_allclose(data.event_energy[1], -lost, rtol=1e-6)


def test_strikes_of_several_equations_or_of_velocities_are_refused():
    model = ts.Model("scene")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    pin = model.add(ts.Spherical("pin", model.ground, body), active=False)
    blade = model.add(ts.Nonholonomic("blade", body.velocity[0]), active=False)
    for target, said in ((pin, "'pin' has 3 equations"), (blade, "'blade' holds velocities")):
        with pytest.raises(ts.ModelError, match=f"event 'hit'.*strike.*{said}"):
            model.when(body.position[0] <= 0, ts.strike(target), name="hit")


def test_a_strike_where_the_constraint_does_not_hold_is_refused():
    model = ts.Model("ball", gravity=(0, 0, -G))
    body = model.body("ball", mass=1.0, inertia=(1, 1, 1), at=(0, 0, 1))
    floor = model.add(ts.Holonomic("floor", body.position[2]), active=False)
    model.when(body.position[2] <= 0.1, ts.strike(floor, restitution=0.5), name="hit")
    with pytest.raises(ts.RunError, match="'hit' strikes a constraint that is broken by 0.1"):
        ts.simulate(model, 3.0, outputs=3)


SPRING, MASS, LIFT, REST = 500.0, 0.2, 0.005, 0.02  # of a follower on a cam [N/m, kg, m, m]


def follower(speed, watch, active):
    """A follower that a spring presses on a cam, with a strike and a release of one's own: events after the start, least gap."""
    model = ts.Model("cam", gravity=(0, 0, -G))
    cam, body = model.body("cam", mass=1.0, inertia=(1, 1, 1)), model.body("follower", mass=MASS, inertia=(1, 1, 1))
    shaft = model.add(ts.Revolute("shaft", model.ground, cam, axis="y"))
    stem = model.add(ts.Prismatic("stem", model.ground, body, axis="z"))
    model.add(ts.TorsionSpring("spring", stem, stiffness=SPRING, rest=-REST))
    model.add(ts.Drive("motor", shaft, speed * ts.time))
    gap = stem.coordinate[0] - LIFT * (1 - ca.cos(shaft.coordinate[0]))
    touch = model.add(ts.Holonomic("touch", gap), active=active)
    model.when(watch(gap), ts.strike(touch), name="hit")
    model.when(touch.multiplier[0] <= 0, ts.release(touch), name="lift")
    model.signal("gap", gap)
    data = ts.simulate(model, 0.2, outputs=40)
    late = data.event_time.values > 0
    return list(zip(data.event_name.values[late], data.event_time.values[late])), float(data.gap.min())


def flights(speed):
    """When a follower leaves the cam and comes back, with the force N = m (g + z̈) + k (z + z₀)."""
    z = lambda t: LIFT * (1 - np.cos(speed * t))
    N = lambda t: MASS * (G + LIFT * speed**2 * np.cos(speed * t)) + SPRING * (z(t) + REST)
    w, mean = np.sqrt(SPRING / MASS), -REST - MASS * G / SPRING
    found, t = [], 0.0
    while True:
        times = np.linspace(t, 0.2, 20001)[1:]
        if not (N(times) < 0).any():
            return found
        k = np.argmax(N(times) < 0)
        t = brentq(N, times[k - 1], times[k], xtol=1e-14)
        found.append(("lift", t))
        a, b = z(t) - mean, LIFT * speed * np.sin(speed * t) / w
        gap = lambda s, t=t, a=a, b=b: mean + a * np.cos(w * (s - t)) + b * np.sin(w * (s - t)) - z(s)
        times = np.linspace(t + 1e-4, 0.2, 20001)
        if not (gap(times) < 0).any():
            return found
        k = np.argmax(gap(times) < 0)
        t = brentq(gap, times[k - 1], times[k], xtol=1e-14)
        found.append(("hit", t))


@pytest.mark.parametrize("watch", [ts.falling, ts.crossing, lambda gap: gap <= 0, lambda gap: ts.rising(-gap)])
@pytest.mark.parametrize("speed", [20.0, 80.0, 110.0, 150.0])
def test_a_gap_that_is_held_at_zero_is_not_struck_by_rounding(speed, watch):
    expected = flights(speed)
    assert bool(expected) == (speed == 150.0)
    for active in (True, False):
        found, least = follower(speed, watch, active)
        assert [name for name, _ in found] == [name for name, _ in expected] and least > -1e-12
        np.testing.assert_allclose([t for _, t in found], [t for _, t in expected], atol=1e-9)
