"""Equality constraints of tendons, as MuJoCo means them, but exact."""

import mujoco
import numpy as np

import torsor as ts

TEXT = """<mujoco><compiler angle="radian"/><option gravity="0 0 -9.81"/><worldbody>
  <body name="a"><joint name="x" axis="0 1 0" ref="0.2"/><inertial pos="0.3 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body>
  <body name="b" pos="0 1 0"><joint name="y" type="slide" axis="0 0 1"/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>
    <body name="c"><joint name="z" axis="0 1 0"/><inertial pos="0.1 0 0" mass="0.5" diaginertia="0.1 0.1 0.1"/></body></body>
  </worldbody><tendon>
  <fixed name="s"><joint joint="x" coef="0.5"/><joint joint="z" coef="-2"/></fixed>
  <fixed name="t"><joint joint="y" coef="3"/></fixed>
  </tendon><equality><tendon name="e" tendon1="s" tendon2="t" polycoef="0 0.7 0.2 0 0"/></equality></mujoco>"""


def test_the_residual_of_tied_tendons_is_that_of_mujoco(tmp_path):
    """0 = (l₁ − l₁ᵣ) − Σ aₖ (l₂ − l₂ᵣ)ᵏ along a motion."""
    (tmp_path / "tied.xml").write_text(TEXT)
    robot = ts.read(tmp_path / "tied.xml")
    assert [(n.kind, n.element) for n in robot.report if n.element.startswith("equality")] == [
        ("approximated", "equality 'e'")
    ]
    data = ts.simulate(robot.model, 0.5, outputs=5, tolerance=1e-9)
    m = mujoco.MjModel.from_xml_string(TEXT)
    d = mujoco.MjData(m)
    names = [str(name) for name in data.joint_coordinate.values]
    assert np.ptp(data.coordinate.values, axis=0).min() > 0.01
    for q in data.coordinate.values:
        for name, value in zip(names, q):
            d.qpos[m.joint(name).qposadr[0]] = value + m.qpos0[m.joint(name).qposadr[0]]
        mujoco.mj_forward(m, d)
        assert np.abs(d.efc_pos[:1]).max() < 1e-10 and d.nefc == 1
    np.testing.assert_allclose(data.energy, data.energy[0], atol=1e-7)
