"""A film of a result as a file: GIF with Pillow, MP4 with ffmpeg."""

import os
from typing import Any

import numpy as np

from ..errors import OptionError, ResultError
from .picture import camera_axes, limits, moments, paint, project

WRITERS = {".gif": "pillow", ".mp4": "ffmpeg", ".webm": "ffmpeg"}


def movie(
    data: Any, file: str | os.PathLike, frames: int = 60, speed: float = 1.0, view: Any = "auto", model: Any = None
) -> None:
    """Write a film of a result: FILE.gif, or FILE.mp4 and FILE.webm where ffmpeg is installed.

    data, file   a result over time, and the name of the film
    frames   number of pictures, equally spaced over the outputs
    speed    simulated seconds per second of the film
    view, model   as in `ts.picture`
    """
    suffix = os.path.splitext(os.fspath(file))[1].lower()
    if suffix not in WRITERS:
        raise OptionError(f"movie: {os.fspath(file)!r}: the name of the film must end in {', '.join(WRITERS)}")
    if not isinstance(frames, int) or isinstance(frames, bool) or not 2 <= frames <= 10_000:
        raise OptionError(f"movie: frames must be a whole number from 2 to 10000, got {frames!r}")
    if not isinstance(speed, (int, float)) or isinstance(speed, bool) or not speed > 0:
        raise OptionError(f"movie: speed must be positive, got {speed!r}")
    import matplotlib.pyplot as plt
    from matplotlib import animation

    if not animation.writers.is_available(WRITERS[suffix]):
        raise OptionError(
            f"movie: {suffix} needs {WRITERS[suffix]}, which is not installed; FILE.gif needs nothing more"
        )
    known = data["time"].values if hasattr(data, "data_vars") and "time" in data.dims else np.zeros(0)
    times = np.linspace(known[0], known[-1], frames) if len(known) > 1 else None
    scenery, shown = moments(data, None, times, model)
    camera = camera_axes(view, scenery, [p for _, p, _ in shown])
    drawings = [project(scenery, p, R, camera) for _, p, R in shown]
    low, high = limits(drawings, scenery["size"])
    figure = plt.figure(figsize=(4.8, 3.6))
    axes = figure.add_axes((0, 0, 1, 0.93))
    duration = float(known[-1] - known[0]) / speed if len(known) > 1 else 1.0
    rate = int(np.clip(len(shown) / max(duration, 1e-3), 1, 50))  # pictures per second
    writer = animation.writers[WRITERS[suffix]](fps=rate)
    try:
        with writer.saving(figure, os.fspath(file), dpi=100):
            for (t, _, _), drawing in zip(shown, drawings):
                axes.clear()
                paint(axes, drawing, low, high)
                axes.set_title(f"{scenery['name']}, t = {t:.3g} s", fontsize=9)
                writer.grab_frame()
    except OSError as error:
        raise ResultError(f"cannot write {os.fspath(file)!r}: {error.strerror or error}") from None
    finally:
        plt.close(figure)
