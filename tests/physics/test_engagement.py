"""Constraints that begin to hold: the velocities jump as momentum demands, for any bodies, joints and velocities."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.lie import so3

ROUNDING = 1e-12  # of the momentum itself: an engagement is solved to rounding
JOINTS = {
    "spherical": lambda a, b: ts.Spherical("link", a, b, point=(0.3, -0.2, 0.5)),
    "revolute": lambda a, b: ts.Revolute("link", a, b, point=(0.3, -0.2, 0.5), axis=(1, 2, -1)),
    "prismatic": lambda a, b: ts.Prismatic("link", a, b, point=(0.3, -0.2, 0.5), axis=(1, 2, -1)),
    "fixed": lambda a, b: ts.Fixed("link", a, b, point=(0.3, -0.2, 0.5)),
    "weld": lambda a, b: ts.Weld("link", a, b, point=(0.3, -0.2, 0.5)),
    "distance": lambda a, b: ts.Distance("link", a, b, points=((0.1, 0.4, 0.2), (1.2, 0, -0.7))),
    "point-on-plane": lambda a, b: ts.PointOnPlane("link", a, b, point=(0.3, -0.2, 0.5), normal=(1, 0.3, -0.4)),
    "no-rotation": lambda a, b: ts.NoRotation("link", a, b, about=(1, 0.3, -0.4)),
}


def bodies(model, seed):
    """Two bodies at random in space. Returns them, and what they are as numbers."""
    random, found = np.random.default_rng(seed), []
    for name in "ab":
        J = random.uniform(0.3, 0.5, 3)
        data = {
            "mass": random.uniform(0.5, 2), "inertia": tuple(J), "at": tuple(random.uniform(-1, 1, 3)),
            "rotation": tuple(random.uniform(-1, 1, 3)), "velocity": tuple(random.uniform(-2, 2, 3)),
            "angular_velocity": tuple(random.uniform(-3, 3, 3)),
        }  # fmt: skip
        found.append(model.body(name, **data))
    return found


def momenta(model, x, v, R, w):
    """Linear momentum, angular momentum about the origin, kinetic energy; arrays (…, body, axis)."""
    P, L, T = 0.0, 0.0, 0.0
    for k, body in enumerate(model.bodies):
        m, J = float(body.mass), np.array(ts.quantity.numbers(body.inertia))
        spin = w[..., k, :] @ J
        P = P + m * v[..., k, :]
        L = L + m * np.cross(x[..., k, :], v[..., k, :]) + np.einsum("...ij,...j->...i", R[..., k, :, :], spin)
        T = T + m * (v[..., k, :] ** 2).sum(-1) / 2 + (w[..., k, :] * spin).sum(-1) / 2
    return P, L, T


def at_start(model):
    """Position, velocity, rotation and angular velocity before anything is engaged."""
    number = lambda e: np.array(ca.evalf(e)).squeeze()
    return tuple(
        np.array([number(getattr(b, what)) for b in model.bodies])
        for what in ("start_position", "start_velocity", "start_rotation", "start_angular_velocity")
    )


def of(data, k=slice(None)):
    return tuple(data[what].values[k] for what in ("position", "velocity", "rotation", "angular_velocity"))


WAYS = [(key, "absolute") for key in JOINTS] + [
    ("revolute", "relative"),
    ("distance", "relative"),
    ("weld", "woronetz"),
]


@pytest.mark.parametrize(("key", "formulation"), WAYS)
def test_momentum_is_conserved_when_bodies_are_joined(key, formulation):
    """Nothing acts from outside: P and L stay; the energy lost is that of the velocities lost (theorem of Carnot)."""
    model = ts.Model("joined")
    a, b = bodies(model, list(JOINTS).index(key))
    before = at_start(model)
    link = model.add(JOINTS[key](a, b), active=False)
    model.when(ts.time >= 0, ts.engage(link), name="join")
    data = ts.simulate(model, 0.3, outputs=3, formulation=formulation)
    after = of(data, 0)
    (P0, L0, T0), (P1, L1, T1) = momenta(model, *before), momenta(model, *after)
    scale = np.abs(np.r_[P0, L0]).max()
    np.testing.assert_allclose(P1, P0, atol=ROUNDING * scale)
    np.testing.assert_allclose(L1, L0, atol=ROUNDING * scale)
    for place in (0, 2):
        np.testing.assert_allclose(after[place], before[place], atol=1e-12)  # nothing moves
    lost = momenta(model, *(x if k in (0, 2) else x - y for k, (x, y) in enumerate(zip(before, after))))[2]
    assert lost > 1e-3
    np.testing.assert_allclose(T0 - T1, lost, rtol=1e-10)
    np.testing.assert_allclose(data.event_energy, [T1 - T0], rtol=1e-10)
    P, L, _ = momenta(model, *of(data))
    np.testing.assert_allclose(P, np.tile(P0, (4, 1)), atol=1e-10 * scale)
    np.testing.assert_allclose(L, np.tile(L0, (4, 1)), atol=1e-8 * scale)
    assert data.attrs["velocity_drift_max"] < 1e-11 and data.attrs["energy_balance_relative"] < 1e-8


def test_impulses_are_the_change_of_momentum():
    """Rows of a spherical joint are a force; that of a plane is one along its normal."""
    for key, rows in (("spherical", 3), ("point-on-plane", 1)):
        model = ts.Model("joined")
        a, b = bodies(model, 5)
        link = model.add(JOINTS[key](a, b), active=False)
        model.when(ts.time >= 0, ts.engage(link), name="join")
        data = ts.simulate(model, 0.1, outputs=1)
        before = at_start(model)[1]
        change = np.array([float(x.mass) for x in (a, b)])[:, None] * (data.velocity.values[0] - before)
        impulse = data.event_impulse.values[0]
        assert impulse.size == rows and np.abs(impulse).max() > 0.1
        np.testing.assert_allclose(change[0], -change[1], atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(impulse), np.linalg.norm(change[1]), rtol=1e-12)
        if rows == 1:
            n = np.array([1, 0.3, -0.4]) / np.linalg.norm([1, 0.3, -0.4])
            np.testing.assert_allclose(change[1], impulse[0] * n, atol=1e-12)


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_bodies_that_are_welded_in_flight_go_on_as_one(formulation):
    model = ts.Model("docking")
    a, b = bodies(model, 11)
    weld = model.add(ts.Weld("port", a, b), active=False)
    apart = ca.sumsqr(a.position - b.position)
    model.when(ts.time >= 0.37, ts.engage(weld), ts.record("apart", apart), name="dock")
    model.when(ts.time >= 0.8, ts.release(weld), name="undock")
    data = ts.simulate(model, 1.2, outputs=24, formulation=formulation, tolerance=1e-12)
    assert data.event_name.values.tolist() == ["dock", "undock"]
    x, v, R, w = of(data)
    P, L, T = momenta(model, x, v, R, w)
    np.testing.assert_allclose(P, np.tile(P[0], (25, 1)), atol=1e-12 * np.abs(P).max())
    np.testing.assert_allclose(L, np.tile(L[0], (25, 1)), atol=1e-9 * np.abs(L).max())
    held = (data.time.values > 0.37) & (data.time.values <= 0.8)
    relative = np.einsum("tji,tjk->tik", R[held, 0], R[held, 1])
    np.testing.assert_allclose(relative, np.broadcast_to(relative[0], relative.shape), atol=1e-10)
    r = np.einsum("tji,tj->ti", R[held, 0], x[held, 1] - x[held, 0])
    np.testing.assert_allclose(r, np.broadcast_to(r[0], r.shape), atol=1e-10)
    np.testing.assert_allclose(data.apart.values[0], (r[0] ** 2).sum(), rtol=1e-9)
    assert data.event_energy.values[0] < -1e-2 and abs(data.event_energy.values[1]) < 1e-10
    after = data.time.values > 0.8
    np.testing.assert_allclose(T[after], T[held][-1], rtol=1e-9)
    assert np.ptp(x[after, 1] - x[after, 0], axis=0).max() > 1e-2  # free again


def test_two_bodies_that_collide_and_stick_share_their_momentum():
    model = ts.Model("clay")
    a = model.body("a", mass=2.0, inertia=(0.1, 0.1, 0.1), velocity=(3.0, 0, 0))
    b = model.body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1.0, 0, 0), velocity=(-1.0, 0, 0))
    weld = model.add(ts.Weld("glue", a, b), active=False)
    model.when(b.position[0] - a.position[0] <= 0.2, ts.engage(weld), name="meet")
    data = ts.simulate(model, 0.5, outputs=5)
    np.testing.assert_allclose(data.event_time, [0.2], atol=1e-12)
    np.testing.assert_allclose(data.velocity.values[-1, :, 0], 5 / 3, rtol=1e-12)
    np.testing.assert_allclose(data.event_energy, [0.5 * 3 * (5 / 3) ** 2 - 9.5], rtol=1e-12)


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
@pytest.mark.parametrize("start", [0.3, 7.0])  # also beyond a full turn
def test_a_lock_that_acts_from_the_start_holds_the_start(formulation, start):
    model = ts.Model("latched", gravity=(0, 0, -9.81), hints=False)  # nothing can move
    force = model.parameter("force", 3.0)  # what is held stands behind the parameters
    door = model.body("door", mass=2.0, inertia=(0.1, 0.2, 0.2), at=(0.5, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, door, point=(0, 0, 0), axis=(0, 1, 0), start=start))
    model.add(ts.PointForce("pull", door, force=ca.vertcat(0, 0, -force)))
    model.add(ts.Lock("latch", hinge))
    data = ts.simulate(model, 0.5, outputs=5, formulation=formulation)
    np.testing.assert_allclose(data.coordinate, start, atol=1e-12)
    torque = data.multiplier.sel(constraint="latch[0]")
    np.testing.assert_allclose(torque, -(2 * 9.81 + 3) * 0.5 * np.cos(start), rtol=1e-9)
    assert ts.info(model)["start_changes"] == []


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_a_weld_that_acts_from_the_start_holds_the_start(formulation):
    """Two bodies anywhere, one of them on a joint that starts turned: their relative pose stays what it is then."""
    model = ts.Model("welded", gravity=(0, 0, -9.81))
    a, b = bodies(model, 3)
    model.add(ts.Spherical("tip", a, b, point=(0.3, -0.2, 0.5), start=(0.4, -0.3, 0.6)))
    model.add(ts.Weld("glue", a, b))
    data = ts.simulate(model, 0.5, outputs=5, formulation=formulation)
    x, _, R, _ = of(data)
    relative = np.einsum("tji,tjk->tik", R[:, 0], R[:, 1])
    reference = [np.array(ca.evalf(body.start_rotation)) for body in (a, b)]
    held = reference[0].T @ so3.exp([0.4, -0.3, 0.6]) @ reference[1]
    np.testing.assert_allclose(relative, np.broadcast_to(held, relative.shape), atol=1e-11)
    r = np.einsum("tji,tj->ti", R[:, 0], x[:, 1] - x[:, 0])
    np.testing.assert_allclose(r, np.broadcast_to(r[0], r.shape), atol=1e-11)
    assert np.ptp(R[:, 0], axis=0).max() > 1e-2  # it turns as a whole


def test_a_lock_of_an_included_model_holds_its_own_start():
    part = ts.Model("part")
    door = part.body("door", mass=2.0, inertia=(0.1, 0.2, 0.2), at=(0.5, 0, 0))
    hinge = part.add(ts.Revolute("hinge", part.ground, door, point=(0, 0, 0), axis=(0, 1, 0), start=0.3))
    part.add(ts.Lock("latch", hinge))
    model = ts.Model("whole", gravity=(0, 0, -9.81), hints=False)
    for k in range(2):
        model.include(f"part{k}", part, at=(0, k, 0))
    np.testing.assert_allclose(ts.simulate(model, 0.5, outputs=5).coordinate, 0.3, atol=1e-12)


def test_a_released_joint_leaves_the_bodies_their_velocities_and_a_broken_pendulum_flies():
    """A pendulum from rest at θ₀: force m g (3 cos θ − 2 cos θ₀) on a point mass; it breaks where that is F."""
    m, L, F, start, g = 1.5, 0.7, 20.0, 1.4, 9.81
    model = ts.Model("pendulum", gravity=(0, 0, -g))
    bob = model.body("bob", mass=m, inertia=0, at=(L * np.sin(start), 0, -L * np.cos(start)))
    tie = model.add(
        ts.Distance("tie", model.ground, bob, points=((0, 0, 0), (L * np.sin(start), 0, -L * np.cos(start))))
    )
    model.when(ca.fabs(tie.multiplier[0]) >= F, ts.release(tie), name="snap")
    data = ts.simulate(model, 1.0, outputs=40)
    assert data.event_name.values.tolist() == ["snap"]
    angle = np.arccos((F / (m * g) + 2 * np.cos(start)) / 3)
    x, s = np.polynomial.legendre.leggauss(60)
    u = np.sqrt(start - angle) * (x + 1) / 2  # θ = start − u²
    when = np.sqrt(start - angle) / 2 * s @ (u / np.sqrt(g / L * np.sin(start - u**2 / 2) * np.sin(u**2 / 2)))
    np.testing.assert_allclose(data.event_time, [when], atol=1e-10)
    speed = np.sqrt(2 * g * L * (np.cos(angle) - np.cos(start)))
    place = L * np.array([np.sin(angle), 0, -np.cos(angle)])
    velocity = -speed * np.array([np.cos(angle), 0, np.sin(angle)])
    t = (data.time.values - when)[data.time.values > when][:, None]
    flight = place + velocity * t - np.array([0, 0, g / 2]) * t**2
    np.testing.assert_allclose(data.position.values[data.time.values > when, 0], flight, atol=1e-9)
    assert np.all(np.isnan(data.multiplier.values[-1]) | (data.multiplier.values[-1] == 0))


@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz"])
def test_a_breakable_hinge_breaks_where_its_reaction_exceeds_the_limit(formulation):
    """A rod pendulum from rest at 90°: along the rod m g sin φ (1 + 2 m L²/I), across it m g cos φ (1 − m L²/I)."""
    m, L, J, g, F = 1.5, 0.5, 0.2, 9.81, 25.0
    model = ts.Model("rod", gravity=(0, 0, -g))
    rod = model.body("rod", mass=m, inertia=(0.01, J, J), at=(L, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Breakable("pin", hinge, force=F))
    data = ts.simulate(model, 1.0, outputs=20, formulation=formulation)
    I = J + m * L**2
    along, across = 1 + 2 * m * L**2 / I, 1 - m * L**2 / I
    s2 = ((F / m / g) ** 2 - across**2) / (along**2 - across**2)  # sin² φ
    phi = np.arcsin(np.sqrt(s2))
    x, w = np.polynomial.legendre.leggauss(60)
    u = np.sqrt(phi) * (x + 1) / 2  # φ = u²:  dt = dφ/√(2 m g L sin φ/I)
    when = np.sqrt(phi) / 2 * w @ (2 * u / np.sqrt(2 * m * g * L / I * np.sin(u**2)))
    assert data.event_name.values.tolist() == ["pin.break"]
    np.testing.assert_allclose(data.event_time, [when], atol=1e-10)
    flies = data.time.values > when
    np.testing.assert_allclose(data.acceleration.values[flies, 0], np.tile([0, 0, -g], (flies.sum(), 1)), atol=1e-9)
    assert np.ptp(data.angular_velocity.values[flies, 0, 1]) < 1e-11
    assert data.attrs["energy_balance_relative"] < 1e-9
    reaction = np.linalg.norm(data.reaction_force.values[:, 0], axis=1)
    assert np.all(reaction[~flies] < F) and np.all(np.nan_to_num(reaction[flies]) == 0)


@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz"])
def test_a_loop_is_closed_and_opened_again(formulation):
    """A double pendulum whose tip is caught by the ground and let go: the energy is kept but for the loss at the catch."""
    model = ts.Model("caught", gravity=(0, 0, -9.81))
    a = model.body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    b = model.body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1.5, 0, 0))
    model.add(ts.Revolute("h1", model.ground, a, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Revolute("h2", a, b, point=(1, 0, 0), axis=(0, 1, 0)))
    tip = b.position + b.rotation @ ca.DM([0.5, 0, 0])
    rail = model.add(ts.Holonomic("rail", tip[2] + 1.0), active=False)
    model.when(tip[2] <= -1.0, ts.engage(rail), name="catch")
    model.when(ts.time >= 1.0, ts.release(rail), name="let")
    data = ts.simulate(model, 1.5, outputs=30, formulation=formulation, signals={"height": tip[2]})
    # what is watched stays zero to rounding while it is held: that is neither true nor false, and fires nothing
    assert data.event_name.values.tolist()[:2] == ["catch", "let"]
    caught = data.event_time.values[0]
    inside = (data.time.values > caught) & (data.time.values < 1.0)
    np.testing.assert_allclose(data.height.values[inside], -1.0, atol=1e-11)
    assert data.event_energy.values[0] < 0 and data.attrs["energy_balance_relative"] < 1e-9
    if formulation != "absolute":
        one = ts.simulate(model, 1.5, outputs=30)
        np.testing.assert_allclose(data.event_time, one.event_time, atol=1e-10)
        np.testing.assert_allclose(data.position, one.position, atol=1e-8)
