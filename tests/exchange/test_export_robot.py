"""Models as URDF, MJCF and SDF files: read back they have the same accelerations; MuJoCo agrees; what is lost is named."""

import mujoco
import numpy as np
import pytest
from exchange_peer import Peer
from random_robots import accelerations, largest_difference, random_robot, starts_by_motion

import torsor as ts
from torsor.cli import status_of

# poses pass through quaternions or angles and back, 1e-16 each, and through some ten products: 1e-12 of the largest acceleration
ROUNDING = 1e-12


def arm():
    """Two hinges with all that files can say."""
    model = ts.Model("arm", gravity=(0, 0, -9.81), hints=False)
    upper = model.body(
        "upper", mass=2, inertia=(0.02, 0.03, 0.01), at=(0, 0, 0.3), shape=ts.shapes.box((0.1, 0.1, 0.6), colour="red")
    )
    lower = model.body("lower", mass=1, inertia=(0.01, 0.02, 0.02), at=(0.2, 0, 0.6))
    a = model.add(
        ts.Revolute("a", model.ground, upper, point=(0, 0, 0), axis="y", start=0.4, start_rate=-0.3, armature=0.05)
    )
    b = model.add(ts.Revolute("b", upper, lower, point=(0, 0, 0.6), axis="x", limits=(-1, 2), friction=0.1))
    model.add(ts.Spring("s", a, stiffness=3, damping=0.2, rest=0.1))
    model.add(ts.Coupling("c", joints=(b, a), coefficients=(1, -2), offset=0.3))
    model.add(ts.JointForce("f", b, 5 * model.input("u", 0.2)))
    model.add(ts.SpringDamper("lost", model.ground, lower, stiffness=2))
    model.expose("tip", lower.frame((0.2, 0, 0)))
    return model


@pytest.mark.parametrize("seed", range(2))
def test_mjcf_is_read_back_and_mujoco_agrees(seed, tmp_path):
    kinds = ("revolute", "prismatic", "universal", "cylindrical", "planar", "spherical", "none")
    model = random_robot(np.random.default_rng(seed), kinds, count=4)
    ts.export_robot(model, tmp_path / "robot.xml")
    back, expected = ts.read(tmp_path / "robot.xml"), accelerations(model)
    assert largest_difference(expected, accelerations(back.model, back.keyframes["start"])) < ROUNDING
    peer = Peer((tmp_path / "robot.xml").read_text())
    mujoco.mj_resetDataKeyframe(peer.model, peer.data, 0)
    mujoco.mj_forward(peer.model, peer.data)
    found = {body.name: np.concatenate(peer.body(body.name)[2:]) for body in model.bodies}
    assert largest_difference(expected, found) < 1e-10


def test_urdf_is_read_back_and_mujoco_agrees(tmp_path):
    model = random_robot(np.random.default_rng(3), ("revolute", "prismatic"), count=4, springs=False)
    notes = ts.export_robot(model, tmp_path / "robot.urdf")
    assert {n.element for n in notes if n.kind == "lost"} == {"gravity", "start of joints"}
    start, rate = starts_by_motion(model)
    back = ts.read(tmp_path / "robot.urdf", start=start, start_rate=rate, gravity=(0.3, -0.2, -9.81))
    assert largest_difference(accelerations(model), accelerations(back.model)) < ROUNDING
    here = ts.read(tmp_path / "robot.urdf", start=start, start_rate=rate)
    peer = Peer((tmp_path / "robot.urdf").read_text())
    peer.set(start, rate)
    found = {body.name: np.concatenate(peer.body(body.name)[2:]) for body in model.bodies}
    assert largest_difference(accelerations(here.model), found) < 1e-10


def test_sdf_is_read_back(tmp_path):
    model = random_robot(
        np.random.default_rng(4), ("revolute", "prismatic", "universal", "screw"), count=4, reverse=False
    )
    ts.export_robot(model, tmp_path / "robot.sdf")
    start, rate = starts_by_motion(model, lambda k: "_axis2" if k else "")
    back = ts.read(tmp_path / "robot.sdf", start=start, start_rate=rate)
    assert largest_difference(accelerations(model), accelerations(back.model)) < ROUNDING


