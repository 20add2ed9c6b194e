"""Draws every picture of the documentation, next to this file: python docs/pictures/make.py [NAME ...]

NAME is three-link, drift, four-bar and so on; without any, all are drawn.
"""

import itertools
import pathlib
import runpy
import sys

import matplotlib

matplotlib.use("Agg")
import given
import linkages
import many
import matplotlib.pyplot as plt
import numpy as np
import parts

import torsor as ts
from torsor.methods.integrators.tableaus import Tableau

HERE = pathlib.Path(__file__).parent
BLUE, RED, GREEN, PINK, SKY, OCHRE = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#b8860b"
COLORS = (BLUE, RED, GREEN, PINK, SKY, OCHRE)


def ends(data, body, local):
    """World positions of a point of a body at all outputs."""
    return data.position.sel(body=body).values + data.rotation.sel(body=body).values @ np.array(local, float)


def tidy(ax, x="", y=""):
    ax.grid(alpha=0.25)
    ax.set_xlabel(x)
    ax.set_ylabel(y)


def three_link():
    """The mechanism at equal intervals of time, and its energies."""
    data = ts.simulate(ts.cases.load("three-link"), 10.0, outputs=1000)
    figure = plt.figure(figsize=(9, 3.8))
    left, right = figure.add_axes((-0.03, 0.02, 0.54, 0.9), projection="3d"), figure.add_axes((0.63, 0.14, 0.35, 0.74))
    last = 150  # outputs drawn: 1.5 s
    chain = [np.zeros((1001, 3))] + [ends(data, f"link{k}", (0.5, 0, 0)) for k in (1, 2, 3)]
    for i in range(0, last + 1, 10):
        x, y, z = np.array([p[i] for p in chain]).T
        left.plot(x, z, y, "-o", color=plt.colormaps["viridis"](i / last * 0.9), lw=2, ms=3.5)
    x, y, z = chain[3][: last + 1].T
    left.plot(x, z, y, color="0.6", lw=0.8)
    left.plot([0], [0], [0], "s", color="black", ms=6)
    left.set(xlabel="x [m]", ylabel="z [m]")
    left.set_zlabel("y [m]", labelpad=-3)
    left.set_aspect("equal")
    left.set_box_aspect(left.get_box_aspect(), zoom=1.25)
    left.view_init(18, -62)
    left.locator_params(nbins=5)
    left.set_title("every 0.1 s of the first 1.5 s, dark to light", fontsize=10)
    t = data.time
    for name, color in (("kinetic_energy", BLUE), ("potential_energy", RED), ("energy", GREEN)):
        right.plot(t, data[name], color=color, label={"energy": "total"}.get(name, name.split("_")[0]))
    right.set_title(f"energy over 10 s, error {data.attrs['energy_balance_error']:.0e} J", fontsize=10)
    right.set_xlim(0, 10)
    right.legend(fontsize=9, loc="upper right", ncols=3, frameon=False)
    right.set_ylim(top=data.energy.values.max() + 75)
    tidy(right, "time [s]", "energy [J]")
    return figure


