"""Rotations and rigid motions against closed forms, series and independent codes."""

from decimal import Decimal, localcontext
from math import factorial

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from torsor.errors import OptionError
from torsor.lie import se3, smooth, so3
from torsor.lie.euler import SEQUENCES

ROUNDING = 1e-14  # a few dozen operations on numbers of size 1, at 2e-16 each
ANGLES = [0.0, 1e-9, 1e-4, 0.1, 0.25, 0.3, 1.0, 1.1, 2.0, 2.1, 3.0, np.pi, 4.0, 6.0]

components = st.floats(-1, 1, allow_subnormal=False)
vectors = st.tuples(components, components, components).map(np.array)
each = settings(max_examples=40, deadline=None, derandomize=True)


def close(actual, expected, atol=ROUNDING):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


def direction(seed=0):
    a = np.random.default_rng(seed).normal(size=3)
    return a / np.linalg.norm(a)


def motion(angle, seed=0):
    """A twist that turns by the given angle."""
    return se3.twist(angular=angle * direction(seed), linear=direction(seed + 1))


def taylor(f, s):
    """Exact series value of a small-angle function, Σ f(k) (−s)ᵏ, with 60 digits."""
    with localcontext() as context:
        context.prec = 60
        total = Decimal(0)
        for k in reversed(range(80)):
            total = f(k) - Decimal(s) * total
        return total


SERIES = {
    "sinc": lambda k: Decimal(1) / factorial(2 * k + 1),
    "versine": lambda k: Decimal(1) / factorial(2 * k + 2),
    "arc_excess": lambda k: Decimal(1) / factorial(2 * k + 3),
    "versine_slope": lambda k: -Decimal(k + 1) / factorial(2 * k + 4),
    "arc_excess_slope": lambda k: -Decimal(k + 1) / factorial(2 * k + 5),
}


def exact(name, s, order=0):
    """A small-angle function or its derivative of the given order in s, from the series of sin and cos."""
    with localcontext() as context:
        context.prec = 60
        if name in SERIES:
            f = SERIES[name]
            fall = {0: lambda k: 1, 1: lambda k: -(k + 1), 2: lambda k: (k + 1) * (k + 2)}[order]
            return float(taylor(lambda k: f(k + order) * fall(k), s))
        sinc, versine = taylor(SERIES["sinc"], s), taylor(SERIES["versine"], s)
        slope = taylor(SERIES["versine_slope"], s)
        bend = taylor(lambda k: SERIES["versine_slope"](k + 1) * -(k + 1), s)
        assert abs(sinc - 2 * versine - 2 * Decimal(s) * slope) < Decimal("1e-50")
        value = {
            "cotangent_defect": -slope / versine,
            "cotangent_defect_slope": (slope / versine) ** 2 - bend / versine,
        }
        return float(value[name])


@pytest.mark.parametrize("name", [*SERIES, "cotangent_defect", "cotangent_defect_slope"])
@pytest.mark.parametrize(
    "s", [0.0, 1e-300, 1e-8, 0.03, 0.0626, 0.0628, 0.9, 1.003, 1.004, 4.001, 4.002, 8.9, 9.1, 30.0]
)
def test_small_angle_functions_have_all_their_digits(name, s):
    # 10 roundings, as the switches keep the cancellation of the closed forms below that
    np.testing.assert_allclose(getattr(smooth, name)(s), exact(name, s), rtol=2e-15)


@pytest.mark.parametrize("name", SERIES)
@pytest.mark.parametrize("s", [0.0, 1e-8, 0.0626, 0.0628, 1.003, 1.004, 4.001, 4.002])
def test_small_angle_functions_have_right_derivatives(name, s):
    x = ca.SX.sym("x")
    second, first = ca.hessian(getattr(smooth, name)(x), x)
    slope, bend = ca.Function("f", [x], [first, second])(s)
    # a derivative by s divides a rounding by the switch, 1/0.06 for the first and its square for the second,
    # and is itself a hundred times smaller than the function
    np.testing.assert_allclose(float(slope), exact(name, s, 1), rtol=1e-12)
    np.testing.assert_allclose(float(bend), exact(name, s, 2), rtol=1e-9)


