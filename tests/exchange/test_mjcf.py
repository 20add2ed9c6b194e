"""MJCF files: what each element becomes, and MuJoCo's own accelerations of the same file."""

import casadi as ca
import mujoco
import numpy as np
import pytest
from exchange_peer import Peer

import torsor as ts
from torsor.elements.quantity import numbers
from torsor.exchange import read, read_mjcf
from torsor.exchange.massless_hinges import Gimbal, HingePair
from torsor.lie import se3

EVERYTHING = """
<mujoco model="every joint">
  <option gravity="0.3 0 -9.81"/>
  <default><joint damping="0.1"/></default>
  <worldbody>
    <body name="arm" pos="0 0 1" quat="1 0.2 0.1 0">
      <joint name="a" axis="0 1 0" stiffness="2" springref="30" ref="10"/>
      <geom type="box" size=".1 .2 .3" pos=".1 0 0"/>
      <body name="hand" pos="0.3 0 0.5">
        <joint name="u1" axis="1 0 0" pos="0 0 .1" stiffness="3"/><joint name="u2" axis="0 1 0" pos="0 0 .1"/>
        <geom type="capsule" size=".1 .2" pos="0 .1 0"/>
        <body name="finger" pos="0 0 .4">
          <joint name="c1" type="slide" axis="0 0 1" stiffness="4"/><joint name="c2" axis="0 0 -1"/>
          <geom type="ellipsoid" size=".1 .2 .05" pos=".1 0 0"/>
        </body>
        <body name="hip" pos=".2 0 .4">
          <joint name="s1" axis="0 0 1"/><joint name="s2" axis="0 1 0" stiffness="2"/><joint name="s3" axis="1 0 0"/>
          <geom type="ellipsoid" size=".1 .2 .05" pos=".1 0 0"/>
        </body>
      </body>
    </body>
    <body name="foot" pos="-1 0 0">
      <joint name="k1" axis="0 1 0" pos="0 0 .08"/><joint name="k2" axis="1 0 .5" pos=".1 0 .04" stiffness="1"/>
      <geom type="box" size=".1 .2 .3" pos=".1 0 0"/>
      <body name="toe" pos="0 0.1 -.4">
        <joint name="t1" axis="0 1 0"/><joint name="t2" axis="0 -1 0" pos=".1 1 .2"/><geom size=".1" pos=".1 0 -.2"/>
        <body name="nail" pos="0.1 0 0">
          <joint name="n1" axis="0 1 0"/><joint name="n2" axis="1 1 0"/><geom type="box" size=".1 .2 .1" pos=".1 0 0"/>
        </body>
      </body>
    </body>
    <body name="cart" pos="2 0 0">
      <joint name="p1" type="slide" axis="1 0 0"/><joint name="p2" type="slide" axis="0 0 1" stiffness="2" springref=".1"/>
      <joint name="p3" axis="0 1 0"/>
      <geom type="box" size=".1 .2 .3" pos=".1 0 0"/>
      <body name="bob" pos="0 0 -.4">
        <joint name="b" type="ball" stiffness="2" damping=".2"/><geom type="sphere" size=".1" pos="0 0.1 -.3"/>
      </body>
    </body>
    <body name="flyer" pos="3 0 1" quat="1 0 0 0"><freejoint name="f"/><geom type="box" size=".1 .2 .3"/></body>
  </worldbody>
</mujoco>
"""


def write(path, text):
    path.write_text(text)
    return path


