"""Pictures of the cases that are made of components: the car with its parts, the train, the bush."""

import matplotlib.pyplot as plt
import numpy as np

import torsor as ts

BLUE, RED, GREEN, OCHRE = "#0072b2", "#d55e00", "#009e73", "#b8860b"
SIDES = (("left", -1), ("right", 1))


def ends(data, body, local, i=0):
    """World position of a point of a body at an output, seen along y from a little above and from the left."""
    x, y, z = data.position.sel(body=body).values[i] + data.rotation.sel(body=body).values[i] @ np.array(local, float)
    return np.array([x + 0.5 * y, z + 0.3 * y])


def bar(ax, data, body, locals, i=0, **style):
    ax.plot(*np.array([ends(data, body, local, i) for local in locals]).T, solid_capstyle="round", **style)


def car():
    """The parts of the car at the start, and the heights of its body and a wheel."""
    data = ts.simulate(ts.cases.load("car"), 1.5, outputs=600)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", width_ratios=(3, 2))
    bar(left, data, "car_body", ((-0.7, 0, 0), (0.7, 0, 0)), color="0.35", lw=9)
    bar(left, data, "car_body", ((0, 0, 0), (0, 0, -0.6)), color="0.35", lw=5)
    for name, side in SIDES:
        bar(left, data, f"{name}.beam", ((-0.5, 0, 0), (0.5, 0, 0)), color=BLUE, lw=4)
        bar(left, data, f"{name}.damper.piston", ((0, 0, -0.3), (0, 0, 0.3)), color=RED, lw=2.5)
        bar(left, data, f"{name}.damper.cylinder", ((0, 0, -0.3), (0, 0, 0.3)), color=RED, lw=7, alpha=0.6)
        hub = ends(data, f"{name}_wheel.ring", (0, 0, 0))
        left.plot([hub[0]] * 2, [hub[1] - 0.3, hub[1] + 0.3], color=GREEN, lw=11, solid_capstyle="butt")
        left.plot([hub[0]] * 2, [0, hub[1] - 0.3], color=GREEN, lw=1.5, ls=":")
        around = {"fill": False, "lw": 1, "ls": "--"}
        left.add_patch(plt.Rectangle((0.04 if side > 0 else -0.94, 0.25), 0.9, 0.78, ec=BLUE, **around))
    left.axhline(0, color="0.6", lw=1)
    words = ((0, 1.07, "car", "0.35"), (0.5, 1.07, "suspension", BLUE), (0.68, 0.78, "damper", RED), (0.3, 0.16, "beam", BLUE),
             (1.13, 0.7, "wheel", GREEN))  # fmt: skip
    for x, z, word, color in words:
        left.text(x, z, word, color=color, fontsize=9, ha="center")
    left.set_aspect("equal")
    left.set(ylim=(-0.05, 1.2), xlim=(-1.3, 1.35), xlabel="x [m]", ylabel="z [m]")
    left.set_title("car = body + 2 suspensions (beam + damper) + 2 wheels", fontsize=10)
    for body, color, word in (("car_body", "0.35", "body"), ("left_wheel.ring", GREEN, "wheel")):
        z = data.position.sel(body=body, axis="z").values
        right.plot(data.time, 1e3 * (z - z[0]), color=color, lw=1.3, label=word)
    right.legend(fontsize=9, frameon=False)
    right.set_title("dropped from rest", fontsize=10)
    right.set(xlabel="time [s]", ylabel="height above the start [mm]")
    right.grid(alpha=0.25)
    return figure


def train():
    """One car of the train, and how the couplings are stretched one after the other."""
    n = 12
    data = ts.simulate(ts.cases.load("train", n=n), 3.0, outputs=600, formulation="hierarchical")
    figure, (top, low) = plt.subplots(2, 1, figsize=(9, 5), layout="constrained", height_ratios=(2, 3))
    for k in (0, 1):
        bar(top, data, f"car{k}.body", ((-9.5, 0, 0), (9.5, 0, 0)), color="0.35", lw=12)
        for bogie in ("front", "rear"):
            path = f"car{k}.{bogie}"
            bar(top, data, f"{path}.frame", ((-1.4, 0, 0), (1.4, 0, 0)), color=BLUE, lw=3)
            for end, side in (("front", 1), ("rear", -1)):
                bar(top, data, f"{path}.{end}.arm", ((side * 0.3, 0, 0), (-side * 0.3, 0, 0)), color=RED, lw=2)
                hub = ends(data, f"{path}.{end}.axle", (0, 0, 0))
                top.add_patch(plt.Circle(hub, 0.46, fill=False, ec=GREEN, lw=1.5))
                top.plot([hub[0]] * 2, [hub[1], 1.0], color=OCHRE, lw=1.5, ls=":")
            x = ends(data, f"{path}.frame", (0, 0, 0))[0]
            top.plot([x, x], [1.0, 1.5], color=OCHRE, lw=2.5, ls=":")
    top.plot([-10.5, -9.5], [1.0, 1.0], color=OCHRE, lw=2)
    top.annotate("", (12.5, 1.0), (9.5, 1.0), arrowprops={"arrowstyle": "->", "color": RED})
    top.axhline(0, color="0.6", lw=1)
    top.set_aspect("equal")
    top.set(xlim=(-31, 13), ylim=(-0.3, 3.2), xlabel="x [m]", ylabel="z [m]")
    top.set_title("car = body + 2 bogies; bogie = frame + 2 suspensions; suspension = axle + arm", fontsize=10)
    at = [data.position.sel(body=f"car{k}.body", axis="x").values for k in range(n)]
    for k in range(n - 1):
        gap = 1e3 * (at[k] - at[k + 1] - (at[k] - at[k + 1])[0])
        low.plot(data.time, gap, color=plt.colormaps["viridis"](k / (n - 1)), lw=1.2)
    low.set_title(f"stretch of the {n - 1} couplings, from the front (dark) to the rear", fontsize=10)
    low.set(xlabel="time [s]", ylabel="stretch [mm]")
    low.grid(alpha=0.25)
    return figure


def bush():
    """The bush at the start and twice later."""
    n = 6
    data = ts.simulate(ts.cases.load("bush", n=n), 1.0, outputs=2, formulation="hierarchical")
    figure, axes = plt.subplots(1, 3, figsize=(6, 6), layout="constrained", sharey=True, sharex=True)
    parts = {"top": ((0, 0, 0.5), (0, 0, -0.5)), "bottom": ((0, 0, 0.5), (0, 0, -0.5)), "twig": ((-0.4, 0, 0), (0.4, 0, 0)),
             "tip": ((-0.2, 0, 0), (0.2, 0, 0)), "stay": ((0.4, 0, 0.5), (-0.4, 0, -0.5))}  # fmt: skip
    colors = {"top": "0.35", "bottom": "0.35", "twig": GREEN, "tip": GREEN, "stay": RED}
    for i, ax in enumerate(axes):
        for k in range(n):
            for part, locals in parts.items():
                bar(ax, data, f"segment{k}.{part}", locals, i, color=colors[part], lw=2.5 if part != "stay" else 1.3)
        ax.plot([0], [0], "s", color="black", ms=5)
        ax.set_aspect("equal")
        ax.set_title(f"t = {float(data.time[i]):g} s", fontsize=10)
        ax.set_xlabel("x [m]")
        ax.grid(alpha=0.25)
    axes[0].set_xlim(-2.2, 2.2)
    axes[0].set_ylabel("z [m]")
    return figure


PICTURES = {"car": car, "train": train, "bush": bush}
