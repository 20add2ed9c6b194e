"""Forces that depend on reactions: dry friction as an algebraic loop, against closed forms and independent iterations."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.start.constraints import Examiner
from torsor.start.model_start import given_start

FORMULATIONS = list(ts.registered("formulation"))
OTHERS = [key for key in FORMULATIONS if key != "absolute"]
G = 9.81


def inclined(tilt, mu, guide="prismatic", rate=0.3):
    """A block on an inclined guide with friction −μ |N| against its velocity."""
    model = ts.Model("inclined", gravity=(0, 0, -G))
    along, normal = np.array([np.cos(tilt), 0, -np.sin(tilt)]), np.array([np.sin(tilt), 0, np.cos(tilt)])
    block = model.body("block", mass=2.0, inertia=(0.1, 0.2, 0.3), velocity=tuple(rate * along))
    if guide == "prismatic":
        joint = model.add(ts.Prismatic("guide", model.ground, block, axis=tuple(along)))
        N = ca.dot(ca.DM(normal), joint.reaction_force)
        model.add(ts.JointForce("friction", joint, -mu * ca.fabs(N) * ca.sign(joint.rate)))
    else:
        model.add(ts.NoRotation("upright", model.ground, block))
        plane = model.add(ts.PointOnPlane("guide", model.ground, block, normal=tuple(normal)))
        N = plane.multiplier[0]
        slip = ca.dot(ca.DM(along), block.velocity)
        model.add(ts.PointForce("friction", block, force=-mu * ca.fabs(N) * ca.sign(slip) * ca.DM(along)))
    model.signal("normal", N)
    return model


@pytest.mark.parametrize("guide", ["prismatic", "plane"])
@pytest.mark.parametrize("key", FORMULATIONS)
def test_a_block_slides_down_with_g_sin_less_mu_g_cos(key, guide):
    tilt, mu = 0.5, 0.2
    a = ts.compile(inclined(tilt, mu, guide), formulation=key).body_accelerations()
    down = G * (np.sin(tilt) - mu * np.cos(tilt))
    np.testing.assert_allclose(a[:3], down * np.array([np.cos(tilt), 0, -np.sin(tilt)]), atol=1e-12 * G)
    np.testing.assert_allclose(a[3:], 0, atol=1e-12)


def rod(mu, radius, spin, key):
    """A physical pendulum in a journal whose friction torque is μ r ‖F‖."""
    model = ts.Model("rod", gravity=(0, 0, -G))
    body = model.body("rod", mass=1.5, inertia=(0.02, 0.3, 0.3), at=(0.8, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 1, 0), start_rate=spin))
    F = hinge.reaction_force
    model.add(ts.JointForce("friction", hinge, -mu * radius * ca.sqrt(ca.sumsqr(F)) * ca.sign(hinge.rate)))
    for k in range(5):
        model.signal(f"multiplier{k}", hinge.multiplier[k])
    return ts.compile(model, formulation=key), model


@pytest.mark.parametrize("spin", [3.0, -2.0])
@pytest.mark.parametrize("key", FORMULATIONS)
def test_a_journal_with_friction_turns_as_a_fixed_point_iteration_says(key, spin):
    """Rod along x: θ̈ about +y turns it down. J₀ θ̈ = m g l − μ r ‖F‖ sign θ̇, F from the motion of the centre."""
    mu, radius, m, length, J = 0.3, 0.2, 1.5, 0.8, 0.3 + 1.5 * 0.8**2
    alpha = 0.0
    for _ in range(200):  # contracts by about μ r m l / J₀ = 0.06
        centre = np.array([-length * spin**2, 0.0, -length * alpha])
        F = m * centre + np.array([0, 0, m * G])
        alpha = (m * G * length - mu * radius * np.linalg.norm(F) * np.sign(spin)) / J
    got = rod(mu, radius, spin, key)[0].body_accelerations()
    np.testing.assert_allclose(got[[0, 2, 4]], [-length * spin**2, -length * alpha, alpha], rtol=1e-11)


def linkage(mu):
    """A four-bar loop with friction in all hinges, proportional to the length of their forces in the plane."""
    model = ts.Model("linkage", gravity=(0, 0, -G))
    points = [(0, 0, 0), (0.5, 0, 1.0), (2.0, 0, 1.3), (1.8, 0, 0)]
    bodies = [model.ground]
    for k in range(3):
        centre = (np.array(points[k]) + np.array(points[k + 1])) / 2
        bodies.append(model.body(f"bar{k}", mass=1 + 0.3 * k, inertia=(0.1, 0.1, 0.1), at=tuple(centre)))
    bodies.append(model.ground)
    for k in range(4):
        rate = {"start_rate": 1.0} if k == 0 else {}
        pin = model.add(ts.Revolute(f"pin{k}", bodies[k], bodies[k + 1], point=points[k], axis=(0, 1, 0), **rate))
        F = ca.sqrt(pin.reaction_force[0] ** 2 + pin.reaction_force[2] ** 2)
        model.add(ts.JointForce(f"friction{k}", pin, -mu * F * ca.tanh(5 * pin.rate)))
        model.signal(f"size{k}", F)
    return model


@pytest.mark.parametrize("key", OTHERS)
def test_a_loop_with_friction_in_its_hinges_accelerates_alike_in_all_coordinates(key):
    one = ts.compile(linkage(0.05), formulation="absolute")
    two = ts.compile(linkage(0.05), formulation=key)
    expected = one.body_accelerations()
    assert (
        np.abs(expected - ts.compile(linkage(0.0), formulation="absolute").body_accelerations()).max() > 0.1
    )  # friction matters
    np.testing.assert_allclose(two.body_accelerations(), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("key", FORMULATIONS)
def test_efforts_are_what_their_definitions_say_of_the_reactions(key):
    """y handed on behind λ equals −μ |F| tanh 5 θ̇ of the reactions and rates that the results show."""
    mu, model = 0.05, linkage(0.05)
    d = ts.compile(model, formulation=key)
    _, (a, lam, _) = d._solve(None, None, 0.0, None)
    a, lam = a[0], lam[0]
    f = d.formulation_object
    watch = f.watching("watch", ca.vertcat(*model.signals.values(), *[j.rate for j in model.joints]))
    sizes, rates = np.split(watch(0.0, d.q, d.v, d.p, a, lam).full().ravel(), 2)
    assert f.implicit == 4 and len(lam) == len(f.keep) + 4
    np.testing.assert_allclose(lam[len(f.keep) :], -mu * sizes * np.tanh(5 * rates), rtol=1e-11)


@pytest.mark.parametrize("key", OTHERS)
def test_multipliers_of_tree_joints_are_those_of_absolute_coordinates(key):
    state = lambda key: rod(0.3, 0.2, 3.0, key)
    values = []
    for (d, model), name in ((state("absolute"), "absolute"), (state(key), key)):
        _, (a, lam, _) = d._solve(None, None, 0.0, None)
        a, lam = a[0], lam[0]
        column = ca.vertcat(*[c.multiplier for c in model.constraints])
        values.append(d.formulation_object.watching(name.replace("-", "_"), column)(0.0, d.q, d.v, d.p, a, lam).full())
    assert np.abs(values[0]).max() > 1
    np.testing.assert_allclose(values[1], values[0], atol=1e-10)


@pytest.mark.parametrize("key", FORMULATIONS)
def test_the_work_of_friction_is_in_the_energy_balance(key):
    run = ts.simulate(linkage(0.05), 0.2, outputs=5, tolerance=1e-11, formulation=key)
    assert run.attrs["work_done"] < -1e-3
    assert run.attrs["energy_balance_relative"] < 1e-9  # the tolerance, over some hundred steps


@pytest.mark.parametrize("key", FORMULATIONS)
def test_an_effort_may_follow_an_acceleration(key):
    """A force −c ẍ along a guide is an added mass c."""
    model = ts.Model("added", gravity=(0, 0, -G))
    body = model.body("body", mass=2.0, inertia=(1, 1, 1))
    model.add(ts.Prismatic("guide", model.ground, body, axis=(0, 0, 1)))
    model.add(ts.PointForce("added", body, force=(0, 0, -3.0 * body.acceleration[2])))
    np.testing.assert_allclose(ts.compile(model, formulation=key).body_accelerations()[2], -G * 2 / 5, rtol=1e-12)


SIZES = [(1.0, 1.0), (1e-8, 1e-9), (1e-6, 1e3), (1e8, 1e-9), (1e6, 1e9)]
LAWS = {  # with m = 1: ẍ = c ẍ − g and ẍ = −c |ẍ| − g; the lines meet or they do not
    "affine": (lambda a: 1.0 * a, None),
    "bent": (lambda a: -1.5 * ca.fabs(a), None),
    "affine, just": (lambda a: 0.9 * a, 10.0),
    "bent, just": (lambda a: -0.9 * ca.fabs(a), 10.0),
    "bent, easily": (lambda a: 0.9 * ca.fabs(a), 1 / 1.9),
}


@pytest.mark.parametrize("length, mass, turns", [(*size, k % 2 == 0) for k, size in enumerate(SIZES)])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("key", FORMULATIONS)
def test_a_loop_without_a_solution_makes_accelerations_nan(key, law, length, mass, turns):
    """A guide, or a hinge with its inertia about it, of any size and mass."""
    model = ts.Model("jammed", gravity=(0, 0, -G * length))
    law, grows = LAWS[law]
    if turns:
        body = model.body("body", mass=mass, inertia=[0.1 * mass * length**2] * 3, at=(length, 0, 0))
        hinge = model.add(ts.Revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
        inertia = 1.1 * mass * length**2
        model.add(ts.JointForce("jam", hinge, -inertia * law(-body.angular_acceleration[1])))
        expected = G / 1.1
    else:
        body = model.body("body", mass=mass, inertia=[mass * length**2] * 3)
        model.add(ts.Prismatic("guide", model.ground, body, axis=(0, 0, 1)))
        model.add(ts.PointForce("jam", body, force=(0, 0, mass * law(body.acceleration[2]))))
        expected = -G * length
    equations = ts.compile(model, formulation=key)
    assert np.isnan(equations.accelerations()).any() == (grows is None)
    if grows is not None:
        np.testing.assert_allclose(equations.body_accelerations()[4 if turns else 2], expected * grows, rtol=1e-9)


@pytest.mark.parametrize("key", FORMULATIONS)
def test_friction_of_a_joint_that_carries_nothing_is_zero(key):
    """The slope of ‖F‖ does not exist at F = 0, and is not needed there."""
    model = ts.Model("idle")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    hinge = model.add(ts.Revolute("hinge", model.ground, body, start_rate=1.0, axis=(0, 0, 1)))
    size = ca.sqrt(ca.sumsqr(hinge.reaction_force))
    model.add(ts.JointForce("friction", hinge, -0.2 * size * ca.sign(hinge.rate)))
    np.testing.assert_allclose(ts.compile(model, formulation=key).body_accelerations(), 0, atol=1e-15)


@pytest.mark.parametrize("key", FORMULATIONS)
def test_friction_of_a_released_contact_is_zero(key):
    """N is the multiplier of a plane that events release: with it goes what it causes."""
    model = inclined(0.5, 0.2, "plane")
    plane = model["guide"]
    model.when(model.time >= 1.0, ts.release(plane))
    f = ts.registered("formulation")[key](model)
    f.release([plane])
    start = given_start(f.all_rows, 0.0, {})
    q, p = start.q, start.p
    q, v, p = f.adopt(0.0, q, np.ones(6), p)
    f.choose(Examiner(f, 1.0), 0.0, q, p)
    kernels = f.functions()
    a, lam, _ = kernels["accelerations"](0.0, q, v, p, kernels["factor"](0.0, q, p))
    column = ca.vertcat(model.bodies[0].acceleration, plane.multiplier, plane.reaction_force)
    got = f.watching("watch", column)(0.0, q, v, p, a, lam).full().ravel()
    np.testing.assert_allclose(got, [0, 0, -G, 0, 0, 0, 0], atol=1e-12)


def test_only_efforts_may_contain_reactions():
    model = ts.Model("bad")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    joint = model.add(ts.Revolute("joint", model.ground, body, axis=(0, 0, 1)))
    with pytest.raises(ts.ModelError, match="its potential contains 'joint.reaction_force"):
        model.add(ts.EnergyForce("energy", joint.reaction_force[0]))
    with pytest.raises(ts.ModelError, match="its dissipation contains"):
        model.add(ts.EnergyForce("energy", dissipated=joint.rate**2 * joint.multiplier[0]))


def test_forward_and_inverse_dynamics_refuse_implicit_efforts():
    with pytest.raises(ts.OptionError, match="depend on reactions"):
        ts.compile(inclined(0.5, 0.2), formulation="relative").inverse_dynamics()
