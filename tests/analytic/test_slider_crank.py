"""The spatial slider-crank against its reduction to the angle of the crank."""

import casadi as ca
import numpy as np
import pytest
from lagrange import Lagrange, turn

import torsor as ts


def independent(times):
    q, v = ca.SX.sym("q"), ca.SX.sym("v")
    R = turn("x", q)
    A = ca.DM([0, 0.1, 0.12])
    B = A + R @ ca.DM([0, 0, 0.08])
    C = ca.vertcat(ca.sqrt(0.3**2 - B[1] ** 2 - B[2] ** 2), 0, 0)
    along = (B - C) / 0.3
    across = ca.cross(ca.DM([1, 0, 0]), along)
    across = across / ca.sqrt(ca.sumsqr(across))  # the universal joint keeps this axis of the rod normal to x
    rod = ca.horzcat(along, across, ca.cross(along, across))
    bodies = [
        (0.12, (1e-4, 1e-4, 1e-5), (A + B) / 2, R),
        (0.5, (0.0004, 0.004, 0.004), (B + C) / 2, rod),
        (2.0, (1e-4, 1e-4, 1e-4), C, None),
    ]
    angle, rate = Lagrange(q, v, bodies, gravity=(0, 0, -9.81)).motion(0.0, 6.0, times)
    return angle[:, 0], rate[:, 0], np.array([float(ca.Function("C", [q], [C])(x)[0]) for x in angle[:, 0]])


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_crank_and_slider_follow_the_one_equation_of_motion(formulation):
    data = ts.simulate(ts.cases.load("slider-crank"), 5.0, outputs=50, tolerance=1e-12, formulation=formulation)
    angle, rate, slider = independent(data.time.values)
    assert np.abs(data.coordinate.sel(joint_coordinate="A").values - angle).max() < 1e-8  # 1e-12 per step, 4 turns
    assert np.abs(data.rate.sel(joint_coordinate="A").values - rate).max() < 1e-7
    assert np.abs(data.position.sel(body="slider", axis="x").values - slider).max() < 1e-9
    assert data.attrs["energy_balance_relative"] < 1e-10