def drift():
    """Drift and energy error of the three-link mechanism under the three projections."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharex=True)
    for (label, projection), color in zip(
        {"none": "none", "baumgarte, α = β = 10": "baumgarte", "least-squares": "least-squares"}.items(),
        (RED, OCHRE, BLUE),
    ):
        data = ts.simulate(
            ts.cases.load("three-link"),
            10.0,
            outputs=400,
            tolerance=1e-6,
            projection=projection,
            formulation="absolute",
        )
        error = np.abs(data.energy - data.energy[0])
        for ax, values in zip(axes, (data.position_drift, error)):
            ax.semilogy(data.time[1:], np.maximum(values[1:], 1e-17), color=color, lw=1.1, label=label)
    tidy(axes[0], "time [s]", "largest position residual [m or rad]")
    tidy(axes[1], "time [s]", "energy error [J]")
    axes[0].legend(fontsize=9, loc="center right", frameon=False)
    figure.suptitle("three-link, rkmk54, tolerance 1e-6", fontsize=11)
    return figure


def four_bar():
    """Positions on the way down, and the crank angle against the exact reduction."""
    n = 4
    data = ts.simulate(ts.cases.load("four-bar", n=n), 10.0, outputs=1000, tolerance=1e-10)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", width_ratios=(3, 2))
    for i in range(0, 111, 10):
        color = plt.colormaps["viridis"](i / 110 * 0.9)
        for k in range(n + 1):
            bar = np.array([ends(data, f"crank{k}", (0, s, 0))[i] for s in (-0.5, 0.5)])
            left.plot(bar[:, 0], bar[:, 1], color=color, lw=1.6)
        bar = np.array([ends(data, f"coupler{k}", (s, 0, 0))[i] for k in range(n) for s in (-0.5, 0.5)])
        left.plot(bar[:, 0], bar[:, 1], "-o", color=color, lw=1.6, ms=3)
    left.plot(range(n + 1), np.zeros(n + 1), "s", color="black", ms=5, zorder=5)
    left.axhline(0, color="0.6", lw=0.8, ls=":")
    left.set_aspect("equal")
    left.set_title("every 0.1 s; all bars in line at y = 0", fontsize=10)
    tidy(left, "x [m]", "y [m]")
    right.plot(data.time, -data.coordinate.sel(joint_coordinate="A0"), color=BLUE)
    right.set_title("a crank turns over and over", fontsize=10)
    tidy(right, "time [s]", "angle from the start [rad]")
    return figure


def heavy_top():
    """Path of the centre of mass, and how well the invariants are kept."""
    data = ts.simulate(ts.cases.load("heavy-top"), 2.0, outputs=2000)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    x, y, z = data.position.sel(body="top").values.T
    left.plot(x, y, color=BLUE, lw=1.2)
    left.plot([x[0]], [y[0]], "o", mfc="none", color=BLUE)
    left.plot([x[-1]], [y[-1]], "o", color=BLUE)
    left.plot([0], [0], "s", color="black", ms=5)
    left.set_aspect("equal")
    left.set_title("path of the centre of mass, seen from above", fontsize=10)
    tidy(left, "x [m]", "y [m]")
    momentum = vertical_momentum(data)
    for values, label, color in ((data.energy.values, "energy", RED), (momentum, "momentum about the vertical", GREEN)):
        error = np.abs(values - values[0]) / np.abs(data.kinetic_energy.values[0] if label == "energy" else L_START)
        right.semilogy(data.time[1:], np.maximum(error[1:], 1e-17), color=color, lw=0.9, label=label)
    right.set_title("relative error of two exact invariants", fontsize=10)
    right.legend(fontsize=9, frameon=False)
    tidy(right, "time [s]", "relative error")
    return figure


L_START = 0.46875 * 150.0  # size of the angular momentum at the start [kg m²/s]


def vertical_momentum(data):
    """z component of the angular momentum of the heavy top about its fixed point."""
    R, w = data.rotation.sel(body="top").values, data.angular_velocity.sel(body="top").values
    own = np.einsum("tij,tj->ti", R, w * np.array([0.234375, 0.46875, 0.234375]))
    return (own + 15.0 * np.cross(data.position.sel(body="top").values, data.velocity.sel(body="top").values))[:, 2]


def free_body():
    """Body rates, and the path of the angular velocity over the energy ellipsoid."""
    data = ts.simulate(ts.cases.load("free-body"), 20.0, outputs=2000)
    figure = plt.figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")
    w = data.angular_velocity.sel(body="body")
    for axis, color, moment in zip("xyz", COLORS, ("1", "2", "2.5")):
        left.plot(data.time, w.sel(axis=axis), color=color, label=f"about {axis}, J = {moment}")
    left.legend(fontsize=8, loc="upper center", ncols=3, frameon=False)
    left.set_ylim(-3, 4)
    tidy(left, "time [s]", "body rate [rad/s]")
    left.set_title("the intermediate axis y turns over again and again", fontsize=10)
    T, J = float(data.kinetic_energy[0]) - 1.5 * (0.09 + 0.04 + 0.01), np.array([1, 2, 2.5])
    a, b, c = np.sqrt(2 * T / J)
    u, v = np.mgrid[0 : 2 * np.pi : 25j, 0 : np.pi : 13j]
    right.plot_wireframe(
        a * np.cos(u) * np.sin(v), b * np.sin(u) * np.sin(v), c * np.cos(v), color="0.75", lw=0.5, zorder=0
    )
    right.plot(*w.values.T, color=RED, lw=1.8)
    right.set(xlabel="ωx", ylabel="ωy", zlabel="ωz")
    right.set_aspect("equal")
    right.locator_params(nbins=5)
    right.set_title("angular velocity on the energy ellipsoid", fontsize=10)
    return figure


def pendulum():
    """Angle and force in the rod."""
    model = ts.cases.load("pendulum")
    data = ts.simulate(model, 10.0, outputs=1000)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.0), layout="constrained")
    x, y, _ = data.position.sel(body="bob").values.T
    left.plot(data.time, np.degrees(np.arctan2(x, -y)), color=BLUE)
    tidy(left, "time [s]", "angle from below [°]")
    pull = np.linalg.norm(data.reaction_force.sel(joint="rod").values, axis=1)
    right.plot(data.time, pull, color=RED, label="reaction")
    right.plot(data.time, -3 * 9.81 * y, color="black", ls=(0, (2, 4)), label="3 m g cos θ")
    right.legend(fontsize=9, frameon=False, loc="upper right", ncols=2)
    right.set_ylim(top=36)
    tidy(right, "time [s]", "force in the rod [N]")
    return figure


def satellite():
    """Motions 1 to 3: angle of the slider rod and displacement of the slider."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    for motion, color in zip((1, 2, 3), COLORS):
        data = ts.simulate(ts.cases.load("satellite", motion=motion), 60.0, outputs=300)
        style = {"color": color, "label": f"motion {motion}", "ls": (0, (4, 3)) if motion == 3 else "-"}
        left.plot(data.time, data.coordinate.sel(joint_coordinate="elbow"), **style)
        right.plot(data.time, data.coordinate.sel(joint_coordinate="slide"), **style)
    left.legend(fontsize=9, frameon=False)
    tidy(left, "time [s]", "angle of the slider rod [rad]")
    tidy(right, "time [s]", "displacement of the slider [m]")
    right.set_title("driven in motions 1 and 3, free in motion 2", fontsize=10)
    return figure


