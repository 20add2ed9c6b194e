"""Energy and momentum of the platform over a million steps of every integrator, on velocities and on momenta.

    python bench/platform_invariants.py [steps] [method ...]

Fixed steps of 1 ms. The energy error is told over the first and the last tenth of the run, relative to the range of the kinetic
energy: a method that keeps structure has the same in both. The momentum is that about the vertical, which nothing changes.
"""

import sys
import warnings

import numpy as np

import torsor as ts

STEP = 1e-3  # [s]
FORMULATIONS = ("relative", "hamiltonian")


def figures(method, formulation, steps):
    """Errors of the energy in the first and in the last tenth, change of the momentum, time a step; None where it breaks off."""
    model = ts.cases.load("platform")
    signals = {"momentum": model["joint1"].momentum[0]}
    options = {"method": method, "step": STEP, "formulation": formulation, "signals": signals}
    try:
        data = ts.simulate(model, steps * STEP, outputs=1000, **options)
    except ts.RunError as error:
        return None, str(error)
    energy, n = np.abs(data.energy.values - data.energy.values[0]) / np.ptp(data.kinetic_energy.values[:101]), 101
    momentum = data.momentum.values
    found = energy[:n].max(), energy[-n:].max(), np.abs(momentum / momentum[0] - 1).max()
    return found, 1e6 * data.attrs["wall_seconds"] / data.attrs["steps"]


def main(steps=1_000_000, *methods):
    warnings.simplefilter("ignore", ts.AccuracyWarning)  # errors are what is shown
    print(f"platform, {steps:,} steps of {STEP:g} s")
    print(
        f"{'method':<20}{'formulation':<14}{'energy, first tenth':>20}{'last tenth':>13}{'momentum':>12}{'µs a step':>12}"
    )
    for method in methods or ts.registered("integrator"):
        for formulation in FORMULATIONS:
            found, more = figures(method, formulation, steps)
            told = (
                f"  {more.splitlines()[0][:90]}"
                if found is None
                else "".join(f"{x:{w}.0e}" for x, w in zip(found, (20, 13, 12))) + f"{more:12.2f}"
            )
            print(f"{method:<20}{formulation:<14}{told}", flush=True)


if __name__ == "__main__":
    main(*(int(float(x)) for x in sys.argv[1:2]), *sys.argv[2:])
