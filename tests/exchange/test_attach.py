"""Grippers and payloads attached to robots: the whole moves as if it had been described in one file."""

import mujoco
import numpy as np
import pytest

import torsor as ts

HAND = """<body name="{p}palm" {place}><inertial pos="0 0 0.03" mass="0.4" diaginertia="0.002 0.003 0.001"/>
  <body name="{p}left" pos="0 0.02 0.06"><joint name="{p}left" type="slide" axis="0 1 0" damping="0.5"/>
    <inertial pos="0 0 0.02" mass="0.1" diaginertia="1e-4 2e-4 1e-4"/><site name="{p}tip" pos="0 0 0.04"/></body>
  <body name="{p}right" pos="0 -0.02 0.06"><joint name="{p}right" type="slide" axis="0 -1 0"/>
    <inertial pos="0 0 0.02" mass="0.1" diaginertia="1e-4 2e-4 1e-4"/></body></body>"""
ARM = """<mujoco model="arm"><worldbody><body name="upper" pos="0 0 0.5"><joint name="shoulder" axis="0 1 0"/>
  <inertial pos="0.2 0 0" mass="1" diaginertia="0.01 0.02 0.02"/>
  <body name="lower" pos="0.4 0 0" euler="0 20 0"><joint name="elbow" axis="0.1 1 0"/>
    <inertial pos="0.15 0 0" mass="0.5" diaginertia="0.005 0.01 0.01"/>
    <site name="flange" pos="0.3 0 0.02" quat="0.6 0.2 0.7 0.1"/>{hand}
  </body></body></worldbody>{rest}
  <keyframe><key name="home" qpos="0.3 -0.5{more}"/></keyframe></mujoco>"""
DRIVE = '<actuator><position name="{p}grip" joint="{p}left" kp="30"/></actuator>'
PLACE = 'pos="0.3 0 0.02" quat="0.6 0.2 0.7 0.1"'


def read(tmp_path, name, text, **options):
    file = tmp_path / f"{name}.xml"
    file.write_text(text)
    return ts.read(file, **options)


def hand(tmp_path, **options):
    text = f'<mujoco model="hand"><worldbody>{HAND.format(p="", place="")}</worldbody>{DRIVE.format(p="")}</mujoco>'
    return read(tmp_path, "hand", text, **options)


def truth(text, q, v, ctrl=None):
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = q, v
    if ctrl is not None:
        d.ctrl[:] = ctrl
    mujoco.mj_forward(m, d)
    return d


def test_an_arm_with_a_gripper_moves_as_one_robot(tmp_path):
    arm = read(tmp_path, "arm", ARM.format(hand="", rest="", more=""), actuators=True)
    arm.attach(hand(tmp_path), at="flange")
    assert list(arm.joints) == ["shoulder", "elbow", "hand_left", "hand_right"] and "hand_tip" in arm.sites
    q, v = np.array([0.3, -0.5, 0.01, 0.02]), np.array([0.5, -1.0, 0.2, 0.3])
    whole = ARM.format(hand=HAND.format(p="hand_", place=PLACE), rest=DRIVE.format(p="hand_"), more=" 0 0")
    d = truth(whole, q, v, 0.03)
    robot = ts.compile(arm.model, "relative", parameters={"hand_grip": 0.03})
    np.testing.assert_allclose(robot.forward_dynamics(q, v), d.qacc, rtol=1e-10)
    np.testing.assert_allclose(robot.pose("hand_tip", q)[:3, 3], d.site("hand_tip").xpos, atol=1e-13)
    data = ts.simulate(arm.model, 0.1, outputs=1, start=arm.keyframes["home"])
    np.testing.assert_allclose(data.coordinate[0], [0.3, -0.5, 0, 0], atol=1e-12)


def test_a_frame_of_the_tool_comes_to_the_site(tmp_path):
    arm = read(tmp_path, "arm", ARM.format(hand="", rest="", more=""))
    arm.attach(hand(tmp_path), at="flange", name="tool", frame="tip")
    robot = ts.compile(arm.model, "relative")
    q = np.zeros(robot.v.size)
    np.testing.assert_allclose(robot.pose("tool_tip", q), robot.pose("flange", q), atol=1e-13)


