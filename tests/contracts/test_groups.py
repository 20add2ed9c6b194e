"""Every registered group obeys the laws of a Lie group, for numbers and for symbols."""

import casadi as ca
import numpy as np
import pytest

import torsor.lie as lie
from torsor.errors import OptionError
from torsor.registry import registered

GROUPS = [example for cls in registered("group").values() for example in cls.examples()]
ROUNDING = 1e-13  # a few dozen operations on numbers of size up to 5, at 2e-16 each

every_group = pytest.mark.parametrize("group", GROUPS, ids=str)
every_map = pytest.mark.parametrize("map", lie.MAPS)


def largest_angle(group, u):
    """Angle of the fastest turning part of u: the eigenvalues of ad(u) are ± i times the angles.

    Equal eigenvalues may form Jordan blocks, where one alone is good to 1e-8 only; the mean of a cluster is exact.
    """
    turns = np.linalg.eigvals(group.ad(u)).imag
    return turns[turns >= 0.9999 * turns.max()].mean()


def velocity(group, seed, angle=None):
    """Random element of the algebra, scaled to a largest angle where the group turns at all."""
    u = np.random.default_rng(seed).uniform(-1, 1, group.dimension)
    present = largest_angle(group, u)
    if angle is None:
        return u
    return u * angle / present if present > 0 else u * angle


def element(group, seed):
    """Random element of the group."""
    return group.retract(group.retract(group.identity(), 2 * velocity(group, seed)), velocity(group, seed + 50))


def close(actual, expected, atol=ROUNDING):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


@every_group
def test_composition_is_associative_with_identity_and_inverse(group):
    x, y, z, e = element(group, 1), element(group, 2), element(group, 3), group.identity()
    assert e.shape == x.shape == (group.size,)
    close(group.compose(group.compose(x, y), z), group.compose(x, group.compose(y, z)))
    close(group.compose(x, e), x)
    close(group.compose(e, x), x)
    close(group.compose(x, group.inverse(x)), e)
    close(group.compose(group.inverse(x), x), e)


@every_group
@every_map
@pytest.mark.parametrize("angle", [0.0, 1e-8, 1e-4, 0.7, 2.5])
def test_local_undoes_retract(group, map, angle):
    x, u = element(group, 4), velocity(group, 5, angle)
    close(group.local(x, group.retract(x, u, map), map), u)


@every_group
@pytest.mark.parametrize("gap", [1e-2, 1e-6, 1e-10])
def test_local_undoes_retract_next_to_half_a_turn(group, gap):
    x, u = element(group, 4), velocity(group, 6, np.pi - gap)
    close(group.local(x, group.retract(x, u)), u)


@every_group
@every_map
def test_retract_undoes_local(group, map):
    for seed in range(5):
        x, y = element(group, seed), element(group, seed + 10)
        # random rotations come within 0.1 of half a turn, where Cayley coordinates are of size 2/0.1, squared 400
        close(group.retract(x, group.local(x, y, map), map), y, atol=ROUNDING if map == "exp" else 400 * ROUNDING)


@every_group
@every_map
def test_small_coordinates_keep_their_relative_accuracy(group, map):
    for angle in (1e-4, 1e-8, 1e-100):
        u = velocity(group, 7, angle)
        # 1e-14: a few dozen roundings of relative size 2e-16, as nothing is subtracted about the identity
        np.testing.assert_allclose(group.log(group.exp(u, map), map), u, rtol=1e-14, atol=1e-14 * angle)


@every_group
@every_map
@pytest.mark.parametrize("angle", [0.0, 1e-8, 1e-4, 0.2503, 0.2505, 1.0018, 1.0019, 3.0])
def test_dexp_inverse_is_the_rate_of_local_coordinates(group, map, angle):
    x, u, w = element(group, 8), velocity(group, 9, angle), velocity(group, 10)
    rate = group.dexp_inverse(u, w, map)
    t = ca.SX.sym("t")
    moved = group.local(group.retract(x, u, map), group.retract(x, u + t * ca.SX(rate), map))
    body_velocity = ca.Function("V", [t], [ca.jacobian(moved, t)])(0).full().ravel()
    close(body_velocity, w)


@every_group
def test_adjoint_is_a_homomorphism(group):
    x, y = element(group, 11), element(group, 12)
    close(group.Ad(group.compose(x, y)), group.Ad(x) @ group.Ad(y))
    close(group.Ad(group.inverse(x)) @ group.Ad(x), np.eye(group.dimension))


@every_group
def test_momenta_are_carried_by_the_adjoint_of_the_way(group):
    x, y, m = element(group, 18), element(group, 19), velocity(group, 20)
    close(group.transport_momentum(x, y, m), group.Ad(group.compose(group.inverse(x), y)).T @ m)


@every_group
@every_map
def test_conjugation_is_the_adjoint_inside_the_map(group, map):
    x, u = element(group, 13), velocity(group, 14)
    conjugated = group.compose(group.retract(x, u, map), group.inverse(x))
    close(group.exp(group.Ad(x) @ u, map), conjugated)


