"""Laws of the joint-coordinate quantities, and the same numbers from MuJoCo for real robots."""

import numpy as np
import pytest

import torsor as ts

TREES = ["platform", "manipulator", "three-link", "heavy-top", "panels"]


def dynamics(case):
    found = ts.compile(ts.cases.load(case), formulation="relative")
    random = np.random.default_rng(2)
    n = found.v.size
    q = found.kernels["retract"](found.q, 0.5 * random.standard_normal(n))[0]
    return found, q, random.standard_normal(n), random.standard_normal(n), random


@pytest.mark.parametrize("case", TREES)
def test_the_mass_matrix_gives_the_kinetic_energy(case):
    found, q, v, _, _ = dynamics(case)
    M = found.mass_matrix(q)
    T = 0.0
    for body in ts.cases.load(case).bodies:
        J = found.body_jacobian(body.name, q)
        m, theta = float(body.mass), np.array(ts.quantity.numbers(body.inertia))
        u = J @ v
        T += 0.5 * m * u[:3] @ u[:3] + 0.5 * u[3:] @ theta @ u[3:]
    assert np.allclose(M, M.T, atol=1e-12 * np.abs(M).max())
    assert 0.5 * v @ M @ v == pytest.approx(T, rel=1e-12)  # two routes to one number, rounding only


@pytest.mark.parametrize("case", TREES)
def test_the_rate_of_m_less_twice_c_is_skew(case):
    found, q, v, _, _ = dynamics(case)
    h = 1e-6
    ahead, behind = (found.mass_matrix(found.kernels["retract"](q, s * h * v)[0]) for s in (1, -1))
    S = (ahead - behind) / (2 * h) - 2 * found.coriolis(q, v)
    # the central difference is good to h² and to rounding / h
    assert np.abs(S + S.T).max() < 1e-8 * (1 + np.abs(found.mass_matrix(q)).max() * np.abs(v).max())


@pytest.mark.parametrize("case", TREES)
def test_forward_and_inverse_dynamics_are_inverse(case):
    found, q, v, tau, _ = dynamics(case)
    a = found.forward_dynamics(q, v, tau)
    scale = np.abs(found.mass_matrix(q)).max() * (1 + np.abs(a).max())
    assert np.abs(found.inverse_dynamics(q, v, a) - tau).max() < 1e-11 * scale


@pytest.mark.parametrize("case", ["platform", "three-link", "heavy-top"])  # no forces but gravity
def test_the_equation_of_motion_adds_up(case):
    found, q, v, a, _ = dynamics(case)
    M, C, g = found.mass_matrix(q), found.coriolis(q, v), found.gravity(q)
    need = found.inverse_dynamics(q, v, a)
    assert np.abs(M @ a + C @ v + g - need).max() < 1e-11 * (1 + np.abs(need).max())


@pytest.mark.parametrize(("case", "body"), [("chain", "link4"), ("car", "left_wheel.ring"), ("three-link", "link3")])
def test_derivatives_of_the_jacobian_are_lie_brackets(case, body):
    """Against central differences along every coordinate direction: good to h² and to rounding / h."""
    found, q, _, _, _ = dynamics(case)
    K, D = found.jacobian_derivative(body, q)
    h, n = 1e-6, found.v.size
    for b in range(n):
        move = lambda s, b=b: found.kernels["retract"](q, s * h * np.eye(n)[b])[0]
        ahead, behind = (found.jacobian_derivative(body, move(s))[0] for s in (1, -1))
        assert np.abs((ahead - behind) / (2 * h) - D[:, :, b]).max() < 1e-8 * (1 + np.abs(K).max())


def test_kernels_stay_below_their_instruction_counts():
    """Symmetric matrices are computed once and transformed block by block: bars 1,300 at 7 links and 7,800 at 30."""
    for links, limit in ((7, 1155), (30, 7062)):
        counts = ts.compile(ts.cases.load("chain", n=links), formulation="relative").instructions
        assert counts["accelerations"] <= limit


def test_matrices_need_joint_coordinates():
    with pytest.raises(ts.OptionError, match="relative"):
        ts.compile(ts.cases.load("three-link")).mass_matrix()


def test_unknown_bodies_and_wrong_sizes_are_refused():
    found = ts.compile(ts.cases.load("three-link"), formulation="relative")
    with pytest.raises(ts.OptionError, match="Known: link1"):
        found.body_jacobian("link9")
    with pytest.raises(ts.OptionError, match="tau must have 7 numbers"):
        found.forward_dynamics(tau=[1.0])