@pytest.mark.parametrize("s", [0.0, 1e-8, 1.003, 1.004, 9.0, 9.1])
def test_slope_of_the_cotangent_defect_is_its_derivative(s):
    x = ca.SX.sym("x")
    slope = ca.Function("f", [x], [ca.gradient(smooth.cotangent_defect(x), x)])(s)
    # the slope is 60 times smaller than the function, whose rounding it inherits
    np.testing.assert_allclose(float(slope), smooth.cotangent_defect_slope(s), rtol=1e-12)


@pytest.mark.parametrize("angle", [*ANGLES, 20.0])
def test_exp_is_the_matrix_exponential(angle):
    V = motion(angle)
    # the reference itself loses digits with the norm of its argument
    close(se3.exp(V), expm(se3.hat(V)), atol=1e-13)
    close(so3.exp(V[:3]), Rotation.from_rotvec(V[:3]).as_matrix(), atol=1e-14)


def test_exp_of_zero_is_the_identity_without_rounding():
    assert np.array_equal(so3.exp([0, 0, 0]), np.eye(3)) and np.array_equal(se3.exp(np.zeros(6)), np.eye(4))


@each
@given(vectors, st.floats(0, 30))
def test_exp_and_cay_give_rotations(w, scale):
    for R in (so3.exp(scale * w), so3.cay(scale * w)):
        close(R.T @ R, np.eye(3))
        close(np.linalg.det(R), 1)


@pytest.mark.parametrize("gap", [1e-1, 1e-3, 1e-6, 1e-9, 1e-12])
def test_log_is_accurate_next_to_half_a_turn(gap):
    for seed in range(10):
        w = (np.pi - gap) * direction(seed)
        close(so3.log(so3.exp(w)), w)


@pytest.mark.parametrize("axis", [*np.eye(3), *-np.eye(3), [0.6, 0.8, 0], [0, -0.6, 0.8], direction(3)])
def test_log_of_half_a_turn_is_one_of_its_two_axes(axis):
    a = np.array(axis)
    w = so3.log(2 * np.outer(a, a) - np.eye(3))
    close(np.linalg.norm(w), np.pi)
    close(np.abs(w @ a), np.pi)


@each
@given(vectors)
def test_log_undoes_exp(w):
    close(so3.log(so3.exp(w)), w)
    close(so3.log(so3.exp(1.8 * w / max(1, np.linalg.norm(w)))), 1.8 * w / max(1, np.linalg.norm(w)))


@pytest.mark.parametrize("angle", ANGLES[:-3])
def test_derivative_of_log_is_the_inverse_differential(angle):
    # log(exp(w) exp(t y)) = w + t dexp⁻¹(−w) y + O(t²), which holds at half a turn only from one side
    w, y, t = min(angle, 3.14) * direction(4), direction(5), ca.SX.sym("t")
    moved = so3.log(so3.exp(w) @ so3.exp(t * ca.SX(y)))
    slope = ca.Function("slope", [t], [ca.jacobian(moved, t)])(0).full().ravel()
    close(slope, so3.dexp_inverse(-w) @ y, atol=1e-13)  # some hundred operations


def ad_series(ad, coefficient):
    """Σ cₖ adᵏ."""
    total, power = np.zeros_like(ad), np.eye(len(ad))
    for k in range(60):
        total, power = total + coefficient(k) * power, power @ ad
    return total


@pytest.mark.parametrize("angle", ANGLES)
def test_dexp_is_its_series_in_ad(angle):
    V = motion(angle)
    # terms of size 6ᵏ/k! ≤ 65 are summed, each rounded
    close(so3.dexp(V[:3]), ad_series(so3.ad(V[:3]), lambda k: 1 / factorial(k + 1)), atol=1e-12)
    close(se3.dexp(V), ad_series(se3.ad(V), lambda k: 1 / factorial(k + 1)), atol=1e-12)


@pytest.mark.parametrize("angle", ANGLES)
def test_inverse_differentials_are_inverse(angle):
    V = motion(angle)
    for module, u in ((so3, V[:3]), (se3, V)):
        # near a full turn dexp⁻¹ grows like 1/(2π − θ)², which multiplies the rounding
        close(module.dexp(u) @ module.dexp_inverse(u), np.eye(len(u)), atol=1e-12)
        close(module.dcay(u) @ module.dcay_inverse(u), np.eye(len(u)), atol=1e-13)


