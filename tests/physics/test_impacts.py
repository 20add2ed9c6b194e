"""Impacts at several points at once: nothing gains energy, nothing pulls, impulses are momentum."""

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import torsor as ts

CORNERS = [(0.5, 0.3, -0.1), (-0.5, 0.3, -0.1), (-0.5, -0.3, -0.1), (0.5, -0.3, -0.1)]


def plate(count, coefficients, friction=None, gravity=9.81):
    """A box over a floor that it meets with some of its lower corners; how it falls is given by parameters."""
    model = ts.Model("plate", gravity=(0, 0, -gravity))
    given = [model.parameter(name, 0.0) for name in ("vx", "vy", "vz", "wx", "wy", "wz")]
    box = model.body(
        "box",
        mass=2.0,
        inertia=(0.2, 0.35, 0.5),
        at=(0, 0, 0.1),
        velocity=tuple(given[:3]),
        angular_velocity=tuple(given[3:]),
    )
    for k in range(count):
        floor = model.add(
            ts.Contact(
                f"corner{k}",
                model.ground,
                box,
                point=tuple(np.array(CORNERS[k]) + [0, 0, 0.1]),
                restitution=coefficients[k],
            )
        )
        if friction:
            model.add(ts.Friction(f"rub{k}", floor, coefficient=friction))
    return model


def start(seed):
    names = ("vx", "vy", "vz", "wx", "wy", "wz")
    random = np.random.default_rng(seed)
    return dict(zip(names, random.uniform(-1, 1, 6) + np.array([0, 0, -2.0, 0, 0, 0])))


def corner_speeds(data, k, count):
    x, R, v, w = (data[n].values[k, 0] for n in ("position", "rotation", "velocity", "angular_velocity"))
    return np.array([(v + R @ np.cross(w, CORNERS[c]))[2] for c in range(count)])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_several_corners_that_hit_at_once_never_gain_energy(count):
    """Random velocities, different coefficients: kinetic energy falls, no impulse pulls, and no corner goes on inwards."""
    e = (0.9, 0.1, 0.5)[:count]
    model = plate(count, e, gravity=0.0)
    for seed in range(12):
        given = start(seed)
        data = ts.simulate(model, 1e-9, outputs=[1e-9], parameters=given)  # just after it
        v, w = np.array(list(given.values()))[:3], np.array(list(given.values()))[3:]
        before = np.array([(v + np.cross(w, CORNERS[c]))[2] for c in range(count)])
        hit = before < 0
        assert hit.any() <= (data.sizes["event"] > 0)
        T0 = 2.0 * v @ v / 2 + w @ (np.array([0.2, 0.35, 0.5]) * w) / 2
        T1 = data.kinetic_energy.values[0]
        assert T1 <= T0 * (1 + 1e-12)
        np.testing.assert_allclose(data.event_energy.sum(), T1 - T0, atol=1e-11)
        assert data.event_impulse.values.min(initial=0) > -1e-11
        np.testing.assert_allclose(
            2.0 * (data.velocity.values[0, 0] - v), [0, 0, data.event_impulse.values.sum()], atol=1e-11
        )
        assert corner_speeds(data, 0, count).min() > -1e-10
        if count == 1 and hit.any():
            np.testing.assert_allclose(corner_speeds(data, 0, 1), -e[0] * before, rtol=1e-7)  # it has turned for 1 ns


def test_a_plate_that_falls_flat_on_equal_corners_rises_flat():
    """Three corners with one coefficient, purely downwards: v⁺ = −e v⁻ although the three impulses are not determined by hand."""
    data = ts.simulate(plate(3, (0.5,) * 3, gravity=0.0), 0.01, outputs=[0.01], parameters={"vz": -1.0})
    np.testing.assert_allclose(data.velocity.values[0, 0], [0, 0, 0.5], atol=1e-12)
    np.testing.assert_allclose(data.angular_velocity.values[0, 0], 0, atol=1e-12)


