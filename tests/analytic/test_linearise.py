"""Linear models against closed forms, and against finite differences of equations in minimal coordinates, derived apart."""

import casadi as ca
import numpy as np
import pytest
from lagrange import Lagrange, turn

import torsor as ts

STEP = 1e-3  # of differences of the sixth order: 1e-18 of truncation, 1e-13 of rounding over it
WEIGHTS = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))


def slope(f, x, h=STEP):
    """The Jacobian of a function by central differences of the sixth order."""
    x = np.array(x, float)
    columns = []
    for k in range(len(x)):
        e = np.zeros(len(x))
        e[k] = h
        columns.append(sum(w * (f(x + j * e) - f(x - j * e)) for j, w in WEIGHTS) / h)
    return np.array(columns).T


def reduced(lagrange, state):
    """A of a system in minimal coordinates, by differences."""
    n = lagrange.n
    rates = lambda x: np.concatenate([x[n:], lagrange.accelerations(0, x[:n], x[n:]).full().ravel()])
    return slope(rates, state)


def same_eigenvalues(found, expected, tolerance):
    """Two sets of eigenvalues, in whatever order rounding leaves them."""
    found, expected = list(found), list(expected)
    assert len(found) == len(expected)
    for s in expected:
        near = min(found, key=lambda x: abs(x - s))
        assert abs(near - s) <= tolerance * max(abs(s), 1e-3 * max(map(abs, expected)))
        found.remove(near)


CRANK, COUPLER, ROCKER, BASE = 0.4, 1.1, 0.7, 1.0
STIFFNESS, FREE, DAMPING = 60.0, 0.3, 0.4  # the spring is stretched: it loads the loop


def bar(length):
    """Mass and moments of a bar along x."""
    return 2.0 * length, (1e-3, 2.0 * length**3 / 12, 2.0 * length**3 / 12)


def corners(theta, cos=np.cos, sin=np.sin, sqrt=np.sqrt):
    """Crank pin, and the pin between coupler and rocker, of a four-bar linkage with the crank at an angle."""
    ax, ay = CRANK * cos(theta), CRANK * sin(theta)
    dx, dy = BASE - ax, -ay
    d2 = dx * dx + dy * dy
    along = (COUPLER**2 - ROCKER**2 + d2) / (2 * d2)
    across = sqrt(COUPLER**2 / d2 - along**2)
    return (ax, ay), (ax + along * dx - across * dy, ay + along * dy + across * dx)


def four_bar(theta, rate):
    """The linkage in torsor: a loop of revolute joints, a stretched spring at the coupler, a damper at the crank."""
    model = ts.Model("four_bar", gravity=(0, -9.81, 0))
    (ax, ay), (bx, by) = corners(theta)
    ends = {
        "crank": ((0, 0), (ax, ay), CRANK),
        "coupler": ((ax, ay), (bx, by), COUPLER),
        "rocker": ((BASE, 0), (bx, by), ROCKER),
    }
    bodies = {}
    for name, (start, end, length) in ends.items():
        mass, inertia = bar(length)
        angle = np.arctan2(end[1] - start[1], end[0] - start[0])
        middle = (*(np.add(start, end) / 2), 0)
        bodies[name] = model.body(name, mass=mass, inertia=inertia, at=middle, rotation=(0, 0, angle))
    crank, coupler, rocker = bodies.values()
    axis = {"axis": (0, 0, 1)}
    hinge = model.add(ts.Revolute("crank_pin", model.ground, crank, point=(0, 0, 0), start_rate=rate, **axis))
    model.add(ts.Revolute("knee", crank, coupler, point=(ax, ay, 0), **axis))
    model.add(ts.Revolute("base", model.ground, rocker, point=(BASE, 0, 0), **axis))
    model.add(ts.Revolute("elbow", coupler, rocker, point=(bx, by, 0), **axis))
    middle = ((ax + bx) / 2, (ay + by) / 2, 0)
    points = ((0.5, 1.5, 0), middle)
    model.add(ts.SpringDamper("spring", model.ground, coupler, points=points, stiffness=STIFFNESS, length=FREE))
    model.add(ts.TorsionSpring("brake", hinge, damping=DAMPING))
    return model


