"""Inverse kinematics: closed forms of linkages, all their assemblies, a real robot, least squares, stops, what is out of reach."""

import importlib.metadata
from functools import cache

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize
from scipy.spatial.transform import Rotation

import torsor as ts

ROBOT = "cmeel.prefix/share/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf"


def linkage(name, points, closed=False, axis=(0, 0, 1)):
    """Rods through points in a plane, hinged to each other and to the ground; closed: also at the last point."""
    model = ts.Model(name)
    before, rods = model.ground, []
    for k, (a, b) in enumerate(zip(points, points[1:])):
        middle, half = (np.add(a, b) / 2).tolist(), np.linalg.norm(np.subtract(b, a)) / 2
        rod = model.body(f"rod{k}", mass=1.0, inertia=(0.01, half**2 / 3 + 0.01, half**2 / 3 + 0.01), at=middle)
        model.add(ts.Revolute(f"hinge{k}", before, rod, point=a, axis=axis))
        before = rod
        rods.append(rod)
    if closed:
        model.add(ts.Revolute("last", before, model.ground, point=points[-1], axis=axis))
    return model, rods


@cache  # what is compiled of a model is kept with it
def arm(lengths=(1.0, 0.8)):
    """An arm along x in the plane z = 0; its tip is the signal "tip"."""
    ends = np.cumsum([0.0, *lengths])
    model, rods = linkage("arm", [(x, 0.0, 0.0) for x in ends])
    model.signal("tip", rods[-1].point((lengths[-1] / 2, 0, 0)))
    return model


def circles(a, ra, b, rb):
    """Both points at distances ra from a and rb from b."""
    d = np.linalg.norm(b - a)
    along = (ra**2 - rb**2 + d**2) / (2 * d)
    height, e = np.sqrt(ra**2 - along**2), (b - a) / d
    return [a + along * e + s * height * np.array([-e[1], e[0]]) for s in (1, -1)]


@pytest.mark.parametrize("crank, coupler, rocker, base", [(1.0, 3.0, 2.5, 3.2), (2.0, 2.2, 2.5, 1.0)])
def test_both_assemblies_of_a_four_bar_are_found(crank, coupler, rocker, base):
    far = np.array([base, 0.0])
    B = circles(np.array([0.0, crank]), coupler, far, rocker)[1]
    model, _ = linkage("four-bar", [(0, 0, 0), (0, crank, 0), (*B, 0), (base, 0, 0)], closed=True)
    for angle in (0.1, -0.7):  # of the crank, from its reference position along y
        found = ts.assemble(model, {"hinge0": angle}, modes=True)
        A = crank * np.array([-np.sin(angle), np.cos(angle)])
        expected = circles(A, coupler, far, rocker)
        ends = [H[:2, 3] * 2 - far for H in found.poses["rod2"]]  # the middle of the rocker
        assert len(ends) == 2 and found.freedom.max() == 0
        for end in expected:
            assert min(np.linalg.norm(end - other) for other in ends) < 1e-10
        near = ts.assemble(model, {"hinge0": angle})  # the one that continues the reference position
        assert near.residual < 1e-12 and near.coordinates["hinge0"] == pytest.approx(angle, abs=1e-12)


def test_each_assembly_of_a_loop_is_where_it_is_begun_with():
    """Also where the other one cannot be reached from it."""
    model, _ = linkage("four-bar", [(0, 0, 0), (0, 1, 0), (2.6, 2.4, 0), (3.2, 0, 0)], closed=True)
    found = ts.assemble(model, {"hinge0": 0.1}, modes=True)
    for k in range(2):
        again = ts.assemble(model, {"hinge0": 0.1}, start=found[k].coordinates)
        assert again.coordinates == pytest.approx(found[k].coordinates, abs=1e-9)
        driven = ts.kinematics(model, {"hinge0": np.array([0.1, 0.11])}, start=found[k])
        assert float(driven.coordinate.sel(joint_coordinate="hinge1")[0]) == pytest.approx(
            found[k].coordinates["hinge1"]
        )


