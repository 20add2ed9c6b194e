"""The stiff flyball governor: momentum about its axis, energy against dissipation, Lagrange's equations."""

from math import cos, pi, sin

import casadi as ca
import numpy as np
import pytest
from lagrange import Lagrange, turn

import torsor as ts


def independent(times):
    """Spin of the shaft, height of the slider, angle of both rods below the horizontal (symmetric)."""
    q, v = ca.SX.sym("q", 3), ca.SX.sym("v", 3)
    spin, z, a = turn("z", q[0]), q[1], q[2]
    bar = 0.3 * np.array([1e-4 + 1e-4, 1 + 1e-4, 1 + 1e-4]) / 12  # 1 × 0.01 × 0.01 along x
    bodies = [
        (0.3, (bar[1], bar[1], bar[0]), ca.SX.zeros(3), spin),
        (3.0, 3 * [3 * 0.02 / 12], ca.vertcat(0, 0, z), spin),
    ]
    U = D = ca.SX(0)
    for side in (1, -1):
        R = spin @ turn("y", side * a)
        hinge = spin @ ca.DM([side * 0.05, 0, 1])
        rod = hinge + R @ ca.DM([side * 0.5, 0, 0])
        tip = hinge + R @ ca.DM([side * 1.0, 0, 0])
        length = ca.sqrt(ca.sumsqr(rod - ca.vertcat(0, 0, z) - spin @ ca.DM([side * 0.05, 0, 0])))
        U += 0.5 * 8e5 * (length - 0.5) ** 2
        D += 0.5 * 4e4 * ca.jtimes(length, q, v) ** 2
        bodies += [(0.3, bar, rod, R), (5.0, None, tip, None)]
    model = Lagrange(q, v, bodies, gravity=(0, 0, -9.81), potential=U, dissipation=D)
    return model.motion([0.0, 0.5, pi / 6], [2 * pi, 0, 0], times, 1e-11, method="Radau")


def spin(model):
    found = ca.SX(0)
    for b in model.bodies:
        found += b.mass * ca.cross(b.position, b.velocity)[2] + (b.rotation @ b.inertia @ b.angular_velocity)[2]
    return found


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_the_governor_follows_lagranges_equations(formulation):
    data = ts.simulate(ts.cases.load("governor"), 1.0, outputs=20, tolerance=1e-10, formulation=formulation)
    q, _ = independent(data.time.values)
    assert np.abs(data.coordinate.sel(joint_coordinate="spin").values - q[:, 0]).max() < 1e-7  # Radau, 1e-11 per step
    assert np.abs(data.position.sel(body="slider", axis="z").values - q[:, 1]).max() < 1e-8
    tilt = data.coordinate.sel(joint_coordinate="right_hinge").values + pi / 6
    assert np.abs(tilt - q[:, 2]).max() < 1e-8


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_momentum_is_kept_and_the_dampers_take_the_energy_that_is_lost(formulation):
    """10 s cost an explicit method 30,000 to 100,000 steps: its step is bound by the dampers, not by the motion."""
    model = ts.cases.load("governor")
    data = ts.simulate(model, 10.0, outputs=100, formulation=formulation, signals={"momentum": spin(model)})
    momentum = data["momentum"].values
    assert np.abs(momentum / momentum[0] - 1).max() < 1e-8
    assert data.attrs["energy_balance_relative"] < 1e-7
    assert np.all(np.diff(data.work.values) <= 1e-9) and data.attrs["work_done"] < -1e-3  # they only take
    assert data.attrs["steps"] < 200_000


def test_the_parts_have_the_masses_of_their_density():
    model = ts.cases.load("governor")
    mass = {b.name: float(b.mass) for b in model.bodies}
    assert mass == pytest.approx({"shaft": 0.3, "slider": 3.0, "right_rod": 5.3, "left_rod": 5.3}, rel=1e-14)
    start = (0.05 + (0.3 * 0.5 + 5.0) / 5.3 * cos(pi / 6), 0, 1 - (0.3 * 0.5 + 5.0) / 5.3 * sin(pi / 6))
    np.testing.assert_allclose(ts.quantity.numbers(model["right_rod"].start_position).ravel(), start, atol=1e-15)