@every_group
def test_ad_is_the_derivative_of_Ad_and_is_antisymmetric(group):
    u, w, t = velocity(group, 15), velocity(group, 16), ca.SX.sym("t")
    Ad = group.Ad(group.exp(t * ca.SX(u)))
    slope = ca.Function("slope", [t], [ca.reshape(ca.jacobian(ca.vec(Ad), t), Ad.shape)])(0)
    close(group.ad(u), slope.full())
    close(group.ad(u) @ w, -group.ad(w) @ u)
    close(group.ad(u) @ u, np.zeros(group.dimension))


@every_group
def test_brackets_satisfy_the_jacobi_identity(group):
    u, w = velocity(group, 17), velocity(group, 18)
    close(group.ad(group.ad(u) @ w), group.ad(u) @ group.ad(w) - group.ad(w) @ group.ad(u))


@every_group
def test_exp_is_a_one_parameter_subgroup(group):
    u = velocity(group, 19)
    close(group.compose(group.exp(0.3 * u), group.exp(0.9 * u)), group.exp(1.2 * u))


@every_group
@every_map
@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
def test_symbols_equal_numbers(group, map, kind):
    x, y, u, w = element(group, 20), element(group, 21), velocity(group, 22), velocity(group, 23)
    X, Y = kind.sym("x", group.size), kind.sym("y", group.size)
    U, W = kind.sym("u", group.dimension), kind.sym("w", group.dimension)
    laws = [
        lambda x, y, u, w: group.retract(x, u, map),
        lambda x, y, u, w: group.local(x, y, map=map),
        lambda x, y, u, w: group.dexp_inverse(u, w, map),
        lambda x, y, u, w: group.compose(x, y),
        lambda x, y, u, w: group.inverse(x),
        lambda x, y, u, w: group.Ad(x),
        lambda x, y, u, w: group.ad(u),
        lambda x, y, u, w: group.tidy(x),
    ]
    for law in laws:
        traced, number = law(X, Y, U, W), law(list(x), ca.DM(y), u, tuple(w))
        assert isinstance(traced, kind) and isinstance(number, np.ndarray)
        value = ca.Function("law", [X, Y, U, W], [traced])(x, y, u, w).full()
        close(value.reshape(number.shape), number)


@every_group
@every_map
def test_first_and_second_derivatives_at_zero(group, map):
    # a curve with the constant body velocity w obeys ẋ = L(x), so ẍ = DL(x) L(x); both maps agree with it to t²
    w = ca.SX(velocity(group, 24))
    t, x, u = ca.SX.sym("t"), ca.SX.sym("x", group.size), ca.SX.sym("u", group.dimension)
    zero = ca.SX.zeros(group.dimension)
    push = ca.substitute(ca.jtimes(group.compose(x, group.exp(u)), u, w), u, zero)
    curve = group.exp(t * w, map)
    slope = ca.jacobian(curve, t)
    actual = ca.Function("curve", [t], [slope, ca.jacobian(slope, t)])(0)
    expected = ca.Function("flow", [x], [push, ca.jtimes(push, x, push)])(group.identity())
    for a, b in zip(actual, expected):
        close(a.full(), b.full())


@every_group
@every_map
def test_local_after_retract_has_unit_slope_and_no_curvature_at_zero(group, map):
    x, u = element(group, 25), ca.SX.sym("u", group.dimension)
    slope = ca.jacobian(group.local(x, group.retract(x, u, map), map), u)
    curvature = ca.jacobian(ca.vec(slope), u)
    first, second = ca.Function("round", [u], [slope, curvature])(np.zeros(group.dimension))
    close(first.full(), np.eye(group.dimension))
    close(second.full(), np.zeros(curvature.shape))


@every_group
def test_tidy_moves_no_element_and_restores_orthogonality_quadratically(group):
    x = element(group, 26)
    close(group.tidy(x), x)
    noise = np.random.default_rng(27).uniform(-1, 1, group.size)

    def defect(size):
        y = group.tidy(x + size * noise)
        return np.abs(group.Ad(y) @ group.Ad(group.inverse(y)) - np.eye(group.dimension)).max()

    # ‖RᵀR − I‖ ≤ 3.5e-3 before the step becomes ¾ of its square after it, times |p| and the number of terms
    assert defect(1e-3) < 1e-4
    # a hundred times less noise leaves ten thousand times less defect; 10 for the higher orders
    assert defect(1e-5) <= 10 * 1e-4 * defect(1e-3) + ROUNDING


@every_group
def test_unknown_map_is_refused(group):
    with pytest.raises(OptionError, match="unknown map 'expo'"):
        group.retract(group.identity(), np.zeros(group.dimension), "expo")


@every_group
def test_groups_are_values(group):
    assert group == group and hash(group) == hash(group) and group.key in registered("group")


@every_group
def test_axes_that_stay_turn_with_the_element_and_change_no_length(group):
    """axes(x · y) = axes(x) axes(y) along its rotations, each of them orthogonal; where nothing turns it is the identity."""
    x, y = element(group, 11), element(group, 12)
    S = group.axes(x)
    close(S @ S.T, np.eye(group.dimension))
    close(group.axes(group.compose(x, y)), S @ group.axes(y))
