"""The picture of kinematics: a crank and rocker in both of its assemblies, and a sweep of it."""

import matplotlib.pyplot as plt
import numpy as np

import torsor as ts

BLUE, RED, GREEN, OCHRE = "#0072b2", "#d55e00", "#009e73", "#b8860b"
A, B, FAR = (0.5, 0.866, 0.0), (3.0, 2.5, 0.0), (3.2, 0.0, 0.0)


def crank_and_rocker():
    """Crank, coupler and rocker in the plane z = 0, gravity along −y."""
    model = ts.Model("crank-and-rocker", gravity=(0, -9.81, 0))
    points, before = [(0.0, 0.0, 0.0), A, B, FAR], model.ground
    for name, p, q in zip(("crank", "coupler", "rocker"), points, points[1:]):
        body = model.body(f"{name}_link", mass=1.0, inertia=(0.01, 0.05, 0.05), at=np.add(p, q) / 2)
        model.add(ts.Revolute(name, before, body, point=p, axis="z"))
        before = body
    model.add(ts.Revolute("pivot", before, model.ground, point=FAR, axis="z"))
    model.signal("A", model["crank_link"].point(np.subtract(A, 0) / 2)[:2])
    model.signal("B", model["rocker_link"].point(np.subtract(B, FAR) / 2)[:2])
    model.signal("C", model["coupler_link"].point((0.3, 0.9, 0.0))[:2])
    return model


def kinematics():
    """Both assemblies and the paths of a point of the coupler; angle of the rocker and torque that holds it, over a turn."""
    model = crank_and_rocker()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    below = right.twinx()
    ways = ts.assemble(model, {"crank": 0.0}, modes=True)
    for k, color in enumerate((BLUE, RED)):
        data = ts.kinematics(model, {"crank": np.linspace(0, 2 * np.pi, 121)}, start=ways[k].coordinates)
        pair = lambda name, data=data: np.stack([data[f"{name}[0]"], data[f"{name}[1]"]], axis=1)
        for i in range(0, 120, 15):
            chain = np.array([(0, 0), pair("A")[i], pair("B")[i], FAR[:2]])
            left.plot(
                *chain.T, "-o", color=color, lw=2 if i == 0 else 0.7, ms=4 if i == 0 else 2, alpha=1 if i == 0 else 0.35
            )
        left.plot(*pair("C").T, color=color, lw=1.4)
        angle = np.degrees(data.drive_value[:, 0])
        swing = np.degrees(-data.coordinate.sel(joint_coordinate="pivot"))
        right.plot(angle, swing - float(swing.mean()), color=color, lw=1.6)
        below.plot(angle, data.drive_force[:, 0], color=color, lw=1.1, ls="--")
    left.set_aspect("equal")
    left.set(xlabel="x [m]", ylabel="y [m]")
    right.set(xlabel="crank [°]", ylabel="rocker, about its mean [°]", xticks=range(0, 361, 90))
    below.set_ylabel("holding torque, dashed [N m]")
    for ax in (left, right):
        ax.grid(alpha=0.25)
    return figure
