"""The comparisons of document 000: Euler against RKMK4, exponential against Cayley map, with and without stabilisation.

Motions 1 and 3 of the satellite at the document's steps. Prints a table of drift, error and time, next to the times that
the document reports for 600 steps (MATLAB, 2011), and saves one picture.

    python examples/satellite_comparison.py [picture.png]
"""

import sys
import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import torsor as ts

STEP = {1: 0.1, 3: 0.01}  # [s]
DOCUMENT = {  # seconds for 600 steps of motion 1: table 4.1
    ("lie-euler", "exp", "none"): 1.119, ("lie-euler", "cayley", "none"): 1.109,
    ("rkmk4", "exp", "none"): 3.728, ("rkmk4", "cayley", "none"): 3.729,
    ("lie-euler", "exp", "least-squares"): 28.775, ("lie-euler", "cayley", "least-squares"): 28.452,
    ("rkmk4", "exp", "least-squares"): 26.516, ("rkmk4", "cayley", "least-squares"): 26.556,
}  # fmt: skip
COLOUR = {("lie-euler", "none"): "tab:orange", ("lie-euler", "least-squares"): "tab:red",
          ("rkmk4", "none"): "tab:cyan", ("rkmk4", "least-squares"): "tab:blue"}  # fmt: skip


def run(motion, **options):
    return ts.simulate(ts.cases.load("satellite", motion=motion), 60.0, outputs=120, formulation="absolute", **options)


def main(picture="satellite_comparison.png"):
    warnings.simplefilter("ignore", ts.AccuracyWarning)  # the rule of Euler gains energy: that is what is shown
    figure, axes = plt.subplots(2, 2, figsize=(12, 7.5), sharex=True, layout="constrained")
    columns = ("method", 11), ("map", 8), ("stabilised", 12), ("drift [m]", 12), ("error [m]", 12), ("time [ms]", 11)
    print(" " * 8 + "".join(f"{name:>{width}}" for name, width in columns) + f"{'document [s]':>14}")
    for column, motion in enumerate(STEP):
        reference = run(motion, tolerance=1e-12)
        for (method, map, projection), seconds in DOCUMENT.items():
            data = run(motion, method=method, map=map, projection=projection, step=STEP[motion])
            error = np.linalg.norm(data.position - reference.position, axis=2).max(axis=1)
            drift = data.position_drift.values
            print(
                f"motion {motion}{method:>11}{map:>8}{'yes' if projection != 'none' else 'no':>12}{drift.max():12.1e}"
                f"{error.max():12.1e}{1e3 * data.attrs['wall_seconds']:11.2f}{f'{seconds:.1f}' if motion == 1 else '':>14}"
            )
            style = {
                "color": COLOUR[method, projection],
                **({"ls": "-", "lw": 1.5} if map == "exp" else {"ls": ":", "lw": 3}),
            }
            label = f"{method}, {'stabilised' if projection != 'none' else 'not stabilised'}, {map}"
            axes[0, column].semilogy(data.time[1:], np.maximum(error[1:], 1e-16), label=label, **style)
            axes[1, column].semilogy(data.time[1:], np.maximum(drift[1:], 1e-17), **style)
        axes[0, column].set_title(f"motion {motion}, h = {STEP[motion]} s")
        axes[1, column].set_xlabel("time [s]")
    axes[0, 0].set_ylabel("largest error of a centre of mass [m]")
    axes[1, 0].set_ylabel("largest constraint residual [m, rad]")
    for ax in axes.flat:
        ax.grid(alpha=0.3)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    figure.savefig(picture, dpi=120)
    print(f"The picture is in {picture}. 600 steps are 60 s of motion 1; motion 3 takes 6,000.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
