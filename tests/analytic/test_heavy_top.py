"""The heavy top against an independent integration of its quaternion, and against its exact invariants."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts

M, G, ARM = 15.0, 9.81, np.array([0.0, 1.0, 0.0])
J = np.array([0.234375, 0.46875, 0.234375])
ABOUT_PIVOT = J + M * np.array([1.0, 0.0, 1.0])
START = np.array([0.0, 150.0, -4.61538])


def matrix(quaternion):
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def euler_equations(t, y):
    """About the fixed point: J₀ ω̇ = −ω × J₀ ω + r × Rᵀ m g,   q̇ = ½ q (0, ω)."""
    q, w = y[:4], y[4:]
    moment = np.cross(ARM, matrix(q).T @ [0, 0, -M * G])
    rate = 0.5 * np.array([-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))])
    return np.concatenate([rate, (moment - np.cross(w, ABOUT_PIVOT * w)) / ABOUT_PIVOT])


@pytest.fixture(scope="module")
def run():
    return ts.simulate(ts.cases.load("heavy-top"), 2.0, outputs=40, tolerance=1e-12)


def test_motion_equals_an_integration_in_quaternions(run):
    start = np.concatenate([[1.0, 0, 0, 0], START])
    exact = solve_ivp(euler_equations, (0, 2), start, method="DOP853", rtol=1e-13, atol=1e-13, t_eval=run.time.values)
    R = np.array([matrix(q) for q in exact.y[:4].T])
    # 300 rad of spin: a relative rate error of 1e-11 is 3e-9 rad at the end
    assert np.abs(run.position.values[:, 0] - R @ ARM).max() < 1e-8
    assert np.abs(run.rotation.values[:, 0] - R).max() < 1e-8


def test_rate_about_the_symmetry_axis_is_invariant(run):
    assert np.abs(run.angular_velocity.values[:, 0, 1] - 150.0).max() < 1e-8 * 150


def test_energy_is_invariant(run):
    w, height = run.angular_velocity.values[:, 0], run.position.values[:, 0, 2]
    E = 0.5 * w**2 @ ABOUT_PIVOT + M * G * height
    assert np.abs(E - E[0]).max() < 1e-9 * E[0]
    assert np.abs(E - run.energy.values).max() < 1e-12 * E[0]  # the dataset computes the same from the centre of mass


def test_momentum_about_the_vertical_is_invariant(run):
    w, R = run.angular_velocity.values[:, 0], run.rotation.values[:, 0]
    L = np.einsum("tij,tj->ti", R, ABOUT_PIVOT * w)
    assert np.abs(L[:, 2] - L[0, 2]).max() < 1e-9 * np.linalg.norm(L[0])
