"""Constrained forward dynamics of closed loops in Pinocchio (constraintDynamics) and MuJoCo (connect): microseconds.

python loops.py FILE.json      bodies as a tree of revolute joints, and points that coincide
"""

import json
import sys

import mujoco
import numpy as np
import pinocchio as pin
from timing import best


def in_pinocchio(case):
    model = pin.Model()
    model.gravity.linear = np.array(case["gravity"])
    ids = {-1: 0}
    for i in case["depth_first"]:
        b = case["bodies"][i]
        place = pin.SE3(np.eye(3), np.array(b["offset"]))
        ids[i] = model.addJoint(ids[b["parent"]], pin.JointModelRevoluteUnaligned(np.array(b["axis"])), place, f"j{i}")
        inertia = pin.Inertia(b["mass"], np.array(b["com"]), np.array(b["inertia"]))
        model.appendBodyToJoint(ids[i], inertia, pin.SE3.Identity())
    closures, closure_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    place = lambda p: pin.SE3(np.eye(3), np.array(p))
    for c in case["closures"]:
        closures.append(
            pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, model, ids[c["a"]], place(c["pa"]), ids[c["b"]], place(c["pb"]),
                pin.ReferenceFrame.LOCAL,
            )
        )  # fmt: skip
    for c in closures:
        closure_data.append(c.createData())
    data = model.createData()
    pin.initConstraintDynamics(model, data, closures, closure_data)
    settings = pin.ProximalSettings(1e-12, 1e-10, 10)
    q, v, tau = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
    return lambda: pin.constraintDynamics(model, data, q, v, tau, closures, closure_data, settings)


def in_mujoco(case):
    spec = mujoco.MjSpec()
    spec.option.gravity = case["gravity"]
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    spec.compiler.balanceinertia = True
    made = {-1: spec.worldbody}
    for i in case["depth_first"]:
        b = case["bodies"][i]
        J = np.array(b["inertia"])
        full = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
        made[i] = made[b["parent"]].add_body(
            name=f"b{i}", pos=b["offset"], mass=b["mass"], ipos=b["com"], fullinertia=full, explicitinertial=True
        )
        made[i].add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=b["axis"])
    for c in case["closures"]:
        closure = spec.add_equality()
        closure.type, closure.objtype = mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtObj.mjOBJ_BODY
        closure.name1 = f"b{c['a']}" if c["a"] >= 0 else "world"
        closure.name2 = f"b{c['b']}" if c["b"] >= 0 else "world"
        closure.data[:3] = c["pa"]
    model = spec.compile()
    data = mujoco.MjData(model)
    return lambda: mujoco.mj_forward(model, data)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        given = json.load(file)
    found = {}
    for name, build in (("pinocchio", in_pinocchio), ("mujoco", in_mujoco)):
        try:
            found[name] = best(build(given))
        except Exception as error:  # noqa: BLE001  (a peer that cannot express the system is reported as such)
            found[name] = None
            found[name + "_error"] = str(error)[:200]
    print(json.dumps(found))
