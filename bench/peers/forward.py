"""Forward dynamics of trees in Pinocchio (aba) and MuJoCo (mj_forward, mj_step with RK4): microseconds per evaluation.

    python forward.py chain N | urdf FILE | overhead

`overhead` is what a call from Python costs: aba of a model without joints, and a query of a MuJoCo model.
"""

import json
import sys
import xml.etree.ElementTree as ElementTree

import mujoco
import numpy as np
import pinocchio as pin
from timing import best


def pinocchio_chain(n):
    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -9.81])
    kinds, parent = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ), 0
    for i in range(n):
        place = pin.SE3(np.eye(3), np.array([0, 0, -1.0 if i else 0.0]))
        parent = model.addJoint(parent, kinds[i % 3](), place, f"joint{i}")
        inertia = pin.Inertia(1.0, np.array([0, 0, -0.5]), np.diag([0.1, 0.1, 0.01]))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return model


def mujoco_chain(n, step=1e-3):
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.gravity = step, (0, 0, -9.81)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    body = spec.worldbody
    for i in range(n):
        body = body.add_body(
            pos=(0, 0, -1.0 if i else 0.0), mass=1, ipos=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01), explicitinertial=True
        )
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=np.eye(3)[i % 3])
    return spec.compile()


def bare(path):
    """A URDF without shapes."""
    robot = ElementTree.parse(path).getroot()
    for element in list(robot):
        if element.tag not in ("link", "joint"):
            robot.remove(element)
            continue
        for child in [c for c in element if c.tag in ("visual", "collision", "limit", "mimic", "safety_controller")]:
            element.remove(child)
        if element.get("type") == "revolute":
            element.set("type", "continuous")
    return ElementTree.tostring(robot, encoding="unicode")


def measure(pin_model, mj_model):
    data, n = pin_model.createData(), pin_model.nv
    q, v, tau = pin.neutral(pin_model), 0.1 * np.cos(1 + np.arange(n)), np.zeros(n)
    peer = mujoco.MjData(mj_model)
    peer.qvel[:] = 0.1 * np.cos(1 + np.arange(mj_model.nv))
    found = {
        "pinocchio": best(lambda: pin.aba(pin_model, data, q, v, tau)),
        "mujoco": best(lambda: mujoco.mj_forward(mj_model, peer)),
    }
    steps = 200
    found["mujoco_step"] = best(lambda: mujoco.mj_step(mj_model, peer, steps)) / steps
    return found


if __name__ == "__main__":
    kind = sys.argv[1]
    if kind == "overhead":
        empty, one = pin.Model(), mujoco_chain(1)
        data, none = empty.createData(), np.zeros(0)
        costs = {
            "pinocchio": best(lambda: pin.aba(empty, data, none, none, none)),
            "mujoco": best(lambda: mujoco.mj_isSparse(one)),
        }
        print(json.dumps(costs))
        sys.exit()
    if kind == "urdf":
        text = bare(sys.argv[2])
        models = (pin.buildModelFromXML(text), mujoco.MjModel.from_xml_string(text))
    else:
        n = int(sys.argv[2])
        models = (pinocchio_chain(n), mujoco_chain(n))
    print(json.dumps(measure(*models)))
