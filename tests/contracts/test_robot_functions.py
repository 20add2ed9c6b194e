"""Functions of a compiled robot: frames, centre of mass, momenta, regressor; each against a law that it must satisfy."""

import numpy as np
import pytest

import torsor as ts

H = 1e-6


@pytest.fixture(scope="module")
def robot():
    """A free base with two arms, one on a ball joint and one on hinges, and a frame as a port."""
    model = ts.Model("robot", gravity=(0.3, -0.2, -9.81))
    base = model.body("base", mass=3.0, inertia=(0.2, 0.3, 0.35))
    upper = model.body("upper", inertia=ts.inertia.rod(1.0, 0.6, axis="z"), at=(0.2, 0, 0.5))
    block = ts.inertia.box(0.7, 0.1, 0.2, 0.3) + ts.inertia.point(0.2, (0.05, 0.02, 0.1))
    lower = model.body("lower", inertia=block, at=(0.2, 0, 1.0), rotation=(0.1, 0.2, 0.3))
    arm = model.body("arm", mass=0.5, inertia=(0.02, 0.03, 0.04), at=(-0.4, 0, 0))
    model.add(ts.Free("float", model.ground, base, point=(0, 0, 0)))
    model.add(ts.Revolute("shoulder", base, upper, point=(0.2, 0, 0.2), axis=(0, 1, 0.3)))
    model.add(ts.Revolute("elbow", upper, lower, point=(0.2, 0, 0.8), axis=(1, 0, 0)))
    model.add(ts.Spherical("ball", base, arm, point=(-0.2, 0, 0)))
    model.expose("tool", lower.frame((0.1, -0.2, 0.3), (0.3, -0.5, 0.2)))
    return ts.compile(model, "relative")


@pytest.fixture(scope="module")
def state(robot):
    random = np.random.default_rng(1)
    v, a, u = random.standard_normal((3, robot.v.size))
    return robot.retract(robot.q, 0.5 * u), v, a


def ahead(robot, q, v, s):
    return robot.retract(q, s * v)


