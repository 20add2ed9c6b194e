"""Constraints on velocities against closed solutions: edge, wheel, rolling disk and sphere, imposed angular momentum."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.formulations.absolute import Absolute
from torsor.start.constraints import Examiner

G = 9.81
FORMS = [key for key in ts.registered("formulation") if key != "relative-first"]  # singular after a full turn
TIGHT = 1e-8  # runs at tolerance 1e-11 per step leave some 1e-10 after a few seconds; speeds and lengths are about 1


def edge_on_an_incline(formulation):
    """A blade on a plane that is inclined about the y-axis, turning about its normal at the rate w, at rest at first."""
    tilt, w = 0.4, 2.0
    model = ts.Model("edge", gravity=(G * np.sin(tilt), 0, -G * np.cos(tilt)))
    skate = model.body("skate", mass=1.3, inertia=(0.1, 0.2, 0.25), angular_velocity=(0, 0, w))
    model.add(ts.Planar("ice", model.ground, skate, axis=(0, 0, 1)))
    model.add(ts.KnifeEdge("blade", model.ground, skate, across=(0, 1, 0)))
    data = ts.simulate(model, 5.0, outputs=50, tolerance=1e-11, formulation=formulation)
    return data, G * np.sin(tilt), w


@pytest.mark.parametrize("formulation", FORMS)
def test_an_edge_on_an_incline_describes_a_cycloid_and_does_not_descend(formulation):
    """Its mass centre on the blade: x = g' sin²(wt)/2w², y = g' (2wt − sin 2wt)/4w²; it comes back up all the time."""
    data, g, w = edge_on_an_incline(formulation)
    t, x = data["time"].values, data["position"].values[:, 0]
    np.testing.assert_allclose(x[:, 0], g * np.sin(w * t) ** 2 / (2 * w**2), atol=TIGHT)
    np.testing.assert_allclose(x[:, 1], g * (2 * w * t - np.sin(2 * w * t)) / (4 * w**2), atol=TIGHT)
    np.testing.assert_allclose(x[:, 2], 0, atol=1e-12)


@pytest.mark.parametrize("formulation", FORMS)
def test_the_force_on_an_edge_is_what_turns_its_velocity_round(formulation):
    """λ = 2 m g' sin(wt) sideways, half of it against gravity and half to turn the speed g' sin(wt)/w at the rate w."""
    data, g, w = edge_on_an_incline(formulation)
    lam = data["multiplier"].sel(constraint="blade[0]").values
    np.testing.assert_allclose(lam, 2 * 1.3 * g * np.sin(w * data["time"].values), atol=1e-6 * g)


def test_a_wheeled_cart_moves_along_its_axle_normal_only():
    """Two rolling wheels on one axle, the mass centre on it: a circle of radius v/w, each wheel at the speed of its place."""
    model, w, v = ts.Model("cart"), 0.8, 1.5
    cart = model.body("cart", mass=3.0, inertia=(0.3, 0.2, 0.4), velocity=(v, 0, 0), angular_velocity=(0, 0, w))
    model.add(ts.Planar("floor", model.ground, cart, axis=(0, 0, 1)))
    for k, side in enumerate((0.3, -0.3)):
        inertia = ts.inertia.cylinder(0.4, 0.1, 0.02, axis="y")
        wheel = model.body(f"wheel{k}", inertia=inertia, at=(0, side, 0))
        model.add(ts.Revolute(f"pin{k}", cart, wheel, axis=(0, 1, 0)))
        model.add(ts.Wheel(f"roll{k}", model.ground, wheel, axis=(0, 1, 0), radius=0.1))
    data = ts.simulate(model, 3.0, outputs=30, tolerance=1e-11)
    t, x = data["time"].values, data["position"].sel(body="cart").values
    np.testing.assert_allclose(x[:, 0], v / w * np.sin(w * t), atol=TIGHT)
    np.testing.assert_allclose(x[:, 1], v / w * (1 - np.cos(w * t)), atol=TIGHT)
    for k, side in enumerate((0.3, -0.3)):
        spin = data["rate"].sel(joint_coordinate=f"pin{k}").values
        np.testing.assert_allclose(spin, (v - w * side) / 0.1, rtol=1e-8)


def disk(tilt, spin, turn, mass=0.5, radius=0.2, kept=False):
    """A disk that leans by `tilt` about the x-axis, its axis along y at first; spin about the axis, turn about the vertical."""
    model = ts.Model("disk", gravity=(0, 0, -G))
    axis = np.array([0, np.cos(tilt), np.sin(tilt)])
    body = model.body(
        "disk", inertia=ts.inertia.disk(mass, radius, axis="y"), at=(0, 0, radius * np.cos(tilt)), rotation=(tilt, 0, 0),
        angular_velocity=(0, spin + turn * np.sin(tilt), turn * np.cos(tilt)),
    )  # fmt: skip
    model.add(ts.RollingDisk("roll", model.ground, body, axis=tuple(axis), radius=radius, contact=not kept))
    if kept:
        model.add(ts.DiskOnPlane("height", model.ground, body, axis=tuple(axis), radius=radius))
    return model


def steady_spin(tilt, turn, radius):
    """Spin s with which a thin disk rolls at a constant lean θ, turning at the rate Ω about the vertical.

    C = m r²/2 and A = m r²/4 are its moments of inertia; its centre has the speed r w₃ and the acceleration r w₃ Ω. Moments
    about the centre, along the line of heading:

        (C + m r²) w₃ Ω cos θ = A Ω² sin θ cos θ − m g r sin θ,     w₃ = s + Ω sin θ                    (1)
    """
    C, A = 0.5 * radius**2, 0.25 * radius**2
    s, c = np.sin(tilt), np.cos(tilt)
    w3 = (-G * radius * s + A * turn**2 * s * c) / ((C + radius**2) * turn * c)
    return w3 - turn * s


@pytest.mark.parametrize("formulation", FORMS)
def test_a_disk_with_the_right_spin_rolls_in_a_circle_at_a_constant_lean(formulation):
    """Steady motion of a thin disk ([neimark1972]): lean and speed stay, the centre goes round at the rate Ω."""
    tilt, turn, radius = 0.3, 3.0, 0.2
    spin = steady_spin(tilt, turn, radius)
    w3 = spin + turn * np.sin(tilt)
    data = ts.simulate(disk(tilt, spin, turn, radius=radius), 4.0, outputs=40, tolerance=1e-11, formulation=formulation)
    t, x, v = (data[k].values for k in ("time", "position", "velocity"))
    np.testing.assert_allclose(x[:, 0, 2], radius * np.cos(tilt), atol=TIGHT)
    np.testing.assert_allclose(np.linalg.norm(v[:, 0], axis=1), abs(radius * w3), atol=TIGHT)
    heading = np.unwrap(np.arctan2(v[:, 0, 1], v[:, 0, 0]))
    np.testing.assert_allclose(heading - heading[0], turn * t, atol=10 * TIGHT)


@pytest.mark.parametrize("kept", [False, True])
def test_a_rolling_disk_keeps_its_energy_and_its_height_of_contact(kept):
    """Rolling does no work. Height of contact: to the tolerance at velocity level, to rounding at position level."""
    model = disk(0.2, 9.0, 0.7, kept=kept)
    data = ts.simulate(model, 5.0, outputs=50, tolerance=1e-11)
    assert data.attrs["energy_balance_relative"] < 1e-9
    R, z = data["rotation"].values[:, 0], data["position"].values[:, 0, 2]
    lean = R[:, 2, 1]  # vertical component of the disk's axis
    height = z - 0.2 * np.sqrt(1 - lean**2)
    assert np.abs(height).max() < (1e-12 if kept else 1e-9)
    assert np.ptp(lean) > 0.1  # it does wobble


@pytest.mark.parametrize("tilted", [0.0, 0.3])
def test_a_sphere_on_a_turntable_runs_in_a_circle_at_two_sevenths_of_its_rate(tilted):
    """A solid sphere on a plane that turns at Ω: v̇ = 2/7 Ω z × v + 5/7 g' — a circle, on an inclined plane one that drifts
    across the slope at (5/7 g')/(2/7 Ω)."""
    rate, radius = 3.0, 0.1
    model = ts.Model("turntable", gravity=(G * np.sin(tilted), 0, -G * np.cos(tilted)))
    table = model.add(ts.Ground("table", rotation=ca.vertcat(0, 0, rate * ts.time)))
    start, v = np.array([0.4, 0.0]), np.array([0.0, 0.6])
    slip = v - rate * np.array([-start[1], start[0]])  # ω × (−r n) must bring the contact to the speed of the table
    ball = model.body(
        "ball", inertia=ts.inertia.sphere(0.7, radius), at=(*start, radius), velocity=(*v, 0),
        angular_velocity=(-slip[1] / radius, slip[0] / radius, 0.4),
    )  # fmt: skip
    model.add(ts.RollingSphere("roll", table, ball, radius=radius))
    data = ts.simulate(model, 6.0, outputs=60, tolerance=1e-11)
    assert data.attrs["start_changes"] == "[]"
    W, g = 2 / 7 * rate, 5 / 7 * G * np.sin(tilted)
    t, x = data["time"].values, data["position"].values[:, 0, :2]
    complex_v = v[0] + 1j * v[1]
    steady = 1j * g / W  # v̇ = i W v + g has the constant solution v = i g / W
    path = start[0] + steady * t + (complex_v - steady) * (np.exp(1j * W * t) - 1) / (1j * W)
    np.testing.assert_allclose(x[:, 0], path.real, atol=10 * TIGHT)
    np.testing.assert_allclose(x[:, 1], path.imag, atol=10 * TIGHT)


def panels(value=None):
    """A floating hub with three folded panels on springs, planar, turning, without gravity: its angular momentum stays."""
    model = ts.Model("panels")
    hub = model.body("hub", mass=10.0, inertia=(2, 2, 3.0))
    model.add(ts.Planar("plane", model.ground, hub, axis=(0, 0, 1), start_rate=(0, 0, 0.3)))
    bodies = [hub]
    for k in range(3):
        panel = model.body(f"panel{k}", mass=1.0, inertia=(0.01, 0.1, 0.1), at=(1.0 + k, 0, 0))
        place = {"point": (0.5 + k, 0, 0), "axis": (0, 0, 1), "start": 0.9 * (-1) ** k, "start_rate": 0.0}
        hinge = model.add(ts.Revolute(f"hinge{k}", bodies[-1], panel, **place))
        model.add(ts.TorsionSpring(f"spring{k}", hinge, stiffness=3.0, damping=0.2))
        bodies.append(panel)
    if value is not None:
        model.add(ts.ConservedMomentum("momentum", tuple(bodies), value=value))
    model.signal("L", ts.angular_momentum(bodies)[2])
    return model


@pytest.mark.filterwarnings("ignore::torsor.AccuracyWarning")  # the rule of Euler gains energy, as it does in the paper
@pytest.mark.parametrize("formulation", FORMS)
def test_imposed_angular_momentum_does_not_drift_with_the_rule_of_euler(formulation):
    """[mueller2009], fig. 5: steps of 0.01 s. Without the constraint the error grows, with it it is rounding."""
    options = {"step": 0.01, "method": "lie-euler", "outputs": 20, "formulation": formulation}
    free = ts.simulate(panels(), 5.0, **options)["L"].values
    drift = np.abs(free - free[0]).max() / abs(free[0])
    kept = ts.simulate(panels(float(free[0])), 5.0, **options)
    np.testing.assert_allclose(kept["L"].values, free[0], rtol=1e-10)
    assert drift > 1e-4


def test_an_imposed_momentum_that_the_motion_keeps_anyway_needs_no_force():
    """λ = 0 and the same motion, to the tolerance of the runs."""
    free = ts.simulate(panels(), 2.0, outputs=20, tolerance=1e-11)
    kept = ts.simulate(panels(float(free["L"][0])), 2.0, outputs=20, tolerance=1e-11)
    np.testing.assert_allclose(kept["position"], free["position"], atol=TIGHT)
    np.testing.assert_allclose(kept["multiplier"].sel(constraint="momentum[0]"), 0, atol=1e-9)


def test_the_momentum_at_the_start_is_that_of_the_given_velocities():
    model = ts.Model("pair")
    one = model.body("one", mass=2.0, inertia=(1, 2, 3), at=(1, 0, 0), velocity=(0, 1, 0), angular_velocity=(0, 0, 0.5))
    two = model.body("two", mass=1.0, inertia=0, at=(-1, 0, 0), velocity=(0, -2, 0))
    model.add(ts.ConservedMomentum("L", (one, two), about=(0, 0, 0), value="start"))
    model.signal("now", ts.angular_momentum([one, two], about=(0, 0, 0))[2])
    data = ts.simulate(model, 1.0, outputs=4)
    np.testing.assert_allclose(data["now"], 2 * 1 + 3 * 0.5 + 1 * 2, rtol=1e-12)
    assert data.attrs["start_changes"] == "[]"


def test_a_start_value_needs_velocities_and_bodies_that_can_turn():
    model = ts.Model("wrong")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(ts.ModelError, match="'body' does not give both"):
        model.add(ts.ConservedMomentum("L", (body,), value="start"))
    with pytest.raises(ts.ModelError, match="\"start\", got 'begin'"):
        model.add(ts.ConservedMomentum("L", (body,), value="begin"))
    with pytest.raises(ts.ModelError, match="list of bodies"):
        model.add(ts.ConservedMomentum("L", (model.ground,)))
    point = model.body("point", mass=1.0, inertia=0)
    with pytest.raises(ts.ModelError, match="no moment of inertia"):
        model.add(ts.ConservedMomentum("L", (point,)))


def test_a_disk_that_lies_flat_and_a_radius_that_is_none_are_refused():
    model = ts.Model("wrong")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    for cls in (ts.RollingDisk, ts.DiskOnPlane, ts.Wheel):
        with pytest.raises(ts.ModelError, match="lies flat"):
            model.add(cls("roll", model.ground, body, axis=(0, 0, 1), radius=1.0))
        with pytest.raises(ts.ModelError, match="radius must be positive"):
            model.add(cls("roll", model.ground, body, radius=-1.0))
    with pytest.raises(ts.ModelError, match="contact must be True or False"):
        model.add(ts.RollingSphere("roll", model.ground, body, contact="no"))


def test_velocities_that_contradict_an_edge_are_refused_by_name():
    model = ts.Model("contrary")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1), velocity=(1, 2, 0))
    model.add(ts.KnifeEdge("blade", model.ground, body, across=(0, 1, 0)))
    with pytest.raises(ts.AssemblyError, match=r"body.velocity\[1\].* contradict .*blade: slip along y .*\(off by 2\)"):
        ts.info(model)


