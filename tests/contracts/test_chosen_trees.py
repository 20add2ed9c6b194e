"""Joints of the spanning tree and cut joints by choice: the motion does not depend on it, impossible choices are refused."""

from itertools import combinations

import models
import numpy as np
import pytest

import torsor as ts
from torsor.cases.car import SIDES, suspension, wheel
from torsor.model.topology import spanning_tree

NAMES = "ABCD"
FORMULATIONS = ["relative", "woronetz", "hierarchical"]


def four_bar(**cut):
    """A four-bar whose joints are in the tree or cut as `cut` says."""
    pin = {name: {"cut": cut.get(name)} for name in NAMES}
    pin[NAMES[0]]["start_rate"] = 1.0
    return models.four_bar([(0, 0, 0), (0, 0, 1), (2, 0, 1.5), (2, 0, 0)], (1, 2, 3), (0.1, 0.12, 0.13), **pin)


def net(random, bodies=7, extra=4):
    """Bodies on a random tree of joints, with further joints that close loops."""
    model = ts.Model("net")
    parts = [model.ground, *[model.body(f"b{k}", mass=1, inertia=(1, 1, 1)) for k in range(bodies)]]
    ends = [(int(random.integers(k)), k) for k in range(1, bodies + 1)]
    ends += [tuple(int(k) for k in random.choice(bodies + 1, 2, replace=False)) for _ in range(extra)]
    return model, parts, ends


@pytest.mark.parametrize("form", FORMULATIONS)
def test_the_motion_does_not_depend_on_which_joint_is_cut(form):
    motions = [
        ts.simulate(four_bar(**choice), 0.5, outputs=4, formulation=form).position.values
        for choice in ({}, {"A": True}, {"D": True}, {"B": False, "C": False, "D": False})
    ]
    for motion in motions[1:]:  # each is integrated to 1e-9 per step in its own coordinates
        assert np.abs(motion - motions[0]).max() < 1e-8


@pytest.mark.parametrize("name", NAMES)
def test_the_chosen_joint_is_the_one_that_is_cut(name):
    assert [j.name for j in spanning_tree(four_bar(**{name: True})).cut] == [name]
    kept = {other: False for other in NAMES if other != name}
    assert [j.name for j in spanning_tree(four_bar(**kept)).cut] == [name]
    cut = ts.compile(four_bar(**{name: True}), formulation="relative")
    assert sorted(cut.coordinates) == sorted(kept)  # the others carry the coordinates


@pytest.mark.parametrize("seed", range(12))
def test_any_spanning_tree_can_be_chosen(seed):
    """A random tree is chosen by cut=False, and by cut=True of all that is not in it: both give that tree."""
    random = np.random.default_rng(seed)
    model, parts, ends = net(random)
    order, leader, tree = random.permutation(len(ends)), list(range(len(parts))), set()

    def find(k):
        return k if leader[k] == k else find(leader[k])

    for k in order:  # Kruskal
        one, two = (find(x) for x in ends[k])
        if one != two:
            leader[one] = two
            tree.add(int(k))
    for wish in (False, True):
        twin = ts.Model("twin")
        bodies = [twin.ground, *[twin.body(b.name, mass=1, inertia=(1, 1, 1)) for b in parts[1:]]]
        for k, (a, b) in enumerate(ends):
            told = {"cut": wish} if (k in tree) != wish else {}
            twin.add(ts.Spherical(f"j{k}", bodies[a], bodies[b], point=(k, 0, 0), **told))
        found = spanning_tree(twin)
        assert {j.name for j in found.cut} == {f"j{k}" for k in range(len(ends)) if k not in tree}
        seen = {id(None)}
        for branch in found.branches:  # parents come first
            assert id(branch.parent) in seen
            seen.add(id(branch.body))


def test_tree_joints_that_form_a_loop_are_refused():
    with pytest.raises(ts.ModelError, match="'D': cut=False, but joints with cut=False form a loop"):
        ts.simulate(four_bar(**dict.fromkeys(NAMES, False)), 0.1)


