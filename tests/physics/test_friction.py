"""Laws of dry friction: it opposes sliding, never exceeds its cone, takes energy away, and is internal to a pair."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts

G = 9.81


def pair(mu=0.3, spin=(0.5, -1.0, 2.0), speed=(1.5, 0.8, 0)):
    """A ball pressed onto a free slab by a spring between their centres, in free space."""
    model = ts.Model("pair")
    slab = model.body("slab", mass=4.0, inertia=(0.9, 1.0, 1.6))
    ball = model.body("ball", mass=0.5, inertia=(0.02,) * 3, at=(0, 0, 0.4), velocity=speed, angular_velocity=spin)
    model.add(ts.SpringDamper("press", slab, ball, points=((0, 0, 0), (0, 0, 0.4)), stiffness=80.0, length=0.1))
    face = model.add(ts.Contact("face", slab, ball, radius=0.2, plane=(0, 0, 0.2)))
    model.add(ts.Friction("rub", face, coefficient=mu))
    return model, face


def test_friction_between_free_bodies_keeps_their_momentum():
    model, face = pair()
    data = ts.simulate(model, 1.0, outputs=40, signals={"u": face.sliding()})
    assert "rub.stick" in data.event_name.values
    x, v, R, w = (data[k].values for k in ("position", "velocity", "rotation", "angular_velocity"))
    P = 4.0 * v[:, 0] + 0.5 * v[:, 1]
    spins = w[:, 0] * [0.9, 1.0, 1.6], w[:, 1] * 0.02
    L = sum(
        m * np.cross(x[:, k], v[:, k]) + np.einsum("tij,tj->ti", R[:, k], spins[k]) for k, m in enumerate((4.0, 0.5))
    )
    touch = data.time.values >= 0
    np.testing.assert_allclose(P[touch], np.tile(P[0], (touch.sum(), 1)), atol=1e-9)
    np.testing.assert_allclose(L[touch], np.tile(L[0], (touch.sum(), 1)), atol=1e-8)


def test_friction_takes_energy_away_and_the_balance_closes():
    model, face = pair()
    data = ts.simulate(model, 1.0, outputs=40)
    total = data.energy.values
    assert np.diff(total).max() < 1e-9 and total[0] - total[-1] > 0.05
    assert data.attrs["energy_balance_relative"] < 1e-8


def test_what_sticks_stays_within_the_cone_and_what_slides_lies_on_it():
    """A block on a plane that is pulled by a rotating, growing force: |λ| ≤ μ_s N while it sticks."""
    mu, static = 0.3, 0.4
    model = ts.Model("block", gravity=(0, 0, -G))
    block = model.body("block", mass=1.0, inertia=(0.1,) * 3)
    floor = model.add(ts.Contact("floor", model.ground, block))
    rub = model.add(ts.Friction("rub", floor, coefficient=mu, static=static))
    pull = [2 * ts.time * ca.cos(5 * ts.time), 2 * ts.time * ca.sin(5 * ts.time), 0]
    model.add(ts.PointForce("pull", block, force=tuple(pull)))
    data = ts.simulate(model, 4.0, outputs=200, signals={"slip": rub.slip.symbol, "u": floor.sliding()})
    slips = data.event_time.values[data.event_name.values == "rub.slide"]
    assert abs(slips[0] - static * G / 2) < 1e-10
    rows = [data.constraint.values.tolist().index(f"rub[{k}]") for k in range(2)]
    force = np.nan_to_num(np.hypot(*data.multiplier.values[:, rows].T))
    sticking = data["slip"].values == 0
    assert sticking.any() and (~sticking).any()
    assert force[sticking].max() <= static * G * (1 + 1e-9)
    np.testing.assert_allclose(force[sticking], (2 * data.time.values)[sticking], rtol=1e-9, atol=1e-12)
    slide = ~sticking & (data.time.values > slips[0] + 0.02)
    a, v = data.acceleration.values[slide, 0, :2], data.velocity.values[slide, 0, :2]
    t = data.time.values[slide]
    drag = a - 2 * t[:, None] * np.c_[np.cos(5 * t), np.sin(5 * t)]
    np.testing.assert_allclose(drag, -mu * G * v / np.linalg.norm(v, axis=1)[:, None], atol=1e-8)


def test_a_block_that_sticks_stays_for_ever():
    """On an incline below the angle of friction: no creep, which regularised friction would show."""
    model = ts.Model("incline", gravity=(-G * np.sin(0.3), 0, -G * np.cos(0.3)))
    block = model.body("block", mass=1.0, inertia=(0.1,) * 3, at=(1, 2, 3))
    floor = model.add(ts.Contact("floor", model.ground, block))
    model.add(ts.Friction("rub", floor, coefficient=0.4))
    data = ts.simulate(model, 1000.0, outputs=5)
    np.testing.assert_allclose(data.position.values[:, 0], np.tile([1, 2, 3], (6, 1)), atol=1e-12)


def test_friction_in_a_joint_follows_its_own_reaction():
    """A block on a rail: N is the rail's force, here also across gravity; the friction changes what it depends on not at all."""
    mu, side = 0.25, 3.0
    model = ts.Model("rail", gravity=(0, 0, -G))
    block = model.body("block", mass=2.0, inertia=(0.1,) * 3, velocity=(3.0, 0, 0))
    rail = model.add(ts.Prismatic("rail", model.ground, block, axis=(1, 0, 0)))
    model.add(ts.PointForce("side", block, force=(0, side, 0)))
    model.add(ts.Friction("rub", rail, coefficient=mu))
    for formulation in ("absolute", "relative"):
        data = ts.simulate(model, 2.0, outputs=10, formulation=formulation)
        brake = mu * np.hypot(2.0 * G, side) / 2.0
        own = data.event_time.values[data.event_name.values == "rub.stick"]
        np.testing.assert_allclose(own, [3.0 / brake], atol=1e-10)


