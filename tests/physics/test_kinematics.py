"""Prescribed motions: closed forms of linkages, the same forces as a run and as inverse dynamics, virtual work, dead points."""

from functools import cache

import casadi as ca
import numpy as np
import pytest
from models import slider_crank
from scipy.interpolate import CubicSpline

import torsor as ts
from torsor.analysis.kinematics.spline import Spline


@cache  # what is compiled of a model is kept with it
@cache
def four_bar(a, b, c, d, angle=1.0):
    """Crank a from the origin, coupler b, rocker c about (d, 0), in the plane z = 0; drawn with the crank at an angle."""
    A = a * np.array([np.cos(angle), np.sin(angle)])
    far = np.array([d, 0.0]) - A
    s = np.linalg.norm(far)
    along = (b**2 - c**2 + s**2) / (2 * s)
    B = A + along * far / s + np.sqrt(b**2 - along**2) * np.array([-far[1], far[0]]) / s
    model = ts.Model("four-bar", gravity=(0, -9.81, 0))
    ends = [(0.0, 0.0), tuple(A), tuple(B), (d, 0.0)]
    before, names = model.ground, ("crank", "coupler", "rocker")
    for k, (p, q) in enumerate(zip(ends, ends[1:])):
        middle = (*(np.add(p, q) / 2), 0.0)
        body = model.body(names[k] + "_link", mass=1.0, inertia=(0.01, 0.05, 0.05), at=middle)
        model.add(ts.Revolute(names[k], before, body, point=(*p, 0), axis="z"))
        before = body
    model.add(ts.Revolute("pivot", before, model.ground, point=(d, 0, 0), axis="z"))
    return model, B


def of(data, what, name):
    return data[what].sel(joint_coordinate=name).values


def test_a_slider_crank_moves_as_its_closed_form():
    r, l, w = 0.2, 0.6, 20.0
    times = np.linspace(0, 0.5, 40)
    data = ts.kinematics(slider_crank(), {"shaft": w * ts.time}, times)
    c, s = np.cos(w * times), np.sin(w * times)
    root = np.sqrt(l**2 - (r * s) ** 2)
    speed = -r * s - r**2 * s * c / root
    pull = -r * c - (r**2 * (c**2 - s**2) * root**2 + (r**2 * s * c) ** 2) / root**3
    np.testing.assert_allclose(of(data, "coordinate", "bore"), r * c + root - r - l, atol=1e-12)
    np.testing.assert_allclose(of(data, "rate", "bore"), w * speed, atol=1e-11)
    np.testing.assert_allclose(of(data, "coordinate_acceleration", "bore"), w**2 * pull, atol=1e-9)
    np.testing.assert_allclose(of(data, "coordinate", "shaft"), w * times, atol=1e-12)  # over turns
    assert data.attrs["position_drift_max"] < 1e-12 and data.sizes["singular"] == 0


def test_a_four_bar_satisfies_the_equation_of_freudenstein():
    a, b, c, d = 1.0, 3.0, 2.5, 3.2
    model, B = four_bar(a, b, c, d)
    data = ts.kinematics(model, {"crank": np.linspace(0, 2 * np.pi, 60)})
    crank = 1.0 + of(data, "coordinate", "crank")
    rocker = np.arctan2(*(B - (d, 0))[::-1]) - of(data, "coordinate", "pivot")
    K = d / a, d / c, (a**2 - b**2 + c**2 + d**2) / (2 * a * c)
    np.testing.assert_allclose(K[0] * np.cos(rocker) - K[1] * np.cos(crank) + K[2], np.cos(crank - rocker), atol=1e-11)
    assert not data.velocity.values.any()  # a sweep is quasi-static
    np.testing.assert_allclose(data.drive_value[:, 0], of(data, "coordinate", "crank"), atol=1e-12)


