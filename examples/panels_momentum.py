"""The comparison of document 001, sec. 5.4.1: angular momentum of the unfolding panels, left alone and imposed.

An Euler method with h = 0.01 s loses the angular momentum of a free system. Imposed as a nonholonomic constraint
0 = H(q) v − H₀ it is kept, as the hinges are, by projection; exact motion satisfies it anyway, so that nothing else changes.

    python examples/panels_momentum.py [picture.png]
"""

import sys
import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import torsor as ts
from torsor.cases.panels import angular_momentum

STEP = 0.01  # [s]
CHOICES = {(False, "absolute"): "tab:red", (False, "relative"): "tab:orange", (True, "absolute"): "tab:blue"}


def run(imposed=None, **options):
    """A run of the panels; `imposed` is the angular momentum to hold, None: none."""
    model = ts.cases.load("panels")
    if imposed is not None:
        model.add(ts.Nonholonomic("momentum", angular_momentum(model) - imposed))
    return ts.simulate(model, 10.0, outputs=200, signals={"momentum": angular_momentum(model)}, **options)


def main(picture="panels_momentum.png"):
    warnings.simplefilter("ignore", ts.AccuracyWarning)  # the rule of Euler gains energy: that is what is shown
    reference = run(tolerance=1e-12)
    start = float(reference["momentum"][0])
    figure, (drift, hub) = plt.subplots(2, 1, figsize=(9, 7), sharex=True, layout="constrained")
    print(
        f"{'momentum':<10}{'coordinates':>12}{'drift of H / H0':>18}{'energy error [J]':>18}{'hub angle off [rad]':>21}"
    )
    for (imposed, formulation), colour in CHOICES.items():
        options = {"method": "lie-euler", "step": STEP, "formulation": formulation}
        data = run(start if imposed else None, **options)
        off = np.abs(data["momentum"] / start - 1)
        angle = data.coordinate.sel(joint_coordinate="plane[2]")
        error = np.abs(angle - reference.coordinate.sel(joint_coordinate="plane[2]"))
        label = f"{'imposed' if imposed else 'left alone'}, {formulation}"
        print(
            f"{'imposed' if imposed else 'left alone':<10}{formulation:>12}{float(off.max()):18.1e}"
            f"{float(np.abs(data.energy - data.energy[0]).max()):18.1e}{float(error.max()):21.1e}"
        )
        drift.semilogy(data.time[1:], np.maximum(off[1:], 1e-17), color=colour, label=label)
        hub.plot(data.time, angle, color=colour, label=label)
    hub.plot(reference.time, reference.coordinate.sel(joint_coordinate="plane[2]"), "k--", lw=1, label="exact")
    drift.set_ylabel("relative change of the angular momentum")
    hub.set_ylabel("angle of the hub [rad]")
    hub.set_xlabel("time [s]")
    for ax in (drift, hub):
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    figure.suptitle(f"Panels, Lie-Euler method, h = {STEP} s")
    figure.savefig(picture, dpi=120)
    print(f"The picture is in {picture}.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