@pytest.mark.parametrize("count", [0, 1, 2])
def test_there_are_as_many_assemblies_as_targets(count):
    loop = ts.cases.load("slider-crank")
    found = ts.assemble(loop, {loop.joints[0].name: np.linspace(0.1, 0.2, count)})
    assert found.residual.shape == (count,) and all(H.shape == (count, 4, 4) for H in found.poses.values())


def test_both_assemblies_of_a_slider_crank_are_found():
    model, rods = linkage("slider-crank", [(0, 0, 0), (0.3, 0, 0), (1.2, 0, 0)])
    block = model.body("block", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1.2, 0, 0))
    model.add(ts.Revolute("pin", rods[-1], block, point=(1.2, 0, 0), axis="z"))
    model.add(ts.Prismatic("guide", model.ground, block, point=(1.2, 0, 0), axis="x"))
    found = ts.assemble(model, {"hinge0": 0.8}, modes=True)
    root = np.sqrt(0.9**2 - (0.3 * np.sin(0.8)) ** 2)
    expected = 0.3 * np.cos(0.8) + np.array([root, -root]) - 1.2
    np.testing.assert_allclose(found.coordinates["guide"], expected, atol=1e-11)
    back = ts.assemble(model, {"guide": expected[0]}, start={"hinge0": 0.5})
    assert back.coordinates["hinge0"] == pytest.approx(0.8, abs=1e-10)


def test_a_planar_arm_reaches_as_trigonometry_says():
    """Two hinges: cos q₁ = (x² + y² − l₁² − l₂²)/(2 l₁ l₂), one elbow up and one down; many targets at once."""
    model, random = arm(), np.random.default_rng(1)
    radius, angle = random.uniform(0.3, 1.75, (2, 20)), random.uniform(-np.pi, np.pi, (2, 20))
    tips = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0 * radius], axis=-1)
    found = ts.assemble(model, {"tip": tips})
    assert found.residual.shape == (2, 20) and found.residual.max() < 1e-12
    elbow = (radius**2 - 1.0 - 0.8**2) / (2 * 0.8)
    np.testing.assert_allclose(np.cos(found.coordinates["hinge1"]), elbow, atol=1e-10)
    with pytest.raises(ts.AssemblyError, match="out of reach.*misses tip by 1.2") as error:
        ts.assemble(model, {"tip": (3, 0, 0)}, modes=True)
    np.testing.assert_allclose(error.value.nearest.poses["rod1"][:2, 3], [1.4, 0], atol=1e-6)
    both = ts.assemble(model, {"tip": tips[0, 0]}, modes=True)
    np.testing.assert_allclose(
        np.sort(both.coordinates["hinge1"]), np.array([-1, 1]) * np.arccos(elbow[0, 0]), atol=1e-10
    )


def test_stops_are_respected():
    """Of two assemblies only one is left, wherever the start is; a target that only the other reaches is refused."""
    tip, q1 = (1.2, 0.5, 0.0), np.arccos((1.2**2 + 0.5**2 - 1.64) / 1.6)
    for sign in (1, -1):
        model = arm.__wrapped__()
        lower, upper = sorted((0.0, 3.0 * sign))
        model.add(ts.Limit("stop", joint=model["hinge1"], lower=lower, upper=upper))
        for begin in (0.5, -0.5):
            found = ts.assemble(model, {"tip": tip}, start={"hinge1": begin})
            assert found.coordinates["hinge1"] == pytest.approx(sign * q1, abs=1e-9)
        assert len(ts.assemble(model, {"tip": tip}, modes=True).residual) == 1
    free = arm()
    found = ts.assemble(free, {"tip": tip}, start={"hinge1": 1.0}, limits={"hinge1": (-3.0, 0.0)})
    assert found.coordinates["hinge1"] == pytest.approx(-q1, abs=1e-9)
    with pytest.raises(ts.AssemblyError, match="out of reach") as error:
        ts.assemble(free, {"tip": (0.5, 0, 0)}, limits={"hinge1": (-1.0, 1.0)}, starts=5)
    assert abs(error.value.nearest.coordinates["hinge1"]) == pytest.approx(1.0, abs=1e-6)  # bent as far as it may


