"""Actuators of MJCF files: the motion of MuJoCo under the same controls."""

import mujoco
import numpy as np
import pytest

import torsor as ts
from torsor.cli import status_of

ARM = """<mujoco model="arm"><compiler angle="radian"/><option timestep="0.0005" integrator="RK4"><flag contact="disable"/></option>
  <worldbody><body name="upper"><joint name="shoulder" axis="0 1 0" ref="0.3" damping="0.1"/>
    <inertial pos="0.2 0 0" mass="1" diaginertia="0.01 0.02 0.02"/>
    <body name="lower" pos="0.4 0 0"><joint name="elbow" axis="0 1 0"/>
      <inertial pos="0.15 0 0" mass="0.5" diaginertia="0.005 0.01 0.01"/>
      <body name="hand" pos="0.3 0 0"><joint name="slide" type="slide" axis="1 0 0"/>
        <inertial pos="0 0 0" mass="0.2" diaginertia="0.001 0.001 0.001"/></body></body></body></worldbody>
  <actuator>
    <motor name="shoulder" joint="shoulder" gear="3" ctrllimited="true" ctrlrange="-1 1"/>
    <position name="servo" joint="elbow" kp="20" kv="1" forcelimited="true" forcerange="-2 2"/>
    <velocity name="pusher" joint="slide" kv="5" gear="2"/>
    <general name="affine" joint="elbow" gainprm="0.5" biastype="affine" biasprm="0.1 -0.2 -0.3"/>
    {more}
  </actuator></mujoco>"""


@pytest.fixture
def arm(tmp_path):
    def written(more=""):
        path = tmp_path / "arm.xml"
        path.write_text(ARM.format(more=more))
        return path

    return written


def test_motors_and_servos_move_as_in_mujoco(arm):
    """Also beyond the ranges of controls and forces, which the first two reach."""
    found = ts.read(arm(), actuators=True)
    assert list(found.model.declared_inputs) == ["shoulder_input", "servo", "pusher", "affine"]
    assert "renamed: actuator 'shoulder'" in [f"{note.kind}: {note.element}" for note in found.report]
    sim = ts.Simulation(found.model, tolerance=1e-11)
    other = mujoco.MjModel.from_xml_path(str(arm()))
    data = mujoco.MjData(other)
    for controls in ((2.0, 0.5, 0.1, 1.0), (-0.5, -3.0, -0.2, 0.0), (0.0, 0.2, 0.0, -1.0)):
        data.ctrl[:] = controls
        for _ in range(400):
            mujoco.mj_step(other, data)
        sim.advance(0.2, **dict(zip(found.model.declared_inputs, controls)))
        q = [sim.coordinates[name] for name in ("shoulder", "elbow", "slide")]
        assert np.allclose(q, data.qpos - (0.3, 0, 0), atol=2e-5)


def test_actuators_are_left_out_unless_they_are_asked_for(arm):
    found = ts.read(arm())
    assert not found.model.declared_inputs and "ignored: actuator 'servo'" in [
        f"{n.kind}: {n.element}" for n in found.report
    ]


def test_what_is_not_simulated_is_told(arm):
    more = '<muscle name="biceps" joint="elbow" ctrllimited="true" ctrlrange="0 1" lengthrange="0 1"/>'
    told = {note.element: (note.kind, note.message) for note in ts.read(arm(more), actuators=True).report}
    assert told["actuator 'biceps'"][0] == "unsupported" and "muscles" in told["actuator 'biceps'"][1]
    assert "actuator 'servo'" not in told


STATES = """<intvelocity name="slow" joint="elbow" kp="3" actrange="-0.05 0.05"/>
  <cylinder name="piston" joint="shoulder" timeconst="0.1" area="0.3" bias="0.1 -0.2 -0.3"/>
  <general name="filter" joint="slide" dyntype="filterexact" dynprm="0.05" gainprm="2"/>"""


def test_actuators_with_a_state_move_as_in_mujoco(arm):
    """An integrator that reaches its range, a cylinder and a filter; MuJoCo's steps of 0.5 ms integrate them to first order."""
    found = ts.read(arm(STATES), actuators=True)
    sim = ts.Simulation(found.model, tolerance=1e-9)
    other = mujoco.MjModel.from_xml_path(str(arm(STATES)))
    other.opt.timestep = 1e-4
    data = mujoco.MjData(other)
    controls = (0.3, 0.5, 0.1, 1.0, 0.4, 1.5, -0.7)
    data.ctrl[:] = controls
    for _ in range(2000):
        mujoco.mj_step(other, data)
    sim.advance(0.2, **dict(zip(found.model.declared_inputs, controls)))
    q = [sim.coordinates[name] for name in ("shoulder", "elbow", "slide")]
    assert np.allclose(q, data.qpos - (0.3, 0, 0), atol=2e-5)
    assert abs(sim["slow_activation"] - 0.05) < 1e-3


def test_they_are_set_and_studied_on_the_command_line(arm, tmp_path, capsys):
    out, file = str(tmp_path / "study.nc"), str(arm())
    asked = ["study", file, "--until", "0.1", "--set", "pusher=0,1,2", "--reduce", "last", "--keep", "coordinate"]
    assert status_of([*asked, "--set", "actuators=true", "--out", out]) == 0
    capsys.readouterr()
    model = ts.read(arm(), actuators=True).model
    for value, found in zip([0.0, 1.0, 2.0], ts.load_result(out).coordinate.values, strict=True):
        alone = ts.simulate(model, 0.1, outputs=1, parameters={"pusher": value})
        np.testing.assert_array_equal(found, alone.coordinate[-1])
    for more, message in (
        ([], "has no parameter 'pusher' that could vary"),
        (["--set", "actuators=2"], "--set actuators=2: write actuators=true or actuators=false"),
        (["--set", "servos=true"], "has nothing of that name to set. Known: merge_fixed, strict, actuators"),
    ):
        assert status_of([*asked, *more]) == 2
        assert message in capsys.readouterr().err
