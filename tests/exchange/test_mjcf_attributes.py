"""Every attribute of an MJCF file that changes the motion is simulated as MuJoCo does, or named in the report."""

import re

import mujoco
import numpy as np
import pytest
from exchange_peer import Peer

import torsor as ts
from torsor.exchange.mjcf_schema import KNOWN

STILL = 'contype="0" conaffinity="0"'
ARM = """<mujoco>{before}<option {option}><flag {flag}/></option><worldbody><body name="a" {body}>
  <joint name="j" axis="0 1 0" {joint}/>
  <geom type="box" size=".1 .2 .3" pos=".3 0 0" contype="0" conaffinity="0"/></body></worldbody>{rest}</mujoco>"""


def arm(**parts):
    return ARM.format(**dict.fromkeys(("before", "option", "flag", "body", "joint", "rest"), "") | parts)


def read_both(tmp_path, text, q=0.3, v=0.8, control=0.5):
    """torsor's model with all its controls set, its acceleration and MuJoCo's."""
    path = tmp_path / "model.xml"
    path.write_text(text)
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.ctrl[:] = m.qpos0 + q, v, control
    mujoco.mj_forward(m, d)
    found = ts.read(path, actuators=True)
    given = dict.fromkeys(found.model.declared_inputs, control)
    own = ts.compile(found.model, "relative", parameters=given).forward_dynamics(np.full(m.nq, q), np.full(m.nv, v))
    return found, own, d.qacc


def motors(*attributes):
    return f"<actuator>{''.join(f'<motor joint={chr(34)}j{chr(34)} {a}/>' for a in attributes)}</actuator>"


SIMULATED = {
    "a class of defaults": arm(
        before='<default><default class="stiff"><joint stiffness="3" damping=".2"/></default></default>',
        joint='class="stiff"',
    ),
    "controls that are not clamped": arm(
        flag='clampctrl="disable"', rest=motors('ctrllimited="true" ctrlrange="-.1 .1"')
    ),
    "controls that are clamped": arm(rest=motors('ctrllimited="true" ctrlrange="-.1 .1"')),
    "the range of a joint with two motors": arm(
        joint='actuatorfrclimited="true" actuatorfrcrange="-.8 .8"', rest=motors('gear="3"', 'gear="-1"')
    ),
    "the range of a motor": arm(rest=motors('gear="3" forcelimited="true" forcerange="-.1 .1"', 'gear="2"')),
    "a constraint that is disabled": arm(
        flag='constraint="disable"',
        joint='range="0 10" frictionloss="2"',
        rest='<equality><joint joint1="j"/></equality>',
    ),
    "a damper": arm(rest='<actuator><damper name="m" joint="j" kv="2" ctrlrange="0 1"/></actuator>'),
    "armature of a joint": arm(joint='armature="0.1"'),
    "armature of a motor": arm(rest=motors('name="m" armature="2" gear="0.5"')),
    "damping of a motor": arm(rest=motors('name="m" damping="2" gear="3"')),
    "a fixed tendon with a spring of a range of rest lengths": arm(
        rest='<tendon><fixed name="t" springlength="0.1 0.15" stiffness="4" damping="0.3"><joint joint="j" '
        'coef="0.7"/></fixed></tendon>'
        '<actuator><position name="m" tendon="t" kp="3" gear="2"/></actuator>'
    ),
    "a spatial tendon between sites": arm(
        body='><site name="s" pos="0.4 0.1 0.1"/',
        before="",
        rest='<worldbody><site name="w" pos="0.3 0.2 0.7"/></worldbody><tendon><spatial name="t" stiffness="4" damping="0.3" '
        'springlength="0.2"><site site="w"/><site site="s"/><pulley divisor="2"/><site site="s"/><site site="w"/></spatial>'
        "</tendon>"
        '<actuator><motor name="m" tendon="t" gear="-2"/></actuator>',
    ),
    "a thruster at a site": arm(
        body='><site name="s" pos="0.4 0.1 0.1" euler="10 20 30"/',
        rest='<actuator><motor name="m" site="s" gear="1 2 3 0.4 0.5 0.6"/></actuator>',
    ),
    "a medium": arm(option='density="20" viscosity="1.5" wind="0.3 -0.2 0.5"'),
    "a medium without dampers": arm(option='viscosity="2"', flag='damper="disable"'),
    "weight that is compensated": arm(body='gravcomp="0.4"'),
    "springs that are disabled": arm(flag='spring="disable" damper="disable"', joint='stiffness="3" damping="2"'),
}


@pytest.mark.parametrize("name", SIMULATED)
def test_accelerations_equal_those_of_mujoco(name, tmp_path):
    _, own, theirs = read_both(tmp_path, SIMULATED[name])
    np.testing.assert_allclose(own, theirs, rtol=1e-10)