def test_forces_are_those_of_a_run_with_the_same_drive():
    motion = lambda t: 3 * t + 0.5 * np.sin(4 * t)
    times, driven = np.linspace(0, 1, 11), slider_crank(angle=0.4)
    model = slider_crank(angle=0.4)
    driven.add(ts.Drive("motor", joint=driven["shaft"], value=motion))
    run = ts.simulate(driven, 1.0, times, formulation="relative", tolerance=1e-11)
    for data in (ts.kinematics(model, {"shaft": motion}, times), ts.kinematics(driven, times=times)):
        assert list(data.drive.values) == ["shaft"]
        np.testing.assert_allclose(data.drive_force[:, 0], run.multiplier.sel(constraint="motor[0]"), atol=1e-6)
        for name in ("position", "rotation", "velocity", "acceleration", "angular_acceleration", "energy"):
            np.testing.assert_allclose(data[name], run[name], atol=1e-6, err_msg=name)
        np.testing.assert_allclose(
            data.reaction_force.sel(joint="shaft"), run.reaction_force.sel(joint="shaft"), atol=1e-5
        )


def test_forces_of_all_joints_of_an_arm_are_its_inverse_dynamics():
    model = ts.cases.load("manipulator")
    dynamics, times = ts.compile(model, "relative"), np.linspace(0, 2, 9)
    names = dynamics.coordinates
    motions = {name: 0.3 * (k + 1) * ts.time + 0.1 * ts.time**2 for k, name in enumerate(names)}
    data = ts.kinematics(model, motions, times)
    q, v, a = (
        np.stack([of(data, what, n) for n in names], 1) for what in ("coordinate", "rate", "coordinate_acceleration")
    )
    need = dynamics.inverse_dynamics(q, v, a, times)
    np.testing.assert_allclose(data.drive_force, need, atol=1e-9 * np.abs(need).max())
    np.testing.assert_allclose(a[:, 1], 0.2, atol=1e-12)


def test_drives_do_the_work_that_the_energy_gains():
    """dE = τ dq in a sweep, and dE/dt = τ q̇ in motion: closed by quadrature over the way."""
    model, _ = four_bar(1.0, 3.0, 2.5, 3.2)
    x, weights = np.polynomial.legendre.leggauss(60)
    x, weights = 2.0 * (x + 1), 2.0 * weights
    slow = ts.kinematics(model, {"crank": np.array([0.0, *x, 4.0])})
    change = float(slow.potential_energy[-1] - slow.potential_energy[0])
    assert change == pytest.approx(weights @ slow.drive_force.values[1:-1, 0], abs=1e-9)
    fast = ts.kinematics(model, {"crank": lambda t: t**2 / 2}, np.array([0.0, *x, 4.0]))
    power = fast.drive_force.values[:, 0] * of(fast, "rate", "crank")
    assert float(fast.energy[-1] - fast.energy[0]) == pytest.approx(weights @ power[1:-1], abs=1e-6)


def test_arrays_are_splines_unless_their_rates_are_given():
    model, errors = slider_crank(), []
    exact = lambda t: np.sin(3 * t)
    for n in (21, 41):
        times = np.linspace(0, 1, n)
        given = ts.kinematics(
            model, {"shaft": exact(times)}, times, {"shaft": 3 * np.cos(3 * times)}, {"shaft": -9 * exact(times)}
        )
        true = ts.kinematics(model, {"shaft": exact}, times)
        np.testing.assert_allclose(given.drive_force, true.drive_force, atol=1e-9)
        spline = ts.kinematics(model, {"shaft": exact(times)}, times)
        errors.append(np.abs(spline.drive_force - true.drive_force).values[n // 4 : -n // 4].max())
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.3)  # second derivatives of a cubic spline: order 2


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 30])
def test_splines_are_those_of_another_program(n):
    random = np.random.default_rng(n)
    x, y = np.cumsum(random.uniform(0.1, 1, n)), random.standard_normal(n)
    at = np.linspace(x[0], x[-1], 40)
    for k, mine in enumerate(Spline(x, y)(at)):
        other = CubicSpline(x, y)(at, k) if n > 1 else (y[0] if k == 0 else 0) + 0 * at
        np.testing.assert_allclose(mine, other, atol=1e-11)


