"""A result as a flat table: one row per time, or per run and time, one column per number, with its unit in the column's name.

Columns are named as elements are, path first: `link3.position.y [m]`, `C.coordinate [rad]`, `A.reaction_force.x [N]`, `energy [J]`.
"""

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from ..describe import quantity
from ..errors import OptionError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

ROWS = {"time": ("run", "time", "sweep"), "event": ("run", "event")}  # dimensions along which the rows of a table run
# dimensions whose labels stand before the quantity
NAMED = ("body", "joint", "joint_coordinate", "constraint", "drive")


def table_of(data: "xr.Dataset | xr.DataArray", per: str = "time") -> "pd.DataFrame":
    """A result, or one variable of it (`data`), as a flat pandas table.

    per   "time": one row per time or place of a sweep, and of a study one per run and time; a single row where a result is at one
          time, or an equilibrium; "event": one row per event, and of a
          study one per run and event

    What does not belong to a row, as the events of a run in a table over time, is left out. `attrs` of the table are those of the
    result.
    """
    import pandas as pd
    import xarray as xr

    if isinstance(data, xr.DataArray) and data.name is not None:
        data = data.coords.to_dataset() if data.name in data.coords else data.to_dataset()
    refuse_other(data, "table_of")
    if not isinstance(per, str) or per not in ROWS:
        raise OptionError(f"table_of: unknown per={quantity.show(per)}. Known: {', '.join(map(repr, ROWS))}.")
    rows = _gridded(data) + [name for name in ROWS[per] if name in data.dims]
    if per not in data.dims and per == "event":
        kept = '; a study keeps events that `keep` names, as "event_time"' if "run" in data.dims else ""
        there = ", ".join(map(str, data.dims))
        raise OptionError(f"table_of: there is nothing per event in this result; it has {there}{kept}")
    size = {name: data.sizes[name] for name in rows}
    columns: dict[str, np.ndarray] = {}
    always = [*rows, *_along(data, rows)]
    for name in [*always, *data.data_vars]:
        values = data[name] if name in data.variables else xr.DataArray(np.arange(size[name]), dims=name)
        if name in always or _belongs(values.dims, rows, per):
            for column, x in _columns(name, values, rows, size).items():
                columns[_free(column, columns)] = x
    table = pd.DataFrame(columns)
    if per == "event" and len(rows) > 1 and (when := "event_time [s]") in table:  # runs have more events, and less
        table = table[table[when].notna()].reset_index(drop=True)
    table.attrs = dict(data.attrs)
    return table


def refuse_other(data, who):
    """Refuse what is not a result; where it has one, that is told."""
    import xarray as xr

    if not isinstance(data, xr.Dataset):
        held = isinstance(getattr(data, "data", None), xr.Dataset)
        more = "; its `data` is one" if held else ""
        raise OptionError(f"{who}: give a result, an xarray.Dataset, got a {type(data).__name__}{more}")


def _free(column, columns):
    """A name that no column has, as where a signal is called like a column of a body."""
    return column if column not in columns else _free(f"{column} (2)", columns)


def _belongs(dims, rows, per):
    """Whether a variable belongs to the rows of a table: what is told of events does where these are rows, or runs alone are."""
    if per == "event":
        return "event" in dims
    runs_alone = bool(rows) and "time" not in rows
    return (bool(set(dims) & set(rows)) or not rows) and ("event" not in dims or runs_alone)


def _gridded(data):
    """Dimensions of runs in a study that was made a grid: those that are numbered by values, and that all variables have."""
    shared = set(data.dims).intersection(*[x.dims for x in data.data_vars.values()])
    numbered = [str(dim) for dim in data.dims if dim in data.coords and data[dim].dtype.kind in "fiu"]
    return [dim for dim in numbered if dim in shared and dim not in ROWS["time"] and "run" not in data.dims]


def _along(data, rows):
    """Coordinates that belong to rows: the parameters of runs, the time of a single row."""
    return [name for name, x in data.coords.items() if set(x.dims) <= set(rows) and name not in rows]


def _columns(name, values, rows, size):
    """The columns of one variable, by name: by the labels of its other dimensions, or by their numbers."""
    across = [dim for dim in values.dims if dim not in rows]
    spread = values.expand_dims({dim: n for dim, n in size.items() if dim not in values.dims}).transpose(*rows, *across)
    wide = [values.sizes[dim] for dim in across]
    array = np.broadcast_to(spread.values, (*size.values(), *wide)).reshape(math.prod(size.values()), math.prod(wide))
    units = values.coords["coordinate_unit"].values if "coordinate_unit" in values.coords else None
    found: dict[str, np.ndarray] = {}
    for column, place in enumerate(itertools.product(*map(range, wide))):
        unit = values.attrs.get("units", "")
        if units is not None and "joint_coordinate" in across:
            unit = _unit(unit, units[place[across.index("joint_coordinate")]])
        full, x = _header(name, values, across, place), array[:, column]
        parts = {".real": x.real, ".imag": x.imag} if x.dtype.kind == "c" else {"": x}
        found |= {f"{full}{part}" + (f" [{unit}]" if unit not in ("", "1") else ""): y for part, y in parts.items()}
    return found


def _header(name, values, across, place):
    """The name of a column: element, quantity, component; the number of a component that has no name."""
    labelled = {dim: str(values.coords[dim].values[k]) for dim, k in zip(across, place) if dim in values.coords}
    before = [label for dim, label in labelled.items() if dim in NAMED]
    after = [label for dim, label in labelled.items() if dim not in NAMED]
    numbers = [str(k) for dim, k in zip(across, place) if dim not in labelled]
    full = ".".join([*before, str(name), *(["".join(after)] if after else [])])
    return full + (f"[{','.join(numbers)}]" if numbers else "")


def _unit(both, own):
    """Of "m/s or rad/s" what belongs to a coordinate in "m" or "rad"."""
    return next((part for part in both.split(" or ") if part.split("/")[0] == own), both)
