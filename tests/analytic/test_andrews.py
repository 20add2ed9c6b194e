"""Andrews' squeezing mechanism: the published angle of the crank, energy and loops."""

import json

import numpy as np
import pytest

import torsor as ts


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_the_crank_reaches_its_published_angle(formulation):
    data = ts.simulate(ts.cases.load("andrews"), 0.03, outputs=30, tolerance=1e-12, formulation=formulation)
    beta = data.coordinate.sel(joint_coordinate="O").values
    assert beta[0] == pytest.approx(-0.06171389001427645, abs=1e-14)
    assert abs(beta[-1] - 15.810771195) < 1e-8  # the reference has ten digits
    assert data.attrs["energy_balance_relative"] < 1e-10
    assert data.attrs["degrees_of_freedom"] == 1


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_the_work_of_the_motor_is_torque_times_angle(formulation):
    data = ts.simulate(ts.cases.load("andrews"), 0.05, outputs=50, tolerance=1e-11, formulation=formulation)
    beta = data.coordinate.sel(joint_coordinate="O").values
    work = data.work.values
    assert np.abs(work - work[0] - 0.033 * (beta - beta[0])).max() < 1e-10 * np.abs(work).max()  # a constant torque


def test_three_loops_have_three_redundant_constraints_each():
    data = ts.simulate(ts.cases.load("andrews"), 0.001, outputs=1)
    assert len(json.loads(data.attrs["redundant_constraints"])) == 9  # planar loops of hinges
