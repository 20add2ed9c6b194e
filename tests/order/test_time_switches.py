"""Conditions on time alone are breakpoints: steps end there, so that no pulse is missed and no order is lost."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts

t = ts.time
ROUNDING = 1e-9  # of an impulse: 1000 N for some roundings of time, a hundred times


def cart(force):
    model = ts.Model("cart")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis="x"))
    model.add(ts.JointForce("push", rail, force(model) if callable(force) else force))
    return model


def pulse(begin, width):
    return ca.if_else(ca.logic_and(t >= begin, t < begin + width), 1 / width, 0.0)


METHODS = [
    {}, {"method": "rkmk4", "step": 0.1}, {"method": "radau5"}, {"method": "bdf"},
    {"method": "implicit-midpoint", "step": 0.1}, {"method": "generalized-alpha", "step": 0.1}, {"method": "auto"},
    {"formulation": "absolute"}, {"formulation": "hamiltonian"}, {"formulation": "hierarchical"},
]  # fmt: skip


@pytest.mark.parametrize("options", METHODS, ids=str)
def test_a_pulse_shorter_than_a_step_gives_its_impulse(options):
    """p = 1 after a pulse of any width, wherever it lies."""
    for begin, width in ((3.3, 1e-3), (7.12345, 1e-6)):
        data = ts.simulate(cart(pulse(begin, width)), 10.0, outputs=1, **options)
        assert float(data.rate[-1, 0]) == pytest.approx(1.0, abs=2e-13 / width)


SHAPES = {  # forces, and their impulse in 10 s
    "absolute value": (ca.if_else(ca.fabs(t - 5) < 5e-4, 1000.0, 0), 1.0),
    "parabola": (ca.if_else((t - 5) ** 2 < 25e-8, 1000.0, 0), 1.0),
    "periodic": (ca.if_else(ca.fmod(t, 1.0) < 1e-3, 1000.0, 0), 10.0),
    "crests of a sine": (ca.if_else(ca.sin(2 * np.pi * 3 * t) > np.cos(np.pi * 3e-3), 1000.0, 0), 30.0),
    "staircase": (ca.floor(t), 45.0),
    "saw": (ca.fmod(t, 0.7), 14 * 0.245 + 0.5 * 0.2**2),
    "ramp": (ca.fmax(0, t - 9), 0.5),
    "sign": (ca.sign(t - 2.5), 5.0),
    "either": (ca.if_else(ca.logic_or(t < 0.001, t > 9.999), 1000.0, 0.0), 2.0),
    "of a table": (ca.if_else(ts.table([0, 5, 10], [0, 1, 0])(t) > 0.9999, 1000.0, 0.0), 1.0),
}


@pytest.mark.parametrize("name", SHAPES)
def test_every_kind_of_condition_gives_the_impulse_of_its_force(name):
    force, impulse = SHAPES[name]
    data = ts.simulate(cart(force), 10.0, outputs=1)
    assert float(data.rate[-1, 0]) == pytest.approx(impulse, abs=ROUNDING * max(impulse, 1.0))
    assert data.attrs["steps"] < 400


def test_instants_follow_parameters_in_runs_studies_and_components():
    def law(model):
        begin, width = model.parameter("begin", 3.0), model.parameter("width", 1e-3, positive=True)
        return pulse(begin, width)

    model = cart(law)
    many = {"begin": [1.0, 2.5, 7.123], "width": [1e-3, 1e-4, 1e-5]}
    data = ts.study(model, 10.0, parameters=many, outputs=1)
    np.testing.assert_allclose(data.rate.values[:, -1, 0], 1.0, atol=2e-8)
    whole = ts.Model("whole")
    whole.include("left", model, begin=4.321, width=1e-5)
    whole.include("right", model, begin=4.0)
    np.testing.assert_allclose(ts.simulate(whole, 10.0, outputs=1).rate[-1], 1.0, atol=2e-8)
    sim = ts.Simulation(model, parameters={"begin": 33.3})  # beyond the horizon
    for _ in range(40):
        sim.advance(1.0)
    assert sim.rates["rail"] == pytest.approx(1.0, abs=1e-9)


def test_rkmk4_keeps_its_order_across_conditions_on_time():
    """A pendulum under a torque that jumps and bends, against SciPy piece by piece."""
    torque = ca.if_else(ca.fmod(t, 0.37) < 0.11, 4.0, -2.0) + 5 * ca.fabs(t - 0.613)
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    rod = model.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, rod, point=(0, 0, 0), axis="y"))
    model.add(ts.JointForce("motor", hinge, torque))
    value = lambda s: (4.0 if s % 0.37 < 0.11 else -2.0) + 5 * abs(s - 0.613)
    breaks = sorted([0.613, 1.1, *(0.37 * k for k in range(1, 3)), *(0.37 * k + 0.11 for k in range(3))])
    state, begin = np.zeros(2), 0.0
    for end in [x for x in breaks if x <= 1.1]:
        inside = lambda s, low=begin, high=end: min(max(s, low + 1e-13), high - 1e-13)
        rate = lambda s, x, inside=inside: [x[1], (9.81 * 0.5 * np.cos(x[0]) + value(inside(s))) / 0.35]
        found = solve_ivp(rate, (begin, end), state, rtol=1e-13, atol=1e-13, method="DOP853")
        state, begin = found.y[:, -1], end
    errors = []
    for step in (0.04, 0.02, 0.01):
        data = ts.simulate(model, 1.1, outputs=1, step=step, method="rkmk4")
        errors.append(abs(data.coordinate.values[-1, 0] - state[0]) + abs(data.rate.values[-1, 0] - state[1]))
    assert errors[-1] > 1e-12  # not rounding
    assert np.log2(errors[0] / errors[-1]) / 2 == pytest.approx(4.0, abs=0.35)


@pytest.mark.parametrize("options", [{}, {"method": "rkmk4", "step": 0.3}], ids=str)
@pytest.mark.parametrize(
    "condition, times",
    [
        (lambda x: ca.logic_and(t >= 3.3, t < 3.301), [3.3]),
        (lambda x: ca.fabs(t - 5) < 1e-4, [4.9999]),
        (lambda x: ca.logic_and(x > 2, ca.fabs(t - 5) < 1e-4), [4.9999]),
        (lambda x: ca.fmod(t, 2.5) > 2.4999, [2.4999, 4.9999, 7.4999, 9.9999]),
        (lambda x: ca.floor(t) >= 3, [3.0]),
        (lambda x: ca.if_else(t < 4, 1.0, -1.0) * x < 0, [4.0]),
        (lambda x: ts.falling(ca.fmod(t, 5.0) - 2.5), [5.0, 10.0]),
    ],
)
def test_events_on_time_alone_happen_at_their_instants(condition, times, options):
    model = ts.Model("cart")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis="x"))
    model.when(condition(rail.coordinate[0]), ts.record("now", t), name="instant")
    data = ts.simulate(model, 10.0, **options)
    np.testing.assert_allclose(data.event_time.values, times, atol=1e-9)


def test_an_event_and_a_force_at_the_same_instant_go_together():
    """The event fires once, at the instant, and the force gives its impulse."""
    model = cart(pulse(3.3, 1e-3))
    model.when(t >= 3.3, ts.record("on", t), name="on")
    model.when(ts.rising(t - 3.301), ts.record("off", t), name="off")
    data = ts.simulate(model, 10.0)
    assert data.event_name.values.tolist() == ["on", "off"]
    np.testing.assert_allclose(data.event_time.values, [3.3, 3.301], rtol=1e-13)
    assert float(data.rate[-1, 0]) == pytest.approx(1.0, abs=1e-9)
