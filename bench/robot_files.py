"""Robot files in MJCF: what is read, and accelerations of trees against MuJoCo's.

    python bench/robot_files.py [FOLDER …]           all *.xml below; default: the files that gymnasium carries
    python bench/robot_files.py --smoke

One line for each file that MuJoCo loads: `tree` with the largest difference of joint accelerations over the largest acceleration at
random states, controls and activations (no contacts, limits and friction losses, which MuJoCo makes soft), `closed` where equality
constraints close loops, which MuJoCo makes soft, `refused` with the message. A sum at the end. Files that are no models (included
parts) are left out. `TORSOR_LEVEL=0` compiles faster.
"""

import argparse
import pathlib
import warnings

import mujoco
import numpy as np

import torsor as ts

STENCIL = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}  # central difference of order 4
STEP = 1e-3


def random_state(m, random):
    """Positions, velocities, controls and activations near the file's own."""
    d = mujoco.MjData(m)
    d.qpos[:] = m.qpos0
    mujoco.mj_integratePos(m, d.qpos, 0.3 * random.standard_normal(m.nv), 1.0)
    d.qvel[:] = random.standard_normal(m.nv)
    d.ctrl[:] = 0.3 * random.standard_normal(m.nu)
    d.act[:] = 0.1 * random.standard_normal(m.na)
    return d


def accelerations(m, d):
    """MuJoCo's, without contacts, limits, friction losses and equality constraints."""
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    mujoco.mj_forward(m, d)
    return d.qacc.copy()


def difference(robot, m, random):
    """The largest difference of accelerations over the largest acceleration, in torsor's velocities."""
    d = random_state(m, random)
    inputs = dict(zip(robot.model.declared_inputs, d.ctrl.tolist()))
    arm = ts.compile(robot.model, parameters=inputs)
    expected = accelerations(m, d)
    velocities = lambda qpos, qvel: np.array(arm.state(robot.keyframe(qpos, qvel))[1])
    moved = {}
    for k in STENCIL:
        moved[k] = d.qpos.copy()
        mujoco.mj_integratePos(m, moved[k], d.qvel, k * STEP)
    bias = sum(c * velocities(moved[k], d.qvel) for k, c in STENCIL.items()) / STEP
    q, v = arm.state(robot.keyframe(d.qpos, d.qvel))
    a = np.array(arm.accelerations(q, v))
    target = velocities(d.qpos, expected) + bias
    return float(np.abs(a - target).max() / max(np.abs(target).max(), 1.0))


def files_of(folders):
    if folders:
        return sorted(x for folder in folders for x in pathlib.Path(folder).rglob("*.xml"))
    import gymnasium

    return sorted(pathlib.Path(gymnasium.__file__).parent.rglob("*.xml"))


def judge(file, random):
    """A word for what became of a file, and a number or message; None for files that MuJoCo does not load."""
    try:
        m = mujoco.MjModel.from_xml_path(str(file))
    except ValueError:
        return None
    try:
        robot = ts.read(str(file), actuators=True)
    except ts.ModelError as error:
        return "refused", str(error)
    if m.neq or m.na or not m.nv:
        return "closed" if m.neq else "states" if m.na else "still", f"{m.nv} velocities"
    skipped = [n for n in robot.report if n.importance == 0 and n.kind in ("ignored", "unsupported")]
    if skipped:
        return "partly", f"{skipped[0].element}: {skipped[0].message}"
    return "tree", difference(robot, m, random)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--smoke", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    files = files_of(given.folders)
    files = [f for f in files if f.stem == "inverted_double_pendulum"] if given.smoke else files
    random, count = np.random.default_rng(0), {}
    worst = 0.0
    for file in files:
        found = judge(file, random)
        if found is None:
            continue
        word, what = found
        count[word] = count.get(word, 0) + 1
        if word == "tree":
            worst, what = max(worst, what), f"{what:.1e}"
        print(f"{word:8s} {file.parent.name}/{file.name}  {what}", flush=True)
    print(", ".join(f"{n} {word}" for word, n in sorted(count.items())), f"; largest difference of trees {worst:.1e}")


if __name__ == "__main__":
    main()
