"""A mechanism of any size and mass moves as its copy of size 1: without gravity, lengths over the size, at the same rates."""

import casadi as ca
import models
import numpy as np
import pytest

import torsor as ts
from torsor.lie import so3

FORMS = ("absolute", "relative", "woronetz")
SIZES = [(1e-10, 1e-9), (1e-4, 1e9), (2e6, 1e-9), (1e9, 1.0)]


def four_bar(L, M):
    """A planar loop in a slanted plane."""
    R = so3.exp(np.array((0.3, 0.5, -0.2)))
    pins = [R @ (np.array((x, z, 0)) * L) for x, _, z in models.FOUR_BAR]
    masses = M * np.array((1, 2, 3))
    inertia = L * L * np.array((0.01, 0.02, 0.02))
    return models.four_bar(pins, masses, inertia, R @ (0, 0, 1), gravity=(0, 0, 0), A={"start_rate": 1.5})


def chain(L, M):
    """Joints with lengths and angles as coordinates, a thread, a rod to the ground, and a spring."""
    m, v = ts.Model("chain"), lambda *x: tuple(L * np.array(x))
    J = tuple(M * L * L * np.array((0.1, 0.11, 0.09)))
    places = (("a", (0.3, 0.2, -0.4)), ("b", (-0.5, 0.6, 0.1)), ("c", (0.5, 0.6, 0.9)))
    a, b, c = (m.body(name, mass=M, inertia=J, at=v(*at)) for name, at in places)
    m.add(ts.Revolute("r", m.ground, a, point=v(0.1, -0.7, 0.3), axis=(-0.7, -0.3, 0.5), start_rate=1.0))
    m.add(ts.Screw("s", a, b, point=v(0.9, 0.2, -0.2), axis=(0, 1, 0), pitch=0.1 * L, start_rate=1.3))
    m.add(ts.Cylindrical("z", b, c, point=v(0.9, 0.2, 0.2), axis=(0, 1, 1), start_rate=(0.2, 0.3 * L)))
    m.add(ts.Distance("d", m.ground, c, points=(v(0, 0, 1), v(0.7, 0.8, 0.1))))
    m.add(ts.SpringDamper("k", m.ground, b, stiffness=3 * M, length=0.1 * L, points=(v(0, 0, 0), v(-0.5, 0.6, 0.1))))
    return m


_MOTIONS: dict = {}


def motion(build, L, M, form):
    """Positions over the size, degrees of freedom, steps, and how far the energy is off, over the energy."""
    if (build, L, M, form) not in _MOTIONS:
        data = ts.simulate(build(L, M), 1.0, outputs=4, formulation=form)
        off = data.attrs["energy_balance_error"] / float(abs(data.kinetic_energy).max())
        found = (data.position.values / L, data.attrs["degrees_of_freedom"], data.attrs["steps"], off)
        _MOTIONS[build, L, M, form] = found
    return _MOTIONS[build, L, M, form]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("L", "M"), SIZES)
@pytest.mark.parametrize("build", [four_bar, chain])
def test_motion_does_not_depend_on_size_and_mass(build, L, M, form):
    x, freedom, steps, off = motion(build, L, M, form)
    x1, freedom1, steps1, off1 = motion(build, 1.0, 1.0, form)
    assert freedom == freedom1
    np.testing.assert_allclose(x, x1, atol=1e-8)
    assert abs(steps - steps1) <= 0.2 * steps1 and off < 10 * off1 + 1e-9


@pytest.mark.parametrize("L", [1e-10, 1e9])
@pytest.mark.parametrize("projection", ["least-squares:metric=plain", "partition"])
def test_projections_do_not_depend_on_size(projection, L):
    one, other = (ts.simulate(four_bar(x, 1.0), 1.0, outputs=4, projection=projection) for x in (1.0, L))
    np.testing.assert_allclose(other.position.values / L, one.position.values, atol=1e-8)


@pytest.mark.parametrize(
    ("extent", "inertia", "length"), [(3.0, 1.0, 3.0), (0.0, 8e-20, 2e-10), (0.0, 0, 1.0), (2e-9, 0, 2e-9)]
)
def test_the_size_of_a_model_is_its_extent_or_that_of_its_bodies(extent, inertia, length):
    m = ts.Model("size")
    m.body("b", mass=3.0, inertia=inertia and (inertia,) * 3, at=(extent, 0, 0))
    assert ts.simulate(m, 0.1, outputs=1).attrs["model_length"] == pytest.approx(length)


def table(closing, angle):
    """A planar four-bar on a table that turns over; closed by a hinge, whose rows are redundant, or by two rows that move along."""
    m, t = ts.Model("four-bar", gravity=(0, -2.0, 0)), ts.time
    turn = ca.if_else(t < 1, angle * (10 * t**3 - 15 * t**4 + 6 * t**5), angle)
    ground = m.add(ts.Ground("table", rotation=ca.vertcat(0, turn, 0)))
    P = [np.array(p, float) for p in ((0, 0, 0), (0.2, 0.5, 0), (1.2, 0.8, 0), (1.0, 0, 0))]
    links = [m.body(f"l{k}", mass=1 + k, inertia=(0.01, 0.02, 0.03), at=(P[k] + P[k + 1]) / 2) for k in range(3)]
    for k, (first, second) in enumerate(zip([ground, *links], links)):
        m.add(ts.Revolute("ABC"[k], first, second, point=P[k], axis=(0, 0, 1), **({} if k else {"start_rate": 1.5})))
    if closing == "hinge":
        m.add(ts.Revolute("D", links[2], ground, point=P[3], axis=(0, 0, 1)))
    else:
        q = ground.rotation.T @ (links[2].point(tuple((P[3] - P[2]) / 2)) - ground.position)
        m.add(ts.Holonomic("D", ca.vertcat(q[0] - 1.0, q[1])))
    return m


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("angle", [np.pi / 2, -2.0])
def test_a_loop_whose_plane_turns_goes_on(form, angle):
    truth = ts.simulate(table("rows", angle), 2.0, outputs=8, formulation="relative", tolerance=1e-11)
    data = ts.simulate(table("hinge", angle), 2.0, outputs=8, formulation=form)
    hinge = lambda data: data.coordinate.sel(joint_coordinate="A").values
    np.testing.assert_allclose(hinge(data), hinge(truth), atol=1e-6)
