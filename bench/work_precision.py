"""Work and precision: the error of a run against the time that it takes, for every method that suits a problem.

    python bench/work_precision.py [PROBLEM …] [--methods KEY …] [--json FILE] [--picture FILE]

error   largest distance of a body's position from that of a converged run, at 20 instants, over the model's size
time    the time loop of `ts.simulate`, kernels compiled beforehand, best of three, time of the processor [s]

Methods with an error estimate run over tolerances, the others over steps. The converged run is one of `dop853` with a tolerance of
1e-13, or of `radau5` where the model is stiff. A run that fails, or would take longer than `LONGEST`, ends the row of its method.
"""

import argparse
import json
import time
import warnings
from types import SimpleNamespace

import numpy as np

import torsor as ts
from torsor.run import runner

runner.clock = SimpleNamespace(perf_counter=time.process_time)  # others may use the machine, too
OUTPUTS, REPEATS, LONGEST = 20, 3, 5.0
TOLERANCES = 10.0 ** -np.arange(3, 13)
METHODS = (
    "rkmk54", "dop853", "rkmk4", "cf4", "abm4", "variational", "variational4", "variational6", "implicit-midpoint",
    "generalized-alpha", "radau5", "bdf",
)  # fmt: skip
STIFF = (
    "implicit-midpoint",
    "generalized-alpha",
    "radau5",
    "bdf",
)  # methods that run stiff problems, beside the default
PROBLEMS = {  # case, options, time, shortest number of steps, whether it is stiff
    "heavy-top": ({}, 2.0, 100, False),
    "platform": ({}, 3.0, 100, False),
    "four-bar": ({"n": 10}, 0.6, 40, False),
    "andrews": ({}, 0.03, 100, False),
    "governor": ({}, 10.0, 200, True),
    "car": ({}, 1.5, 100, True),
}


def run(model, until, **given):
    """A run, and its time."""
    data = ts.simulate(model, until, outputs=OUTPUTS, **given)
    return data.position.values, data.attrs["wall_seconds"], data.attrs["steps"]


def row(model, until, method, fewest, exact, size):
    """Settings, errors, times and steps of a method, from coarse to fine."""
    adaptive = ts.registered("integrator")[method].adaptive()
    settings = [{"tolerance": x} for x in TOLERANCES]
    if not adaptive:
        settings = [{"step": until / (fewest * 2**k)} for k in range(14)]
    found = []
    for given in settings:
        try:
            first, taken, steps = run(model, until, method=method, **given)
        except ts.TorsorError:
            continue  # too coarse
        error = np.abs(first - exact).max() / size
        if taken < LONGEST / REPEATS:
            taken = min([taken, *[run(model, until, method=method, **given)[1] for _ in range(REPEATS - 1)]])
        found.append(
            {**{k: float(v) for k, v in given.items()}, "error": float(error), "time": taken, "steps": int(steps)}
        )
        if taken > LONGEST or (len(found) > 1 and error > 0.5 * found[-2]["error"] and error < 1e-9):
            break  # rounding is reached
    return found


def measured(problem, methods):
    """All rows of a problem."""
    options, until, fewest, stiff = PROBLEMS[problem]
    model = ts.cases.load(problem, **options)
    exact = run(model, until, method="radau5" if stiff else "dop853", tolerance=1e-13 if not stiff else 1e-12)[0]
    size = float(np.ptp(exact.reshape(-1, 3), axis=0).max())
    return {method: row(model, until, method, fewest, exact, size) for method in methods}


def text(problem, rows):
    """The time that each method takes for errors of 1e-4, 1e-6, 1e-8 and 1e-10."""
    goals = (1e-4, 1e-6, 1e-8, 1e-10)
    lines = [f"{problem:20s}" + "".join(f"{goal:14.0e}" for goal in goals)]
    for method, found in rows.items():
        cells = []
        for goal in goals:
            enough = [x for x in found if x["error"] <= goal]
            best = min(enough, key=lambda x: x["time"]) if enough else None
            cells.append("-" if best is None else f"{best['time'] * 1e3:.3g} ms ({best['steps']})")
        lines.append(f"  {method:18s}" + "".join(f"{cell:>20s}" for cell in cells))
    return "\n".join(lines)


def drawn(kept, path):
    """One diagram per problem."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    figure, axes = plt.subplots(2, 3, figsize=(11, 7), layout="constrained")
    colors = dict(zip(METHODS, plt.colormaps["tab20"].colors))
    for ax, (problem, rows) in zip(axes.flat, kept.items()):
        for method, found in rows.items():
            if found:
                points = np.array([(max(x["error"], 1e-16), x["time"] * 1e3) for x in found]).T
                ax.loglog(*points, "-o", ms=3, lw=1.3, color=colors[method], label=method)
        ax.invert_xaxis()
        ax.set_title(problem)
        ax.grid(alpha=0.25)
        ax.set_xlabel("error over size")
        ax.set_ylabel("time of the run [ms]")
    shown = {label: line for ax in axes.flat for line, label in zip(*ax.get_legend_handles_labels())}
    figure.legend(shown.values(), shown, loc="outside lower center", ncols=6, fontsize=9)
    figure.savefig(path, dpi=110)
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)  # few colours: a small file


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", default=list(PROBLEMS))
    parser.add_argument("--methods", nargs="*")
    parser.add_argument("--json")
    parser.add_argument("--picture")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = {}
    for problem in asked.problems or PROBLEMS:
        suited = ("rkmk54", *STIFF) if PROBLEMS[problem][3] else METHODS
        methods = [key for key in suited if key in ts.registered("integrator")]
        kept[problem] = measured(problem, [key for key in methods if not asked.methods or key in asked.methods])
        print(text(problem, kept[problem]), flush=True)
        if asked.json:
            with open(asked.json, "w") as stream:
                json.dump(kept, stream)
        if asked.picture:
            drawn(kept, asked.picture)
