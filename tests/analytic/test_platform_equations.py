"""Hamilton's equations of the platform as [bai2024] prints them, against derivatives of the Lagrangian: right but for two terms.

The document's letters: S(a) x = a × x, rows of Q belong to the tables, l the arms, ρ the centres; eq. 17 to 42 there.
"""

import importlib.util
import pathlib

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.cases.platform import ARM, CENTER, HINGE_AXES, INERTIA, MASS

S, G = ca.skew, 9.81
E1, E2, E3 = (ca.DM(x) for x in ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
RHO, L1, L2 = [ca.DM(x) for x in CENTER], ARM[1][2], ARM[2][0]
J = ca.diagcat(*[ca.diag(ca.DM(x)) for x in INERTIA])
M = ca.diagcat(*[m * ca.DM.eye(3) for m in MASS])
E = ca.vertcat(E3, E3, E3)
Z, ZZ = ca.DM.zeros(3, 1), ca.DM.zeros(3, 3)


def rows(*blocks):
    return ca.vertcat(*[ca.horzcat(*row) for row in blocks])


def random_rotation(random):
    q, _ = np.linalg.qr(random.standard_normal((3, 3)))
    return q * np.sign(np.linalg.det(q))


def energies(R, w):
    """T and U with the absolute rotations R and angular velocities w of the tables."""
    s = [R[0] @ RHO[0], L1 * R[0] @ E3 + R[1] @ RHO[1], L1 * R[0] @ E3 + L2 * R[1] @ E1 + R[2] @ RHO[2]]  # (7)
    rate = lambda x: sum(ca.jtimes(x, ca.vec(R[k]), ca.vec(R[k] @ S(w[k]))) for k in range(3))
    v, every = ca.vertcat(*map(rate, s)), ca.vertcat(*w)
    return 0.5 * ca.bilin(J, every, every) + 0.5 * ca.bilin(M, v, v), G * ca.dot(E, M @ ca.vertcat(*s))


def along(scalar, R, axes):
    """Derivatives of a scalar along R → R (1 + η S(a))."""
    return [ca.dot(ca.gradient(scalar, ca.vec(R)), ca.vec(R @ S(a))) for a in axes]


def q2(R):
    return rows([R[0] @ S(RHO[0]), ZZ, ZZ], [L1 * R[0] @ S(E3), R[1] @ S(RHO[1]), ZZ],
                [L1 * R[0] @ S(E3), L2 * R[1] @ S(E1), R[2] @ S(RHO[2])])  # fmt: skip


@pytest.fixture
def at_random():
    random = np.random.default_rng(2)
    return [random_rotation(random) for _ in range(3)], random.standard_normal(9)


def test_the_absolute_form_but_for_the_sign_of_the_transport(at_random):
    """(41) has −S(Π) ω where Euler's equations have Π × ω = S(Π) ω; the rest agrees."""
    R, w = [ca.SX.sym("R", 3, 3) for _ in range(3)], [ca.SX.sym("w", 3) for _ in range(3)]
    T, U = energies(R, w)
    every = ca.vertcat(*w)
    momenta = ca.gradient(T, every)
    derived = ca.vertcat(*[ca.cross(momenta[3 * k : 3 * k + 3], w[k]) for k in range(3)])  # ad(ω)ᵀ Π
    derived += ca.vertcat(*[x for k in range(3) for x in along(T - U, R[k], (E1, E2, E3))])
    Q2, turned = q2(R), [R[k] @ S(S(w[k]) @ x) for k, x in ((0, RHO[0]), (1, RHO[1]), (2, RHO[2]))]
    Q6 = rows([turned[0], ZZ, ZZ], [L1 * R[0] @ S(S(w[0]) @ E3), turned[1], ZZ],
              [L1 * R[0] @ S(S(w[0]) @ E3), L2 * R[1] @ S(S(w[1]) @ E1), turned[2]])  # fmt: skip
    transport = ca.diagcat(*[S(momenta[3 * k : 3 * k + 3]) for k in range(3)]) @ every
    printed = -transport + Q6.T @ M @ Q2 @ every + G * Q2.T @ M @ E  # (41)
    stated = (J + Q2.T @ M @ Q2) @ every
    found = ca.Function("found", [*R, every], [derived, printed, transport, momenta, stated])
    derived, printed, transport, momenta, stated = (x.full() for x in found(*at_random[0], at_random[1]))
    np.testing.assert_allclose(momenta, stated, atol=1e-13)
    np.testing.assert_allclose(derived, printed + 2 * transport, atol=1e-12)
    assert np.abs(transport).max() > 1e-3


def test_the_relative_form_but_for_a_term_of_the_last_joint(at_random):
    """Q3 of (30) lacks −ω_z S(e₁) (R_y R_x)ᵀ e₃, how the first table's rate turns in the last one's axes; with it (42) agrees."""
    R, w = [ca.SX.sym("R", 3, 3) for _ in range(3)], ca.SX.sym("w", 3)
    Rz, Ry, Rx = R
    absolute = [Rz, Rz @ Ry, Rz @ Ry @ Rx]
    Q1 = rows([E3, Z, Z], [Ry.T @ E3, E2, Z], [(Ry @ Rx).T @ E3, Rx.T @ E2, E1])
    turning = Q1 @ w
    w1, w2, w3 = ca.vertsplit(turning, 3)
    plain, rates = [ca.SX.sym("A", 3, 3) for _ in range(3)], [ca.SX.sym("u", 3) for _ in range(3)]
    T, U = ca.substitute(list(energies(plain, rates)), [*plain, *rates], [*absolute, w1, w2, w3])
    momenta = ca.gradient(T, w)
    derived = ca.vertcat(*[along(T - U, R[k], (ca.DM(HINGE_AXES[k]),))[0] for k in range(3)])
    R1, R2, R3 = absolute
    Q2, last = q2(absolute), -w[1] * S(E1) @ Rx.T @ E2
    left_out = -w[0] * S(E1) @ (Ry @ Rx).T @ E3
    inner = [S(RHO[0]) @ w1, S(RHO[1]) @ w2, S(RHO[2]) @ w3]
    Q4 = rows([R1 @ S(E3) @ inner[0], Z, Z],
              [R1 @ S(E3) @ (L1 * S(E3) @ w1 + Ry @ inner[1]), R2 @ S(E2) @ inner[1], Z],
              [R1 @ S(E3) @ (L1 * S(E3) @ w1 + L2 * Ry @ S(E1) @ w2 + Ry @ Rx @ inner[2]),
               R2 @ S(E2) @ (L2 * S(E1) @ w2 + Rx @ inner[2]), R3 @ S(E1) @ inner[2]])  # fmt: skip
    Q5 = rows([R1 @ S(E3) @ RHO[0], Z, Z], [R1 @ S(E3) @ (L1 * E3 + Ry @ RHO[1]), R2 @ S(E2) @ RHO[1], Z],
              [R1 @ S(E3) @ (L1 * E3 + L2 * Ry @ E1 + Ry @ Rx @ RHO[2]), R2 @ S(E2) @ (L2 * E1 + Rx @ RHO[2]),
               R3 @ S(E1) @ RHO[2]])  # fmt: skip

    def stated(last):
        second, third = -w[0] * S(E2) @ Ry.T @ E3, w[0] * (Ry @ S(E2) @ Rx).T @ E3
        Q3 = rows([Z, Z, Z], [Z, second, Z], [Z, third, last])
        return (Q3.T @ J @ Q1 + (Q4 + Q2 @ Q3).T @ M @ Q2 @ Q1) @ w - G * Q5.T @ M @ E  # (42)

    results = [derived, stated(last), stated(last + left_out), momenta, Q1.T @ (J + Q2.T @ M @ Q2) @ Q1 @ w]
    found = ca.Function("found", [*R, w], results)
    derived, printed, whole, momenta, product = (x.full() for x in found(*at_random[0], at_random[1][:3]))
    np.testing.assert_allclose(momenta, product, atol=1e-13)
    np.testing.assert_allclose(derived, whole, atol=1e-12)
    assert np.abs(derived - printed).max() > 1e-3


def test_the_absolute_form_is_that_of_ball_joints(at_random):
    """(41) knows no axes: with the right sign it moves three bodies on ball joints, as a model of those does."""
    model, joint, below = ts.Model("balls", gravity=(0, 0, -G)), np.zeros(3), None
    for k in range(3):
        joint = joint + ARM[k]
        table = model.body(f"table{k}", mass=MASS[k], inertia=INERTIA[k], at=joint + CENTER[k])
        model.add(ts.Spherical(f"ball{k}", below or model.ground, table, point=joint))
        below = table
    R, w, a = ([ca.SX.sym(name, 3, n) for _ in range(3)] for name, n in (("R", 3), ("w", 1), ("a", 1)))
    T, U = energies(R, w)
    every, moving = ca.vertcat(*w), ca.vertcat(*[ca.vec(R[k] @ S(w[k])) for k in range(3)])
    momenta, numbers = ca.gradient(T, every), ca.vertcat(*map(ca.vec, R))
    left = ca.jtimes(momenta, ca.vertcat(numbers, every), ca.vertcat(moving, *a))  # Π̇ with these accelerations
    right = ca.vertcat(*[ca.cross(momenta[3 * k : 3 * k + 3], w[k]) for k in range(3)])
    right += ca.vertcat(*[x for k in range(3) for x in along(T - U, R[k], (E1, E2, E3))])
    rotations, rates = at_random
    dynamics = ts.compile(model, formulation="relative")
    above = [np.eye(3), *rotations]
    q = np.concatenate([(above[k].T @ rotations[k]).ravel(order="F") for k in range(3)])
    own = rates.reshape(3, 3)
    seen = [np.zeros(3), *own]
    v = np.concatenate([own[k] - (above[k].T @ rotations[k]).T @ seen[k] for k in range(3)])  # relative ones
    accelerations = dynamics.body_accelerations(q, v).reshape(3, 6)[:, 3:]
    both = ca.Function("both", [*R, *w, *a], [left, right])(*rotations, *own, *accelerations)
    np.testing.assert_allclose(*[x.full() for x in both], atol=1e-11)


def test_planar_counterparts_part_where_they_are_chaotic():
    """All axes parallel: gravity in the plane makes a triple pendulum, which parts sooner than the platform in space (2.6 s at this
    tolerance); gravity across it a regular motion, in which the two descriptions stay together."""
    path = pathlib.Path(__file__).parents[2] / "examples" / "platform_descriptions.py"
    spec = importlib.util.spec_from_file_location("platform_example", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    parting, _ = example.planar((0, 1, 0), 4.0, 1e-6)
    assert 1.5 < parting < 3.5
    parting, most = example.planar((0, 0, 1), 20.0, 1e-6)
    assert parting == np.inf and most < 5e-3
