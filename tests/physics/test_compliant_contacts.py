"""Contacts of shapes as forces: distances are those of geometry, impacts, rest and sliding those of closed forms."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.forces.contact_geometry import ShapeAt, signed_distance, touches
from torsor.forces.shape_contacts.convex_polyhedron import MOST_CORNERS, faces_of
from torsor.formulations.tables.tree_schedule import TABLES_ABOVE

G = 9.81
PLANE = ts.shapes.plane((1, 1))
SIZES = {"plane": (1.0, 1.0), "sphere": (0.7,), "capsule": (0.4, 1.2), "box": (0.8, 1.2, 1.6), "cylinder": (0.5, 1.4)}


def nearest(kind, p):
    """The nearest point of a shape to a point outside, by projection."""
    size = SIZES[kind]
    if kind == "plane":
        return np.array([p[0], p[1], 0.0])
    if kind == "sphere":
        return size[0] * p / np.linalg.norm(p)
    if kind == "capsule":
        c = np.array([0, 0, np.clip(p[2], -size[1] / 2, size[1] / 2)])
        return c + size[0] * (p - c) / np.linalg.norm(p - c)
    if kind == "box":
        return np.clip(p, -np.array(size) / 2, np.array(size) / 2)
    rho = np.linalg.norm(p[:2])
    return np.array([*(p[:2] * min(rho, size[0]) / rho), np.clip(p[2], -size[1] / 2, size[1] / 2)])


@pytest.mark.parametrize("kind", SIZES)
def test_distances_and_normals_are_those_of_the_nearest_point(kind):
    p = ca.SX.sym("p", 3)
    f = ca.Function("f", [p], [*signed_distance(ShapeAt(kind, list(SIZES[kind]), None, None), p)])
    random, compared = np.random.default_rng(3), 0
    for x in random.uniform(-2, 2, (60, 3)):
        distance, normal = (y.full().ravel() for y in f(x))
        if distance < 1e-3:
            h = 1e-6
            slope = [(float(f(x + h * e)[0]) - float(f(x - h * e)[0])) / (2 * h) for e in np.eye(3)]
            np.testing.assert_allclose(normal, slope, atol=1e-6)
            continue
        way = x - nearest(kind, x)
        np.testing.assert_allclose(distance, np.linalg.norm(way), atol=1e-9)
        np.testing.assert_allclose(normal, way / np.linalg.norm(way), atol=1e-9)
        compared += 1
    assert compared > 15


def test_capsules_touch_where_their_axes_are_nearest():
    random = np.random.default_rng(4)
    s = np.linspace(-0.5, 0.5, 401)
    for _ in range(20):
        shapes, axes = [], []
        for length in (1.2, 0.9):
            R = np.linalg.qr(random.standard_normal((3, 3)))[0]
            at = random.uniform(-1, 1, 3)
            shapes.append(ShapeAt("capsule", [0.2, length], ca.SX(ca.DM(at)), ca.SX(ca.DM(R))))
            axes.append(at + length * s[:, None] * R[:, 2])
        between = np.linalg.norm(axes[0][:, None] - axes[1][None], axis=2).min()
        (touch,) = touches(*shapes)
        assert abs(float(touch.depth) - (0.4 - between)) < 2e-5


def falling(shape, inertia, height, **law):
    model = ts.Model("ball", gravity=(0, 0, -G))
    body = model.body("ball", inertia=inertia, at=(0, 0, height), shape=shape)
    contact = model.add(ts.CompliantContact("floor", model.ground, body, shapes=(PLANE, body.shape[0]), **law))
    return model, contact


def test_an_impact_has_the_restitution_of_hunt_and_crossley():
    """d v (1 + e) = ln((1 + d v) / (1 − d e v)), whatever stiffness, exponent and mass: the integral of v dv / (1 + d v) over an
    impact without other forces vanishes."""
    for exponent in (1.0, 1.5):
        model = ts.Model("balls")
        pair = [
            model.body(name, inertia=ts.inertia.sphere(mass, 0.1), at=(x, 0, 0), velocity=(v, 0, 0))
            for name, mass, x, v in (("a", 1.0, -0.11, 0.8), ("b", 2.5, 0.11, -0.4))
        ]
        model.add(ts.CompliantContact("touch", *pair, stiffness=1e6, exponent=exponent, damping=0.6,
                                      shapes=(ts.shapes.sphere(0.1), ts.shapes.sphere(0.1))))  # fmt: skip
        data = ts.simulate(model, 0.1, outputs=1, tolerance=1e-10)
        v = data.velocity.sel(axis="x").values[-1]
        d, speed = 0.6, 1.2
        e = (v[1] - v[0]) / speed
        assert abs(d * speed * (1 + e) - np.log((1 + d * speed) / (1 - d * e * speed))) < 1e-6
        np.testing.assert_allclose(v @ (1.0, 2.5), 0.8 - 1.0, atol=1e-9)


@pytest.mark.parametrize("law, exponent", [("hunt-crossley", 1.5), ("kelvin-voigt", 1.0)])
def test_a_ball_rests_at_the_depth_of_its_weight(law, exponent):
    damping = 5.0 if law == "hunt-crossley" else 200.0
    model, contact = falling(
        ts.shapes.sphere(0.1), ts.inertia.sphere(2.0, 0.1), 0.1, law=law, stiffness=1e4, damping=damping
    )
    model.signal("pressure", contact.normal_force())
    data = ts.simulate(model, 3.0, outputs=1)
    depth = 0.1 - float(data.position.sel(axis="z")[-1, 0])
    assert abs(depth - (2.0 * G / 1e4) ** (1 / exponent)) < 1e-5
    assert abs(float(data.pressure[-1]) - 2.0 * G) < 0.05


def test_a_box_stands_on_a_slope_below_the_angle_of_friction_and_slides_above():
    """Below: it creeps with v_s tan α / √(μ² − tan² α). Above: a = g (sin α − μ cos α)."""
    for slope, mu in ((0.2, 0.5), (0.6, 0.3)):
        model = ts.Model("slope", gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
        depth = (0.5 * G * np.cos(slope) / 4 / 1e5) ** (2 / 3)
        box = model.body("box", inertia=ts.inertia.box(0.5, 0.4, 0.4, 0.1), at=(0, 0, 0.05 - depth))
        model.add(ts.CompliantContact("floor", model.ground, box, shapes=(PLANE, ts.shapes.box((0.4, 0.4, 0.1))), friction=mu,
                                      slip_speed=1e-3, damping=3.0))  # fmt: skip
        data = ts.simulate(model, 1.0, outputs=2)
        speed = data.velocity.sel(axis="x").values[:, 0]
        if np.tan(slope) < mu:
            assert abs(speed[-1] - 1e-3 * np.tan(slope) / np.sqrt(mu**2 - np.tan(slope) ** 2)) < 1e-5
        else:
            expected = G * (np.sin(slope) - mu * np.cos(slope))
            assert abs((speed[2] - speed[1]) / 0.5 - expected) < 0.01 * expected


def test_forces_in_contacts_have_their_reactions():
    """Two boxes, a capsule and a cylinder that strike each other in space keep momentum and angular momentum."""
    model = ts.Model("space")
    kinds = [
        ts.shapes.box((0.3, 0.3, 0.3)),
        ts.shapes.capsule(0.1, 0.3),
        ts.shapes.box((0.2, 0.3, 0.4)),
        ts.shapes.cylinder(0.15, 0.3),
    ]
    bodies = [
        model.body(f"b{k}", mass=1.0 + k, inertia=(0.02, 0.025, 0.03), at=(0.42 * k, 0.02 * k, 0), shape=shape,
                   velocity=(1.0 - 0.7 * k, 0, 0), angular_velocity=(1, -2 * k, 3))
        for k, shape in enumerate(kinds)
    ]  # fmt: skip
    for k, a in enumerate(bodies):
        for b in bodies[k + 1 :]:
            model.add(ts.CompliantContact(f"{a.name}{b.name}", a, b, stiffness=1e4, friction=0.5, damping=0.3))
    data = ts.simulate(model, 0.3, outputs=3, tolerance=1e-9)
    masses = np.array([1.0, 2.0, 3.0, 4.0])
    p = np.einsum("b,tba->ta", masses, data.velocity.values)
    spin = np.einsum("tbij,j,tbj->tbi", data.rotation.values, (0.02, 0.025, 0.03), data.angular_velocity.values).sum(1)
    L = spin + np.einsum("b,tba->ta", masses, np.cross(data.position.values, data.velocity.values))
    assert np.abs(data.velocity.values[-1] - data.velocity.values[0]).max() > 0.3
    np.testing.assert_allclose(p, np.tile(p[0], (4, 1)), atol=1e-9)
    np.testing.assert_allclose(L, np.tile(L[0], (4, 1)), atol=1e-8)


def test_wrong_contacts_are_refused():
    model = ts.Model("wrong")
    ball = model.body("ball", inertia=ts.inertia.sphere(1.0, 0.1), at=(0, 0, 0.03))
    bare = model.body("bare", mass=1.0, inertia=(1, 1, 1), at=(5, 0, 0))
    sphere, cone = ts.shapes.sphere(0.1), ts.shapes.cone(0.1, 0.2)
    for given, why in (
        ({"shapes": (PLANE, sphere)}, "ground 'ground' and body 'ball' start 0.07 m inside each other"),
        (
            {"shapes": (PLANE, cone)},
            "there is no contact of a cone. Known: plane, heights, sphere, capsule, box, cylinder",
        ),
        ({"shapes": (PLANE, PLANE)}, "two planes touch everywhere or nowhere"),
        ({"shapes": sphere}, "shapes must be two shapes"),
        ({}, "ground 'ground' has 0 shapes, one is needed"),
        ({"shapes": (PLANE, sphere), "stiffness": -1.0}, "stiffness must be at least 0, got -1.0"),
        ({"shapes": (PLANE, sphere), "slip_speed": 0.0}, "slip_speed must be positive"),
        ({"shapes": (PLANE, sphere), "law": "hertz"}, "unknown law 'hertz'. Known: hunt-crossley, kelvin-voigt"),
    ):
        with pytest.raises(ts.ModelError, match=why):
            model.add(ts.CompliantContact("c", model.ground, ball, **given))
    with pytest.raises(ts.ModelError, match="connects body 'bare' with itself"):
        model.add(ts.CompliantContact("c", bare, bare, shapes=(sphere, sphere)))


def test_the_hull_of_points_has_their_faces():
    """Random points in a cube and its corners: the corners are left, and the six faces; a plane of points is none."""
    random = np.random.default_rng(5)
    corners = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * [0.1, 0.15, 0.2]
    hull = ts.ConvexPolyhedron(np.vstack([random.uniform(-0.09, 0.09, (30, 3)), corners]))
    normals, distances = faces_of(hull.size)
    assert len(hull.points) == 8 and len(normals) == 6
    np.testing.assert_allclose(sorted(distances), [0.1, 0.1, 0.15, 0.15, 0.2, 0.2], atol=1e-12)
    with pytest.raises(ts.ModelError, match="must not be in one plane"):
        ts.ConvexPolyhedron(corners * [1, 1, 0])
    with pytest.raises(ts.ModelError, match="at least four points of three numbers"):
        ts.ConvexPolyhedron([(0, 0, 0)])


def test_a_ball_with_many_points_is_reduced():
    x = np.random.default_rng(0).standard_normal((2000, 3))
    hull = ts.ConvexPolyhedron(x / np.linalg.norm(x, axis=1)[:, None])
    normals, distances = faces_of(hull.size)
    assert len(hull.points) <= MOST_CORNERS and distances.min() > 0.75
    np.testing.assert_allclose((hull.points @ normals.T - distances).max(axis=0), 0, atol=1e-12)


def test_a_box_and_its_hull_stand_alike():
    """A hull of the corners of a box presses as the box does: F = k δ at its four lower corners."""
    corners = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * [0.1, 0.15, 0.2]
    model = ts.Model("hull")
    body = model.body("hull", mass=1.0, inertia=(0.02, 0.02, 0.02), at=(0, 0, 0.19))
    shapes = (PLANE, ts.ConvexPolyhedron(corners))
    contact = model.add(ts.CompliantContact("c", model.ground, body, shapes=shapes, stiffness=100.0, exponent=1.0))
    still = [x for b in (model.ground, body) for x in (b.position, b.rotation, b.velocity, b.angular_velocity)]
    f = ca.Function("f", still, [contact.normal_force()])
    at = lambda z: float(f([0, 0, 0], np.eye(3), [0, 0, 0], [0, 0, 0], [0, 0, z], np.eye(3), [0, 0, 0], [0, 0, 0]))
    assert at(0.19) == pytest.approx(4 * 100 * 0.01, rel=1e-12) and at(0.21) == 0


def test_a_ball_on_heights_rests_where_they_are_level():
    """In a bowl of points z = c (x² + y²) a ball comes to rest at the bottom, its weight m g = k δ^1.5."""
    x = np.linspace(-2, 2, 41)
    bowl = ts.table((x, x), 0.25 * (x[:, None] ** 2 + x**2), kind="cubic")
    model = ts.Model("bowl", gravity=(0, 0, -G))
    ball = model.body("ball", inertia=ts.inertia.sphere(1.0, 0.1), at=(0, 0, 0.2))
    contact = ts.CompliantContact(
        "c", model.ground, ball, shapes=(bowl, ts.shapes.sphere(0.1)), stiffness=1e4, damping=3.0
    )
    model.add(contact)
    data = ts.simulate(model, 2.0, outputs=1, tolerance=1e-6)
    depth = (G / 1e4) ** (2 / 3)
    assert float(data.position[-1, 0, 2]) == pytest.approx(0.1 - depth, abs=1e-4)


def test_a_capsule_and_a_cylinder_in_one_large_model_stay_what_they_are(monkeypatch):
    """Shapes of equal numbers of sizes are not of one class."""
    monkeypatch.setenv(TABLES_ABOVE, "1")
    model = ts.Model("two", gravity=(0, 0, -G))
    for k, shape in enumerate((ts.shapes.capsule(0.1, 0.3), ts.shapes.cylinder(0.1, 0.3))):
        body = model.body(f"b{k}", mass=1.0, inertia=(0.01, 0.01, 0.01), at=(2 * k, 0, 0.24))
        model.add(ts.CompliantContact(f"c{k}", model.ground, body, shapes=(PLANE, shape), stiffness=1e3, exponent=1.0))
    data = ts.simulate(model, 1e-3, step=1e-3, outputs=1)
    assert data.attrs["path"] == "tables"
    first = data.acceleration[0, :, 2].values
    assert first[0] == pytest.approx(1e3 * 0.01 - G, rel=1e-9) and first[1] == pytest.approx(-G, rel=1e-9)
