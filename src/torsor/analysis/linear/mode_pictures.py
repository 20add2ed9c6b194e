"""Pictures of modes: every body as the lines between its joints, at rest and at the two ends of its motion."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...elements import quantity
from ...errors import OptionError
from ...joints import Joint
from ...lie import se3
from ...look.plot_panels import COLORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODES_SHOWN = 6
AMPLITUDE_RATIO = 0.12  # largest displacement / size of the mechanism in a picture
AXIS_NAMES = "xyz"


def skeleton(model, parameters):
    """Points of each body in body axes that its lines connect: its joints, and its centre if there are fewer than two."""
    at = {model.parameters[name].symbol.name(): value for name, value in parameters.items()}
    points: dict = {body.name: [] for body in model.bodies}
    for joint in model.constraints:
        if isinstance(joint, Joint):
            for body, frame in zip((joint.first, joint.second), joint.placed):
                if body.name in points:
                    points[body.name].append(quantity.numbers(se3.split_pose(frame)[1], at).ravel())
    return {name: np.array(own if len(own) > 1 else [*own, np.zeros(3)]) for name, own in points.items()}


def mode_shapes(linear, model, parameters, only=None, amplitude=None) -> "Figure":
    """A figure with one panel per mode; see `LinearModel.plot`."""
    import matplotlib.pyplot as plt

    modes = _select_modes(linear.modes, only)
    if not modes:
        raise OptionError("plot: there is no mode to draw: nothing moves, or all motions are neutral")
    columns = min(len(modes), 3)
    rows = -(-len(modes) // columns)
    figure = plt.figure(figsize=(3.6 * columns, 3.4 * rows), layout="constrained")
    lines = skeleton(model, parameters)
    for k, mode in enumerate(modes, 1):
        _panel(figure.add_subplot(rows, columns, k), mode, lines, amplitude)
    return figure


def _select_modes(modes, only):
    """The modes to draw."""
    if only is None:
        return [mode for mode in modes if not mode.neutral][:MODES_SHOWN]
    requested = [only] if isinstance(only, (int, np.integer)) else only
    places = range(-len(modes), len(modes))
    if not isinstance(requested, (Sequence, np.ndarray)) or not all(
        isinstance(k, (int, np.integer)) and k in places for k in requested
    ):
        raise OptionError(f"plot: only must be places among {len(modes)} modes, from 0 on, got {quantity.show(only)}")
    return [modes[k] for k in requested]


def _panel(ax, mode, lines, amplitude):
    """Draw one mode at rest and at both ends of its motion."""
    rest = _frame_points(mode.motion(0.0, 2), lines)[0]
    extent = np.ptp(np.vstack(rest), axis=0)
    if amplitude is None:
        largest = max(
            np.abs(mode.displacement).max(initial=0.0), np.abs(mode.rotation).max(initial=0.0) * extent.max() / 2
        )
        amplitude = AMPLITUDE_RATIO * max(extent.max(), 1e-12) / largest if largest > 0 else 0.0
    across, up = _view(extent, np.vstack(_frame_points(mode.motion(amplitude, 5), lines)[0]) - np.vstack(rest))
    for phase, (color, style) in {None: ("0.6", "-"), 0: (COLORS[0], "-"), 2: (COLORS[1], "--")}.items():
        frames = _frame_points(mode.motion(0.0 if phase is None else amplitude, 5), lines)
        for points in frames[phase or 0]:
            for a, b in pairwise(points):
                ax.plot([a[across], b[across]], [a[up], b[up]], style, color=color, lw=2, marker="o", ms=3)
    ax.set(aspect="equal", xlabel=f"{AXIS_NAMES[across]} [m]", ylabel=f"{AXIS_NAMES[up]} [m]")
    ax.set_title(str(mode).split(":")[0], fontsize=9)


def _view(extent, moved):
    """The two axes of a picture: the one of the largest motion, and of the others the one of the largest extent."""
    along = int(np.argmax(np.abs(moved).max(axis=0)))
    other = max((k for k in range(3) if k != along), key=lambda k: extent[k])
    return sorted((along, other))


def _frame_points(motion, lines):
    """Points of all bodies in world axes, frame by frame."""
    frames = []
    for x, R in zip(motion["position"].values, motion["rotation"].values):
        frames.append([x[k] + lines[str(name)] @ R[k].T for k, name in enumerate(motion["body"].values)])
    return frames
