"""What is conserved where no force or torque from outside does work or turns."""

import numpy as np
import pytest

import torsor as ts


def floating_chain():
    """Three bodies on a spring, a hinge and a ball, in free space: no ground takes momentum away."""
    model = ts.Model("floating-chain")
    bodies = [
        model.body("a", mass=2.0, inertia=(0.3, 0.2, 0.25), at=(0, 0, 0), velocity=(0.1, 0.4, -0.2), angular_velocity=(1, 0.5, 2)),
        model.body("b", mass=1.0, inertia=(0.1, 0.12, 0.08), at=(1, 0, 0)),
        model.body("c", mass=0.5, inertia=(0.02, 0.03, 0.04), at=(2, 0.3, 0)),
    ]  # fmt: skip
    model.add(ts.Revolute("hinge", bodies[0], bodies[1], point=(0.5, 0, 0), axis=(0.2, 1, 0.3), start_rate=1.5))
    model.add(ts.Spherical("ball", bodies[1], bodies[2], point=(1.5, 0, 0), start_rate=(0.3, -2, 1)))
    model.add(
        ts.SpringDamper("spring", bodies[0], bodies[2], points=((0, 0.2, 0), (2, 0.3, 0)), stiffness=30.0, length=1.7)
    )
    return model


def momenta(model, data):
    """Linear momentum, and angular momentum about the origin, in the world: (time, axis) each."""
    P, L = 0.0, 0.0
    for body in model.bodies:
        part = data.sel(body=body.name)
        m, J = float(body.mass), np.array(ts.quantity.numbers(body.inertia))
        x, v, R, w = (part[k].values for k in ("position", "velocity", "rotation", "angular_velocity"))
        P = P + m * v
        L = L + m * np.cross(x, v) + np.einsum("tij,jk,tk->ti", R, J, w)
    return P, L


@pytest.fixture(scope="module")
def chain():
    model = floating_chain()
    return model, ts.simulate(model, 5.0, outputs=50, tolerance=1e-11)


def test_linear_momentum_is_conserved_without_external_force(chain):
    P, _ = momenta(*chain)
    assert np.abs(P - P[0]).max() < 1e-11 * np.abs(P).max()  # internal forces cancel in every stage; projection too


def test_angular_momentum_is_conserved_without_external_torque(chain):
    _, L = momenta(*chain)
    assert np.abs(L - L[0]).max() < 1e-8 * np.abs(L).max()  # a quadratic quantity: to the tolerance of the run


def test_energy_is_conserved_without_dissipation(chain):
    _, data = chain
    E = data.energy.values
    assert data.potential_energy.values.max() > 1e-2  # the spring takes part
    assert np.abs(E - E[0]).max() < 1e-8 * data.kinetic_energy.values.max()


def test_centre_of_mass_moves_uniformly_without_external_force(chain):
    model, data = chain
    m = np.array([float(b.mass) for b in model.bodies])
    centre = np.einsum("b,tbi->ti", m, data.position.values) / m.sum()
    line = centre[0] + data.time.values[:, None] * np.einsum("b,bi->i", m, data.velocity.values[0]) / m.sum()
    assert np.abs(centre - line).max() < 1e-10  # momentum to 1e-11 over 5 s


@pytest.mark.parametrize("case", ["three-link", "pendulum", "four-bar", "heavy-top", "free-body"])
def test_energy_is_conserved_in_every_case_without_drives(case):
    data = ts.simulate(ts.cases.load(case), ts.cases.until(case), outputs=50, tolerance=1e-10)
    E = data.energy.values
    scale = max(data.kinetic_energy.values.max(), np.ptp(data.potential_energy.values))
    assert np.abs(E - E[0]).max() < 1e-8 * scale  # 10 s at a relative error of 1e-10 per step, some thousand steps
    assert np.abs(data.work.values).max() == 0.0  # nothing in these models does work


def test_default_tolerance_keeps_the_energy_of_the_three_link():
    data = ts.simulate(ts.cases.load("three-link"), 10.0, outputs=100)
    E = data.energy.values
    assert np.abs(E - E[0]).max() < 1e-8 * data.kinetic_energy.values.max()


def test_energy_error_falls_with_the_tolerance():
    """One power of ten in tolerance is close to one in the error: the promise that a tolerance makes."""
    errors = []
    for tolerance in (1e-7, 1e-9, 1e-11):
        data = ts.simulate(ts.cases.load("three-link"), 10.0, outputs=20, tolerance=tolerance)
        errors.append(data.attrs["energy_balance_relative"])
    assert errors[0] > 30 * errors[1] > 900 * errors[2]


def test_momentum_about_the_vertical_is_conserved_in_the_three_link():
    """Gravity and the ball at A act in no way about the vertical through A."""
    model = ts.cases.load("three-link")
    data = ts.simulate(model, 10.0, outputs=50, tolerance=1e-11)
    _, L = momenta(model, data)
    assert np.abs(L[:, 1] - L[0, 1]).max() < 1e-8 * np.abs(L).max()
