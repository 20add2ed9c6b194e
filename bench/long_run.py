"""A million projected steps of the three-link mechanism: nothing drifts, rotations stay rotations.

    python bench/long_run.py [steps]

Fixed steps of 1 ms with the method of order 4; drift and orthogonality at 1,000 outputs, relative to size and speed.
"""

import sys
import time

import numpy as np

import torsor as ts

BAR = 1e-12


def main(steps=1_000_000):
    start, step = time.perf_counter(), 1e-3
    data = ts.simulate(ts.cases.load("three-link"), steps * step, outputs=1000, method="rkmk4", step=step)
    speed = max(np.abs(data.velocity.values).max(), np.abs(data.angular_velocity.values).max())
    R = data.rotation.values
    figures = {
        "position drift / size": data.position_drift.values.max() / data.attrs["model_length"],
        "velocity drift / speed": data.velocity_drift.values.max() / speed,
        "orthogonality |RᵀR − 1|": np.linalg.norm(np.einsum("tbji,tbjk->tbik", R, R) - np.eye(3), axis=(2, 3)).max(),
    }
    print(f"three-link, {data.attrs['steps']:,} steps of rkmk4, h = {step} s, {steps * step:g} s of motion")
    for name, value in figures.items():
        print(f"  {name:<26}{value:10.1e}   bar {BAR:.0e}   {'ok' if value <= BAR else 'TOO LARGE'}")
    wall = data.attrs["wall_seconds"]
    print(f"  energy error / turnover   {data.attrs['energy_balance_relative']:10.1e}")
    print(f"  {wall:.2f} s in the loop, {1e6 * wall / steps:.2f} µs a step; {time.perf_counter() - start:.2f} s in all")
    return 0 if max(figures.values()) <= BAR else 1


if __name__ == "__main__":
    sys.exit(main(*(int(float(x)) for x in sys.argv[1:2])))