GAIN = '<config key="kp" value="4"/>'
NAMED = {
    "actuator 'm'": [
        arm(flag='actuation="disable"', rest=motors('name="m"')),
        arm(option='actuatorgroupdisable="2"', rest=motors('name="m" group="2"')),
        arm(
            before=f'<extension><plugin plugin="mujoco.pid"><instance name="p">{GAIN}</instance></plugin></extension>',
            rest='<actuator><plugin name="m" plugin="mujoco.pid" instance="p" joint="j"/></actuator>',
        ),
    ],
    "frictionloss of joint 'j'": [arm(joint='frictionloss="0.1"')],
    "fluidshape of body 'b'": [
        '<mujoco><option density="1"/><worldbody><body name="b"><freejoint/><geom size="0.1" fluidshape="ellipsoid"/></body>'
        "</worldbody></mujoco>"
    ],
}


@pytest.mark.parametrize("element, text", [(element, text) for element, texts in NAMED.items() for text in texts])
def test_what_is_not_simulated_is_named_with_its_line(element, text, tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(text)
    found = ts.read(path, actuators=True)
    notes = [note for note in found.report if note.element == element]
    assert len(notes) == 1 and re.search(r"model\.xml:\d+$", notes[0].where), [str(note) for note in found.report]
    if "disable" in text:
        found, own, theirs = read_both(tmp_path, text)
        np.testing.assert_allclose(own, theirs, rtol=1e-10)
        assert not found.model.declared_inputs


FREE = f"""<mujoco><worldbody><body name="b" pos="1 2 3" quat="1 .2 .3 .1">
  <joint name="f" type="free" damping="0.7" stiffness="{{k}}"/>
  <geom type="box" size=".1 .2 .3" pos=".2 .05 -.1" {STILL}/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("stiffness", [0.0, 5.0])
def test_damping_of_a_free_joint_acts_on_the_origin_of_its_body(stiffness, tmp_path):
    text = FREE.format(k=stiffness)
    (tmp_path / "model.xml").write_text(text)
    velocity, spin, moved = np.array([0.3, 0.7, -1.1]), np.array([1.0, -2.0, 0.5]), np.array([0.4, -0.2, 0.3])
    peer = Peer(text)
    m, d = peer.model, peer.data
    d.qpos[:3] += moved
    d.qvel[:3], d.qvel[3:] = velocity, spin
    mujoco.mj_forward(m, d)
    center, R, *theirs = peer.body("b")
    arm = R @ np.array([0.2, 0.05, -0.1])
    start = {"b.position": center, "b.velocity": velocity + np.cross(R @ spin, arm), "b.angular_velocity": spin}
    sim = ts.Simulation(ts.read(tmp_path / "model.xml").model, start=start)
    own = [sim["b.acceleration"], sim["b.angular_acceleration"]]
    np.testing.assert_allclose(own, theirs, rtol=1e-9, atol=1e-9)


def test_every_attribute_of_the_schema_is_known():
    """MuJoCo's own list: an attribute of a new version has to be simulated or named before it is accepted."""
    homes = {"option": 1, "flag": 2, "(world)body": 1, "inertial": 2, "joint": 2, "freejoint": 2, "geom": 2, "connect": 2,
             "weld": 2, "general": 2, "motor": 2, "position": 2, "velocity": 2}  # fmt: skip
    section, tag, seen = "", "", 0
    for line in mujoco.mj_printSchema(False, False).splitlines():
        head = re.match(r"^( {0,20})(\S+) \((.)\)(.*)$", line)
        if head:
            depth, tag, rest = len(head[1]) // 3, head[2], head[4]
            section = tag if depth == 1 else section
            counted = homes.get(tag) == depth and section in (
                "option",
                "(world)body",
                "equality",
                "actuator",
                "default",
            )
        else:
            rest = line
        if counted:
            unknown = set(rest.split()) - set(KNOWN[tag.replace("(world)", "")].split())
            assert not unknown, (tag, unknown)
            seen += 1
    assert seen > 20


def test_an_attribute_that_is_not_known_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(KNOWN, "joint", KNOWN["joint"].replace("damping ", ""))
    (tmp_path / "model.xml").write_text(arm(joint='damping="1"'))
    (note,) = [n for n in ts.read(tmp_path / "model.xml").report if n.kind == "questionable"]
    assert note.element == "joint 'j'" and "'damping'" in note.message and note.where.endswith("model.xml:2")


def test_attributes_that_urdf_does_not_have_are_named(tmp_path):
    text = """<robot name="r"><link name="base"/><link name="arm">
      <inertial><origin xyz="0 0 1" quat_xyzw="0 0 0 1"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
      <joint name="j" type="floating"><parent link="base"/><child link="arm"/><dynamics damping="2" stiffness="3"/></joint>
      </robot>"""
    (tmp_path / "r.urdf").write_text(text)
    found = {note.element: note.where for note in ts.read(tmp_path / "r.urdf").report}
    assert found["quat_xyzw of link 'arm'"].endswith("r.urdf:2")
    assert "stiffness of joint 'j'" in found and "damping of joint 'j'" in found


def test_ranges_and_friction_of_tendons_are_reported(tmp_path):
    file = tmp_path / "arm.xml"
    file.write_text("""<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size="0.1" pos="0.2 0 0"/></body></worldbody>
      <tendon><fixed name="t" limited="true" range="0 1" frictionloss="0.2">
      <joint joint="j" coef="1"/></fixed></tendon></mujoco>""")
    left = [note.element for note in ts.read(file).report if "tendon 't'" in note.element]
    assert left == ["range of tendon 't'", "frictionloss of tendon 't'"]
