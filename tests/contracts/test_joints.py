"""Every registered joint: its free motions, its residual and its coordinates describe one and the same joint."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from documented import documented
from scenes import bodies

import torsor as ts
from torsor.formulations.absolute import Absolute
from torsor.lie import se3, so3
from torsor.start.constraints import Examiner
from torsor.start.model_start import given_start
from torsor.start.velocities import consistent_velocities

# a few hundred operations on numbers of size up to 30 (displacements of a screw after many turns), at 2e-16 each
ROUNDING = 1e-12
TURN = 2 * np.pi


def scene():
    """Two bodies, placed askew, that an example joint connects."""
    model, first, second = bodies()
    return model, {"first": first, "second": second, "point": (0.7, 0.1, -0.2)}


CASES = [
    pytest.param((cls, k), id=f"{key}-{k}")
    for key, cls in {**ts.registered("joint"), **documented("joint")}.items()
    for k in range(len(cls.variants))
]


def example(cls, k, **extra):
    """The k-th example of a joint, added to a fresh scene."""
    model, offered = scene()
    return model, model.add(replace(cls.examples(offered)[k], **extra))


@pytest.fixture(params=CASES)
def case(request):
    return request.param


@pytest.fixture
def joint(case):
    return example(*case)[1]


def samples(joint, count=5):
    """Random coordinates; angles over many turns, rotation vectors within half a turn."""
    random = np.random.default_rng(1)
    many = 0.9 if joint.quasi else 20.0
    return [np.zeros(joint.dof), *(random.uniform(-1, 1, joint.dof) * many for _ in range(count))]


def value(expression, symbol, at):
    return ca.Function("f", [symbol], [ca.densify(expression)])(at).full()


def evaluated(joint, q):
    """pose, motion, residual and D residual along all six directions (δθ, δp in the axes of the second frame)."""
    H = joint.pose(ca.SX(q))
    u = ca.SX.sym("u", 6)
    residual = joint.residual(ca.SX(ca.evalf(H)) @ se3.exp(u))
    return (
        ca.evalf(H).full(),
        value(joint.motion(ca.SX(q)), u, 0),
        value(residual, u, 0),
        value(ca.jacobian(residual, u), u, 0),
    )


def test_residual_vanishes_on_the_free_motions(joint):
    for q in samples(joint):
        H, _, g, _ = evaluated(joint, q)
        np.testing.assert_allclose(g, 0, atol=ROUNDING)
        np.testing.assert_allclose(H[:3, :3].T @ H[:3, :3], np.eye(3), atol=ROUNDING)


def test_declared_motion_is_the_derivative_of_the_pose(joint):
    """H⁻¹ ∂H/∂q_k = S_k^ where velocities are rates; where v ≠ q̇ (rotation vectors) S v spans the same motions."""
    q = ca.SX.sym("q", joint.dof)
    H = joint.pose(q)
    columns = [se3.vee(se3.inverse(H) @ ca.reshape(ca.jacobian(ca.vec(H), q[k]), 4, 4)) for k in range(joint.dof)]
    traced = ca.horzcat(ca.SX(6, 0), *columns)
    for at in samples(joint):
        T, S = value(traced, q, at), value(joint.motion(q), q, at)
        map, *_ = np.linalg.lstsq(S, T, rcond=None)
        np.testing.assert_allclose(S @ map, T, atol=ROUNDING * max(1, np.abs(T).max(initial=0)))
        if not joint.quasi:
            np.testing.assert_allclose(S, T, atol=ROUNDING * max(1, np.abs(T).max(initial=0)))
    at_zero = np.zeros(joint.dof)  # v = q̇ at the reference configuration, for every joint
    np.testing.assert_allclose(value(traced, q, at_zero), value(joint.motion(q), q, at_zero), atol=ROUNDING)


def test_residual_stops_what_the_motion_leaves_and_nothing_else(joint):
    for q in samples(joint):
        _, S, g, D = evaluated(joint, q)
        assert S.shape == (6, joint.dof) and len(joint.angular) == joint.dof
        np.testing.assert_allclose(D @ S, 0, atol=ROUNDING * max(1, np.abs(S).max(initial=0)))
        rank = np.linalg.matrix_rank(D, tol=1e-6) if len(D) else 0
        assert rank == len(g) == 6 - joint.dof
        assert len(joint.directions()) == len(g)
        assert np.linalg.matrix_rank(S, tol=1e-6) == joint.dof if joint.dof else True


def test_coordinates_invert_the_pose(joint):
    for q in samples(joint):
        back = value(joint.coordinates(joint.pose(ca.SX(q))), ca.SX.sym("none"), 0).ravel()
        wrapped = [(b - a + np.pi) % TURN - np.pi if turns else b - a for a, b, turns in zip(q, back, joint.angular)]
        np.testing.assert_allclose(wrapped, 0, atol=1e-10)  # acos-like loss near the ends of a rotation vector


def test_a_potential_of_a_coordinate_acts_as_a_force_along_it_does(joint, monkeypatch):
    """∂q = ∂v in all six directions, those that the joint forbids included: reactions do not depend on how a load is given. On a
    coordinate that turns it is a torque, whatever the unit of lengths is."""
    u = ca.SX.sym("u", 6)
    monkeypatch.setattr(type(joint), "relative_twist", lambda self: u)
    for q in samples(joint):
        H, S, _, _ = evaluated(joint, q)
        monkeypatch.setattr(type(joint), "relative_pose", lambda self, H=H: ca.SX(H))
        by_force = value(ca.jacobian(joint.joint_rates(), u), u, 0)
        if not joint.quasi:  # else velocities are no rates of the coordinates
            by_potential = value(ca.jacobian(joint.coordinates(ca.SX(H) @ se3.exp(u)), u), u, 0)
            np.testing.assert_allclose(by_potential, by_force, atol=30 * ROUNDING)
        turns = np.abs(S[:3]).max(axis=0, initial=0) > 0
        np.testing.assert_allclose(by_force[turns, 3:], 0, atol=ROUNDING)


def test_a_joint_between_bodies_starts_at_its_coordinates_and_rates(case, joint):
    """The absolute formulation reproduces start and start_rate of every joint, and counts the turns."""
    q, v = samples(joint)[2], np.random.default_rng(4).uniform(-1, 1, joint.dof)
    model, made = example(*case, start=list(q), start_rate=list(v))
    f = Absolute(model)
    examiner = Examiner(f, 1.0)
    start = given_start(f, 0.0, {})
    state, turns = start.q, start.p
    np.testing.assert_allclose(examiner.g(0.0, state, turns), 0, atol=ROUNDING)
    speeds, changes = consistent_velocities(f, examiner, 0.0, state, turns)
    assert all("left open" in change for change in changes)  # the pair floats: its momentum is zero
    told = made.equations()
    inputs = [f.q, f.v, f.p]
    found = ca.Function("f", inputs, [f.substitution.of(told.coordinates), f.substitution.of(told.rates)])
    coordinates, rates = (x.full().ravel() for x in found(state, speeds, turns))
    np.testing.assert_allclose(coordinates, q, atol=1e-10)
    np.testing.assert_allclose(rates, v, atol=1e-9)  # least squares by levels, cut off at 1e-9


def test_shared_trace_says_what_the_joint_says(joint):
    """Equal joints share one traced function; it equals the joint's own equations."""
    told, own = joint.equations(), joint._own_equations()
    symbols = [s for b in (joint.first, joint.second) for s in b.symbols] + [joint.turn]
    random = np.random.default_rng(2)
    at = [random.uniform(-1, 1, s.shape) for s in symbols]
    for a, b in ((told.position, own.position), (told.coordinates, own.coordinates), (told.rates, own.rates)):
        both = ca.Function("f", symbols, [ca.densify(a), ca.densify(b)])(*at)
        np.testing.assert_allclose(both[0], both[1], rtol=1e-9, atol=ROUNDING)
    assert told.directions == own.directions


