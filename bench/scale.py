"""How cost, memory and the first answer grow with the number of bodies, beside the peers, in one run.

    python bench/scale.py [--sizes 100 1000 …] [--peers ENV/bin/python] [--systems chain train] [--smoke]

    evaluation   accelerations at a state, one call in a compiled loop, per body: the best of several
    memory       of the kernels of a run, their tables and numbers, and of its states, per body
    first step   from the start of Python to the first step of a run, in a process and a cache of its own: import, description,
                 derivation, compilation; loops, which are shipped compiled with an installed package, are there

ENV has pin, mujoco and drake. Every size runs in a process of its own.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
BARS = {"chain": 0.12}  # µs a body


def described(system, bodies):
    """A system of about so many bodies, and the formulation it runs in."""
    import torsor as ts

    if system in ("chain", "chain, by table"):
        return ts.cases.load("chain", n=bodies), "relative"
    if system == "chain, hierarchical":
        return ts.cases.load("chain", n=bodies), "hierarchical"
    if system == "heavy-top":
        return ts.cases.load("heavy-top"), "relative"
    each = len(ts.cases.load(system, n=2).bodies) - len(ts.cases.load(system, n=1).bodies)
    return ts.cases.load(system, n=max(1, round(bodies / each))), "hierarchical"


def evaluated(system, bodies):
    """Microseconds of one evaluation, its operations, and bytes of the kernels' own memory."""
    import numpy as np
    from numba import njit

    from torsor.kernels.kernel_address import call
    from torsor.prepare.prepare import prepare

    @njit
    def repeat(factor, rate, first, second, count):
        for _ in range(count):
            if factor != 0:
                call(factor, first)
            call(rate, second)

    if system == "chain, by table":
        os.environ["TORSOR_TABLES_ABOVE"] = "0"
    model, formulation = described(system, bodies)
    found, built = prepare(model, formulation)
    factor, rate = built["factor"], built["rate"]
    full = lambda size: np.zeros(max(1, size))
    x = np.concatenate([found.q, found.v, full(rate.size_in(1) - len(found.q) - len(found.v))])[: rate.size_in(1)]
    t, p, F, gains = np.zeros(1), np.append(found.p, 0.0), full(factor.size_out(0)), np.zeros(4)
    work = full(max(factor.work_size, rate.work_size))
    given = (t, x, p, F, work), (t, x, p, F, gains, full(rate.size_out(0)), full(rate.size_out(1)), work)
    addresses = factor.address if factor.size_out(0) > 1 else 0, rate.address
    repeat(*addresses, *given, 2)
    count, best = max(1, 200_000 // len(model.bodies)), float("inf")
    for _ in range(9):
        start = time.process_time()
        repeat(*addresses, *given, count)
        best = min(best, (time.process_time() - start) / count)
    n = len(model.bodies)
    tables = rate.tables.nbytes
    work = 8 * (max(kernel.work_size for kernel in built.values()) + factor.size_out(0) + 12 * len(x))
    operations = rate.instructions + (factor.instructions if addresses[0] else 0)
    memory = (tables + work) / n
    return {"bodies": n, "microseconds": best * 1e6 / n, "operations": operations / n, "bytes": memory}


def first_step(system, bodies):
    """Seconds since the start of the process, until the model was described and until the first step was done; megabytes held
    then by the whole process."""
    start = float(os.environ["STARTED"])
    import torsor as ts

    model, formulation = described(system, bodies)
    told = time.time() - start
    options = {"formulation": formulation, "method": "rkmk4", "outputs": [1e-4]}
    ts.simulate(model, 1e-4, step=1e-4, **options)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"described": told, "first": time.time() - start, "megabytes": most}


def alone(what, system, bodies, environment):
    """One measurement in a process of its own."""
    command = [sys.executable, __file__, "--alone", what, system, str(bodies)]
    out = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment, "STARTED": repr(time.time())}
    )
    lines = [line for line in out.stdout.splitlines() if line.startswith("{")]
    if not lines:
        sys.exit(f"{system}, {bodies} bodies: {out.stderr.strip().splitlines()[-1:]}")
    return json.loads(lines[-1])


def cold(system, bodies, loops):
    """The first step without any kernel in the cache: only the loops, which are no part of a model, are there.

    loops   a folder with them; None: what is there is used
    """
    if loops is None:
        return alone("first", system, bodies, {})
    with tempfile.TemporaryDirectory() as folder:
        own = shutil.copytree(loops, pathlib.Path(folder) / "cache")
        return alone("first", system, bodies, {"TORSOR_CACHE": str(own)})


REACH = {"pinocchio": 500, "mujoco": 1000, "drake": 9000}  # links that a peer can hold in 8 GB, about


def peers(python, bodies):
    """Microseconds a link of forward dynamics of the chain in the peers that reach this size."""
    found = {}
    for who in [who for who, most in REACH.items() if python and bodies <= most]:
        out = subprocess.run([python, HERE / "peers" / "chain.py", who, str(bodies)], capture_output=True, text=True)
        lines = [line for line in out.stdout.splitlines() if line.startswith("{")]
        if lines:
            found[who] = json.loads(lines[-1])[who] / bodies
        else:
            print(f"    {who}, {bodies} links: {out.stderr.strip().splitlines()[-1:]}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 300, 1000, 3000, 9000, 100_000])
    parser.add_argument("--systems", nargs="+", default=["chain", "train"])
    parser.add_argument("--peers")
    parser.add_argument("--alone", nargs=3)
    parser.add_argument("--smoke", action="store_true", help="small sizes and no repetition: whether all of it runs")
    chosen = parser.parse_args()
    if chosen.smoke:
        chosen.sizes, chosen.systems = [70], ["chain"]
    if chosen.alone:
        what, system, bodies = chosen.alone
        print(json.dumps({"evaluation": evaluated, "first": first_step}[what](system, int(bodies))))
        return
    loops = None if chosen.smoke else tempfile.mkdtemp()
    if loops is not None:
        alone("first", "heavy-top", 1, {"TORSOR_CACHE": loops})
    straight, table = (alone("evaluation", name, 30, {})["microseconds"] for name in ("chain", "chain, by table"))
    print(
        f"30 links: {straight:.3f} us a link as straight code, {table:.3f} by table: {table / straight:.2f} (bar 2.5)"
    )
    for system in chosen.systems:
        print(f"\n{system}: a body and evaluation; first step with nothing compiled")
        costs = []
        for bodies in chosen.sizes:
            cost, first = alone("evaluation", system, bodies, {}), cold(system, bodies, loops)
            costs.append(cost["microseconds"])
            beside = peers(chosen.peers, bodies) if system == "chain" else {}
            text = "".join(f", {k} {v:.3f} ({v / costs[-1]:.1f} times)" for k, v in beside.items())
            print(
                f"  {cost['bodies']:7d} bodies: {costs[-1]:.3f} us, {cost['operations']:.0f} operations{text};"
                f" {cost['bytes']:.0f} bytes; first step {first['first']:.2f} s, of which description"
                f" {first['described']:.2f}, {first['megabytes']:.0f} MB in all"
            )
        bar = f", bar {BARS[system]} us" if system in BARS else ""
        print(f"  largest over smallest: {max(costs) / min(costs):.2f} (bar 1.5){bar}")


if __name__ == "__main__":
    main()
