"""Every registered constraint: Jacobian and acceleration right-hand side are the derivatives of what it declares."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from scenes import scene

import torsor as ts
from torsor.formulations.absolute import Absolute
from torsor.lie import so3
from torsor.lie.so3 import hat

STEP = 1e-5  # central differences of smooth functions of size 1: truncation 1e-10, rounding 1e-11
DIFFERENCE = 1e-8
ROUNDING = 1e-12

CASES = [
    pytest.param((cls, k), id=f"{key}-{k}")
    for key, cls in ts.registered("constraint").items()
    for k in range(len(cls.variants))
]


def system(model, name):
    """Numeric access to the rows of one constraint: g, psi, G, gamma at (t, q, v), and a step on the manifold."""
    f = Absolute(model)
    block = next(b for b in f.blocks if b.constraint.name == name)
    inputs = [ts.time, f.q, f.v]
    turns = {s.name(): 0.4 for s in ca.symvar(f.p)}
    fill = lambda e: ca.substitute(e, f.p, ca.DM([turns[s.name()] for s in ca.symvar(f.p)])) if turns else e
    at = [f.offset[id(b)] for b in block.bodies]
    G = ca.SX.zeros(block.psi.shape[0], f.v.shape[0])
    for start, part in zip(at, block.G):
        G[:, start : start + part.shape[1]] = part
    made = {
        k: ca.Function(k, inputs, [ca.densify(fill(e))])
        for k, e in (("g", block.g), ("psi", block.psi), ("G", G), ("gamma", block.gamma))
    }
    call = {k: (lambda t, q, v, F=F: F(t, q, v).full()) for k, F in made.items()}
    q, u = ca.SX.sym("q", f.manifold.size), ca.SX.sym("u", f.manifold.dimension)
    step = ca.Function("step", [q, u], [f.manifold.retract(q, u)])
    return SimpleNamespace(**call, move=lambda q, u: step(q, u).full().ravel(), holonomic=block.holonomic, f=f)


def state(seed=3):
    """A random configuration and velocity of two bodies, near the reference."""
    random = np.random.default_rng(seed)
    rotation = lambda: so3.exp(random.uniform(-0.6, 0.6, 3)).ravel(order="F")
    q = np.concatenate([np.r_[random.uniform(-1, 1, 3), rotation()] for _ in range(2)])
    return q, random.uniform(-1, 1, 12)


@pytest.fixture(params=CASES)
def rows(request):
    cls, k = request.param
    model, offered = scene()
    model.add(cls.examples(offered)[k])
    return system(model, "example")


def test_velocity_level_is_the_rate_of_the_position_level(rows):
    q, v = state()
    if not rows.holonomic:  # declared at velocity level: nothing is kept at position level
        return np.testing.assert_array_equal(rows.g(0, q, v), 0)
    rate = (rows.g(STEP, rows.move(q, STEP * v), v) - rows.g(-STEP, rows.move(q, -STEP * v), v)) / (2 * STEP)
    np.testing.assert_allclose(rows.psi(0, q, v), rate, atol=DIFFERENCE)


def test_jacobian_is_the_lie_derivative_of_the_residual(rows):
    q, v = state()
    if rows.holonomic:
        moved = lambda k, h: rows.g(0.3, rows.move(q, h * np.eye(12)[k]), v)
    else:
        moved = lambda k, h: rows.psi(0.3, q, v + h * np.eye(12)[k])
    G = np.hstack([(moved(k, STEP) - moved(k, -STEP)) / (2 * STEP) for k in range(12)])
    np.testing.assert_allclose(rows.G(0.3, q, v), G, atol=DIFFERENCE)


def test_velocity_level_is_linear_in_the_velocities(rows):
    q, v = state()
    np.testing.assert_allclose(
        rows.psi(0.3, q, v), rows.G(0.3, q, v) @ v[:, None] + rows.psi(0.3, q, 0 * v), atol=ROUNDING
    )


def test_gamma_is_minus_the_rate_of_the_velocity_level_along_a_free_motion(rows):
    """On a motion with v̇ = 0:  d/dt ψ = −γ."""
    q, v = state()
    rate = (rows.psi(STEP, rows.move(q, STEP * v), v) - rows.psi(-STEP, rows.move(q, -STEP * v), v)) / (2 * STEP)
    np.testing.assert_allclose(rows.gamma(0, q, v), -rate, atol=DIFFERENCE)


def test_one_direction_per_row(rows):
    assert all(isinstance(row.direction, str) and row.direction for row in rows.f.rows)
    names = [str(row) for row in rows.f.rows]
    assert len(set(names)) == len(names)


ONE_SIDED = [
    pytest.param((cls, k), id=f"{key}-{k}")
    for key, cls in ts.registered("constraint").items()
    if cls.one_sided
    for k in range(len(cls.variants))
]


@pytest.mark.parametrize("case", ONE_SIDED)
def test_one_sided_constraints_are_their_gaps(case):
    """What is held while it is closed is the gap on the closed side; it starts open, and brings an event per gap and a lift."""
    cls, k = case
    model, offered = scene()
    c = model.add(cls.examples(offered)[k])
    gaps = c.gaps()
    assert c.active.value == 0.0 and len(c.sides) in (0, 2)
    for m, gap in enumerate(gaps):
        chosen = [float(m == j) for j in range(len(c.sides))]
        held = ca.SX(c.position())
        if c.sides:
            held = ca.substitute(held, ca.vertcat(*[s.symbol for s in c.sides]), ca.DM(chosen))
        symbols = ca.symvar(ca.vertcat(held, gap))
        both = ca.Function("both", symbols, [held, gap])(*np.linspace(0.1, 0.9, len(symbols)))
        np.testing.assert_allclose(*map(float, both), rtol=1e-15)
    names = [e.name for e in model.events if e.source is c]
    assert len(names) == len(gaps) + 1 and names[-1] == "example.lift"
    assert all(e.source in (c, *model.forces) for e in model.events)  # friction comes along with some


def test_events_of_one_sided_constraints_are_named_after_their_sides():
    names = {
        "contact": ["touch"],
        "one-sided": ["touch"],
        "cable-part": ["touch"],
        "exact-touch": ["touch"],
        "cam": ["touch"],
        "slot": ["lower", "upper"],
        "backlash": ["lower", "upper"],
    }
    for key, cls in ts.registered("constraint").items():
        for k in range(len(cls.variants)) if cls.one_sided else ():
            model, offered = scene()
            c = model.add(cls.examples(offered)[k])
            stops = [what for what in ("lower", "upper") if getattr(c, what, None) is not None]
            assert [e.name for e in model.events if e.source is c] == [
                f"example.{x}" for x in [*names.get(key, stops), "lift"]
            ]


@pytest.mark.parametrize("key", ["lock", "weld"])
def test_what_is_held_is_captured_where_it_is_engaged(key):
    """With the captured numbers the residual is zero, wherever the bodies are."""
    model, offered = scene()
    c = model.add(ts.registered("constraint")[key].examples(offered)[0])
    memories, values = zip(*c.captures())
    assert [m.name for m in memories] == [m.name for m in c.memories()]
    held = ca.substitute(ca.SX(c.position()), ca.vertcat(*[m.symbol for m in memories]), ca.vertcat(*values))
    f = Absolute(model)
    g = ca.Function("g", [ts.time, f.q, f.v, f.p], [f.substitution.of(held)])
    q, v = state()
    np.testing.assert_allclose(g(0, q, v, 0.4).full(), 0, atol=ROUNDING)


def parts(q, v, joint):
    """A, ρ, ω, r, ṙ of both bodies in the notation of [aslanov2011]; n given in the joint frame of the first body."""
    A = [q[3:12].reshape(3, 3).T, q[15:24].reshape(3, 3).T]
    r, speed, w = (q[:3], q[12:15]), (v[:3], v[6:9]), (v[3:6], v[9:12])
    local = [np.array(ca.evalf(x)) for x in joint.placed]
    rho_j = local[1][:3, 3]
    rho_0 = A[1] @ rho_j + r[1] - r[0]  # (10)
    rate_0 = A[1] @ hat(w[1]) @ rho_j + speed[1] - speed[0]  # (11)
    return A, w, local, rho_j, rho_0, rate_0


def test_point_on_plane_is_equations_16_to_19_of_aslanov():
    model, offered = scene()
    n = np.array([1, -2, 0.5]) / np.linalg.norm([1, -2, 0.5])
    c = model.add(
        ts.PointOnPlane("example", offered["first"], offered["second"], point=(0.2, 0.4, 0.1), normal=(1, -2, 0.5))
    )
    rows, (q, v) = system(model, "example"), state()
    A, w, local, rho_j, rho_0, rate_0 = parts(q, v, c)
    n_i, rho_i = local[0][:3, :3] @ n, A[0].T @ rho_0
    Q_i = np.r_[-n_i @ A[0].T, n_i @ hat(rho_i)]  # (17)
    Q_j = np.r_[n_i @ A[0].T, -n_i @ A[0].T @ A[1] @ hat(rho_j)]  # (18)
    b = n_i @ (
        2 * hat(w[0]) @ A[0].T @ rate_0 - hat(w[0]) @ hat(w[0]) @ rho_i - A[0].T @ A[1] @ hat(w[1]) @ hat(w[1]) @ rho_j
    )  # (19)
    np.testing.assert_allclose(rows.G(0, q, v).ravel(), np.r_[Q_i, Q_j], atol=ROUNDING)
    np.testing.assert_allclose(rows.gamma(0, q, v), b, atol=ROUNDING)


def test_no_rotation_is_equations_24_to_30_of_aslanov():
    """The document exchanges Q_i and Q_j in (29) and A_j A_iᵀ for A_jᵀ A_i; (25) and (26) give what stands here."""
    model, offered = scene()
    n = np.array([1, -2, 0.5]) / np.linalg.norm([1, -2, 0.5])
    c = model.add(ts.NoRotation("example", offered["first"], offered["second"], about=(1, -2, 0.5)))
    rows, (q, v) = system(model, "example"), state()
    A, w, local, *_ = parts(q, v, c)
    n_i = local[0][:3, :3] @ n
    Q_i, Q_j = np.r_[np.zeros(3), -n_i], np.r_[np.zeros(3), n_i @ A[0].T @ A[1]]
    b = n_i @ hat(w[0]) @ A[0].T @ A[1] @ w[1]  # (30), where ω̃_j ω_j = 0
    np.testing.assert_allclose(rows.G(0, q, v).ravel(), np.r_[Q_i, Q_j], atol=ROUNDING)
    np.testing.assert_allclose(rows.gamma(0, q, v), b, atol=ROUNDING)
    np.testing.assert_allclose(rows.psi(0, q, v), n_i @ (A[0].T @ A[1] @ w[1] - w[0]), atol=ROUNDING)  # (24), (25)


@pytest.mark.parametrize("about", [((1, 0, 0.2), (0, 1, 1)), ((1, 0, 0), (0, 1, 1), (1, 0, 1))])
def test_integrated_no_rotation_rows_are_the_single_rows_where_they_hold(about):
    """ġ_k = n_k·ω at every configuration with g = 0, so each multiplier is the torque about its own vector."""
    model, offered = scene()
    first, second = offered["first"], offered["second"]
    model.add(ts.NoRotation("example", first, second, about=about))
    for k, n in enumerate(about):
        model.add(ts.NoRotation(f"single{k}", first, second, about=n))
    q, v = state()
    R1, R2 = (np.array(ca.evalf(b.start_rotation)) for b in (first, second))
    z = np.cross(about[0], about[1]) / np.linalg.norm(np.cross(about[0], about[1]))
    turn = so3.exp(1.1 * z) if len(about) == 2 else np.eye(3)
    q[15:24] = (q[3:12].reshape(3, 3).T @ R1.T @ turn @ R2).ravel(order="F")
    rows = system(model, "example")
    np.testing.assert_allclose(rows.g(0, q, v), 0, atol=ROUNDING)
    singles = [system(model, f"single{k}") for k in range(len(about))]
    np.testing.assert_allclose(rows.G(0, q, v), np.vstack([s.G(0, q, v) for s in singles]), atol=ROUNDING)


def test_multiplier_of_a_plane_is_the_force_on_the_second_body():
    """A block on an inclined plane without friction: λ = m g cos α along the normal (20), which is the reaction."""
    model, tilt = ts.Model("block", gravity=(0, 0, -10.0)), 0.3
    n = np.array([np.sin(tilt), 0, np.cos(tilt)])
    block = model.body("block", mass=2.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, 1))
    model.add(ts.PointOnPlane("plane", model.ground, block, normal=tuple(n)))
    data = ts.simulate(model, 0.5, outputs=2)
    np.testing.assert_allclose(data["multiplier"].values, 20 * np.cos(tilt), rtol=1e-12)
    np.testing.assert_allclose(
        data["reaction_force"].values[:, 0], np.tile(20 * np.cos(tilt) * n, (3, 1)), rtol=1e-12, atol=1e-12
    )


def test_multiplier_of_no_rotation_is_the_torque_on_the_second_body():
    model = ts.Model("held")
    body = model.body("body", mass=1.0, inertia=(0.1, 0.2, 0.25))
    model.add(ts.NoRotation("about", model.ground, body, about=(0, 0, 1)))
    model.add(ts.Torque("torque", body, torque=(0, 0, 3.0)))
    data = ts.simulate(model, 0.2, outputs=2)
    np.testing.assert_allclose(data["multiplier"].values, -3.0, rtol=1e-12)
    np.testing.assert_allclose(data["reaction_torque"].values[:, 0], [[0, 0, -3.0]] * 3, atol=1e-12)


def pendulum(attach):
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    arm = model.body("arm", mass=1.0, inertia=(0.1, 0.2, 0.15), at=(0.5, 0, 0), rotation=(0.1, 0.4, 0))
    bob = model.body("bob", mass=0.7, inertia=(0.1, 0.05, 0.12), at=(1.2, 0.1, 0), rotation=(0, 0, 0.6))
    attach(model, "root", model.ground, arm, (0, 0, 0), (0, 1, 0.3))
    attach(model, "elbow", arm, bob, (1, 0, 0.1), (0.2, 1, 0))
    return ts.simulate(model, 1.0, outputs=4, tolerance=1e-11)


def hinge(model, name, first, second, point, axis):
    model.add(ts.Revolute(name, first, second, point=point, axis=axis))


def composed(model, name, first, second, point, axis):
    """Three points on planes and no rotation about two vectors across the axis: table 1 of [aslanov2011]."""
    across = np.linalg.svd(np.array([axis]))[2][1:]
    for k, n in enumerate(np.eye(3)):
        model.add(ts.PointOnPlane(f"{name}-{k}", first, second, point=point, normal=tuple(n)))
    model.add(ts.NoRotation(f"{name}-turn", first, second, point=point, about=tuple(map(tuple, across))))


def pinned(model, name, first, second, point, axis):
    across = np.linalg.svd(np.array([axis]))[2][1:]
    model.add(ts.FixedPoint(name, first, second, point=point))
    model.add(ts.NoRotation(f"{name}-turn", first, second, point=point, about=tuple(map(tuple, across))))


@pytest.mark.parametrize("attach", [composed, pinned])
def test_a_composed_hinge_moves_as_a_revolute_joint(attach):
    """Same equations up to the choice of rows; tolerance 1e-11 per step leaves some 1e-9 after a second."""
    one, two = pendulum(hinge), pendulum(attach)
    for name in ("position", "rotation", "velocity", "acceleration"):
        np.testing.assert_allclose(two[name], one[name], atol=1e-8)
    assert one.attrs["degrees_of_freedom"] == two.attrs["degrees_of_freedom"] == 2
