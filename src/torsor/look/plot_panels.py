"""What the figures of a result have in common: groups of panels, lines, marks of events."""

import numpy as np

GROUP, ROWS = 8, 6  # lines in a panel, rows of panels
# colours that readers with any colour vision can tell apart
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#b8860b", "#6a3d9a", "#555555")
MARKS, NAMED = 60, 6  # events that are marked, and that are named there


def draw_groups(figure, data, dimension, columns, unique=None, rounding=0.0):
    """Two columns of panels; every row draws up to GROUP lines and has its own legend.

    A panel that shows nothing above `rounding` says so instead of magnifying it.
    """
    t, names = data["time"].values, [str(n) for n in data[dimension].values]
    shown = names[: GROUP * ROWS]
    rows = -(-len(shown) // GROUP)
    figure.set_size_inches(10, max(3.6, 2.1 * rows + 0.6))
    panels = figure.subplots(rows, 2, sharex=True, squeeze=False)
    for r, row in enumerate(panels):
        for ax, (values, label) in zip(row, columns):
            for k in range(r * GROUP, min((r + 1) * GROUP, len(shown))):
                loose = unique is not None and not unique[k]
                line(ax, t, values[:, k], names[k], shade(k), ls="--" if loose else "-", zorder=3 - 0.01 * k)
            ax.set_ylabel(label)
            ax.grid(alpha=0.25)
            worst = np.nanmax(np.abs(values[:, r * GROUP : (r + 1) * GROUP]), initial=0.0)
            if worst <= rounding:
                ax.set(ylim=(-1, 1), yticks=[0])
                note(ax, f"zero to rounding, at most {worst:.0e}")
        row[1].legend(loc="upper left", bbox_to_anchor=(1.02, 1.02), fontsize=8, frameon=False)
    for ax in panels[-1]:
        time_axis(ax, data)
    if len(shown) < len(names):
        note(panels[0, 0], f"the first {len(shown)} of {len(names)}; `only` chooses others")


def mark_events(figure, data):
    """A thin vertical line at every event, named at the top where there are few."""
    if not data.sizes.get("event") or data.sizes["event"] > MARKS or data.sizes["time"] < 2:
        return
    times, names = data["event_time"].values, data["event_name"].values
    for ax in figure.axes:
        for when in times:
            ax.axvline(when, color="0.6", lw=0.7, zorder=0.5)
    if len(times) <= NAMED:
        ax, style = figure.axes[0], {"rotation": 90, "ha": "right", "va": "top", "fontsize": 7, "color": "0.35"}
        texts: list = []
        apart = 0.025 * np.ptp(data["time"].values)
        for when, name in zip(times, names):
            if texts and when - texts[-1][0] < apart:  # one text for events that are close to each other
                texts[-1][1] += f", {name}"
            else:
                texts.append([when, str(name)])
        for when, text in texts:
            ax.annotate(text, (when, 0.98), xycoords=ax.get_xaxis_transform(), annotation_clip=True, **style)


def with_gaps(data):
    """Joint coordinates with gaps where a rotation vector jumps to its equal of opposite sign."""
    q, dt = data["coordinate"].values.copy(), np.diff(data["time"].values)
    joint = [str(name).split("[")[0] for name in data["joint_coordinate"].values]
    for name in set(joint):
        k = [i for i, other in enumerate(joint) if other == name]
        if len(k) < 3:  # no rotation vector: angles are counted over full turns
            continue
        fastest = np.abs(data["rate"].values[:, k]).max(axis=1)
        jumps = np.abs(np.diff(q[:, k], axis=0)) > 0.5 + 5 * (dt * np.maximum(fastest[1:], fastest[:-1]))[:, None]
        q[1:, k] = np.where(jumps, np.nan, q[1:, k])
    return q


def line(ax, t, values, label, color, lw=1.3, **style):
    marker = {"marker": ".", "ms": 5} if len(t) < 20 else {}
    ax.plot(t, values, label=label, color=color, lw=lw, **marker, **style)
    ax.grid(alpha=0.25)


def log_line(ax, t, values, color):
    """A line on a logarithmic scale; zeros are gaps, and a line of nothing but zeros is said to be that."""
    positive = np.where(values > 0, values, np.nan)
    if np.all(np.isnan(positive)):
        ax.set_yticks([])
        ax.text(0.5, 0.5, "0 at every output", transform=ax.transAxes, ha="center", va="center", color="gray")
        return
    ax.set_yscale("log")
    line(ax, t, positive, None, color, lw=1)
    low, high = np.nanmin(positive), np.nanmax(positive)
    if high < 100 * low:  # at least two decades, so that noise does not look like a trend
        ax.set_ylim(low / 10, high * 10)


def time_axis(ax, data):
    """Name the time, or what is in its place, and draw from its first to its last."""
    t = data["time"]
    ax.set_xlabel(t.attrs.get("label", "time [s]"))
    if np.ptp(t.values) > 0:
        ax.set_xlim(t.values.min(), t.values.max())


def note(ax, text):
    ax.set_title(text, loc="right", fontsize=8, color="0.35")


def legend(ax):
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9, frameon=False)


def shade(k):
    return COLORS[k % len(COLORS)]


def colour_gradient(n):
    from matplotlib import colormaps

    return colormaps["viridis"](np.linspace(0.0, 0.92, n))
