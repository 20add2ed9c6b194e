"""Figures of the bodies' rotation matrices: their elements, Euler angles, and how well they are rotations."""

import numpy as np

from .plot_panels import COLORS, GROUP, legend, line, note, shade, time_axis

ANGLES = ("ψ", "θ", "φ")  # of the sequence 313: about z, about the new x, about the new z
SMALLEST_DRAWN = 1e-17  # what is smaller is drawn as this
LOCKED = 1e-7  # sin θ, below which ψ and φ cannot be distinguished


def rotation(figure, data):
    """The nine elements of each body's rotation matrix, one panel per body, one colour per column."""
    styles = ("-", "--", ":")
    for ax, R, t in _panels(figure, data, "element of R [1]"):
        for i in range(3):
            for j in range(3):
                line(ax, t, R[:, i, j], f"R{i + 1}{j + 1}", COLORS[j], ls=styles[i], lw=1.2)
    _one_legend(figure, 9)


def euler(figure, data):
    """Euler angles of each body, sequence 313, within a turn; a gap where one jumps by a turn, or where they are not defined."""
    for ax, R, t in _panels(figure, data, "Euler angle [rad]"):
        angles = euler_angles(R)
        locked = np.hypot(R[:, 0, 2], R[:, 1, 2]) < LOCKED
        if 2 * locked.sum() < len(t):  # in passing: a motion about z alone is locked all the time, and ψ shows it
            angles[np.ix_(locked, (0, 2))] = np.nan
        for k, name in enumerate(ANGLES):
            line(ax, t, _with_gaps(angles[:, k]), name, COLORS[k])
    _one_legend(figure, 3)


def determinant(figure, data):
    """How far each rotation matrix is from one: |det R − 1| above, the largest element of |R Rᵀ − 1| below."""
    figure.set_size_inches(8, 5)
    t, R, names = data["time"].values, data["rotation"].values, [str(name) for name in data["body"].values]
    panels = figure.subplots(2, 1, sharex=True)
    off = np.abs(R @ R.swapaxes(2, 3) - np.eye(3)).max(axis=(2, 3))
    for ax, values, label in zip(panels, (np.abs(np.linalg.det(R) - 1), off), ("|det R − 1| [1]", "|R Rᵀ − 1| [1]")):
        for k, name in enumerate(names[:GROUP]):
            line(ax, t, np.maximum(values[:, k], SMALLEST_DRAWN), name, shade(k))
        ax.set_yscale("log")
        ax.set_ylabel(label)
        note(ax, f"largest {np.nanmax(values, initial=0.0):.2e}")
    legend(panels[0])
    if len(names) > GROUP:
        note(panels[1], f"the first {GROUP} of {len(names)}; `only` chooses others")
    time_axis(panels[-1], data)


def euler_angles(R):
    """(ψ, θ, φ) of rotation matrices (…, 3, 3): R = R_z(ψ) R_x(θ) R_z(φ), θ from 0 to π; where θ is 0 or π, φ = 0."""
    sine = np.hypot(R[..., 0, 2], R[..., 1, 2])
    locked = sine < LOCKED
    psi = np.where(locked, np.arctan2(R[..., 1, 0], R[..., 0, 0]), np.arctan2(R[..., 0, 2], -R[..., 1, 2]))
    phi = np.where(locked, 0.0, np.arctan2(R[..., 2, 0], R[..., 2, 1]))
    return np.stack([psi, np.arctan2(sine, R[..., 2, 2]), phi], axis=-1)


def _with_gaps(angle):
    """Not a number where an angle jumps by more than half a turn."""
    found = angle.copy()
    found[1:][np.abs(np.diff(angle)) > np.pi] = np.nan
    return found


def _panels(figure, data, label):
    """One panel per body, two in a row: the panel, R over time, and the times."""
    names = [str(name) for name in data["body"].values]
    shown = names[:GROUP]
    rows = -(-len(shown) // 2)
    figure.set_size_inches(10, max(3.6, 2.3 * rows + 0.8))
    grid = figure.subplots(rows, min(2, len(shown)), sharex=True, squeeze=False).ravel()
    for k, (ax, name) in enumerate(zip(grid, shown)):
        ax.set_title(name, fontsize=9)
        ax.set_ylabel(label)
        ax.grid(alpha=0.25)
        if k >= len(shown) - 2 or ax.get_subplotspec().is_last_row():
            time_axis(ax, data)
        yield ax, data["rotation"].values[:, k], data["time"].values
    for ax in grid[len(shown) :]:
        ax.set_axis_off()
    if len(shown) < len(names):
        note(grid[0], f"the first {len(shown)} of {len(names)}; `only` chooses others")


def _one_legend(figure, columns):
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=8, frameon=False)
