"""Order across the points of tables over time, where forces bend or jump."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts

POINTS, VALUES = np.array([0.0, 0.31, 0.57, 0.83, 1.2]), np.array([0.0, 6.0, -4.0, 5.0, 1.0])


def pendulum(torque):
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    rod = model.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    joint = model.add(ts.Revolute("hinge", model.ground, rod, point=(0, 0, 0), axis="y"))
    model.add(ts.JointForce("motor", joint, torque))
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
