"""The unfolding panels against Lagrange's equations in the hub's position and all angles; energy and momenta."""

from math import pi

import casadi as ca
import numpy as np
import pytest
from lagrange import Lagrange, turn

import torsor as ts
from torsor.cases.panels import angular_momentum

FOLDED = 0.9 * np.array([pi / 2, -pi, pi, -pi])
HINGES = [f"{wing}_hinge{k}" for wing in ("right", "left") for k in (1, 2, 3, 4)]


def independent(times):
    """Hub (x, y, θ), then the hinges of the right wing and of the left."""
    q, v = ca.SX.sym("q", 11), ca.SX.sym("v", 11)
    hub = ca.vertcat(q[0], q[1], 0)
    bodies = [(1000.0, (1.0, 1.0, 1000 * 1.6**2 / 6), hub, turn("z", q[2]))]
    U = ca.SX(0)
    for wing, (side, stiffness) in enumerate(((1, 20.0), (-1, 22.0))):
        angle, end = q[2], hub + turn("z", q[2]) @ ca.DM([side * 0.8, 0, 0])
        for k in range(4):
            relative = q[3 + 4 * wing + k]
            U += 0.5 * stiffness * relative**2
            angle = angle + relative
            arm = turn("z", angle) @ ca.DM([side * 1.8, 0, 0])
            bodies.append((25.0, (1.0, 1.0, 25 * 1.8**2 / 12), end + arm / 2, turn("z", angle)))
            end = end + arm
    start = np.concatenate([np.zeros(3), FOLDED, -FOLDED])
    return Lagrange(q, v, bodies, potential=U).motion(start, [0, 0, 0.05] + 8 * [0], times, accuracy=1e-12)


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_hub_and_hinges_follow_lagranges_equations(formulation):
    data = ts.simulate(ts.cases.load("panels"), 5.0, outputs=20, tolerance=1e-12, formulation=formulation)
    q, _ = independent(data.time.values)
    assert np.abs(data.position.sel(body="hub").values[:, :2] - q[:, :2]).max() < 1e-8
    assert (
        np.abs(data.coordinate.sel(joint_coordinate=HINGES).values - q[:, 3:]).max() < 1e-7
    )  # long whips: 1e-12 grows
    assert np.abs(data.coordinate.sel(joint_coordinate="plane[2]").values - q[:, 2]).max() < 1e-8


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_energy_and_momenta_are_kept(formulation):
    model = ts.cases.load("panels")
    signals = {"spin": angular_momentum(model)}
    signals |= {axis: sum(b.mass * b.velocity[k] for b in model.bodies) for k, axis in enumerate("XY")}
    data = ts.simulate(model, 10.0, outputs=100, tolerance=1e-12, formulation=formulation, signals=signals)
    assert data.attrs["energy_balance_relative"] < 1e-9  # some thousand steps of 1e-12
    spin = data["spin"].values
    assert np.abs(spin / spin[0] - 1).max() < 1e-9
    scale = float(
        np.sqrt(2 * 1200 * data.kinetic_energy.max())
    )  # the largest momentum that this energy could have [N s]
    assert max(np.ptp(data[k].values) for k in "XY") < 1e-10 * scale


def test_the_momentum_can_be_imposed_as_a_constraint():
    """A conserved quantity as a nonholonomic constraint changes nothing in exact time, and stops the drift of Euler."""
    plain = ts.cases.load("panels")
    free = ts.simulate(plain, 2.0, outputs=20, tolerance=1e-11, signals={"spin": angular_momentum(plain)})
    spin = float(free["spin"][0])
    held = ts.cases.load("panels")
    held.add(ts.Nonholonomic("momentum", angular_momentum(held) - spin))
    same = ts.simulate(held, 2.0, outputs=20, tolerance=1e-11)
    assert np.abs(same.position.values - free.position.values).max() < 1e-8  # both to their tolerance
    drift = []
    for model in (ts.cases.load("panels"), held):
        signals = {"spin": angular_momentum(model)}
        with pytest.warns(ts.AccuracyWarning):
            data = ts.simulate(model, 2.0, outputs=20, method="lie-euler", step=0.01, signals=signals)
        drift.append(np.abs(data["spin"].values / spin - 1).max())
    assert drift[0] > 1e-3 and drift[1] < 1e-12
