"""The three-link mechanism and the heavy top against MuJoCo, another engine in other coordinates on the same data.

MuJoCo integrates joint coordinates, balls as quaternions, with a fixed step and RK4. Its error falls with the fourth power
of the step: two runs tell how large it is (Richardson), and that much, and no more, may the two engines differ.
"""

import mujoco
import numpy as np
import pytest

import torsor as ts

THREE_LINK = """
<mujoco>
  <option gravity="0 -9.81 0" timestep="{step}" integrator="RK4"><flag contact="disable"/></option>
  <worldbody>
    <body name="link1"><joint type="ball"/>
      <inertial pos="0.5 0 0" mass="1" diaginertia="0.013 0.083 0.083"/>
      <body name="link2" pos="1 0 0"><joint type="ball"/>
        <inertial pos="0.5 0 0" mass="1" diaginertia="0.013 0.083 0.083"/>
        <body name="link3" pos="1 0 0"><joint type="hinge" axis="0 0 1"/>
          <inertial pos="0.5 0 0" mass="1" diaginertia="0.013 0.083 0.083"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
HEAVY_TOP = """
<mujoco>
  <option gravity="0 0 -9.81" timestep="{step}" integrator="RK4"><flag contact="disable"/></option>
  <worldbody>
    <body name="top"><joint type="ball"/>
      <inertial pos="0 1 0" mass="15" diaginertia="0.234375 0.46875 0.234375"/>
    </body>
  </worldbody>
</mujoco>
"""


def peer(xml, start, until, step, bodies):
    """Centres of mass at 20 times, from MuJoCo with a fixed step."""
    model = mujoco.MjModel.from_xml_string(xml.format(step=step))
    data = mujoco.MjData(model)
    data.qvel[: len(start)] = start
    index = [model.body(name).id for name in bodies]
    steps, found = round(until / step), []
    mujoco.mj_forward(model, data)
    for _ in range(20):
        mujoco.mj_step(model, data, nstep=steps // 20)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        found.append(data.xipos[index].copy())
    return np.array(found)


@pytest.mark.parametrize(
    ("case", "xml", "start", "until", "step", "digits"),
    [
        ("three-link", THREE_LINK, (0, 2, 0, 0, 0, 0, 0), 5.0, 5e-4, 1e-9),
        ("heavy-top", HEAVY_TOP, (0, 150, -4.61538), 2.0, 1e-4, 1e-7),
    ],
)
def test_motion_equals_that_of_mujoco_to_mujocos_own_accuracy(case, xml, start, until, step, digits):
    model = ts.cases.load(case)
    ours = ts.simulate(model, until, outputs=20, tolerance=1e-12).position.values[1:]
    coarse, fine = (peer(xml, start, until, h, [b.name for b in model.bodies]) for h in (2 * step, step))
    difference, own_error = np.abs(ours - fine).max(), np.abs(fine - coarse).max() / 15
    assert own_error < digits  # the peer is good enough to tell
    assert difference < 1.5 * own_error


def test_accelerations_of_the_three_link_equal_those_of_mujoco():
    """No integration in between: the accelerations at the start agree to the rounding of both."""
    model = mujoco.MjModel.from_xml_string(THREE_LINK.format(step=1e-4))
    data = mujoco.MjData(model)
    data.qvel[:3] = (0, 2, 0)
    mujoco.mj_forward(model, data)
    ours = ts.simulate(ts.cases.load("three-link"), 1e-3, outputs=1)
    w = ours.angular_acceleration.values[0]
    relative = np.concatenate([w[0], w[1] - w[0], [w[2, 2] - w[1, 2]]])  # frames are parallel at the start
    assert np.abs(data.qacc - relative).max() < 1e-10 * np.abs(data.qacc).max()
