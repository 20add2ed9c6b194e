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
