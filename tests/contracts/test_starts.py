"""Runs that start elsewhere: by name, at a former result, at a state of a simulation."""

import pickle

import casadi as ca
import numpy as np
import pytest
from models import four_bar

import torsor as ts
from torsor.cli import status_of

FORMULATIONS = ("absolute", "relative", "woronetz", "hamiltonian")


def arm(knee=0.0, rate=0.0):
    """Two rods and a ball joint, with a state that pushes."""
    model = ts.Model("arm", gravity=(0, 0, -9.81))
    upper = model.body("upper", mass=1.0, inertia=(0.1, 0.1, 0.02), at=(0.5, 0, 0))
    lower = model.body("lower", mass=0.7, inertia=(0.05, 0.06, 0.02), at=(1.3, 0, 0))
    hand = model.body("hand", mass=0.2, inertia=(0.01, 0.01, 0.02), at=(1.7, 0, 0))
    model.add(ts.Revolute("shoulder", model.ground, upper, point=(0, 0, 0), axis=(0, 1, 0)))
    elbow = model.add(ts.Revolute("knee", upper, lower, point=(1, 0, 0), axis="z", start=knee, start_rate=rate))
    model.add(ts.Spherical("wrist", lower, hand, point=(1.6, 0, 0)))
    heat = model.state("heat", rate=lambda x: 2.0 - x, start=0.5)
    model.add(ts.JointForce("push", elbow, value=heat))
    return model


def middle_of_the_rocker(angle):
    """Where the rocker's middle is, by the circles on which its end lies, in the assembly of the reference position."""
    B, D = np.array([0.2, 0.5]), np.array([1.0, 0.0])
    coupler, rocker = np.hypot(1.0, 0.3), np.hypot(0.2, 0.8)
    B = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]) @ B  # about y: from z to x
    far = np.linalg.norm(D - B)
    along, e = (coupler**2 - rocker**2 + far**2) / (2 * far), (D - B) / far
    C = B + along * e + np.sqrt(coupler**2 - along**2) * np.array([-e[1], e[0]])
    return (C + D) / 2


def first(model, start, **given):
    """A result at its start."""
    return ts.simulate(model, 0.1, outputs=1, start=start, **given).isel(time=0)


@pytest.mark.parametrize("formulation", ["relative", "hamiltonian"])
def test_values_by_name_are_those_that_a_model_would_tell(formulation):
    told = ts.simulate(arm(knee=0.4, rate=2.0), 0.5, outputs=5, formulation=formulation)
    asked = ts.simulate(
        arm(), 0.5, outputs=5, formulation=formulation, start={"knee": 0.4, "knee.rate": 2.0, "heat": 0.5}
    )
    for name in ("position", "rotation", "velocity", "coordinate", "rate", "heat"):
        assert np.abs(told[name] - asked[name]).max() < 1e-8, name
    assert asked.attrs["start_changes"] == "[]"


def test_every_coordinate_and_rate_can_be_asked_for():
    """Of ball joints too, in part or as a whole, and all at once."""
    data = first(arm(), {"shoulder": -0.2, "wrist": (0.1, 0.2, -0.3), "wrist.rate": (1, 2, 3), "heat": 4.0})
    assert np.allclose(data.coordinate, [-0.2, 0, 0.1, 0.2, -0.3], atol=1e-14)
    assert np.allclose(data.rate, [0, 0, 1, 2, 3], atol=1e-13) and data.heat == 4.0
    rates = np.arange(5.0)
    data = first(arm(), {"coordinates": {"wrist[1]": 0.5}, "rates": rates})
    assert np.allclose(data.coordinate, [0, 0, 0, 0.5, 0], atol=1e-14) and np.allclose(data.rate, rates, atol=1e-13)


