"""Files that results are written to for other programs: CSV and Parquet as flat tables, MAT with arrays as they are.

The format follows from the end of a file's name; anything else is NetCDF, which alone is read back (`files.py`).
"""

import importlib.util
import os
import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..errors import ResultError
from .table import table_of

LONGEST = 63  # characters of a name in MATLAB


class Format(NamedTuple):
    """How a dataset is written to a path, and the package that it needs beyond those that torsor has."""

    write: Callable
    needs: str | None = None


def _csv(data, path):
    table_of(data).to_csv(path, index=False)


def _parquet(data, path):
    table = table_of(data)
    table.attrs = {name: _plain(value) for name, value in table.attrs.items()}
    table.to_parquet(path, engine="pyarrow", index=False)


def _mat(data, path):
    """Every variable under its name, with its labels, units and the attributes of the result in structures beside them."""
    from scipy.io import savemat

    names = _legal([*data.data_vars, *data.coords])
    labels = {names[name]: _cells(x) for name, x in data.coords.items() if x.dtype.kind not in "fiu"}
    numbers = {names[name]: _cells(x) for name, x in data.variables.items() if names[name] not in labels}
    units = {names[name]: x.attrs["units"] for name, x in data.variables.items() if "units" in x.attrs}
    told = {_legal([name])[name]: _plain(value) for name, value in data.attrs.items()}
    with open(path, "wb") as file:
        beside = {"labels": labels, "units": units, "attributes": told}
        savemat(file, numbers | beside, long_field_names=True, oned_as="column")


def _cells(variable):
    """Numbers as an array, words as an array of cells."""
    values = variable.values
    return values if values.dtype.kind in "fciub" else np.array(values, dtype=object)


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value


def _legal(names):
    """Names as MATLAB allows them, by what they are called here; no two alike."""
    found: dict[str, str] = {}
    for name in map(str, names):
        word = re.sub(r"\W", "_", name, flags=re.ASCII)
        word = (word if word[:1].isalpha() else f"x{word}")[:LONGEST]
        taken, number = {*found.values(), "labels", "units", "attributes"}, 2
        base = word
        while word in taken:
            word, number = f"{base[: LONGEST - 6]}_{number}", number + 1
        found[name] = word
    return found


FORMATS = {".csv": Format(_csv), ".parquet": Format(_parquet, "pyarrow"), ".mat": Format(_mat, "scipy")}

FOREIGN = (
    ".xlsx",
    ".xls",
    ".ods",
    ".tsv",
    ".txt",
    ".json",
    ".pkl",
    ".npz",
    ".npy",
    ".feather",
)  # of formats that are others


def format_of(path):
    """The format that a file's name asks for; None: NetCDF. Refused where the package that writes it is not installed."""
    suffix = os.path.splitext(os.fsdecode(path))[1].lower()
    found = FORMATS.get(suffix)
    if suffix in FOREIGN:
        raise ResultError(
            f"cannot write {os.fspath(path)!r}: {suffix} is not written here. Known: .nc, {', '.join(FORMATS)}; "
            "spreadsheets read FILE.csv"
        )
    if found is not None and found.needs is not None and importlib.util.find_spec(found.needs) is None:
        raise ResultError(
            f"cannot write {os.fspath(path)!r}: this needs {found.needs}, which is not installed: pip install 'torsor[files]'"
        )
    return found
