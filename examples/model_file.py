"""A mechanism as a text file: written, changed as text, read and run.

python examples/model_file.py
"""

from pathlib import Path

import torsor as ts

model = ts.Model("crane", gravity=(0, 0, -9.81))
trolley = model.body("trolley", mass=10.0, inertia=(1, 1, 1), at=(0, 0, 2))
load = model.body("load", mass=5.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, 0))
rail = model.add(ts.Prismatic("rail", model.ground, trolley, axis="x"))
rope = model.add(ts.Universal("rope", trolley, load, point=(0, 0, 2), axis="x", second_axis="y"))
model.add(ts.JointForce("motor", rail, 20 * (1 - rail.coordinate) - 15 * rail.rate))
model.signal("reach", load.position[0])
ts.save_model(model, "crane.yaml")

text = Path("crane.yaml").read_text()
print(text)
Path("heavy.yaml").write_text(text.replace("mass: 5.0", "mass: 20 kg"))

for name in ("crane.yaml", "heavy.yaml"):
    data = ts.simulate(ts.read(name).model, 5.0)
    print(f"{name}: the load is at {float(data['reach'][-1]):.3f} m after 5 s")