def test_a_state_that_is_a_vector_is_named_as_a_whole():
    model = arm()
    model.state("filter", rate=lambda x: -x, start=[1.0, 2.0])
    for start in ({"filter": [3.0, 4.0]}, {"filter[0]": 3.0, "filter[1]": 4.0}):
        assert np.array_equal(ts.Simulation(model, start=start)["filter"], [3.0, 4.0])
    data = ts.study(model, 0.1, start={"filter": [[3.0, 4.0], [5.0, 6.0]]}, reduce="last")
    np.testing.assert_allclose(data["filter[1]"], np.exp(-0.1) * np.array([4.0, 6.0]), rtol=1e-8)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_loops_are_closed_with_what_is_asked_for(formulation):
    """The crank stands and turns as asked for; the rest follows: |BC| is as long as ever, and so for velocities."""
    data = first(four_bar(), {"A": 0.3, "A.rate": 2.0}, formulation=formulation)
    assert data.coordinate[0] == pytest.approx(0.3, abs=1e-12) and data.rate[0] == pytest.approx(2.0, abs=1e-12)
    assert data.position_drift < 1e-12 and data.velocity_drift < 1e-12
    other = first(four_bar(), {"D": float(data.coordinate[3]), "D.rate": float(data.rate[3])})
    assert np.abs(other.coordinate - data.coordinate).max() < 1e-10 and np.abs(other.rate - data.rate).max() < 1e-10


def test_a_mechanism_is_led_to_what_is_asked_for_on_its_own_assembly():
    """Not to the other one, in which the rocker stands on the other side; wherever the crank is."""
    sim = ts.Simulation(four_bar())
    for angle in (*np.linspace(-3.1, 3.1, 9), -5.0, 6.5, 20.0):
        sim.reset({"A": angle})
        assert sim.coordinates["A"] == pytest.approx(angle, abs=1e-12)
        assert np.allclose(sim["link2.position"][[0, 2]], middle_of_the_rocker(angle), atol=1e-9), angle


@pytest.mark.parametrize("joint", "ABCD")
def test_a_little_is_not_nothing(joint):
    assert first(four_bar(), {joint: 3e-8}).coordinate["ABCD".index(joint)] == pytest.approx(3e-8, abs=1e-13)


