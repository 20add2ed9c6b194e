"""Runs of many steps: what is left of energy, momenta and constraints.

    python bench/long_runs.py [--steps 1e7] [--methods variational variational4 ...] [--smoke]

The heavy top in joint coordinates and as a body with constraints, and the platform, which is chaotic. The energy error of a
symplectic method swings and does not drift: a straight line is fitted to its means over 40 blocks of the run, and what it rises
by is told beside the standard error that the scatter of the blocks gives it; less than two of them is nothing. Momenta are those
about the vertical through the pivot, which both mechanisms conserve, and that of the top about its own axis.
"""

import argparse

import numpy as np

import torsor as ts

RUNS = (("heavy-top", "relative"), ("heavy-top", "absolute"), ("platform", "relative"), ("platform", "hamiltonian"))
STEP, BLOCKS, OUTPUTS = 2e-3, 40, 40_000


def momenta(model, data):
    """About the vertical, and of a top about its own axis, over their first values."""
    bodies = [body.numbers for body in model.bodies]
    m, J = np.array([b.mass for b in bodies]), np.array([b.inertia for b in bodies])
    own = np.einsum("bjk,tbk->tbj", J, data.angular_velocity.values)
    spin = np.einsum("tbij,tbj->tbi", data.rotation.values, own)
    orbit = np.cross(data.position.values, m[:, None] * data.velocity.values)
    found = [(spin + orbit).sum(1)[:, 2]]
    found += [own[:, 0, 1]] if model.name == "heavy-top" else []
    return max(np.abs(x / x[0] - 1).max() for x in found)


def drift(error):
    """What a straight line through the means of blocks rises by from the start to the end, and its standard error."""
    means = error[1 : 1 + (error.size - 1) // BLOCKS * BLOCKS].reshape(BLOCKS, -1).mean(1)
    line, covariance = np.polyfit(np.linspace(0, 1, BLOCKS), means, 1, cov=True)
    return line[0], np.sqrt(covariance[0, 0])


def main(steps, methods):
    print(f"{steps:.0e} steps of {STEP:g} s; energies in J")
    head = ("", "method", "largest error", "rise", "± ", "momenta", "positions", "velocities", "µs a step")
    print("{:<22}{:<18}{:>14}{:>11}{:>11}{:>10}{:>11}{:>11}{:>11}".format(*head))
    for case, formulation in RUNS:
        for method in methods:
            model = ts.cases.load(case)
            given = {"outputs": OUTPUTS, "method": method, "step": STEP, "formulation": formulation}
            data = ts.simulate(model, steps * STEP, **given)
            error = data.energy.values - data.energy.values[0]
            rise, known = drift(error)
            a = data.attrs
            print(
                f"{case + ', ' + formulation:<22}{method:<18}{np.abs(error).max():14.3e}{rise:11.1e}{known:11.1e}"
                f"{momenta(model, data):10.1e}{a['position_drift_max']:11.1e}{a['velocity_drift_max']:11.1e}"
                f"{1e6 * a['wall_seconds'] / a['steps']:11.2f}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=float, default=1e7)
    parser.add_argument("--methods", nargs="+", default=["variational", "variational4", "implicit-midpoint", "rkmk4"])
    parser.add_argument("--smoke", action="store_true", help="small sizes and no repetition: whether all of it runs")
    given = parser.parse_args()
    if given.smoke:
        given.steps, OUTPUTS = 200.0, 100
    main(given.steps, given.methods)
