"""The components that the car and the manipulator are made of, each alone on a bench against a closed form."""

from math import pi

import numpy as np
import pytest
from scipy.linalg import expm

import torsor as ts
from torsor.cases import car, manipulator

SIDES = [-1, 1]
RUN = {"outputs": 10, "tolerance": 1e-11}
ROTOR = 7.7 * 0.03**2 / 2  # about its axis
BEAM = 0.06 + 0.71 * 0.483**2  # about the shaft


def linear(t, x, mass, stiffness, damping, rest, force):
    """m ẍ = −k (x − l) − c ẋ + F from rest at x, by the exponential of its matrix."""
    A = np.array([[0, 1], [-stiffness / mass, -damping / mass]])
    still = rest + force / stiffness
    return np.array([still + (expm(A * s) @ [x - still, 0])[0] for s in t])


@pytest.mark.parametrize("side", SIDES)
def test_a_damper_on_its_foot_is_one_mass_on_spring_and_damper(side):
    """Along its axis, under a force at its head; the mass is that of the cylinder."""
    axis, force = np.array([-side, 0, 1]) / 2**0.5, -800.0
    model = ts.testing.bench(car.damper(side), held=["foot"], loaded={"head": force * axis})
    data = ts.testing.assert_energy_balance(model, 0.5, **RUN)
    ts.testing.assert_no_drift(data)
    length = data.position.sel(body="part.cylinder").values @ axis - 0.3
    exact = linear(data.time.values, 0.6 * 2**0.5 - 0.6, 3.4, 5e4, 1e4, 0.35, force)
    np.testing.assert_allclose(length, exact, atol=1e-9)
    assert np.ptp(exact) > 0.05


@pytest.mark.parametrize("side", SIDES)
def test_a_damper_obeys_the_laws_of_every_component(side):
    model = ts.testing.bench(car.damper(side), loaded={"foot": (0, 0, 100.0)})
    ts.testing.assert_formulations_agree(model, 0.3)
    ts.testing.assert_momentum(car.damper(side), 0.3)
    ts.testing.assert_placement(car.damper(side), 0.3)


def test_a_wheel_on_its_tyre_is_one_mass_on_spring_and_damper():
    load = 3000.0
    model = ts.testing.bench(car.wheel(), loaded={"ring": (0, 0, -load)}, gravity=(0, 0, -9.8))
    data = ts.testing.assert_energy_balance(model, 0.3, **RUN)
    exact = linear(data.time.values, 0.35, 15.0, 4e5, 100.0, 0.35, -15 * 9.8 - load)
    np.testing.assert_allclose(data.position.sel(body="part.ring", axis="z").values, exact - 0.35, atol=1e-9)
    ts.testing.assert_placement(car.wheel(), 0.1)


def balance(g):
    """The force up at the hub at which a suspension between a fixed pivot and a fixed head is in balance, by virtual work.

    Let the beam turn so that its foot sinks by 0.7: the hub sinks by 1. Along the damper, u, and across it, n, the foot moves by
    −0.7/√2 each, since it leans at 45°. The piston follows the foot along u; across, everything turns about the head.
    """
    length, step = 0.6 * 2**0.5, 0.7 / 2**0.5
    sinks = lambda along, across: (along + across) * step / 2**0.5
    weights = 7.02 * 0.5 + 13.23 * sinks(1, (length - 0.3) / length) + 3.4 * sinks(0, 0.3 / length)
    return weights * g + 5e4 * (0.35 - (length - 0.6)) * step  # the spring is pressed, and pushes the foot down


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("share", "moves"), [(1.0, False), (1.1, True)])
def test_a_suspension_stays_where_its_load_balances_spring_and_weights(side, share, moves):
    fixed = {"pivot": {"position": (0, 0, 0)}, "head": {"position": (0, 0, 0)}}
    model = ts.testing.bench(
        car.suspension(side), driven=fixed, loaded={"hub": (0, 0, share * balance(9.8))}, gravity=(0, 0, -9.8)
    )
    data = ts.testing.assert_energy_balance(model, 0.2, **RUN)
    ts.testing.assert_no_drift(data)
    moved = data.position.sel(body="part.beam", axis="z").values[-1]
    assert moved > 1e-3 if moves else abs(moved) < 1e-9


@pytest.mark.parametrize("side", SIDES)
def test_a_suspension_obeys_the_laws_of_every_component(side):
    ts.testing.assert_momentum(car.suspension(side), 0.2)
    ts.testing.assert_placement(car.suspension(side), 0.2)


def test_a_loaded_car_falls_onto_tyres_that_do_not_carry_yet():
    """The tyres start without tension, so that nothing but weight and load moves the centre of mass along z."""
    model = ts.testing.bench(car.car(), loaded={"body": (0, 0, -2000.0)})
    data = ts.testing.assert_energy_balance(model, 0.2, **RUN)
    ts.testing.assert_no_drift(data)
    masses = np.array([float(body.mass) for body in model.bodies])
    first = data.acceleration.sel(axis="z").values[0]
    assert masses @ first / masses.sum() == pytest.approx(-9.8 - 2000 / masses.sum(), rel=1e-12)
    assert np.abs(first + 9.8).max() > 1  # the parts do not fall together: the dampers push


def turned(t, torque, inertia):
    """J φ̈ = C cos(ω t) from rest: φ = C (1 − cos ω t) / (J ω²)."""
    return torque / (inertia * (4 * pi) ** 2) * (1 - np.cos(4 * pi * t))


def test_a_motor_turns_its_rotor_as_its_torque_says():
    model = ts.testing.bench(manipulator.motor(), held=["mount"], torque=-3.0, angle=0.4)
    data = ts.testing.assert_energy_balance(model, 0.5, **RUN)
    angle = data.coordinate.sel(joint_coordinate="part.shaft").values
    np.testing.assert_allclose(angle - 0.4, turned(data.time.values, -3.0, ROTOR), atol=1e-8)
    ts.testing.assert_momentum(manipulator.motor(), 0.3, parameters={"torque": 2.0})
    ts.testing.assert_formulations_agree(model, 0.3)


def test_a_link_is_a_motor_with_the_inertia_of_its_beam():
    """Gravity along the shaft does not turn it; the mount carries the weight."""
    model = ts.testing.bench(manipulator.link(), held=["mount"], gravity=(0, -9.8, 0), torque=20.0, angle=-0.3)
    data = ts.testing.assert_energy_balance(model, 0.5, **RUN)
    ts.testing.assert_no_drift(data)
    angle = data.coordinate.sel(joint_coordinate="part.motor.shaft").values
    np.testing.assert_allclose(angle + 0.3, turned(data.time.values, 20.0, ROTOR + BEAM), atol=1e-9)
    carried = data.reaction_force.sel(joint="mount_held", axis="y").values
    np.testing.assert_allclose(carried, (2.0 + 7.7 + 0.71) * 9.8, rtol=1e-9)
    ts.testing.assert_placement(manipulator.link(), 0.2, parameters={"torque": 2.0})
