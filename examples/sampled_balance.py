"""A pole on a cart, balanced by a Python function that looks at it every T seconds and needs half of T to answer.

The longer T, the more the pole swings before it stands; from some T on it falls. `python examples/sampled_balance.py`
"""

import numpy as np

import torsor as ts


def balance(t, u):
    return 1.0 * u["place"] + 30.0 * u["angle"] + 2.0 * u["speed"] + 7.0 * u["rate"]


for period in (0.01, 0.05, 0.1, 0.15, 0.2):
    model = ts.Model("cart-pole", gravity=(0, 0, -9.81))
    cart = model.body("cart", mass=1.0, inertia=(0.1, 0.1, 0.1))
    pole = model.body("pole", inertia=ts.inertia.rod(0.2, 1.0, axis="z"), at=(0, 0, 0.5))
    track = model.add(ts.Prismatic("track", model.ground, cart, axis="x"))
    hinge = model.add(ts.Revolute("hinge", cart, pole, point=(0, 0, 0), axis="y", start=0.1))
    seen = {"place": track.coordinate[0], "angle": hinge.coordinate[0], "speed": track.rate[0], "rate": hinge.rate[0]}
    pilot = model.add(ts.Controller("pilot", period, seen, ["force"], balance, delay=period / 2))
    model.add(ts.JointForce("motor", track, pilot["force"]))
    model.when(abs(hinge.coordinate[0]) >= np.pi / 2, ts.end(), name="fallen")
    data = ts.simulate(model, 20.0, outputs=400)
    status, reached, late = data.attrs["status"], data.attrs["time_reached"], abs(data.coordinate[-40:, 1]).max()
    print(f"T = {period:.2f} s: {status} at {reached:.2f} s, angle up to {late:.1e} rad")
