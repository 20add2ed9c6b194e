"""A strap-on booster leaves its core stage: held, sliding, free. Case `booster`, after document 002, sec. 5.

Draws the document's figures 8 and 9: the contact forces R₁ along the core and R₂ across it, and the path of the booster.

    python examples/booster_separation.py [picture.png]
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import torsor as ts


def main(picture="booster.png"):
    data = ts.simulate(ts.cases.load("booster"), 4.0, outputs=4000)
    for name, t in zip(data.event_name.values, data.event_time.values):
        print(f"{name:<12} {t:.9f} s")
    R1, R2 = -data.multiplier.sel(constraint="nose_x[0]"), data.multiplier.sel(constraint="nose_y[0]")
    print(f"smallest contact forces: R1 {float(R1.min()):.1e} N, R2 {float(R2.min()):.1e} N; they push and never pull")

    core, booster = data.sel(body="core"), data.sel(body="booster")
    apart = (booster.position - core.position).values
    seen = np.einsum("tji,tj->ti", core.rotation.values, apart)  # from the core
    angle = np.degrees(np.unwrap(np.arctan2(booster.rotation.values[:, 1, 0], booster.rotation.values[:, 0, 0])))
    print(
        f"after 4 s the booster is {-seen[-1, 0]:.1f} m behind, {seen[-1, 1]:.1f} m to the side, and has turned by {angle[-1]:.0f}°"
    )

    figure, (forces, path) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    early = data.time < 1
    forces.plot(data.time[early], R1[early] / 1e3, label="R₁, along the core")
    forces.plot(data.time[early], 10 * R2[early] / 1e3, label="10 R₂, across it")
    for t in data.event_time.values:
        forces.axvline(t, color="0.6", lw=0.7)
    forces.set(xlabel="time [s]", ylabel="contact force [kN]")
    forces.legend()
    path.plot(seen[:, 0], seen[:, 1])
    path.set(xlabel="x from the core [m]", ylabel="y from the core [m]", aspect="equal")
    figure.savefig(picture, dpi=120)
    print(f"The picture is in {picture}.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