def four_bar_by_hand():
    q, v = ca.SX.sym("q"), ca.SX.sym("v")
    a, b = (ca.vertcat(*x, 0) for x in corners(q, ca.cos, ca.sin, ca.sqrt))
    zero, base = ca.SX.zeros(3), ca.SX(ca.DM([BASE, 0, 0]))
    bodies = []
    for start, end, length in ((zero, a, CRANK), (a, b, COUPLER), (base, b, ROCKER)):
        way = end - start
        bodies.append((*bar(length), (start + end) / 2, turn("z", ca.atan2(way[1], way[0]))))
    stretch = ca.sqrt(ca.sumsqr((a + b) / 2 - ca.SX(ca.DM([0.5, 1.5, 0])))) - FREE
    potential, lost = STIFFNESS * stretch**2 / 2, DAMPING * v**2 / 2
    return Lagrange(q, v, bodies, (0, -9.81, 0), potential, lost)


@pytest.mark.parametrize("formulation", ["relative", "woronetz", "hierarchical", "hamiltonian"])
def test_a_loop_in_motion_under_load_is_linear_as_its_reduction_by_hand(formulation):
    """Away from rest and from equilibrium, with the crank as the coordinate: curvature of the constraints under load and speed."""
    theta, rate = 1.1, 2.5
    found = ts.linearise(four_bar(theta, rate), formulation=formulation, coordinates=["crank_pin"])
    assert found.states == ["crank_pin", "crank_pin.rate"] and not found.steady
    expected = reduced(four_bar_by_hand(), [theta, rate])
    np.testing.assert_allclose(found.A, expected, rtol=1e-9, atol=1e-8)


