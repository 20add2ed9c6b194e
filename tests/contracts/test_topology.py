"""The graph of a model: tree, loops, mobility, integrability, and joints that are assembled as the joints that they are."""

import sys
from dataclasses import replace

import casadi as ca
import models
import numpy as np
import pytest

import torsor as ts
from torsor.checks.integrability import integrability
from torsor.formulations.absolute import Absolute
from torsor.lie import so3
from torsor.model.topology import outline, spanning_tree
from torsor.start.impostors import IMPOSTOR_IN_RUN, impostors

MASS = {"mass": 1.0, "inertia": (1.0, 1.1, 1.2)}


def chain(count, closed=False):
    model = ts.Model("chain")
    bodies = [model.body(f"b{k}", at=(k + 0.5, 0, 0), **MASS) for k in range(count)]
    for k, (a, b) in enumerate(zip([model.ground, *bodies], bodies)):
        model.add(ts.Revolute(f"j{k}", a, b, point=(k, 0, 0), axis=(0, 0, 1)))
    if closed:
        model.add(ts.Spherical("last", bodies[-1], model.ground, point=(count, 0, 0)))
    return model


# spanning tree


@pytest.mark.parametrize("case", [name for name in models.compared_cases() if name != "satellite"])
def test_every_body_has_one_branch_and_parents_come_first(case):
    model = ts.cases.load(case)
    tree = spanning_tree(model)
    seen = {id(None)}
    for branch in tree.branches:
        assert id(branch.parent) in seen
        seen.add(id(branch.body))
    assert len(tree.branches) == len(model.bodies) == len(seen) - 1


def test_every_joint_is_in_the_tree_or_closes_one_loop():
    """Loops = joints − tree joints (Euler); each loop holds exactly one cut joint and is a closed walk."""
    model = ts.cases.load("four-bar", n=6)
    tree = spanning_tree(model)
    carried = [b.joint for b in tree.branches if b.joint in model.joints]
    assert len(carried) + len(tree.cut) == len(model.joints)
    for loop, cut in zip(tree.loops(), tree.cut):
        assert [j for j in loop if j in tree.cut] == [cut] and loop[-1] is cut
        ends = [{_node(model, j.first), _node(model, j.second)} for j in loop]
        assert all(ends[k] & ends[(k + 1) % len(ends)] for k in range(len(ends)))
        assert len(loop) == 4  # crank, coupler, crank and the cut: the shortest there are


def _node(model, body):
    return "ground" if body in model.grounds else body.name


def test_a_loop_is_cut_where_both_ways_from_the_ground_meet():
    tree = spanning_tree(chain(5, closed=True))
    assert max(row["depth"] for row in outline(chain(5, closed=True))["tree"]) == 3
    assert [j.name for j in tree.cut] == ["j3"]


