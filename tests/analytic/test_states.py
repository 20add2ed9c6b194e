"""States of the user against closed forms: controllers, filters, hydraulics; in every formulation, with events, in components."""

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import expm

import torsor as ts

FORMULATIONS = ("absolute", "relative", "woronetz")
MANNERS = ({}, {"method": "rkmk4", "step": 2e-3}, {"method": "abm4", "step": 2e-3})


def linear(A, b, start, times):
    """x(t) of ẋ = A x + b."""
    n = len(b)
    whole = np.zeros((n + 1, n + 1))
    whole[:n, :n], whole[:n, n] = A, b
    return np.array([(expm(whole * t) @ [*start, 1.0])[:n] for t in times])


def motor(J=0.5, c=0.1, kp=4.0, ki=9.0, wanted=3.0):
    """A rotor whose speed a PI controller holds: ω, ∫e."""
    model = ts.Model("motor")
    rotor = model.body("rotor", mass=1.0, inertia=(J, J, J))
    axle = model.add(ts.Revolute("axle", model.ground, rotor, axis=(0, 0, 1)))
    error = wanted - axle.rate[0]
    integral = model.state("integral", rate=error, start=0.25)
    model.add(ts.JointForce("drive", axle, value=kp * error + ki * integral - c * axle.rate[0]))
    A = np.array([[-(kp + c) / J, ki / J], [-1.0, 0.0]])
    return model, lambda t: linear(A, [kp * wanted / J, wanted], [0.0, 0.25], t)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("manner", MANNERS, ids=str)
def test_a_speed_is_held_by_a_controller_with_an_integral(formulation, manner):
    model, exact = motor()
    data = ts.simulate(model, 2.0, outputs=20, formulation=formulation, **manner)
    found = np.column_stack([data.rate.values[:, 0], data.integral.values])
    assert np.abs(found - exact(data.time.values)).max() < 1e-7


def test_a_filter_of_second_order_follows_its_equation():
    w, z, W = 7.0, 0.3, 4.0
    model = ts.Model("filter")
    model.body("idle", mass=1.0, inertia=(1, 1, 1))
    u = ca.sin(W * ts.time)
    model.state("y", rate=lambda y: [y[1], w**2 * (u - y[0]) - 2 * z * w * y[1]], start=[0.5, 0.0])
    data = ts.simulate(model, 3.0, outputs=30)
    # sin(W t) is a state of a larger linear system
    A = np.array([[0, 1, 0, 0], [-(w**2), -2 * z * w, w**2, 0], [0, 0, 0, W], [0, 0, -W, 0]])
    exact = linear(A, np.zeros(4), [0.5, 0.0, 0.0, 1.0], data.time.values)
    assert np.abs(data["y[0]"].values - exact[:, 0]).max() < 1e-8
    assert np.abs(data["y[1]"].values - exact[:, 1]).max() < 1e-7


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_oil_in_a_cylinder_is_a_spring_with_a_leak(formulation):
    """ṗ = β/V (Q − A v − k p),  m v̇ = A p − F: pressures of 10⁶ beside speeds of 0.1."""
    m, area, bulk, volume, leak, Q, F = 20.0, 1e-3, 1.2e9, 4e-4, 2e-12, 2e-4, 300.0
    model = ts.Model("cylinder")
    piston = model.body("piston", mass=m, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, piston, axis=(1, 0, 0)))
    p = model.state("pressure", rate=lambda p: bulk / volume * (Q - area * rail.rate[0] - leak * p), start=2e5)
    model.add(ts.JointForce("oil", rail, value=area * p - F))
    data = ts.simulate(model, 0.3, outputs=30, formulation=formulation)
    A = np.array([[0, area / m], [-bulk / volume * area, -bulk / volume * leak]])
    exact = linear(A, [-F / m, bulk / volume * Q], [0.0, 2e5], data.time.values)
    assert np.abs(data.rate.values[:, 0] - exact[:, 0]).max() < 1e-7 * np.abs(exact[:, 0]).max()
    assert np.abs(data.pressure.values - exact[:, 1]).max() < 1e-7 * np.abs(exact[:, 1]).max()


