"""Every registered integrator has its claimed order on the group, with each map that it can have."""

from functools import cache

import numpy as np
import pytest

import torsor as ts

# run length [s], steps of the reference, and numbers of steps that lie in the asymptotic range, by order. Motions that turn at
# a nearly constant rate are no problems here: Adams methods follow them with a higher order than they claim
PROBLEMS = {
    "free-body": (
        2.0,
        6000,
        {1: (320, 640, 1280), 2: (160, 320, 640), 3: (80, 160, 320), 4: (40, 80, 160), 5: (40, 80), 6: (20, 40)},
    ),
    "heavy-top": (
        0.1,
        12000,
        {1: (3200, 6400), 2: (800, 1600, 3200), 3: (400, 800, 1600), 4: (200, 400, 800), 5: (100, 200), 6: (50, 100)},
    ),
    "pendulum": (
        1.0,
        8000,
        {1: (6400, 12800), 2: (200, 400, 800), 3: (100, 200, 400), 4: (400, 800), 5: (50, 100, 200), 6: (25, 50)},
    ),
}
HIGH = {  # likewise for order 8: motions of another length, in which its error is neither rounding nor of a higher order
    "free-body": (8.0, 1000, {8: (48, 56, 64)}),
    "heavy-top": (0.1, 1000, {8: (28, 32, 40)}),
    "pendulum": (0.3, 400, {8: (6, 7, 8)}),
}
ONE_AXIS = {
    "rkmk4-printed": ("pendulum",)
}  # problems in which a method is better than it claims: no axis of rotation moves
STATE = ("position", "rotation", "velocity", "angular_velocity")
METHODS = ts.registered("integrator")


def final_state(case, until, steps, method, map="exp", projection="least-squares"):
    given = {"method": method, "step": until / steps, "map": map, "projection": projection}
    data = ts.simulate(ts.cases.load(case), until, outputs=[0.0, until], **given)
    assert data.attrs["steps"] == steps
    return np.concatenate([data[name].values[-1].ravel() for name in STATE])


@cache
def reference(case, method="rkmk54"):
    """A method of high order at a step where its error is below rounding of the others' errors."""
    until, steps, _ = (PROBLEMS if method == "rkmk54" else HIGH)[case]
    return final_state(case, until, steps, method)


@cache
def slope(case, method, map):
    """How fast the error falls with the number of steps."""
    order = METHODS[method].order
    until, _, counts = (HIGH if order == 8 else PROBLEMS)[case]
    steps, exact = counts[order], reference(case, "dop853" if order == 8 else "rkmk54")
    errors = [np.abs(final_state(case, until, n, method, map) - exact).max() for n in steps]
    return -np.polyfit(np.log(steps), np.log(errors), 1)[0]


@pytest.mark.parametrize(("method", "map"), [(key, map) for key, cls in METHODS.items() for map in cls.maps])
def test_error_falls_with_the_claimed_order_of_the_step(method, map):
    slopes = {case: slope(case, method, map) for case in PROBLEMS if case not in ONE_AXIS.get(method, ())}
    assert all(abs(found - METHODS[method].order) <= 0.15 for found in slopes.values()), slopes


@pytest.mark.parametrize(
    "projection", [key for key, cls in ts.registered("projection").items() if cls.projects and cls.stages is None]
)
@pytest.mark.parametrize("case", ["heavy-top", "pendulum"])
def test_projections_keep_the_order_of_the_method(case, projection):
    """What a projection takes away is of the order of the step's error; what it adds must be, too."""
    until, _, counts = PROBLEMS[case]
    states = [final_state(case, until, n, "rkmk4", projection=projection) for n in counts[4]]
    errors = [np.abs(state - reference(case)).max() for state in states]
    assert abs(-np.polyfit(np.log(counts[4]), np.log(errors), 1)[0] - 4) <= 0.15


def test_the_printed_method_is_the_one_of_the_thesis():
    """Steps 1 to 8 of sec. 3.3.3 by NumPy for a body without forces: the same rotations to rounding, and of order 2."""
    J, w0 = np.array([1.0, 2.0, 2.5]), np.array([0.2, 2.0, 0.1])
    f = lambda w: -np.cross(w, J * w) / J

    def hat(u):
        return np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])

    def exp(u):
        a = np.linalg.norm(u)
        return np.eye(3) + np.sin(a) / a * hat(u) + (1 - np.cos(a)) / a**2 * hat(u) @ hat(u) if a else np.eye(3)

    def run(n, h):
        R, w = np.eye(3), w0.copy()
        for _ in range(n):
            k1 = f(w)
            k2 = f(w + h / 2 * k1)
            k3 = f(w + h / 2 * k2)
            k4 = f(w + h * k3)
            mean = (w + 2 * (w + h / 2 * k1) + 2 * (w + h / 2 * k2) + (w + h * k3)) / 6
            R, w = R @ exp(h * mean), w + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return R

    given = {"outputs": [0.0, 2.0], "method": "rkmk4-printed"}
    exact = ts.simulate(ts.cases.load("free-body"), 2.0, outputs=[0.0, 2.0], step=2 / 6000).rotation.values[-1, 0]
    errors = []
    for n in (160, 320):
        found = ts.simulate(ts.cases.load("free-body"), 2.0, step=2.0 / n, **given).rotation.values[-1, 0]
        np.testing.assert_allclose(found, run(n, 2.0 / n), atol=1e-12)  # rounding of some hundred steps
        errors.append(np.abs(found - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.05)