@pytest.mark.parametrize("pair", list(combinations(NAMES, 2)))
def test_cut_joints_without_a_loop_are_refused(pair):
    with pytest.raises(ts.ModelError, match="cut=True, but no loop of joints is left"):
        ts.info(four_bar(**dict.fromkeys(pair, True)))


def test_a_free_joint_makes_any_joint_a_cut_one():
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=2.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    model.add(ts.Revolute("pin", model.ground, bob, point=(0, 0, 0), axis="y", cut=True))
    with pytest.raises(ts.ModelError, match=r"ts\.Free"):
        spanning_tree(model)
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=2.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    model.add(ts.Revolute("pin", model.ground, bob, point=(0, 0, 0), axis="y", cut=True))
    model.add(ts.Free("air", model.ground, bob))
    found = ts.compile(model, formulation="relative")
    assert found.v.size == 6
    # m g l / (Θ + m l²), turning z towards x about y
    assert found.accelerations()[1] == pytest.approx(2.0 * 9.81 * 0.5 / (0.1 + 2.0 * 0.25), rel=1e-12)


def test_joints_that_events_switch_cannot_be_in_the_tree():
    model = four_bar(A=False)
    model.when(model["link0"].position[0] >= 0.5, ts.release(model["A"]))
    with pytest.raises(ts.ModelError, match="events engage or release it"):
        spanning_tree(model)


def test_what_is_no_choice_is_refused():
    with pytest.raises(ts.ModelError, match="cut must be True, False or None, got 2"):
        four_bar(A=2)


def test_the_choice_is_kept_in_files_and_in_components(tmp_path):
    inner = four_bar(D=True)
    inner.expose("coupler", inner["link1"])
    ts.save_component(inner, tmp_path / "loop.tsc")
    outer = ts.Model("outer", gravity=(0, 0, -9.81))
    outer.include("one", ts.load_component(tmp_path / "loop.tsc"))
    assert [j.name for j in spanning_tree(outer).cut] == ["one.D"]


def test_the_sequence_of_dependencies_of_the_car_is_the_tree_that_leaves_its_cut_joints():
    """Vlasenko, sec. 7.6, figure 7.7: guide, pivots, feet, slides and axles in the tree, Revolute 1 and 4, the heads of the
    dampers, close the loops. The car moves as with the tree that is chosen by itself."""
    model = ts.Model("car", gravity=(0, 0, -9.8))
    body = model.body("car_body", mass=585.0, inertia=(12.675, 450.9375, 439.2375), at=(0, 0, 0.95))
    model.add(ts.Cylindrical("guide", model.ground, body, point=(0, 0, 0.95), axis="z"))
    for name, side in SIDES.items():
        arm = model.include(name, suspension(side), at=(side * 0.5, 0, 0.35))
        tyre = model.include(f"{name}_wheel", wheel(), at=(side * 1.0, 0, 0.35))
        head = {"point": (side * 0.1, 0, 0.95), "axis": "y", "cut": True}
        model.add(ts.Revolute(f"{name}_pivot", body, arm.beam, point=(0, 0, 0.35), axis="y"))
        model.add(ts.Revolute(f"{name}_head", body, arm.cylinder, **head))
        model.add(ts.Revolute(f"{name}_axle", arm.beam, tyre.ring, point=(side * 1.0, 0, 0.35), axis="x"))
    tree = spanning_tree(model)
    assert {j.name for j in tree.cut} == {"left_head", "right_head"}
    parts = ("_pivot", ".foot", ".damper.slide", "_axle")
    assert {b.joint.name for b in tree.branches} == {"guide", *[side + part for side in SIDES for part in parts]}
    assert sum(b.joint.dof for b in tree.branches) == 12  # generalised coordinates, sec. 7.7
    moved = [ts.simulate(m, 0.3, outputs=3, formulation="relative").position for m in (model, ts.cases.load("car"))]
    assert np.abs(moved[0] - moved[1].sel(body=moved[0].body)).max() < 1e-7
