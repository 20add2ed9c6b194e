"""Sensors of MJCF files: each signal is what MuJoCo's sensor measures."""

import mujoco
import numpy as np

import torsor as ts

KINDS = "framepos framexaxis frameyaxis framezaxis framelinvel frameangvel framelinacc frameangacc"
FRAMES = "".join(
    f'<{kind} name="{kind}_{what}" objtype="{what}" objname="{"tip" if what == "site" else "lower"}"/>'
    for kind in KINDS.split()
    for what in ("site", "body", "xbody")
)
TEXT = f"""<mujoco><worldbody><body name="upper" pos="0 0 1"><joint name="a" axis="0 1 0" ref="0.2"/>
  <inertial pos="0.2 0 0.1" mass="1" diaginertia="0.1 0.2 0.3"/>
  <body name="lower" pos="0.5 0 0" euler="10 20 30"><joint name="b" axis="1 0.3 0"/>
    <inertial pos="0.1 0.2 0" quat="1 2 3 4" mass="0.5" diaginertia="0.02 0.03 0.04"/>
    <site name="tip" pos="0.3 0.1 0.2" euler="40 0 20"/>
  </body></body></worldbody><tendon><fixed name="t"><joint joint="a" coef="2"/><joint joint="b" coef="-1"/></fixed></tendon>
  <sensor><gyro name="gyro" site="tip"/><accelerometer name="acc" site="tip"/><velocimeter name="vel" site="tip"/>
    <jointpos name="pos" joint="a"/><jointvel name="speed" joint="b"/><tendonpos name="length" tendon="t"/>
    <tendonvel name="rate" tendon="t"/><touch name="skin" site="tip"/>{FRAMES}</sensor></mujoco>"""


def test_signals_are_what_the_sensors_of_mujoco_measure(tmp_path):
    file = tmp_path / "arm.xml"
    file.write_text(TEXT)
    robot = ts.read(file, sensors=True)
    assert [n.element for n in robot.report if n.kind == "unsupported"] == ["sensor 'skin'"]
    m = mujoco.MjModel.from_xml_string(TEXT)
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = (0.7, -0.4), (1.5, -2.0)
    mujoco.mj_forward(m, d)
    sim = ts.Simulation(robot.model, start=robot.keyframe(d.qpos, d.qvel))
    for k in range(m.nsensor):
        sensor = m.sensor(k)
        if sensor.name != "skin":
            theirs = d.sensordata[sensor.adr[0] : sensor.adr[0] + sensor.dim[0]]
            own = "rate_sensor" if sensor.name == "rate" else sensor.name
            np.testing.assert_allclose(np.atleast_1d(sim[own]), theirs, atol=1e-9, err_msg=sensor.name)
