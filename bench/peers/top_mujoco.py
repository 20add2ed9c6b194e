"""Heavy top in MuJoCo: ball joint, RK4; time per step."""

import json
import time

import mujoco

H = 1e-4

spec = mujoco.MjSpec()
spec.option.timestep = H
spec.option.gravity = (0, 0, -9.81)
spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
top = spec.worldbody.add_body(
    name="top", mass=15, ipos=(0, 1, 0), inertia=(0.234375, 0.46875, 0.234375), explicitinertial=True
)
top.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
model = spec.compile()
data = mujoco.MjData(model)
best = float("inf")
for _ in range(7):
    mujoco.mj_resetData(model, data)
    data.qvel[:] = (0, 150, -4.61538)
    start = time.process_time()
    mujoco.mj_step(model, data, 20000)
    best = min(best, time.process_time() - start)
print(json.dumps({"peer": "MuJoCo RK4, ball joint", "step": H, "microseconds": best / 20000 * 1e6}))
