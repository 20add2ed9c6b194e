"""Random robots written as URDF, MJCF and SDF and read back: accelerations at random starts, against the model and against MuJoCo.

    python bench/robot_round_trips.py --models 500 --seed 1
    python bench/robot_round_trips.py --smoke

One line for each format: models, the largest difference of accelerations over the largest acceleration after reading back, and of
MuJoCo on the written file (MJCF with its keyframe; URDF of joints with one coordinate).
"""

import argparse
import pathlib
import sys
import tempfile
import warnings

import numpy as np

import torsor as ts
from torsor.elements.quantity import numbers

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "exchange"))

from exchange_peer import Peer  # noqa: E402
from random_robots import EVERY, accelerations, largest_difference, random_robot, starts_by_motion  # noqa: E402

PLAIN = ("revolute", "prismatic")  # MuJoCo composes links on fixed joints
SDF_KINDS = ("revolute", "prismatic", "universal", "screw", "spherical", "fixed")
SECOND = {"urdf": lambda k: f"_{k + 1}", "sdf": lambda k: "" if k == 0 else "_axis2"}


def mujoco_accelerations(file, model, keyframe):
    """Accelerations of the bodies of a written file in MuJoCo; rows as torsor's."""
    import mujoco

    peer = Peer(pathlib.Path(file).read_text())
    if keyframe:
        if peer.model.nkey:
            mujoco.mj_resetDataKeyframe(peer.model, peer.data, 0)
        mujoco.mj_forward(peer.model, peer.data)
    else:
        positions, velocities = starts_by_motion(model)
        peer.set(positions, velocities)
    found = {}
    for body in model.bodies:
        if mujoco.mj_name2id(peer.model, mujoco.mjtObj.mjOBJ_BODY, body.name) >= 0:
            _, _, linear, angular = peer.body(body.name)
            found[body.name] = np.concatenate([linear, angular])
    return found


def measure(random, format, folder):
    """Differences after reading back, and of MuJoCo, of one random robot; the second is None where it does not apply."""
    file = str(folder / {"mjcf": "robot.xml"}.get(format, f"robot.{format}"))
    plain = format == "urdf" and random.random() < 0.5
    if format == "mjcf":
        kinds = EVERY if random.random() < 0.5 else tuple(k for k in EVERY if k != "screw")
        model = random_robot(random, kinds)
    elif format == "urdf":
        kinds = PLAIN if plain else tuple(k for k in EVERY if k not in ("spherical", "none", "free"))
        model = random_robot(random, kinds, springs=False)
    else:
        model = random_robot(random, SDF_KINDS, reverse=False)
    ts.export_robot(model, file)
    expected, options = accelerations(model), {}
    if format != "mjcf":
        options["start"], options["start_rate"] = by_file(model, format)
    if format == "urdf":
        options["gravity"] = model.gravity
    back = ts.read(file, merge_fixed=False, **options)
    start = back.keyframes.get("start")
    again = largest_difference(expected, accelerations(back.model, start))
    soft = any(isinstance(j, ts.Screw) for j in model.joints)
    if soft or format == "sdf" or (format == "urdf" and not plain):
        return again, None
    if format == "urdf":
        expected = accelerations(rebuilt(file, options))
    return again, largest_difference(expected, mujoco_accelerations(file, model, format == "mjcf"))


def rebuilt(file, options):
    """The model of a URDF file with the gravity that MuJoCo takes."""
    return ts.read(file, merge_fixed=False, **(options | {"gravity": (0, 0, -9.81)})).model


def by_file(model, format):
    """Starts by the names of the motions in a file; ball joints of SDF have three numbers in axes of the world."""
    found = starts_by_motion(model, SECOND[format])
    for joint in model.joints:
        if isinstance(joint, ts.Spherical):
            for values, given in zip(found, (joint.start, joint.start_rate)):
                for k in range(3):
                    values.pop(joint.name + SECOND[format](k), None)
                values[joint.name] = numbers(given).ravel()
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--smoke", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for format in ("urdf", "mjcf", "sdf"):
        with tempfile.TemporaryDirectory() as folder:
            count = 3 if given.smoke else given.models
            found = [
                measure(np.random.default_rng([given.seed, k]), format, pathlib.Path(folder)) for k in range(count)
            ]
        peers = [b for _, b in found if b is not None]
        text = f"{format:5} {count} models   read back {max(a for a, _ in found):.1e}"
        print(text + (f"   MuJoCo {max(peers):.1e} ({len(peers)} models)" if peers else ""), flush=True)
