"""A ground that moves as given carries what is attached to it, does work, and is felt as in the textbook."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.lie import so3

TIGHT = 1e-10  # tolerance per step; a second of smooth motion keeps some 1e-8 of it


def run(model, until=1.0, **options):
    return ts.simulate(model, until, outputs=20, tolerance=TIGHT, **options)


def assert_balanced(data):
    """Change of energy = work of the forces without potential and of the imposed motions."""
    E, W = data["energy"].values, data["work"].values
    assert np.abs(W).max() > 1e-3  # the ground does work at all
    np.testing.assert_allclose(E - E[0], W, atol=1e-7 * np.abs(W).max())


def test_points_and_axes_are_those_of_the_reference_configuration():
    """A body bolted to a ground that moves and turns keeps its place in it: x = x₀(t) + R₀(t) R₀(0)ᵀ (x − x₀(0))."""
    model = ts.Model("bolted")
    w = np.array([0.3, -0.2, 0.9])
    base = model.add(
        ts.Ground("base", at=(1 + ts.time, ca.sin(ts.time), 2), rotation=ca.vertcat(*(w * 2)) * (ts.time + 0.5))
    )
    body = model.body("body", mass=1.0, inertia=(0.1, 0.2, 0.15), at=(2, 1, 0), rotation=(0.4, 0, 0))
    model.add(ts.Fixed("bolts", base, body, point=(1.5, 0.5, 1)))
    data = run(model)
    for t, x, R, v in zip(*(data[k].values for k in ("time", "position", "rotation", "velocity"))):
        turned = so3.exp(2 * w * (t + 0.5)) @ so3.exp(w).T
        arm = turned @ (np.array([2, 1, 0]) - [1, 0, 2])
        np.testing.assert_allclose(x[0], np.array([1 + t, np.sin(t), 2]) + arm, atol=1e-11)
        np.testing.assert_allclose(R[0], turned @ so3.exp([0.4, 0, 0]), atol=1e-11)
        np.testing.assert_allclose(v[0], np.array([1, np.cos(t), 0]) + np.cross(2 * w, arm), atol=1e-11)


def test_a_pendulum_on_an_accelerated_ground_feels_the_tilted_gravity():
    """Ground accelerated by a along x: as a pendulum at rest in the gravity (−a, 0, −g), seen from the ground."""
    a, g = 3.0, 9.81

    def swing(moving):
        model = ts.Model("pendulum", gravity=(0, 0, -g) if moving else (-a, 0, -g))
        base = model.add(ts.Ground("base", at=(a * ts.time**2 / 2 if moving else 0, 0, 0)))
        bob = model.body("bob", mass=1.3, inertia=(0.1, 0.1, 0.1), at=(0, 0, -1))
        model.add(ts.Revolute("pin", base, bob, point=(0, 0, 0), axis=(0, 1, 0)))
        return run(model)

    moving, tilted = swing(True), swing(False)
    np.testing.assert_allclose(moving["coordinate"], tilted["coordinate"], atol=1e-8)
    np.testing.assert_allclose(moving["reaction_force"], tilted["reaction_force"], atol=1e-6)
    assert_balanced(moving)


def test_a_bead_on_a_spinning_rod_flies_outward():
    """r̈ = Ω² r:  r = r₀ cosh Ω t, and the rod pushes with 2 m Ω ṙ."""
    model, spin = ts.Model("bead"), 2.0
    rod = model.add(ts.Ground("rod", rotation=ca.vertcat(0, 0, spin * ts.time)))
    bead = model.body("bead", mass=0.5, inertia=(0.01, 0.01, 0.01), at=(0.3, 0, 0))
    model.add(ts.Prismatic("guide", rod, bead, point=(0, 0, 0), axis=(1, 0, 0)))
    data = run(model)
    t = data["time"].values
    r = 0.3 * np.cosh(spin * t)
    np.testing.assert_allclose(data["coordinate"].values[:, 0], r - 0.3, atol=1e-8)
    np.testing.assert_allclose(data["rate"].values[:, 0], 0.3 * spin * np.sinh(spin * t), atol=1e-7)
    push = np.linalg.norm(data["reaction_force"].values[:, 0], axis=1)
    np.testing.assert_allclose(push, 2 * 0.5 * spin * 0.3 * spin * np.sinh(spin * t), atol=1e-6)
    assert_balanced(data)


@pytest.mark.parametrize("velocity", [None, (0.4, 0, 0)])
@pytest.mark.parametrize("rate", [None, 0.0])
def test_a_joint_rate_at_the_start_is_that_relative_to_the_moving_ground(velocity, rate):
    """r = ẋ − V: a body at rest in a guide that moves with V moves with it, however that is said, and if nothing is said."""
    model = ts.Model("carried")
    base = model.add(ts.Ground("base", at=(0.4 * ts.time, 0, 0)))
    body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0), velocity=velocity)
    model.add(ts.Prismatic("guide", base, body, axis=(1, 0, 0), start_rate=rate))
    assert ts.info(model)["start_changes"] == []
    data = run(model)
    np.testing.assert_allclose(data["rate"], 0, atol=1e-14)
    np.testing.assert_allclose(data["velocity"].values[:, 0], np.tile([0.4, 0, 0], (21, 1)), atol=1e-14)


def test_a_start_rate_that_contradicts_a_given_velocity_is_reported_as_it_was_given():
    """A spinning ground: ω = 2 about the hinge, where the ground turns with 0.5 and the rate was said to be 1."""
    model = ts.Model("torn")
    base = model.add(ts.Ground("base", rotation=ca.vertcat(0, 0, 0.5 * ts.time)))
    body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), angular_velocity=(0, 0, 2.0))
    model.add(ts.Revolute("pin", base, body, axis=(0, 0, 1), start_rate=1.0))
    changes = ts.info(model)["start_changes"]
    assert "pin.rate[0]: 1 became 1.25" in changes and "body.angular_velocity[2]: 2 became 1.75" in changes


SHAKE = ca.vertcat(0.2 * ca.sin(3 * ts.time), 0, 0)


@pytest.mark.parametrize("first_is_ground", [True, False])
def test_springs_dampers_and_joint_forces_on_a_moving_ground_balance_the_energy(first_is_ground):
    """Work done through a spring, a damper and an actuator whose other end the ground moves."""
    model = ts.Model("shaker", gravity=(0, 0, -9.81))
    base = model.add(ts.Ground("base", at=SHAKE, rotation=ca.vertcat(0, 0.3 * ts.time, 0)))
    body = model.body("body", mass=1.0, inertia=(0.1, 0.2, 0.15), at=(1, 0, 0))
    ends, points = (base, body), ((0, 0, 0.5), (1, 0, 0.1))
    if not first_is_ground:
        ends, points = ends[::-1], points[::-1]
    slide = model.add(ts.Cylindrical("slide", *ends, point=(0, 0, 0), axis=(1, 0, 0)))
    model.add(ts.SpringDamper("spring", *ends, points=points, stiffness=30.0, damping=2.0))
    model.add(ts.JointForce("push", slide, value=2 - 0.5 * slide.rate[1], index=1))
    model.add(ts.TorsionSpring("torsion", slide, stiffness=1.0, damping=0.2, index=0))
    data = run(model, until=2.0)
    assert_balanced(data)
    assert data.attrs["energy_balance_relative"] < 1e-7


def test_the_order_of_the_two_bodies_changes_signs_only():
    """A joint from the body to the ground has minus the coordinates of one from the ground to the body."""
    found = []
    for flip in (False, True):
        model = ts.Model("flip", gravity=(0, 0, -9.81))
        wall = model.add(ts.Ground("wall", at=(0.5, 0, 0), rotation=(0, 0, 0.3)))
        body = model.body("body", mass=1.0, inertia=(0.1, 0.2, 0.15), at=(1, 0, 0), rotation=(0.2, 0, 0))
        ends = (body, wall) if flip else (wall, body)
        model.add(ts.Revolute("pin", *ends, point=(0.5, 0, 0), axis=(0, 1, 0.1)))
        found.append(run(model))
    for name, sign in (
        ("position", 1),
        ("rotation", 1),
        ("coordinate", -1),
        ("rate", -1),
        ("reaction_force", -1),
        ("reaction_torque", -1),
    ):
        np.testing.assert_allclose(found[1][name], sign * found[0][name], atol=1e-8)


def test_a_drive_moves_the_coordinate_it_names():
    """A cylindrical joint driven in its displacement, then in its angle over many turns; the other one stays free."""
    for index, exact in ((1, lambda t: 0.3 * t**2), (0, lambda t: 40 * t**2)):
        model = ts.Model("driven")
        body = model.body("body", mass=2.0, inertia=(0.3, 0.3, 0.5), at=(0, 0, 0))
        joint = model.add(ts.Cylindrical("sleeve", model.ground, body, axis=(0, 0, 1)))
        model.add(ts.Drive("drive", joint, value=exact, index=index))
        model.add(ts.JointForce("push", joint, value=1.0, index=1 - index))
        data = run(model)
        t = data["time"].values
        np.testing.assert_allclose(data["coordinate"].values[:, index], exact(t), atol=1e-11)
        inertia = (0.5, 2.0)[1 - index]
        np.testing.assert_allclose(data["coordinate"].values[:, 1 - index], t**2 / 2 / inertia, atol=1e-8)
        assert_balanced(data)


@pytest.mark.parametrize("start", [3.0, -2.5, 25.0])
def test_a_drive_that_starts_turned_is_assembled_at_its_turn(start):
    model = ts.Model("turned")
    body = model.body("body", mass=1.0, inertia=(0.3, 0.3, 0.5), at=(1, 0, 0))
    joint = model.add(ts.Revolute("pin", model.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ts.Drive("drive", joint, value=start + 2 * ts.time))
    data = run(model)
    np.testing.assert_allclose(data["coordinate"].values[:, 0], start + 2 * data["time"].values, atol=1e-10)
    np.testing.assert_allclose(data["position"].values[-1, 0], [np.cos(start + 2), np.sin(start + 2), 0], atol=1e-10)


def test_both_shafts_of_a_universal_joint_turn_as_hooke_found():
    """tan φ₂ = cos β tan φ₁ between shafts at an angle β, where the first fork starts across the plane of the shafts."""
    beta = 0.5
    model = ts.Model("hooke")
    tilt = so3.exp([0, -beta, 0])  # the second shaft lies in the xz-plane at β to the first, which is x
    shafts = [model.body("in", mass=1, inertia=(1, 1, 1)), model.body("out", mass=1, inertia=(1, 1, 1), rotation=tilt)]
    axes = [(1, 0, 0), tuple(tilt @ [1, 0, 0])]
    pins = [model.add(ts.Revolute(f"pin{k}", model.ground, b, axis=axes[k])) for k, b in enumerate(shafts)]
    cross = tuple(np.cross(axes[1], (0, 1, 0)))
    model.add(ts.Universal("hooke", *shafts, point=(0, 0, 0), axis=(0, 1, 0), second_axis=cross))
    model.add(ts.Drive("drive", pins[0], value=4 * ts.time))
    data = run(model, until=2.0)
    one, two = data["coordinate"].sel(joint_coordinate="pin0"), data["coordinate"].sel(joint_coordinate="pin1")
    exact = np.arctan2(np.sin(one) * np.cos(beta), np.cos(one))
    wrap = lambda x: (x + np.pi) % (2 * np.pi) - np.pi
    np.testing.assert_allclose(wrap(two - exact), 0, atol=1e-9)
    assert np.abs(wrap(two - one)).max() > 0.05


def test_a_composed_inertia_moves_about_its_own_centre():
    """A rod with a ball at its end: same motion as a body described at its centre of mass."""
    parts = ts.inertia.rod(1.0, 2.0, axis="x") + ts.inertia.sphere(3.0, 0.2).move(at=(1, 0, 0))
    np.testing.assert_allclose(parts.center, [0.75, 0, 0])
    found = []
    for whole in (True, False):
        model = ts.Model("club", gravity=(0, 0, -9.81))
        turn, at = so3.exp([0.1, 0.2, 0.3]), np.array([0.5, 0, 1])
        given = {"inertia": parts, "at": at}
        if not whole:
            given = {"mass": 4.0, "inertia": parts.tensor, "at": at + turn @ parts.center}
        club = model.body("club", rotation=turn, **given)
        end = model.add(ts.Spherical("end", model.ground, club, point=tuple(at - turn @ [1, 0, 0])))
        grip = club.point((-1, 0, 0) if whole else (-1.75, 0, 0))
        found.append(run(model, signals={"grip": grip}))
        assert end.second is club
    for name in ("position", "velocity", "rotation", "grip[0]", "grip[2]"):
        np.testing.assert_allclose(found[0][name], found[1][name], atol=1e-9)
    np.testing.assert_allclose(found[0]["grip[0]"], (at - turn @ [1, 0, 0])[0], atol=1e-11)


def test_local_frames_say_the_same_as_world_points():
    found = []
    for local in (False, True):
        model = ts.Model("frames", gravity=(0, 0, -9.81))
        turn, at = so3.exp([0.3, -0.2, 0.5]), np.array([0.5, 0.2, 0])
        body = model.body("body", inertia=ts.inertia.box(2.0, 1, 0.2, 0.3).move(at=(0.2, 0, 0)), at=at, rotation=turn)
        point = at + turn @ [-0.5, 0, 0.1]
        where = {"point": tuple(point)}
        if local:
            where = {"frames": (model.ground.frame(point), body.frame((-0.5, 0, 0.1), rotation=turn.T))}
        model.add(ts.Revolute("pin", model.ground, body, axis=(0, 1, 0.4), **where))
        found.append(run(model))
    for name in ("position", "rotation", "coordinate", "reaction_force", "reaction_torque"):
        np.testing.assert_allclose(found[0][name], found[1][name], atol=1e-8)


@pytest.mark.parametrize("projection", ["none", "baumgarte", "least-squares"])
def test_rounding_of_what_does_not_move_does_not_steer_the_step(projection):
    """A body carried along an inclined line turns by rounding only, 1e-17 rad/s, which is no reason for small steps."""
    model = ts.Model("carried")
    base = model.add(ts.Ground("base", at=ca.vertcat(0.3, 0.7, -0.1) * ts.time**2, rotation=(0.4, -0.3, 0.8)))
    body = model.body("body", mass=1.0, inertia=(1, 1, 1), at=(1, -2, 0.5), rotation=(0.4, -0.3, 0.8))
    model.add(ts.Fixed("bolts", base, body, point=(0.2, 0.3, 0.1)))
    data = ts.simulate(model, 0.5, outputs=5, projection=projection)
    assert data.attrs["steps"] < 150
    assert np.abs(data["angular_velocity"]).max() < 1e-14
