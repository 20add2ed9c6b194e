"""Exact contacts of shapes: impacts, rolling and separation by closed forms and conservation laws."""

import numpy as np
import pytest

import torsor as ts


def two_spheres(friction, restitution):
    """A ball with spin meets a ball at rest, off centre."""
    model = ts.Model("oblique", hints=False)
    mu, e = model.parameter("mu", friction), model.parameter("e", restitution)
    options = {"velocity": (2.0, 0.1, 0), "angular_velocity": (0.5, 1.0, 5.0)}
    a = model.body("a", inertia=ts.inertia.sphere(1.0, 0.1), at=(-0.5, 0, 0), shape=ts.shapes.sphere(0.1), **options)
    b = model.body("b", inertia=ts.inertia.sphere(2.0, 0.15), at=(0, 0.1, 0.05), shape=ts.shapes.sphere(0.15))
    model.add(ts.ExactContact("contact", a, b, restitution=e, friction=mu))
    return model


@pytest.mark.parametrize("friction, restitution", [(0.03, 0.7), (0.5, 0.7), (0.0, 1.0)])
def test_an_oblique_impact_of_two_spheres_is_newton_s_and_coulomb_s(friction, restitution):
    """J_n = (1 + e) m v_n; J_t = min(μ J_n, 2/7 m v_t): with 1/m = Σ 1/mₖ, and 7/2 = 1 + 1/0.4 for solid spheres."""
    data = ts.simulate(two_spheres(friction, restitution), 0.3, outputs=[0.0, 0.3], tolerance=1e-10)
    t = float(data.event_time[0])
    x = data.position.values[0] + t * data.velocity.values[0]
    n = (x[1] - x[0]) / np.linalg.norm(x[1] - x[0])
    np.testing.assert_allclose(np.linalg.norm(x[1] - x[0]), 0.25, atol=1e-12)
    velocity, spin = data.velocity.values[0], data.angular_velocity.values[0]
    R = data.rotation.values[-1]
    mass, radius = np.array([1.0, 2.0]), np.array([0.1, 0.15])
    u = velocity[1] - velocity[0] - np.cross(radius[0] * spin[0] + radius[1] * spin[1], n)
    m = 1 / (1 / mass).sum()
    normal = (1 + restitution) * m * -(u @ n)
    slip = u - n * (u @ n)
    size = min(friction * normal, 2 / 7 * m * np.linalg.norm(slip))
    J = normal * n - size * slip / np.linalg.norm(slip)
    np.testing.assert_allclose(data.velocity.values[-1], velocity + np.outer((-1, 1), J) / mass[:, None], atol=1e-11)
    for k, sign in enumerate((-1, -1)):
        expected = spin[k] + sign * radius[k] * np.cross(n, J) / (0.4 * mass[k] * radius[k] ** 2)
        np.testing.assert_allclose(R[k] @ data.angular_velocity.values[-1, k], expected, atol=1e-9)


