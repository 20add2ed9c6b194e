"""Change of energy equals work: of drives, dampers, forces and torques."""

import numpy as np
import pytest

import torsor as ts


def balance(data):
    """Largest difference between change of energy and work, over the energy that is turned over."""
    E, W = data.energy.values, data.work.values
    return np.abs((E - E[0]) - (W - W[0])).max() / max(data.kinetic_energy.values.max(), np.abs(W).max())


def arm(name="arm"):
    model = ts.Model(name, gravity=(0, 0, -9.81))
    body = model.body("arm", mass=2.0, inertia=(0.05, 0.2, 0.2), at=(0.5, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    return model, body, hinge


@pytest.mark.parametrize("motion", [1, 2, 3])
def test_drives_and_forces_of_the_satellite_do_the_work_that_changes_its_energy(motion):
    data = ts.simulate(ts.cases.load("satellite", motion=motion), 60.0, outputs=60, tolerance=1e-11)
    assert np.abs(data.work.values).max() > 1e-3
    assert balance(data) < 1e-9  # the work is integrated with the same method and tolerance


def test_a_driven_hinge_does_the_work_that_lifts_and_accelerates():
    model, body, hinge = arm()
    model.add(ts.Drive("motor", hinge, lambda t: 0.7 * t**2 - 0.1 * t**3))
    data = ts.simulate(model, 4.0, outputs=40, tolerance=1e-11)
    angle = 0.7 * data.time.values**2 - 0.1 * data.time.values**3
    assert np.abs(data.coordinate.values[:, 0] - angle).max() < 1e-12
    assert balance(data) < 1e-9
    # the work as torque times rate, from the dynamics of one hinge: J θ̈ = τ + m g l cos θ, y pointing into the swing
    rate = 1.4 * data.time.values - 0.3 * data.time.values**2
    exact = 0.5 * (0.2 + 2 * 0.25) * rate**2 - 2 * 9.81 * 0.5 * np.sin(angle)
    assert np.abs(data.work.values - exact).max() < 1e-9 * np.abs(exact).max()


def test_a_damper_takes_what_the_energy_loses():
    model, body, hinge = arm()
    model.add(ts.TorsionSpring("grease", hinge, stiffness=3.0, damping=0.8))
    model.add(
        ts.SpringDamper(
            "strut", model.ground, body, points=((0.2, 0, -1), (0.8, 0, 0)), stiffness=40.0, damping=5.0, length=1.0
        )
    )
    data = ts.simulate(model, 6.0, outputs=60, tolerance=1e-11)
    assert np.all(np.diff(data.energy.values) <= 1e-9)  # it never rises
    assert data.work.values[-1] < -0.1
    assert balance(data) < 1e-9


def test_forces_and_torques_in_world_and_body_axes_do_their_work():
    model, body, hinge = arm()
    free = model.body("free", mass=1.0, inertia=(0.1, 0.2, 0.15), at=(3, 0, 0), angular_velocity=(1, 2, -1))
    model.add(ts.PointForce("push", body, force=(0, 0, 30.0 * ts.quantity.ca.sin(3 * ts.time)), point=(1, 0, 0)))
    model.add(ts.PointForce("jet", free, force=(0.0, 4.0, 12.0), point=(3, 0.2, 0), axes="body"))
    model.add(ts.Torque("wheel", free, torque=(0.3, 0.0, -0.1), axes="body"))
    model.add(ts.JointForce("servo", hinge, value=-2.0 * hinge.rate[0]))
    data = ts.simulate(model, 3.0, outputs=30, tolerance=1e-11)
    assert np.abs(data.work.values).max() > 1.0
    assert balance(data) < 1e-9


def test_a_constant_body_force_gives_the_work_of_force_times_way():
    model = ts.Model("sled")
    model.body("sled", mass=4.0, inertia=(1, 1, 1), velocity=(0, 0, 0), angular_velocity=(0, 0, 0))
    model.add(ts.PointForce("pull", model["sled"], force=(3.0, 0, 0)))
    data = ts.simulate(model, 2.0, outputs=4)
    assert np.abs(data.work.values - 3.0 * data.position.values[:, 0, 0]).max() < 1e-12
    assert np.abs(data.position.values[:, 0, 0] - 3 / 8 * data.time.values**2).max() < 1e-12


@pytest.mark.parametrize("outputs", [1, 10])
def test_a_mechanism_without_freedom_is_stepped_as_finely_as_its_work_demands(outputs):
    """All that moves is imposed, so that projection removes every error of the motion; that of the work remains."""
    model = ts.Model("driven-slider-crank", gravity=(0, 0, -9.81))
    crank = model.body("crank", mass=1.0, inertia=(0.01, 0.1, 0.1), at=(0.15, 0, 0))
    rod = model.body("rod", mass=1.0, inertia=(0.01, 0.1, 0.1), at=(0.8, 0, 0))
    slider = model.body("slider", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1.3, 0, 0))
    shaft = model.add(ts.Revolute("shaft", model.ground, crank, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Revolute("crank_pin", crank, rod, point=(0.3, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Revolute("piston_pin", rod, slider, point=(1.3, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Prismatic("guide", model.ground, slider, point=(1.3, 0, 0), axis=(1, 0, 0)))
    model.add(ts.Drive("motor", shaft, lambda t: 6.0 * t))
    data = ts.simulate(model, 10.0, outputs=outputs, tolerance=1e-9)
    assert data.attrs["degrees_of_freedom"] == 0
    angle = 6.0 * data.time.values
    exact = 0.3 * np.cos(angle) + np.sqrt(1 - (0.3 * np.sin(angle)) ** 2)
    assert np.abs(data.position.sel(body="slider", axis="x").values - exact).max() < 1e-12
    assert np.abs(data.coordinate.sel(joint_coordinate="shaft").values - angle).max() < 1e-11  # every turn was counted
    assert balance(data) < 1e-7  # some hundred steps at 1e-9