def test_the_same_in_coordinates_of_the_bodies():
    """The angle of the crank is "crank about z" there."""
    found = ts.linearise(four_bar(1.1, 2.5), formulation="absolute", coordinates=["crank about z"])
    np.testing.assert_allclose(found.A, reduced(four_bar_by_hand(), [1.1, 2.5]), rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_a_state_may_be_told_by_names(formulation):
    """The loop is closed at the angle that is asked for, and moves at that rate."""
    crank = "crank about z" if formulation == "absolute" else "crank_pin"
    at = {"crank_pin": 0.4, "crank_pin.rate": -1.5}
    found = ts.linearise(four_bar(1.1, 0.0), at=at, formulation=formulation, coordinates=[crank])
    np.testing.assert_allclose(found.A, reduced(four_bar_by_hand(), [1.5, -1.5]), rtol=1e-8, atol=1e-8)


def test_eigenvalues_of_a_loop_at_rest_are_those_of_its_reduction_by_hand():
    """At an equilibrium they do not depend on the coordinates."""
    model = four_bar(1.1, 0.0)
    by_hand = four_bar_by_hand()
    for formulation in ts.registered("formulation"):
        found = ts.equilibrium(model, formulation=formulation)
        theta = 1.1 + found.coordinates["crank_pin"]
        assert abs(by_hand.accelerations(0, theta, 0)) < 1e-10
        expected = np.linalg.eigvals(reduced(by_hand, [theta, 0.0]))
        same_eigenvalues(found.linear.eigenvalues, expected, 1e-8)


def test_modes_move_bodies_alike_in_all_coordinates():
    """Displacements and turns over those of the crank; and a small step along the mode keeps the loop closed."""
    model, shapes = four_bar(1.1, 0.0), []
    for formulation in ("absolute", "relative"):
        (mode,) = ts.equilibrium(model, formulation=formulation).linear.modes[:1]
        turn = mode.rotation[mode.bodies.index("crank"), 2]
        shapes.append(np.hstack([mode.displacement, mode.rotation]) / turn)
    np.testing.assert_allclose(shapes[0], shapes[1], atol=1e-7)
    step = mode.motion(amplitude=1e-4, frames=5).isel(time=0)
    pins = []
    for name, end in (("coupler", COUPLER / 2), ("rocker", ROCKER / 2)):
        own = step.sel(body=name)
        pins.append(own["position"].values + own["rotation"].values @ (end, 0, 0))
    assert np.abs(pins[0] - pins[1]).max() < 1e-7  # squares of the step


def cart_pole(mass=0.4, length=0.6, cart_mass=1.5):
    """An inverted pendulum on a cart, with the force on the cart as its input."""
    model = ts.Model("cart_pole", gravity=(0, 0, -9.81))
    cart = model.body("cart", mass=cart_mass, inertia=(0.1, 0.1, 0.1))
    J = 0.02
    pole = model.body("pole", mass=mass, inertia=(J, J, J), at=(0, 0, length))
    track = model.add(ts.Prismatic("track", model.ground, cart, axis=(1, 0, 0)))
    hinge = model.add(ts.Revolute("hinge", cart, pole, point=(0, 0, 0), axis=(0, 1, 0)))
    force = model.input("force", 0.0)
    model.add(ts.JointForce("motor", track, value=force))
    return model, hinge, (mass, length, cart_mass, J)


def test_an_inverted_pendulum_on_a_cart_has_the_matrices_of_the_textbook():
    """(M + m) ẍ + m l φ̈ = F,  m l ẍ + (J + m l²) φ̈ = m g l φ; the hinge's force is an output that follows F at once."""
    model, hinge, (m, l, M, J) = cart_pole()
    outputs = {"angle": hinge.coordinate, "pull": hinge.reaction_force[0]}
    found = ts.linearise(model, outputs=outputs, formulation="relative")
    inertia = np.array([[M + m, m * l], [m * l, J + m * l**2]])
    stiffness, push = np.array([[0, 0], [0, m * 9.81 * l]]), np.array([[1.0], [0.0]])
    expected = np.block([[np.zeros((2, 2)), np.eye(2)], [np.linalg.solve(inertia, stiffness), np.zeros((2, 2))]])
    assert found.states == ["track", "hinge", "track.rate", "hinge.rate"] and found.inputs == ["force"]
    np.testing.assert_allclose(found.A, expected, atol=1e-12)
    np.testing.assert_allclose(found.B, np.vstack([np.zeros((2, 1)), np.linalg.solve(inertia, push)]), atol=1e-12)
    np.testing.assert_allclose(found.C[0], (0, 1, 0, 0), atol=1e-12)
    pulled = m * (found.A[2] + l * found.A[3])  # m times the acceleration of the pole's centre
    np.testing.assert_allclose(found.C[1], pulled, atol=1e-11)
    np.testing.assert_allclose(found.D[:, 0], (0, m * (found.B[2, 0] + l * found.B[3, 0])), atol=1e-12)
    assert found.steady and found.stability == "unstable"


@pytest.mark.parametrize("slow", [-0.05, 0.05])
def test_a_slow_growth_beside_a_stiff_spring_is_told_from_rounding(slow):
    """One mode at 10⁶ rad/s, one that grows or decays with 0.05 1/s, and a direction that is neutral."""
    model = ts.Model("stiff")
    bodies = [model.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1)) for name in ("stiff", "slow", "loose")]
    slides = [model.add(ts.Prismatic(f"{b.name}_rail", model.ground, b, axis="x")) for b in bodies]
    model.add(ts.TorsionSpring("spring", slides[0], stiffness=1e12, damping=1e3))
    x, v = slides[1].coordinate[0], slides[1].rate[0]
    model.add(ts.JointForce("push", slides[1], value=(slow - 3.0) * v + 3.0 * slow * x))  # (s − slow)(s + 3) = 0
    found = ts.linearise(model, formulation="relative")
    assert found.stability == ("unstable" if slow > 0 else "marginal") and found.steady
    assert [mode.neutral for mode in found.modes].count(True) == 2
    assert found.frequencies == pytest.approx([1e6 / (2 * np.pi)])


