"""Generalised-α on the N four-bar, 10 s, ρ = 0.9, beside Exudyn's, at equal energy error.

    python bench/generalized_alpha.py [--n 10] [--peers ENV/bin/python] [--smoke]        ENV: an environment with exudyn

The energy error of the method falls with the square of the step. For each run of a peer, torsor takes the step at which it has the
same largest error on the way; the error at the end is told, too. Times are processor seconds: of whole calls of torsor, with
outputs, once the model is compiled, which is told apart, and of the peer's solver.
"""

import argparse
import json
import subprocess
import time
from pathlib import Path

import numpy as np

import torsor as ts

PEERS = (("planar", (0.002, 0.001, 0.0004)), ("tree", (0.01, 0.005)))
FORMULATIONS = ("relative", "absolute")
UNTIL, REPEATS, STEPS = 10.0, 5, (0.01, 0.005, 0.002, 0.001)


def run(model, formulation, step):
    """Processor seconds of a whole call, the best of five, largest energy error, and that at the end."""
    given = {"outputs": 500, "method": "generalized-alpha:rho=0.9", "formulation": formulation, "step": step}
    best = np.inf
    for _ in range(REPEATS):
        start = time.process_time()
        data = ts.simulate(model, UNTIL, **given)
        best = min(best, time.process_time() - start)
    error = data.energy.values - data.energy.values[0]
    return best, np.abs(error).max(), abs(error[-1])


def told(name, step, seconds, error, end, more=""):
    print(f"  {name:<34}{step:10.2e} s {seconds * 1e3:10.1f} ms {error:10.2e} J {end:10.2e} J  {more}", flush=True)


def main(n, python):
    model = ts.cases.load("four-bar", n=n)
    print(f"{n} four-bar: step, time of 10 s of motion, largest energy error, energy error at the end")
    known = {}
    for formulation in FORMULATIONS:
        start = time.perf_counter()
        run(model, formulation, 0.01)
        print(f"  torsor, {formulation}: the first call takes {time.perf_counter() - start:.1f} s, with an empty cache")
        for step in STEPS:
            known[formulation] = step, run(model, formulation, step)
            told(f"torsor, {formulation}", step, *known[formulation][1])
    for form, steps in PEERS if python else ():
        command = [
            python,
            str(Path(__file__).parent / "peers" / "fourbar_exudyn.py"),
            str(n),
            form,
            "0.9",
            *map(str, steps),
        ]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        for record in map(json.loads, lines):
            if record["seconds"] is None:
                print(f"  {record['peer']}, step {record['step']:g} s: its Newton iteration gives up")
                continue
            told(record["peer"], record["step"], record["seconds"], record["energy_error"], record["at_end"])
            for formulation, (step, (_, error, _)) in known.items():
                equal = step * np.sqrt(record["energy_error"] / error)
                own = run(model, formulation, equal)
                told(f"    torsor, {formulation}", equal, *own, f"{record['seconds'] / own[0]:.0f} times faster")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=10)
    parser.add_argument("--peers", help="interpreter of an environment with exudyn")
    parser.add_argument("--smoke", action="store_true", help="small sizes and no repetition: whether all of it runs")
    given = parser.parse_args()
    if given.smoke:
        given.n, UNTIL, REPEATS, STEPS = 1, 0.1, 1, STEPS[:1]
    main(given.n, given.peers)
