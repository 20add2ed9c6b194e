"""Speed beside the peers in absolute coordinates, in one run: N four-bar, heavy top, satellite, growth with size, first answer.

    python bench/speed.py [--peers ENV/bin/python] [--smoke]        ENV: an environment with pin, mujoco and exudyn

Best of several; torsor's time is that of its loop and of the whole call, peers' is process CPU time; kernels are compiled
beforehand. Without --peers only torsor is measured.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import torsor as ts

HERE = pathlib.Path(__file__).parent
REPEATS, SIZES = 7, (2, 10, 40)  # of runs; loops of the four-bar


def peer(python, script, *arguments):
    """The last record a peer prints, or None."""
    out = subprocess.run([python, HERE / "peers" / script, *map(str, arguments)], capture_output=True, text=True)
    records = [json.loads(line) for line in out.stdout.splitlines() if line.startswith("{")]
    if not records:
        print(f"    {script} failed: {out.stderr.strip().splitlines()[-1:]}")
    return records[-1] if records else None


def best(model, **options):
    """CPU seconds of the time loop and of the whole call of simulate, and the last result."""
    loop = whole = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        data = ts.simulate(model, formulation="absolute", **options)
        whole = min(whole, time.process_time() - start)
        loop = min(loop, data.attrs["wall_seconds"])
    return loop, whole, data


def four_bar(python):
    print("\nN four-bar, 10 s, energy error below 1e-3 J (bars: 12 times at N = 10, 30 times at N = 40)")
    per_step = {}
    for n in SIZES:
        model = ts.cases.load("four-bar", n=n)
        for tolerance in (1e-6, 7e-7, 5e-7, 3e-7, 2e-7, 1e-7):
            loop, whole, data = best(model, until=10.0, outputs=20, tolerance=tolerance)
            error = float(np.abs(data.energy - data.energy[0]).max())
            if error < 1e-3:
                break
        fixed, _, run = best(model, until=10.0, outputs=20, method="rkmk4", step=0.02)
        per_step[n] = fixed / run.attrs["steps"]
        print(
            f"  N = {n}: rkmk54, tolerance {tolerance:g}: {loop * 1e3:.2f} ms (whole call {whole * 1e3:.1f} ms),"
            f" error {error:.1e} J;"
            f" rkmk4, 0.02 s: {fixed * 1e3:.2f} ms, error {float(np.abs(run.energy - run.energy[0]).max()):.1e} J"
        )
        if python and n > 2:
            for script in ("fourbar_pinocchio.py", "fourbar_mujoco.py"):
                record = peer(python, script, n)
                if record:
                    met = "" if record["energy_error"] < 1e-3 else " (error not met)"
                    print(
                        f"    {record['peer']}: {record['seconds'] * 1e3:.0f} ms at h = {record['step']}{met}:"
                        f" torsor {record['seconds'] / loop:.0f} times faster, whole call {record['seconds'] / whole:.0f} times"
                    )
    least, most = SIZES[0], SIZES[-1]
    growth = per_step[most] / per_step[least] / ((2 * most + 1) / (2 * least + 1))
    print(
        f"  cost per rkmk4 step: {', '.join(f'N = {n}: {t * 1e6:.1f} us' for n, t in per_step.items())};"
        f" growth per body from N = {least} to N = {most}: {growth:.2f} (bar 1.3)"
    )


def heavy_top(python):
    print("\nHeavy top on its spherical joint, projected RK4, per step (bar: 3 times)")
    model = ts.cases.load("heavy-top")
    loop, _, data = best(model, until=2.0, outputs=2, method="rkmk4", step=1e-4)
    own = loop / data.attrs["steps"] * 1e6
    print(f"  torsor: {own:.3f} us, energy error {float(np.abs(data.energy - data.energy[0]).max()):.1e} J")
    for script in ("top_exudyn.py", "top_mujoco.py") if python else ():
        record = peer(python, script)
        if record:
            print(
                f"    {record['peer']}: {record['microseconds']:.2f} us: torsor {record['microseconds'] / own:.1f} times faster"
            )


def satellite():
    print("\nSatellite motion 1, 600 stabilised RKMK4 steps (document: 26.5 s, bar: 1,000 times)")
    loop, whole, data = best(ts.cases.load("satellite-1"), until=60.0, outputs=60, method="rkmk4", step=0.1)
    print(f"  torsor: {loop * 1e3:.2f} ms for {data.attrs['steps']} steps, {26.5 / loop:.0f} times faster")


FIRST = """
import time; start = time.perf_counter()
import torsor as ts
model = ts.cases.load({case!r}{options})
{action}
print(time.perf_counter() - start)
"""


def seconds(code, env):
    """What a fresh process prints."""
    command = [sys.executable, "-c", code]
    return float(subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout)


def first_answer(smoke):
    print("\nFirst answer, seconds from `import torsor`, in fresh processes")
    jobs = [
        (
            "three-link, 10 s run",
            FIRST.format(case="three-link", options="", action="ts.simulate(model, 10.0)"),
            "8 and 1",
        ),
        (
            "N = 40 four-bar, compiled",
            FIRST.format(case="four-bar", options=", n=40", action='ts.compile(model, formulation="absolute")'),
            "10 and 0.5",
        ),
    ]
    for title, code, bars in jobs:
        if smoke:  # with the kernels and loops that are there
            print(f"  {title}: {seconds(code, os.environ):.2f}")
            break
        with tempfile.TemporaryDirectory() as cache:
            env = dict(os.environ, TORSOR_CACHE=cache + "/t", NUMBA_CACHE_DIR=cache + "/n")
            cold, warm = seconds(code, env), min(seconds(code, env) for _ in range(5))
        print(f"  {title}: cold {cold:.2f}, warm {warm:.2f} (bars: {bars})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", help="interpreter of an environment with pin, mujoco and exudyn")
    parser.add_argument("--smoke", action="store_true", help="small sizes and no repetition: whether all of it runs")
    chosen = parser.parse_args()
    if chosen.smoke:
        REPEATS, SIZES = 1, (1, 2)
    heavy_top(chosen.peers)
    satellite()
    first_answer(chosen.smoke)
    four_bar(chosen.peers)