def test_a_model_keeps_the_start_of_a_joint_in_a_loop():
    for angle in (0.4, -2.4, 4.0):
        info = ts.info(four_bar(A={"start": angle}))
        data = first(four_bar(A={"start": angle}), None)
        assert data.coordinate[0] == pytest.approx(angle, abs=1e-12) and info["start_changes"] == []
        assert np.allclose(data.position.values[2, [0, 2]], middle_of_the_rocker(angle), atol=1e-9), angle
    rocker = float(data.coordinate[3])
    data = first(four_bar(D={"start": rocker}), None)  # the last joint of the loop; two cranks have the same rocker
    assert data.coordinate[3] == pytest.approx(rocker, abs=1e-12) and data.position_drift < 1e-12
    told = ts.info(four_bar(A={"start": 0.3}, B={"start": 0.3}))["start_changes"]
    assert "no assembly with all requested coordinates was found" in told[0]
    assert told[1].startswith("A: 0.3 became") and told[2].startswith("B: 0.3 became")


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_what_hangs_on_a_loop_keeps_its_coordinates(formulation):
    model = four_bar()
    tool = model.body("tool", mass=3.0, inertia=(0.02, 0.05, 0.04), at=(1.2, 0, 1.8))
    model.add(ts.Revolute("hinge", model["link1"], tool, point=(0.7, 0, 0.65), axis=(0, 1, 0), start=0.1))
    found = first(model, {"D": 0.2}, formulation=formulation).coordinate
    assert found.sel(joint_coordinate="D") == pytest.approx(0.2, abs=1e-9)
    assert found.sel(joint_coordinate="hinge") == pytest.approx(0.1, abs=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_former_result_goes_on(formulation):
    """A motion that time does not occur in, from its middle; found in one formulation, gone on with in another."""
    for model in (four_bar(), arm()) if formulation == "relative" else (four_bar(),):
        whole = ts.simulate(model, 1.0, outputs=np.linspace(0, 1, 5), formulation="relative")
        rest = ts.simulate(
            model, 0.5, outputs=np.linspace(0, 0.5, 3), formulation=formulation, start=whole.isel(time=2)
        )
        for name in ("position", "rotation", "velocity", "coordinate", "rate"):
            assert np.abs(rest[name].values - whole[name].values[2:]).max() < 1e-7, name


def test_a_result_between_two_outputs_is_a_start():
    """Interpolated rotations are none; what they are near is taken, and brought onto the constraints."""
    whole = ts.simulate(four_bar(), 0.4, outputs=np.linspace(0, 0.4, 11))
    with pytest.warns(UserWarning, match="does not satisfy the constraints: link0.position: changed by"):
        data = first(four_bar(), whole.interp(time=0.26))
    exact = ts.simulate(four_bar(), 0.26, outputs=[0.0, 0.26]).isel(time=-1)
    assert np.abs(data.position - exact.position).max() < 0.01 and data.position_drift < 1e-12
    one = whole.isel(time=-1)
    with pytest.raises(ts.OptionError, match="start: rotation of 'link0' is not a rotation"):
        first(four_bar(), one.assign(rotation=0.5 * one.rotation))


def test_a_ball_joint_that_is_turned_by_more_than_half_a_turn():
    """(0, 0, 4) is the rotation (0, 0, 4 − 2π), and nothing to be warned of."""
    data = first(arm(), {"wrist": (0, 0, 4.0)})
    assert np.allclose(data.coordinate[2:], [0, 0, 4 - 2 * np.pi], atol=1e-12) and data.attrs["start_changes"] == "[]"


def test_a_state_of_a_simulation_starts_another_one(tmp_path):
    sim = ts.Simulation(arm(), method="rkmk4", step=0.001)
    sim.advance(0.3)
    sim.state.save(tmp_path / "arm.state")
    other = ts.Simulation(arm(), formulation="absolute", start=ts.load_state(tmp_path / "arm.state"))
    assert other.time == 0.0 and np.allclose(other["position"], sim["position"], atol=1e-13)
    assert ts.Simulation(arm(), start=sim)["heat"] == other["heat"] == sim["heat"]
    sim.advance(0.2)
    other.advance(0.2)
    assert np.allclose(other.coordinates, sim.coordinates, atol=1e-8) and other["heat"] == pytest.approx(sim["heat"])
    other.reset()
    assert other["heat"] == pytest.approx(2.0 - 1.5 * np.exp(-0.3), abs=1e-9)


def test_a_start_is_what_it_was_when_it_was_given():
    """For copies, too, and where a simulation begins again at another time; so are parameters, for what is pickled."""
    given, other = {"knee": 0.3}, ts.Simulation(arm(), start={"knee": 0.3})
    data = ts.simulate(arm(), 0.1, outputs=1, start=given).isel(time=0)
    every = {"coordinates": data.coordinate.values.copy()}
    sims = [ts.Simulation(arm(), start=start) for start in (given, every, other, data)]
    given["knee"], every["coordinates"][:] = 1.0, 1.0
    other.advance(0.1)
    for sim in sims:
        twin = sim.copy()
        twin.reset()
        sim.reset(time=1.0)
        assert sim.coordinates["knee"] == pytest.approx(0.3) == twin.coordinates["knee"]
    model, values = arm(), {"size": 2.0}
    model.parameter("size", 1.0)
    sim, values["size"] = ts.Simulation(model, parameters=values), 3.0
    assert pickle.loads(pickle.dumps(sim)).time == 0.0  # it has a state of the same parameters


def test_assemblies_and_equilibria_are_starts():
    data = first(four_bar(), ts.assemble(four_bar(), {"A": 0.4}))
    assert data.coordinate[0] == pytest.approx(0.4, abs=1e-10) and not data.rate.any()
    model = four_bar()
    model.add(ts.TorsionSpring("spring", model["A"], stiffness=30.0, damping=1.0))
    data = ts.simulate(model, 1.0, outputs=4, start=ts.equilibrium(model))
    assert np.abs(data.coordinate - data.coordinate[0]).max() < 1e-9


def test_bodies_by_name_carry_what_hangs_on_them():
    model = ts.Model("drone")
    base = model.body("base", mass=2.0, inertia=(1, 1, 1), velocity=(1, 0, 0))
    load = model.body("load", mass=0.5, inertia=(0.1, 0.1, 0.1), at=(0, 0, -1))
    model.add(ts.Revolute("rope", base, load, point=(0, 0, 0), axis="x", start_rate=0.5))
    turned = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    data = first(model, {"base.position": (0, 3, 4), "base.rotation": turned, "rope": np.pi / 2})
    assert np.allclose(data.position, [[0, 3, 4], [-1, 3, 4]]) and np.allclose(data.velocity[0], [1, 0, 0])
    assert data.rate == pytest.approx(0.5)
    assert np.allclose(first(model, {"base.velocity": (0, 0, 2)}).velocity[0], [0, 0, 2])


@pytest.mark.parametrize("time", [0.0, 2.0])
@pytest.mark.parametrize("named", ["rotation", "position"])
def test_a_body_on_a_hinge_carries_what_hangs_on_it(named, time):
    """Joints that hang on it have the coordinates that are asked for, or those of the model; also on a base that is driven."""
    model = ts.Model("crane", gravity=(0, 0, -9.81))
    base = model.body("base", mass=1.0, inertia=(1, 1, 1))
    turn = model.add(ts.Revolute("turn", model.ground, base, axis="y"))
    model.add(ts.Drive("drive", turn, 3.0 * ts.time))
    bodies = [base, *[model.body(f"b{k}", mass=1.0, inertia=(1, 1, 1), at=(0, 0, -k)) for k in (1, 2, 3)]]
    for k, start in enumerate((None, 0.3)):
        model.add(ts.Revolute(f"h{k}", *bodies[k : k + 2], point=(0, 0, -k), axis="y", start=start))
    model.add(ts.Spherical("wrist", *bodies[2:], point=(0, 0, -2), start=(0.1, 0.2, 0.3)))
    sim, other = ts.Simulation(model), ts.Simulation(model)
    for more in ({}, {"h1": -0.5}, {"wrist[0]": 0.4}):
        other.reset({"h0": 0.7} | more, time=time)
        sim.reset({f"b1.{named}": other[f"b1.{named}"]} | more, time=time)
        np.testing.assert_allclose(sim.coordinates, other.coordinates, atol=1e-9)
    np.testing.assert_allclose(sim.coordinates, [3 * time, 0.7, 0.3, 0.4, 0.2, 0.3], atol=1e-9)


def test_bodies_of_a_loop_are_where_they_are_asked_to_be():
    """The coupler's place alone tells how the whole loop stands; a place that it cannot reach is changed, and told."""
    there = first(four_bar(), {"A": 0.7})
    found = first(four_bar(), {"link1.position": there.position.values[1]})
    assert np.abs(found.coordinate - there.coordinate).max() < 1e-9 and found.attrs["start_changes"] == "[]"
    with pytest.warns(UserWarning, match="link1.position: changed by up to"):
        first(four_bar(), {"link1.position": (0.0, 1.0, 0.0)})


def test_what_hangs_on_a_loop_is_as_the_model_says_where_a_body_is_named():
    """Of the loop, another one of it, or what hangs on it."""
    model = four_bar()
    for k in (1, 2):
        bob = model.body(f"bob{k}", mass=0.3, inertia=(0.01, 0.01, 0.01), at=(0.7, 0, 0.2))
        model.add(ts.Spherical(f"ball{k}", model[f"link{k}"], bob, point=(0.7, 0, 0.5), start=(0.1, 0.2, 0.3 * k)))
    one, other = ts.Simulation(model), ts.Simulation(model)
    one.reset({"A": 0.3})
    for names in (["link1.position"], ["link2.rotation"], ["bob1.position", "bob1.rotation"]):
        other.reset({name: one[name] for name in names})
        np.testing.assert_allclose(other.coordinates, one.coordinates, atol=1e-9)


def test_velocities_that_roll_are_kept_and_others_are_not():
    model = ts.Model("wheel", gravity=(0, 0, -9.81))
    disk = model.body("disk", mass=1.0, inertia=(0.25, 0.5, 0.25), at=(0, 0, 1))
    model.add(ts.RollingDisk("floor", model.ground, disk, radius=1.0, axis="y"))
    rolling = {"disk.velocity": (2.0, 0, 0), "disk.angular_velocity": (0, 2.0, 0)}
    assert np.allclose(first(model, rolling).velocity, [[2.0, 0, 0]], atol=1e-12)
    with pytest.warns(UserWarning, match="does not satisfy the constraints: disk.*velocity: changed by up to"):
        data = first(model, rolling | {"disk.angular_velocity": (0, 1.0, 0)})
    assert data.velocity_drift < 1e-12


def test_locks_hold_what_they_find_at_the_start():
    model = arm()
    model.add(ts.Lock("lock", model["knee"]))
    data = ts.simulate(model, 0.3, outputs=3, start={"knee": 0.7})
    assert np.allclose(data.coordinate.sel(joint_coordinate="knee"), 0.7, atol=1e-9)


def test_large_trees_start_by_their_joints():
    model = ts.cases.load("chain", n=70)
    sim = ts.Simulation(model, start={"joint3": 0.5, "joint4.rate": -1.0})
    assert sim.coordinates["joint3"] == 0.5 and sim.rates["joint4"] == -1.0 and sim.coordinates["joint5"] != 0.0
    sim.reset({"joint3": 0.7}, time=2.0)
    assert sim.time == 2.0 and sim.coordinates["joint3"] == 0.7
    with pytest.raises(ts.OptionError, match="70 bodies run through tables of shared code, which take coordinates"):
        sim.reset({"link3.velocity": (0, 0, 1)})


def test_a_simulation_begins_at_any_time():
    model = ts.Model("crank")
    wheel = model.body("wheel", mass=1.0, inertia=(1, 1, 1))
    axle = model.add(ts.Revolute("axle", model.ground, wheel, axis="z"))
    model.add(ts.Drive("drive", axle, value=ca.sin(ts.time)))
    sim = ts.Simulation(model)
    sim.reset(time=2.0)
    sim.advance(0.5)
    assert sim.time == 2.5 and sim.coordinates["axle"] == pytest.approx(np.sin(2.5), abs=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_drives_lead_to_where_they_are_at_a_later_time(formulation):
    """Over several turns, with what hangs on them as the model says; in loops on the assembly of the model's start."""
    model = arm(knee=0.3, rate=-0.4)
    model.add(ts.Drive("drive", model["shoulder"], 3 * ts.time + ca.sin(ts.time)))
    sim = ts.Simulation(model, formulation)
    for t in (0.5, 7.0, -9.0):
        sim.reset(time=t)
        np.testing.assert_allclose(sim.coordinates, [3 * t + np.sin(t), 0.3, 0, 0, 0], atol=1e-9)
        np.testing.assert_allclose(sim.rates, [3 + np.cos(t), -0.4, 0, 0, 0], atol=1e-9)
    model = four_bar()
    model.add(ts.Drive("drive", model["A"], 1.3 * ts.time))
    sim = ts.Simulation(model, formulation)
    for start in (None, {"A": 1.3 * 1.2}):
        sim.reset(start, time=1.2)
        np.testing.assert_allclose(sim["link2.position"][[0, 2]], middle_of_the_rocker(1.3 * 1.2), atol=1e-9)


@pytest.mark.parametrize("imposed", ["motion", "slide"])
def test_what_hangs_on_an_imposed_motion_is_as_the_model_says_at_any_time(imposed):
    model = ts.Model("carried", gravity=(0, 0, -9.81))
    base = model.body("base", mass=1.0, inertia=(1, 1, 1))
    bob = model.body("bob", mass=1.0, inertia=(1, 1, 1), at=(0, 0, -1))
    ball = model.body("ball", mass=1.0, inertia=(1, 1, 1), at=(0, 0, -2))
    if imposed == "motion":
        model.add(ts.Motion("lead", base, at=(ca.sin(ts.time), 0, 0), rotation=ca.vertcat(0, 0.8 * ts.time, 0)))
    else:
        model.add(ts.Prismatic("slide", model.ground, base, axis="x"))
        model.add(ts.Holonomic("lead", base.position[0] - ca.sin(ts.time)))
    model.add(ts.Revolute("hinge", base, bob, point=(0, 0, -0.5), axis="y", start=0.3, start_rate=-0.4))
    model.add(ts.Spherical("wrist", bob, ball, point=(0, 0, -1.5), start=(0.1, 0.2, 0.3)))
    sim = ts.Simulation(model)
    for t in (0.5, 2.0):
        sim.reset(time=t)
        np.testing.assert_allclose(sim["base.position"], [np.sin(t), 0, 0], atol=1e-9)
        np.testing.assert_allclose(np.asarray(sim.coordinates)[-4:], [0.3, 0.1, 0.2, 0.3], atol=1e-9)
        np.testing.assert_allclose(np.asarray(sim.rates)[-4:], [-0.4, 0, 0, 0], atol=1e-9)


def test_what_stands_on_a_moving_ground_goes_with_it():
    model = ts.Model("belt")
    belt = model.add(ts.Ground("belt", at=(0.4 * ts.time, 0, 0)))
    block = model.body("block", mass=1.0, inertia=(1, 1, 1))
    model.add(ts.Prismatic("slide", belt, block, axis="y", start=0.3, start_rate=0.1))
    sim = ts.Simulation(model)
    sim.reset({"slide": 0.5}, time=100.0)
    assert np.allclose(sim["block.position"], (40, 0.5, 0), atol=1e-9)
    assert np.allclose(sim["block.velocity"], (0.4, 0.1, 0), atol=1e-12)


@pytest.mark.parametrize("formulation", ["relative", "woronetz"])
def test_a_run_that_started_elsewhere_is_resumed(formulation, tmp_path):
    from torsor.run import runner

    given = {"outputs": 4, "formulation": formulation, "start": {"A": 0.5, "A.rate": 3.0}}
    whole, march, calls = ts.simulate(four_bar(), 0.4, **given), runner.Runner._advance, []

    def interrupted(self, budget):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return march(self, min(budget, 5))

    runner.Runner._advance = interrupted
    try:
        with pytest.warns(UserWarning, match="interrupted"):
            ts.simulate(four_bar(), 0.4, checkpoint=str(tmp_path / "run"), **given)
    finally:
        runner.Runner._advance = march
    data = ts.resume(str(tmp_path / "run"), four_bar())
    assert np.array_equal(data.position, whole.position)


def test_the_command_line_starts_elsewhere(tmp_path, capsys):
    out = lambda name: str(tmp_path / name)
    assert status_of(["run", "cart-pole", "--until", "0.2", "--outputs", "2", "--out", out("a.nc")]) == 0
    assert status_of(["run", "cart-pole", "--until", "0.1", "--start", out("a.nc@0.1"), "--out", out("b.nc")]) == 0
    a, b = ts.load_result(out("a.nc")), ts.load_result(out("b.nc"))
    assert np.abs(a.position.values[-1] - b.position.values[-1]).max() < 1e-8

    assert status_of(["run", "cart-pole", "--until", "0.1", "--start", "hinge.rate=0.1", "--out", out("c.nc")]) == 0
    assert ts.load_result(out("c.nc")).rate.sel(joint_coordinate="hinge").values[0] == pytest.approx(0.1)
    for wrong, message in (
        (["--start", out("a.nc@0.15")], "no output at that time; the nearest is at"),
        (["--start", out("a.nc@x")], "'x' is no time"),
        (["--start", "A=b"], "'b' is no number"),
        (["--start", "Q=1"], "start: unknown 'Q'"),
        (["--start", out("none.nc")], "none.nc"),
    ):
        assert status_of(["run", "cart-pole", "--until", "0.1", *wrong]) == 2
        assert message in capsys.readouterr().err


def test_bad_starts_are_refused():
    model, data = arm(), ts.simulate(four_bar(), 0.1, outputs=2)
    for start, message in (
        ({"kne": 1.0}, "model 'arm': start: unknown 'kne'. Did you mean 'knee'. Known: shoulder"),
        ({"knee": np.nan}, "start: knee must be a finite number, got nan"),
        ({"wrist": 1.0}, r"start: wrist must be finite numbers of shape \(3,\), got 1.0"),
        ({"rates": [1.0]}, r"start: rates must be finite numbers of shape \(5,\)"),
        ({"upper.position": "x"}, r"start: upper.position must be finite numbers of shape \(3,\)"),
        ({"upper.rotation": 2 * np.eye(3)}, "start: upper.rotation must be a rotation: a 3x3 matrix, a quaternion"),
        (data, "start: give a result at one time, as in data.isel"),
        (data.isel(time=0), "start: it belongs to a model with other bodies: hand, link0"),
        (data[["energy"]].isel(time=0), r"start: not a result of a run at one time \(missing: position"),
        (data.isel(time=0).expand_dims(sweep=2), r"start: not a result of a run at one time \(several values"),
        (3.0, "start must be values by name"),
    ):
        with pytest.raises(ts.OptionError, match=message):
            ts.simulate(model, 0.1, start=start)
