"""Expressions that must not become negative: normal forces, impacts and friction in closed form."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts

G = 9.81
FORMULATIONS = ["absolute", "relative", "woronetz", "hamiltonian", "hierarchical"]


def bead(**start):
    model = ts.Model("bead", gravity=(0, 0, -G))
    return model, model.body("bead", mass=0.3, inertia=(0.01, 0.02, 0.03), **start)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_bead_leaves_a_dome_where_the_normal_force_vanishes(formulation):
    """cos θ = 2/3 + v₀²/(3 g R); the normal force is m (g cos θ − v²/R)."""
    R, v0 = 2.0, 0.5
    model, body = bead(at=(0, 0, R), velocity=(v0, 0, 0))
    dome = model.add(ts.OneSided("dome", ca.norm_2(body.position) >= R))
    left = model.when(ts.falling(dome.multiplier[0] - 1e-9), ts.record("cosine", body.position[2] / R), name="left")
    data = ts.simulate(model, 1.5, outputs=20, formulation=formulation)
    cosine = float(data.cosine[data.event_name.values.tolist().index(left.name)])
    np.testing.assert_allclose(cosine, 2 / 3 + v0**2 / (3 * G * R), atol=1e-8)
    on = data.time.values < float(data.event_time[1])
    z, v = data.position.values[on, 0, 2], np.linalg.norm(data.velocity.values[on, 0], axis=1)
    np.testing.assert_allclose(data.multiplier.sel(constraint="dome[0]")[on], 0.3 * (G * z / R - v**2 / R), atol=1e-8)


def test_a_rope_holds_where_it_is_taut_and_is_loose_before():
    """A stone falls L, and the rope takes its momentum: then it hangs, with its weight in the rope."""
    L = 0.8
    model, body = bead()
    rope = model.add(ts.OneSided("rope", L - ca.norm_2(body.position - ca.vertcat(0, 0, 0.3))))
    data = ts.simulate(model, 1.0, outputs=4)
    np.testing.assert_allclose(data.event_time, np.sqrt(2 * 0.5 / G), atol=1e-10)
    np.testing.assert_allclose(data.position[-1, 0], [0, 0, -0.5], atol=1e-10)
    np.testing.assert_allclose(data.multiplier.sel(constraint=f"{rope.name}[0]")[-1], 0.3 * G, atol=1e-9)


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_a_wall_that_moves_throws_back_with_its_restitution(scale):
    """x − w t ≥ 0 is hit with v: v⁺ = w − e (v − w), whatever the expression is measured in."""
    w, v, e = 0.5, -2.0, 0.7
    model = ts.Model("wall")
    body = model.body("ball", mass=2.0, inertia=(1, 1, 1), at=(1, 0, 0), velocity=(v, 0.4, 0))
    model.add(ts.OneSided("wall", scale * body.position[0] >= scale * w * ts.time, restitution=e))
    data = ts.simulate(model, 1.0, outputs=1)
    np.testing.assert_allclose(data.event_time, 1 / (w - v), atol=1e-12)
    np.testing.assert_allclose(data.velocity[-1, 0], [w - e * (v - w), 0.4, 0], atol=1e-10)


def test_two_joints_that_must_not_pass_each_other_share_their_momentum():
    """q₁ ≤ q₂ of two sliders with m₁ = 1 and m₂ = 3: they go on together with (m₁ v₁)/(m₁ + m₂)."""
    model = ts.Model("sliders")
    rails = []
    for k, (mass, speed) in enumerate(((1.0, 2.0), (3.0, 0.0))):
        body = model.body(f"body{k}", mass=mass, inertia=(1, 1, 1), at=(0.5 * k, 0, 0))
        rails.append(model.add(ts.Prismatic(f"rail{k}", model.ground, body, axis="x", start_rate=speed)))
    model.add(ts.OneSided("buffer", rails[0].coordinate[0] <= rails[1].coordinate[0] + 0.4))
    data = ts.simulate(model, 1.0, outputs=1)
    np.testing.assert_allclose(data.event_time, 0.2, atol=1e-12)
    np.testing.assert_allclose(data.rate[-1], 0.5, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 2.5])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_friction_on_a_plane_stops_what_slides(formulation, scale):
    """On a slope, whatever the expression is measured in: u̇ = g sin α d − μ g cos α u/|u|, without turning; u by SciPy."""
    slope, mu = 0.2, 0.5
    n, down, across = (
        np.array(x) for x in ((np.sin(slope), 0, np.cos(slope)), (np.cos(slope), 0, -np.sin(slope)), (0, 1, 0))
    )
    model, body = bead(velocity=tuple(0.9 * across))
    model.add(ts.OneSided("floor", scale * ca.dot(ca.SX(n), body.position), friction=mu))
    data = ts.simulate(model, 2.0, outputs=50, formulation=formulation)
    rate = lambda t, u: G * np.sin(slope) * np.array([1.0, 0]) - mu * G * np.cos(slope) * u / np.linalg.norm(u)
    stops = lambda t, u: np.linalg.norm(u) - 1e-7
    stops.terminal = True
    found = solve_ivp(rate, (0, 2), [0.0, 0.9], events=stops, rtol=1e-11, atol=1e-13, dense_output=True)
    stuck = float(data.event_time[data.event_name.values.tolist().index("floor.friction.stick")])
    np.testing.assert_allclose(stuck, found.t[-1], atol=1e-6)
    slides = data.time.values < found.t[-1]
    u = data.velocity.values[:, 0] @ np.c_[down, across]
    np.testing.assert_allclose(u[slides], found.sol(data.time.values[slides]).T, atol=1e-8)
    np.testing.assert_allclose(u[~slides], 0, atol=1e-10)
    np.testing.assert_allclose(data.position.values[:, 0] @ n, 0, atol=1e-10)
    np.testing.assert_allclose(data.angular_velocity, 0, atol=1e-12)


def test_friction_acts_along_the_velocity_that_is_given_as_sliding():
    """A wheel is pressed on a brake by a weight of its own: it turns on for ω/(μ m g r/I)."""
    mu, r, inertia, spin = 0.4, 0.1, 0.02, 5.0
    model = ts.Model("brake", gravity=(0, 0, -G))
    wheel = model.body("wheel", mass=1.0, inertia=(inertia,) * 3)
    axle = model.add(ts.Revolute("axle", model.ground, wheel, axis="z", point=(0, 0, 0), start_rate=spin))
    shoe = model.body("shoe", mass=2.0, inertia=(0.01,) * 3, at=(0, 0, 0.5))
    guide = model.add(ts.Prismatic("guide", model.ground, shoe, axis="z"))
    model.add(ts.OneSided("shoe_on_wheel", guide.coordinate[0], friction=mu, static=0.6, sliding=r * axle.rate))
    data = ts.simulate(model, 2.0, outputs=1)
    np.testing.assert_allclose(data.event_time[-1], spin * inertia / (mu * 2.0 * G * r), atol=1e-10)
    np.testing.assert_allclose(data.rate[-1], 0, atol=1e-12)


def test_an_impact_on_an_expression_has_the_friction_of_an_impact():
    """A ball that is thrown on a floor: Λ_t = μ Λ_n, so that the speed along it drops by μ (1 + e) |v_n|."""
    mu, e, r, m, inertia = 0.1, 0.6, 0.05, 0.4, 0.001
    model = ts.Model("throw")
    ball = model.body("ball", mass=m, inertia=(inertia,) * 3, at=(0, 0, 1.0), velocity=(3.0, 0, -2.0))
    foot = ball.velocity[:2] + ca.cross(ball.rotation @ ball.angular_velocity, ca.DM([0, 0, -r]))[:2]
    model.add(ts.OneSided("floor", ball.position[2] - r, restitution=e, friction=mu, sliding=foot))
    data = ts.simulate(model, 1.0, outputs=1)
    loss = mu * (1 + e) * 2.0
    np.testing.assert_allclose(data.velocity[-1, 0], [3.0 - loss, 0, e * 2.0], atol=1e-12)
    np.testing.assert_allclose(data.angular_velocity[-1, 0], [0, m * loss * r / inertia, 0], atol=1e-12)


def test_a_one_sided_expression_can_be_engaged_released_and_included():
    """A component that is turned by 90 degrees: its floor is a wall then. Engaged at 0.1 s, released at 0.5 s."""
    part = ts.Model("part")
    body = part.body("body", mass=0.3, inertia=(0.01, 0.02, 0.03), at=(0, 0, 0.5), velocity=(0.6, 0, -2.0))
    floor = part.add(ts.OneSided("floor", body.position[2], friction=0.2), active=False)
    part.when(ts.time >= 0.1, ts.engage(floor), name="on")
    part.when(ts.time >= 0.5, ts.release(floor), name="off")
    part.add(ts.PointForce("weight", body, force=(0, 0, -3.0)))
    model = ts.Model("whole")
    model.include("part", part, rotation=(0, np.pi / 2, 0))
    turned, plain = (ts.simulate(m, 1.0, outputs=10) for m in (model, part))
    z, v, x = plain.position.values[:, 0, 2], plain.velocity.values[:, 0, 0], plain.position.values[:, 0, 0]
    lands = (-2.0 + np.sqrt(4.0 + 2 * 10.0 * 0.5)) / 10.0
    np.testing.assert_allclose(plain.event_time[1], lands, atol=1e-10)
    speed = 0.6 - 0.2 * (2.0 + 10.0 * lands)  # the impulse of friction
    stops = lands + max(speed, 0.0) / 2.0
    np.testing.assert_allclose(v[-1], 0.0 if stops < 0.5 else speed - 2.0 * (0.5 - lands), atol=1e-10)
    np.testing.assert_allclose(z[-1], -10.0 * 0.125, atol=1e-9)
    np.testing.assert_allclose(turned.position.values[:, 0], np.c_[z, np.zeros(11), -x], atol=1e-9)