def test_accelerations_equal_those_of_mujoco_for_every_kind_of_joint(tmp_path):
    file, random = write(tmp_path / "all.xml", EVERYTHING), np.random.default_rng(3)
    sizes = {name: {"b": 3, "f": 6}.get(name, 1) for name in read_mjcf(file).joints}
    q, v = ({name: random.uniform(-0.7, 0.7, size) for name, size in sizes.items()} for _ in range(2))
    imported = read(file, start=q, start_rate=v)
    kinds = {type(j) for j in imported.model.joints}
    assert kinds == {ts.Revolute, ts.Planar, ts.Free, ts.Universal, ts.Spherical, ts.Cylindrical, Gimbal, HingePair}
    peer = Peer(EVERYTHING)
    peer.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    quaternion = np.zeros(4)
    mujoco.mju_axisAngle2Quat(quaternion, q["b"] / np.linalg.norm(q["b"]), np.linalg.norm(q["b"]))
    theirs = {**q, "a": q["a"] + np.deg2rad(10), "b": quaternion, "f": [*q["f"][:3], *(q["f"][3:] + (3, 0, 1))]}
    peer.set(theirs, v)
    dynamics = ts.compile(imported.model, formulation="absolute")
    expected = [peer.body(body.name) for body in imported.model.bodies]
    for x, (center, R, _, _) in zip(dynamics.q.reshape(-1, 12), expected):
        assert np.abs(x[:3] - center).max() < 1e-12 and np.abs(x[3:].reshape(3, 3, order="F") - R).max() < 1e-12
    reference = np.array([np.concatenate(e[2:]) for e in expected])
    assert np.abs(dynamics.accelerations().reshape(-1, 6) - reference).max() < 1e-11 * np.abs(reference).max()


def test_hinges_that_start_in_gimbal_lock_are_a_ball_without_angles(tmp_path):
    """Axes z, x, z: where the second angle is zero, the first and the third cannot be told apart; the motion can."""
    hinges = "".join(f'<joint name="{n}" axis="{a}"/>' for n, a in (("z1", "0 0 1"), ("x", "1 0 0"), ("z2", "0 0 1")))
    text = f"""<mujoco><worldbody><body name="top">{hinges}<inertial pos="0 0 1" mass="1" diaginertia=".2 .3 .1"/></body>
      </worldbody></mujoco>"""
    q, v = {"z1": 0.3, "x": 0.8, "z2": -1.0}, {"z1": 1.0, "x": -2.0, "z2": 30.0}
    imported = read(write(tmp_path / "top.xml", text), start=q, start_rate=v)
    peer = Peer(text)
    peer.set(q, v)
    dynamics, expected = ts.compile(imported.model, formulation="absolute"), peer.body("top")
    assert np.allclose(dynamics.q[:3], expected[0], atol=1e-13)
    assert np.allclose(dynamics.accelerations(), np.concatenate(expected[2:]), rtol=1e-11, atol=1e-11)
    assert imported.joints["x"].coordinate is None and isinstance(imported.joints["x"].joint, ts.Spherical)
    assert sum(note.kind == "approximated" for note in imported.report) == 3
    assert any(
        note.kind == "questionable" and "singular" in note.message for note in imported.report
    )  # MuJoCo's own words


LOOP = """
<mujoco>
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <body name="left"><joint name="l" axis="0 1 0"/><inertial pos="0 0 .5" mass="1" diaginertia=".1 .1 .01"/></body>
    <body name="right" pos="2 0 0"><joint name="r" axis="0 1 0"/><inertial pos="0 0 .5" mass="1" diaginertia=".1 .1 .01"/>
      <body name="coupler" pos="0 0 1"><joint name="c" axis="0 1 0"/><inertial pos="-1 0 0" mass="1" diaginertia=".01 .1 .1"/>
      </body></body>
    <body name="stone" pos="0 0 5"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><site name="pin" pos="1 0 0"/>
    </body>
    <body name="ball" pos="3 0 5"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <site name="hole" pos="-2 0 0"/></body>
  </worldbody>
  <equality>
    <connect name="close" body1="coupler" body2="left" anchor="-2 0 0"/>
    <weld name="glue" body1="stone" body2="world"/>
    <connect name="pins" site1="pin" site2="hole"/>
    <weld name="off" body1="stone" body2="left" active="false"/>
  </equality>
</mujoco>
"""


