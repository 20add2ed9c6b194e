"""A press: how its crank moves the ram, what torque that takes, how far the ram goes, and where the crank is at its dead points.

python examples/kinematics_of_a_press.py
"""

import numpy as np

import torsor as ts

model = ts.Model("press", gravity=(0, 0, -9.81))
crank = model.body("crank", inertia=ts.inertia.rod(8.0, 0.3, axis="z"), at=(0, 0, 0.15))
rod = model.body("rod", inertia=ts.inertia.rod(12.0, 0.9, axis="z"), at=(0, 0, -0.15))
ram = model.body("ram", inertia=ts.inertia.box(50.0, 0.4, 0.4, 0.3), at=(0, 0, -0.6))
model.add(ts.Revolute("shaft", model.ground, crank, point=(0, 0, 0), axis="y"))
model.add(ts.Revolute("pin", crank, rod, point=(0, 0, 0.3), axis="y"))
model.add(ts.Revolute("wrist", rod, ram, point=(0, 0, -0.6), axis="y"))
model.add(ts.Prismatic("guide", model.ground, ram, point=(0, 0, -0.6), axis="z"))

stroke = ts.range_of_motion(model, "guide")
print(f"stroke {stroke.upper - stroke.lower:.3f} m; the shaft turns fully: {ts.range_of_motion(model, 'shaft').turns}")

turn = ts.kinematics(model, {"shaft": 2 * np.pi * ts.time}, np.linspace(0, 1, 181))
torque = turn.drive_force.sel(drive="shaft")
print(f"torque {float(torque.min()):.0f} to {float(torque.max()):.0f} N m at one turn per second")

slow = ts.kinematics(model, {"shaft": np.linspace(0, 2 * np.pi, 91)})
print(f"{float(slow.drive_force.max()):.0f} N m hold it against gravity alone")
