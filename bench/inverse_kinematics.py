"""Inverse kinematics of a UR5: random poses that it has, all at once.

    python bench/inverse_kinematics.py [COUNT]

How many are met, to what accuracy, from the start alone and with random starts; time per pose, best of several.
"""

import importlib.metadata
import sys
import time

import numpy as np

import torsor as ts

ROBOT = "cmeel.prefix/share/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf"


def main(count):
    model = ts.read(str(importlib.metadata.distribution("example-robot-data").locate_file(ROBOT))).model
    dynamics, tool = ts.compile(model, "relative"), f"{model.bodies[-1].name}.pose"
    q = np.random.default_rng(5).uniform(-np.pi, np.pi, (count, 6))
    H = dynamics.poses(q)[:, -1]
    alone = ts.assemble(model, {tool: H}, least_squares=True)
    print(f"from the start alone: {int((alone.residual < 1e-9).sum())} of {count}")
    taken = []
    for _ in range(3):
        begin = time.process_time()
        found = ts.assemble(model, {tool: H})
        taken.append(time.process_time() - begin)
    off = np.abs(dynamics.poses(found.q)[:, -1] - H).max()
    print(f"with random starts: {int((found.residual < 1e-9).sum())} of {count}, poses to {off:.1e}")
    print(f"{min(taken) / count * 1e3:.2f} ms per pose")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
