"""Figures 4 and 5 of document 002: energy error and drift of the three-link mechanism, with and without stabilisation.

The document compares the plain index-1 equations with Baumgarte's terms; the projection that torsor uses by default is
shown next to them. Constraints 6 and 7 are the plane z of link 1 at joint B and the plane x of link 2 at joint C.

    python examples/three_link_baumgarte.py [picture.png]
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import torsor as ts

CHOICES = {
    "none": ("none", "tab:red"),
    "Baumgarte, α = β = 10 1/s": (ts.Baumgarte(alpha=10.0, beta=10.0), "tab:orange"),
    "least squares": ("least-squares", "tab:blue"),
}


def residuals(model):
    """g₆ and g₇: the gap at B along z of link 1, and the gap at C along x of link 2 [m]."""
    gap = lambda first, second: first.rotation.T @ (second.point((-0.5, 0, 0)) - first.point((0.5, 0, 0)))
    link1, link2, link3 = (model[f"link{k}"] for k in (1, 2, 3))
    return {"constraint 6": gap(link1, link2)[2], "constraint 7": gap(link2, link3)[0]}


def main(picture="three_link_baumgarte.png"):
    figure, axes = plt.subplots(3, 1, figsize=(9, 9), sharex=True, layout="constrained")
    print(f"{'stabilisation':<28}{'energy error [J]':>18}{'drift 6, 7 [m]':>28}{'steps':>8}{'time [ms]':>11}")
    for label, (projection, colour) in CHOICES.items():
        model = ts.cases.load("three-link")
        data = ts.simulate(
            model,
            10.0,
            outputs=400,
            tolerance=1e-6,
            projection=projection,
            formulation="absolute",
            signals=residuals(model),
        )
        energy = np.abs(data.energy - data.energy[0])
        drift = {name: np.abs(data[name]) for name in residuals(model)}
        print(
            f"{label:<28}{float(energy.max()):18.1e}{float(drift['constraint 6'].max()):14.1e}"
            f"{float(drift['constraint 7'].max()):14.1e}{data.attrs['steps']:8d}{1e3 * data.attrs['wall_seconds']:11.2f}"
        )
        for ax, values in zip(axes, (energy, *drift.values())):
            ax.semilogy(data.time[1:], np.maximum(values[1:], 1e-18), color=colour, label=label, lw=1)
    for ax, name in zip(axes, ("energy error [J]", "drift of constraint 6 [m]", "drift of constraint 7 [m]")):
        ax.set_ylabel(name)
        ax.grid(alpha=0.3)
    axes[0].legend(loc="lower right")
    axes[-1].set_xlabel("time [s]")
    figure.suptitle("Three-link mechanism, adaptive method of order 5(4), tolerance 1e-6")
    figure.savefig(picture, dpi=120)
    print(f"The picture is in {picture}.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
