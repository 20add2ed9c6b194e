"""The search for an equilibrium: what its steps are made of."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.analysis.mechanism import Mechanism
from torsor.analysis.statics.force_balance import balance_forces


def arm(gravity):
    """A sleeve that turns and slides on a bar, with a pendulum on it."""
    model = ts.Model("arm", gravity=(0, 0, -gravity))
    sleeve = model.body("sleeve", mass=1.0, inertia=(0.02, 0.03, 0.01), at=(0.4, 0, 0))
    model.add(ts.Cylindrical("bar", model.ground, sleeve, point=(0, 0, 0), axis=(0, 1, 0.5), start=(0.3, 0.1)))
    bob = model.body("bob", mass=0.7, inertia=(0.01, 0.02, 0.01), at=(0.8, 0.2, 0))
    model.add(ts.Revolute("hinge", sleeve, bob, point=(0.5, 0, 0), axis=(1, 0, 1), start=0.4))
    return model


@pytest.mark.parametrize("formulation", ["relative", "absolute"])
def test_the_stiffness_that_the_way_down_meets_is_that_of_the_energy_along_free_motions(formulation, short=0.02):
    """U″ along a motion without forces, by differences of the heights of its bodies, far from any equilibrium."""
    m = Mechanism(arm(9.81), formulation)
    here = balance_forces(m, m.start.with_changes(v=0 * m.start.v))
    way = np.random.default_rng(4).standard_normal(here.free_displacements.shape[1])
    same = np.linalg.lstsq(here.reactions.displacements, here.free_displacements @ way, rcond=None)[
        0
    ]  # in the basis of the forces
    rates = m.output_values(here.point.with_changes(v=m.columns * (here.free_displacements @ way)))["rate"]
    heights = []
    for sign in (1, -1):
        start = {"rates": dict(zip(m.system.joint_coordinates, sign * rates))}
        data = ts.simulate(arm(0.0), short, start=start, tolerance=1e-12, outputs=[0.0, short / 2, short])
        heights.append(data["position"].sel(axis="z").values @ np.array([1.0, 0.7]))
    (rest, near, far), (_, behind, back) = heights
    second = 9.81 * (16 * (near - 2 * rest + behind) - (far - 2 * rest + back)) / (3 * short**2)
    assert same @ here.covariant_stiffness @ way * m.energy == pytest.approx(second, rel=1e-4)
    if formulation == "relative":  # where free motions bend in the coordinates, plain derivatives tell something else
        assert abs(same @ here.stiffness @ way * m.energy - second) > abs(second)


def loaded():
    """A cart on a spring and a damper, pushed by a force that was recorded."""
    model = ts.Model("loaded")
    rail = model.add(ts.Prismatic("rail", model.ground, model.body("cart", mass=1.0, inertia=(1, 1, 1)), axis="x"))
    force = ts.table([0, 1, 2], [0.0, 5.0, -3.0])
    model.add(ts.JointForce("push", rail, force(ts.time) - 10 * rail.coordinate[0] - rail.rate[0]))
    return model, lambda t: force(t) / 10


def test_an_equilibrium_is_that_of_the_time_asked_for_and_else_of_its_start():
    model, rests = loaded()
    found = ts.equilibrium(model)
    for t in (0.5, 1.5):
        for start in (found, found.data, {"rail": 0.3}):
            assert ts.equilibrium(model, start, time=t).coordinates["rail"] == pytest.approx(rests(t))
        there = ts.equilibrium(model, time=t)
        assert ts.equilibrium(model, there).coordinates["rail"] == pytest.approx(rests(t))
        assert ts.linearise(model, at=found, time=t).time == t and ts.linearise(model, at=there).time == t


def test_the_search_sets_out_from_a_result_that_moves():
    model, rests = loaded()
    data = ts.simulate(model, 1.2, outputs=2)
    assert ts.equilibrium(model, data.isel(time=-1)).coordinates["rail"] == pytest.approx(rests(1.2))
    assert ts.equilibrium(model, data.isel(time=-1), time=2.0).coordinates["rail"] == pytest.approx(rests(2.0))


def stiff(name="stiffness"):
    """A cart between springs, pushed by a force that grows, and by an input."""
    model = ts.Model("stiff")
    stiffness, push = model.parameter(name, 30.0), model.input("push", 0.0)
    rail = model.add(ts.Prismatic("rail", model.ground, model.body("cart", mass=1.0, inertia=(1, 1, 1)), axis="x"))
    model.add(ts.JointForce("load", rail, push + ts.time - stiffness * rail.coordinate[0]))
    return model


@pytest.mark.parametrize("kept, name", [({}, "stiffness"), ({"reduce": "last"}, "stiffness"), ({}, "energy")])
def test_one_run_of_a_study_brings_its_parameters_and_its_time(kept, name):
    model = stiff(name)
    data = ts.study(model, 0.5, {name: [10.0, 20.0]}, outputs=1, **kept)
    for run, value in enumerate((10.0, 20.0)):
        at = data.isel(run=run) if kept else data.isel(run=run, time=-1)
        found = ts.linearise(model, at=at)
        assert found.time == 0.5 and found.A[1, 0] == -value
        assert ts.equilibrium(model, at).coordinates["rail"] == pytest.approx(0.5 / value)


def test_states_assemblies_and_kinematics_bring_their_parameters(tmp_path):
    model, given = stiff(), {"parameters": {"stiffness": 10.0}}
    sim = ts.Simulation(model, **given)
    sim.advance(0.5, push=2.0)
    sim.state.save(tmp_path / "now")
    moved = ts.kinematics(model, {"rail": 0.1 * ts.time}, times=[0.0, 0.5], **given).isel(time=1)
    for at in (sim.state, ts.load_state(tmp_path / "now"), ts.assemble(model, {"rail": 0.1}, **given), moved):
        assert ts.linearise(model, at=at).A[1, 0] == -10.0
        assert ts.linearise(model, at=at, parameters={"stiffness": 20.0}).A[1, 0] == -20.0
    assert ts.equilibrium(model, sim.state).coordinates["rail"] == pytest.approx((2.0 + 0.5) / 10.0)


def test_what_has_no_coordinate_rests():
    model = ts.Model("sign", gravity=(0, 0, -9.81))
    model.add(ts.Fixed("post", model.ground, model.body("sign", mass=2.0, inertia=(1, 1, 1))))
    found = ts.equilibrium(model, formulation="relative")
    assert found.stable and found.neutral == [] and found.reactions["post"][0] == pytest.approx([0, 0, 19.62])


def test_states_of_the_user_that_may_be_anything_are_named():
    model = stiff()
    model.state("way", rate=model["rail"].rate[0])
    assert ts.equilibrium(model).neutral == ["way"]


@pytest.mark.parametrize(
    "axis, speed, rests", [("z", 3.0, True), ("z", 0.0, True), ("y", 3.0, False), ("x", 3.0, False)]
)
def test_what_stands_on_a_ground_that_turns_rests_where_gravity_does_not_turn_with_it(axis, speed, rests):
    """g tan φ = ω² (r + l sin φ) about the vertical; about another axis its weight turns round it, and nothing rests."""
    model = ts.Model("table", gravity=(0, 0, -9.81))
    table = model.add(ts.Ground("table", rotation=[speed * ts.time * (name == axis) for name in "xyz"]))
    bob = model.body("bob", mass=1.0, inertia=(1e-9, 1e-9, 1e-9), at=(0.3, 0, -1))
    model.add(ts.Revolute("hinge", table, bob, point=(0.3, 0, 0), axis="-y"))
    if not rests:
        with pytest.raises(ts.ModelError, match="does not move steadily"):
            ts.equilibrium(model, formulation="relative", time=0.2)
        return
    phi = ts.equilibrium(model, formulation="relative", time=0.2).coordinates["hinge"]
    assert 9.81 * np.tan(phi) == pytest.approx(speed**2 * (0.3 + np.sin(phi)), abs=1e-9)


def test_what_rests_while_the_ground_that_holds_it_moves_on_is_no_equilibrium():
    """A cart that hangs in a lift by a spring and a damper: in coordinates of the bodies it would stand still beside the lift. Nor
    is it one where a ground that shakes turns round."""
    lift = ts.Model("lift", gravity=(0, 0, -9.81))
    cabin, cart = lift.add(ts.Ground("cabin", at=(0, 0, ts.time))), lift.body("cart", mass=1.0, inertia=(1, 1, 1))
    rail = lift.add(ts.Prismatic("rail", cabin, cart, axis="z"))
    lift.add(ts.SpringDamper("spring", cabin, cart, points=((0, 0, 1), (0, 0, 0)), stiffness=100.0, damping=1.0))
    assert ts.equilibrium(lift, formulation="relative").coordinates[rail.name] == pytest.approx(-9.81 / 100)
    shaken = ts.Model("shaken", gravity=(0, 0, -9.81))
    table, bob = (
        shaken.add(ts.Ground("table", at=(ca.cos(ts.time), 0, 0))),
        shaken.body("bob", mass=1.0, inertia=(1, 1, 1), at=(0, 0, -1)),
    )
    shaken.add(ts.Revolute("hinge", table, bob, point=(0, 0, 0), axis="y"))
    for model, formulation in ((lift, "absolute"), (shaken, "relative")):
        with pytest.raises(ts.ModelError, match="does not move steadily"):
            ts.equilibrium(model, formulation=formulation)


@pytest.mark.parametrize("formulation", ["relative", "absolute"])
def test_forces_of_time_are_taken_at_one_on_grounds_that_move_too(formulation):
    model = ts.Model("belt")
    belt, cart = model.add(ts.Ground("belt", at=(2 * ts.time, 0, 0))), model.body("cart", mass=1.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", belt, cart, axis="y"))
    model.add(ts.JointForce("push", rail, 10 * ts.time - 50 * rail.coordinate[0]))
    assert ts.equilibrium(model, formulation=formulation, time=0.3).coordinates["rail"] == pytest.approx(3 / 50)