@pytest.mark.parametrize("formulation", ["relative", "absolute"])
def test_a_loop_goes_as_far_as_its_stops_let_it(formulation):
    """The stop of one joint, a wish of another: the nearest is at the stop, where the loop is as if it were driven there."""
    model, _ = linkage("four-bar", [(0, 0, 0), (0, 1, 0), (2.6, 2.4, 0), (3.2, 0, 0)], closed=True)
    at_the_stop = ts.assemble(model, {"hinge1": 0.2}, formulation=formulation).coordinates
    given = {"limits": {"hinge1": (-0.2, 0.2)}, "formulation": formulation}
    far = 3 * at_the_stop["last"]
    nearest = ts.assemble(model, {"last": far}, least_squares=True, **given)
    assert nearest.coordinates == pytest.approx(at_the_stop, abs=1e-9)
    with pytest.raises(ts.AssemblyError, match="out of reach.* The nearest assembly misses last by"):
        ts.assemble(model, {"last": far}, starts=2, **given)


def test_a_redundant_arm_moves_as_little_as_possible():
    lengths, tip, start = (0.7, 0.6, 0.5, 0.4), np.array([1.1, 0.7, 0.0]), [0.3, 0.2, -0.1, 0.4]
    model = arm(lengths)
    names = [f"hinge{k}" for k in range(4)]
    found = ts.assemble(model, {"tip": tip}, start=dict(zip(names, start)))
    place = lambda q: np.array([np.sum(lengths * np.cos(np.cumsum(q))), np.sum(lengths * np.sin(np.cumsum(q)))])
    rule = {"type": "eq", "fun": lambda q: place(q) - tip[:2]}
    best = minimize(lambda q: np.sum((q - start) ** 2), start, constraints=[rule], tol=1e-14)
    mine = np.array([found.coordinates[name] for name in names])
    assert found.freedom == 2 and found.residual < 1e-12
    np.testing.assert_allclose(np.linalg.norm(mine - start), np.linalg.norm(best.x - start), rtol=1e-6)
    np.testing.assert_allclose(mine, best.x, atol=1e-5)


def test_what_is_out_of_reach_is_told_with_the_nearest_assembly():
    model = arm()
    with pytest.raises(ts.AssemblyError, match=r"the target is out of reach.*misses tip by 0.7") as error:
        ts.assemble(model, {"tip": (2.5, 0, 0)})
    nearest = error.value.nearest
    np.testing.assert_allclose(nearest.missing["tip"], [-0.7, 0, 0], atol=1e-6)  # stretched
    with pytest.raises(ts.AssemblyError, match=r"1 of 3 targets, the first at \(1\), are out of reach"):
        ts.assemble(model, {"tip": [(1, 0, 0), (0, 5, 0), (0, 1, 0)]}, starts=3)
    same = ts.assemble(model, {"tip": (2.5, 0, 0)}, least_squares=True)
    assert same.residual == pytest.approx(nearest.residual, rel=1e-9)


def test_least_squares_weigh_what_cannot_be_had_together():
    """One rod, two wishes of its angle: the mean, with squares of weights."""
    model, _ = linkage("rod", [(0, 0, 0), (1, 0, 0)])
    signals = {"a": model["hinge0"].coordinate[0], "b": 2 * model["hinge0"].coordinate[0]}
    found = ts.assemble(model, {"a": 0.2, "b": 0.8}, weights={"a": 3.0}, least_squares=True, signals=signals)
    assert found.coordinates["hinge0"] == pytest.approx((9 * 0.2 + 0.4) / 10, abs=1e-9)  # rows over their own lengths
    with pytest.raises(ts.AssemblyError, match="out of reach"):
        ts.assemble(model, {"a": 0.2, "b": 0.8}, signals=signals, starts=2)


