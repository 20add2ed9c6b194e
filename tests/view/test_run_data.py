"""Runs as the viewer gets them: poses decode to those of the result, long runs in parts, files within their bounds."""

import numpy as np
import pytest
import xarray as xr

import torsor as ts
from torsor.lie import pose_stacks
from torsor.scene.scene import scene
from torsor.viewer.applied_loads import applied_loads
from torsor.viewer.pack import unpack
from torsor.viewer.run_data import run_data, steady_quaternions


def spinning(frames, bodies=1, far=0.0):
    """Bodies that turn about (1, 1, 1) many times and move on a circle."""
    t = np.linspace(0, 20, frames)
    axis = np.full(3, 3**-0.5)
    q = np.column_stack([np.cos(3 * t), np.sin(3 * t)[:, None] * axis])
    R = np.repeat(pose_stacks.rotations(q)[:, None], bodies, axis=1)
    p = np.column_stack([np.cos(t) + far, np.sin(t), 0.1 * t])[:, None] + np.zeros((frames, bodies, 3))
    variables = {"position": (("time", "body", "axis"), p), "rotation": (("time", "body", "row", "column"), R)}
    return xr.Dataset(variables, {"time": t, "body": [f"b{k}" for k in range(bodies)]})


SCENE = {"size": 2.0, "joints": []}


def test_quaternions_never_change_their_side():
    q = steady_quaternions(spinning(4000)["rotation"].values)
    assert np.all(np.sum(q[1:] * q[:-1], axis=-1) > 0.99)


@pytest.mark.parametrize("far", [0.0, 1e4])
def test_precise_poses_are_within_a_millionth_of_the_size(far):
    data = spinning(50, far=far)
    poses = run_data(data, SCENE)["poses"]
    assert np.abs(unpack(poses["p"]) - data["position"].values).max() < 1e-6 * SCENE["size"]
    assert np.abs(pose_stacks.rotations(unpack(poses["q"])) - data["rotation"].values).max() < 1e-6


def test_long_runs_come_in_parts_that_join_without_a_gap():
    data = spinning(100_000, bodies=4)
    chunks = run_data(data, SCENE, "d16")["chunks"]
    assert [c["first"] for c in chunks] == list(range(0, 100_000, 2000)) and sum(c["frames"] for c in chunks) == 100_000
    p = np.concatenate([unpack(c["poses"]["p"]) for c in chunks])
    assert np.abs(p - data["position"].values).max() < 1e-5 * SCENE["size"]
    size = sum(len(x["data"]) for c in chunks for x in c["poses"].values())
    assert size < 100e6


def test_undefined_poses_stay_undefined():
    data = spinning(5)
    data["position"].values[2] = np.nan
    shown = unpack(run_data(data, SCENE, "d16")["poses"]["p"])
    assert np.isnan(shown[2]).all() and np.isfinite(shown[[0, 1, 3, 4]]).all()


def test_signals_and_reactions_of_a_result_are_those_of_the_page():
    model = ts.cases.load("pendulum")
    data = ts.simulate(model, 1.0, outputs=20, signals={"height": model.bodies[0].position[2]})
    import json

    run = run_data(data, json.loads(data.attrs["scene"]))
    shown = {s["name"]: unpack(s["values"]) for s in run["signals"]}
    assert np.allclose(shown["height"], data["height"]) and np.allclose(
        shown["energy"], data["energy"], rtol=1e-6, atol=1e-5
    )
    force = unpack(run["reactions"]["force"])
    assert np.allclose(force, data["reaction_force"], rtol=1e-6) and run["reactions"]["index"] == [0]


def test_loads_are_the_springs_and_motors_and_nothing_else():
    """A spring between two bodies, gravity, a hinge and a motor: k (l − l₀) on both, and the moment of the motor."""
    model = ts.Model("loads", gravity=(0, 0, -9.81))
    arm = model.body("arm", mass=2.0, inertia=(0.1, 0.2, 0.3), at=(1, 0, 0))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.2), at=(1, 0, -2), angular_velocity=(1, 2, 3))
    hinge = model.add(ts.Revolute("hinge", model.ground, arm, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.SpringDamper("spring", arm, bob, points=((1, 0, 0), (1, 0, -2)), stiffness=50.0, length=1.5))
    model.add(ts.JointForce("motor", hinge, 3.0))
    data = ts.simulate(model, 1.0, outputs=7)
    F, T = applied_loads(data, scene(model))
    apart = data["position"].values[:, 1] - data["position"].values[:, 0]
    length = np.linalg.norm(apart, axis=-1, keepdims=True)
    spring = 50.0 * (length - 1.5) * apart / length
    assert np.allclose(F, np.stack([spring, -spring], axis=1), atol=1e-6)
    assert np.allclose(T, [[0, 3.0, 0], [0, 0, 0]], atol=1e-6)
    heavy = ts.cases.load("four-bar")  # nothing but joints and gravity
    F, T = applied_loads(ts.simulate(heavy, 0.5, outputs=5), scene(heavy))
    assert not F.any() and not T.any()


def test_loads_are_unknown_where_reactions_are():
    case = ts.cases.load("snakeboard")  # its wheels have multipliers, and no reactions
    assert applied_loads(ts.simulate(case, 0.1, outputs=3), scene(case)) is None


def test_a_page_follows_a_simulation():
    from torsor.viewer.page_server import PageServer
    from torsor.viewer.viewable import data_of

    sim = ts.Simulation(ts.cases.load("pendulum"))
    with PageServer(data_of(sim, "view")) as page:
        with pytest.raises(ts.OptionError, match="does not show a torsor.Simulation"):
            page.update()
        page.simulation = sim
        sim.advance(0.1)
        page.update()
        page.update()  # too soon for a second picture
        import json

        (message,) = [json.loads(x) for x in page.news]
        assert message["time"] == pytest.approx(0.1)
        assert np.allclose(message["poses"][0][:3], sim.state.motion["position"][0])


def test_a_port_that_is_taken_is_refused_with_a_way_on():
    from torsor.viewer.page_server import PageServer

    with (
        PageServer({"name": "one"}) as page,
        pytest.raises(ts.OptionError, match="leave it out, and a free one is taken"),
    ):
        PageServer({"name": "two"}, page.server_address[1])
