"""Random mechanisms of all sizes: poses that they have are met, and prescribed motions are the same in both kinds of coordinates.

    python bench/random_kinematics.py [FIRST LAST]

For each mechanism: a random configuration, whose last body's pose is asked for (`ts.assemble`); and, where it has up to three
freedoms, a motion of as many joint coordinates (`ts.kinematics`), in joint coordinates and in those of the bodies. What is out of
reach though the mechanism was there, and what differs, is told; stops are no trouble.
"""

import itertools
import pathlib
import sys

import numpy as np

import torsor as ts

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests" / "physics"))
from mechanisms import mechanism  # noqa: E402

COMPARED = ("position", "velocity", "acceleration", "drive_force", "energy")


def wandered(dynamics, seed):
    """Another configuration of a mechanism."""
    random, q = np.random.default_rng(seed), dynamics.q
    for _ in range(6):
        other = dynamics._examiner.wander(0.0, q, dynamics.p, random, 0.2)
        q = q if other is None else other
    return q


def met(model, dynamics, seed):
    """Whether the pose of the last body at another configuration is found from the start."""
    H = dynamics.poses(wandered(dynamics, seed))[-1]
    try:
        return ts.assemble(model, {f"{dynamics.system.bodies[-1]}.pose": H}).residual < 1e-9
    except ts.AssemblyError:
        return any(isinstance(c, ts.Limit) for c in model.constraints)


def differing(model, dynamics):
    """How much a prescribed motion differs between two kinds of coordinates; None where there is none to prescribe."""
    system = dynamics.system
    at = ts.assemble(model, {}).coordinates
    unit = dict(zip(system.joint_coordinates, system.coordinate_units))
    own = [name for name in dynamics.coordinates if name in unit]
    for names in itertools.combinations(own, system.freedom):
        size = {name: system.length if unit[name] == "m" else 1.0 for name in names}
        drives = {name: at[name] + 0.15 * size[name] * (ts.time + 0.3 * ts.time**2) for name in names}
        try:
            one, two = (
                ts.kinematics(model, drives, np.linspace(0, 1, 5), formulation=f) for f in ("relative", "absolute")
            )
        except ts.RunError:  # a dead point, or a stop
            return None
        except (ts.OptionError, ts.ModelError):  # these do not determine it
            continue
        scale = lambda x: max(float(np.abs(x).max()), 1e-300)
        return max(float(np.abs(one[what] - two[what]).max()) / scale(one[what]) for what in COMPARED)
    return None


def main(first, last):
    missed, worst, moved = [], (0.0, None), 0
    for k in range(first, last):
        model = mechanism([13, k], most=4)[0]
        try:
            dynamics = ts.compile(model, "relative")
        except ts.TorsorError:
            continue
        if not met(model, dynamics, k):
            missed.append(k)
        if 1 <= dynamics.system.freedom <= 3 and dynamics.system.start_freedom == dynamics.system.freedom:
            off = differing(model, dynamics)
            moved += off is not None
            worst = max(worst, (off or 0.0, k), key=lambda e: e[0])
    print(f"{last - first} mechanisms: poses missed by {missed or 'none'}")
    print(f"{moved} motions, which differ by {worst[0]:.1e} at most (mechanism {worst[1]})")


if __name__ == "__main__":
    main(*(map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (0, 40)))