def test_an_assembly_is_a_start_of_a_run_and_a_run_of_an_assembly():
    model = arm()
    found = ts.assemble(model, {"tip": (1.2, 0.5, 0)}, start={"hinge1": -1.0})
    run = ts.simulate(model, 0.1, outputs=1, start=found)
    first = dict(zip(run.joint_coordinate.values.tolist(), run.coordinate.values[0].tolist()))
    assert first == pytest.approx(found.coordinates, abs=1e-9)
    for start in (
        run.isel(time=0),
        {"rod0.rotation": found.poses["rod0"][:3, :3], "rod1.position": found.poses["rod1"][:3, 3]},
    ):
        again = ts.assemble(model, {"tip": (1.2, 0.5, 0)}, start=start)
        assert again.coordinates == pytest.approx(found.coordinates, abs=1e-9)


def test_a_robot_reaches_all_poses_that_it_has():
    """100 random poses of a UR5; of each several assemblies, eight of those that are well within its reach."""
    model = ts.read(str(importlib.metadata.distribution("example-robot-data").locate_file(ROBOT))).model
    dynamics, tool = ts.compile(model, "relative"), model.bodies[-1]
    H = dynamics.poses(np.random.default_rng(5).uniform(-np.pi, np.pi, (100, 6)))[:, -1]
    found = ts.assemble(model, {f"{tool.name}.pose": H})
    np.testing.assert_allclose(dynamics.poses(found.q)[:, -1], H, atol=1e-11)
    inside = dynamics.poses([0.4, -1.2, 1.5, 0.7, 1.1, 0.3])[-1]
    every = ts.assemble(model, {f"{tool.name}.pose": inside}, modes=True)
    np.testing.assert_allclose(dynamics.poses(every.q)[:, -1], np.broadcast_to(inside, (8, 4, 4)), atol=1e-11)
    short = {"shoulder_pan_joint": (-1.0, 1.0), "elbow_joint": {"lower": 0.0, "upper": 3.2, "effort": 150.0}}
    few = ts.assemble(model, {f"{tool.name}.pose": inside}, modes=True, limits=short)
    fine = (np.abs(every.coordinates["shoulder_pan_joint"]) < 1) & (every.coordinates["elbow_joint"] > 0)
    assert 0 < fine.sum() < 8
    np.testing.assert_allclose(
        np.sort(few.coordinates["wrist_1_joint"]), np.sort(every.coordinates["wrist_1_joint"][fine]), atol=1e-9
    )
    flange = {"flange": tool.frame((0, 0, 0.1), rotation=(0.3, 0.1, 0.2))}
    again = ts.assemble(model, {"flange": inside}, signals=flange)
    assert again.residual < 1e-12 and not np.allclose(again.poses[tool.name], inside, atol=1e-3)