@pytest.mark.parametrize(("e", "until"), [(0.0, 0.1), (0.5, 0.5)])
def test_a_plate_falls_flat_on_four_corners(e, until):
    """One contact more than a rigid plate has freedoms to lose: redundant, not contradictory."""
    data = ts.simulate(plate(4, (e,) * 4), until, outputs=10, parameters={"vz": -1.0})
    assert data.event_impulse.values.min() > -1e-9
    np.testing.assert_allclose(data.angular_velocity.values[:, 0], 0, atol=1e-9)
    np.testing.assert_allclose(data.position.values[-1, 0], [0, 0, 0.1], atol=1e-9)
    np.testing.assert_allclose(data.velocity.values[-1, 0], 0, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_tumbling_plate_comes_to_rest_and_its_energy_is_accounted_for(seed):
    """A box thrown onto the floor with friction: certificate closed, energy never rises, no corner below the floor."""
    model = plate(3, (0.4, 0.4, 0.4), friction=0.5)
    given = start(seed) | {"wx": 0.2, "wy": -0.3}
    box = model["box"]
    heights = {f"h{k}": (box.position + box.rotation @ ca.DM(CORNERS[k]))[2] for k in range(3)}
    data = ts.simulate(model, 1.0, outputs=50, parameters=given, signals=heights)
    assert data.attrs["energy_balance_relative"] < 1e-8
    assert np.diff(data.energy.values).max() < 1e-9 and data.event_energy.values.max() < 1e-10
    assert min(data[h].values.min() for h in heights) > -1e-9


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_bodies_that_hit_each_other_keep_their_momentum(formulation):
    """A ball against the face of a free plate, off its centre: P and L stay, the approach is turned by −e."""
    e, m, M, J = 0.6, 0.5, 2.0, np.array([0.2, 0.35, 0.5])
    model = ts.Model("space")
    plate = model.body("plate", mass=M, inertia=tuple(J), angular_velocity=(0.3, 0, 0.1))
    ball = model.body("ball", mass=m, inertia=(0.01,) * 3, at=(0.3, 0.2, 1.0), velocity=(0, 0.1, -3.0))
    model.add(ts.Contact("face", plate, ball, plane=(0, 0, 0.1), radius=0.05, restitution=e))
    data = ts.simulate(model, 0.6, outputs=12, formulation=formulation)
    assert data.sizes["event"] == 1
    x, v, R, w = (data[k].values for k in ("position", "velocity", "rotation", "angular_velocity"))
    inertia = [np.diag(J), 0.01 * np.eye(3)]
    P = M * v[:, 0] + m * v[:, 1]
    L = sum(
        mass * np.cross(x[:, k], v[:, k]) + np.einsum("tij,tj->ti", R[:, k], w[:, k] @ inertia[k])
        for k, mass in enumerate((M, m))
    )
    np.testing.assert_allclose(P, np.tile(P[0], (13, 1)), atol=1e-11)
    np.testing.assert_allclose(L, np.tile(L[0], (13, 1)), atol=1e-9)
    n = R[:, 0, :, 2]
    height = np.einsum("ti,ti->t", n, x[:, 1] - x[:, 0])
    assert height.min() > 0.15 - 1e-12
    np.testing.assert_allclose(m * (v[-1, 1] - v[0, 1]), M * (v[0, 0] - v[-1, 0]), atol=1e-11)
    np.testing.assert_allclose(np.linalg.norm(m * (v[-1, 1] - v[0, 1])), data.event_impulse.values[0, 0], rtol=1e-9)
    assert data.attrs["energy_balance_relative"] < 1e-10


def test_a_row_of_balls_hands_the_momentum_on():
    """Elastic central impacts of equal balls exchange velocities: the last one leaves with the speed of the first."""
    model = ts.Model("row")
    balls = []
    for k in range(3):
        ball = model.body(f"ball{k}", mass=1.0, inertia=(0.1,) * 3, at=(1.5 * k, 0, 0), velocity=(2.0 * (k == 0), 0, 0))
        balls.append(ball)
        model.add(ts.Prismatic(f"rail{k}", model.ground, ball, axis=(1, 0, 0)))
    for k in range(2):
        model.add(
            ts.Contact(
                f"touch{k}",
                *balls[k : k + 2],
                normal=(1, 0, 0),
                radius=0.5,
                plane=(1.5 * k + 0.5, 0, 0),
                restitution=1.0,
            )
        )
    data = ts.simulate(model, 1.0, outputs=4)
    np.testing.assert_allclose(data.event_time, [0.25, 0.5], atol=1e-12)
    np.testing.assert_allclose(data.velocity.values[-1, :, 0], [0, 0, 2], atol=1e-11)


def test_an_impact_leaves_joints_whole():
    """A double pendulum hits a stop at its second joint: the reaction impulses of the hinges come with it."""
    model = ts.Model("double", gravity=(0, 0, -9.81))
    a = model.body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    b = model.body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1.5, 0, 0))
    model.add(ts.Revolute("h1", model.ground, a, point=(0, 0, 0), axis=(0, 1, 0)))
    elbow = model.add(ts.Revolute("h2", a, b, point=(1, 0, 0), axis=(0, 1, 0), start_rate=1.0))
    model.add(ts.Limit("stop", elbow, upper=0.4, restitution=0.5))
    runs = [ts.simulate(model, 1.5, outputs=6, formulation=f) for f in ("absolute", "relative", "woronetz")]
    assert runs[0].sizes["event"] >= 2
    for data in runs:
        np.testing.assert_allclose(data.event_time, runs[0].event_time, atol=1e-9)
        np.testing.assert_allclose(data.event_energy, runs[0].event_energy, atol=1e-8)
        np.testing.assert_allclose(data.position, runs[0].position, atol=1e-8)
        assert data.coordinate.values[:, -1].max() < 0.4 + 1e-12
        assert data.attrs["energy_balance_relative"] < 1e-9
        one = lambda d: d.event_impulse.sel(constraint="stop[0]").values
        np.testing.assert_allclose(one(data), one(runs[0]), rtol=1e-7)


