"""Pictures of functions that are given by points."""

import matplotlib.pyplot as plt
import numpy as np

import torsor as ts


def tables():
    """The four kinds of tables through the same points, and what holds outside; errors of fixed steps across bends."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    x, y = np.array([0, 1, 2, 3, 4, 5, 6.5, 8]), np.array([0, 0, 0.1, 0.2, 2, 2, 2.1, 1.6])
    u = np.linspace(-0.7, 8.7, 1500)
    for kind in ("nearest", "linear", "akima", "cubic"):
        left.plot(u, ts.table(x, y, kind)(u), lw=1.2, label=kind)
    left.plot(x, y, "k.", ms=7)
    left.set(xlabel="argument", ylabel="value")
    left.legend(fontsize=8)
    steps = 0.04 / 2.0 ** np.arange(7)
    for what, shift, style in (("end at the points", 0.0, "o-"), ("pass them", 1e-300, "x:")):
        f = ts.table([0.0, 0.3137, 0.5711, 0.8293, 1.2], [0.0, 6.0, -4.0, 5.0, 1.0])
        model = pendulum(f(ts.time + shift * ts.time**2))  # not a line in time: no step ends at the points
        sure = ts.simulate(model, 1.1, outputs=1, method="dop853", tolerance=1e-13).coordinate.values[-1, 0]
        ends = [ts.simulate(model, 1.1, outputs=1, step=h, method="rkmk4").coordinate.values[-1, 0] for h in steps]
        right.loglog(steps, np.abs(np.array(ends) - sure), style, ms=4, lw=1, label=f"linear, steps {what}")
    right.set(xlabel="step of rkmk4 [s]", ylabel="error [rad]")
    right.legend(fontsize=8)
    for ax in (left, right):
        ax.grid(alpha=0.25)
    return figure


def pendulum(torque):
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    rod = model.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, rod, point=(0, 0, 0), axis="y"))
    model.add(ts.JointForce("motor", hinge, torque))
    return model
