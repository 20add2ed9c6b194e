"""Tables from files of comma-separated values, with a line of names at their top."""

import csv
import os
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from ..elements.conversion import show
from ..errors import ModelError
from .table import Table, table

SEPARATORS = ",;\t"
BLANKS = " "  # any number of them
EMPTY = f"{SEPARATORS} \r\n"  # what lines consist of that say nothing
COMMA = "; decimal commas need columns that semicolons or tabs separate"


def read_table(
    path: str | os.PathLike,
    x: str | Sequence[str],
    y: str,
    kind: str = "linear",
    outside: str = "hold",
    name: str | None = None,
) -> Table:
    """A table from columns of a CSV file: `ts.read_table("run.csv", x="time", y="torque")`.

    path   of the file
    x      name of the column of points; two names for a function of two arguments, whose file has a line for each pair of points,
           in any order
    y      name of the column of values
    name   in messages; None: that of the file

    The first line names the columns, separated by commas, semicolons, tabs or blanks; where it is not commas, numbers may have
    decimal commas. Empty lines, and lines that begin with #, are left out, but for names that stand in the last of these above
    numbers, as `numpy.savetxt` writes them. `kind` and `outside` are those of `table`.
    """
    wanted = [x] if isinstance(x, str) else list(x) if isinstance(x, (tuple, list)) else []
    if not isinstance(path, (str, os.PathLike)) or not 1 <= len(wanted) <= 2:
        raise ModelError(
            f"read_table: give the path of a file, and the name of one column for x, or two; got {show(path)}, {show(x)}"
        )
    if wrong := [word for word in (*wanted, y) if not isinstance(word, str)]:
        raise ModelError(f"{path}: columns are known by their names, got {show(wrong[0])}")
    path = Path(path)
    _, columns, lines = _columns(path, [*wanted, y])
    name = str(path) if name is None else name
    if len(wanted) == 1:
        _refuse_back(path, wanted[0], columns[0], lines)
        return table(columns[0], columns[1], kind, outside, name)
    points, values = _grid(path, wanted, columns)
    return table(points, values, kind, outside, name)


def read_columns(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """All columns of a CSV file by name, numbers alone; written as `read_table` takes it."""
    names, columns, _ = _columns(Path(path))
    return dict(zip(names, columns))


def _text(path):
    """What a file says: in UTF-8 or UTF-16, or as older programs of Windows write it."""
    try:
        if path.exists() and not path.is_file():
            raise ModelError(f"{path}: is not a regular file")
        content = path.read_bytes()
        if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            return content.decode("utf-16")
        with suppress(UnicodeDecodeError):
            return content.decode("utf-8-sig")
        return content.decode("cp1252")
    except (OSError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{path}: cannot be read: {error}") from None


def _columns(path, wanted=None):
    """The wanted columns of a file, None: all of them: their names, arrays, and the number of the line that each row is in."""
    text = _text(path).splitlines()
    said = [(k, line) for k, line in enumerate(text, 1) if line.strip(EMPTY)]
    lines = [(k, line) for k, line in said if not line.lstrip().startswith("#")]
    if lines and _numbers_alone(lines[0][1]):
        above = [(k, line.lstrip("# ")) for k, line in said if k < lines[0][0]]
        lines = above[-1:] + lines
    if not lines:
        raise ModelError(f"{path}: is empty; its first line must name the columns")
    separator, header = _header(lines[0][1], wanted or ())
    if separator == BLANKS:
        lines, separator = [(k, "\t".join(line.split())) for k, line in lines], "\t"
    wanted = header if wanted is None else wanted
    for word in wanted:
        if header.count(word) != 1:
            found = "is there more than once" if word in header else "is not there"
            close = [name for name in header if word.lower() in name.lower() and word not in header]
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ModelError(f"{path}: column {word!r} {found}.{hint} Columns: {', '.join(map(repr, header))}")
    if len(lines) == 1:
        return wanted, np.zeros((len(wanted), 0)), []
    try:
        rows = [line for _, line in lines[1:]]
        if any(line.count(separator) >= len(header) for line in rows):  # a closer look
            raise ValueError
        places = [header.index(word) for word in wanted]
        columns = np.loadtxt(rows, delimiter=separator, usecols=places, comments=None, quotechar='"', ndmin=2).T
        numbers = [number for number, _ in lines[1:]]
        if columns.shape[1] != len(numbers):  # quoted text that goes on in the next line
            raise ValueError
    except (ValueError, IndexError):
        columns, numbers = _one_by_one(path, lines[1:], separator, header, wanted)
    for word, column in zip(wanted, columns):
        if not np.isfinite(column).all():
            k = int(np.argmin(np.isfinite(column)))
            raise ModelError(f"{path}, line {numbers[k]}: {word} must be a finite number, got {column[k]}")
    return wanted, columns, numbers


def _numbers_alone(line):
    """True if a line has no names in it."""
    try:
        return bool([float(word) for word in re.split(r"[,;\s]+", line) if word])
    except ValueError:
        return False


def _header(line, wanted):
    """The separator, and the names of the columns: such that what is wanted is there, if any does that."""
    if not wanted and len(line.split()) > 1 and not {*SEPARATORS} & {*line}:
        return BLANKS, line.split()
    found = []
    for separator in sorted(SEPARATORS, key=line.count, reverse=True):
        header = [word.strip() for word in next(csv.reader([line], delimiter=separator))]
        found.append((separator, header))
        if all(word in header for word in wanted):
            return separator, header
    if all(word in line.split() for word in wanted):
        return BLANKS, line.split()
    return found[0]


def _one_by_one(path, lines, separator, header, wanted):
    """The same cell by cell: numbers with decimal commas, or an error that names the first line which has something else."""
    reader, values, numbers = csv.reader([line for _, line in lines], delimiter=separator), [], []
    for row in reader:
        numbers.append(lines[reader.line_num - 1][0])
        if any(cell.strip() for cell in row[len(header) :]):
            comma = COMMA if separator == "," else ""
            message = f"{path}, line {numbers[-1]}: there are {len(row)} columns, and names for {len(header)}{comma}"
            raise ModelError(message)
        values.append([_number(path, numbers[-1], row, word, header.index(word), separator) for word in wanted])
    return np.array(values).T, numbers


def _number(path, line, row, word, k, separator):
    """One cell."""
    if k >= len(row):
        raise ModelError(f"{path}, line {line}: there is no column {word!r}, only {len(row)} of them")
    cell = row[k] if separator == "," else row[k].replace(",", ".")
    try:
        return float(cell if "_" not in cell else "")
    except ValueError:
        comma = COMMA if "," in cell else ""
        raise ModelError(f"{path}, line {line}: {word} must be a number, got {row[k]!r}{comma}") from None


def _refuse_back(path, word, points, lines):
    """Refuse points that do not increase."""
    back = np.flatnonzero(np.diff(points) <= 0)
    if back.size:
        k = int(back[0])
        raise ModelError(
            f"{path}, line {lines[k + 1]}: {word} must increase, and {points[k + 1]:.17g} follows {points[k]:.17g}"
        )


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