def orders():
    """Error against the step for every fixed-step method, on the heavy top with projection."""
    exact = ts.simulate(ts.cases.load("heavy-top"), 0.1, outputs=1, tolerance=1e-13, formulation="absolute")
    figure, ax = plt.subplots(figsize=(7.6, 4.6), layout="constrained")
    methods = sorted(ts.registered("integrator").items(), key=lambda item: item[1].order)
    colors = dict(zip(sorted({method.order for _, method in methods}), (*COLORS, "0.3", "0.6")))
    steps = 0.1 / np.array([50, 100, 200, 400, 800, 1600])
    for (name, method), mark in zip(methods, itertools.cycle("osD^v*Xp")):
        for map in method.maps if issubclass(method, Tableau) else ["exp"]:
            errors = []
            for h in steps:
                data = ts.simulate(
                    ts.cases.load("heavy-top"), 0.1, outputs=1, method=name, step=h, map=map, formulation="absolute"
                )
                errors.append(float(np.abs(data.rotation - exact.rotation)[-1].max()))
            style, label = ("-", f"{name}, order {method.order}") if map == "exp" else (":", None)
            ax.loglog(steps, errors, style, marker=mark, ms=4, color=colors[method.order], label=label, lw=1.2)
    ax.plot([], [], "-", color="0.4", label="exponential map")
    ax.plot([], [], ":", color="0.4", label="Cayley map (tableaus)")
    ax.set_ylim(1e-13, 1e2)
    ax.legend(fontsize=7.5, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    ax.set_title("heavy top, 0.1 s, fixed steps, least-squares projection", fontsize=11)
    tidy(ax, "step [s]", "error of the rotation matrix")
    return figure


def booster():
    """Contact forces R₁ and R₂ until the booster is free, and its path seen from the core: figures 8 and 9 of the paper."""
    data = ts.simulate(ts.cases.load("booster"), 4.0, outputs=4000)
    figure = plt.figure(figsize=(10, 4.4), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.7))
    top, low, right = (figure.add_subplot(part) for part in (grid[0, 0], grid[1, 0], grid[:, 1]))
    early, marks = data.sel(time=slice(0, 1)), data.event_time.values
    for ax, row, sign, color, label in (
        (top, "nose_x", -1, BLUE, "R₁, along"),
        (low, "nose_y", 1, RED, "R₂, across"),
    ):
        ax.plot(early.time, sign * early.multiplier.sel(constraint=f"{row}[0]") / 1e3, color=color, lw=1.6)
        for when, name, side in zip(marks, data.event_name.values, ("right", "right", "left")):
            ax.axvline(when, color="0.6", lw=0.8, zorder=0)
            style = {"rotation": 90, "va": "top", "ha": side, "fontsize": 8, "color": "0.35"}
            ax.text(when, 0.97, name, transform=ax.get_xaxis_transform(), **style)
        ax.set_title(f"{label} the core", fontsize=10)
        ax.set_ylim(bottom=0)
        tidy(ax, "time [s]" if ax is low else "", "contact force [kN]")
    R, x = data.rotation.sel(body="core").values, data.position.sel(body="core").values
    seen = lambda local: np.einsum("tji,tj->ti", R, ends(data, "booster", local) - x)
    center, nose, tail = seen((0, 0, 0)), seen((11.6, 0, 0)), seen((-8, 0, 0))
    shade = plt.colormaps["viridis"]
    for k, i in enumerate(range(0, 4001, 400)):
        right.plot(*zip(tail[i, :2], nose[i, :2]), color=shade(0.09 * k), lw=2, solid_capstyle="round")
        right.plot(*nose[i, :2], "o", color=shade(0.09 * k), ms=3.5)
    right.plot(*center[:, :2].T, color=RED, lw=1)
    right.plot([-14, 14], [0, 0], color="0.6", lw=7, solid_capstyle="butt", zorder=0)
    right.text(6, -3.5, "core", fontsize=9, color="0.35", ha="center")
    right.set_aspect("equal", adjustable="datalim")
    right.set_title("the booster every 0.4 s, seen from the core; red: its centre", fontsize=10)
    tidy(right, "x [m]", "y [m]")
    return figure