@pytest.mark.parametrize("suffix", ["xml", "sdf"])
def test_loops_are_read_back(suffix, tmp_path):
    model = ts.cases.load("four-bar")
    notes = ts.export_robot(model, tmp_path / f"bar.{suffix}")
    back = ts.read(tmp_path / f"bar.{suffix}")
    key = back.keyframes.get("start")
    assert largest_difference(still(model), still(back.model)) < 1e-11
    assert key is not None or any("start" in n.element for n in notes)


def still(model):
    """Accelerations in the reference configuration, at rest."""
    compiled = ts.compile(model, "absolute")
    bodies = [np.concatenate([np.ravel(b._start_position), [0, 0, 0]]) for b in model.bodies]
    assert len(bodies) == len(model.bodies)
    a = np.asarray(compiled.accelerations(compiled.q, 0 * compiled.v)).reshape(-1, 6)
    return {b.name: a[k] for k, b in enumerate(model.bodies)}


def test_properties_go_to_each_format_and_what_is_lost_is_named(tmp_path):
    lost = {}
    for name in ("arm.urdf", "arm.xml", "arm.sdf"):
        lost[name] = {n.element: n.message for n in ts.export_robot(arm(), tmp_path / name) if n.kind == "lost"}
        assert "force 'lost' (SpringDamper)" in lost[name]
    assert {"armature of joint 'a'", "stiffness of joint 'a'", "start of joints"} < {*lost["arm.urdf"]}
    assert {"armature of joint 'a'", "input 'u'"} < {*lost["arm.sdf"]}
    assert {*lost["arm.xml"]} == {"force 'lost' (SpringDamper)"}
    options = {"limits": True, "friction": True}
    for name in lost:
        actuators = {} if name.endswith("sdf") else {"actuators": True}
        back = ts.read(tmp_path / name, **options, **actuators)
        model = back.model
        assert (model["b_limit"].lower, model["b_limit"].upper, model["b_friction"].normal) == (-1.0, 2.0, 0.1)
        assert back.sites["tip"].body == "lower" if name != "arm.urdf" else back.links["tip"].body == "lower"
        assert [s.kind for s in model["upper"].shape] == ["box"]
        q = {j.name: j.coordinate for j in model.joints}
        (relation,) = [c for c in model.constraints if type(c).__name__ == "Holonomic"]
        assert relation.name in ("c", "b_mimic") and len(q) == 2
        if actuators:
            assert list(model.declared_inputs) == ["u"]
    key = ts.read(tmp_path / "arm.xml", actuators=True).keyframes["start"]
    assert key["a"] == 0.4 and key["a.rate"] == -0.3 and key.inputs == {"u": 0.2}


def test_what_a_format_cannot_say_is_refused_and_nothing_is_written(tmp_path):
    model = ts.Model("m", hints=False)
    body = model.body("body", mass=1, inertia=(1, 1, 1))
    model.add(ts.Planar("slab", model.ground, body))
    with pytest.raises(ts.ModelError, match="joint 'slab': SDF has no joint of the motions slide, slide, hinge"):
        ts.export_robot(model, tmp_path / "m.sdf")
    with pytest.raises(ts.OptionError, match="the suffix '.step' says no format. Known formats: 'urdf', 'mjcf', 'sdf'"):
        ts.export_robot(model, tmp_path / "m.step")
    with pytest.raises(ts.OptionError, match="unknown format 'dae'"):
        ts.export_robot(model, tmp_path / "m.xml", format="dae")
    with pytest.raises(ts.ModelError, match="cannot write"):
        ts.export_robot(model, tmp_path / "nowhere" / "m.urdf")
    assert list(tmp_path.iterdir()) == []


def test_files_are_converted_in_all_directions(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ts.export_robot(arm(), "arm0.xml")
    names = ["arm0.xml", "arm1.yaml", "arm2.urdf", "arm3.sdf", "arm4.xml", "arm5.sdf", "arm6.urdf", "arm7.yaml"]
    for source, target in zip(names, names[1:]):
        assert status_of(["convert", source, target]) == 0
    assert [b.name for b in ts.read("arm7.yaml").model.bodies] == ["upper", "lower"]
    assert "armature of joint 'a'" in capsys.readouterr().out
    assert status_of(["convert", "arm1.yaml", "arm.docx"]) != 0
