"""The serial chain against Lagrange's equations."""

import casadi as ca
import numpy as np
import pytest
from lagrange import Lagrange, turn

import torsor as ts


def independent(n, times):
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    R, o, bodies = ca.SX.eye(3), ca.SX.zeros(3), []
    for k in range(n):
        R = R @ turn("xyz"[k % 3], q[k])
        bodies.append((1.0, (0.1, 0.1, 0.01), o + R @ ca.DM([0, 0, -0.5]), R))
        o = o + R @ ca.DM([0, 0, -1])
    k = np.arange(n)
    return Lagrange(q, v, bodies, gravity=(0, 0, -9.81)).motion(0.1 * np.sin(1 + k), 0.1 * np.cos(1 + k), times, 1e-12)


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
@pytest.mark.parametrize("n", [1, 3, 7])
def test_joint_angles_follow_lagranges_equations(n, formulation):
    data = ts.simulate(ts.cases.load("chain", n=n), 1.0, outputs=10, tolerance=1e-12, formulation=formulation)
    q, v = independent(n, data.time.values)
    assert np.abs(data.coordinate.values - q).max() < 1e-9  # both to 1e-12 per step
    assert np.abs(data.rate.values - v).max() < 1e-8