def events():
    """A ball that bounces until it lies, and a block that sticks to a belt and slips on it."""
    sys.path.insert(0, str(HERE.parents[1] / "examples"))
    from bouncing_ball import ball
    from stick_slip import belt_and_block

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    data = ts.simulate(ball(0.8), 5.0, outputs=2000)
    left.plot(data.time, data.position.sel(body="ball", axis="z") - 0.05, color=BLUE, lw=1.2)
    rest = float(data.event_time[-1])
    left.axvline(rest, color="0.6", lw=0.8)
    left.text(rest, 0.9, f"{data.sizes['event']} impacts, then rest ", ha="right", fontsize=9, color="0.35")
    tidy(left, "time [s]", "height of the ball [m]")
    data = ts.simulate(belt_and_block(), 2.0, outputs=2000, formulation="relative")
    right.plot(data.time, data.velocity.sel(body="block", axis="x"), color=RED, lw=1.4)
    for when in data.event_time.values:
        right.axvline(when, color="0.6", lw=0.8, zorder=0)
    right.text(0.04, 0.53, "sticks", fontsize=9, color="0.35", ha="center")
    right.set_ylim(top=0.6)
    right.text(0.35, 0.53, "slips", fontsize=9, color="0.35", ha="center")
    tidy(right, "time [s]", "speed of the block [m/s]")
    return figure


def modes():
    """The modes of a wheel on two wishbones."""
    example = runpy.run_path(str(HERE.parents[1] / "examples" / "modes_of_a_suspension.py"))
    return example["rest"].linear.plot()


def controllers():
    """A pole that a sampled law balances, and the force that is held between samples, with a delay of half a period."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    for period, color in ((0.02, GREEN), (0.1, BLUE), (0.15, RED)):
        model = ts.Model("cart-pole", gravity=(0, 0, -9.81))
        cart = model.body("cart", mass=1.0, inertia=(0.1, 0.1, 0.1))
        pole = model.body("pole", inertia=ts.inertia.rod(0.2, 1.0, axis="z"), at=(0, 0, 0.5))
        track = model.add(ts.Prismatic("track", model.ground, cart, axis="x"))
        hinge = model.add(ts.Revolute("hinge", cart, pole, point=(0, 0, 0), axis="y", start=0.1))
        law = track.coordinate + 30 * hinge.coordinate + 2 * track.rate + 7 * hinge.rate
        pilot = model.add(ts.Controller("pilot", period, outputs={"force": law}, delay=period / 2))
        model.add(ts.JointForce("motor", track, pilot["force"]))
        data = ts.simulate(model, 3.0, outputs=3000)
        left.plot(data.time, data.coordinate[:, 1], color=color, label=f"T = {period:g} s")
        right.plot(data.time, data["pilot.force"], color=color, lw=1)
    left.set_ylim(-0.6, 0.6)
    left.legend(fontsize=8, loc="lower left")
    right.set(xlim=(0, 1.2), ylim=(-8, 8))
    tidy(left, "time [s]", "angle of the pole [rad]")
    tidy(right, "time [s]", "force on the cart [N]")
    return figure


PICTURES = {
    "three-link": three_link, "drift": drift, "four-bar": four_bar, "heavy-top": heavy_top, "free-body": free_body,
    "pendulum": pendulum, "satellite": satellite, "orders": orders, "booster": booster, "events": events,
    "modes": modes, "controllers": controllers, "kinematics": linkages.kinematics, "tables": given.tables,
    "studies": many.studies,
    **parts.PICTURES,
}  # fmt: skip


if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        figure = PICTURES[name]()
        figure.savefig(HERE / f"{name}.png", dpi=110)
        plt.close(figure)
        print(f"{name}.png: {(HERE / f'{name}.png').stat().st_size / 1e3:.0f} kB")
