"""Planning by rollouts: of 2,000 random torques those that bring the hand of an arm closest to a point, then again near these.

python examples/best_of_many_rollouts.py
"""

import casadi as ca
import numpy as np

import torsor as ts

model = ts.Model("arm", gravity=(0, 0, -9.81))
before = model.ground
for k in range(3):
    link = model.body(f"link{k}", inertia=ts.inertia.box(1.0, 0.4, 0.05, 0.05), at=(0.4 * k + 0.2, 0, 0))
    joint = model.add(ts.Revolute(f"joint{k}", before, link, point=(0.4 * k, 0, 0), axis=(0, -1, 0)))
    model.add(ts.JointForce(f"motor{k}", joint, model.input(f"torque{k}")))
    before = link
hand = link.position + link.rotation @ np.array([0.2, 0.0, 0.0])
model.signal("miss", ca.norm_2(hand - np.array([0.6, 0.0, 0.8])))

random, best, spread = np.random.default_rng(0), np.zeros((3, 10)), 12.0
for _ in range(2):
    torques = best + spread * random.normal(size=(2000, 3, 10))
    inputs = {f"torque{k}": torques[:, k] for k in range(3)}
    data = ts.study(model, 0.5, inputs=inputs, method="rkmk4", step=0.005, reduce="last", keep="miss")
    best, spread = torques[np.argmin(data.miss.values)], 0.3
    print(f"closest of 2,000: {float(data.miss.min()):.3f} m, median {float(data.miss.median()):.3f} m")
assert data.miss.min() < 0.02