def test_a_rocker_ends_where_crank_and_coupler_are_in_line():
    a, b, c, d = 1.0, 3.0, 2.5, 3.2
    model, B = four_bar(a, b, c, d)
    assert ts.range_of_motion(model, "crank").turns  # Grashof: a + longest < the other two
    found = ts.range_of_motion(model, "pivot")
    angle = lambda s: np.pi - np.arccos((c**2 + d**2 - s**2) / (2 * c * d))
    now = np.arctan2(*(B - (d, 0))[::-1])
    expected = sorted(now - angle(s) for s in (b + a, b - a))
    assert [found.lower, found.upper] == pytest.approx(expected, abs=1e-8)
    assert "dead point" in found.lower_end and "'crank'" in found.lower_end
    wide = np.linspace(0, found.upper + 0.1, 20)
    with pytest.raises(
        ts.RunError, match=rf"cannot follow its drives beyond pivot = {found.upper:.6g}\d*: dead point"
    ) as error:
        ts.kinematics(model, {"pivot": wide})
    assert 0 < error.value.data.sizes["sweep"] < 20


def test_a_crank_that_is_too_long_ends_where_coupler_and_rocker_are_in_line():
    a, b, c, d = 2.0, 1.6, 1.5, 2.2
    model, _ = four_bar(a, b, c, d, angle=0.8)
    found = ts.range_of_motion(model, "crank")
    end = np.arccos((a**2 + d**2 - (b + c) ** 2) / (2 * a * d))
    assert [found.lower, found.upper] == pytest.approx([-end - 0.8, end - 0.8], abs=1e-8)


def test_a_slider_moves_between_its_dead_centres_even_from_one_of_them():
    for angle in (0.0, 0.4):
        model = slider_crank(angle=angle) if angle else slider_crank()
        end = 0.2 * np.cos(angle) + np.sqrt(0.36 - (0.2 * np.sin(angle)) ** 2)
        found = ts.range_of_motion(model, "bore")
        assert [found.lower, found.upper] == pytest.approx([0.4 - end, 0.8 - end], abs=1e-8)
        assert found.lower_end.endswith("strained by 'wrist', 'drive of bore'")


def test_a_dead_point_is_named_by_its_loop_where_something_else_is_free():
    model = slider_crank(0.2, 0.6, 0.7)
    arm = model.body("arm", mass=1.0, inertia=(0.01, 0.02, 0.02), at=(0, 0, 1))
    model.add(ts.Revolute("shoulder", model["piston"], arm, point=(0, 0, 0.5), axis="y"))
    found = ts.range_of_motion(model, "bore")
    for end in (found.lower_end, found.upper_end):
        assert "dead point" in end and "'shaft'" in end and "'shoulder'" not in end


def test_stops_end_a_motion():
    model = slider_crank(angle=0.5)
    model.add(ts.Limit("buffer", joint=model["shaft"], lower=-0.2, upper=0.6))
    found = ts.range_of_motion(model, "shaft")
    assert [found.lower, found.upper] == pytest.approx([-0.2, 0.6], abs=1e-8)
    assert found.upper_end == "stop 'buffer'" and not found.turns
    with pytest.raises(ts.RunError, match="beyond shaft = 0.6.*: stop 'buffer'"):
        ts.kinematics(model, {"shaft": np.linspace(0, 1, 10)})


def test_a_parallelogram_is_singular_where_it_lies_flat():
    model, _ = four_bar(1.0, 2.0, 1.0, 2.0, angle=1.0)
    data = ts.kinematics(model, {"crank": np.linspace(0, 4, 37)})
    assert data.singular_value.values.ravel() == pytest.approx([np.pi - 1.0], abs=1e-6)
    assert "can move while the drives stand" in str(data.singular_name.values[0])
    for count in (37, 41):  # past the flat positions, and with one exactly there
        turn = ts.kinematics(model, {"crank": np.linspace(-1.0, 2 * np.pi - 1.0, count)})
        for name, way in (("coupler", -1), ("rocker", 1), ("pivot", -1)):
            np.testing.assert_allclose(of(turn, "coordinate", name), way * of(turn, "coordinate", "crank"), atol=1e-6)
        assert turn.singular_value.values.ravel() == pytest.approx([-1.0, np.pi - 1.0, 2 * np.pi - 1.0], abs=1e-6)
    half = np.linspace(0, 2.0, 9)
    timed = ts.kinematics(model, {"crank": 2 * ts.time}, half)
    assert timed.singular_time.values == pytest.approx([(np.pi - 1) / 2], abs=1e-6)