def test_modes_of_the_same_frequency_are_orthogonal_in_the_masses():
    """Two spherical pendula with a spring between them: three of four frequencies are √(g/l), whose shapes rounding would mix."""
    model, length = ts.Model("pendula", gravity=(0, 0, -9.81)), 0.8
    masses = (1.7, 0.6)
    bobs = [model.body(f"bob{k}", mass=m, inertia=0, at=(0.5 * k, 0, -length)) for k, m in enumerate(masses)]
    for k, bob in enumerate(bobs):
        model.add(ts.Distance(f"rod{k}", model.ground, bob, points=((0.5 * k, 0, 0), (0.5 * k, 0, -length))))
    model.add(ts.SpringDamper("spring", *bobs, stiffness=20.0))
    modes = ts.linearise(model).modes
    expected = np.sqrt(np.array([0, 0, 0, 20.0 * sum(1 / m for m in masses)]) + 9.81 / length) / (2 * np.pi)
    np.testing.assert_allclose([mode.frequency for mode in modes], expected, rtol=1e-12)
    shapes = np.array([(np.sqrt(masses)[:, None] * mode.displacement).ravel() for mode in modes])
    shapes /= np.linalg.norm(shapes, axis=1)[:, None]
    np.testing.assert_allclose(shapes.conj() @ shapes.T, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(shapes.imag, 0, atol=1e-9)


def test_critical_damping_is_two_decays_and_no_oscillation():
    model = ts.Model("door")
    door = model.body("door", mass=1.0, inertia=(0.1, 0.1, 0.1))
    rail = model.add(ts.Prismatic("rail", model.ground, door, axis="x"))
    model.add(ts.TorsionSpring("closer", rail, stiffness=4.0, damping=4.0))
    found = ts.linearise(model)
    assert [str(mode)[:16] for mode in found.modes] == ["decays with 2 1/"] * 2 and not len(found.frequencies)


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
@pytest.mark.parametrize("spin", [0.9, 1.1])
def test_a_sleeping_top_is_stable_beyond_its_critical_spin(formulation, spin):
    """J₁ s² − i J₃ ω s − m g l = 0 for its tilt in axes that stay: stable beyond J₃² ω² = 4 J₁ m g l."""
    mass, length, own, axial = 2.0, 0.3, 0.05, 0.04
    J, torque = own + mass * length**2, mass * 9.81 * length
    omega = spin * 2 * np.sqrt(J * torque) / axial
    model = ts.Model("top", gravity=(0, 0, -9.81))
    body = model.body("top", mass=mass, inertia=(own, own, axial), at=(0, 0, length))
    model.add(ts.Spherical("tip", model.ground, body, point=(0, 0, 0), start_rate=(0, 0, omega)))
    found = ts.linearise(model, formulation=formulation)
    pair = np.roots([J, -1j * axial * omega, -torque])
    tilt = [s for s in found.eigenvalues if abs(s) > 1e-5 * omega]
    same_eigenvalues(tilt, [*pair, *pair.conj()], 1e-8)
    assert (max(s.real for s in tilt) > 1e-3) == (spin < 1)


@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz"])
@pytest.mark.parametrize("part", [0.8, 1.2])
def test_a_rolling_disk_stays_upright_beyond_its_critical_speed(formulation, part):
    """Nonholonomic: s² = (A m g r − C (C + m r²) ω²)/(A (A + m r²)), which is v² > g r/3 for a uniform disk."""
    mass, radius = 3.0, 0.4
    A, C = mass * radius**2 / 4, mass * radius**2 / 2
    speed = part * np.sqrt(9.81 * radius / 3)
    model = ts.Model("disk", gravity=(0, 0, -9.81))
    motion = {"velocity": (speed, 0, 0), "angular_velocity": (0, speed / radius, 0)}
    disk = model.body("disk", mass=mass, inertia=(A, C, A), at=(0, 0, radius), **motion)
    model.add(ts.RollingDisk("road", model.ground, disk, radius=radius, axis=(0, 1, 0)))
    found = ts.linearise(model, formulation=formulation)
    square = (A * mass * 9.81 * radius - C * (C + mass * radius**2) * (speed / radius) ** 2) / (
        A * (A + mass * radius**2)
    )
    lean = [s for s in found.eigenvalues if abs(s) > 1e-4]
    assert len(found.A) == 6 + 3  # six coordinates, three velocities
    np.testing.assert_allclose(np.square(lean), square, rtol=1e-8)
    assert (square > 0) == (part < 1)
