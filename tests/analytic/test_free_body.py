"""The free asymmetric body against Euler's solution in Jacobi elliptic functions (Landau and Lifshitz, §37)."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ellipj, ellipkinc

import torsor as ts

J = np.array([1.0, 2.0, 2.5])
START = np.array([0.2, 2.0, 0.1])
TWICE_ENERGY = float(J @ START**2)
MOMENTUM = float(np.linalg.norm(J * START))


def body_rates(t):
    """ω(t) for M² < 2E J₂: the rate about the first axis never changes its sign.

    ω₁ = A₁ dn τ,  ω₂ = A₂ sn τ,  ω₃ = A₃ cn τ,   τ = p t + τ₀
    """
    E2, M2 = TWICE_ENERGY, MOMENTUM**2
    assert M2 < E2 * J[1]
    A1 = np.sqrt((E2 * J[2] - M2) / (J[0] * (J[2] - J[0])))
    A2 = np.sqrt((M2 - E2 * J[0]) / (J[1] * (J[1] - J[0])))
    A3 = np.sqrt((M2 - E2 * J[0]) / (J[2] * (J[2] - J[0])))
    p = np.sqrt((J[1] - J[0]) * (E2 * J[2] - M2) / np.prod(J))
    m = (J[2] - J[1]) * (M2 - E2 * J[0]) / ((J[1] - J[0]) * (E2 * J[2] - M2))
    sn, cn, dn, _ = ellipj(p * np.asarray(t) + ellipkinc(np.arcsin(START[1] / A2), m), m)
    return np.stack([A1 * dn, A2 * sn, A3 * cn], axis=-1)


def turn(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]] if axis == "z" else [[1, 0, 0], [0, c, -s], [0, s, c]])


def attitude(t):
    """R(t): Euler angles 313 about the fixed momentum; nutation and spin are algebraic, precession is a quadrature.

    J ω / M = (sin θ sin ψ, sin θ cos ψ, cos θ),    φ̇ = M (J₁ω₁² + J₂ω₂²) / (J₁²ω₁² + J₂²ω₂²)
    """

    def about_momentum(time):
        L = J * body_rates(time) / MOMENTUM

        def rate(s):
            w = body_rates(s)[:2]
            return MOMENTUM * (J[:2] @ w**2) / (J[:2] ** 2 @ w**2)

        phi = sum(quad(rate, a, min(a + 1, time), epsabs=1e-13, epsrel=1e-13)[0] for a in np.arange(0.0, time, 1.0))
        return turn("z", phi) @ turn("x", np.arccos(L[2])) @ turn("z", np.arctan2(L[0], L[1]))

    return about_momentum(0.0).T, about_momentum(t)


@pytest.fixture(scope="module")
def run():
    return ts.simulate(ts.cases.load("free-body"), 20.0, outputs=100, tolerance=1e-12)


def test_body_rates_are_elliptic_functions(run):
    exact = body_rates(run.time.values)
    # relative tolerance 1e-12 per step, about 1,200 steps, growing where the body flips
    assert np.abs(run.angular_velocity.values[:, 0] - exact).max() < 1e-9


@pytest.mark.parametrize("at", [3.0, 11.0, 20.0])
def test_attitude_is_precession_nutation_and_spin(run, at):
    back, there = attitude(at)
    computed = run.rotation.sel(time=at, method="nearest").values[0]
    assert np.abs(computed - back @ there).max() < 1e-9  # as above, integrated once more


def test_centre_of_mass_moves_on_a_straight_line(run):
    exact = run.time.values[:, None] * np.array([0.3, -0.2, 0.1])
    assert np.abs(run.position.values[:, 0] - exact).max() < 1e-13  # rounding of 20 s of adding


def test_energy_and_angular_momentum_are_invariant(run):
    w, R = run.angular_velocity.values[:, 0], run.rotation.values[:, 0]
    L = np.einsum("tij,tj->ti", R, J * w)
    assert np.abs(L - L[0]).max() < 1e-10 * MOMENTUM
    assert np.abs(w**2 @ J - TWICE_ENERGY).max() < 1e-10 * TWICE_ENERGY
