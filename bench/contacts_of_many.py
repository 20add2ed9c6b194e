"""Spheres that fall into a box, compliant contacts: time of a step against MuJoCo's, at the same step and comparable depths.

    python bench/contacts_of_many.py [--sizes 100,1000,2000] [--step 0.001] [--until 2]
    python bench/contacts_of_many.py --smoke

Columns: spheres, time of a step [µs] and the same for each sphere, deepest overlap at the end [mm]; of torsor (order 4, four
evaluations of all forces) and of MuJoCo (its standard options), which is left out where it is not installed, or above `--peer`
spheres.
"""

import argparse
import time
import warnings

import numpy as np

import torsor as ts

RADIUS, MASS, FRICTION = 0.05, 0.1, 0.5
LAYERS = 6
TURNS = ((1, 0), (-1, 0), (0, 1), (0, -1))


def places(count, seed=0):
    """Half the width of the box, and where the spheres begin."""
    side = max(int(round((count / LAYERS) ** 0.5)), 1)
    random, gap = np.random.default_rng(seed), 2.2 * RADIUS
    found = []
    for k in range(count):
        layer, rest = divmod(k, side * side)
        a, b = divmod(rest, side)
        found.append([(a - (side - 1) / 2) * gap, (b - (side - 1) / 2) * gap, 0.06 + layer * gap])
    return (side + 0.6) * gap / 2, np.array(found) + random.uniform(-0.002, 0.002, (count, 3))


def model_of(count, stiffness=5e5):
    half, at = places(count)
    model = ts.Model("balls", gravity=(0, 0, -9.81), hints=False)
    walls = [ts.shapes.plane((1, 1))]
    for x, y in TURNS:
        inwards = np.column_stack([(0, 0, 1), np.cross((x, y, 0), (0, 0, 1)), (x, y, 0)])
        walls.append(ts.shapes.plane((1, 1), at=(-half * x, -half * y, 0), rotation=inwards))
    balls = [model.body(f"b{k}", inertia=ts.inertia.sphere(MASS, RADIUS), at=x) for k, x in enumerate(at)]
    model.add(
        ts.ContactGroup(
            "touch",
            [(model.ground, walls), *balls],
            stiffness=stiffness,
            damping=1.0,
            friction=FRICTION,
            slip_speed=0.02,
        )
    )
    return model


def depth_of(x, half):
    """The deepest overlap of spheres with each other and with the box."""
    near = 0.0
    for k in range(len(x) - 1):
        near = max(near, 2 * RADIUS - np.linalg.norm(x[k + 1 :] - x[k], axis=1).min())
    return max(near, RADIUS - x[:, 2].min(), RADIUS - half + np.abs(x[:, :2]).max())


def measure(count, step, until):
    model = model_of(count)
    options = {"step": step, "method": "rkmk4", "outputs": 1}
    ts.simulate(model, step, **options)  # prepares
    start = time.perf_counter()
    data = ts.simulate(model, until, **options)
    return (time.perf_counter() - start) / (until / step), depth_of(data.position.values[-1], places(count)[0])


def measure_peer(count, step, until):
    import mujoco

    half, at = places(count)
    planes = '<geom type="plane" size="9 9 1"/>' + "".join(
        f'<geom type="plane" size="9 9 1" pos="{-half * x} {-half * y} 0" zaxis="{x} {y} 0"/>' for x, y in TURNS
    )
    balls = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom size="{RADIUS}" mass="{MASS}"/></body>' for x, y, z in at.tolist()
    )
    m = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{step}"/><default><geom friction="{FRICTION}"/></default>'
        f"<worldbody>{planes}{balls}</worldbody></mujoco>"
    )
    d, steps = mujoco.MjData(m), round(until / step)
    start = time.perf_counter()
    mujoco.mj_step(m, d, steps)
    return (time.perf_counter() - start) / steps, depth_of(d.qpos.reshape(count, 7)[:, :3], half)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="100,1000,2000")
    parser.add_argument("--step", type=float, default=1e-3)
    parser.add_argument("--until", type=float, default=2.0)
    parser.add_argument("--peer", type=int, default=100)
    parser.add_argument("--smoke", action="store_true")
    given = parser.parse_args()
    sizes, until = ([20], 0.05) if given.smoke else ([int(x) for x in given.sizes.split(",")], given.until)
    warnings.simplefilter("ignore")  # accuracy of a chaotic motion
    for count in sizes:
        seconds, depth = measure(count, given.step, until)
        text = f"{count:6d}  torsor {seconds * 1e6:9.1f} {seconds * 1e6 / count:7.3f} {depth * 1e3:7.3f}"
        if count <= given.peer:
            try:
                peer, peer_depth = measure_peer(count, given.step, until)
                text += f"   mujoco {peer * 1e6:9.1f} {peer * 1e6 / count:7.3f} {peer_depth * 1e3:7.3f}"
                text += f"   ratio {peer / seconds:.1f}"
            except ImportError:
                pass
        print(text, flush=True)


if __name__ == "__main__":
    main()
