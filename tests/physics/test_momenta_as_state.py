"""Runs whose state holds momenta: whatever happens in them happens as in runs on velocities."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts

PLATFORM = ("hamiltonian-rotations", "hamiltonian")
TWINS = {"hamiltonian": "relative", "hamiltonian-absolute": "absolute"}
SHOWN = ("position", "rotation", "velocity", "angular_velocity", "coordinate", "rate", "energy", "work")


def agree(model, until, **options):
    """Runs on momenta, which have the results of those on velocities: to what 1e-11 a step adds up to."""
    run = lambda f: ts.simulate(model, until, tolerance=1e-11, formulation=f, **options)
    runs = [(run(f), run(twin)) for f, twin in TWINS.items()]
    for one, two in runs:
        if model.events:
            assert one.event_name.values.tolist() == two.event_name.values.tolist()
        for name in (*SHOWN, *options.get("signals", ()), *(["event_time"] if model.events else [])):
            a, b = one[name].values, two[name].values
            assert np.abs(a - b).max(initial=0.0) < 1e-8 * (1 + np.abs(a).max(initial=0.0)), name
    return [data for pair in runs for data in pair]


def test_joints_of_several_kinds_on_a_ground_that_moves():
    """Momenta of a tree on a moving ground are not zero where nothing moves in the joints."""
    model, t = ts.Model("tree", gravity=(0, 0, -9.81)), ts.time
    below = model.add(
        ts.Ground("cart", at=(0.3 * ca.sin(3 * t), 0, 0.1 * ca.cos(2 * t)), rotation=(0, 0.1 * t, 0.2 * t))
    )
    kinds = {ts.Universal: {"axis": "y", "second_axis": "x"}, ts.Cylindrical: {"axis": (0.6, 0.8, 0)}, ts.Spherical: {}}
    for k, (kind, axes) in enumerate(kinds.items()):
        body = model.body(f"body{k}", mass=1 + 0.3 * k, inertia=(0.02, 0.03, 0.04), at=(0.3 + 0.5 * k, 0.05 * k, 0))
        rates = (0.4, -0.7, 0.9)[: kind.dof]
        model.add(kind(f"joint{k}", below, body, point=(0.5 * k, 0, 0), start_rate=rates, **axes))
        below = body
    spring = {"points": ((0, 0, 1), (1.3, 0.1, -0.2)), "stiffness": 20.0, "damping": 1.0}
    model.add(ts.SpringDamper("spring", model.ground, below, **spring))
    heard = model.state("heard", rate=lambda x: (model["joint0"].rate[0] - x) / 0.1)
    agree(model, 0.5, outputs=5, signals={"follower": heard, "pull": model["joint0"].reaction_force[2]})


def test_a_mass_that_an_event_changes_changes_no_velocity():
    model = ts.Model("hammer", gravity=(0, 0, -9.81))
    mass = model.parameter("mass", 1.0, positive=True)
    head = model.body("head", mass=mass, inertia=(0.01, 0.01, 0.01), at=(0.5, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, head, point=(0, 0, 0), axis="y", start_rate=2.0))
    model.when(ts.time >= 0.1, ts.assign(mass, 3.0), name="heavier")
    runs = agree(model, 0.2, outputs=[0.0999999999, 0.1, 0.2], signals={"momentum": hinge.momentum[0]})
    for data in runs:
        assert abs(np.diff(data.rate.values[:2, 0])[0]) < 1e-8
        before, after = data["momentum"].values[:2]
        assert after / before == pytest.approx((0.01 + 3 * 0.25) / (0.01 + 0.25), rel=1e-8)


def test_impacts_and_friction():
    """A block lands askew on two feet, bounces, and slides until it rests."""
    model = ts.Model("landing", gravity=(0, 0, -9.81))
    block = model.body("block", mass=2.0, inertia=(0.01, 0.02, 0.02), at=(0, 0, 0.3), velocity=(1.0, 0.2, 0))
    for k, x in enumerate((-0.1, 0.15)):
        foot = ts.Contact(f"foot{k}", model.ground, block, point=(x, 0, 0.25), plane=(0, 0, 0), restitution=0.3)
        model.add(ts.Friction(f"rub{k}", model.add(foot), coefficient=0.4, static=0.5))
    runs = agree(model, 0.5, outputs=5)
    assert len(runs[0].event_time) > 3


def test_a_joint_that_is_engaged_at_a_distance_keeps_velocities():
    """Positions are brought together by a jump; momenta of the state follow those of the other place."""
    model = ts.Model("hook")
    one = model.body("one", mass=1.0, inertia=(0.1, 0.2, 0.3), at=(1, 0, 0), angular_velocity=(0.3, 0.2, 1.0))
    two = model.body("two", mass=2.0, inertia=(0.2, 0.2, 0.3), at=(2, 0, 0), velocity=(0.1, 0.4, 0))
    model.add(ts.Spherical("pin", model.ground, one, point=(0, 0, 0)))
    hook = model.add(ts.Spherical("hook", one, two, point=(1.5, 0, 0)), active=False)
    model.when(ts.time >= 0.2, ts.engage(hook, snap=True), name="hooked")
    agree(model, 0.5, outputs=5)


def test_what_rests_on_a_belt_sticks_to_it():
    """Its momentum is that of the belt, which leaves rounding where velocities are zero."""
    model = ts.Model("belt", gravity=(0, 0, -9.81))
    moving = model.add(ts.Ground("moving", at=(0.4 * ts.time, 0, 0)))
    block = model.body("block", mass=1.2, inertia=(0.1, 0.1, 0.1), velocity=(0.4, 0, 0))
    model.add(ts.EnergyForce("spring", energy=25.0 * block.position[0] ** 2))
    on = model.add(ts.Prismatic("on", moving, block, axis=(1, 0, 0)))
    model.add(ts.Friction("rub", on, coefficient=0.25, static=0.45))
    runs = agree(model, 1.1, outputs=5)
    assert [data.event_name.values.tolist() for data in runs] == 4 * [["rub.slide", "rub.stick"]]


def test_rotations_and_angles_describe_one_motion():
    """30 unknowns or 6: the platform moves alike until its chaos makes rounding visible, and matrices stay rotations."""
    model = ts.cases.load("platform")
    sizes = [sum(getattr(ts.compile(model, formulation=key), x).size for x in "qv") for key in PLATFORM]
    assert sizes == [30, 6]
    matrices, angles = (ts.simulate(model, 2.0, outputs=20, formulation=key, tolerance=1e-12) for key in PLATFORM)
    for name in ("position", "rotation", "velocity", "coordinate", "rate"):
        np.testing.assert_allclose(matrices[name].values, angles[name].values, atol=1e-8)
    assert matrices.attrs["orthogonality"] < 1e-14