def test_the_integral_of_power_is_the_energy():
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=2.0, inertia=(0.1, 0.2, 0.3), at=(1, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    torque = 3.0 * ca.sin(2 * ts.time) - 0.4 * hinge.rate[0]
    model.add(ts.JointForce("motor", hinge, value=torque))
    model.state("spent", rate=torque * hinge.rate[0])
    data = ts.simulate(model, 5.0, outputs=50)
    assert np.abs(data.energy - data.energy[0] - data.spent).max() < 1e-7


def test_a_rate_may_use_accelerations_and_reactions():
    """∫ẍ dt is the speed, ∫F dt the momentum of what is held."""
    model = ts.Model("rod", gravity=(0, 0, -9.81))
    rod = model.body("rod", mass=2.0, inertia=(0.1, 0.2, 0.3), at=(1, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    model.state("speed", rate=rod.acceleration[2])
    model.state("push", rate=hinge.reaction_force[0])
    data = ts.simulate(model, 2.0, outputs=20)
    assert np.abs(data.speed - data.velocity.sel(axis="z")[:, 0]).max() < 1e-8
    assert np.abs(data.push - 2.0 * data.velocity.sel(axis="x")[:, 0]).max() < 1e-7


@pytest.mark.parametrize("manner", MANNERS, ids=str)
def test_events_watch_states_and_set_them(manner):
    """A sawtooth: the state rises by 2 per second and is set back to −1 at 1; the times are known."""
    model = ts.Model("saw")
    model.body("idle", mass=1.0, inertia=(1, 1, 1))
    tooth = model.state("tooth", rate=2.0, start=0.0)
    model.when(tooth >= 1.0, ts.assign(tooth, -1.0), name="back")
    data = ts.simulate(model, 5.2, outputs=26, **manner)
    assert np.allclose(data.event_time, 0.5 + np.arange(5), atol=1e-12)
    t = data.time.values
    exact = np.where(t < 0.5, 2 * t, (2 * t - 1) % 2.0 - 1)
    assert np.abs(np.where(np.isclose((t - 0.5) % 1, 0, atol=1e-9), exact, data.tooth.values) - exact).max() < 1e-11


def test_a_component_brings_its_states_along():
    one, exact = motor()
    pair = ts.Model("pair")
    pair.include("a", one)
    pair.include("b", one, at=(1, 0, 0), rotation=(0, 0.5, 0))
    data = ts.simulate(pair, 1.0, outputs=5)
    for name in ("a.integral", "b.integral"):
        assert np.abs(data[name].values - exact(data.time.values)[:, 1]).max() < 1e-8


def test_a_state_starts_again_bit_for_bit(tmp_path):
    model, _ = motor()
    model.when(ts.time >= 0.4, ts.assign("integral", 0.1))
    whole = ts.simulate(model, 1.0, outputs=11)
    kept = ts.simulate(model, 1.0, outputs=11, checkpoint=str(tmp_path / "run"))
    assert np.array_equal(whole.integral, kept.integral) and np.array_equal(whole.rate, kept.rate)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("kind", ["drive", "distance", "speed"])
def test_constraints_follow_states(kind, formulation):
    """A filter leads a joint: ÿ = w² (u − y) − 2 z w ẏ, and what is held follows y, ẏ and ÿ exactly."""
    w, z, W, length = 7.0, 0.3, 4.0, 0.5
    model = ts.Model("led", gravity=(0, 0, -9.81))
    arm = model.body("arm", mass=1.3, inertia=(0.1, 0.2, 0.3), at=(length, 0, 0))
    u = ca.sin(W * ts.time)
    y = model.state("y", rate=lambda y: [y[1], w**2 * (u - y[0]) - 2 * z * w * y[1]], start=[0.2, 0.1])
    hinge = model.add(ts.Revolute("hinge", model.ground, arm, point=(0, 0, 0), axis=(0, 1, 0), start=0.2))
    if kind == "drive":
        model.add(ts.Drive("lead", hinge, value=y[0]))
    elif kind == "distance":  # the height of the arm follows, −length sin y
        model.add(ts.Holonomic("lead", arm.position[2] + length * ca.sin(y[0])))
    else:
        model.add(ts.Nonholonomic("lead", hinge.rate[0] - y[1]))
    data = ts.simulate(model, 1.5, outputs=15, formulation=formulation, tolerance=1e-11)
    A = np.array([[0, 1, 0, 0], [-(w**2), -2 * z * w, w**2, 0], [0, 0, 0, W], [0, 0, -W, 0]])
    times = data.time.values
    exact = linear(A, np.zeros(4), [0.2, 0.1, 0.0, 1.0], times)
    faster = (exact @ A.T)[:, 1]
    np.testing.assert_allclose(data.coordinate.values[:, 0], exact[:, 0], atol=1e-8)
    np.testing.assert_allclose(data.rate.values[:, 0], exact[:, 1], atol=1e-8)
    np.testing.assert_allclose(data.coordinate_acceleration.values[:, 0], faster, atol=1e-6)
    # the torque that leads it does the work: I ÿ = M + m g l cos y
    torque = (0.2 + 1.3 * length**2) * faster - 1.3 * 9.81 * length * np.cos(exact[:, 0])
    lever = -length * np.cos(exact[:, 0]) if kind == "distance" else 1.0
    lam = data.multiplier.values[:, [str(x) == "lead[0]" for x in data.constraint.values]].ravel()
    np.testing.assert_allclose(lam * lever, torque, atol=1e-5)
    assert data.attrs["energy_balance_relative"] < 1e-8


def test_events_set_states_that_drives_follow():
    """The rate of a drive that is a ramp of its own: set by an event, the joint goes on at another speed."""
    model = ts.Model("ramp")
    arm = model.body("arm", mass=1.0, inertia=(1, 1, 1))
    hinge = model.add(ts.Revolute("hinge", model.ground, arm, axis=(0, 0, 1)))
    speed = model.state("speed", rate=0.0, start=0.5)
    angle = model.state("angle", rate=speed, start=0.0)
    model.add(ts.Drive("lead", hinge, value=angle))
    model.when(ts.time >= 1.0, ts.assign("speed", 2.0))
    data = ts.simulate(model, 2.0, outputs=4)
    np.testing.assert_allclose(data.coordinate.values[:, 0], [0, 0.25, 0.5, 1.5, 2.5], atol=1e-9)
    np.testing.assert_allclose(data.rate.values[-1, 0], 2.0, atol=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_start_with_other_states_has_what_follows_them_there(formulation):
    """By name, alone and beside the joint, and at a former result: the joint is where its state is, and as fast."""
    model = ts.Model("led", gravity=(0, 0, -9.81))
    arm = model.body("arm", mass=1.0, inertia=(1, 1, 1), at=(0, 0, -1))
    hinge = model.add(ts.Revolute("hinge", model.ground, arm, point=(0, 0, 0), axis="y"))
    angle = model.state("angle", rate=model.state("speed", rate=lambda x: -x, start=2.0))
    model.add(ts.Drive("lead", hinge, value=angle))
    sim = ts.Simulation(model, formulation)
    former = ts.simulate(model, 1.0, outputs=1, formulation=formulation).isel(time=-1)
    there = 2 * (1 - np.exp(-1))
    every = [({"angle": 0.5, "speed": 0.3}, 0.5, 0.3), ({"hinge": 5.0, "angle": 5.0}, 5, 2), (former, there, 2 - there)]
    for start, at, speed in every:
        sim.reset(start)
        np.testing.assert_allclose([sim.coordinates["hinge"], sim.rates["hinge"]], [at, speed], atol=1e-9)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda m, x: m.state("z", rate=[1, 2], start=0.0), "the rate has 2 components, the start 1"),
        (lambda m, x: m.state("z", rate=ca.SX.sym("other")), "'other', which does not belong"),
        (lambda m, x: m.state("z", rate=1.0, start=float("nan")), "start"),
        (lambda m, x: m.state("z", rate=1.0, start=m.parameter("a", 1.0)), "start must be made of numbers"),
        (lambda m, x: m.state("x", rate=1.0), "something of that name already"),
        (lambda m, x: m.add(ts.Drive("d", m["hinge"], m.state("z", m["hinge"].rate[0]))), "rate contains 'hinge.rate'"),
        (
            lambda m, x: m.add(ts.Drive("d", m["hinge"], m.state("z", m["body"].acceleration[0]))),
            "positions and states only",
        ),
        (
            lambda m, x: m.add(ts.Nonholonomic("n", m["hinge"].rate[0] - m.state("z", m["hinge"].reaction_force[0]))),
            "velocities, states and inputs only",
        ),
        (lambda m, x: m.add(ts.Motion("d", m["body"], at=(x, 0, 0))), "its motion contains 'x'"),
        (lambda m, x: m.when(x >= 1, ts.assign("nothing", 1.0)), "unknown parameter 'nothing'. Known: x"),
    ],
)
def test_what_cannot_be_a_state_is_refused(make, words):
    model = ts.Model("bad")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    model.add(ts.Revolute("hinge", model.ground, body, axis=(0, 0, 1)))
    x = model.state("x", rate=1.0)
    with pytest.raises(ts.ModelError, match=words):
        make(model, x)