def test_equalities_close_loops_and_hold(tmp_path):
    """A parallelogram: the coupler stays level, both cranks turn alike; the stone stays where it was."""
    imported = read(write(tmp_path / "loop.xml", LOOP), start_rate={"l": 0.5, "r": 0.5, "c": -0.5})
    data = ts.simulate(imported.model, 1.0, outputs=5, tolerance=1e-10)
    q = data.coordinate
    l, r, c = (q.sel(joint_coordinate=name).values for name in "lrc")
    assert np.allclose(l, r, atol=1e-8) and np.allclose(c, -r, atol=1e-8) and np.ptp(r) > 0.5
    assert np.allclose(data.position.sel(body="stone").values, (0, 0, 5), atol=1e-8)
    ball = data.position.sel(body="ball").values  # it swings about the pin of the stone
    assert np.allclose(np.linalg.norm(ball - (1, 0, 5), axis=1), 2, atol=1e-8) and np.ptp(ball[:, 2]) > 0.5
    told = {str(note).split("loop.xml:")[-1] for note in imported.report}
    assert "18: ignored: equality 'off': it is not active" in told
    assert "15: approximated: equality 'close': soft in MuJoCo, kept exactly here" in told


def test_joint_equalities_are_polynomials(tmp_path):
    text = """<mujoco><worldbody>
      <body name="a"><joint name="x" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
      <body name="b"><joint name="y" axis="0 0 1" ref="20"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
      <body name="c"><joint name="z" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
    </worldbody><equality><joint joint1="y" joint2="x" polycoef="0.1 2 0.5 0 0"/><joint joint1="z" polycoef=".3 0 0 0 0"/>
    </equality></mujoco>"""
    imported = read(write(tmp_path / "gear.xml", text), start={"x": 0.2}, start_rate={"x": 1.0})
    data = ts.simulate(imported.model, 0.5, outputs=5, tolerance=1e-10)
    x, y, z = (data.coordinate.sel(joint_coordinate=name).values for name in "xyz")
    assert np.ptp(x) > 0.2 and np.allclose(y, 0.1 + 2 * x + 0.5 * x**2, atol=1e-9) and np.allclose(z, 0.3)


def test_everything_left_out_is_reported(tmp_path):
    text = """<mujoco><option density="1.2"/><worldbody>
      <light name="sun"/><camera name="eye"/><geom name="floor" type="plane" size="1 1 1"/>
      <body name="a" gravcomp="1"><joint name="x" armature="0.1" frictionloss="0.2" range="-10 20" limited="true"/>
        <geom name="g" size="0.1"/><site name="s"/></body>
    </worldbody>
    <actuator><motor name="m" joint="x"/></actuator><sensor><jointpos name="p" joint="x"/></sensor>
    <tendon><fixed name="t"><joint joint="x" coef="1"/></fixed></tendon><keyframe><key name="k" qpos="1"/></keyframe>
    <equality><tendon name="e" tendon1="t"/></equality></mujoco>"""
    imported = read(write(tmp_path / "rich.xml", text))
    assert imported.limits["x"] == pytest.approx({"lower": -np.pi / 18, "upper": np.pi / 9})
    told = {f"{note.kind}: {note.element}" for note in imported.report}
    assert told == {
        "ignored: light 'sun'", "ignored: camera 'eye'", "ignored: contact of body 'world'",
        "unsupported: geom 'floor' of body 'world'",
        "ignored: frictionloss of joint 'x'", "ignored: range of joint 'x'", "ignored: contact of body 'a'",
        "ignored: actuator 'm'", "ignored: sensor 'p'",
        "approximated: equality 'e'",
    }  # fmt: skip


CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 2) for y in (0, 2) for z in (0, 2)) + (
    "f 1 2 4\nf 1 4 3\nf 5 7 8\nf 5 8 6\nf 1 5 6\nf 1 6 2\nf 3 4 8\nf 3 8 7\nf 1 3 7\nf 1 7 5\nf 2 6 8\nf 2 8 4\n"
)


