"""Bricard's six-bar: one redundant constraint, named; energy through 10 s; hinge angles that close the loop."""

import numpy as np
import pytest

import torsor as ts

POINTS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
AXES = np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)], float)


def hat(w):
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def poses(q):
    """World rotation of each rod, hinge points and hinge axes, opened at the last hinge."""
    R, x, rotations, points, axes = np.eye(3), np.zeros(3), [], [], []
    for k in range(5):
        points.append(x)
        axes.append(R @ AXES[k])
        K = hat(AXES[k])
        R = R @ (np.eye(3) + np.sin(q[k]) * K + (1 - np.cos(q[k])) * K @ K)
        rotations.append(R)
        x = x + R @ (POINTS[k + 1] - POINTS[k])
    return rotations, points, axes, x


def closure(q):
    """Where the last hinge should be, and how its axis should point."""
    rotations, _, _, end = poses(q)
    return np.concatenate([end - POINTS[5], (rotations[4] @ AXES[5])[1:]])


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_thirty_constraints_of_rank_29_with_one_redundant_that_is_named(formulation):
    info = ts.info(ts.cases.load("bricard"), formulation=formulation)
    freedom = info["degrees_of_freedom"]
    assert freedom["generic"] == freedom["start"] == 1
    (redundant,) = info["redundant"]
    assert redundant["constraint"] in {f"P{k}" for k in range(6)} and redundant["direction"]
    if formulation == "absolute":
        assert info["constraint_rows"] == 30 and freedom["gruebler"] == 0


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_energy_is_kept_and_the_loop_stays_closed(formulation):
    data = ts.simulate(ts.cases.load("bricard"), 10.0, outputs=100, tolerance=1e-11, formulation=formulation)
    assert data.attrs["energy_balance_relative"] < 1e-9  # a thousand steps of 1e-11 each
    assert data.attrs["position_drift_max"] < 1e-12  # the redundant row included
    first = data.coordinate.sel(joint_coordinate="P0").values
    assert np.ptp(first) > 1.0  # it moves


def test_all_hinges_turn_as_the_geometry_of_the_loop_says():
    data = ts.simulate(ts.cases.load("bricard"), 10.0, outputs=200, tolerance=1e-11)
    names = [f"P{k}" for k in range(5)]
    worst = max(np.abs(closure(q)).max() for q in data.coordinate.sel(joint_coordinate=names).values)
    assert worst < 1e-11  # angles of hinges from the run, loop equations written here