@cache
def robot(kinds, seed):
    """Hinges (r) and slides (p) one after the other, at random points and along random axes; its kernels."""
    random, model = np.random.default_rng(seed), ts.Model("robot")
    before, point = model.ground, np.zeros(3)
    for k, kind in enumerate(kinds):
        body = model.body(f"b{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=point + random.normal(size=3) * 0.3)
        joint = ts.Revolute if kind == "r" else ts.Prismatic
        model.add(joint(f"j{k}", before, body, point=point, axis=random.normal(size=3)))
        before, point = body, point + random.normal(size=3) * 0.5
    return model, ts.compile(model, "relative")


def test_stops_at_half_a_turn_hide_no_pose():
    """All poses between the stops are found, also where the way there would lead past a stop."""
    model, dynamics = robot("rrrrr", 4)
    H = dynamics.poses(np.random.default_rng(1).uniform(-3.14, 3.14, (150, 5)))[:, -1]
    found = ts.assemble(model, {"b4.pose": H}, limits={f"j{k}": (-np.pi, np.pi) for k in range(5)})
    np.testing.assert_allclose(dynamics.poses(found.q)[:, -1], H, atol=1e-10)
    assert np.abs(found.q).max() < np.pi + 1e-9


@pytest.mark.parametrize("kinds, seed", [("rpprpp", 1), ("prrprr", 1)])
def test_least_squares_end_at_a_least_square(kinds, seed):
    """Targets far out of reach, and weights: another method finds nothing better nearby."""
    model, dynamics = robot(kinds, seed)
    turned, weights, H = Rotation.from_rotvec((0.5, -1.5, 1.0)), np.array([1, 1, 1, 3, 3, 3]), np.eye(4)
    H[:3, :3], H[:3, 3] = turned.as_matrix(), (12, 8, -16)
    found = ts.assemble(model, {"b5.pose": H}, least_squares=True, weights={"b5.pose": weights})

    def off(q):
        there = dynamics.poses(q)[-1]
        turn = (turned.inv() * Rotation.from_matrix(there[:3, :3])).as_rotvec()
        return weights * np.concatenate([(there - H)[:3, 3] / dynamics.system.length, turn])

    assert found.residual == pytest.approx(np.linalg.norm(off(found.q)), rel=1e-9) and found.residual > 0.1
    other = least_squares(off, found.q, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert found.residual < np.linalg.norm(other.fun) * (1 + 1e-7)


def test_signals_that_are_no_number_somewhere_do_no_harm():
    """The distance of the tip from a circle, by a root that is none outside."""
    model = arm()
    tip = model["rod1"].point((0.4, 0, 0))
    inside = {"inside": np.sqrt(1.0 - tip[0] ** 2 - tip[1] ** 2)}
    found = ts.assemble(model, {"inside": 0.6}, signals=inside, start={"hinge0": 0.2, "hinge1": 2.5})
    x, y = (found.poses["rod1"] @ (0.4, 0, 0, 1))[:2]
    assert np.hypot(x, y) == pytest.approx(0.8, abs=1e-10)
    with pytest.raises(ts.AssemblyError, match="out of reach|beyond assembly"):
        ts.assemble(model, {"inside": 2.0}, signals=inside, starts=3)


@pytest.mark.parametrize("formulation", ["relative", "absolute"])
def test_orientations_and_balls(formulation):
    model = ts.Model("ball")
    bar = model.body("bar", mass=1.0, inertia=(0.1, 0.2, 0.3), at=(1, 0, 0))
    model.add(ts.Spherical("ball", model.ground, bar, point=(0, 0, 0)))
    turn = np.array(ts.quantity.orientation((0.4, -1.2, 0.8), "r", "test"))
    by_matrix = ts.assemble(model, {"bar.rotation": turn}, formulation=formulation)
    np.testing.assert_allclose(by_matrix.poses["bar"], np.block([[turn, turn[:, :1]], [0, 0, 0, 1]]), atol=1e-12)
    by_vector = ts.assemble(model, {"bar.rotation": (0.4, -1.2, 0.8)}, formulation=formulation)
    np.testing.assert_allclose(by_vector.poses["bar"], by_matrix.poses["bar"], atol=1e-12)
    long = np.array((0.4, -1.2, 0.8)) * (
        1 - 2 * np.pi / np.linalg.norm((0.4, -1.2, 0.8))
    )  # the other way round, 4.8 rad
    for vector in ((0.4, -1.2, 0.8), long):
        by_joint = ts.assemble(model, {"ball": vector}, formulation=formulation)
        np.testing.assert_allclose(by_joint.poses["bar"], by_matrix.poses["bar"], atol=1e-12)
    aimed = ts.assemble(model, {"bar.position": turn[:, 0]}, formulation=formulation)
    np.testing.assert_allclose(aimed.poses["bar"][:3, 3], turn[:, 0], atol=1e-12)
    assert aimed.freedom == 1  # about its own axis


@pytest.mark.parametrize("count", [1, 3, 4])
def test_any_number_of_quaternions_are_rotations(count):
    angles = np.linspace(0.1, 0.4, count)
    turned = np.stack([np.cos(angles / 2), 0 * angles, 0 * angles, np.sin(angles / 2)], axis=1)
    found = ts.assemble(arm(), {"rod0.rotation": turned, "hinge1": 0.2})
    np.testing.assert_allclose(found.coordinates["hinge0"], angles, atol=1e-12)


def test_targets_are_met_at_a_time_and_with_parameters():
    model = ts.Model("lift", gravity=None)
    size = model.parameter("size", 1.0)
    bar = model.body("bar", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    lift = model.add(ts.Prismatic("lift", model.ground, bar, axis="z"))
    model.add(ts.Drive("rise", joint=lift, value=size * ts.time))
    found = ts.assemble(model, {}, time=2.0, parameters={"size": 3.0})
    assert found.coordinates["lift"] == pytest.approx(6.0, abs=1e-12)


@pytest.mark.parametrize(
    "given, told",
    [
        ({"targets": {"hing0": 1.0}}, "nothing called 'hing0' to aim at. Did you mean 'hinge0'"),
        ({"targets": {"hinge0[1]": 1.0}}, "joint 'hinge0' has 1 coordinates"),
        ({"targets": [1.0]}, "targets must be a dictionary"),
        ({"targets": {"hinge0": np.nan}}, "target 'hinge0': finite numbers are needed"),
        ({"targets": {"tip": (1, 2)}}, "target 'tip': 3 numbers are needed"),
        ({"targets": {"rod0.pose": np.eye(3)}}, "a pose is a 4x4 matrix"),
        ({"targets": {"rod0.pose": np.eye(4) + np.eye(4, k=-1)}}, "the last row of a pose is 0, 0, 0, 1"),
        ({"targets": {"rod0.rotation": 2 * np.eye(3)}}, "not a rotation"),
        ({"targets": {"rod0.rotation": np.zeros(4)}}, "not a rotation"),
        ({"targets": {"rod0.rotation": np.eye(4)}}, "a rotation is a 3x3 matrix"),
        ({"targets": {"hinge0": [1.0, 2.0], "hinge1": [1.0, 2.0, 3.0]}}, "do not fit together"),
        ({"targets": {"hinge0": [1.0, 2.0]}, "modes": True}, "ask for one configuration at a time"),
        ({"targets": {"hinge0": 1.0}, "modes": True}, "the targets leave 1 degrees of freedom"),
        ({"targets": {"hinge0": 1.0}, "modes": True, "least_squares": True}, "give one of them"),
        ({"targets": {"hinge0": 1.0}, "weights": {"hinge1": 1.0}}, "weights must be numbers by the names of targets"),
        ({"targets": {"hinge0": 1.0}, "weights": {"hinge0": -1.0}}, "weight of 'hinge0' must be positive"),
        ({"targets": {"hinge0": 1.0}, "limits": {"hinge0": (1.0, 0.0)}}, "the lower one first"),
        ({"targets": {"hinge0": 1.0}, "limits": {"hinge0": {"low": 0.0}}}, "two numbers, the lower one first"),
        ({"targets": {"hinge0": 1.0}, "limits": {"tip": (0.0, 1.0)}}, "'tip' is not the coordinate of a joint"),
        ({"targets": {"hinge0": 1.0}, "start": 3}, "start must be values by name"),
        ({"targets": {"hinge0": 1.0}, "start": {"tip": (1, 0, 0)}}, "start: unknown 'tip'"),
        ({"targets": {"hinge0": 1.0}, "time": [0.0, 1.0]}, "assemble: time must be a finite number"),
        ({"targets": {"hinge0": 1.0}, "starts": -1}, "starts must be a whole number"),
        ({"targets": {"speed": 1.0}, "signals": {"speed": None}}, "must be a signal of positions"),
    ],
)  # fmt: skip
def test_bad_requests_are_refused(given, told):
    model = arm()
    if "signals" in given:
        given = given | {"signals": {"speed": model["hinge0"].rate[0]}}
    with pytest.raises(ts.OptionError, match=told):
        ts.assemble(model, **given)
