"""What prescribed motions take beyond inertia and weight: dry friction, and states that are not integrated."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts


@pytest.mark.parametrize("formulation", ["relative", "absolute"])
def test_drives_overcome_dry_friction_where_something_slides(formulation):
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=2.0, inertia=(1, 1, 1), at=(0.5, 0, 0))
    pin = model.add(ts.Revolute("pin", model.ground, bob, point=(0, 0, 0), axis="y"))
    model.add(ts.Friction("bearing", on=pin, coefficient=0.3, radius=0.1))
    model.add(ts.Clutch("brake", model.ground, bob, axis=(0, 1, 0), torque=4.0))
    t = np.linspace(0, 2, 30)
    x, w, a = np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)
    needed = lambda *given: ts.kinematics(model, *given, formulation=formulation).drive_force.values[:, 0]
    weight = -2.0 * 9.81 * 0.5 * np.cos(x)
    along, across = -(w**2) * 0.5 - 9.81 * np.sin(x), a * 0.5 - 9.81 * np.cos(x)  # what the pin bears, over the mass
    rubs = 4.0 + 0.3 * 0.1 * 2.0 * np.hypot(along, across)
    moving = needed({"pin": ca.sin(3 * ts.time)}, t)
    np.testing.assert_allclose(moving, 1.5 * a + weight + np.sign(w) * rubs, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(needed({"pin": x}), weight, atol=1e-12)


def test_states_are_not_integrated_and_that_is_told():
    def cart(follows):
        model = ts.Model("cart")
        rail = model.add(ts.Prismatic("rail", model.ground, model.body("cart", mass=1.0, inertia=(1, 1, 1)), axis="x"))
        way = model.state("way", rate=2.0)
        model.add(ts.Drive("lead", rail, way) if follows else ts.JointForce("pull", rail, -way))
        return model

    with pytest.raises(ts.OptionError, match="'lead' follows a state of the user, so that positions depend on the way"):
        ts.kinematics(cart(True), {}, [0, 1])
    with pytest.warns(ts.AccuracyWarning, match=r"the states way keep their start values"):
        ts.kinematics(cart(False), {"rail": ts.time}, [0, 1])
    ts.kinematics(cart(False), {"rail": [0, 1]})