def test_the_first_position_may_be_far_from_the_start():
    model = slider_crank(angle=0.4)
    far = ts.kinematics(model, {"shaft": np.array([40.0, 40.1])})
    assert of(far, "coordinate", "shaft") == pytest.approx([40.0, 40.1], abs=1e-11)
    flat = ts.kinematics(slider_crank(), {"bore": np.array([-0.1, -0.2])}, start={"shaft": 0.5})
    below = ts.kinematics(slider_crank(), {"bore": np.array([-0.1, -0.2])}, start={"shaft": -0.5})
    np.testing.assert_allclose(of(flat, "coordinate", "shaft"), -of(below, "coordinate", "shaft"), atol=1e-10)


def test_signals_are_recorded():
    model = slider_crank()
    height = model["rod"].point((0.1, 0, 0))[2]
    data = ts.kinematics(model, {"shaft": np.linspace(0, 1, 5)}, signals={"height": height})
    again = ts.kinematics(model, {"shaft": data.drive_value.sel(drive="shaft")})  # labelled arrays are arrays
    assert again.drive_force.equals(data.drive_force)
    expected = (data.position.sel(body="rod") + 0.1 * data.rotation.sel(body="rod", column="x").rename(row="axis")).sel(
        axis="z"
    )
    np.testing.assert_allclose(data.height, expected, atol=1e-13)


@pytest.mark.parametrize(
    "given, told",
    [
        ({"drives": {"shaf": 1.0}, "times": [0, 1]}, "'shaf' is not the coordinate of a joint.*Did you mean 'shaft'"),
        ({"drives": {"crank.position": 1.0}, "times": [0, 1]}, "not the coordinate of a joint"),
        ({"drives": {"shaft": 1.0}}, "give `times`, or an array"),
        ({"drives": {"shaft": [0, 1, 2]}, "times": [0, 1]}, "values of 'shaft' must be 2 finite numbers"),
        ({"drives": {"shaft": [0, np.nan]}}, "values of 'shaft' must be 2 finite numbers"),
        ({"drives": {"shaft": [[0], [1, 2]]}}, "give `times`, or an array"),
        ({"targets": {"shaft": []}, "actuators": "shaft"}, "targets: give at least one"),
        ({"drives": {"shaft": 1.0}, "times": [1, 0]}, "times must be finite numbers that increase"),
        ({"drives": {"shaft": 1.0}, "times": "now"}, "times must be finite numbers that increase"),
        ({"drives": {"shaft": 1.0}, "times": [0, 1], "rates": {"bore": [0, 0]}}, "rates: 'bore' is not driven"),
        ({"drives": {"shaft": ts.time}, "times": [0, 1], "rates": {"shaft": [0, 0]}}, "follow from the expression"),
        ({"drives": {"shaft": lambda t: 1 / t}, "times": [0, 1]}, "is not a number at"),
        ({"drives": {"shaft": ts.table([0, 1, 2], [0, 1, 0])(ts.time)}, "times": [0, 2]}, "take kind='cubic'"),
        ({"drives": {"shaft": lambda t: ca.fabs(t - 3)}, "times": [2, 4]}, "rate of its motion jumps by 2 per second at t = 3 s"),
        ({"drives": {"shaft": ts.time}, "times": [0, 1], "actuators": ["shaft"]}, "actuators belong to targets"),
        ({"drives": {}, "times": [0, 1]}, "1 of its degrees .* are not driven.*free to move: shaft.*with them crank, rod, piston$"),
        ({"drives": {"shaft": 0.1, "bore": 0.1}, "times": [0, 1]}, "cannot be driven|out of reach"),
        ({"drives": 3, "times": [0, 1]}, "drives must be motions of coordinates by name"),
    ],
)  # fmt: skip
def test_bad_motions_are_refused(given, told):
    with pytest.raises((ts.OptionError, ts.AssemblyError), match=told):
        ts.kinematics(slider_crank(angle=0.4), **given)


