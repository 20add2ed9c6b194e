"""A bead slides down a smooth dome and leaves it, and one on a rough floor comes to rest: surfaces that are given by an expression.

A one-sided element keeps any expression g ≥ 0. With the distance from the middle of a dome, g = |x| − R, its multiplier is the
normal force. A bead that begins on top with the speed v₀ leaves where that vanishes ([pfeiffer1996] treats such constraints):

    cos θ = 2/3 + v₀²/(3 g R),        t from energy: θ̇² = (v₀/R)² + 2 (g/R) (1 − cos θ)                              (1)

    python examples/dome.py
"""

import casadi as ca
import numpy as np

import torsor as ts

R, G, ROUGH = 2.0, 9.81, 0.3


def dome(v0):
    model = ts.Model("dome", gravity=(0, 0, -G))
    bead = model.body("bead", mass=0.3, inertia=(0.01, 0.01, 0.01), at=(0, 0, R), velocity=(v0, 0, 0))
    model.add(ts.OneSided("dome", ca.norm_2(bead.position) >= R))
    model.when(ts.falling(bead.position[2] + R), ts.end(), name="below")
    model.signal("cosine", bead.position[2] / R)
    model.signal("push", model["dome"].multiplier[0])
    return model


def floor(speed):
    model = ts.Model("floor", gravity=(0, 0, -G))
    block = model.body("block", mass=0.3, inertia=(0.01, 0.01, 0.01), at=(0, 0, 1.0), velocity=(speed, 0, 0))
    model.add(ts.OneSided("floor", block.position[2] - 1.0, friction=ROUGH))
    return model


def main():
    print(
        f"{'v0 [m/s]':>9}{'leaves at [s]':>15}{'exact [s]':>13}{'angle [deg]':>13}{'exact [deg]':>13}{'push on top [N]':>17}"
    )
    for v0 in (0.2, 1.0, 3.0):
        angle = np.arccos(2 / 3 + v0**2 / (3 * G * R))
        x, w = np.polynomial.legendre.leggauss(60)
        theta = angle * (x + 1) / 2
        leaves = angle / 2 * np.sum(w / np.sqrt((v0 / R) ** 2 + 2 * G / R * (1 - np.cos(theta))))  # (1)
        data = ts.simulate(dome(v0), 5.0, outputs=[0.0, leaves])
        found = float(data.event_time[list(data.event_name.values).index("dome.lift")])
        at = np.degrees(np.arccos(float(data.cosine[1])))
        print(f"{v0:9.1f}{found:15.9f}{leaves:13.9f}{at:13.7f}{np.degrees(angle):13.7f}{float(data.push[0]):17.6f}")
        assert abs(found - leaves) < 1e-6
    data = ts.simulate(floor(2.0), 2.0, outputs=1)
    way = float(data.position[-1, 0, 0])
    print(f"On the rough floor a block stops after {way:.9f} m, v²/(2 μ g) = {2.0**2 / (2 * ROUGH * G):.9f} m.")


if __name__ == "__main__":
    main()
