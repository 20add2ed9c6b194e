"""Laws of the joint-coordinate quantities, and the same numbers from MuJoCo for real robots."""

import casadi as ca
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


def test_matrices_do_not_know_of_friction_that_joint_forces_would_change():
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=2.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    pin = model.add(ts.Revolute("pin", model.ground, bob, point=(0, 0, 0), axis="y"))
    model.add(ts.Friction("bearing", on=pin, coefficient=0.3, radius=0.1))
    dynamics = ts.compile(model, formulation="relative")
    np.testing.assert_allclose(dynamics.mass_matrix(), [[0.1 + 2.0 * 0.25]])
    np.testing.assert_allclose(dynamics.gravity(), [-2.0 * 9.81 * 0.5])
    np.testing.assert_allclose(dynamics.body_jacobian("bob").ravel(), [0, 0, -0.5, 0, 1, 0], atol=1e-15)
    with pytest.raises(ts.OptionError, match="depend on reactions"):
        dynamics.inverse_dynamics()


def test_matrices_need_joint_coordinates():
    with pytest.raises(ts.OptionError, match="relative"):
        ts.compile(ts.cases.load("three-link"), "absolute").mass_matrix()


def test_unknown_bodies_and_wrong_sizes_are_refused():
    found = ts.compile(ts.cases.load("three-link"), formulation="relative")
    with pytest.raises(ts.OptionError, match="Known: link1"):
        found.body_jacobian("link9")
    with pytest.raises(ts.OptionError, match="tau must have 7 finite numbers"):
        found.forward_dynamics(tau=[1.0])


GROUNDS = {
    "accelerated": {"at": (0.2 * ts.time, 0, 0.3 * ts.time**2)},
    "rotating": {"rotation": ca.vertcat(0, 0, 2 * ts.time)},
    "tumbling": {"at": (0, ca.sin(ts.time), 0), "rotation": ca.vertcat(ts.time, 0.4 * ts.time**2, 0.3)},
    "at rest": {},
}


