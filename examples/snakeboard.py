"""The snakeboard of document 001, sec. 5.4.2: its path, how well its wheels do not slip, and which coordinates to correct.

A force along the coupler drives it; the boards, steered against each other, make it wind, since their wheels cannot slip.
After a step that leaves the constraints only dependent coordinates are corrected. Their measure (figure 8 of the document)
shows which are good ones: 1 leads straight off the constraints, 0 along them. As in the document every state of an accurate
run is taken one Euler step of 0.01 s further, and for a good and a poor choice the correction of the velocities is summed up,

    ε = ∫ Δvᵀ M Δv dt,

and so is what then separates them from the accurate run. The document prints ε = 3e-10 and 4.8e-6, a factor of 16,000, with masses
that it does not tell; with those of the case the factor is about 5,800. Its poor choice replaces the dependent coordinate that
leads straightest off the constraints, and is singular wherever nothing else does what that one does: at the start, which is
left out, and near it at many instants. 97 % of ε come from 20 of 500 instants, so that the factor shows how near the
samples come to singular choices, and not what a poor choice costs in general: its median is 25, and replacing the coordinate
that leads off the constraints least costs a factor of 3.

    python examples/snakeboard.py [picture.png]
"""

import sys

import casadi as ca
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import torsor as ts
from torsor.formulations.algebra.partition import choose_dependent, dependence_measure

PROJECTIONS = {"none": "tab:red", "least-squares": "tab:blue", "partition": "tab:green"}
PLANAR = [f"{body} {axis}" for body in "ABCD" for axis in ("x", "y", "about z")]
STEP = 0.01  # [s]
SINGULAR = 1e9  # condition number of a choice of dependent velocities, above which a state is left out


def slips(model):
    """Lateral speed of both wheel boards [m/s]."""
    return {f"slip {b}": ca.dot(model[b].direction((0, 1, 0)), model[b].velocity) for b in "AC"}


def states(data):
    """q and v in absolute coordinates: body by body x and R column by column, ẋ and ω."""
    x, R = data.position.values, data.rotation.transpose("time", "body", "column", "row").values
    q = np.concatenate([x, R.reshape(*x.shape[:2], 9)], axis=2)
    v = np.concatenate([data.velocity.values, data.angular_velocity.values], axis=2)
    return data.time.values, q.reshape(len(x), -1), v.reshape(len(x), -1)


def exchanged(good, measures, names):
    """The poor choice of the document: of the dependent coordinates in the plane the one with the smallest projection on the
    constraint manifold (the largest measure) is replaced by the next one that is independent."""
    order = sorted((k for k, name in enumerate(names) if name in PLANAR), key=lambda k: -measures[k])
    straightest, other = next(k for k in order if k in good), next(k for k in order if k not in good)
    return [other if k == straightest else k for k in good]


def corrections(dynamics, times, q, v):
    """ε of the correction, and of the error that stays, after one Euler step at every state: for the best dependent
    velocities, for poor ones, and for the least change of all."""
    f, names, p = dynamics.formulation_object, dynamics.coordinates, dynamics.p
    jacobian, Minv = f.start_functions["G"], f.start_functions["Minv"](dynamics.q, p)
    M, found = np.linalg.inv(Minv), {name: np.zeros(2) for name in ("best", "poor", "least change")}
    for t, position, velocity, exact in zip(times[1:], q, v, v[1:]):
        moved = dynamics.kernels["advance"](position, STEP * velocity)[0]
        free = velocity + STEP * dynamics.accelerations(position, velocity, t - STEP)
        G = jacobian(t, moved, p)[f.keep]
        good = choose_dependent(G, Minv)
        poor = exchanged(good, dependence_measure(G, Minv), names)
        if np.linalg.cond(G[:, poor]) > SINGULAR:
            continue
        change = {name: np.zeros(len(free)) for name in found}
        for name, dependent in (("best", good), ("poor", poor)):
            change[name][dependent] = np.linalg.solve(G[:, dependent], -G @ free)
        change["least change"] = -Minv @ G.T @ np.linalg.solve(G @ Minv @ G.T, G @ free)
        for name, dv in change.items():
            found[name] += STEP * np.array([d @ M @ d for d in (dv, free + dv - exact)])
    return found


def main(picture="snakeboard.png"):
    figure, ((path, steer), (slip, gap), (positions, velocities)) = plt.subplots(
        3, 2, figsize=(13, 11), layout="constrained"
    )
    print(f"{'projection':<15}{'slip [m/s]':>12}{'energy against work [J]':>26}{'steps':>8}{'time [ms]':>11}")
    model = ts.cases.load("snakeboard")
    for projection, colour in PROJECTIONS.items():
        data = ts.simulate(
            model, 5.0, outputs=500, tolerance=1e-6, projection=projection, formulation="absolute", signals=slips(model)
        )
        worst = np.maximum(np.abs(data["slip A"]), np.abs(data["slip C"]))
        print(
            f"{projection:<15}{float(worst.max()):12.1e}{data.attrs['energy_balance_error']:26.1e}"
            f"{data.attrs['steps']:8d}{1e3 * data.attrs['wall_seconds']:11.2f}"
        )
        slip.semilogy(data.time[1:], np.maximum(worst[1:], 1e-18), color=colour, label=projection, lw=1)
    for body in "ABC":
        where = data.position.sel(body=body)
        path.plot(where.sel(axis="x"), where.sel(axis="y"), lw=1, label=body)
    path.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    for pin in ("pin_A", "pin_C"):
        steer.plot(data.time, data.coordinate.sel(joint_coordinate=pin), label=pin)
    steer.plot(data.time, 0.5 * np.sin(2 * np.pi * data.time), "k:", lw=1, label="wanted, front")
    steer.set_ylabel("steering angle [rad]")
    slip.set_ylabel("largest lateral speed of a wheel [m/s]")

    # which coordinates lead off the constraints, and what a poor choice costs
    dynamics = ts.compile(model, formulation="absolute")
    times, q, v = states(ts.simulate(model, 5.0, outputs=500, tolerance=1e-12))
    measures = [dynamics.partition_measure(x, t) for t, x in zip(times, q)]
    columns = [dynamics.coordinates.index(name) for name in PLANAR]
    for ax, what in ((positions, "positions"), (velocities, "velocities")):
        for name, k in zip(PLANAR, columns):
            style = {"x": "-", "y": "--", "about z": ":"}[name[2:]]
            ax.plot(times, [m[what][k] for m in measures], style, color=f"C{'ABCD'.index(name[0])}", lw=1, label=name)
        ax.set(xlabel="time [s]", ylabel=f"measure for {what}", ylim=(-0.02, 1.02))
    errors = corrections(dynamics, times, q, v)
    print(f"\n{'dependent velocities':<22}{'correction ε':>14}{'against best':>14}{'error that stays':>18}")
    for name, (correction, error) in errors.items():
        print(f"{name:<22}{correction:14.2e}{correction / errors['best'][0]:14.2f}{error:18.3e}")
    gap.bar(list(errors), [correction for correction, _ in errors.values()], color="tab:grey")
    gap.set_ylabel("correction of velocities ε [J s]")
    for ax in (path, steer, slip, positions, velocities):
        ax.grid(alpha=0.3)
        ax.legend(fontsize=7)
    for ax in (positions, velocities):
        ax.legend(fontsize=7, ncols=4, loc=(0.25, 0.2))
    figure.savefig(picture, dpi=120)
    print(f"The picture is in {picture}.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
