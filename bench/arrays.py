"""Functions of arrays of states beside Pinocchio and MuJoCo, per evaluation, on one robot arm of 7 hinges.

    python bench/arrays.py [--peers ENV/bin/python] [--smoke]        ENV: an environment with pin and mujoco

Best of several; torsor's time is that of the whole call from NumPy arrays to NumPy arrays, divided by the states; a peer's is a
Python loop over the states, since it has no other, less what an empty loop costs.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import torsor as ts

COUNT, LINKS = 20_000, 7
PEER = """
import json, sys, time
import numpy as np
import pinocchio as pin, mujoco
path, count = sys.argv[1], int(sys.argv[2])
model = pin.buildModelFromUrdf(path)
data, rng = model.createData(), np.random.default_rng(1)
q, v, a = (rng.uniform(-1, 1, (count, model.nv)) for _ in range(3))
frame = model.nframes - 1
def best(f):
    found = []
    for _ in range(5):
        begin = time.process_time()
        for k in range(count):
            f(k)
        found.append(time.process_time() - begin)
    return min(found)
idle = best(lambda k: None)
def jacobian(k):
    pin.computeFrameJacobian(model, data, q[k], frame)
told = {
    "inverse_dynamics": best(lambda k: pin.rnea(model, data, q[k], v[k], a[k])),
    "forward_dynamics": best(lambda k: pin.aba(model, data, q[k], v[k], a[k])),
    "mass_matrix": best(lambda k: pin.crba(model, data, q[k])),
    "poses": best(lambda k: pin.forwardKinematics(model, data, q[k])),
    "point_jacobian": best(jacobian),
}
told = {name: (x - idle) / count * 1e6 for name, x in told.items()}
m = mujoco.MjModel.from_xml_path(path)
d = mujoco.MjData(m)
def forward(k):
    d.qpos, d.qvel, d.qfrc_applied = q[k], v[k], a[k]
    mujoco.mj_forward(m, d)
def inverse(k):
    d.qpos, d.qvel, d.qacc = q[k], v[k], a[k]
    mujoco.mj_inverse(m, d)
def poses(k):
    d.qpos = q[k]
    mujoco.mj_kinematics(m, d)
other = {"inverse_dynamics": best(inverse), "forward_dynamics": best(forward), "poses": best(poses)}
print(json.dumps([told, {name: (x - idle) / count * 1e6 for name, x in other.items()}]))
"""


def arm():
    """The text of a chain of hinges about axes that alternate."""
    inertia = '<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
    parts = ['<robot name="arm"><link name="base"/>']
    for k in range(LINKS):
        above, axis = "base" if k == 0 else f"link{k - 1}", "0 0 1" if k % 2 == 0 else "0 1 0"
        parts.append(
            f'<link name="link{k}"><inertial><origin xyz="0.02 0 0.15"/><mass value="{2 - 0.2 * k:g}"/>{inertia}</inertial></link>'
            f'<joint name="j{k}" type="revolute"><parent link="{above}"/><child link="link{k}"/>'
            f'<origin xyz="0 0 0.3"/><axis xyz="{axis}"/><limit lower="-3" upper="3" effort="9" velocity="9"/></joint>'
        )
    return "".join(parts) + "</robot>"


def best(f, count, repeats=7):
    """Microseconds per state."""
    f()
    found = []
    for _ in range(repeats):
        begin = time.process_time()
        f()
        found.append(time.process_time() - begin)
    return min(found) / count * 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", default=None)
    parser.add_argument("--smoke", action="store_true", help="small sizes and no repetition: whether all of it runs")
    given = parser.parse_args()
    python, count = given.peers, 10 if given.smoke else COUNT
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "arm.urdf"
        path.write_text(arm())
        model = ts.read(str(path)).model
        peers = [{}, {}]
        if python is not None:
            done = subprocess.run([python, "-c", PEER, path, str(count)], capture_output=True, text=True)
            peers = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else sys.exit(done.stderr)
    dynamics, random = ts.compile(model, "relative"), np.random.default_rng(1)
    q, v, a = (random.uniform(-1, 1, (count, LINKS)) for _ in range(3))
    calls = {
        "inverse_dynamics": lambda: dynamics.inverse_dynamics(q, v, a),
        "forward_dynamics": lambda: dynamics.forward_dynamics(q, v, a),
        "mass_matrix": lambda: dynamics.mass_matrix(q),
        "poses": lambda: dynamics.poses(q),
        "point_jacobian": lambda: dynamics.point_jacobian(f"link{LINKS - 1}", (0, 0, 0.1), q),
    }
    print(f"{LINKS} hinges, {count} states, microseconds per state: torsor, Pinocchio, MuJoCo")
    for name, call in calls.items():
        others = [f"{p[name]:7.2f}" if name in p else "      -" for p in peers]
        print(f"  {name:17s} {best(call, count):6.2f} {others[0]} {others[1]}")


if __name__ == "__main__":
    main()
