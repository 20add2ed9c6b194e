"""Constraints that say nothing new change nothing: not the freedom, not the motion, in whatever coordinates."""

import numpy as np
import pytest

import torsor as ts
from torsor.lie import so3

FORMS = ("absolute", "relative", "woronetz")


def turned(angles):
    """Rotation matrix of a rotation vector."""
    return so3.exp(np.array(angles, float))


def door(hinges, turn=(0, 0, 0), apart=0.0):
    """A door on several hinges of one axis, the whole turned, its hinges out of line by a little."""
    R, random = turned(turn), np.random.default_rng(3)
    m = ts.Model("door", gravity=R @ (3.0, 1.0, -9.81))
    b = m.body("door", mass=10, inertia=(1, 1.2, 0.4), at=R @ (0.5, 0.1, 1), rotation=R @ turned((0.3, 0.2, 0.1)))
    for k in range(hinges):
        rate = {"start_rate": 1.0} if k == 0 else {}
        point = R @ (np.array((0, 0, 0.2 + 1.6 * k / max(hinges - 1, 1))) + apart * random.standard_normal(3))
        m.add(ts.Revolute(f"h{k}", m.ground, b, point=point, axis=R @ (0, 0, 1), **rate))
    return m


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("hinges", "turn"), [(2, (0, 0, 0)), (3, (0.4, -0.7, 0.2)), (5, (1.9, 0.3, -2.0))])
def test_a_door_on_several_hinges_moves_as_on_one(form, hinges, turn):
    one, many = (ts.simulate(door(n, turn), 1.0, outputs=5, formulation=form) for n in (1, hinges))
    assert many.attrs["degrees_of_freedom"] == 1
    angle = lambda data: data.coordinate.sel(joint_coordinate="h0").values
    np.testing.assert_allclose(angle(many), angle(one), atol=1e-7)


@pytest.mark.parametrize("apart", [1e-13, 1e-11, 1e-9])
@pytest.mark.parametrize("form", FORMS)
def test_hinges_that_are_a_little_out_of_line_still_carry_a_door(form, apart):
    true, noisy = (ts.simulate(door(2, (0.4, -0.7, 0.2), x), 1.0, outputs=5, formulation=form) for x in (0, apart))
    assert noisy.attrs["degrees_of_freedom"] == 1
    angle = lambda data: data.coordinate.sel(joint_coordinate="h0").values
    np.testing.assert_allclose(angle(noisy), angle(true), atol=1e-6)
    assert noisy.attrs["position_drift_max"] < 1e-12 + 10 * apart  # and it is told how far they part


def test_hinges_that_are_out_of_line_jam():
    info = ts.info(door(2, (0, 0, 0), 1e-4))
    assert info["degrees_of_freedom"]["generic"] == 0 and "h0.rate[0]: 1 became" in str(info["start_changes"])


@pytest.mark.parametrize("form", FORMS)
def test_loops_that_close_but_for_a_little_are_assembled_and_told(form):
    """A door whose hinges are placed in both parts by frames that disagree by 3e-8 m; 3e-5 m are refused."""

    def build(apart):
        m = ts.Model("door", gravity=(3.0, 1.0, -9.81))
        b = m.body("door", mass=10, inertia=(1, 1.2, 0.4), at=(0.5, 0.1, 1))
        m.add(ts.Revolute("h0", m.ground, b, point=(0, 0, 0.2), axis=(0, 0, 1), start_rate=1.0))
        frames = (m.ground.frame(at=(0, 0, 1.8)), b.frame(at=(-0.5, -0.1, 0.8 + apart)))
        m.add(ts.Revolute("h1", m.ground, b, frames=frames, axis=(0, 0, 1)))
        return m

    true, noisy = (ts.simulate(build(x), 1.0, outputs=5, formulation=form) for x in (0, 3e-8))
    np.testing.assert_allclose(noisy.coordinate.values, true.coordinate.values, atol=1e-6)
    assert "constraints disagree by up to" in noisy.attrs["start_changes"] and true.attrs["start_changes"] == "[]"
    with pytest.raises(ts.AssemblyError, match="cannot be assembled.*h1: translation along z"):
        ts.simulate(build(3e-5), 1.0, formulation=form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "kinds", [("Fixed",), ("Fixed", "Revolute"), ("Revolute", "Fixed"), ("Fixed", "Prismatic", "Fixed")], ids="-".join
)
def test_a_chain_of_rigid_and_other_joints_moves_as_its_bodies_must(form, kinds):
    m, above = ts.Model("chain", gravity=(0, 0, -9.81), hints=False), None
    for k, kind in enumerate(kinds):
        b = m.body(f"b{k}", mass=1, inertia=(0.1, 0.1, 0.1), at=(k, 0, 0))
        axis = {} if kind == "Fixed" else {"axis": (0, 1, 0)}
        m.add(getattr(ts, kind)(f"j{k}", above or m.ground, b, point=(k - 0.5, 0, 0), **axis))
        above = b
    data = ts.simulate(m, 0.2, outputs=4, formulation=form)
    assert data.attrs["degrees_of_freedom"] == len([kind for kind in kinds if kind != "Fixed"])
    still = [k for k in range(len(kinds)) if set(kinds[: k + 1]) == {"Fixed"}]
    for k in still:
        np.testing.assert_allclose(data.position[:, k], np.tile((k, 0.0, 0.0), (5, 1)), atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_a_rod_inside_a_rigid_pair_holds_nothing(form):
    m = ts.Model("rigid", gravity=(0, -9.81, 0))
    a, b = (m.body(n, mass=1, inertia=(0.1, 0.1, 0.1), at=at) for n, at in (("a", (0, 0, 0)), ("b", (1, 0, 0))))
    m.add(ts.Cylindrical("c", m.ground, a, axis=(0, 1, 0)))
    m.add(ts.Fixed("f", a, b))
    m.add(ts.Distance("d", b, a, points=((1, 0.3, 0), (0, 0.1, 0))))
    data = ts.simulate(m, 0.2, outputs=4, formulation=form)
    assert data.attrs["degrees_of_freedom"] == 2
    np.testing.assert_allclose(data.position.sel(body="a", axis="y"), -9.81 / 2 * data.time**2, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("extra", ["two", "three", "plane", "guide"])
def test_constraints_that_double_a_guide_change_nothing(form, extra):
    m = ts.Model("guide", gravity=(0, 0, -9.81))
    b = m.body("b", mass=1, inertia=(0.1, 0.2, 0.25), at=(1, 0, 0), rotation=(0.3, 0.2, 0.1))
    axis = np.array((1, 2, 0.5))
    m.add(ts.Prismatic("p", m.ground, b, axis=axis))
    {
        "two": lambda: m.add(ts.NoRotation("n", m.ground, b, about=((1, 0.3, 0), (0, 1, 0.2)))),
        "three": lambda: m.add(ts.NoRotation("n", m.ground, b, about=((1, 0, 0), (0, 1, 0), (0, 0, 1)))),
        "plane": lambda: m.add(ts.PointOnPlane("n", m.ground, b, normal=(2, -1, 0))),
        "guide": lambda: m.add(ts.Prismatic("n", m.ground, b, point=(0, 0, 2), axis=axis)),
    }[extra]()
    data = ts.simulate(m, 0.3, outputs=3, formulation=form)
    assert data.attrs["degrees_of_freedom"] == 1
    s = -9.81 * 0.5 / np.linalg.norm(axis) / 2 * 0.3**2
    np.testing.assert_allclose(data.coordinate.sel(joint_coordinate="p")[-1], s, atol=1e-9)
