"""The three-axis platform against Lagrange's equations in its three angles, and its invariants."""

from math import pi

import casadi as ca
import numpy as np
import pytest
from lagrange import Lagrange, turn

import torsor as ts

FORMULATIONS = ["absolute", "relative", "hamiltonian"]


def independent(times):
    q, v = ca.SX.sym("q", 3), ca.SX.sym("v", 3)
    R1 = turn("z", q[0])
    R2 = R1 @ turn("y", q[1])
    R3 = R2 @ turn("x", q[2])
    p2 = R1 @ ca.DM([0, 0, 0.0785])
    p3 = p2 + R2 @ ca.DM([0.0815, 0, 0])
    bodies = [
        (0.87, (6.55e-4, 7.10e-4, 11.3e-4), R1 @ ca.DM([-0.0285, -0.001, -0.0072]), R1),
        (0.66, (1.79e-4, 4.45e-4, 4.6e-4), p2 + R2 @ ca.DM([0.027, -0.0003, 0.0013]), R2),
        (3.5, (1.46e-2, 2.09e-2, 3.29e-2), p3 + R3 @ ca.DM([0.034, -0.00048, 0.055]), R3),
    ]
    start = (pi, pi / 3, pi / 3)
    return Lagrange(q, v, bodies, gravity=(0, 0, -9.81)).motion(start, start, times)


def vertical_momentum(model):
    found = ca.SX(0)
    for b in model.bodies:
        found += b.mass * ca.cross(b.position, b.velocity)[2] + (b.rotation @ b.inertia @ b.angular_velocity)[2]
    return found


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_angles_and_rates_follow_lagranges_equations(formulation):
    data = ts.simulate(ts.cases.load("platform"), 4.0, outputs=40, tolerance=1e-14, formulation=formulation)
    q, v = independent(data.time.values)
    error = np.abs(data.coordinate.values - q).max(axis=1)
    assert error[:21].max() < 1e-9 and error.max() < 1e-6  # chaotic: 1e-13 grows by 1e3 in 2 s, by 1e6 in 4 s
    assert np.abs(data.rate.values - v).max() < 1e-5  # rates are ten times faster than angles


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_energy_and_vertical_momentum_are_kept(formulation):
    model = ts.cases.load("platform")
    signals = {"momentum": vertical_momentum(model)}
    data = ts.simulate(model, 10.0, outputs=200, tolerance=1e-14, formulation=formulation, signals=signals)
    assert data.attrs["energy_balance_relative"] < 1e-10
    momentum = data["momentum"].values
    assert np.abs(momentum / momentum[0] - 1).max() < 1e-12