def test_constants_that_differ_in_the_last_digit_are_not_confused():
    """Two joints share a trace only when their constants agree to the last bit, and a symbol is never shared."""
    model, offered = scene()
    tilted = (1.0, 1e-15, 0.0)
    one, two = ts.Revolute("one", **offered, axis=(1.0, 0.0, 0.0)), ts.Revolute("two", **offered, axis=tilted)
    array = ts.Revolute("array", **offered, axis=np.array(tilted))
    for j in (one, two, array):
        model.add(j)
    assert one.trace() is not two.trace()
    assert one.trace() is not array.trace()
    a = model.parameter("a", 0.1)
    nested = model.add(ts.NoRotation("nested", offered["first"], offered["second"], about=((1, 0, a), (0, 1, 0))))
    assert nested.trace() is None
    ends = [offered["first"].frame(), offered["second"].frame()]
    rods = [model.add(ts.Distance(f"rod{k}", *[e.body for e in ends], length=1 + 1e-9 * k)) for k in range(2)]
    assert rods[0].trace() is not rods[1].trace()


def test_a_sequence_of_motions_is_the_pose(joint):
    """Hinges, slides, screws and balls one after the other, with the coordinates of the joint, move as the joint does."""
    sequence = joint.sequence()
    if sequence is None:  # a joint of a user need not have one
        assert not type(joint).__module__.startswith("torsor.")
        return
    for q in samples(joint):
        H, left = ca.SX.eye(4), list(q)
        for step in sequence:
            a, c = ca.SX(step.axis), ca.SX(step.point)
            if step.kind in ("ball", "free"):
                turn = so3.exp(ca.SX(left[:3]))
                H = H @ se3.pose(turn, c - turn @ c if step.kind == "ball" else ca.SX(left[3:6]))
                left = left[3 if step.kind == "ball" else 6 :]
                continue
            x = left.pop(0)
            turn = ca.SX.eye(3) if step.kind == "slide" else so3.rotation(a, x)
            shift = a * x if step.kind == "slide" else step.pitch / TURN * x * a
            H = H @ se3.pose(turn, c - turn @ c + shift)
        np.testing.assert_allclose(ca.evalf(H).full(), ca.evalf(joint.pose(ca.SX(q))).full(), atol=1e-11)
        assert not left
