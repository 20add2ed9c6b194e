"""Throughput of ranks: steps per second of one process, and of several that run the same system together.

    python bench/ranks.py [--system train] [--bodies 10000] [--ranks 2] [--until 0.02] [--repeat 3] [--smoke]

The time is that of the run alone, without preparation, as the result tells it; the best of several, taken in turns so that other
work on the machine meets both. Bar: two ranks on a quiet machine with two processors at least 1.5 times as fast as one process.
Results are compared, too: the largest difference of positions and velocities over their size.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import torsor as ts


def run(system, size, until, ranks, out):
    """The result of a run in processes of its own."""
    arguments = ["run", system, "--set", f"n={size}", "--until", str(until), "--outputs", "1", "--out", str(out)]
    manner = ["--ranks", str(ranks)] if ranks > 1 else ["--formulation", "hierarchical"]
    subprocess.run([sys.executable, "-m", "torsor", *arguments, *manner], check=True, stdout=subprocess.DEVNULL)
    return ts.load_result(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--system", default="train")
    parser.add_argument("--bodies", type=int, default=10_000)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--until", type=float, default=0.02)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--smoke", action="store_true", help="small sizes and no repetition: whether all of it runs")
    given = parser.parse_args()
    if given.smoke:
        given.bodies, given.until, given.repeat = 80, 0.001, 1
    each = len(ts.cases.load(given.system, n=2).bodies) - len(ts.cases.load(given.system, n=1).bodies)
    size = max(1, round(given.bodies / each))
    best: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(given.repeat):
            found = {}
            for ranks in (1, given.ranks):
                found[ranks] = run(given.system, size, given.until, ranks, pathlib.Path(folder, f"{ranks}.nc"))
                a = found[ranks].attrs
                best[ranks] = min(best.get(ranks, np.inf), a["wall_seconds"] / a["steps"])
    one, several = found[1], found[given.ranks]
    print(f"{given.system} of {one.sizes['body']} bodies, {one.attrs['steps']} and {several.attrs['steps']} steps")
    print(f"shares: {several.attrs['rank_shares']}")
    for ranks, seconds in best.items():
        print(
            f"{ranks} rank{'s' if ranks > 1 else ' '}  {1e3 * seconds:9.2f} ms a step   {best[1] / seconds:5.2f} times one process"
        )
    for name in ("position", "velocity"):
        a, b = one[name].values, several[name].values
        print(f"{name}: differs by {np.abs(a - b).max() / (1 + np.abs(a).max()):.1e}")


if __name__ == "__main__":
    main()
