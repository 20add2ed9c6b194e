"""Stiff models: steps and seconds of explicit and implicit methods at the same accuracy.

    python bench/stiff.py [--error 1e-6]

Governor: each method is given the loosest tolerance, of twelve per decade, from which on the error in the end stays below what is
asked for, over the size of the model, against a converged run. Rest: a mass hangs for 10 s on a spring of 1e8 N/m with a damper of
2e6 N s/m; the steps of the explicit method are those of a hundredth of the time, times a hundred. Times are those of the loops,
the best of five; the model is compiled before.
"""

import argparse

import numpy as np

import torsor as ts

METHODS = ("rkmk54", "dop853", "radau5", "bdf")
UNTIL = 10.0


def hanging():
    model = ts.Model("hanging", gravity=(0, 0, -9.81))
    mass = model.body("mass", mass=1.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, mass, axis=(0, 0, 1)))
    model.add(ts.JointForce("spring", rail, value=-1e8 * rail.coordinate[0] - 2e6 * rail.rate[0]))
    return model


def run(model, until, method, tolerance):
    return ts.simulate(model, until, outputs=1, method=method, tolerance=tolerance)


def loosest(model, method, exact, most):
    """The loosest tolerance from which on errors are small enough."""
    found = None
    for tolerance in 10.0 ** np.arange(-12, -2, 1 / 12):
        data = run(model, UNTIL, method, tolerance)
        error = float(np.abs(data.position - exact).max()) / data.attrs["model_length"]
        if error > most:
            break
        found = tolerance
    return found


def told(name, method, tolerance, data, seconds, steps, most):
    a = data.attrs
    print(
        f"  {name:<10}{method:<8}{tolerance:10.1e}{a['steps']:>11,} steps{a['evaluations']:>11,} evaluations"
        f"{seconds * 1e3:11.2f} ms{most / steps:9.1f} times fewer steps",
        flush=True,
    )


def main(most):
    model, first = ts.cases.load("governor"), None
    exact = run(model, UNTIL, "radau5", 1e-12).position
    print(f"governor, {UNTIL:g} s, errors below {most:g} of its size: the loosest tolerance and what it costs")
    for method in METHODS:
        tolerance = loosest(model, method, exact, most)
        runs = [run(model, UNTIL, method, tolerance) for _ in range(5)]
        steps = runs[0].attrs["steps"]
        first = first or steps
        told("governor", method, tolerance, runs[0], min(data.attrs["wall_seconds"] for data in runs), steps, first)
    print(f"a mass that hangs on a hard spring, {UNTIL:g} s, tolerance 1e-9")
    part = run(hanging(), UNTIL / 100, "rkmk54", 1e-9)
    many = 100 * part.attrs["steps"]
    print(f"  rest      rkmk54             {many:>11,} steps (of a hundredth of the time, times a hundred)")
    for method in ("radau5", "bdf"):
        data = run(hanging(), UNTIL, method, 1e-9)
        told("rest", method, 1e-9, data, data.attrs["wall_seconds"], data.attrs["steps"], many)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--error", type=float, default=1e-6, help="largest error in the end, over the size of the model"
    )
    main(parser.parse_args().error)
