"""Sites and keyframes of an MJCF file: places and configurations are those that MuJoCo computes."""

import mujoco
import numpy as np
import pytest

import torsor as ts

TEXT = """<mujoco><option gravity="0 0 -9.81"/><worldbody>
  <body name="base" pos="0.1 0.2 0.5" quat="0.9 0.1 -0.3 0.2"><freejoint name="free"/>
    <inertial pos="0.02 0 0.01" mass="3" diaginertia="0.2 0.3 0.35"/><site name="imu" pos="0.1 0 0.05" euler="10 20 30"/>
    <body name="arm" pos="0.3 0 0" euler="0 30 0"><joint name="ball" type="ball"/>
      <inertial pos="0 0 0.2" mass="1" diaginertia="0.1 0.1 0.01"/>
      <body name="hand" pos="0 0 0.4"><joint name="a" axis="1 0.2 0" ref="0.3"/><joint name="b" axis="0 1 0"/>
        <inertial pos="0 0.02 0.1" mass="0.5" diaginertia="0.02 0.03 0.01"/><site name="base" pos="0 0.1 0.2"/>
        <site name="tool" pos="0 0 0.2" quat="1 1 0 0"/>
        <body name="plate" pos="0.1 0 0"><geom type="box" size="0.01 0.02 0.03" contype="0" conaffinity="0"/>
          <site name="corner" pos="0 0 0.1"/></body>
      </body></body></body></worldbody>
  <actuator><motor name="m" joint="a"/></actuator>
  <keyframe><key name="home" time="0.5" qpos="0.5 -0.2 1 0.8 0.2 0.4 -0.1 0.9 0.1 -0.2 0.3 0.7 -0.4"
    qvel="1 2 3 0.4 0.5 0.6 0.3 0.2 0.1 -1 2" ctrl="0.7"/>
    <key name="rest"/></keyframe></mujoco>"""


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    file = tmp_path_factory.mktemp("robot") / "robot.xml"
    file.write_text(TEXT)
    m = mujoco.MjModel.from_xml_string(TEXT)
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    d.ctrl[:] = 0
    mujoco.mj_forward(m, d)
    return ts.read(file), m, d


def test_a_run_starts_from_a_keyframe(both):
    robot, m, d = both
    sim = ts.Simulation(robot.model, start=robot.keyframes["home"])
    for body in ("base", "arm", "hand"):
        home = robot.links[body]
        k = m.body(home.body).id
        np.testing.assert_allclose(sim[f"{home.body}.rotation"], d.xmat[k].reshape(3, 3), atol=1e-12)
    np.testing.assert_allclose(sim["arm.position"], d.xipos[m.body("arm").id], atol=1e-12)
    velocity = np.zeros(6)
    mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_BODY, m.body("arm").id, velocity, 0)
    np.testing.assert_allclose(sim["arm.velocity"], velocity[3:], atol=1e-12)
    assert robot.keyframes["home"].inputs == {"m": 0.7} and robot.keyframes["home"].time == 0.5
    rest = ts.Simulation(robot.model, start=robot.keyframes["rest"])
    np.testing.assert_allclose(rest.coordinates, 0, atol=1e-14)


def test_sites_are_where_mujoco_has_them(both):
    robot, m, d = both
    arm = ts.compile(robot.model, "relative")
    q, v = arm.state(robot.keyframes["home"])
    key = robot.keyframes["home"]
    np.testing.assert_allclose(
        arm.configuration({"free": key["free"], "ball": key["ball"], "a_b": key["a_b"]}), q, atol=1e-12
    )
    for name in ("imu", "base", "tool", "corner"):
        H, k = arm.pose(robot.sites[name], q), m.site(name).id
        np.testing.assert_allclose(H[:3, 3], d.site_xpos[k], atol=1e-12)
        np.testing.assert_allclose(H[:3, :3], d.site_xmat[k].reshape(3, 3), atol=1e-12)
    np.testing.assert_array_equal(arm.pose("tool", q), arm.pose(robot.sites["tool"], q))
    J = np.zeros((2, 3, m.nv))
    mujoco.mj_jacSite(m, d, J[0], J[1], m.site("tool").id)
    V = np.concatenate(J @ d.qvel)
    np.testing.assert_allclose(arm.velocity("tool", q, v), V, atol=1e-12)


def test_a_start_takes_the_numbers_of_mujoco(both):
    robot, m, d = both
    given = robot.keyframe(d.qpos, d.qvel)
    for name, value in robot.keyframes["home"].items():
        np.testing.assert_allclose(given[name], value, atol=1e-12)
    with pytest.raises(ts.ModelError, match="qpos must have 13 finite numbers, got"):
        robot.keyframe([1, 2, 3])


def test_a_keyframe_of_another_size_is_refused(tmp_path):
    file = tmp_path / "robot.xml"
    file.write_text(TEXT.replace('<key name="rest"/>', '<key name="rest" qpos="1 2 3"/>'))
    with pytest.raises(ts.ModelError, match=r"robot.xml:15: keyframe 'rest': qpos has 3 numbers, the robot has 13"):
        ts.read(file)