def test_drives_of_the_model_that_kink_are_refused():
    model = ts.Model("cart")
    rail = model.add(ts.Prismatic("rail", model.ground, model.body("cart", mass=1.0, inertia=(1, 1, 1)), axis="x"))
    model.add(ts.Drive("ramp", rail, ca.fmax(ts.time - 1, 0)))
    assert ts.kinematics(model, {}, [0.0, 0.5]).sizes["time"] == 2
    with pytest.raises(ts.ModelError, match="drive 'ramp': the rate of its motion jumps by 1 per second at t = 1 s"):
        ts.kinematics(model, {}, [0.0, 2.0])


def test_what_is_driven_already_and_what_rolls_is_refused():
    model = slider_crank()
    model.add(ts.Drive("motor", joint=model["shaft"], value=ts.time))
    with pytest.raises(ts.OptionError, match="'shaft' is driven by 'motor' of the model already"):
        ts.kinematics(model, {"shaft": 1.0}, [0, 1])
    with pytest.raises(ts.OptionError, match="'shaft' cannot move|is driven by 'motor'"):
        ts.range_of_motion(model, "shaft")
    with pytest.raises(ts.OptionError, match="constrains velocities alone"):
        ts.kinematics(ts.cases.load("snakeboard"), {}, [0, 1])
    with pytest.raises(ts.OptionError, match="is not the coordinate of a joint"):
        ts.range_of_motion(model, "crank.position")


def test_a_tool_follows_its_path_and_the_joints_take_the_forces():
    """A planar arm of two hinges whose tip runs along a line: closed forms of angles, torques as inverse dynamics has them."""
    model = ts.Model("arm", gravity=(0, -9.81, 0))
    ends, before = (0.0, 1.0, 1.8), model.ground
    for k in range(2):
        rod = model.body(f"rod{k}", mass=2.0, inertia=(0.01, 0.1, 0.1), at=((ends[k] + ends[k + 1]) / 2, 0, 0))
        model.add(ts.Revolute(f"hinge{k}", before, rod, point=(ends[k], 0, 0), axis="z"))
        before = rod
    signals, times = {"tip": rod.point((0.4, 0, 0))}, np.linspace(0, 1, 201)
    tip = np.stack([1.2 - 0.5 * times**2, 0.4 + 0.6 * times, 0 * times], axis=1)
    begin = {"hinge0": -0.2, "hinge1": 1.0}
    data = ts.kinematics(model, targets={"tip": tip}, times=times, signals=signals, start=begin)
    elbow = np.arccos(((tip**2).sum(axis=1) - 1.0 - 0.64) / 1.6)
    np.testing.assert_allclose(of(data, "coordinate", "hinge1"), elbow, atol=1e-10)
    names = ["hinge0", "hinge1"]
    q, v, a = (
        np.stack([of(data, what, n) for n in names], 1) for what in ("coordinate", "rate", "coordinate_acceleration")
    )
    dynamics = ts.compile(model, "relative")
    np.testing.assert_allclose(data.drive_force, dynamics.inverse_dynamics(q, v, a), atol=1e-9)
    J = dynamics.point_jacobian("rod1", (0.4, 0, 0), q)
    speed = np.stack([-times, 0.6 + 0 * times], axis=1)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", J, v)[:, :2], speed, atol=1e-5)  # of a spline: fourth order
    slow = ts.kinematics(model, targets={"tip": tip[::20]}, signals=signals, start=begin)
    np.testing.assert_allclose(of(slow, "coordinate", "hinge1"), elbow[::20], atol=1e-10)
    far = np.array([[1.2, 0.4, 0], [3.0, 0.0, 0.0]])
    with pytest.raises(ts.RunError, match="cannot be followed beyond 0.3219.*: out of reach") as error:
        ts.kinematics(model, targets={"tip": far}, signals=signals, start=begin)
    np.testing.assert_allclose(error.value.data.coordinate[0], slow.coordinate[0], atol=1e-10)
    with pytest.raises(ts.RunError, match="beyond 0.6.*: stop 'end'") as error:
        ts.kinematics(_stopped(), targets={"rail": [0.0, 0.3]}, times=[0.0, 1.0])
    assert error.value.data.time.values == [0.0]


def _stopped():
    model = ts.Model("cart")
    rail = model.add(ts.Prismatic("rail", model.ground, model.body("cart", mass=1.0, inertia=(1, 1, 1)), axis="x"))
    model.add(ts.Limit("end", rail, upper=0.2))
    return model


