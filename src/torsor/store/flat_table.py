"""A result as a flat table: one row per time, or per run and time, one column per number, with its unit in the column's name.

Columns are named as elements are, path first: `link3.position.y [m]`, `C.coordinate [rad]`, `A.reaction_force.x [N]`, `energy [J]`.
"""

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from ..elements import quantity
from ..errors import OptionError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

ROWS = {"time": ("run", "time", "sweep"), "event": ("run", "event")}  # dimensions that become rows of a table
# dimensions whose labels precede the quantity in a column name
LABELS_FIRST = ("body", "joint", "joint_coordinate", "constraint", "drive")


def to_pandas(data: "xr.Dataset | xr.DataArray", per: str = "time") -> "pd.DataFrame":
    """A result, or one variable of it (`data`), as a flat pandas table.

    per   "time": one row per time or point of a sweep, in a study one per run and time; a single row for an equilibrium, or a
          result at one time
          "event": one row per event, in a study one per run and event

    Variables without these dimensions, such as the events of a run in a table over time, are omitted. The table has the `attrs`
    of the result.
    """
    import pandas as pd
    import xarray as xr

    if isinstance(data, xr.DataArray) and data.name is not None:
        data = data.coords.to_dataset() if data.name in data.coords else data.to_dataset()
    refuse_other(data, "to_pandas")
    if not isinstance(per, str) or per not in ROWS:
        raise OptionError(f"to_pandas: unknown per={quantity.show(per)}. Known: {', '.join(map(repr, ROWS))}.")
    rows = _grid_dims(data) + [name for name in ROWS[per] if name in data.dims]
    if per not in data.dims and per == "event":
        kept = '; a study keeps events that `keep` names, as "event_time"' if "run" in data.dims else ""
        there = ", ".join(map(str, data.dims))
        raise OptionError(f"to_pandas: there is nothing per event in this result; it has {there}{kept}")
    size = {name: data.sizes[name] for name in rows}
    columns: dict[str, np.ndarray] = {}
    always = [*rows, *_row_coordinates(data, rows)]
    for name in [*always, *data.data_vars]:
        values = data[name] if name in data.variables else xr.DataArray(np.arange(size[name]), dims=name)
        if name in always or _belongs(values.dims, rows, per):
            for column, x in _columns(name, values, rows, size).items():
                columns[_unique_name(column, columns)] = x
    table = pd.DataFrame(columns)
    if (
        per == "event" and len(rows) > 1 and (when := "event_time [s]") in table
    ):  # runs have different numbers of events
        table = table[table[when].notna()].reset_index(drop=True)
    table.attrs = dict(data.attrs)
    return table


def refuse_other(data, who):
    """Raise OptionError if `data` is not a dataset; the message points to its attribute `data` if that is one."""
    import xarray as xr

    if not isinstance(data, xr.Dataset):
        has_dataset = isinstance(getattr(data, "data", None), xr.Dataset)
        more = "; its `data` is one" if has_dataset else ""
        raise OptionError(f"{who}: give a result, an xarray.Dataset, got a {type(data).__name__}{more}")


def _unique_name(column, columns):
    """A name that no column has yet: a signal may have the name of a column of a body."""
    return column if column not in columns else _unique_name(f"{column} (2)", columns)


def _belongs(dims, rows, per):
    """True if a variable belongs to the rows of a table. One over events does if the rows are events, or runs only."""
    if per == "event":
        return "event" in dims
    runs_alone = bool(rows) and "time" not in rows
    return (bool(set(dims) & set(rows)) or not rows) and ("event" not in dims or runs_alone)


def _grid_dims(data):
    """Dimensions of a study that was reshaped to a grid: those with numeric coordinates that all variables have."""
    shared = set(data.dims).intersection(*[x.dims for x in data.data_vars.values()])
    numbered = [str(dim) for dim in data.dims if dim in data.coords and data[dim].dtype.kind in "fiu"]
    return [dim for dim in numbered if dim in shared and dim not in ROWS["time"] and "run" not in data.dims]


def _row_coordinates(data, rows):
    """Coordinates that have only row dimensions: the parameters of runs, the time of a single row."""
    return [name for name, x in data.coords.items() if set(x.dims) <= set(rows) and name not in rows]


def _columns(name, values, rows, size):
    """The columns of one variable by column name, one for each combination of labels or indices of its other dimensions."""
    across = [dim for dim in values.dims if dim not in rows]
    spread = values.expand_dims({dim: n for dim, n in size.items() if dim not in values.dims}).transpose(*rows, *across)
    wide = [values.sizes[dim] for dim in across]
    array = np.broadcast_to(spread.values, (*size.values(), *wide)).reshape(math.prod(size.values()), math.prod(wide))
    units = values.coords["coordinate_unit"].values if "coordinate_unit" in values.coords else None
    columns: dict[str, np.ndarray] = {}
    for column, index in enumerate(itertools.product(*map(range, wide))):
        unit = values.attrs.get("units", "")
        if units is not None and "joint_coordinate" in across:
            unit = _unit(unit, units[index[across.index("joint_coordinate")]])
        full = _header(name, values, across, index)
        x = array[:, column]
        parts = {".real": x.real, ".imag": x.imag} if x.dtype.kind == "c" else {"": x}
        columns |= {f"{full}{part}" + (f" [{unit}]" if unit not in ("", "1") else ""): y for part, y in parts.items()}
    return columns


def _header(name, values, across, index):
    """The name of a column: element, quantity, component; index of a component without label."""
    labelled = {dim: str(values.coords[dim].values[k]) for dim, k in zip(across, index) if dim in values.coords}
    before = [label for dim, label in labelled.items() if dim in LABELS_FIRST]
    after = [label for dim, label in labelled.items() if dim not in LABELS_FIRST]
    numbers = [str(k) for dim, k in zip(across, index) if dim not in labelled]
    full = ".".join([*before, str(name), *(["".join(after)] if after else [])])
    return full + (f"[{','.join(numbers)}]" if numbers else "")


def _unit(both, own):
    """The unit from "m/s or rad/s" for a coordinate in "m" or "rad"."""
    return next((part for part in both.split(" or ") if part.split("/")[0] == own), both)
