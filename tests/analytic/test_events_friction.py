"""Dry friction, brakes and clutches against piecewise closed forms."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import torsor as ts

EXACT = 1e-10  # [s] at the default tolerance
G = 9.81


# a block on a belt

MASS, K, BELT, KINETIC, STATIC = 1.2, 50.0, 0.4, 0.25, 0.45


def belt(normal=None, hosted=False, start=BELT):
    """A block on a moving belt, tied to the wall by a spring: on a rail along the belt, or loose on the belt."""
    model = ts.Model("belt", gravity=(0, 0, -G))
    moving = model.add(ts.Ground("moving", at=(BELT * ts.time, 0, 0)))
    block = model.body("block", mass=MASS, inertia=(0.1, 0.1, 0.1), velocity=(start, 0, 0))
    model.add(ts.EnergyForce("spring", energy=K / 2 * block.position[0] ** 2))
    if hosted:
        on = model.add(ts.Contact("on", moving, block, normal=(0, 0, 1)))
    else:
        on = model.add(ts.Prismatic("on", moving, block, axis=(1, 0, 0)))
    model.add(ts.Friction("rub", on, coefficient=KINETIC, static=STATIC, normal=normal))
    return model


def stick_slip(count):
    """Times at which it starts to slip and sticks again, from sticking at x = 0."""
    w, high, middle = np.sqrt(K / MASS), STATIC * MASS * G / K, KINETIC * MASS * G / K
    a = high - middle
    slips, sticks = (2 * np.pi - 2 * np.arctan(a * w / BELT)) / w, 2 * a / BELT
    times = [high / BELT]
    while len(times) < count:
        times += [times[-1] + slips, times[-1] + slips + sticks]
    return np.array(times[:count])


@pytest.mark.parametrize("hosted", [False, True], ids=["rail", "contact"])
def test_a_block_on_a_belt_sticks_and_slips_at_the_exact_instants(hosted):
    data = ts.simulate(belt(hosted=hosted), 5.0, outputs=30)
    exact = stick_slip(30)
    exact = exact[exact < 5.0]
    assert len(exact) >= 7
    own = np.array([name.startswith("rub") for name in data.event_name.values])
    np.testing.assert_allclose(data.event_time.values[own], exact, rtol=0, atol=EXACT)
    names = data.event_name.values[own]
    assert list(names[:4]) == ["rub.slide", "rub.stick"] * 2
    assert data.attrs["energy_balance_relative"] < 1e-9


WAYS = [
    {"formulation": "relative"},
    {"formulation": "woronetz"},
    {"projection": "partition"},
    {"projection": "baumgarte"},
    {"projection": "none"},
    {"method": "rkmk4", "step": 2e-3},
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(str(x) for x in way.values()))
def test_every_way_to_run_slips_at_the_same_times(way):
    data = ts.simulate(belt(), 1.5, outputs=5, **way)
    exact = stick_slip(30)
    loose = way.get("projection") in ("none", "baumgarte") or "method" in way
    assert data.sizes["event"] == (exact < 1.5).sum() >= 3
    np.testing.assert_allclose(data.event_time, exact[exact < 1.5], rtol=0, atol=1e-8 if loose else EXACT)


# an inclined plane


def incline(angle, speed, mu, static=None, lateral=0.0):
    """A block that touches an inclined plane in one point at its centre; x up the plane, y across it."""
    model = ts.Model("incline")
    model.gravity = (-G * np.sin(angle), 0, -G * np.cos(angle))
    block = model.body("block", mass=2.0, inertia=(0.1, 0.2, 0.3), at=(3, 2, 1), velocity=(speed, lateral, 0))
    floor = model.add(ts.Contact("floor", model.ground, block))
    model.add(ts.Friction("rub", floor, coefficient=mu, static=static))
    return model


def test_a_block_on_an_incline_stops_and_stays_where_friction_holds_it():
    angle, v, mu = 0.3, 2.0, 0.4  # tan 0.3 = 0.309
    data = ts.simulate(incline(angle, v, mu), 1.0, outputs=20)
    brake = G * (np.sin(angle) + mu * np.cos(angle))
    own = data.event_name.values == "rub.stick"
    assert own.sum() == 1 and abs(data.event_time.values[own][0] - v / brake) < EXACT
    x = data.position.values[:, 0, 0] - 3
    after = data.time.values > v / brake
    np.testing.assert_allclose(x[after], v**2 / 2 / brake, atol=1e-10)
    rows = [list(data.constraint.values).index(f"rub[{k}]") for k in range(2)]
    pull = np.hypot(*data.multiplier.values[after][:, rows].T)
    np.testing.assert_allclose(pull, 2 * G * np.sin(angle), rtol=1e-9)


@pytest.mark.parametrize("static", [None, 0.305])
def test_a_block_on_a_steep_incline_stops_and_slides_back(static):
    angle, v, mu = 0.3, 2.0, 0.2
    data = ts.simulate(incline(angle, v, mu, static), 1.5, outputs=20)
    up, down = G * (np.sin(angle) + mu * np.cos(angle)), G * (np.sin(angle) - mu * np.cos(angle))
    turn, t = v / up, data.time.values
    assert np.abs(data.event_time.values - turn).min() < EXACT
    x = np.where(t < turn, v * t - up * t**2 / 2, v**2 / 2 / up - down * (t - turn) ** 2 / 2)
    np.testing.assert_allclose(data.position.values[:, 0, 0] - 3, x, atol=1e-9)


def test_a_block_that_starts_across_an_incline_follows_the_law_of_coulomb_in_the_plane():
    """v̇ = −g sin α e_x − μ g cos α v/|v|, by another integrator; it comes to rest after a curved path."""
    angle, mu, v0 = 0.3, 0.5, np.array([1.0, 2.0])
    data = ts.simulate(incline(angle, v0[0], mu, lateral=v0[1]), 2.0, outputs=20)

    def f(t, y):
        v = y[2:]
        return np.r_[v, -G * np.sin(angle) * np.array([1, 0]) - mu * G * np.cos(angle) * v / np.hypot(*v)]

    slow = lambda t, y: np.hypot(*y[2:]) - 1e-5
    slow.terminal = True
    other = solve_ivp(
        f, (0, 2), np.r_[0, 0, v0], method="DOP853", rtol=1e-12, atol=1e-13, events=slow, dense_output=True
    )
    end = other.t[-1]
    own = data.event_name.values == "rub.stick"
    assert own.sum() == 1 and 0 <= data.event_time.values[own][0] - end < 2e-5  # from 1e-5 m/s to rest
    before = data.time.values < end
    assert 5 < before.sum() < 20
    np.testing.assert_allclose(
        data.position.values[before, 0, :2] - [3, 2], other.sol(data.time.values[before])[:2].T, atol=1e-8
    )
    np.testing.assert_allclose(data.velocity.values[~before, 0], 0, atol=1e-9)


@pytest.mark.parametrize("way", [{"formulation": "relative"}, {"formulation": "woronetz"}, {"method": "rkmk4", "step": 1e-3}],
                         ids=["relative", "woronetz", "rkmk4"])  # fmt: skip
def test_every_way_to_run_stops_on_the_incline_at_the_same_time(way):
    angle, v, mu = 0.3, 2.0, 0.4
    data = ts.simulate(incline(angle, v, mu), 1.0, outputs=4, **way)
    own = data.event_name.values == "rub.stick"
    exact = v / (G * (np.sin(angle) + mu * np.cos(angle)))
    assert own.sum() == 1 and abs(data.event_time.values[own][0] - exact) < EXACT


# a ball that slides and rolls

R, M = 0.11, 7.0


def bowl(v, spin, mu=0.2, bounce=0.0, height=0.0, method=None):
    model = ts.Model("bowl", gravity=(0, 0, -G))
    ball = model.body(
        "ball", mass=M, inertia=(0.4 * M * R**2,) * 3, at=(0, 0, R + height), velocity=tuple(v), angular_velocity=tuple(spin),
        rotation=(0, 0, 0),
    )  # fmt: skip
    floor = model.add(ts.Contact("floor", model.ground, ball, radius=R, plane=(0, 0, 0), restitution=bounce))
    model.add(ts.Friction("rub", floor, coefficient=mu))
    return model


@pytest.mark.parametrize("spin", [(0, 0, 0), (0, -30.0, 0), (40.0, 10.0, 25.0)], ids=["none", "back", "oblique"])
def test_a_ball_slides_until_it_rolls(spin):
    """The sliding velocity u = v + ω × (−R n) keeps its direction and falls by 7/2 μ g: v ends at v₀ − 2/7 u₀."""
    v, mu = np.array([3.0, 0, 0]), 0.2
    data = ts.simulate(bowl(v, spin, mu), 2.5, outputs=10)
    u = v + np.cross(spin, [0, 0, -R])
    when = 2 * np.linalg.norm(u) / (7 * mu * G)
    own = data.event_name.values == "rub.stick"
    assert own.sum() == 1 and abs(data.event_time.values[own][0] - when) < EXACT
    after = data.time.values > when
    assert after.sum() > 2
    np.testing.assert_allclose(data.velocity.values[after, 0], np.tile(v - 2 / 7 * u, (after.sum(), 1)), atol=1e-9)
    w = np.einsum("tij,tj->ti", data.rotation.values[:, 0], data.angular_velocity.values[:, 0])
    np.testing.assert_allclose((data.velocity.values[:, 0] + np.cross(w, [0, 0, -R]))[after], 0, atol=1e-9)
    np.testing.assert_allclose(w[:, 2], spin[2], atol=1e-10)
    assert np.all(np.abs(data.position.values[:, 0, 2] - R) < 1e-12)
    assert data.attrs["energy_balance_relative"] < 1e-9


# shafts

J1, J2 = 0.8, 0.3


def shafts(torque=2.0, static=None, motor=0.0, rates=(10.0, 1.0), first_ground=False):
    model = ts.Model("shafts")
    bodies, hinges = [], []
    for k, (J, w) in enumerate(zip((J1, J2), rates)):
        body = model.body(f"shaft{k}", mass=1.0, inertia=(0.5, 0.5, J), at=(0, 0, k))
        bodies.append(body)
        hinges.append(model.add(ts.Revolute(f"bearing{k}", model.ground, body, axis=(0, 0, 1), start_rate=w)))
    model.add(ts.JointForce("motor", hinges[0], value=motor))
    model.add(ts.Clutch("clutch", model.ground if first_ground else bodies[1], bodies[0], torque=torque, static=static))
    return model


@pytest.mark.parametrize("way", [{}, {"formulation": "relative"}, {"formulation": "woronetz"}, {"projection": "partition"}],
                         ids=["absolute", "relative", "woronetz", "partition"])  # fmt: skip
def test_a_clutch_brings_two_shafts_to_one_speed(way):
    """ω₁ − ω₂ falls by T (1/J₁ + 1/J₂); the common speed is that of the angular momentum."""
    data = ts.simulate(shafts(), 2.0, outputs=20, **way)
    when = 9.0 / (2.0 * (1 / J1 + 1 / J2))
    assert list(data.event_name.values) == ["clutch.stick"] and abs(data.event_time.values[0] - when) < EXACT
    t = data.time.values
    common = (10 * J1 + 1 * J2) / (J1 + J2)
    w1 = np.where(t < when, 10 - 2.0 / J1 * t, common)
    w2 = np.where(t < when, 1 + 2.0 / J2 * t, common)
    np.testing.assert_allclose(data.rate.values, np.c_[w1, w2], atol=1e-10)


def test_a_clutch_slips_again_where_a_rising_motor_torque_exceeds_what_it_holds():
    """Sticking it carries c t J₂/(J₁ + J₂); beyond the static torque it slips with the kinetic one."""
    c, T, static = 3.0, 2.0, 2.5
    data = ts.simulate(shafts(T, static, motor=c * ts.time, rates=(1.0, 1.0)), 6.0, outputs=30)
    when = static * (J1 + J2) / (c * J2)
    assert list(data.event_name.values) == ["clutch.slide"] and abs(data.event_time.values[0] - when) < EXACT
    t = data.time.values
    w0 = 1 + c * when**2 / 2 / (J1 + J2)
    w1 = np.where(t < when, 1 + c * t**2 / 2 / (J1 + J2), w0 + (c * (t**2 - when**2) / 2 - T * (t - when)) / J1)
    w2 = np.where(t < when, 1 + c * t**2 / 2 / (J1 + J2), w0 + T * (t - when) / J2)
    np.testing.assert_allclose(data.rate.values, np.c_[w1, w2], rtol=1e-9)


def test_a_brake_stops_a_shaft_and_holds_it():
    data = ts.simulate(shafts(first_ground=True, motor=1.2), 20.0, outputs=20)
    when = 10 * J1 / (2.0 - 1.2)
    assert list(data.event_name.values) == ["clutch.stick"] and abs(data.event_time.values[0] - when) < EXACT
    after = data.time.values > when
    np.testing.assert_allclose(data.rate.values[after, 0], 0, atol=1e-11)
    np.testing.assert_allclose(data.rate.values[:, 1], 1.0, atol=1e-12)


def test_bearing_friction_stops_a_pendulum_where_the_torque_of_gravity_is_below_it():
    """A given load N: torque μ N r against the motion. Between turning points the energy falls by μ N r |Δθ|."""
    m, L, mu, N, r = 1.0, 0.5, 0.3, 20.0, 0.05
    model = ts.Model("pendulum", gravity=(0, 0, -G))
    bob = model.body("bob", mass=m, inertia=(0.1, 0.1, 0.1), at=(0, 0, -L))
    hinge = model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0), start=1.2))
    model.add(ts.Friction("rub", hinge, coefficient=mu, normal=N, radius=r))
    data = ts.simulate(model, 12.0, outputs=[0.0, 12.0])
    torque, top, turns = mu * N * r, 1.2, []
    while m * G * L * np.sin(abs(top)) > torque:
        left = lambda x, top=top: m * G * L * (np.cos(x) - np.cos(top)) - torque * (top - x) * np.sign(top)
        top = brentq(left, *sorted((-top, 0.99 * np.sign(top) * np.arcsin(torque / (m * G * L)))), xtol=1e-14)
        turns.append(top)
    assert len(turns) > 3
    assert data.event_name.values[-1] == "rub.stick"
    np.testing.assert_allclose(data.coordinate.values[-1, 0], turns[-1], atol=1e-9)
    assert data.attrs["energy_balance_relative"] < 1e-9


@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz"])
@pytest.mark.parametrize("offset", [0.0, 0.03])
def test_a_slider_rubs_on_both_sides_of_its_dead_centres(formulation, offset):
    """At a dead centre the slider stands still by its geometry: friction sticks to nothing there, and has turned after it.

    E(θ) = E₀ − c ∫ |dx/dθ| dθ,     x = r cos θ + √(l² − (r sin θ − e)²)
    """
    r, l, c = 0.2, 0.5, 3.0
    model = ts.Model("crank")
    wheel = model.body("wheel", mass=5.0, inertia=(0.2, 0.2, 0.4), angular_velocity=(0, 0, 12.0))
    angle = np.arcsin((offset - r * np.sin(0.3)) / l)  # of the rod, where the crank starts at 0.3 rad
    pin = r * np.array([np.cos(0.3), np.sin(0.3), 0])
    end = pin + l * np.array([np.cos(angle), np.sin(angle), 0])
    rod = model.body("rod", mass=0.5, inertia=(1e-3, 0.01, 0.01), at=(pin + end) / 2, rotation=(0, 0, angle))
    slider = model.body("slider", mass=0.8, inertia=(1e-3, 1e-3, 1e-3), at=end)
    shaft = model.add(ts.Revolute("shaft", model.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ts.Revolute("pin", wheel, rod, point=pin, axis=(0, 0, 1)))
    model.add(ts.Revolute("eye", rod, slider, point=end, axis=(0, 0, 1)))
    guide = model.add(ts.Prismatic("guide", model.ground, slider, axis=(1, 0, 0)))
    model.add(ts.Friction("rub", guide, coefficient=0.3, normal=c / 0.3))
    data = ts.simulate(model, 1.5, outputs=60, formulation=formulation)
    theta = 0.3 + data.coordinate.sel(joint_coordinate="shaft").values
    assert theta[-1] > 12 and shaft.dof == 1  # two turns
    fine = np.linspace(0.3, theta[-1], 200_001)
    path = np.append(0, np.cumsum(np.abs(np.diff(r * np.cos(fine) + np.sqrt(l**2 - (r * np.sin(fine) - offset) ** 2)))))
    lost = c * np.interp(theta, fine, path)
    energy = data.kinetic_energy.values
    np.testing.assert_allclose(energy, energy[0] - lost, rtol=1e-6)


@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz"])
@pytest.mark.parametrize("begins, power", [(0.0, 2), (0.0, 4), (0.5, 3), (0.5, 4)])
@pytest.mark.parametrize("manner", [{}, {"method": "rkmk4", "step": 0.01}], ids=str)
def test_friction_slides_when_a_drive_that_holds_the_same_begins_to_move(begins, power, formulation, manner):
    """While the drive rests friction sticks to what rests anyway; then F = m ẍ + c, and back again F = m ẍ − c."""
    m, c = 2.0, 1.0
    model = ts.Model("driven")
    body = model.body("body", mass=m, inertia=(1, 1, 1))
    guide = model.add(ts.Prismatic("guide", model.ground, body, axis=(1, 0, 0)))
    s = ca.fmax(0, ts.time - begins)
    way = s**power * (1.2 - s)  # forth, and back
    model.add(ts.Drive("servo", guide, value=way))
    model.add(ts.Friction("rub", guide, coefficient=0.2, normal=c / 0.2))
    data = ts.simulate(model, begins + 1.4, outputs=28, formulation=formulation, **manner)
    t = data.time.values
    s = np.maximum(0, t - begins)
    speed = 1.2 * power * s ** (power - 1) - (power + 1) * s**power
    faster = 1.2 * power * (power - 1) * s ** (power - 2) - (power + 1) * power * s ** (power - 1)
    force = data.multiplier.values[:, [str(x) == "servo[0]" for x in data.constraint.values]].ravel()
    moves = np.abs(speed) > 1e-3
    np.testing.assert_allclose(force[moves], (m * faster + c * np.sign(speed))[moves], atol=1e-6)
    assert moves.sum() > 15 and (speed < 0).any()


@pytest.mark.parametrize("start", [0.0, 0.5])
def test_a_state_that_is_kicked_out_of_rest_is_followed(start):
    """Nothing has a size before it begins: neither the state nor the work of what follows it."""
    model = ts.Model("kicked")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    guide = model.add(ts.Prismatic("guide", model.ground, body, axis=(1, 0, 0)))
    wanted = ca.if_else(ts.time < start, 0.0, 1.2)
    y = model.state("y", rate=lambda y: [y[1], 400 * (wanted - y[0]) - 40 * y[1]], start=[0.0, 0.0])
    model.add(ts.Drive("servo", guide, value=y[0]))
    data = ts.simulate(model, 1.0, outputs=10)
    s = np.maximum(0, data.time.values - start)
    np.testing.assert_allclose(data.coordinate.values[:, 0], 1.2 * (1 - (1 + 20 * s) * np.exp(-20 * s)), atol=1e-7)