def test_poses_between_places_are_turned_evenly():
    """A tool that turns by large steps, on one assembly; loops name their actuators."""
    model = ts.cases.load("manipulator")
    dynamics = ts.compile(model, "relative")
    tool, q = dynamics.system.bodies[-1], np.linspace(0, 1.5, 4)[:, None] * (0.4, 0.3, -0.5) + (0.1, 0.2, 0.3)
    names = dynamics.coordinates
    data = ts.kinematics(model, targets={f"{tool}.pose": dynamics.poses(q)[:, -1]}, start=dict(zip(names, q[0])))
    np.testing.assert_allclose(np.stack([of(data, "coordinate", n) for n in names], 1), q, atol=1e-9)
    linkage = slider_crank(angle=0.4)
    with pytest.raises(ts.OptionError, match=r"name the driven coordinates, actuators"):
        ts.kinematics(linkage, targets={"bore": np.linspace(0, -0.1, 5)})
    way = ts.kinematics(linkage, targets={"bore": np.linspace(0, -0.1, 5)}, actuators="shaft")
    np.testing.assert_allclose(of(way, "coordinate", "bore"), np.linspace(0, -0.1, 5), atol=1e-11)
    for given, told in (
        ({"drives": {"shaft": 1.0}}, "or `targets`"),
        ({"actuators": ["piston"]}, "unknown coordinate 'piston'"),
    ):
        with pytest.raises(ts.OptionError, match=told):
            ts.kinematics(linkage, targets={"bore": np.zeros(3)}, **given)


@pytest.mark.parametrize("formulation", ["relative", "absolute"])
def test_a_ball_on_a_ground_that_moves_is_driven_as_in_a_run(formulation):
    """Rotation vectors as motions, in either kind of coordinates: the power of the drives is that of the energy and the ground."""
    model = ts.Model("ball", gravity=(0, 0, -9.81))
    car = model.add(ts.Ground("car", at=(0.2 * ca.sin(3 * ts.time), 0, 0.1 * ts.time**2)))
    bar = model.body("bar", mass=1.0, inertia=(0.1, 0.2, 0.3), at=(1, 0, 0))
    model.add(ts.Spherical("ball", car, bar, point=(0, 0, 0)))
    motions = {"ball[0]": 0.3 * ts.time, "ball[1]": 0.2 * ts.time**2, "ball[2]": -0.4 * ts.time}
    times = np.linspace(1, 2, 41)
    data = ts.kinematics(model, motions, times, formulation=formulation)
    np.testing.assert_allclose(of(data, "coordinate", "ball[2]"), -0.4 * times, atol=1e-12)
    slopes = np.array([0.3 + 0 * times, 0.4 * times, -0.4 + 0 * times])
    speed = np.array([0.6 * np.cos(3 * times), 0 * times, 0.2 * times])
    force = data.reaction_force.sel(joint="ball").values.T
    power = (data.drive_force.values.T * slopes).sum(axis=0) + (force * speed).sum(axis=0)
    gained = CubicSpline(times, data.energy.values)(times, 1)
    np.testing.assert_allclose(power[4:-4], gained[4:-4], atol=2e-5)


def test_the_nearest_assembly_to_a_point_off_its_path_is_the_nearest_of_a_sweep():
    model, _ = four_bar(1.0, 3.0, 2.5, 3.2)
    point = model["coupler_link"].point((0.5, 1.0, 0))
    path = ts.kinematics(model, {"crank": np.linspace(-0.5, 0.5, 2001)}, signals={"x": point[0], "y": point[1]})
    goal = np.array([float(path.x[900]) + 0.3, float(path.y[900]) + 0.2, 0.0])
    found = ts.assemble(model, {"trace": goal}, signals={"trace": point}, least_squares=True)
    far = np.hypot(path.x - goal[0], path.y - goal[1]).values
    assert np.linalg.norm(found.missing["trace"]) == pytest.approx(float(far.min()), abs=1e-6)
    assert found.coordinates["crank"] == pytest.approx(float(path.drive_value[int(far.argmin()), 0]), abs=1e-3)