def snake():
    """A planar chain with an edge, a wheel and a rolling disk on joints: every element at once."""
    model = ts.Model("snake", gravity=(0.3, 0.2, -G))
    hub = model.body("hub", mass=2.0, inertia=(0.1, 0.2, 0.3))
    model.add(ts.Planar("floor", model.ground, hub, axis=(0, 0, 1)))
    tail = model.body("tail", mass=1.0, inertia=(0.1, 0.2, 0.1), at=(-0.6, 0, 0))
    model.add(ts.Revolute("waist", hub, tail, point=(-0.3, 0, 0), axis=(0, 0, 1)))
    model.add(ts.Wheel("axle", model.ground, tail, axis=(0, 1, 0), point=(-0.7, 0, 0)))
    side = model.body("disk", inertia=ts.inertia.disk(0.3, 0.2, axis="y"), at=(0, 0.8, 0.2))
    model.add(ts.RollingDisk("roll", model.ground, side, axis=(0, 1, 0), radius=0.2))
    ball = model.body("ball", inertia=ts.inertia.sphere(0.5, 0.1), at=(2, 0, 0.1))
    model.add(ts.RollingSphere("ball-roll", model.ground, ball, radius=0.1, contact=False))
    model.add(ts.PointOnPlane("ball-height", model.ground, ball))
    model.add(ts.KnifeEdge("blade", hub, ball, across=(1, 0, 0.2)))
    model.add(ts.ConservedMomentum("spin", (hub, tail), about=(0, 0, 0), value=0.2))
    return model


@pytest.mark.parametrize("formulation", [key for key in FORMS if key != "absolute"])
def test_all_bodies_accelerate_alike_under_velocity_constraints(formulation):
    """At 20 random states on all constraints; 1e-10 is rounding times the condition of the constraints."""
    model = snake()
    one, two = ts.compile(model), ts.compile(model, formulation=formulation)
    f, examiner = two.formulation_object, Examiner(Absolute(model), one.system.length)
    random, q = np.random.default_rng(2), one.q
    for _ in range(20):
        wandered = examiner.sample_nearby(0.0, q, one.p, random, 0.2)
        q, v = one.projected(q if wandered is None else wandered, one.v + random.standard_normal(len(one.v)))
        expected = one.body_accelerations(q, v)
        x, u, p = f.adopt(0.0, q, v, one.p)
        got = two.body_accelerations(x, u, p=p)
        np.testing.assert_allclose(got, expected, atol=1e-10 * max(1.0, np.abs(expected).max()))
