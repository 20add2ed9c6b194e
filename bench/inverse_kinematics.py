"""Inverse kinematics of a UR5 and of other robots: random poses that they have, all at once.

    python bench/inverse_kinematics.py [COUNT | --smoke]

How many are met, to what accuracy, from the start alone and with random starts; time per pose, best of several. Of others a fifth
as many, each with and without the limits of its file.
"""

import importlib.metadata
import sys
import time

import numpy as np

import torsor as ts

ROBOT = "cmeel.prefix/share/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf"


OTHERS = ("ur10_robot.urdf", "kinova.urdf", "panda.urdf", "xarm7.urdf", "z1.urdf", "anymal-kinova.urdf")


def others(count):
    """Robots of six and more hinges."""
    package = importlib.metadata.distribution("example-robot-data")
    for path in [str(f) for f in package.files or () if str(f).endswith(OTHERS)]:
        robot = ts.read(str(package.locate_file(path)))
        model, dynamics = robot.model, ts.compile(robot.model, "relative")
        own = {name: robot.limits.get(name, {}) for name in dynamics.coordinates}
        low, high = (
            np.array([x.get(side, end) for x in own.values()]) for side, end in (("lower", -np.pi), ("upper", np.pi))
        )
        q = np.random.default_rng(1).uniform(np.maximum(low, -np.pi), np.minimum(high, np.pi), (count, dynamics.v.size))
        tool, H = f"{model.bodies[-1].name}.pose", dynamics.poses(q)[:, -1]
        for limits in (None, own):
            try:
                missed = int((ts.assemble(model, {tool: H}, limits=limits).residual > 1e-9).sum())
            except ts.AssemblyError as error:
                missed = int((error.nearest.residual > 1e-9).sum()) if error.nearest is not None else count
            print(
                f"{model.name}, {dynamics.v.size} joints, {'with' if limits else 'without'} limits: {count - missed} of {count}"
            )


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
    others(max(count // 5, 1))


if __name__ == "__main__":
    if sys.argv[1:] == ["--smoke"]:
        OTHERS = OTHERS[:1]
        main(5)
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