def test_payloads_and_changed_masses_count(tmp_path):
    arm = read(tmp_path, "arm", ARM.format(hand="", rest="", more=""))
    arm.attach(ts.inertia.box(2.0, 0.1, 0.2, 0.3), at="flange")
    arm.set_inertia("upper", ts.inertia.rod(1.5, 0.4, axis="x").move((0.2, 0, 0)))
    box = 2.0 / 12 * np.array([0.04 + 0.09, 0.01 + 0.09, 0.01 + 0.04])
    load = f'<body {PLACE}><inertial pos="0 0 0" mass="2" diaginertia="{box[0]} {box[1]} {box[2]}"/></body>'
    text = ARM.format(hand=load, rest="", more="").replace(
        'mass="1" diaginertia="0.01 0.02 0.02"', 'mass="1.5" diaginertia="1e-12 0.02 0.02"'
    )
    q, v = np.array([0.3, -0.5]), np.array([0.5, -1.0])
    d = truth(text, q, v)
    np.testing.assert_allclose(ts.compile(arm.model, "relative").forward_dynamics(q, v), d.qacc, rtol=1e-9)


def test_what_cannot_be_attached_is_refused(tmp_path):
    arm = read(tmp_path, "arm", ARM.format(hand="", rest="", more=""))
    tool = hand(tmp_path)
    for call, why in (
        (lambda: arm.attach(tool, at="flang"), "no site or link 'flang'. Known: flange, world, upper, lower"),
        (lambda: arm.attach(3.0, at="flange"), "give a robot that `ts.read` returned, or an inertia"),
        (lambda: arm.attach(tool, at="flange", frame="x"), "frame: there is no site or link 'x'"),
        (lambda: arm.set_inertia("uper", ts.inertia.sphere(1.0, 0.1)), "no link 'uper'"),
    ):
        with pytest.raises(ts.OptionError, match=why):
            call()
    arm.attach(tool, at="flange")
    with pytest.raises(ts.ModelError, match="there is a link 'hand_world' already; give another name"):
        arm.attach(tool, at="flange")
    arm.model.signal("height", arm.model["upper"].position[2])
    with pytest.raises(ts.ModelError, match="it has been added to or compiled"):
        arm.attach(tool, at="flange", name="second")


STOPS = """<mujoco><compiler angle="radian"/><worldbody><body name="a"><joint name="j" axis="0 1 0" range="-0.5 0.3" limited="true"
  frictionloss="{friction}" {more}/><inertial pos="0.5 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>"""


def test_joints_stop_at_their_limits(tmp_path):
    robot = read(tmp_path, "stops", STOPS.format(friction=0, more=""), limits=True)
    assert not [n for n in robot.report if "range" in n.element]
    data = ts.simulate(robot.model, 2.0, outputs=50)
    assert float(data.coordinate.max()) < 0.3 + 1e-9 and abs(float(data.coordinate[-1, 0]) - 0.3) < 1e-9


def test_dry_friction_holds_a_joint_up_to_its_force(tmp_path):
    """m g l = 4.905 N m at the start: more friction holds it; less leaves the difference as the torque on 0.35 kg m²."""
    held = read(tmp_path, "held", STOPS.format(friction=5.0, more=""), friction=True)
    assert abs(float(ts.simulate(held.model, 0.5, outputs=1).coordinate[-1, 0])) < 1e-9
    sliding = read(tmp_path, "sliding", STOPS.format(friction=4.0, more=""), friction=True)
    sim = ts.Simulation(sliding.model)
    sim.advance(1e-3)
    assert abs(sim["j.rate"] / 1e-3 - (0.5 * 9.81 - 4.0) / 0.35) < 1e-3


def test_notes_come_in_the_order_of_their_importance(tmp_path):
    text = STOPS.format(friction=1.0, more="").replace(
        "<worldbody>", '<equality><joint name="lock" joint1="j"/></equality><worldbody><camera name="eye"/>'
    )
    notes = read(tmp_path, "notes", text).report
    assert [n.importance for n in notes] == [0, 1, 1, 2]
    assert [n.element for n in notes][::3] == ["equality 'lock'", "camera 'eye'"]
