"""Joint coordinates beside the peers, in one run: chains, real robots, closed loops.

    python bench/joint_coordinates.py [--peers ENV/bin/python] [--robots FOLDER] [--smoke]

ENV has pin and mujoco; without it only torsor is measured. FOLDER is the `robots` folder of the wheel example-robot-data.
Forward dynamics is timed inside a compiled loop; from the peers the cost of a call from Python is taken off.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np
from numba import njit

import torsor as ts
from torsor.formulations.tables.tree_schedule import is_large, tables_above
from torsor.kernels.kernel_address import call
from torsor.model.topology import spanning_tree
from torsor.prepare.prepare import prepare

HERE = pathlib.Path(__file__).parent
COUNT, REPEATS = 20_000, 9


@njit
def repeat(addresses, factor, accelerations, count):
    for _ in range(count):
        if addresses[0] != 0:
            call(addresses[0], factor)
        call(addresses[1], accelerations)


def microseconds(model, formulation="relative"):
    """One forward dynamics, factorisation included where there are loops; and its instructions."""
    d = ts.compile(model, formulation=formulation)
    if is_large(len(model.bodies)):
        return by_table(model, formulation)
    factor, accelerations = d.kernels["factor"], d.kernels["accelerations"]
    full = lambda size: np.zeros(max(1, size))
    t, q, v, p, F = np.zeros(1), d.q.copy(), d.v + 0.0, np.append(d.p, 0.0), full(factor.size_out(0))
    work = full(max(factor.work_size, accelerations.work_size))
    outs = [full(accelerations.size_out(i)) for i in range(3)]
    loops = d.system.sizes["multipliers"] > 0
    addresses = np.array([factor.address if loops else 0, accelerations.address], np.int64)
    arguments = ((t, q, p, F, work), (t, q, v, p, F, *outs, work))
    return best(addresses, arguments), accelerations.instructions + (factor.instructions if loops else 0)


def by_table(model, formulation):
    """The same of a large model, whose links share code that is called through a table."""
    system, built = prepare(model, formulation)
    factor, rate = built["factor"], built["rate"]
    full = lambda size: np.zeros(max(1, size))
    x, p, F = system.state.join_blocks(system.q, system.v, system.p), np.append(system.p, 0.0), full(factor.size_out(0))
    work, t = full(max(factor.work_size, rate.work_size)), np.zeros(1)
    outs = [full(rate.size_out(i)) for i in range(2)]
    loops = factor.size_out(0) > 1
    addresses = np.array([factor.address if loops else 0, rate.address], np.int64)
    found = best(addresses, ((t, x, p, F, work), (t, x, p, F, np.zeros(4), *outs, work)))
    return found, rate.instructions + (factor.instructions if loops else 0)


def best(addresses, arguments):
    """Microseconds of one evaluation, the best of several times."""
    repeat(addresses, *arguments, 10)
    found = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        repeat(addresses, *arguments, COUNT)
        found = min(found, (time.process_time() - start) / COUNT)
    return found * 1e6


def peer(python, script, *arguments):
    """What a peer prints; nothing where there is none."""
    if python is None:
        return {}
    out = subprocess.run([python, HERE / "peers" / script, *map(str, arguments)], capture_output=True, text=True)
    lines = [line for line in out.stdout.splitlines() if line.startswith("{")]
    if not lines:
        print("   ", out.stderr.strip().splitlines()[-1:])
    return json.loads(lines[-1]) if lines else {}


def compare(title, own, count, found, overhead, bar):
    """Peers less the cost of a call, which is small against a constrained solution and is taken off there too."""
    net = {k: found[k] - overhead[k] for k in ("pinocchio", "mujoco") if found.get(k)}
    text = ", ".join(f"{k} {found[k]:.2f} ({net[k]:.2f} net)" for k in net)
    beside = f"; {text}: {min(net.values()) / own:.1f} times faster (bar {bar})" if net else ""
    print(f"  {title}: torsor {own:.3f} us ({count} instructions){beside}")


def tree_case(name):
    """A case with revolute joints as plain data for the peers: every frame parallel to the world at its joint."""
    model = ts.cases.load(name, **({"n": 1} if name == "four-bar" else {}))
    top = spanning_tree(model)
    number = lambda x: ts.quantity.numbers(x)
    at, bodies, index = {}, [], {}
    world = lambda body, local: (
        number(body.start_rotation) @ number(local)[:3, 3] + number(body.start_position).ravel()
    ).tolist()
    for branch in top.branches:
        joint, body = branch.joint, branch.body
        point = world(joint.first, joint.placed[0])
        parent = -1 if branch.parent is None else index[id(branch.parent)]
        base = [0, 0, 0] if parent < 0 else at[parent]
        R = number(body.start_rotation)
        inertia = R @ number(body.inertia) @ R.T
        index[id(body)] = len(bodies)
        at[len(bodies)] = point
        bodies.append({
            "parent": parent, "axis": list(joint.axis), "offset": list(np.subtract(point, base)), "mass": float(body.mass),
            "com": list(np.subtract(number(body.start_position).ravel(), point)), "inertia": inertia.tolist(),
        })  # fmt: skip
    order, stack = [], [i for i, b in enumerate(bodies) if b["parent"] < 0][::-1]
    while stack:
        i = stack.pop()
        order.append(i)
        stack += [k for k, b in enumerate(bodies) if b["parent"] == i][::-1]
    closures = []
    for joint in top.cut:
        point = world(joint.first, joint.placed[0])
        a, b = (index.get(id(body), -1) for body in (joint.first, joint.second))
        for shift in ([0, 0, 0],) if name != "bricard" else ([0, 0, 0], list(joint.axis)):
            p = np.add(point, shift)
            closures.append(
                {"a": a, "b": b, "pa": list(p - at.get(a, np.zeros(3))), "pb": list(p - at.get(b, np.zeros(3)))}
            )
    gravity = number(model.gravity).ravel().tolist()
    return {"bodies": bodies, "depth_first": order, "closures": closures, "gravity": gravity}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers")
    parser.add_argument("--robots")
    parser.add_argument("--smoke", action="store_true", help="small sizes and no repetition: whether all of it runs")
    chosen = parser.parse_args()
    sizes, until = ((7, 7), (12, 5), (30, 4.5), (100, 5)), 2.0
    if chosen.smoke:
        COUNT, REPEATS, sizes, until = 10, 1, ((3, 7), (tables_above() + 1, 5)), 0.01
    overhead = peer(chosen.peers, "forward.py", "overhead")
    print("Forward dynamics of the serial chain")
    for n, bar in sizes:
        compare(
            f"{n} links",
            *microseconds(ts.cases.load("chain", n=n)),
            peer(chosen.peers, "forward.py", "chain", n),
            overhead,
            bar,
        )
    data = [
        ts.simulate(ts.cases.load("chain", n=7), until, formulation="relative", method="rkmk4", step=1e-4, outputs=2)
        for _ in range(5)
    ]
    own = min(d.attrs["wall_seconds"] / d.attrs["steps"] for d in data) * 1e6
    step = peer(chosen.peers, "forward.py", "chain", 7).get("mujoco_step")
    beside = f", mj_step {step:.2f} us: {step / own:.1f} times faster (bar 4)" if step else ""
    print(f"  RK4 step, 7 links: torsor {own:.2f} us{beside}")
    if chosen.robots:
        print("Real robots, fixed base")
        from torsor.exchange import read_urdf

        for name, path in (
            ("xarm7", "xarm_description/urdf/xarm7.urdf"),
            ("a1 quadruped", "a1_description/urdf/a1.urdf"),
        ):
            file = pathlib.Path(chosen.robots) / path
            compare(
                name, *microseconds(read_urdf(file).model), peer(chosen.peers, "forward.py", "urdf", file), overhead, 4
            )
    print("Closed loops")
    for name in ("four-bar", "bricard", "andrews"):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(tree_case(name), file)
            file.flush()
            found = peer(chosen.peers, "loops.py", file.name)
        model = ts.cases.load(name, **({"n": 1} if name == "four-bar" else {}))
        compare(name, *microseconds(model), found, overhead, 5)