def carried(motion, gravity):
    """Two links on a ground that moves, with gravity as a function of time."""
    model = ts.Model("carried", gravity=gravity(ts.time))
    base = model.add(ts.Ground("base", **GROUNDS[motion]))
    upper = model.body("upper", mass=2.0, inertia=(0.1, 0.2, 0.25), at=(1, 0, 0))
    lower = model.body("lower", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(2, 0.5, 0))
    model.add(ts.Revolute("shoulder", base, upper, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Revolute("elbow", upper, lower, point=(2, 0, 0), axis=(0, 1, 1)))
    return ts.compile(model, formulation="relative"), model


@pytest.mark.parametrize("motion", GROUNDS)
@pytest.mark.parametrize("t", [0.0, 0.7])
def test_gravity_is_the_gradient_of_the_potential_energy_wherever_the_ground_is(motion, t):
    """g = ∂U/∂q with U = −Σ m g·x from the positions of the bodies at a time, by central differences, good to h²."""
    pull = lambda t: (0.5 * t, 0.0, -9.81 - t)
    found, model = carried(motion, pull)
    q, h = np.array([0.4, -0.7]), 1e-5
    mass = [2.0, 1.0]
    place = lambda q: found.kernels["outputs"](np.array([t]), q, np.zeros(2), found.p, np.zeros(2), np.zeros(0))[0][:6]
    U = lambda q: -sum(m * np.dot(pull(t), x) for m, x in zip(mass, place(q).reshape(2, 3)))
    exact = [(U(q + h * e) - U(q - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(found.gravity(q, t=t), exact, atol=1e-8)


@pytest.mark.parametrize("motion", GROUNDS)
def test_the_jacobian_is_that_of_the_joints_alone_at_any_time(motion):
    """J v is the difference that joint velocities make to the bodies' velocities."""
    found, _ = carried(motion, lambda t: (0, 0, 0))
    q, v, t = np.array([0.4, -0.7]), np.array([1.5, 0.6]), 0.7
    layout = dict(found.system.layout)
    assert list(layout)[:4] == ["position", "rotation", "velocity", "angular_velocity"]
    moving = lambda v: found.kernels["outputs"](np.array([t]), q, v, found.p, np.zeros(2), np.zeros(0))[0][24:36]
    apart = moving(v) - moving(np.zeros(2))
    for k, name in enumerate(("upper", "lower")):
        exact = np.concatenate([apart[3 * k : 3 * k + 3], apart[6 + 3 * k : 9 + 3 * k]])
        np.testing.assert_allclose(found.body_jacobian(name, q, t=t) @ v, exact, atol=1e-12)


@pytest.mark.parametrize("motion", GROUNDS)
def test_mass_and_coriolis_matrix_do_not_know_where_the_ground_is(motion):
    found, _ = carried(motion, lambda t: (0, 0, -9.81))
    rest, _ = carried("at rest", lambda t: (0, 0, -9.81))
    q, v = np.array([0.4, -0.7]), np.array([1.5, 0.6])
    np.testing.assert_allclose(found.mass_matrix(q, t=0.7), rest.mass_matrix(q), atol=1e-13)
    np.testing.assert_allclose(found.coriolis(q, v, t=0.7), rest.coriolis(q, v), atol=1e-13)
    for mine, other in zip(found.jacobian_derivative("lower", q, t=0.7), rest.jacobian_derivative("lower", q)):
        np.testing.assert_allclose(mine, other, atol=1e-13)
    a = found.forward_dynamics(q, v, [1.0, -2.0], t=0.7)
    np.testing.assert_allclose(found.inverse_dynamics(q, v, a, t=0.7), [1.0, -2.0], atol=1e-10)


# Christoffel symbols

CURVED = [
    *TREES,
    "chain",
    "car",
    "free-body",
    "governor",
    "satellite-1",
]  # joints on SO(3), SE(3), drawn either way, loops open


JOINTS = [j for j in ts.registered("joint").values() if j.__module__.startswith("torsor.") and j.dof]


def joined(cls):
    """A chain of this joint, a hinge and this joint again, drawn from the body to its parent."""
    model = ts.Model("all", gravity=(0, 0, -9.81), hints=False)
    last = model.ground
    for k, kind in enumerate((cls, ts.Revolute, cls)):
        inertia = np.diag((0.3, 0.4, 0.5)) + 0.005 * k
        body = model.body(f"b{k}", mass=1.0 + 0.1 * k, inertia=inertia, at=(k, 0.1 * k, 0.2))
        ends = (body, last) if k == 2 else (last, body)
        more = {"pitch": 0.2} if kind is ts.Screw else {}
        model.add(kind(f"j{k}", *ends, point=(k - 0.4, 0.2, 0.1), **more))
        last = body
    return model


@pytest.mark.parametrize("case", [*CURVED, *[pytest.param(j, id=j.key) for j in JOINTS]])
def test_christoffel_symbols_are_those_of_the_metric(case):
    """Γ_abc v_b + its transpose is Ṁ, by central differences; Γ_abc v_b v_c is C v of Newton and Euler's equations; and Binet's
    tensors give the same symbols as the derivatives of M."""
    if not isinstance(case, str):
        found = ts.compile(joined(case), formulation="relative")
        random = np.random.default_rng(4)
        v = random.standard_normal(found.v.size)
        q = found.kernels["retract"](found.q, 0.3 * random.standard_normal(found.v.size))[0]
    else:
        found, q, v, _, _ = dynamics(case)
    metric, binet = (found.christoffel(q, form=form) for form in ("metric", "binet"))
    size = np.abs(metric).max() + np.abs(found.mass_matrix(q)).max()
    assert np.abs(metric - binet).max() < 1e-12 * size  # two routes, rounding only
    C, h = np.einsum("abc,b->ac", metric, v), 1e-6
    ahead, behind = (found.mass_matrix(found.kernels["retract"](q, s * h * v)[0]) for s in (1, -1))
    # the central difference is good to h² and to rounding / h
    assert np.abs((ahead - behind) / (2 * h) - C - C.T).max() < 1e-8 * size * (1 + np.abs(v).max())
    rest = found.inverse_dynamics(q, np.zeros_like(v), np.zeros_like(v))
    if not found.model.forces and case != "satellite-1":
        moving = found.inverse_dynamics(q, v, np.zeros_like(v))
        assert np.abs(C @ v - (moving - rest)).max() < 1e-11 * size * (1 + np.abs(v).max() ** 2)


@pytest.mark.parametrize("case", ["platform", "chain", "panels"])
def test_christoffel_symbols_of_coordinates_are_symmetric(case):
    found, q, _, _, _ = dynamics(case)
    for form in ("metric", "binet"):
        gamma = found.christoffel(np.stack([q, found.q]), form=form)
        assert gamma.shape == (2, *[found.v.size] * 3)
        assert np.abs(gamma - gamma.swapaxes(2, 3)).max() < 1e-13 * np.abs(gamma).max()


def test_christoffel_symbols_of_a_polar_arm_are_the_textbook_ones():
    """T = ½ (J + m r²) φ̇² + ½ m ṙ²: Γ_rφφ = −m r, Γ_φrφ = m r, all others zero."""
    model = ts.Model("polar")
    arm = model.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, 0))
    load = model.body("load", mass=2.0, inertia=(0.1, 0.1, 0.1), at=(1.5, 0, 0))
    model.add(ts.Revolute("phi", model.ground, arm, point=(0, 0, 0), axis="z"))
    model.add(ts.Prismatic("r", arm, load, axis="x"))
    gamma = ts.compile(model, formulation="relative").christoffel([0.3, 0.2])
    expected = np.zeros((2, 2, 2))
    expected[1, 0, 0], expected[0, 0, 1], expected[0, 1, 0] = -2.0 * 1.7, 2.0 * 1.7, 2.0 * 1.7
    np.testing.assert_allclose(gamma, expected, atol=1e-14)


def test_christoffel_symbols_need_joint_coordinates_and_a_known_form():
    with pytest.raises(ts.OptionError, match="relative"):
        ts.compile(ts.cases.load("three-link"), "absolute").christoffel()
    with pytest.raises(ts.OptionError, match="Known: metric, binet"):
        ts.compile(ts.cases.load("platform"), "relative").christoffel(form="bishop")
    with pytest.raises(ts.OptionError, match="product of exponentials"):
        ts.compile(ts.cases.load("three-link"), "relative-first").christoffel(form="binet")