@pytest.mark.parametrize("module, size", [(so3, 3), (se3, 6)])
@pytest.mark.parametrize("name", ["exp", "cay"])
def test_differential_is_the_spatial_velocity_of_the_map(module, size, name):
    u, rate, t = motion(1.3)[:size], np.random.default_rng(6).normal(size=size), ca.SX.sym("t")
    X = getattr(module, name)(u + t * ca.SX(rate))
    X_dot = ca.Function("slope", [t], [ca.reshape(ca.jacobian(ca.vec(X), t), X.shape)])(0).full()
    X = getattr(module, name)(u)
    spatial, body = module.vee(X_dot @ np.linalg.inv(X)), module.vee(np.linalg.inv(X) @ X_dot)
    close(getattr(module, "d" + name)(u) @ rate, spatial, atol=1e-13)  # an inverse adds some roundings
    close(getattr(module, "d" + name)(-u) @ rate, body, atol=1e-13)
    close(getattr(module, name + "_rate")(u, body), rate, atol=1e-13)
    close(getattr(module, "d" + name + "_inverse")(-u) @ body, getattr(module, name + "_rate")(u, body), atol=1e-13)


@pytest.mark.parametrize("angle", ANGLES)
def test_cayley_map_is_its_matrix_quotient(angle):
    V = motion(angle)
    for module, u in ((so3, V[:3]), (se3, V)):
        X = module.hat(u) / 2
        one = np.eye(len(X))
        close(module.cay(u), np.linalg.solve(one - X, one + X))
        # Cayley coordinates of size 6 belong to 1 + tr R = 0.4, which divides the rounding
        close(module.cay_inverse(module.cay(u)), u, atol=1e-13)


def test_cayley_map_turns_by_twice_the_arctangent():
    a = direction(7)
    close(so3.cay(2 * np.tan(0.4) * a), so3.exp(0.8 * a))


def test_cayley_map_agrees_with_exp_to_third_order():
    V = motion(1.0)
    gaps = [np.abs(se3.cay(h * V) - se3.exp(h * V)).max() for h in (1e-2, 5e-3)]
    assert 7.9 < gaps[0] / gaps[1] < 8.1  # 2³, up to the next order, h relative


@each
@given(vectors, vectors, components)
def test_quaternions_make_the_round_trip(w, v, scale):
    R = so3.exp(4 * w)
    q = so3.to_quaternion(R)
    close(np.linalg.norm(q), 1)
    assert q[0] >= 0
    close(so3.from_quaternion(q), R)
    close(so3.from_quaternion((3 + scale) * q), R)  # of any length


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("angle", [0.0, 1e-8, 2.0, 2.2, np.pi - 1e-9, np.pi + 1e-9])
def test_quaternions_equal_scipy(seed, angle):
    r = Rotation.from_rotvec(angle * direction(seed))
    close(so3.to_quaternion(r.as_matrix()), r.as_quat(canonical=True, scalar_first=True))


@pytest.mark.parametrize("q", np.eye(4))
def test_quaternion_derivatives_are_finite_at_every_quarter(q):
    R = ca.SX.sym("R", 3, 3)
    J = ca.Function("J", [R], [ca.jacobian(so3.to_quaternion(R), R)])(so3.from_quaternion(q))
    assert np.isfinite(J.full()).all()


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_angles_equal_scipy(sequence):
    letters = "".join("XYZ"[int(digit) - 1] for digit in sequence)
    for seed in range(8):
        a = np.random.default_rng(seed).uniform(-np.pi, np.pi, 3)
        r = Rotation.from_euler(letters, a)
        close(so3.from_euler(a, sequence), r.as_matrix())
        # angles next to lock divide a rounding by sin β or cos β, above 0.01 for these seeds
        close(so3.to_euler(r.as_matrix(), sequence), r.as_euler(letters), atol=1e-12)
        close(so3.from_euler(so3.to_euler(r.as_matrix(), sequence), sequence), r.as_matrix())


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("gap", [0.0, 1e-17, 1e-15, 1e-12, 1e-8])
def test_euler_angles_give_back_the_rotation_at_gimbal_lock(sequence, side, gap):
    proper = sequence[0] == sequence[2]
    lock = [0.0, np.pi][side] if proper else [-np.pi / 2, np.pi / 2][side]
    R = so3.from_euler([0.3, lock + gap, -1.1], sequence)
    angles = so3.to_euler(R, sequence)
    close(so3.from_euler(angles, sequence), R)
    if gap == 0.0:
        assert angles[2] == 0.0