PAIRS = {
    "sphere and capsule": (ts.shapes.sphere(0.2), ts.shapes.capsule(0.1, 0.6)),
    "sphere and box": (ts.shapes.sphere(0.2), ts.shapes.box((0.3, 0.4, 0.5))),
    "sphere and cylinder": (ts.shapes.cylinder(0.2, 0.4), ts.shapes.sphere(0.15)),
    "two capsules": (ts.shapes.capsule(0.1, 0.5), ts.shapes.capsule(0.15, 0.4)),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_elastic_impacts_conserve_energy_and_momenta(pair):
    """Without friction, whatever meets: a face, an edge, a cap; the surfaces then separate as fast as they met."""
    model = ts.Model("impact", hints=False)
    first, second = PAIRS[pair]
    turns = {"rotation": (0.4, 0.9, -0.3), "angular_velocity": (1.0, -2.0, 0.7)}
    a = model.body(
        "a", mass=1.0, inertia=(0.02, 0.03, 0.04), at=(-0.7, 0.05, 0.1), velocity=(2.0, 0, 0), shape=first, **turns
    )
    b = model.body("b", mass=2.0, inertia=(0.05, 0.04, 0.03), rotation=(0.8, 0.2, 0.5), shape=second)
    contact = model.add(ts.ExactContact("contact", a, b, restitution=1.0))
    model.signal("distance", model["contact.touch0"].gaps()[0])
    model.signal("force", contact.normal_force())
    data = ts.simulate(model, 0.6, outputs=40, tolerance=1e-9)
    assert set(data.event_name.values) == {"contact.touch0.touch"} and data.distance.min() > 0
    np.testing.assert_allclose(data.energy, data.energy[0], rtol=1e-9)
    mass, inertia = np.array([1.0, 2.0]), np.array([[0.02, 0.03, 0.04], [0.05, 0.04, 0.03]])
    x, v = data.position.values, data.velocity.values
    spin = np.einsum("tkij,tkj->tki", data.rotation.values, inertia * data.angular_velocity.values)
    np.testing.assert_allclose(np.einsum("k,tki->ti", mass, v) - (2.0, 0, 0), 0, atol=1e-11)
    total = np.einsum("k,tki->ti", mass, np.cross(x, v)) + spin.sum(axis=1)
    np.testing.assert_allclose(total - total[0], 0, atol=1e-9)


@pytest.mark.parametrize("friction, cosine", [(None, 2 / 3), (1e5, 10 / 17)])
def test_a_ball_leaves_a_dome_where_the_closed_form_says(friction, cosine):
    """Sliding without friction from the top it leaves at cos ϑ = 2/3, rolling at 10/17, whatever the radii.

    Just before that the ball slips, by however little the normal force falls short of 1/μ.
    """
    model = ts.Model("dome", gravity=(0, 0, -9.81), hints=False)
    start, reach = 0.05, 1.3
    at = (reach * np.sin(start), 0, reach * np.cos(start))
    ball = model.body("ball", inertia=ts.inertia.sphere(1.0, 0.3), at=at, shape=ts.shapes.sphere(0.3))
    dome = ts.shapes.sphere(1.0)
    model.add(ts.ExactContact("contact", model.ground, ball, shapes=(dome, ball.shape[0]), friction=friction))
    data = ts.simulate(model, 1.6, outputs=10, tolerance=1e-10)
    t = float(data.event_time[list(data.event_name.values).index("contact.touch0.lift")])
    z = ts.simulate(model, t, outputs=[t], tolerance=1e-10).position.values[-1, 0, 2]
    np.testing.assert_allclose(z / reach, np.cos(start) * cosine, atol=3e-7)


def test_a_box_slides_on_a_plane_until_friction_stops_it():
    """s = v²/(2 μ g); the eight corners are points that touch, of which four carry the weight."""
    model = ts.Model("slide", gravity=(0, 0, -9.81), hints=False)
    options = {"at": (0, 0, 0.1), "velocity": (1.2, 0, 0), "shape": ts.shapes.box((0.3, 0.4, 0.2))}
    box = model.body("box", inertia=ts.inertia.box(2.0, 0.3, 0.4, 0.2), **options)
    floor = ts.shapes.plane((2, 2))
    contact = model.add(ts.ExactContact("floor", model.ground, box, shapes=(floor, box.shape[0]), friction=0.4))
    model.signal("force", contact.normal_force())
    data = ts.simulate(model, 1.0, outputs=4)
    np.testing.assert_allclose(data.position.values[-1, 0], (1.2**2 / (2 * 0.4 * 9.81), 0, 0.1), atol=1e-8)
    np.testing.assert_allclose(data.velocity.values[-1, 0], 0, atol=1e-12)
    np.testing.assert_allclose(data.force, 2 * 9.81, rtol=1e-9)


def test_newton_s_cradle_of_balls_without_gaps():
    """Zero gaps: the last ball takes the whole momentum, by impacts one after the other."""
    model = ts.Model("cradle", gravity=(0, 0, -9.81))
    balls = []
    for k in range(5):
        at = (0.1 * k, 0, -1.0)
        ball = model.body(f"ball{k}", inertia=ts.inertia.sphere(1.0, 0.05), at=at, shape=ts.shapes.sphere(0.05))
        start = 0.5 if k == 0 else 0.0
        model.add(ts.Revolute(f"hinge{k}", model.ground, ball, point=(0.1 * k, 0, 0), axis="y", start=start))
        balls.append(ball)
    for k, pair in enumerate(zip(balls, balls[1:])):
        model.add(ts.ExactContact(f"contact{k}", *pair, restitution=1.0))
    data = ts.simulate(model, 1.0, outputs=[0.4, 1.0], tolerance=1e-12)
    q, v = data.coordinate.values, data.rate.values
    assert np.abs(q[-1, :4]).max() < 1e-10 and np.abs(v[-1, :4]).max() < 1e-10 < np.abs(q[-1, 4])
    np.testing.assert_allclose(data.energy[-1], data.energy[0], atol=1e-10)


def test_bodies_that_start_inside_each_other_are_refused_with_depth_and_names():
    model = ts.Model("inside")
    first, second = (
        model.body(name, inertia=ts.inertia.sphere(1.0, 0.1), at=(x, 0, 0), shape=ts.shapes.sphere(0.1))
        for name, x in (("left", 0.0), ("right", 0.15))
    )
    model.add(ts.ExactContact("contact", first, second))
    with pytest.raises(ts.RunError, match=r"'right' starts 0\.05 m inside body 'left'"):
        ts.simulate(model, 0.1)


@pytest.mark.parametrize(
    "shapes, options, words",
    [
        ((ts.shapes.box((1, 1, 1)), ts.shapes.box((1, 1, 1))), {}, "no exact contact of a box and a box"),
        ((ts.shapes.sphere(1), ts.shapes.ellipsoid((1, 2, 1))), {}, "no contact of a ellipsoid"),
        ((ts.shapes.sphere(1), ts.shapes.sphere(1)), {"static": 0.4}, "without `friction`"),
        ((ts.shapes.sphere(1), ts.shapes.sphere(1)), {"restitution": 2}, "between 0 and 1"),
        ((ts.shapes.sphere(1), ts.shapes.sphere(1)), {"friction": -1}, "must not be negative"),
    ],
)
def test_what_has_no_exact_contact_is_refused(shapes, options, words):
    model = ts.Model("refused")
    first, second = (model.body(name, mass=1.0, inertia=(1, 1, 1), at=(x, 0, 0)) for name, x in (("a", 0), ("b", 5)))
    with pytest.raises(ts.ModelError, match=words):
        model.add(ts.ExactContact("contact", first, second, shapes=shapes, **options))
