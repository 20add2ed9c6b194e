"""A study: how high a double pendulum swings, over the mass of its lower arm and the length of the upper one.

python examples/study_of_a_pendulum.py
"""

import numpy as np

import torsor as ts

model = ts.Model("double-pendulum", gravity=(0, 0, -9.81))
mass, length = model.parameter("mass", 1.0, positive=True), model.parameter("length", 0.5, positive=True)
upper = model.body("upper", inertia=ts.inertia.rod(1.0, 0.5, axis="x"), at=(length / 2, 0, 0))
lower = model.body("lower", mass=mass, inertia=(1e-4, 0.01, 0.01), at=(length + 0.2, 0, 0))
model.add(ts.Revolute("shoulder", model.ground, upper, point=(0, 0, 0), axis=(0, 1, 0)))
model.add(ts.Revolute("elbow", upper, lower, point=(length, 0, 0), axis=(0, 1, 0), start=0.3))
model.signal("height", lower.position[2])

masses, lengths = np.linspace(0.2, 2.0, 10), np.linspace(0.3, 0.8, 6)
data = ts.study(model, 5.0, {"mass": masses, "length": lengths}, grid=True, reduce={"top": ("height", "max")})
top = data.set_index(run=["mass", "length"]).unstack("run").top
print(top.to_pandas().round(3))
assert np.all(data.top <= data.length + 0.4)  # no higher than the arms are long
