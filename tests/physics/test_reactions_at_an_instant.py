"""Forces at the instant at which something begins: an input is set, a contact opens."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts

G = 9.81


def box(feet=3):
    model = ts.Model("box", gravity=(0, 0, -G))
    body = model.body("box", inertia=ts.inertia.box(0.1, 0.04, 0.04, 0.04), at=(0, 0, 0.02))
    for k in range(feet):
        x, y = 0.02 * np.cos(2 * np.pi * k / feet), 0.02 * np.sin(2 * np.pi * k / feet)
        model.add(ts.Contact(f"foot{k}", model.ground, body, point=(x, y, 0), plane=(0, 0, 0)))
    model.add(ts.PointForce("pull", body, force=(0, 0, model.input("up"))))
    return model


@pytest.mark.parametrize("feet", [3, 4])
@pytest.mark.parametrize("ran", [False, True])
def test_forces_that_are_read_after_an_input_is_set_are_those_that_follow(feet, ran):
    sim = ts.Simulation(box(feet))
    if ran:
        sim.advance(0.1)
    forces = lambda: np.array([sim[f"foot{k}.reaction_force"][2] for k in range(feet)])
    assert abs(forces().sum() - 0.1 * G) < 1e-9
    events, state = len(sim.events), sim.state
    sim.inputs["up"] = 4.0
    assert np.abs(forces()).max() < 1e-12  # no contact pulls
    assert abs(sim["box.acceleration"][2] - (4.0 / 0.1 - G)) < 1e-9
    assert len(sim.events) == events  # reading changes nothing:
    sim.inputs["up"] = 0.5  # the input may be set to another value before time passes
    assert abs(forces().sum() - (0.1 * G - 0.5)) < 1e-9
    sim.inputs["up"] = 4.0
    assert np.abs(forces()).max() < 1e-12
    other = ts.Simulation(box(feet))
    other.state = state
    for each, given in ((sim, {}), (other, {"up": 4.0})):
        each.advance(0.1, **given)
    assert sim["box.position"][2] == other["box.position"][2]
    assert [e.name for e in sim.events] == [e.name for e in other.events]


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_friction_with_a_given_load_ends_where_its_contact_opens(formulation):
    model = ts.Model("skip", gravity=(0, 0, -G))
    body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(1, 0, 1))
    model.add(ts.Free("free", model.ground, body))
    floor = model.add(ts.Contact("floor", model.ground, body, plane=(0, 0, 0)))
    model.add(ts.Friction("rough", floor, coefficient=0.2, normal=10.0))
    flight = 2 / G
    assert abs(float(ts.simulate(model, flight / 2, outputs=1, formulation=formulation).velocity[-1, 0, 0]) - 1) < 1e-9
    data = ts.simulate(model, flight + 0.1, outputs=1, formulation=formulation)
    assert abs(float(data.velocity[-1, 0, 0]) - (1 - 0.2 * 10.0 * 0.1)) < 1e-8


@pytest.mark.parametrize("options", [{}, {"method": "rkmk4", "step": 0.01}], ids=["adaptive", "fixed"])
@pytest.mark.parametrize("way", ["condition", "table"])
def test_an_output_at_the_instant_of_a_jump_shows_what_contacts_make_of_it(way, options):
    """A force that jumps at a known time lifts a box at once: no output has a foot that pulls."""
    model, at = box(4), 0.1
    table = ts.table([0.5 * at, 1.5 * at], [0.0, 4.0], kind="nearest")
    up = ca.if_else(ts.time < at, 0.0, 4.0) if way == "condition" else table(ts.time)
    model.add(ts.PointForce("jump", model["box"], force=(0, 0, up)))
    data = ts.simulate(model, 0.2, outputs=4, **options)
    pushing = data.reaction_force.sel(axis="z").sum("joint").values
    np.testing.assert_allclose(pushing, np.where(data.time < 0.09, 0.1 * G, 0), atol=1e-9)
    assert data.reaction_force.sel(axis="z").min() > -1e-12
    sim = ts.Simulation(model, **options)
    sim.advance(at)
    assert abs(sim["box.acceleration"][2] - (4.0 / 0.1 - G)) < 1e-9
    assert sorted(e.name for e in sim.events if e.name.endswith("lift")) == [f"foot{k}.lift" for k in range(4)]


@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz"])
def test_forces_that_are_read_at_the_start_are_those_of_a_run(formulation):
    """A table on five feet with a load near its edge: feet that would pull bear nothing from the first instant on."""
    model = ts.Model("table", gravity=(0, 0, -G))
    body = model.body("table", inertia=ts.inertia.box(2.0, 0.5, 0.5, 0.1), at=(0.22, 0.05, 0.4))
    feet = [(0.3 * np.cos(a), 0.3 * np.sin(a), 0) for a in 2 * np.pi * (np.arange(5) + 0.3) / 5]
    for k, foot in enumerate(feet):
        model.add(ts.Contact(f"foot{k}", model.ground, body, point=foot, plane=(0, 0, 0)))
    sim = ts.Simulation(model, formulation=formulation)
    pushing = np.array([sim[f"foot{k}.reaction_force"][2] for k in range(5)])
    assert pushing.min() > -1e-9
    data = ts.simulate(model, 0.1, outputs=1, formulation=formulation)
    np.testing.assert_allclose(pushing, data.reaction_force.sel(axis="z").values[0], atol=1e-9)
    np.testing.assert_allclose(pushing @ feet, 2.0 * G * np.array([0.22, 0.05, 0]), atol=1e-9)
    sim.advance(0.1)
    np.testing.assert_allclose(sim["table.position"], data.position.values[-1, 0], rtol=0, atol=1e-15)
