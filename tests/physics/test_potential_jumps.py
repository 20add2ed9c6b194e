"""A potential that jumps, by an input or at a breakpoint of a law of time, does work: the energy balance is kept."""

import warnings

import casadi as ca
import numpy as np
import pytest

import torsor as ts

FORMULATIONS = ("absolute", "relative", "woronetz", "hamiltonian")
LEVELS = np.array([3.0, -8.0, 5.0, 1.0])
UNTIL = 2.0


def pendulum(gravity, stiffness, limit=False):
    """A pendulum with a spring, under gravity that is turned away from the vertical; a stop makes its runs watch for events."""
    model = ts.Model("pendulum")
    rod = model.body("rod", mass=2.0, inertia=(0.1, 0.2, 0.3), at=(0.6, 0, 0.1))
    hinge = model.add(ts.Revolute("hinge", model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0.2), start=0.3))
    g, k = gravity(model), stiffness(model)
    model.gravity = ca.vertcat(g, 0.5, -9.81)
    model.add(ts.TorsionSpring("spring", hinge, stiffness=20.0 + k))
    if limit:
        model.add(ts.Limit("stop", hinge, upper=0.7, restitution=0.5))
    return model


def step(model):
    """The levels as a law of time."""
    law = ca.SX(LEVELS[-1])
    for k in reversed(range(len(LEVELS) - 1)):
        law = ca.if_else(ts.time < (k + 1) * UNTIL / len(LEVELS), LEVELS[k], law)
    return law


def steps_of_table(model):
    """The levels as a table that jumps between its points."""
    return ts.table((np.arange(len(LEVELS)) + 0.5) * UNTIL / len(LEVELS), LEVELS, "nearest")(ts.time)


def constant(model):
    return 1.0


def take_input(model):
    return model.input("u", LEVELS[0])


def assert_balanced(energy, work, kinetic):
    """E − E₀ = W − W₀, and the work is more than nothing."""
    turnover = np.max(kinetic)
    np.testing.assert_allclose(energy - energy[0], work - work[0], rtol=0, atol=1e-7 * turnover)
    assert np.ptp(work) > 0.1 * turnover


@pytest.mark.parametrize("limit", [False, True], ids=["smooth", "stop"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_laws_of_time_that_jump_do_work(formulation, limit):
    for gravity, stiffness in ((step, constant), (constant, steps_of_table)):
        model = pendulum(gravity, stiffness, limit)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            data = ts.simulate(model, UNTIL, outputs=37, formulation=formulation, tolerance=1e-10)
        events = data.energy_by_events if "energy_by_events" in data else 0.0
        assert_balanced((data.energy - events).values, data.work.values, data.kinetic_energy.values)


@pytest.mark.parametrize("limit", [False, True], ids=["smooth", "stop"])
@pytest.mark.parametrize(
    "method", [{"tolerance": 1e-10}, {"method": "rkmk4", "step": 0.005}], ids=["adaptive", "fixed"]
)
def test_inputs_of_studies_that_change_a_potential_do_work(method, limit):
    model = pendulum(take_input, lambda model: model["u"].symbol, limit)
    rolled = np.array([LEVELS, LEVELS[::-1], 0.5 * LEVELS])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = ts.study(model, UNTIL, inputs={"u": np.tile(rolled, (12, 1))}, outputs=37, **method)
    events = data.energy_by_events if "energy_by_events" in data else 0.0
    energy = (data.energy - events).values
    for k in range(3):
        assert abs(data.work.values[k][0]) == 0.0
        assert_balanced(energy[k], data.work.values[k], data.kinetic_energy.values[k])


@pytest.mark.parametrize("limit", [False, True], ids=["smooth", "stop"])
def test_inputs_from_python_that_change_a_potential_do_work(limit):
    sim = ts.Simulation(pendulum(take_input, constant, limit), tolerance=1e-10)
    shown = []
    for level in np.repeat(LEVELS, 5):
        sim.advance(UNTIL / 20, u=level)
        lost = sim["energy_by_events"] if limit else 0.0
        shown.append([float(sim["energy"] - lost), float(sim["work"]), float(sim["kinetic_energy"])])
    assert_balanced(*np.transpose(shown))
