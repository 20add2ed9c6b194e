"""Lengths in what users write have a slope where they vanish: the drag −c |v| v, at rest."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.formulations.algebra.safe_norm import regularise_norms

G, FASTEST = 9.81, 3.0


def falling():
    model = ts.Model("falling", gravity=(0, 0, -G))
    ball = model.body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1))
    model.add(ts.PointForce("drag", ball, -2.0 * G / FASTEST**2 * ca.norm_2(ball.velocity) * ball.velocity))
    model.state("way", rate=ca.norm_2(ball.velocity))
    return model


@pytest.mark.parametrize("method", ["rkmk54", "radau5", "bdf"])
def test_what_falls_from_rest_nears_the_speed_at_which_drag_holds_its_weight(method):
    """v = v∞ tanh(g t / v∞), and the way is its integral."""
    data = ts.simulate(falling(), 0.5, method=method, tolerance=1e-9, outputs=1)
    t = 0.5 * G / FASTEST
    assert float(data["velocity"][-1, 0, 2]) == pytest.approx(-FASTEST * np.tanh(t), rel=1e-6)
    assert float(data["way"][-1]) == pytest.approx(FASTEST**2 / G * np.log(np.cosh(t)), rel=1e-6)


@pytest.mark.parametrize("speed", [0.0, 0.7])
def test_a_linear_model_has_the_slopes_of_drag_and_of_speed(speed):
    """∂(c v²)/∂v = 2 c v along the motion and c v across it; at rest none."""
    found = ts.linearise(falling(), [], ["way"], at={"ball.velocity": (0, 0, -speed)}, formulation="absolute")
    A = {name: found.A[found.states.index(f"ball {name}.rate")] for name in "xz"}
    slopes = [A[name][found.states.index(f"ball {name}.rate")] for name in "xz"]
    assert slopes == pytest.approx([-G / FASTEST**2 * speed, -2 * G / FASTEST**2 * speed], abs=1e-12)
    assert found.A[found.states.index("way"), found.states.index("ball z.rate")] == (-1.0 if speed else 0.0)


def test_numbers_stay_the_same():
    x, table = ca.SX.sym("x", 3), ts.table([0, 1, 5], [1, 0, 3])
    written = ca.vertcat(ca.norm_2(x), ca.sqrt(2 * ca.dot(x, x) + x[0] ** 2) * table(x[1]), ca.sqrt(x[2]))
    both = ca.Function("f", [x], [written, regularise_norms(written)])
    for at in np.vstack([np.zeros(3), np.random.default_rng(1).uniform(0, 3, (20, 3))]):
        np.testing.assert_array_equal(*(found.full() for found in both(at)))
    slopes = ca.Function("f", [x], [ca.jacobian(regularise_norms(written), x)])(0).full()
    assert np.isfinite(slopes[:2]).all() and np.isinf(slopes[2, 2])  # a root of a number falls steeply


@pytest.mark.parametrize("rest", [0.0, "rest"])
def test_a_spring_without_length_is_as_stiff_where_its_ends_meet(rest):
    model, stiffness = ts.Model("spring"), 30.0
    length = model.parameter(rest, 0.0) if rest else rest
    rail = ts.Prismatic("rail", model.ground, model.body("cart", mass=2.0, inertia=(1, 1, 1)), axis="x")
    model.add(rail)
    model.add(ts.SpringDamper("spring", model.ground, rail.second, stiffness=stiffness, length=length))
    for at in (0.0, 0.1):
        assert ts.linearise(model, at={"rail": at}).A[1, 0] == pytest.approx(-stiffness / 2.0)
