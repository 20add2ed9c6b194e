"""Starts of joints in loops: as near to what is asked for as the loops allow, ball joints too."""

import numpy as np
import pytest
from models import four_bar
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation

import torsor as ts


def test_what_cannot_be_is_as_near_as_can_be_and_told():
    """The least squares of what is missing, against a search over the crank; a rocker ends at its dead point."""
    sim = ts.Simulation(four_bar())
    with pytest.warns(UserWarning, match=r"the nearest is 0.424 rad.*; A: 0.3 became -0.01.*; B: 0.3 became 0.01"):
        sim.reset({"A": 0.3, "B": 0.3})
    angle, other = sim.coordinates["A"], ts.Simulation(four_bar())

    def missing(angle):
        other.reset({"A": angle})
        return (angle - 0.3) ** 2 + (other.coordinates["B"] - 0.3) ** 2

    best = minimize_scalar(missing, bounds=(-0.5, 0.5), method="bounded", options={"xatol": 1e-9})
    assert angle == pytest.approx(best.x, abs=1e-6)
    with pytest.warns(UserWarning, match="D: 2 became 1.287"):
        sim.reset({"D": 2.0})
    assert sim.coordinates["D"] == pytest.approx(ts.range_of_motion(four_bar(), "D").upper, abs=1e-6)


def spatial_loop():
    """A crank and a rocker about y, a rod with balls at both ends, which turns about itself as it likes."""
    model, points = ts.Model("rssr"), np.array(((0, 0, 0), (0.3, 0, 0), (1, 0.5, 0.6), (1, 0.5, 0)))
    rods = [model.body(f"rod{k}", mass=1.0, inertia=(0.02, 0.03, 0.04), at=x) for k, x in enumerate(points[1:])]
    chain, kinds = [model.ground, *rods, model.ground], (ts.Revolute, ts.Spherical, ts.Spherical, ts.Revolute)
    for name, kind, *ends, point in zip("ABCD", kinds, chain, chain[1:], points):
        model.add(kind(name, *ends, point=point, **({"axis": "y"} if kind is ts.Revolute else {})))
    return model


@pytest.mark.parametrize("formulation", ["relative", "absolute"])
def test_ball_joints_in_loops_have_what_is_asked_for(formulation):
    """One ball joint tells how the whole loop stands; the rod turns about itself by any angle; what cannot be is told."""
    sim = ts.Simulation(spatial_loop(), formulation=formulation)
    sim.reset({"A": 0.5, "C[0]": 0.1})
    assert sim.coordinates["A"] == pytest.approx(0.5, abs=1e-12)
    there = np.asarray(sim.coordinates)
    for ball in ("B", "C"):
        sim.reset({ball: [sim.coordinates[f"{ball}[{k}]"] for k in range(3)]})
        assert np.abs(np.asarray(sim.coordinates) - there).max() < 1e-10
    along = np.array((0.7, 0.5, 0.6)) / np.sqrt(1.1)
    for angle in (2.0, np.pi, -3.1):
        sim.reset({"B": angle * along})
        assert np.allclose(sim["rod0.position"], (0.3, 0, 0), atol=1e-10)
        assert np.allclose(sim["rod1.rotation"], Rotation.from_rotvec(angle * along).as_matrix(), atol=1e-9)
    with pytest.warns(UserWarning, match=r"rad, or sizes of the model, away; B\[0\]: 0.1 became"):
        sim.reset({"B": (0.1, 0.2, 0.3)})


def test_a_start_never_leads_the_wrong_way_round():
    """Angles that a loop of six bars does not have: the nearest that it has, not one with an axis that points the other way."""
    sim = ts.Simulation(ts.cases.load("bricard"))
    for joint, angle in (("P4", -1.6367), ("P5", -2.0118)):
        with pytest.warns(UserWarning, match=f"no assembly with all requested coordinates .*; {joint}: {angle}"):
            sim.reset({joint: angle})
        assert sim["position_drift"] < 1e-12
        assert sim.coordinates[joint] == pytest.approx(-np.pi / 6, abs=1e-8)  # its dead point


def test_runs_of_a_study_do_not_start_somewhere_else():
    """What no assembly has fails its own run, with the nearest that there is; others are those of `simulate`."""
    data = ts.study(four_bar(), 0.05, start={"D": [0.1, 2.0]}, outputs=1)
    assert data.message.values[0] == "" and "D: 2 became 1.287" in data.message.values[1]
    one = ts.simulate(four_bar(), 0.05, start={"D": 0.1}, outputs=1)
    assert np.array_equal(data.position.values[0], one.position) and np.isnan(data.position.values[1]).all()


@pytest.mark.parametrize("crank", [0.98, 0.999])
def test_a_linkage_that_is_nearly_a_parallelogram_is_led_on_its_own_assembly(crank):
    """Past the positions in which it nearly lies flat, and the other assembly is close: where two circles meet."""

    def places(angle):
        B = crank * np.array([np.cos(angle), np.sin(angle)])
        far = np.array([2.0, 0.0]) - B
        s = np.linalg.norm(far)
        along = (3 + s**2) / (2 * s)
        return B, B + (along * far + np.sqrt(4 - along**2) * np.array([-far[1], far[0]])) / s

    model, points = ts.Model("flat"), [np.zeros(2), *places(1.0), np.array([2.0, 0.0])]
    before = model.ground
    for k, (a, b) in enumerate(zip(points, points[1:])):
        rod = model.body(f"rod{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(*(a + b) / 2, 0))
        model.add(ts.Revolute(f"pin{k}", before, rod, point=(*a, 0), axis="z"))
        before = rod
    model.add(ts.Revolute("pin3", before, model.ground, point=(2, 0, 0), axis="z"))
    sim = ts.Simulation(model)
    for angle in (-5.0, -3.0, 3.0, 5.5):
        sim.reset({"pin0": angle})
        assert np.allclose(2 * sim["rod2.position"][:2] - (2, 0), places(1 + angle)[1], atol=1e-8), angle
