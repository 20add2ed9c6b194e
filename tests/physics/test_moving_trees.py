"""Moving grounds under trees and loops: joint coordinates agree with absolute ones, work and reactions included."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts

t = ts.time


def shaken(loop):
    """Two links on a cart that shakes and tilts, with a spring, a motor and, in a loop, a plane that a point slides on."""
    model = ts.Model("shaken", gravity=(0, 0, -9.81))
    cart = model.add(
        ts.Ground("cart", at=(0.3 * ca.sin(3 * t), 0, 0.1 * ca.cos(2 * t)), rotation=(0.2 * ca.sin(t), 0.1 * t, 0))
    )
    a = model.body("a", 1.0, (0.1, 0.1, 0.02), at=(0.5, 0, 0.1))
    b = model.body("b", 1.0, (0.1, 0.1, 0.02), at=(1.5, 0, 0.1))
    model.add(ts.Revolute("shoulder", cart, a, point=(0, 0, 0.1), axis=(0, 1, 0), start_rate=1.0))
    elbow = model.add(ts.Revolute("elbow", a, b, point=(1, 0, 0.1), axis=(0, 0.6, 0.8)))
    model.add(ts.TorsionSpring("spring", elbow, stiffness=3.0, damping=0.1))
    model.add(ts.JointForce("motor", elbow, value=ca.sin(t)))
    if loop:
        model.add(ts.PointOnPlane("plane", model.ground, b, point=(2, 0, 0.1), normal=(0, 1, 0.2)))
    return model


@pytest.mark.parametrize("loop", [False, True], ids=["tree", "loop"])
@pytest.mark.parametrize("formulation", ["relative", "woronetz"])
def test_work_and_reactions_of_moving_grounds_agree_in_all_coordinates(formulation, loop):
    model = shaken(loop)
    one = ts.simulate(model, 2.0, outputs=40, tolerance=1e-11)
    two = ts.simulate(model, 2.0, outputs=40, tolerance=1e-11, formulation=formulation)
    assert np.abs(one.work).max() > 1.0  # the cart does work at all
    for name, size in (("position", 1.0), ("work", 10.0), ("reaction_force", 100.0), ("reaction_torque", 100.0)):
        assert np.abs(one[name].values - two[name].values).max() < 1e-9 * size, (
            name
        )  # tolerance per step, some 100 steps
    assert two.attrs["energy_balance_error"] < 1e-9
