"""The light cart-pole: energy and horizontal momentum, Lagrange's equations, and the exact bounces of a point mass."""

import casadi as ca
import numpy as np
import pytest
from lagrange import Lagrange, turn

import torsor as ts

G, CART = 9.81, 1e-6


def independent(times):
    """Cart x and angle of the pole about y, below the horizontal."""
    q, v = ca.SX.sym("q", 2), ca.SX.sym("v", 2)
    cart, R = ca.vertcat(q[0], 0, 0), turn("y", q[1])
    bodies = [(CART, None, cart, None), (1.0, (1.0, 1 / 12, 1 / 12), cart + R @ ca.DM([0.5, 0, 0]), R)]
    return Lagrange(q, v, bodies, gravity=(0, 0, -G)).motion([0, 0], [0, 0], times)


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_cart_and_pole_follow_lagranges_equations(formulation):
    data = ts.simulate(ts.cases.load("cart-pole"), 10.0, outputs=100, tolerance=1e-12, formulation=formulation)
    q, _ = independent(data.time.values)
    assert np.abs(data.coordinate.sel(joint_coordinate=["track", "hinge"]).values - q).max() < 1e-7  # 1e-12 per step


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_energy_and_horizontal_momentum_are_kept_by_any_tolerance(formulation, tolerance):
    model = ts.cases.load("cart-pole")
    signals = {"momentum": sum(b.mass * b.velocity[0] for b in model.bodies)}
    data = ts.simulate(model, 10.0, outputs=100, tolerance=tolerance, formulation=formulation, signals=signals)
    assert data.attrs["energy_balance_relative"] < 1e4 * tolerance
    assert np.abs(data["momentum"].values).max() < 1e4 * tolerance  # nothing pushes along the track [N s]
    assert data.attrs["steps"] < 100 + 12 * 10 * tolerance**-0.2  # order 5: the light cart does not shorten the steps


def bouncing(times):
    """Height of a tip without cart: free fall from 0, thrown up again at −1 with the same speed."""
    fall = np.sqrt(2 / G)
    return -G / 2 * (np.abs((times + fall) % (2 * fall) - fall)) ** 2


def test_a_point_mass_bounces_where_the_cart_shoots_through():
    data = ts.simulate(ts.cases.load("cart-pole", pole="point"), 3.0, outputs=30, tolerance=1e-10)
    height = data.position.sel(body="pole", axis="z").values
    assert np.abs(height - bouncing(data.time.values)).max() < 1e-2  # a bounce lasts about √(m_cart/m) of the fall
    assert data.attrs["energy_balance_relative"] < 1e-6
    momentum = CART * data.velocity.sel(body="cart", axis="x") + data.velocity.sel(body="pole", axis="x")
    assert np.abs(momentum.values).max() < 1e-6


def test_an_unknown_pole_is_refused():
    with pytest.raises(ts.OptionError, match="pole must be 'rod' or 'point', got 'stick'"):
        ts.cases.load("cart-pole", pole="stick")
