"""Forces that begin where nothing moves: no method may take their onset for an error that never gets small."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts

ONSET = {  # force after t = 1 s, and its integral up to 2 s
    "ramp": (lambda t: ca.fmax(0, t - 1), 1 / 2),
    "square": (lambda t: ca.fmax(0, t - 1) ** 2, 1 / 3),
    "root": (lambda t: ca.sqrt(ca.fmax(0, t - 1)), 2 / 3),
    "table": (ts.table([0, 1, 2], [0, 0, 1.0]), 1 / 2),
    "jump": (lambda t: ca.if_else(t > 1, 1.0, 0.0), 1.0),
}


def cart(force, size=1.0, mass=2.0):
    """A mass on a rail along x, without gravity, pushed from its middle; the force is for a mass and a size of 1."""
    model = ts.Model("cart")
    block = model.body("block", mass=mass, inertia=(mass * size**2,) * 3)
    rail = model.add(ts.Prismatic("rail", model.ground, block, point=(size, 0, 0), axis="x"))
    model.add(ts.JointForce("push", rail, value=mass * size * force))
    return model


def chain(force):
    """Two rods that hang at rest under gravity, pushed at the upper hinge."""
    model = ts.Model("chain", gravity=(0, 0, -9.81))
    before = model.ground
    for k in range(2):
        rod = model.body(f"rod{k}", inertia=ts.inertia.rod(1.0, 1.0, axis="z"), at=(0, 0, -0.5 - k))
        hinge = model.add(ts.Revolute(f"hinge{k}", before, rod, point=(0, 0, -k), axis="y"))
        if k == 0:
            model.add(ts.JointForce("push", hinge, value=force))
        before = rod
    return model


@pytest.mark.parametrize("formulation", ["relative", "absolute", "hamiltonian"])
@pytest.mark.parametrize("onset", ONSET)
@pytest.mark.parametrize("method", ["rkmk54", "dop853", "radau5", "bdf"])
def test_a_mass_gains_the_integral_of_its_force(method, formulation, onset):
    force, gained = ONSET[onset]
    data = ts.simulate(cart(force(ts.time)), 2.0, outputs=2, method=method, formulation=formulation)
    assert float(data.rate[-1, 0]) == pytest.approx(gained, abs=3e-9)


@pytest.mark.parametrize("size, mass", [(1e-6, 1e-9), (1.0, 1.0), (1e5, 1e8)])
@pytest.mark.parametrize("onset", ["ramp", "jump"])
def test_so_it_does_in_every_size(size, mass, onset):
    force, gained = ONSET[onset]
    data = ts.simulate(cart(force(ts.time), size, mass), 2.0, outputs=2)
    assert float(data.rate[-1, 0]) / size == pytest.approx(gained, abs=3e-9)


@pytest.mark.parametrize("onset", ["ramp", "table", "jump"])
def test_what_hangs_at_rest_moves_alike_in_all_methods(onset):
    model = chain(ONSET[onset][0](ts.time))
    ways = [
        (method, formulation) for method in ("rkmk54", "dop853", "radau5") for formulation in ("relative", "absolute")
    ]
    runs = [ts.simulate(model, 2.0, outputs=2, method=m, formulation=f) for m, f in ways]
    rates = np.array([run.rate[-1].values for run in runs])
    assert np.abs(rates).max() > 0.01 and np.ptp(rates, axis=0).max() < 1e-8
