"""The car: left and right alike, against Lagrange's equations of its symmetric motion, and where it comes to rest."""

import casadi as ca
import numpy as np
import pytest
from lagrange import Lagrange, turn
from scipy.optimize import fsolve

import torsor as ts

PAIRS = ["beam", "damper.cylinder", "damper.piston"]


def cylinder(m, outer, inner, h):
    across, own = m * (3 * (outer**2 + inner**2) + h**2) / 12, m * (outer**2 + inner**2) / 2
    return across, own


def symmetric():
    """Height of the car body, and angle of the right beam about y; the left side is its mirror image."""
    q, v = ca.SX.sym("q", 2), ca.SX.sym("v", 2)
    z, a = q[0], q[1]
    U = D = ca.SX(0)
    bodies = [(585.0, (1, 1, 1), ca.vertcat(0, 0, z), None)]
    for side in (1, -1):
        pivot, R = ca.vertcat(0, 0, z - 0.6), turn("y", side * a)
        out = R @ ca.DM([side, 0, 0])
        foot, head = pivot + 0.7 * out, ca.vertcat(side * 0.1, 0, z)
        length = ca.sqrt(ca.sumsqr(head - foot))
        axis = (head - foot) / length
        lean = turn("y", ca.atan2(axis[0], axis[2]))
        across, own = cylinder(15.0, 0.3, 0.29, 0.3)
        thick, thin = cylinder(3.4, 0.03, 0.026, 0.6), cylinder(13.23, 0.01, 0.0, 0.6)
        bodies += [
            (7.02, (0.06, 0.5855265, 0.5855265), pivot + 0.5 * out, R),
            (15.0, (own, across, across), pivot + out, R),
            (3.4, (thick[0], thick[0], thick[1]), head - 0.3 * axis, lean),
            (13.23, (thin[0], thin[0], thin[1]), foot + 0.3 * axis, lean),
        ]
        tyre = ca.sqrt(ca.sumsqr(pivot + out - ca.DM([side, 0, 0])))
        for l, k, rest, c in ((tyre, 4e5, 0.35, 100.0), (length - 0.6, 5e4, 0.35, 1e4)):
            U += 0.5 * k * (l - rest) ** 2
            D += 0.5 * c * ca.jtimes(l, q, v) ** 2
    return Lagrange(q, v, bodies, gravity=(0, 0, -9.8), potential=U, dissipation=D)


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_the_car_follows_lagranges_equations_of_its_symmetric_motion(formulation):
    data = ts.simulate(ts.cases.load("car"), 1.5, outputs=30, tolerance=1e-12, formulation=formulation)
    q, _ = symmetric().motion([0.95, 0.0], [0, 0], data.time.values, accuracy=1e-12)
    body = data.position.sel(body="car_body").values
    assert np.abs(body[:, 2] - q[:, 0]).max() < 1e-10  # the document agrees with Simpack to 1.4e-8 m
    assert np.ptp(q[:, 0]) > 0.04  # and it moves
    wheel = data.position.sel(body="left_wheel.ring").values
    exact = np.stack([-np.cos(q[:, 1]), 0 * q[:, 0], q[:, 0] - 0.6 - np.sin(q[:, 1])], axis=-1)
    assert np.abs(wheel - exact).max() < 1e-10


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_left_and_right_are_mirror_images(formulation):
    data = ts.simulate(ts.cases.load("car"), 1.5, outputs=30, tolerance=1e-11, formulation=formulation)
    mirror = np.array([-1, 1, 1])
    for part in [f".{x}" for x in PAIRS] + ["_wheel.ring"]:
        left, right = (data.position.sel(body=f"{side}{part}").values for side in ("left", "right"))
        assert np.abs(left * mirror - right).max() < 1e-12  # rounding: no error breaks the symmetry
    assert np.abs(data.position.sel(body="car_body").values[:, :2]).max() < 1e-13
    assert np.abs(data.coordinate.sel(joint_coordinate=["guide[0]", "left_axle", "right_axle"]).values).max() < 1e-12


def test_runs_of_two_tolerances_agree():
    heights = [
        ts.simulate(ts.cases.load("car"), 1.5, outputs=30, tolerance=tolerance).position.sel(body="car_body").values
        for tolerance in (1e-10, 1e-12)
    ]
    assert np.abs(heights[0] - heights[1]).max() < 1e-9


def test_the_car_comes_to_rest_where_its_forces_balance():
    """At rest ∂U/∂q = 0; the tyres' weak dampers need a while."""
    data = ts.simulate(ts.cases.load("car"), 20.0, outputs=[20.0], tolerance=1e-9)
    balance = symmetric().potential_force
    height, angle = fsolve(lambda q: balance(q).full().ravel(), [0.9, 0.0], xtol=1e-12)
    assert abs(float(data.position.sel(body="car_body", axis="z")[0]) - height) < 1e-8  # what still moves after 20 s
    weight = 9.8 * (585 + 2 * (7.02 + 3.4 + 13.23 + 15))
    tyre = np.hypot(1 - np.cos(angle), height - 0.6 - np.sin(angle))
    lift = 4e5 * (0.35 - tyre) * (height - 0.6 - np.sin(angle)) / tyre
    assert abs(2 * lift / weight - 1) < 1e-9  # the tyres carry the whole car