@pytest.mark.parametrize("frame", ["tool", "arm"])
@pytest.mark.parametrize("axes", ["world", "frame"])
def test_jacobians_give_the_velocity_of_a_frame_and_their_rates_its_acceleration(robot, state, frame, axes):
    q, v, a = state
    point = (0.1, 0.2, -0.3)
    J = robot.jacobian(frame, q, point=point, axes=axes)
    V = robot.velocity(frame, q, v, point=point, axes=axes)
    np.testing.assert_allclose(J @ v, V, atol=1e-12)
    poses = [robot.pose(frame, ahead(robot, q, v, s), point=point) for s in (-H, 0, H)]
    R = poses[1][:3, :3] if axes == "frame" else np.eye(3)
    np.testing.assert_allclose(R @ V[:3], (poses[2] - poses[0])[:3, 3] / (2 * H), atol=1e-8)
    spin = (poses[2] - poses[0])[:3, :3] / (2 * H) @ poses[1][:3, :3].T
    np.testing.assert_allclose(R @ V[3:], [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-8)
    rates = [robot.jacobian(frame, ahead(robot, q, v, s), point=point, axes=axes) for s in (-H, H)]
    found = robot.jacobian_rate(frame, q, v, point=point, axes=axes)
    np.testing.assert_allclose(found, (rates[1] - rates[0]) / (2 * H), atol=1e-7)


def test_names_frames_and_bodies_mean_the_same_frame(robot, state):
    q, *_ = state
    frame = robot.model["tool"]
    np.testing.assert_array_equal(robot.pose("tool", q), robot.pose(frame, q))
    np.testing.assert_allclose(robot.pose("arm", q), robot.poses(q)[3], atol=1e-14)
    np.testing.assert_allclose(robot.jacobian("arm", q)[:3], robot.point_jacobian("arm", (0, 0, 0), q), atol=1e-14)
    with pytest.raises(ts.OptionError, match="unknown frame 'tol'.*Known: base, upper, lower, arm, tool"):
        robot.pose("tol", q)
    with pytest.raises(ts.OptionError, match="axes must be 'world' or 'frame', got 'body'"):
        robot.jacobian("tool", q, axes="body")


def test_momentum_obeys_newton_and_euler(robot, state):
    """ṗ = m g and L̇ = 0 about the centre of mass of a robot that nothing holds; h = A v."""
    q, v, _ = state
    a = robot.forward_dynamics(q, v)
    m = 3.0 + 1.0 + 0.9 + 0.5
    np.testing.assert_allclose(robot.centroidal_matrix(q) @ v, robot.centroidal_momentum(q, v), atol=1e-12)
    np.testing.assert_allclose(
        m * robot.center_of_mass_jacobian(q) @ v, robot.centroidal_momentum(q, v)[:3], atol=1e-12
    )
    h = [robot.centroidal_momentum(ahead(robot, q, v, s) if s else q, v + s * a) for s in (-H, H)]
    rate = (h[1] - h[0]) / (2 * H)
    np.testing.assert_allclose(rate, [*(m * np.array((0.3, -0.2, -9.81))), 0, 0, 0], atol=1e-6)
    centers = [robot.center_of_mass(ahead(robot, q, v, s)) for s in (-H, H)]
    np.testing.assert_allclose((centers[1] - centers[0]) / (2 * H), robot.center_of_mass_jacobian(q) @ v, atol=1e-8)


def test_inverse_dynamics_is_linear_in_the_inertial_parameters(robot, state):
    q, v, a = state
    tau = robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(robot.regressor(q, v, a) @ robot.inertial_parameters(), tau, atol=1e-11)
    base = robot.base_parameters()
    assert len(base.independent) < 40
    reduced = robot.regressor(q, v, a)[:, base.columns] @ (base.B @ robot.inertial_parameters())
    np.testing.assert_allclose(reduced, tau, atol=1e-8)


def test_operational_inertia_is_what_a_force_at_the_tool_feels(robot, state):
    q, _, _ = state
    J, M = robot.jacobian("tool", q), robot.mass_matrix(q)
    np.testing.assert_allclose(
        robot.operational_inertia("tool", q) @ (J @ np.linalg.solve(M, J.T)), np.eye(6), atol=1e-9
    )
    many = robot.operational_inertia("tool", np.tile(q, (4, 1)), rows="position")
    assert many.shape == (4, 3, 3)
    arm = ts.Model("arm")
    link = arm.body("link", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    arm.add(ts.Revolute("hinge", arm.ground, link, point=(0, 0, 0), axis="z"))
    with pytest.raises(ts.OptionError, match="dependent rows"):
        ts.compile(arm, "relative").operational_inertia("link")


def test_computed_torque_makes_errors_decay_as_asked(robot, state):
    """ë = −D ė − K e with the error in the tangent of the state."""
    q, v, a = state
    target = robot.retract(q, 0.1 * a)
    np.testing.assert_allclose(robot.difference(q, target), 0.1 * a, atol=1e-12)
    tau = robot.computed_torque(q, v, target, 0 * v, a, stiffness=4.0, damping=np.full(v.size, 3.0))
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a - 3.0 * v + 0.4 * a, atol=1e-9)


def test_free_joints_are_set_by_a_pose(robot, state):
    q, *_ = state
    pose = robot.pose("base", q)
    set_again = robot.configuration({"float": pose, "shoulder": 0.3, "ball": (0.1, 0.2, 0.3)}, q)
    np.testing.assert_allclose(robot.pose("base", set_again), pose, atol=1e-14)
    back = robot.configuration({"float": (0, 0, 0, 0, 0, 0), "shoulder": 0.0, "elbow": 0.0, "ball": (0, 0, 0)}, q)
    np.testing.assert_allclose(back, robot.q, atol=1e-14)
    for value, why in (
        (np.ones((4, 4)), "a pose is a 4 × 4 matrix"),
        ((1, 2), "needs 6 finite numbers or a 4 × 4 pose of body 'base'"),
    ):
        with pytest.raises(ts.OptionError, match=why):
            robot.configuration({"float": value})
    with pytest.raises(ts.OptionError, match="there is no joint 'flot'"):
        robot.configuration({"flot": pose})
    turned = np.eye(4)
    turned[:3, 3] = 1.0
    with pytest.raises(ts.OptionError, match="joint 'shoulder' cannot reach this pose"):
        robot.configuration({"shoulder": turned})


def test_one_state_and_arrays_give_the_same_to_the_last_bit(robot, state):
    """The fast path for one state, threads that share a function, and the general path."""
    from concurrent.futures import ThreadPoolExecutor

    q, v, a = state
    many = [np.stack([x, x]) for x in (q, v, a)]
    for name, count in (("inverse_dynamics", 3), ("forward_dynamics", 3), ("accelerations", 2), ("mass_matrix", 1),
                        ("regressor", 3), ("centroidal_matrix", 1), ("poses", 1)):  # fmt: skip
        one = getattr(robot, name)(*(q, v, a)[:count])
        np.testing.assert_array_equal(one, getattr(robot, name)(*many[:count])[1], err_msg=name)
        np.testing.assert_array_equal(one, getattr(robot, name)(*(x.tolist() for x in (q, v, a)[:count])))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda s: robot.inverse_dynamics(q, s * v, a), np.linspace(0, 1, 200)))
    np.testing.assert_array_equal(found[-1], robot.inverse_dynamics(q, v, a))
    first = robot.mass_matrix(q)
    kept = first.copy()
    robot.mass_matrix()
    np.testing.assert_array_equal(first, kept)


@pytest.mark.parametrize(
    "wrong", [[np.nan] * 19, ["1"] * 19, [True] * 19, np.ones(3), None.__class__, 1e400, [1e200] * 3]
)
def test_wrong_arguments_are_refused_as_before(robot, wrong):
    with pytest.raises(ts.OptionError, match="q must have .* finite numbers"):
        robot.mass_matrix(wrong)
