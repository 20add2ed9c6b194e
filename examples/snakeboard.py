"""The snakeboard of document 001, sec. 5.4.2: its path, its steering, and how well its wheels do not slip.

A force along the coupler drives it; the boards, steered against each other, make it wind, since their wheels cannot slip.

    python examples/snakeboard.py [picture.png]
"""

import sys

import casadi as ca
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import torsor as ts

PROJECTIONS = {"none": "tab:red", "least-squares": "tab:blue"}


def slips(model):
    """Lateral speed of both wheel boards [m/s]."""
    return {f"slip {b}": ca.dot(model[b].direction((0, 1, 0)), model[b].velocity) for b in "AC"}


def main(picture="snakeboard.png"):
    figure, (path, steer, slip) = plt.subplots(3, 1, figsize=(9, 9), layout="constrained")
    print(f"{'projection':<15}{'slip [m/s]':>12}{'energy against work [J]':>26}{'steps':>8}{'time [ms]':>11}")
    for projection, colour in PROJECTIONS.items():
        model = ts.cases.load("snakeboard")
        data = ts.simulate(model, 5.0, outputs=500, tolerance=1e-6, projection=projection, signals=slips(model))
        worst = np.maximum(np.abs(data["slip A"]), np.abs(data["slip C"]))
        print(
            f"{projection:<15}{float(worst.max()):12.1e}{data.attrs['energy_balance_error']:26.1e}"
            f"{data.attrs['steps']:8d}{1e3 * data.attrs['wall_seconds']:11.2f}"
        )
        slip.semilogy(data.time[1:], np.maximum(worst[1:], 1e-18), color=colour, label=projection, lw=1)
    for body, style in (("A", "-"), ("B", "-"), ("C", "-")):
        where = data.position.sel(body=body)
        path.plot(where.sel(axis="x"), where.sel(axis="y"), style, lw=1, label=body)
    path.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    for pin in ("pin_A", "pin_C"):
        steer.plot(data.time, data.coordinate.sel(joint_coordinate=pin), label=pin)
    steer.plot(data.time, 0.5 * np.sin(2 * np.pi * data.time), "k:", lw=1, label="wanted, front")
    steer.set_ylabel("steering angle [rad]")
    slip.set(xlabel="time [s]", ylabel="largest lateral speed of a wheel [m/s]")
    for ax in (path, steer, slip):
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    figure.savefig(picture, dpi=120)
    print(f"The picture is in {picture}.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