def test_within_a_level_joints_with_few_freedoms_carry():
    model = ts.Model("choice")
    body = model.body("body", **MASS)
    model.add(ts.Spherical("ball", model.ground, body, point=(0, 0, 1)))
    model.add(ts.Revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    assert [j.name for j in spanning_tree(model).cut] == ["ball"]


def test_long_chains_are_sorted_in_linear_time():
    """Twice the links take twice the lines of Python, and some more for the same start."""

    def lines(count):
        model, run = chain(count), []

        def counted(frame, event, argument):
            run.append(event)
            return counted

        before = sys.gettrace()
        sys.settrace(counted)
        try:
            assert len(spanning_tree(model).branches) == count
        finally:
            sys.settrace(before)
        return len(run)

    few, many = lines(300), lines(600)
    assert few > 300 and many < 2.01 * few


def test_grounds_parts_floating_trees_and_unheld_bodies_are_told_apart():
    model = ts.Model("many")
    wall = model.add(ts.Ground("wall", at=(4, 0, 0)))
    one, two, three, four, five, six = (model.body(f"b{k}", at=(k, 0, 0), **MASS) for k in range(6))
    model.add(ts.Revolute("a", model.ground, one, axis=(0, 0, 1)))
    model.add(ts.Revolute("b", two, wall, axis=(0, 0, 1)))  # counts from the body to its ground: reversed
    model.add(ts.Spherical("c", three, four))
    model.add(ts.Motion("driven", five, at=(ts.time, 0, 0)))
    graph = outline(model)
    assert [part["grounds"] for part in graph["trees"]] == [["ground"], ["wall"], [], [], []]
    assert [part["bodies"] for part in graph["trees"]][2] == ["b2", "b3"]
    assert graph["unheld"] == ["b5"]
    rows = {row["body"]: row for row in graph["tree"]}
    assert rows["b1"]["parent"] == "wall" and rows["b1"]["reversed"]
    assert rows["b2"]["joint"] is None and rows["b3"]["parent"] == "b2" and rows["b3"]["depth"] == 2
    assert graph["loops"] == []


@pytest.mark.parametrize("formulation", ts.registered("formulation"))
def test_mobility_is_the_same_in_every_formulation(formulation):
    info = ts.info(ts.cases.load("four-bar", n=2), formulation=formulation)
    assert info["degrees_of_freedom"] == {"gruebler": -5, "generic": 1, "start": 1}


# integrability


def verdicts(model):
    return {v.name: (v.alone, v.integrable) for v in integrability(model)}


def free_body(name="scene"):
    model = ts.Model(name)
    body = model.body("body", mass=1.3, inertia=(1, 2, 2.5), at=(1, 0.2, 0), rotation=(0.3, 0.2, 0.5))
    return model, body


def test_the_rates_of_a_hinge_are_integrable():
    """d/dt of what a revolute joint keeps at zero, declared at velocity level; the rotation rows in two forms."""
    model, body = free_body()
    arm = body.start_rotation.T @ -body.start_position
    w = body.rotation @ body.angular_velocity
    model.add(ts.Nonholonomic("point", body.velocity + body.rotation @ ca.cross(body.angular_velocity, arm)))
    model.add(ts.Nonholonomic("axis", w[:2]))
    assert verdicts(model) == {"point": (True, True), "axis": (True, True)}


def test_one_forbidden_rotation_is_not_integrable_two_are():
    """[aslanov2011], eq. 24: n·ω = 0 is not the rate of anything, as SO(3) does not commute; ω along z = n₁ × n₂ is."""
    model, body = free_body()
    model.add(ts.NoRotation("one", model.ground, body, about=(0, 0, 1)))
    assert verdicts(model) == {"one": (False, False)}
    model, body = free_body()
    model.add(ts.NoRotation("one", model.ground, body, about=(0, 0, 1)))
    model.add(ts.NoRotation("two", model.ground, body, about=(1, 0, 0.3)))
    other = model.body("other", at=(3, 0, 0), **MASS)
    model.add(ts.KnifeEdge("blade", model.ground, other))
    assert verdicts(model) == {"one": (False, True), "two": (False, True), "blade": (False, False)}
    assert ts.info(model)["velocity_level"][0]["meaning"] == "integrable (holonomic) together with two"


def test_an_edge_is_integrable_only_where_it_cannot_turn():
    model, body = free_body()
    model.add(ts.KnifeEdge("blade", model.ground, body))
    assert verdicts(model) == {"blade": (False, False)}
    model, body = free_body()
    model.add(ts.KnifeEdge("blade", model.ground, body))
    model.add(ts.NoRotation("held", model.ground, body, about=((1, 0, 0), (0, 1, 0), (0, 0, 1))))
    assert verdicts(model) == {"blade": (True, True)}


@pytest.mark.parametrize("radius", [2e-11, 0.2, 2e11])
def test_rolling_is_integrable_in_a_plane_only(radius):
    """A disk that stays upright and straight rolls along a line: x = r φ. Free to turn, it is the nonholonomic example."""
    for held, expected in ((False, False), (True, True)):
        model = ts.Model("disk")
        disk = model.body("disk", inertia=ts.inertia.disk(1.0, radius, axis="y"), at=(0, 0, radius))
        model.add(ts.RollingDisk("roll", model.ground, disk, radius=radius))
        if held:
            model.add(ts.NoRotation("straight", model.ground, disk, about=((1, 0, 0), (0, 0, 1))))
        assert verdicts(model) == {"roll": (expected, expected)}


@pytest.mark.parametrize("links, value, expected", [(2, 0.0, True), (2, 0.4, False), (3, 0.0, False)])
def test_angular_momentum_is_integrable_for_two_bodies_at_rest_only(links, value, expected):
    """With one joint angle the orientation follows from it where L = 0; with two it depends on the way (a falling cat), and
    with L ≠ 0 on time spent in each shape."""
    model = ts.Model("cat")
    bodies = [model.body(f"b{k}", at=(k, 0, 0), **MASS) for k in range(links)]
    model.add(ts.Planar("plane", model.ground, bodies[0], axis=(0, 0, 1)))
    for k, (a, b) in enumerate(zip(bodies, bodies[1:])):
        model.add(ts.Revolute(f"j{k}", a, b, point=(k + 0.5, 0, 0), axis=(0, 0, 1)))
    model.add(ts.ConservedMomentum("L", tuple(bodies), value=value))
    assert verdicts(model) == {"L": (expected, expected)}


def test_an_imposed_angular_velocity_is_integrable_with_time():
    """Three rows leave one direction in (rotation, time): the orientation is a function of time."""
    model, body = free_body()
    model.add(ts.AngularVelocity("turn", body, value=(0.3, 2 * ts.time, ca.sin(ts.time))))
    assert verdicts(model) == {"turn": (True, True)}


def test_models_without_velocity_level_constraints_have_nothing_to_test():
    assert integrability(chain(2)) == [] and ts.info(chain(2))["velocity_level"] == []


# joints that are what they say


@pytest.mark.parametrize("key", ts.registered("joint"))
def test_every_position_that_a_joint_reaches_is_genuine(key):
    """pose(coordinates(H)) = H for H = pose(q), to rounding."""
    cls, random = ts.registered("joint")[key], np.random.default_rng(4)
    model = ts.Model("scene")
    first, second = (model.body(name, **MASS) for name in ("first", "second"))
    for joint in cls.examples({"first": first, "second": second}):
        q = ca.DM(random.uniform(-1, 1, joint.dof))
        scene = ts.Model("scene")
        pair = [scene.body(name, **MASS) for name in ("first", "second")]
        scene.add(replace(joint, first=pair[0], second=pair[1]))
        H = np.array(ca.evalf(joint.pose(ca.SX(q))))
        state = [x.ravel(order="F") for R, p in ((np.eye(3), np.zeros(3)), (H[:3, :3], H[:3, 3])) for x in (p, R)]
        f = Absolute(scene)
        off = f.start_functions["departures"](0.0, np.concatenate(state), np.zeros(len(f.turns)))
        assert off.shape == (1, 2) and off.max() < 1e-13


def flipped(cls, turn, **options):
    """A body that sits near a root of the joint's residual that the joint cannot reach."""
    model = ts.Model("flipped", gravity=(0, 0, -9.81))
    body = model.body("body", at=(0.5, 0, 0), rotation=turn, **MASS)
    options |= {} if cls is ts.Fixed else {"axis": "z"}
    model.add(cls("joint", model.ground, body, frames=(model.ground.frame(), body.frame((-0.5, 0, 0))), **options))
    return model


@pytest.mark.parametrize("formulation", ts.registered("formulation"))
def test_a_hinge_whose_axis_points_the_other_way_is_refused(formulation):
    """[mueller2009], remark 4: n₁·R a = n₂·R a = 0 holds for R a = −a too."""
    with pytest.raises(ts.AssemblyError, match="wrong way round: revolute 'joint' between 'ground' and 'body'"):
        ts.simulate(flipped(ts.Revolute, (np.pi - 0.2, 0.1, 0.05)), 0.1, formulation=formulation)
    # any angle about the axis is fine
    ts.simulate(flipped(ts.Revolute, (0.2, 0.1, 2.0)), 0.01, formulation=formulation)


@pytest.mark.parametrize("cls", [ts.Cylindrical, ts.Planar, ts.Screw])
def test_an_axis_that_flips_is_refused_in_every_joint_that_has_one(cls):
    with pytest.raises(ts.AssemblyError, match="wrong way round"):
        ts.info(flipped(cls, (np.pi - 0.1, 0.05, 0)))


@pytest.mark.parametrize("cls", [ts.Fixed, ts.Prismatic])
def test_a_half_turn_of_what_must_not_turn_is_refused(cls):
    """vee(R − Rᵀ) vanishes for every rotation by π, where its rank is not even full."""
    with pytest.raises(ts.AssemblyError, match="wrong way round|cannot be assembled"):
        ts.info(flipped(cls, (np.pi - 1e-7, 0, 0)))


def test_a_joint_that_jumped_is_found():
    """A hinge of which the second body has turned over."""
    f = Absolute(chain(2))
    upright, over = np.eye(3), so3.exp(np.array([np.pi, 0, 0]))
    state = lambda R: np.concatenate([[0.5, 0, 0], upright.ravel(), [1.5, 0, 0], R.ravel(order="F")])
    find = lambda R: impostors(f, 1.0, IMPOSTOR_IN_RUN, 0.0, state(R), np.zeros(2)).tolist()
    assert find(upright) == [] and find(over) == [1]
    assert f.start_functions["departures"](0.0, state(over), np.zeros(2))[1, 0] == pytest.approx(2.0)


def test_a_run_that_ends_with_a_flipped_loop_is_an_error(monkeypatch):
    """The check of a run names the joint and keeps the data; a limit below rounding makes any run fail it."""
    monkeypatch.setattr("torsor.run.verdict.IMPOSTOR_IN_RUN", -1.0)
    with pytest.raises(ts.RunError, match="came together the wrong way round") as caught:
        ts.simulate(ts.cases.load("four-bar", n=1), 0.01, outputs=2)
    assert caught.value.data.sizes["time"] == 3