def test_an_output_at_the_instant_of_an_impact_shows_the_state_after_it():
    """As with every other event, and at the start too: what rests on the floor is carried by it from the first output on."""
    data = ts.simulate(plate(1, (0.5,), gravity=0.0), 0.01, outputs=1, parameters={"vz": -1.0})
    assert data.event_time.values.tolist() == [0.0]
    np.testing.assert_allclose(data.event_energy, data.kinetic_energy.values[0] - 1.0, rtol=1e-12)
    model = ts.Model("rests", gravity=(0, 0, -9.81))
    block = model.body("block", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add(ts.Contact("floor", model.ground, block))
    data = ts.simulate(model, 0.1, outputs=1)
    np.testing.assert_allclose(data.acceleration.values[:, 0], 0, atol=1e-12)
    np.testing.assert_allclose(data.multiplier.values[:, 0], 9.81, rtol=1e-12)


def sleeve(size, formulation):
    """A thin rod that turns and slides on a driven arm meets a rough floor: three rows where two motions are left."""
    m, at = ts.Model("sleeve", gravity=(0, 0, -9.81 * size)), lambda *x: tuple(size * np.array(x))
    box = lambda mass, a, b, c: tuple(mass / 12 * size**2 * np.array([b * b + c * c, a * a + c * c, a * a + b * b]))
    arm = m.body("arm", mass=2.0, inertia=box(2.0, 1, 0.3, 0.2), at=at(0.5, 0, 1))
    rod = m.body("rod", mass=0.5, inertia=box(0.5, 1, 1e-4, 1e-4), at=at(1, 0.3, 1))
    hinge = m.add(ts.Revolute("hinge", m.ground, arm, point=at(0, 0, 1), axis=(0, 1, 0.2)))
    m.add(ts.Drive("drive", hinge, lambda t: 0.5 * t))
    m.add(ts.Cylindrical("sleeve", arm, rod, point=at(1, 0, 1), axis=(0.3, 0.2, -1), start_rate=(3.0, 0.5 * size)))
    foot = ts.Contact("foot", m.ground, rod, point=at(1.4, 0.5, 0.9), plane=at(0, 0, 0.6), restitution=0.3)
    m.add(ts.Friction("rub", m.add(foot), coefficient=0.2))
    return ts.simulate(m, 0.3, outputs=2, formulation=formulation, tolerance=1e-10)


@pytest.mark.parametrize("size", [1e-4, 1.0, 5e3])
def test_impacts_that_friction_cannot_stop_are_the_same_at_any_size_and_in_any_coordinates(size):
    mine, whole = sleeve(size, "absolute"), sleeve(1.0, "relative")
    assert list(mine.event_name.values) == list(whole.event_name.values) == ["foot.touch"]
    np.testing.assert_allclose(mine.event_impulse[0, -3:] / size, whole.event_impulse[0, -3:], atol=1e-8)
    np.testing.assert_allclose(mine.position.values / size, whole.position.values, atol=1e-8)


def test_a_loop_that_a_motor_sets_going_from_rest_strikes_a_stop():
    """A parallelogram in a slanted plane, whose hinges are redundant, is brought to rest by its stop but for rounding; as a
    rotor of inertia I under the torque Q it strikes at √(2 φ I/Q), then after 2 e ω I/Q, and so on."""
    turned, up = Rotation.from_rotvec((0.4, -0.9, 0.3)).as_matrix(), 0.5 * np.sqrt(0.75)
    model, r, torque, stop, e = ts.Model("slanted"), 0.5, 3.0, 0.4, 0.3
    corners = [turned @ corner for corner in ((0, 0, 0), (r / 2, up, 0), (1 + r / 2, up, 0), (1, 0, 0))]
    ends = [model.ground]
    for k, (a, b) in enumerate(zip(corners, corners[1:])):
        ends.append(model.body(f"bar{k}", mass=1.0 + k, inertia=(0.1, 0.1, 0.1), at=tuple((a + b) / 2)))
    ends.append(model.ground)
    pairs = enumerate(zip(ends, ends[1:], corners))
    hinges = [
        model.add(ts.Revolute(f"hinge{k}", a, b, point=tuple(c), axis=tuple(turned[:, 2]))) for k, (a, b, c) in pairs
    ]
    model.add(ts.JointForce("motor", hinges[0], torque))
    model.add(ts.Limit("stop", hinges[0], upper=stop, restitution=e))
    inertia = 2 * 0.1 + (1.0 + 3.0) * (r / 2) ** 2 + 2.0 * r**2
    speed = np.sqrt(2 * stop * torque / inertia)
    first = speed * inertia / torque
    data = ts.simulate(model, first * (1 + 2 * e + 2 * e**2) + 0.05, outputs=3, formulation="relative")
    expected = first + np.array([0, 2 * e, 2 * e + 2 * e**2]) * first
    assert np.abs(data.event_time.values[:3] - expected).max() < 1e-9
