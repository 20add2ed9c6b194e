"""Forward dynamics of the serial chain in one peer: microseconds per evaluation.

python chain.py pinocchio | mujoco | drake N
"""

import json
import sys

import numpy as np
from timing import best

AXES = np.eye(3)
CENTER, INERTIA = (0, 0, -0.5), (0.1, 0.1, 0.01)


def pinocchio(n, v):
    import pinocchio as pin
    from forward import pinocchio_chain

    model = pinocchio_chain(n)
    data, q, tau = model.createData(), pin.neutral(model), np.zeros(n)
    return lambda: pin.aba(model, data, q, v, tau)


def mujoco(n, v):
    import mujoco
    from forward import mujoco_chain

    model = mujoco_chain(n)
    data = mujoco.MjData(model)
    data.qvel[:] = v
    return lambda: mujoco.mj_forward(model, data)


def drake(n, v):
    from pydrake.math import RigidTransform
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, RotationalInertia, SpatialInertia

    plant = MultibodyPlant(0.0)
    above = plant.world_frame()
    for i in range(n):
        inertia = SpatialInertia.MakeFromCentralInertia(1.0, CENTER, RotationalInertia(*INERTIA))
        link = plant.AddRigidBody(f"link{i}", inertia)
        if i:
            above = plant.AddFrame(FixedOffsetFrame(f"end{i}", above, RigidTransform([0, 0, -1.0])))
        plant.AddJoint(RevoluteJoint(f"joint{i}", above, link.body_frame(), AXES[i % 3]))
        above = link.body_frame()
    plant.Finalize()
    context = plant.CreateDefaultContext()

    def evaluate():
        plant.SetVelocities(context, v)  # what was computed before does not count
        plant.SetPositions(context, np.zeros(n))
        return plant.EvalTimeDerivatives(context)

    return evaluate


if __name__ == "__main__":
    who, n = sys.argv[1], int(sys.argv[2])
    call = {"pinocchio": pinocchio, "mujoco": mujoco, "drake": drake}[who](n, 0.1 * np.cos(1 + np.arange(n)))
    print(json.dumps({who: best(call)}))