def test_friction_that_changes_the_force_it_depends_on_is_solved_for():
    """A rod dragged over a floor by its tip: N follows from the friction force at the tip. By hand, from Newton and Euler.

    m a = F − m g e_z,  J α = r × F,  F = N (∓μ, 0, 1): the tip stays on the floor.
    """
    m, J, l, angle, mu = 1.0, 0.2, 0.8, 0.6, 0.3
    c, s = np.cos(angle), np.sin(angle)
    for sense in (1.0, -1.0):
        model = ts.Model("rod", gravity=(0, 0, -G))
        rod = model.body("rod", mass=m, inertia=(J, J, J), at=(l * c, 0, l * s), velocity=(sense, 0, 0))
        floor = model.add(ts.Contact("floor", model.ground, rod, point=(0, 0, 0)))
        model.add(ts.Friction("rub", floor, coefficient=mu))
        data = ts.simulate(model, 1e-4, outputs=[1e-4])
        # tip relative to the centre: (−lc, 0, −ls); F = N (−sense μ, 0, 1); torque about y: z F_x − x F_z
        k = -l * s * (-sense * mu) + l * c  # torque/N
        # a_tip,z = N/m − g + (α × r)_z, with α = k N/J about y and (α × r)_z = −α r_x = α l c
        N = G / (1 / m + k * l * c / J)
        row = data.constraint.values.tolist().index("floor[0]")
        np.testing.assert_allclose(data.multiplier.values[0, row], N, rtol=1e-3)  # it has moved for 0.1 ms


@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_ball_that_lands_with_spin_bounces_and_ends_rolling(e):
    """After it has come to rest on the floor: no sliding, energy only ever lost, and the balance closes."""
    R, M = 0.1, 1.0
    model = ts.Model("ball", gravity=(0, 0, -G))
    inertia, spin = (0.4 * M * R**2,) * 3, (0, -20.0, 0)
    ball = model.body("ball", mass=M, inertia=inertia, at=(0, 0, R + 0.2), velocity=(1, 0, 0), angular_velocity=spin)
    floor = model.add(ts.Contact("floor", model.ground, ball, radius=R, plane=(0, 0, 0), restitution=e))
    model.add(ts.Friction("rub", floor, coefficient=0.3))
    data = ts.simulate(model, 3.0, outputs=60, signals={"u": floor.sliding()})
    assert np.abs(np.c_[data["u[0]"], data["u[1]"]][-10:]).max() < 1e-9
    assert np.abs(data.velocity.values[-10:, 0, 2]).max() < 1e-9
    assert data.attrs["energy_balance_relative"] < 1e-8 and np.diff(data.energy.values).max() < 1e-9
    # angular momentum about any point of the floor's plane is not changed by forces in that plane: v ends at the 5/7 law
    v = 1 - 2 / 7 * (1 - R * -20.0)
    np.testing.assert_allclose(data.velocity.values[-1, 0, 0], v, rtol=1e-9)
