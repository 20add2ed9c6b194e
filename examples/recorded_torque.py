"""A winch lifts a load: a throttle recorded in a file, and a motor given by its map of torque over speed and throttle.

python examples/recorded_torque.py
"""

import pathlib

import numpy as np

import torsor as ts

pathlib.Path("throttle.csv").write_text("time,throttle\n0,0.63\n0.5,1\n3,1\n3.2,0.4\n6,0.4\n")
throttle = ts.read_table("throttle.csv", x="time", y="throttle")
speeds, throttles = np.linspace(0, 60, 13), np.linspace(0, 1, 5)
torques = 25 * np.outer(1 - (speeds / 60) ** 2, throttles) - 0.05 * speeds[:, None]  # N m, as measured on a bench
motor = ts.table((speeds, throttles), torques, "cubic", outside="extrapolate", name="motor")

model = ts.Model("winch", gravity=(0, 0, -9.81))
drum = model.body("drum", mass=20.0, inertia=(0.3, 0.3, 0.4))
load = model.body("load", mass=8.0, inertia=(0.1, 0.1, 0.1), at=(0.2, 0, -5))
axle = model.add(ts.Revolute("axle", model.ground, drum, axis="y"))
rail = model.add(ts.Prismatic("rail", model.ground, load, axis="z"))
model.add(ts.Holonomic("rope", rail.coordinate[0] - 0.2 * axle.coordinate[0]))
model.add(ts.JointForce("motor", axle, motor(axle.rate[0], throttle(ts.time))))

data = ts.simulate(model, 6.0, outputs=60, signals={"throttle": throttle(ts.time)})
for t in (1, 3, 6):
    now = data.sel(time=t, method="nearest")
    height = float(now["position"].sel(body="load", axis="z")) + 5
    print(f"t = {t} s: throttle {float(now['throttle']):.2f}, load at {height:.2f} m")
