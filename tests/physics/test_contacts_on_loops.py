"""Contacts with friction on a body of a closed loop: impulses at all of them do the same in every formulation."""

import numpy as np

import torsor as ts


def linkage():
    """A planar four-bar whose coupler has three points above a floor, with friction."""
    model = ts.Model("linkage", gravity=(0, 0, -9.81))
    points = [(0, 0, 0), (0.1, 0, 0.5), (1.2, 0, 0.6), (1.1, 0, 0)]
    places = list(zip(points, points[1:]))
    bodies = [model.body(f"b{k}", mass=1, inertia=(0.1, 0.1, 0.1), at=np.mean(x, 0)) for k, x in enumerate(places)]
    ends = [model.ground, *bodies, model.ground]
    for k, point in enumerate(points):
        model.add(ts.Revolute(f"h{k}", ends[k], ends[k + 1], point=point, axis="y", start_rate=0.5 if k == 0 else None))
    for k, x in enumerate((0.2, 0.6, 1.1)):
        foot = ts.Contact(f"foot{k}", model.ground, bodies[1], point=(x, 0, 0.45), plane=(0, 0, 0.2), restitution=0.3)
        model.add(ts.Friction(f"rub{k}", model.add(foot), coefficient=0.4))
    return model


def impulse_response(formulation):
    """A = G M⁻¹ Gᵀ of all rows of contacts and friction while the loop is closed, and their velocities ψ."""
    runner = ts.Simulation(linkage(), formulation=formulation)._stepper.runner
    kernel = runner.structures.contact_library(runner.structures.known[0])["meeting"]
    A, _, psi = kernel(np.zeros(1), runner.state.x.copy(), runner.state.p.copy())
    return A, psi


def test_impulses_at_contacts_of_loops_do_the_same_in_every_formulation():
    A, psi = impulse_response("absolute")
    assert np.abs(A).max() > 0.1 and np.abs(psi).max() > 0.01
    for formulation in ("relative", "woronetz", "hamiltonian"):
        for found, expected in zip(impulse_response(formulation), (A, psi)):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