def test_inertias_of_shapes_and_meshes_kept_for_viewing(tmp_path):
    """A mesh keeps the pose that its file has, though MuJoCo moves its origin to the centre of mass."""
    write(tmp_path / "cube.obj", CUBE)
    text = """<mujoco><asset><mesh name="cube" file="cube.obj" scale=".5 .5 .5"/><material name="red" rgba="1 0 0 1"/></asset>
      <worldbody><body name="a" pos="0 0 1"><freejoint/><geom type="mesh" mesh="cube" material="red" pos="1 0 0"/>
      <geom type="box" size="1 2 3" mass="0" rgba="0 1 0 1"/></body></worldbody></mujoco>"""
    imported = read(write(tmp_path / "mesh.xml", text))
    mesh, box = imported.visuals["a"]
    assert mesh.file == str(tmp_path / "cube.obj") and mesh.size == (0.5, 0.5, 0.5) and mesh.colour == (1, 0, 0, 1)
    assert np.allclose(mesh.at, (1, 0, 0), atol=1e-9)
    assert box.kind == "box" and box.size == (2, 4, 6) and box.colour == (0, 1, 0, 1)
    assert float(imported.model["a"].mass) == pytest.approx(1000)
    assert np.allclose(numbers(imported.model["a"].start_position).ravel(), (1.5, 0.5, 1.5))


def test_gravity_and_fixed_bodies(tmp_path):
    text = """<mujoco><option><flag gravity="disable"/></option><worldbody><body name="a"><joint name="j"/><geom size=".1"/>
      <body name="b" pos="0 0 1"><geom size=".1"/></body></body></worldbody></mujoco>"""
    file = write(tmp_path / "fixed.xml", text)
    assert (
        not numbers(read(file).model.gravity).any() and numbers(read(file, gravity=(0, 0, -1)).model.gravity)[2] == -1
    )
    assert [b.name for b in read(file).model.bodies] == ["a"]
    assert isinstance(read(file, merge_fixed=False).model["b_fixed"], ts.Fixed)


@pytest.mark.parametrize(
    "joint",
    [
        Gimbal("g", None, None, axis=(0, 1, 0), second_axis=(1, 0, 0), third_axis=(0, 0, 1)),
        Gimbal("g", None, None, axis=(0, 1, 0), second_axis=(1, 0, 0), third_axis=(0, 0, -1)),
        HingePair("p", None, None, axis=(0, 1, 0), second_axis=(1, 0, 0.5)),
        HingePair("p", None, None, axis=(0, 1, 0), second_axis=(1, 2, 0), offset=(0, 0, -0.3)),
        HingePair("p", None, None, axis=(0, 0, 1), second_axis=(0, 0, 1), offset=(0.3, 0.4, 0)),
        HingePair("p", None, None, axis=(0, 0, 1), second_axis=(0, 0, -1), offset=(0.3, 0.4, 0)),
    ],
    ids=["gimbal", "left-handed gimbal", "crossing", "skew", "parallel", "antiparallel"],
)
def test_the_joints_of_several_hinges_keep_the_contract_of_joints(joint, monkeypatch):
    """Traced motion = declared one, residual(pose(q)) = 0, coordinates(pose(q)) = q, rates(S v) = v, rank + dof = 6."""
    q, twist = ca.SX.sym("q", joint.dof), ca.SX.sym("V", 6)
    H = joint.pose(q)
    columns = [se3.vee(se3.inverse(H) @ ca.reshape(ca.jacobian(ca.vec(H), q[k]), 4, 4)) for k in range(joint.dof)]
    rows = ca.jacobian(joint.residual(H @ se3.exp(twist)), twist)
    S = joint.motion(q)
    monkeypatch.setattr(type(joint), "relative_pose", lambda self: H)
    monkeypatch.setattr(type(joint), "relative_twist", lambda self: S @ q)
    zero = [ca.horzcat(*columns) - S, joint.residual(H), joint.coordinates(H) - q, joint.joint_rates() - q, rows @ S]
    *vanishing, rows = ca.Function("f", [q, twist], [*zero, rows])([0.4, -0.8, 2.0][: joint.dof], np.zeros(6))
    assert all(np.abs(x.full()).max() < 1e-13 for x in vanishing)
    assert np.linalg.matrix_rank(rows.full(), tol=1e-6) == 6 - joint.dof == len(joint.directions())
