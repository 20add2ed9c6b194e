"""A root locus: eigenvalues of a pendulum that is balanced on a cart, over the gain of its controller.

python examples/root_locus.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import torsor as ts

model = ts.Model("balance", gravity=(0, 0, -9.81))
cart = model.body("cart", mass=1.0, inertia=(0.1, 0.1, 0.1))
pole = model.body("pole", inertia=ts.inertia.rod(0.3, 1.0, axis="z"), at=(0, 0, 0.5))
track = model.add(ts.Prismatic("track", model.ground, cart, axis="x"))
hinge = model.add(ts.Revolute("hinge", cart, pole, point=(0, 0, 0), axis="y"))
gain = model.parameter("gain", 1.0)
asked = gain * (30 * hinge.coordinate + 6 * hinge.rate + track.coordinate + 2 * track.rate)
force = model.state("force", rate=lambda f: 15.0 * (asked - f))  # the motor lags behind
model.add(ts.JointForce("motor", track, value=force))

gains = np.geomspace(0.3, 10.0, 80)
poles = lambda run: {"roots": ts.linearise(model, parameters=run.parameters).eigenvalues}
roots = ts.study(model, 1e-3, {"gain": gains}, reduce=poles).roots.values  # one run each, of a moment
safe = gains[roots.real.max(axis=1) < 0]
print(f"stable from a gain of {safe.min():.2f} on")
plt.scatter(roots.real, roots.imag, c=np.repeat(gains[:, None], roots.shape[1], 1), s=8, norm="log")
plt.colorbar(label="gain")
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "root_locus.png", dpi=100)
