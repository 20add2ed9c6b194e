"""Figures of a result: energy, drift, coordinates, reactions, paths, events, drives. Each takes a dataset and fills a figure.

Many joints are drawn in groups, one row of panels and one legend per group, so that every line differs from its
neighbours; beyond `ROWS` groups the rest is left out, and the figure says so. `only` chooses.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..elements import quantity
from ..errors import OptionError, ResultError
from .dataset import unique_joints
from .plot_panels import (
    COLORS,
    GROUP,
    ROWS,
    colour_gradient,
    draw_groups,
    legend,
    line,
    log_line,
    mark_events,
    note,
    shade,
    time_axis,
    with_gaps,
)
from .rotation_plots import determinant, euler, rotation

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

ROTATIONS = ("rotation", "euler", "determinant")  # views of rotation matrices
SWEEP = "sweep"  # the dimension that a quasi-static motion has in the place of time
BEYOND = 1e100  # values of a run that blew up, which no axis can show: left out
PLANAR = 1e-6  # extent across a plane over the extent within it, below which a motion is drawn as planar


def plot(data: "xr.Dataset", what: str, only: Sequence[str] | None = None, figure: "Figure | None" = None) -> "Figure":
    """Draw one view of a result and return the Matplotlib figure; nothing is shown or saved.

    data     result of `simulate`, `kinematics` or `load`; of a study one run, `data.isel(run=0)`
    what     "energy", "drift", "coordinates", "reactions", "paths", "events", "drives", "rotation", "euler" or "determinant"
    only     names of the joint coordinates, joints, bodies, events or drives to draw; None: all
    figure   a Matplotlib figure to draw into; None: a new one
    """
    if not isinstance(what, str) or what not in VIEWS:
        raise OptionError(f"unknown plot {quantity.show(what)}. Known: {', '.join(VIEWS)}.")
    if not hasattr(data, "data_vars") or "model_hash" not in data.attrs:
        raise OptionError(f"plot: give a result of `simulate` or `load`, got {quantity.show(data)}")
    if "run" in data.dims:
        raise OptionError(f"plot: a study has {data.sizes['run']} runs: give one of them, as data.isel(run=0)")
    data = _over_time(data)
    if what not in available(data):
        why = "output times" if not data.sizes.get("time") else _drawing_subject(what)
        raise ResultError(f"nothing to draw as {what!r}: the result holds no {why}")
    if only is not None:
        data = _select(data, what, [only] if isinstance(only, str) else only)
    data = data.map(lambda x: x.where(np.abs(x) < BEYOND) if x.dtype.kind == "f" else x, keep_attrs=True)
    refuse_other_figure(figure, "plot")
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(layout="constrained")
    VIEWS[what](figure, data)
    if what in MARKED:
        mark_events(figure, data)
    figure.suptitle(f"{data.attrs.get('model', 'result')}: {what}", fontsize=11)
    return figure


def refuse_other_figure(figure, caller):
    """Refuse what is no Matplotlib figure."""
    if figure is not None and not (hasattr(figure, "set_size_inches") and hasattr(figure, "subplots")):
        raise OptionError(f"{caller}: figure must be a Matplotlib figure, got {quantity.show(figure)}")


def _over_time(data):
    """A sweep, which has no time, over what is driven in its place, or over its places where several coordinates are."""
    if SWEEP not in data.dims:
        return data
    names, units = data["drive"].values.tolist(), data["coordinate_unit"]
    along, label = np.arange(data.sizes[SWEEP]), "place in the sweep [1]"
    if len(names) == 1:
        unit = str(units.sel(joint_coordinate=names[0]).values)
        along, label = data["drive_value"].values[:, 0], f"{names[0]} [{unit}]"
    return data.rename({SWEEP: "time"}).assign_coords(time=("time", along, {"label": label}))


def available(data):
    """The views that the result has data for."""
    data = _over_time(data)
    if not data.sizes.get("time") or "run" in data.dims:
        return []
    drawn = [what for what in VIEWS if what not in DRAWN or data.sizes.get(DRAWN[what])]
    turned = "rotation" in data and np.isfinite(data["rotation"].values).all()  # a particle has no rotation
    drawn = [what for what in drawn if what not in ROTATIONS or turned]
    return [what for what in drawn if what != "energy" or "work" in data]  # kinematics has no work


# views


def energy(figure, data):
    """Kinetic, potential and total energy above; how far its change is from the work done below."""
    figure.set_size_inches(8, 6)
    top, low = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    t, E, W = data["time"].values, data["energy"].values, data["work"].values
    happened = "energy_by_events" in data and np.abs(data["energy_by_events"].values).max() > 0
    if happened:  # what events took from the energy or gave to it is accounted for
        W = W + data["energy_by_events"].values
    also = " + events" if happened else ""
    line(top, t, data["kinetic_energy"].values, "kinetic", COLORS[0])
    line(top, t, data["potential_energy"].values, "potential", COLORS[1])
    line(top, t, E, "total", COLORS[2], lw=2)
    if np.abs(W).max() > 0:
        line(top, t, E[0] + W - W[0], f"start + work done{also}", "black", ls=(0, (2, 3)), lw=1.3)
    top.set_ylabel("energy [J]")
    legend(top)
    log_line(low, t, np.abs(E - E[0] - (W - W[0])), COLORS[1])
    low.set_ylabel("|ΔE − work − events| [J]" if happened else "|ΔE − work| [J]")
    time_axis(low, data)
    if "energy_balance_error" in data.attrs:
        a = data.attrs
        note(low, f"largest {a['energy_balance_error']:.2e} J, relative {a['energy_balance_relative']:.2e}")


def drift(figure, data):
    """Largest constraint residual at position and at velocity level."""
    figure.set_size_inches(8, 5)
    t = data["time"].values
    panels = figure.subplots(2, 1, sharex=True)
    for ax, level, unit, color in zip(panels, ("position", "velocity"), ("m or rad", "m/s or rad/s"), COLORS):
        values = data[f"{level}_drift"].values
        log_line(ax, t, values, color)
        ax.set_ylabel(f"{level} residual\n[{unit}]")
        note(ax, f"largest {np.nanmax(values, initial=0.0):.2e}")
    time_axis(panels[-1], data)


def coordinates(figure, data):
    """Joint coordinates on the left, their rates on the right."""
    columns = [(with_gaps(data), "coordinate [m or rad]"), (data["rate"].values, "rate [m/s or rad/s]")]
    draw_groups(figure, data, "joint_coordinate", columns)


def reactions(figure, data):
    """Magnitudes of the reaction forces on the left, torques on the right; dashed where they are not unique."""
    size = lambda name: np.linalg.norm(data[name].values, axis=2)
    forces, torques = size("reaction_force"), size("reaction_torque")
    unique = unique_joints(data)
    largest = max(np.nanmax(forces, initial=0.0) * data.attrs.get("model_length", 1.0), np.nanmax(torques, initial=0.0))
    columns = [(forces, "force [N]"), (torques, "torque [N m]")]
    draw_groups(figure, data, "joint", columns, unique, rounding=1e-12 * largest)
    if not unique.all():
        note = "dashed: not unique, the constraints are redundant; one of many possible distributions"
        figure.supxlabel(note, fontsize=9)


def paths(figure, data):
    """Paths of the centres of mass: from the open circle to the full one. In the plane where the motion is planar."""
    x, names = data["position"].values, data["body"].values
    extent = np.nanmax(np.nanmax(x, axis=0) - np.nanmin(x, axis=0), axis=0)
    across = [k for k in (1, 0, 2) if extent[k] <= PLANAR * max(extent.max(), 1e-300)]
    axes = [k for k in range(3) if not across or k != across[0]]
    few = len(names) <= 2 * GROUP
    wide, high = (np.nanmax(x[:, :, k]) - np.nanmin(x[:, :, k]) for k in (axes[0], axes[-1]))
    figure.set_size_inches(8, 6.5 if len(axes) == 3 else np.clip(6.5 * high / max(wide, 1e-300) + 1, 3, 7))
    ax = figure.add_subplot(projection="3d" if len(axes) == 3 else None)
    colors = [shade(k) for k in range(len(names))] if few else colour_gradient(len(names))
    for b, name in enumerate(names):
        path = [x[:, b, k] for k in axes]
        style = {"color": colors[b], "lw": 1.4 if few else 0.9, "ls": "-" if b < GROUP or not few else "--"}
        ax.plot(*path, label=str(name), **style)
        ax.plot(*[[c[0]] for c in path], "o", mfc="none", mec=colors[b], ms=8 if few else 5)
        ax.plot(*[[c[-1]] for c in path], "o", color=colors[b], ms=5 if few else 3)
    for k, axis in zip(axes, "xyz"):
        getattr(ax, f"set_{axis}label")(f"{'xyz'[k]} [m]")
    ax.set_aspect("equal", adjustable="datalim" if len(axes) == 2 else "box")
    text = "centres of mass, from the open circle to the full one"
    if few:
        figure.legend(*ax.get_legend_handles_labels(), loc="outside right upper", fontsize=8, frameon=False)
    else:
        text += f"; {len(names)} bodies, {names[0]} dark to {names[-1]} light"
    note(ax, text)
    if len(axes) == 2:
        ax.grid(alpha=0.25)
    else:
        ax.locator_params(nbins=5)


def events(figure, data):
    """When each event happened above, one line per name; what events did to the energy below."""
    names, times = data["event_name"].values.astype(str), data["event_time"].values
    kinds = list(dict.fromkeys(names.tolist()))[: GROUP * ROWS]
    change, t = np.concatenate([[0.0], np.cumsum(data["event_energy"].values)]), data["time"].values
    panels = 2 if np.abs(change).max() > 0 else 1
    figure.set_size_inches(8, 1.2 + 0.25 * len(kinds) + 2 * (panels - 1))
    top, *low = figure.subplots(
        panels, 1, sharex=True, squeeze=False, height_ratios=(1 + 0.35 * len(kinds), 2)[:panels]
    ).flat
    for k, kind in enumerate(kinds):
        at = times[names == kind]
        top.plot(at, np.full(len(at), k), "|", color=shade(k), ms=12, mew=1.4)
        top.annotate(f" {len(at)}", (1, k), xycoords=("axes fraction", "data"), va="center", fontsize=8, color="0.35")
    top.set_yticks(range(len(kinds)), kinds, fontsize=8)
    top.set(ylim=(len(kinds) - 0.5, -0.5), ylabel="event [name]")
    top.grid(alpha=0.25)
    for ax in low:
        ax.step([t[0], *times, max(t[-1], times[-1])], [*change, change[-1]], where="post", color=COLORS[1], lw=1.3)
        ax.set_ylabel("energy by events [J]")
        ax.grid(alpha=0.25)
    time_axis((low or [top])[0], data)


def drives(figure, data):
    """Forces of the drives above; how far each position is from a singular one below."""
    figure.set_size_inches(8, 6)
    top, low = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    t, names = data["time"].values, [str(name) for name in data["drive"].values]
    for k, name in enumerate(names[:GROUP]):
        line(top, t, data["drive_force"].values[:, k], name, shade(k))
    top.set_ylabel("force of the drive [N or N m]")
    legend(top)
    if len(names) > GROUP:
        note(top, f"the first {GROUP} of {len(names)}; `only` chooses others")
    log_line(low, t, data["conditioning"].values, COLORS[1])
    low.set_ylabel("conditioning [1]")
    time_axis(low, data)


VIEWS = {
    "energy": energy, "drift": drift, "coordinates": coordinates, "reactions": reactions, "paths": paths, "events": events,
    "drives": drives, "rotation": rotation, "euler": euler, "determinant": determinant,
}  # fmt: skip
# the dimension that a view needs
DRAWN = {
    "coordinates": "joint_coordinate", "reactions": "joint", "paths": "body", "events": "event", "drives": "drive",
    "rotation": "body", "euler": "body", "determinant": "body",
}  # fmt: skip
MARKED = (
    "energy",
    "drift",
    "coordinates",
    "reactions",
    "rotation",
    "euler",
    "determinant",
)  # views over time, in which events are thin lines


def _drawing_subject(what):
    named = {
        "coordinates": "joint coordinates",
        "reactions": "joints",
        "paths": "bodies",
        "events": "events",
        "drives": "drives",
    } | dict.fromkeys(ROTATIONS, "rotations of bodies")
    return named.get(what, "output times")


def _select(data, what, names):
    if what not in DRAWN:
        raise OptionError(f"plot {what!r} draws the whole model: `only` does not apply")
    if not isinstance(names, Sequence) or not names or not all(isinstance(name, str) for name in names):
        raise OptionError(f"plot {what!r}: only must be a name, or a list of names, got {quantity.show(names)}")
    label = "event_name" if what == "events" else DRAWN[what]
    known = list(dict.fromkeys(data[label].values.tolist()))
    for name in names:
        if name not in known:
            raise OptionError(f"plot {what!r}: nothing called {name!r}. Known: {', '.join(known)}.")
    return data.isel(event=np.isin(data[label], names)) if what == "events" else data.sel({DRAWN[what]: names})
