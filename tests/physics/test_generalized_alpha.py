"""Generalised-α: order, what is left of fast oscillations, and constraints at the levels that it promises."""

import numpy as np
import pytest
from stepping import order_of
from test_variational import moved, rubbing, snaking

import torsor as ts

FORMS = ("generalized-alpha", "generalized-alpha-2")
METHODS = (*FORMS, "hht")
SYSTEMS = {
    "loop": (lambda: ts.cases.load("four-bar", n=1), "relative"),
    "friction and states": (rubbing, "relative"),
    "friction, states, constraints": (rubbing, "absolute"),
    "rows at velocity level": (snaking, "relative"),
    "drive on a moving ground": (moved, "absolute"),
}


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("method", METHODS)
def test_the_order_holds_with_loops_friction_states_and_velocity_constraints(name, method):
    assert abs(order_of(method, *SYSTEMS[name], (100, 200)) - 2) < 0.15


@pytest.mark.filterwarnings("ignore::torsor.AccuracyWarning")  # the energy of such an oscillation is lost
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9, 1.0])
def test_an_infinitely_fast_oscillation_shrinks_by_rho_in_each_step(rho):
    """The error of a step has ρ as a root of its polynomial as many times as it has a memory, so that |x| ~ nᵏ ρⁿ."""
    model = ts.Model("mass")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis=(1, 0, 0)))
    model.add(ts.JointForce("spring", rail, value=-1e14 * rail.coordinate[0]))
    data = ts.simulate(
        model, 1.2, outputs=120, method=f"generalized-alpha:rho={rho}", step=0.01, formulation="relative"
    )
    size = np.abs(data.velocity.values[:, 0, 0])
    if rho == 0.0:
        assert size[6:].max() < 1e-6
        return
    swing = np.maximum.accumulate(size[::-1])[::-1]  # the largest from there on
    assert (swing[110] / swing[60]) ** (1 / 50) == pytest.approx(rho, rel=0.05)


def hht_amplification(alpha, frequency):
    """The matrix of a step of (x, h v, h² a), of a mass on a spring with ω h = frequency, from Hilber's formulas."""
    gamma, beta = 0.5 + alpha, (1 + alpha) ** 2 / 4
    after = np.array([[1, 0, -beta], [0, 1, -gamma], [(1 - alpha) * frequency**2, 0, 1]])
    return np.linalg.solve(after, np.array([[1, 1, 0.5 - beta], [0, 1, 1 - gamma], [-alpha * frequency**2, 0, 0]]))


def spring(stiffness):
    """A mass of 1 kg on a spring that begins at rest, 1 m off."""
    model = ts.Model("mass")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1), at=(1, 0, 0))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis=(1, 0, 0)))
    model.add(ts.JointForce("spring", rail, value=-stiffness * (1 + rail.coordinate[0])))
    return model


@pytest.mark.filterwarnings("ignore::torsor.AccuracyWarning")
@pytest.mark.parametrize("alpha", [0.0, 0.1, 1 / 3])
@pytest.mark.parametrize("frequency", [0.3, 3.0, 300.0])
def test_hht_damps_as_its_amplification_matrix_says(alpha, frequency):
    """Every step is the matrix times the state before; its spectral radius is that of the closed form at both ends."""
    n, h = 30, 0.01
    run = {"outputs": n, "method": f"hht:alpha={alpha}", "step": h, "formulation": "relative"}
    data = ts.simulate(spring((frequency / h) ** 2), n * h, **run)
    A, y = hht_amplification(alpha, frequency), np.array([1.0, 0.0, -(frequency**2)])
    for k in range(n + 1):
        np.testing.assert_allclose(data.position.values[k, 0, 0], y[0], atol=1e-9)
        y = A @ y
    largest = lambda frequency: np.abs(np.linalg.eigvals(hht_amplification(alpha, frequency))).max()
    assert largest(1e-3) == pytest.approx(1.0, abs=1e-6)
    assert largest(1e6) == pytest.approx((1 - alpha) / (1 + alpha), rel=1e-3)


def test_velocities_satisfy_the_constraints_where_this_is_promised():
    """In the form of index 3 what is left of them falls with the square of the step; positions hold to rounding in both."""
    drift = {}
    for method in FORMS:
        for n in (200, 400):
            given = {"outputs": 10, "method": method, "step": 0.1 / n, "formulation": "absolute"}
            data = ts.simulate(ts.cases.load("heavy-top"), 0.1, **given)
            assert data.position_drift_max < 1e-14
            drift[method, n] = data.velocity_drift_max
    assert max(drift[FORMS[1], n] for n in (200, 400)) < 1e-12
    assert abs(np.log2(drift[FORMS[0], 200] / drift[FORMS[0], 400]) - 2) < 0.15


def test_steps_of_changing_length_keep_the_order():
    """Outputs cut steps short: the memory of the method is taken in proportion."""
    times = np.cumsum([0, 0.031, 0.05, 0.004, 0.07, 0.013, 0.05, 0.032])
    exact = ts.simulate(rubbing(), times[-1], outputs=times, tolerance=1e-13, formulation="relative").position.values
    errors = []
    for step in (0.004, 0.002, 0.001):
        data = ts.simulate(rubbing(), times[-1], outputs=times, method=FORMS[0], step=step, formulation="relative")
        errors.append(np.abs(data.position.values - exact).max())
    assert abs(np.log2(errors[0] / errors[2]) / 2 - 2) < 0.2, errors


def test_a_stiff_bushing_does_not_shorten_the_step():
    """A joint held by a spring of 1e9 N m/rad: the motion of the clamped mechanism, at the step of that motion."""
    model = ts.Model("clamped", gravity=(0, 0, -9.81))
    rod = model.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.02), at=(0.5, 0, 0))
    tip = model.body("tip", mass=0.5, inertia=(0.05, 0.05, 0.02), at=(1.3, 0, 0))
    top = model.add(ts.Revolute("top", model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Revolute("knee", rod, tip, point=(1, 0, 0), axis=(0, 1, 0)))
    model.add(ts.TorsionSpring("bushing", top, stiffness=1e9))
    data = ts.simulate(model, 1.0, outputs=20, method="generalized-alpha", step=0.005, formulation="relative")
    assert data.attrs["steps"] == 200 and np.abs(data.coordinate.values[:, 0]).max() < 1e-7
