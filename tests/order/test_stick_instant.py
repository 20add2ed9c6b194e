"""Sliding in two directions ends at one instant, which every method finds with its order.

A body slides on a slope with the angle φ, in the direction ψ from the line of fall. With a = g sin φ and k = μ/tan φ,

    r = C wᵏ/sin ψ,     t = C/2a [F(w₀) − F(w)],     w = tan ψ/2,     F(w) = wᵏ⁻¹/(k − 1) + wᵏ⁺¹/(k + 1)     (1)

is its speed r and the time t. For k > 1 it stops where w = 0; for k < 1 it passes a least speed and goes on downwards.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import torsor as ts
from torsor.registry import registered

G = 9.81
METHODS = sorted(registered("integrator"))


class Slope:
    """A body on a slope, and (1)."""

    def __init__(self, mu, tilt, direction, speed=1.0):
        self.a, self.k, self.w = G * np.sin(tilt), mu / np.tan(tilt), np.tan(direction / 2)
        self.C = speed * np.sin(direction) / self.w**self.k
        self.model = ts.Model("slope", gravity=(self.a, 0, -G * np.cos(tilt)))
        velocity = (speed * np.cos(direction), speed * np.sin(direction), 0)
        self.block = self.model.body("block", mass=2.0, inertia=(1, 1, 1), velocity=velocity)
        contact = self.model.add(ts.Contact("contact", self.model.ground, self.block, plane=(0, 0, 0)))
        self.model.add(ts.Friction("rub", contact, coefficient=mu))

    def time(self, w):
        k = self.k
        F = lambda w: w ** (k - 1) / (k - 1) + w ** (k + 1) / (k + 1)
        return self.C / (2 * self.a) * (F(self.w) - F(w))  # (1)

    def velocity(self, t):
        w = np.exp(brentq(lambda s: self.time(np.exp(s)) - t, -60, np.log(self.w), xtol=1e-15))
        psi = 2 * np.arctan(w)
        return self.C * w**self.k / np.sin(psi) * np.array([np.cos(psi), np.sin(psi)])


def sticking(data, name="rub"):
    return data.event_time.values[data.event_name.values == f"{name}.stick"]


@pytest.mark.filterwarnings("ignore::torsor.errors.AccuracyWarning")  # methods of order 1
@pytest.mark.parametrize("method", METHODS)
def test_a_block_on_a_slope_stops_once_and_when_the_closed_form_says(method):
    slope, errors = Slope(0.5, 0.3, 1.2), []
    end = slope.time(1e-300)
    for steps in (20, 80):
        data = ts.simulate(slope.model, 1.5 * end, outputs=1, method=method, step=end / steps, formulation="absolute")
        (when,) = sticking(data)
        errors.append(abs(when - end) / end)
    order = registered("integrator")[method].order
    assert errors[0] < 0.03
    assert errors[1] < 1e-12 or np.log2(errors[0] / errors[1]) / 2 > order - 0.35


@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz", "hamiltonian"])
@pytest.mark.parametrize("mu, tilt, direction", [(0.35, 0.3, 1.2), (1.0, 0.3, 2.8), (0.5, 0.3, 3.1)])
def test_blocks_stop_once_in_every_formulation(formulation, mu, tilt, direction):
    slope = Slope(mu, tilt, direction)
    end = slope.time(1e-300)
    for options, accuracy in (({"method": "rkmk4", "step": end / 100}, 1e-6), ({"tolerance": 1e-5}, 1e-4), ({}, 1e-10)):
        data = ts.simulate(slope.model, 1.5 * end, outputs=1, formulation=formulation, **options)
        (when,) = sticking(data)
        assert abs(when - end) < accuracy * end


@pytest.mark.parametrize("off", [0.1, 1e-2, 1e-4])
@pytest.mark.parametrize(
    "options", [{"method": "rkmk4", "steps": 50}, {"method": "radau5", "steps": 50}, {"tolerance": 1e-4}]
)
def test_a_slip_that_only_comes_close_to_zero_does_not_stick(off, options):
    slope = Slope(0.2, 0.5, np.pi - off)
    until, given = 0.5, dict(options)
    if steps := given.pop("steps", None):
        given["step"] = until / steps
    data = ts.simulate(slope.model, until, outputs=1, **given)
    assert data.event_name.values.tolist() == ["contact.touch"]
    np.testing.assert_allclose(data.velocity.values[-1, 0, :2], slope.velocity(until), atol=1e-5)


def stop_on_a_table(mu, spin, x, v):
    """When a point stops on a table that turns: u = r e, ṙ = a·e − μ g, r ė = a_⊥ in its axes, over s with dt = r ds."""
    J = np.array([[0, -1], [1, 0]])
    u = np.array(v) - spin * J @ np.array(x)

    def rates(s, y):
        r, e = np.exp(y[2]), np.array([np.cos(y[3]), np.sin(y[3])])
        a = -2 * spin * J @ (r * e) + spin**2 * y[:2]
        return [*(r * r * e), a @ e - mu * G, a @ (J @ e), r]

    rests = lambda s, y: y[2] + 28
    rests.terminal = True
    start = [*x, np.log(np.hypot(*u)), np.arctan2(u[1], u[0]), 0.0]
    return solve_ivp(rates, (0, 1e4), start, method="DOP853", rtol=1e-12, atol=1e-14, events=rests).y[4, -1]


@pytest.mark.parametrize("x, v", [((0.5, 0), (0.2, 0.3)), ((0.6, 0), (0, 0))])
def test_a_block_on_a_turning_table_stops_once(x, v):
    mu, spin = 0.3, 2.0
    model = ts.Model("table", gravity=(0, 0, -G))
    table = model.body("table", mass=5.0, inertia=(1, 1, 1))
    shaft = model.add(ts.Revolute("shaft", model.ground, table, axis="z"))
    model.add(ts.Drive("motor", shaft, spin * ts.time))
    block = model.body("block", mass=2.0, inertia=(1, 1, 1), at=(*x, 0), velocity=(*v, 0))
    contact = model.add(ts.Contact("contact", table, block, plane=(0, 0, 0)))
    model.add(ts.Friction("rub", contact, coefficient=mu))
    end = stop_on_a_table(mu, spin, x, v)
    for options, accuracy in (
        ({"method": "rkmk4", "step": end / 40}, 1e-5),
        ({"method": "dop853", "step": end / 40}, 1e-10),
        ({}, 1e-9),
    ):
        (when,) = sticking(ts.simulate(model, 1.2 * end, outputs=1, **options))
        assert abs(when - end) < accuracy * end


@pytest.mark.parametrize("on", ["joint", "contact"])
def test_a_reversal_is_no_sticking(on):
    model = ts.Model("steep", gravity=(G * np.sin(0.5), 0, -G * np.cos(0.5)))
    block = model.body("block", mass=2.0, inertia=(1, 1, 1), velocity=(-1, 0, 0))
    if on == "joint":
        place = model.add(ts.Prismatic("slope", model.ground, block, axis=(1, 0, 0)))
    else:
        place = model.add(ts.Contact("slope", model.ground, block, plane=(0, 0, 0)))
    model.add(ts.Friction("rub", place, coefficient=0.2))
    model["rub.stick"].then(ts.end())  # does not happen
    model["rub.reverse"].then(ts.record("height", -block.position[0]))
    end = 1 / (G * (np.sin(0.5) + 0.2 * np.cos(0.5)))
    for options in ({}, {"method": "rkmk4", "step": 0.01}):
        data = ts.simulate(model, 1.0, **options)
        own = data.event_name.values == "rub.reverse"
        assert data.attrs["status"] == "finished" and not sticking(data).size
        np.testing.assert_allclose(data.event_time.values[own], [end], rtol=1e-12)
        np.testing.assert_allclose(data.height.values[own], [end / 2], rtol=1e-9)


@pytest.mark.filterwarnings("ignore::torsor.errors.AccuracyWarning")  # half a radian per step
@pytest.mark.parametrize("formulation", ["absolute", "relative"])
@pytest.mark.parametrize(
    "method", ["radau5", "bdf", "implicit-midpoint", "generalized-alpha", "generalized-alpha-2", "variational"]
)
def test_a_ball_that_slips_begins_to_roll_with_implicit_methods_of_any_step(method, formulation):
    """The sliding velocity u keeps its direction and falls at 7/2 μ g; then v stays as it is."""
    r, mu, v, w = 0.1, 0.3, np.array([2.0, 0.5, 0]), np.array([6.0, -10.0, 3.0])
    u = v + np.cross(w, (0, 0, -r))
    end = 2 * np.linalg.norm(u) / (7 * mu * G)
    model = ts.Model("ball", gravity=(0, 0, -G))
    ball = model.body("ball", inertia=ts.inertia.sphere(2.0, r), at=(0, 0, r), velocity=v, angular_velocity=w)
    floor = model.add(ts.Contact("floor", model.ground, ball, radius=r, plane=(0, 0, 0)))
    model.add(ts.Friction("rub", floor, coefficient=mu))
    for steps in (25, 33, 40, 100):
        data = ts.simulate(model, 0.8, outputs=1, method=method, step=1 / steps, formulation=formulation)
        (when,) = sticking(data)
        assert abs(when - end) < 40 / steps**2 * end
        rolling = v - mu * G * end * u / np.linalg.norm(u)
        np.testing.assert_allclose(data.velocity.values[-1, 0], rolling, atol=200 / steps**2)
