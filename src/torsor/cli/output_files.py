"""Results as files: where they go, and plots of them."""

import io
import os

import numpy as np

from ..errors import OptionError, ResultError

SNAPSHOTS = 5  # panels of snapshots.png


def validate_outputs(out, csv):
    """The files that a result goes to. A long run must not end with the discovery that it cannot be kept."""
    from ..store.result_files import refuse_unwritable

    if csv is not None and not csv.lower().endswith(".csv"):
        raise OptionError(f"--csv {csv!r}: the name of the table must end in .csv; --out FILE writes other formats")
    wanted = [path for path in (out, csv) if path is not None]
    for path in wanted:
        refuse_unwritable(path)
    return wanted


def write_outputs(title, rows, data, wanted, plot=None):
    """Print a summary, keep the result in its files, draw it, and say so in lines of the same columns."""
    from ..look.text_format import table
    from ..store import result_files

    drawn = [] if plot is None else [("drawn", plot)]
    lines = table([*rows, *[("written", path) for path in wanted], *drawn])
    print("\n".join([title, *lines[: len(rows)]]))
    for path, line in zip(wanted, lines[len(rows) :]):
        result_files.save_result(data, path)
        print(line)
    if plot is not None:
        print(lines[-1].removesuffix(plot) + draw(data, plot))


def folder_for(path):
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise ResultError(f"cannot write plots to {path!r}: {error.strerror}") from None
    if not os.access(path, os.W_OK):
        raise ResultError(f"cannot write plots to {path!r}: the folder is not writable")


def draw(data, folder):
    """All plots that the result has data for, as PNG files; returns their names."""
    import matplotlib

    matplotlib.use("Agg")
    from ..look.plots import available, plot
    from ..viewer.picture import picture

    made = []
    for what in available(data):
        path = os.path.join(folder, f"{what}.png")
        save_figure(plot(data, what), path)
        made.append(path)
    if "position" in data and "run" not in data.dims and data.sizes.get("time", 0) > 1:
        path, known = os.path.join(folder, "snapshots.png"), data["time"].values
        save_figure(picture(data, times=[float(t) for t in np.linspace(known[0], known[-1], SNAPSHOTS)]), path)
        made.append(path)
    if "run" in data.dims:
        return f"nothing: a study has {data.sizes['run']} runs; ts.plot(data.isel(run=0), 'energy') draws one of them"
    return ", ".join(made) or "nothing: the result holds no output times"


def save_figure(figure, path):
    """Save a figure as a file, whole or not at all, and let go of it; returns the name of the file. The end of the name selects the
    format; where there is none it is PNG."""
    import matplotlib.pyplot as plt

    from ..store.journal import replace

    content, format = io.BytesIO(), os.path.splitext(path)[1][1:].lower()
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise ResultError(f"cannot write {path!r}: it is not a regular file")
        figure.savefig(content, dpi=130, format=format or "png")
        path = path if format else f"{path}.png"
        replace(path, content.getvalue())
    except (OSError, ValueError) as error:  # a folder that is not there; a format that is none
        if isinstance(error, ResultError):
            raise
        raise ResultError(f"cannot write {path!r}: {getattr(error, 'strerror', None) or error}") from None
    finally:
        plt.close(figure)
    return path
