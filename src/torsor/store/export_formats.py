"""Export of results to files of other programs: CSV and Parquet as flat tables, MAT as arrays.

The suffix of the file name selects the format; other suffixes mean NetCDF, the only format that can be read back
(`result_files.py`).
"""

import importlib.util
import os
import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..errors import ResultError
from .flat_table import to_pandas

MAX_MATLAB_NAME = 63  # characters


class Format(NamedTuple):
    """A function that writes a dataset to a path, and the optional package that it needs."""

    write: Callable
    needs: str | None = None


def _write_csv(data, path):
    to_pandas(data).to_csv(path, index=False)


def _write_parquet(data, path):
    table = to_pandas(data)
    table.attrs = {name: _plain(value) for name, value in table.attrs.items()}
    table.to_parquet(path, engine="pyarrow", index=False)


def _write_mat(data, path):
    """Write every variable under its name, and structures with labels, units and the attributes of the result."""
    from scipy.io import savemat

    names = _matlab_names([*data.data_vars, *data.coords])
    labels = {names[name]: _cells(x) for name, x in data.coords.items() if x.dtype.kind not in "fiu"}
    numbers = {names[name]: _cells(x) for name, x in data.variables.items() if names[name] not in labels}
    units = {names[name]: x.attrs["units"] for name, x in data.variables.items() if "units" in x.attrs}
    attributes = {_matlab_names([name])[name]: _plain(value) for name, value in data.attrs.items()}
    with open(path, "wb") as file:
        structures = {"labels": labels, "units": units, "attributes": attributes}
        savemat(file, numbers | structures, long_field_names=True, oned_as="column")


def _cells(variable):
    """Numbers as an array, text as a cell array."""
    values = variable.values
    return values if values.dtype.kind in "fciub" else np.array(values, dtype=object)


def _plain(value):
    """A NumPy scalar as a Python number."""
    return value.item() if isinstance(value, np.generic) else value


def _matlab_names(names):
    """Valid and different MATLAB names, by original name."""
    result: dict[str, str] = {}
    for name in map(str, names):
        word = re.sub(r"\W", "_", name, flags=re.ASCII)
        word = (word if word[:1].isalpha() else f"x{word}")[:MAX_MATLAB_NAME]
        taken = {*result.values(), "labels", "units", "attributes"}
        number = 2
        base = word
        while word in taken:
            word = f"{base[: MAX_MATLAB_NAME - 6]}_{number}"
            number += 1
        result[name] = word
    return result


FORMATS = {
    ".csv": Format(_write_csv),
    ".parquet": Format(_write_parquet, "pyarrow"),
    ".mat": Format(_write_mat, "scipy"),
}

UNSUPPORTED_SUFFIXES = (
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
)


def format_of(path):
    """The format for a file name; None for NetCDF. Raise ResultError if it is not supported, or its package is not installed."""
    suffix = os.path.splitext(os.fsdecode(path))[1].lower()
    chosen = FORMATS.get(suffix)
    if suffix in UNSUPPORTED_SUFFIXES:
        raise ResultError(
            f"cannot write {os.fspath(path)!r}: {suffix} is not written here. Known: .nc, {', '.join(FORMATS)}; "
            "spreadsheets read FILE.csv"
        )
    if chosen is not None and chosen.needs is not None and importlib.util.find_spec(chosen.needs) is None:
        raise ResultError(
            f"cannot write {os.fspath(path)!r}: this needs {chosen.needs}, which is not installed: pip install 'torsor[files]'"
        )
    return chosen
