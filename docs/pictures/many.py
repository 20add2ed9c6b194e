"""Pictures of many runs of one model."""

import matplotlib.pyplot as plt
import numpy as np

import torsor as ts


def studies():
    """Where a double pendulum is after 1.2 s, over both angles at its start; and what dampers and masses make of a ride."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    angles = np.linspace(-np.pi, np.pi, 111)
    start = {"shoulder": angles, "elbow": angles}
    data = ts.study(double_pendulum(), 1.2, grid=True, start=start, reduce="last", keep=["coordinate"], tolerance=1e-8)
    ends = data.coordinate.sel(joint_coordinate="elbow").values.reshape(len(angles), -1)
    shown = left.pcolormesh(angles, angles, np.sin(ends).T, cmap="RdYlBu", rasterized=True)
    figure.colorbar(shown, ax=left, label="sine of the elbow's angle after 1.2 s")
    left.set(
        xlabel="shoulder at the start [rad]", ylabel="elbow at the start [rad]", title=f"{data.sizes['run']:,} runs"
    )

    draw, count = np.random.default_rng(1), 1000
    values = {"mass": draw.normal(300, 30, count), "damper": draw.uniform(300, 4000, count)}
    ride = ts.study(quarter_car(), 10.0, values, reduce=felt, outputs=500, tolerance=1e-6)
    shown = right.scatter(ride.unrest, ride.grip / 1e3, c=ride.damper, s=4, cmap="viridis")
    figure.colorbar(shown, ax=right, label="damper [N s/m]")
    right.set(
        xlabel="acceleration of the body, rms [m/s²]",
        ylabel="changes of the wheel's load, rms [kN]",
        title="1,000 drawn at random",
    )
    right.grid(alpha=0.25)
    return figure


def felt(run):
    """What people and the tyre feel."""
    return {"unrest": np.sqrt(np.mean(run["acceleration"][:, 1, 2] ** 2)), "grip": np.std(run["wheel_load"])}


def double_pendulum():
    model = ts.Model("double-pendulum", gravity=(0, 0, -9.81))
    before = model.ground
    for k, name in enumerate(("shoulder", "elbow")):
        arm = model.body(f"arm{k}", inertia=ts.inertia.rod(1.0, 0.5, axis="z"), at=(0, 0, -0.25 - 0.5 * k))
        model.add(ts.Revolute(name, before, arm, point=(0, 0, -0.5 * k), axis="y"))
        before = arm
    return model


def quarter_car():
    """A wheel and a quarter of a car on a road of random height, at 15 m/s; what moves them away from rest."""
    x = np.arange(0, 170, 0.1)
    height = np.cumsum(np.random.default_rng(3).normal(0, 0.0015, x.size + 20))
    road = ts.table(x, np.convolve(height, np.ones(21) / 21, "valid") - height[:21].mean(), "cubic")(15 * ts.time)
    model = ts.Model("quarter-car")
    wheel = model.body("wheel", mass=35.0, inertia=(1, 1, 1), at=(0, 0, 0.3))
    body = model.body("body", mass=model.parameter("mass", 300.0), inertia=(50, 50, 50), at=(0, 0, 0.8))
    model.add(ts.Prismatic("hub", model.ground, wheel, axis="z"))
    strut = model.add(ts.Prismatic("strut", wheel, body, axis="z"))
    model.add(ts.TorsionSpring("spring", strut, stiffness=20e3, damping=model.parameter("damper", 1500.0)))
    load = 200e3 * (road - (wheel.position[2] - 0.3))
    model.add(ts.PointForce("tyre", wheel, force=(0, 0, load)))
    model.signal("wheel_load", load)
    return model
