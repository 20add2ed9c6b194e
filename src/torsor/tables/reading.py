"""Tables from files of comma-separated values, with a line of names at their top."""

import csv
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..errors import ModelError
from .table import Table, table

SEPARATORS = ",;\t"


def read_table(
    path: str | os.PathLike,
    x: str | Sequence[str],
    y: str,
    kind: str = "linear",
    outside: str = "hold",
    name: str | None = None,
) -> Table:
    """A table from columns of a CSV file: `ts.read_table("run.csv", x="time", y="torque")`.

    x      name of the column of points; two names for a function of two arguments, whose file has a line for each pair of points,
           in any order
    y      name of the column of values
    name   in messages; None: that of the file

    The first line names the columns, separated by commas, semicolons or tabs. Empty lines, and lines that begin with #, are left
    out. `kind` and `outside` are those of `table`.
    """
    path = Path(path)
    wanted = [x] if isinstance(x, str) else list(x)
    columns = _columns(path, [*wanted, y])
    name = str(path) if name is None else name
    if len(wanted) == 1:
        return table(columns[0], columns[1], kind, outside, name)
    if len(wanted) != 2:
        raise ModelError(f"{path}: x must be the name of one column, or of two, got {x!r}")
    points, values = _grid(path, wanted, columns)
    return table(points, values, kind, outside, name)


def _columns(path, wanted):
    """The wanted columns of a file, as arrays."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: cannot be read: {error}") from None
    lines = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    if not lines:
        raise ModelError(f"{path}: is empty; its first line must name the columns")
    separator = max(SEPARATORS, key=lines[0][1].count)
    header = [word.strip() for word in next(csv.reader([lines[0][1]], delimiter=separator))]
    for word in wanted:
        if header.count(word) != 1:
            found = "is there more than once" if word in header else "is not there"
            raise ModelError(f"{path}: column {word!r} {found}. Columns: {', '.join(map(repr, header))}")
    places = [header.index(word) for word in wanted]
    rows = [line for _, line in lines[1:]] or [separator.join(["nan"] * len(header))]
    try:
        columns = np.loadtxt(rows, delimiter=separator, usecols=places, comments=None, quotechar='"', ndmin=2).T
    except (ValueError, IndexError) as error:
        cells = csv.reader(rows, delimiter=separator)
        raise _first_wrong(path, zip(lines[1:], cells), wanted, places, error) from None
    return columns[:, : len(lines) - 1]


def _first_wrong(path, lines, wanted, places, error):
    """What is wrong in the first line that has something else than a number."""
    for (number, _), row in lines:
        for word, k in zip(wanted, places):
            try:
                float(row[k])
            except IndexError:
                return ModelError(f"{path}, line {number}: there is no column {word!r}, only {len(row)} of them")
            except ValueError:
                return ModelError(f"{path}, line {number}: {word} must be a number, got {row[k]!r}")
    return ModelError(f"{path}: cannot be read: {error}")


def _grid(path, wanted, columns):
    """Points of both arguments, and values by rows and columns, from a line for each pair."""
    first, second, values = columns
    (x, i), (y, j) = (np.unique(column, return_inverse=True) for column in (first, second))
    grid, seen = np.full((len(x), len(y)), np.nan), np.zeros((len(x), len(y)), int)
    np.add.at(seen, (i, j), 1)
    if (seen != 1).any():
        a, b = np.argwhere(seen != 1)[0]
        how = "is missing" if seen[a, b] == 0 else f"is there {seen[a, b]} times"
        raise ModelError(
            f"{path}: the pair {wanted[0]} = {x[a]:g}, {wanted[1]} = {y[b]:g} {how}; every pair of points needs one line"
        )
    grid[i, j] = values
    return (x, y), grid
