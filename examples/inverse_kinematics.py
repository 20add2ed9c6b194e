"""A robot writes a circle: joint angles of all its points at once, and every way to hold the pen at one of them.

python examples/inverse_kinematics.py
"""

import numpy as np

import torsor as ts

model = ts.Model("robot")
places = [(0, 0, 0), (0, 0, 0.3), (0.5, 0, 0.3), (0.9, 0, 0.3), (0.9, 0.1, 0.3), (1.0, 0.1, 0.3)]
before = model.ground
for k, (place, axis) in enumerate(zip(places, ("z", "y", "y", "x", "y", "x"))):
    body = model.body(f"link{k}", mass=1.0, inertia=(0.01, 0.01, 0.01), at=place)
    model.add(ts.Revolute(f"axis{k}", before, body, point=place, axis=axis))
    before = body
pen = {"pen": body.frame((0.1, 0, 0))}

angle = np.linspace(0, 2 * np.pi, 100)
poses = np.tile(np.eye(4), (100, 1, 1))
poses[:, :3, 3] = np.stack([0.8 + 0 * angle, 0.2 * np.cos(angle), 0.5 + 0.2 * np.sin(angle)], axis=-1)
first = ts.assemble(model, {"pen": poses[0]}, signals=pen, start={"axis1": -0.5, "axis2": 1.0, "axis4": 0.5})
drawn = ts.assemble(model, {"pen": poses}, signals=pen, start=first)
print(f"largest residual {drawn.residual.max():.1e}")

ways = ts.assemble(model, {"pen": poses[0]}, signals=pen, modes=True)
print(f"{len(ways.residual)} ways to hold the pen there: elbow angles {np.round(ways.coordinates['axis2'], 3)}")
