"""Order across the points of tables over time, where forces bend or jump."""

import models
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts

POINTS, VALUES = np.array([0.0, 0.3137, 0.5711, 0.8293, 1.2]), np.array([0.0, 6.0, -4.0, 5.0, 1.0])


def pendulum(torque):
    model = models.pendulum(at=(0.5, 0, 0))
    model.add(ts.JointForce("motor", model["hinge"], torque))
    return model


def truth(f, until):
    """The same motion, piece by piece, by SciPy."""
    inertia, state, begin = 0.1 + 0.25, np.zeros(2), 0.0

    def rate(t, x, first, last):
        inside = min(max(t, first + 1e-13), last - 1e-13)
        return [x[1], (9.81 * 0.5 * np.cos(x[0]) + f(inside)) / inertia]

    for end in [b for b in [*f.bends(), until] if 0 < b <= until]:
        found = solve_ivp(rate, (begin, end), state, rtol=1e-13, atol=1e-13, method="DOP853", args=(begin, end))
        state, begin = found.y[:, -1], end
    return state


@pytest.mark.parametrize("kind", ["linear", "nearest", "akima", "cubic"])
def test_rkmk4_keeps_its_order_across_the_points_of_a_table(kind):
    f = ts.table(POINTS, VALUES, kind)
    model, end = pendulum(f(ts.time)), truth(f, 1.1)
    errors = []
    for step in (0.04, 0.02, 0.01):
        data = ts.simulate(model, 1.1, outputs=1, step=step, method="rkmk4")
        errors.append(abs(data.coordinate.values[-1, 0] - end[0]) + abs(data.rate.values[-1, 0] - end[1]))
    assert errors[-1] > 1e-12  # not rounding
    assert np.log2(errors[0] / errors[-1]) / 2 == pytest.approx(4.0, abs=0.35)


def oscillator(ends):
    """A mass on a spring whose stiffness differs between its sides; steps end where it passes the middle, or do not."""
    spring = ts.table([-1, 0, 1], [100, 0, -25], outside="extrapolate")
    model = ts.Model("oscillator")
    cart = model.body("cart", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0))
    rail = model.add(ts.Prismatic("rail", model.ground, cart, axis="x"))
    model.add(ts.JointForce("spring", rail, spring(rail.coordinate[0])))
    for x in spring.bends() if ends else ():
        model.when(ts.crossing(rail.coordinate[0] - x), ts.record("side", x))
    return model


def half_waves(t):
    """Its motion: half waves of 5 and of 10 rad/s in turn."""
    t = t % (np.pi / 5 + np.pi / 10)
    return np.where(t < np.pi / 5, np.sin(5 * t) / 5, -np.sin(10 * (t - np.pi / 5)) / 10)


def test_a_bend_over_a_signal_is_met_to_the_tolerance_and_by_events_with_the_order_of_the_method():
    data = ts.simulate(oscillator(False), 3.0, outputs=30, tolerance=1e-9)
    assert data.coordinate.values[:, 0] == pytest.approx(half_waves(data.time.values), abs=2e-8)
    model, sure = oscillator(True), float(half_waves(3.0))
    errors = [
        abs(ts.simulate(model, 3.0, outputs=1, step=step, method="rkmk4").coordinate.values[-1, 0] - sure)
        for step in (0.02, 0.01, 0.005)
    ]
    assert np.log2(errors[0] / errors[-1]) / 2 > 3.7
    passed = ts.simulate(oscillator(False), 3.0, outputs=1, step=0.005, method="rkmk4").coordinate.values[-1, 0]
    assert abs(passed - sure) > 10 * errors[-1]