def test_euler_313_is_the_classical_matrix():
    (s1, s2, s3), (c1, c2, c3) = np.sin([0.3, 0.5, -0.8]), np.cos([0.3, 0.5, -0.8])
    R = [
        [c1 * c3 - c2 * s1 * s3, -c1 * s3 - c2 * c3 * s1, s1 * s2],
        [c3 * s1 + c1 * c2 * s3, c1 * c2 * c3 - s1 * s3, -c1 * s2],
        [s2 * s3, c3 * s2, c2],
    ]
    close(so3.from_euler([0.3, 0.5, -0.8], "313"), R)


@pytest.mark.parametrize("sequence", ["113", "322", "12", "414", "zxz", "", 313])
def test_invalid_euler_sequences_are_refused(sequence):
    with pytest.raises(OptionError, match="unknown Euler sequence"):
        so3.from_euler([0, 0, 0], sequence)
    with pytest.raises(ValueError, match="313"):
        so3.to_euler(np.eye(3), sequence)


@pytest.mark.parametrize("axis", [*np.eye(3), direction(8)])
def test_rotation_about_an_axis_is_exp(axis):
    close(so3.rotation(axis, -2.3), so3.exp(-2.3 * axis))


def test_rotation_about_a_coordinate_axis_needs_sine_and_cosine_only():
    angle = ca.SX.sym("angle")
    f = ca.Function("f", [angle], [ca.sparsify(so3.rotation([0, 0, 1], angle))])
    operations = [f.instruction_id(k) for k in range(f.n_instructions())]
    allowed = {ca.OP_SIN, ca.OP_COS, ca.OP_NEG, ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST}
    assert set(operations) <= allowed


@each
@given(vectors.filter(lambda a: np.linalg.norm(a) > 1e-3))
def test_normals_complete_a_right_handed_frame(axis):
    frame = np.vstack([so3.normals(axis), axis / np.linalg.norm(axis)])
    close(frame @ frame.T, np.eye(3))
    close(np.linalg.det(frame), 1)


def test_normals_of_coordinate_axes_are_coordinate_axes():
    x, y, z = np.eye(3)
    for axis, rows in ((x, [y, z]), (y, [z, x]), (z, [x, y])):
        assert np.array_equal(so3.normals(axis), rows)
    with pytest.raises(OptionError, match="no direction"):
        so3.normals([0, 0, 0])


def test_poses_and_twists_come_apart_as_they_were_put_together():
    R, p, V = so3.exp([1, 2, 3]), np.array([4.0, 5, 6]), np.arange(6.0)
    angular, linear = se3.split(V)
    assert np.array_equal(se3.twist(angular=angular, linear=linear), V)
    assert np.array_equal(se3.twist(linear=linear), [0, 0, 0, 3, 4, 5])
    assert np.array_equal(se3.vee(se3.hat(V)), V) and np.array_equal(so3.vee(so3.hat(p)), p)
    for ours, given_ in zip(se3.split_pose(se3.pose(R, p)), (R, p)):
        assert np.array_equal(ours, given_)
    close(se3.inverse(se3.pose(R, p)), np.linalg.inv(se3.pose(R, p)), atol=1e-13)  # numbers of size 10


def test_hat_is_the_cross_product_and_ad_the_commutator():
    u, w = motion(1.0, 9), motion(2.0, 10)
    close(so3.hat(u[:3]) @ w[:3], np.cross(u[:3], w[:3]))
    commutator = se3.hat(u) @ se3.hat(w) - se3.hat(w) @ se3.hat(u)
    close(se3.vee(commutator), se3.ad(u) @ w)


def test_power_is_the_same_in_every_frame():
    H, V, W = se3.exp(motion(1.0, 11)), motion(1.0, 12), motion(1.0, 13)
    close((se3.Ad(H).T @ W) @ V, W @ (se3.Ad(H) @ V))


def test_lists_of_symbols_are_vectors_and_matrices():
    a = ca.SX.sym("a")
    R = so3.rotation([0, 0, 1], a)
    H = se3.pose([[R[0, 0], R[0, 1], 0], [R[1, 0], R[1, 1], 0], [0, 0, 1]], [a, 0, 1])
    close(ca.Function("H", [a], [H])(0.3).full(), se3.pose(so3.exp([0, 0, 0.3]), [0.3, 0, 1]))
