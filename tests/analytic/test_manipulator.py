"""The manipulator of motors and beams against Lagrange's equations in its three angles."""

from math import pi

import casadi as ca
import numpy as np
import pytest
from lagrange import Lagrange, t, turn

import torsor as ts

HOUSING = (2 * (3 * (0.034**2 + 0.03**2) + 0.3**2) / 12, 2 * (0.034**2 + 0.03**2) / 2)  # across, about y
ROTOR = (7.7 * (3 * 0.03**2 + 0.35**2) / 12, 7.7 * 0.03**2 / 2)


def independent():
    """A link turns about y through its origin, where its housing is mounted; distances are added up along y and z."""
    q, v = ca.SX.sym("q", 3), ca.SX.sym("v", 3)
    # quaternion (1, 1, 0, 0)/√2 is a quarter turn about x; (1, −1, −1, −1)/2 turns by −120° about (1, 1, 1): x → z → y → x
    cyclic = ca.DM([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    base, o = turn("x", pi / 2), ca.SX.zeros(3)
    bodies = []
    for k in range(3):
        R = base @ turn("y", q[k])
        for mass, (across, own), y, frame in ((2.0, HOUSING, 0.15, base), (7.7, ROTOR, 0.175, R)):
            bodies.append((mass, (across, own, across), o + base @ ca.DM([0, y, 0]), frame))
        bodies.append((0.71, (0.06, 0.06, 0.0002), o + R @ ca.DM([0, 0.37, 0.483]), R))
        if k == 0:
            o, base = o + R @ ca.DM([0, 0.37, 0.983]), R @ cyclic
        else:
            o, base = o + R @ ca.DM([0, 0.39, 0.966]), R
    torque = ca.DM([-600, 300, -12]) * ca.cos(4 * pi * t)
    return Lagrange(q, v, bodies, gravity=(0, 0, -9.8), force=torque)


def motion(equations, times):
    return equations.motion((0, 2.5, 0), (0, 0, 0), times)


def of_shafts(values):
    return values.sel(joint_coordinate=[f"link{k}.motor.shaft" for k in (1, 2, 3)]).values


def angles(data):
    return of_shafts(data.coordinate)


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_angles_converge_and_follow_lagranges_equations(formulation):
    runs = [
        ts.simulate(ts.cases.load("manipulator"), 5.0, outputs=50, tolerance=tolerance, formulation=formulation)
        for tolerance in (1e-12, 1e-13)
    ]
    one, two = map(angles, runs)
    q, _ = motion(independent(), runs[0].time.values)
    assert np.abs(one - two).max() < 1e-9
    assert np.abs(two - q).max() < 1e-10  # 1e-13 per step, some thousand steps


@pytest.mark.parametrize("formulation", ["absolute", "relative", "hierarchical"])
@pytest.mark.parametrize("given", [{"tolerance": 1e-13}, {"method": "abm4", "step": 1e-4}], ids=["rkmk54", "abm4"])
def test_accelerations_are_those_of_lagranges_equations(formulation, given):
    """Along two motions that were integrated apart; the document is within 1.4e-8 rad/s² of Dymola with a method as abm4."""
    data = ts.simulate(ts.cases.load("manipulator"), 1.0, outputs=20, formulation=formulation, **given)
    equations, times = independent(), data.time.values
    exact = np.array([equations.accelerations(*row).full().ravel() for row in zip(times, *motion(equations, times))])
    assert np.abs(exact).max() > 100
    assert np.abs(of_shafts(data.coordinate_acceleration) - exact).max() < 1e-8  # [rad/s²]


def test_the_parts_are_those_of_the_document():
    model = ts.cases.load("manipulator")
    for k in (1, 2, 3):
        for part, (across, own) in (("motor.housing", HOUSING), ("motor.rotor", ROTOR)):
            J = ts.quantity.numbers(model[f"link{k}.{part}"].inertia)
            np.testing.assert_allclose(J, np.diag([across, own, across]), rtol=1e-14)
