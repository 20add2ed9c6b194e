"""A result as a flat table: one row per time, or per run and time, one column per number, with its unit in the column's name.

Columns are named as elements are, path first: `link3.position.y [m]`, `C.coordinate [rad]`, `A.reaction_force.x [N]`, `energy [J]`.
"""

import itertools
from typing import TYPE_CHECKING

import numpy as np

from ..errors import OptionError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

ROWS = {"time": ("run", "time", "sweep"), "event": ("event",)}  # dimensions along which the rows of a table run
NAMED = (
    "body",
    "joint",
    "joint_coordinate",
    "constraint",
    "drive",
)  # dimensions whose labels stand before the quantity


def table_of(data: "xr.Dataset", per: str = "time") -> "pd.DataFrame":
    """A result as a flat pandas table.

    per   "time": one row per time or place of a sweep, and of a study one per run and time; "event": one row per event

    What does not belong to a row, as the events of a run in a table over time, is left out. `attrs` of the table are those of the
    result.
    """
    import pandas as pd
    import xarray as xr

    if not isinstance(data, xr.Dataset):
        raise OptionError(f"table_of: give a result, an xarray.Dataset, got a {type(data).__name__}")
    if per not in ROWS:
        raise OptionError(f"table_of: unknown per={per!r}. Known: {', '.join(map(repr, ROWS))}.")
    rows = [name for name in ROWS[per] if name in data.dims]
    if not rows:
        raise OptionError(
            f"table_of: there is nothing per {per} in this result; it has {', '.join(map(str, data.dims))}"
        )
    size = {name: data.sizes[name] for name in rows}
    columns: dict[str, np.ndarray] = {}
    for name in [*rows, *_along(data, rows), *data.data_vars]:
        values = data[name] if name in data.variables else xr.DataArray(np.arange(size[name]), dims=name)
        if name in rows or set(values.dims) & set(rows):
            columns |= _columns(name, values, rows, size)
    table = pd.DataFrame(columns)
    table.attrs = dict(data.attrs)
    return table


def _along(data, rows):
    """Coordinates that belong to rows: the parameters of runs."""
    return [name for name, x in data.coords.items() if x.dims and set(x.dims) <= set(rows) and name not in rows]


def _columns(name, values, rows, size):
    """The columns of one variable, by name; none where it has a dimension that is neither one of rows nor labelled."""
    across = [dim for dim in values.dims if dim not in rows]
    if any(dim not in values.coords for dim in across):
        return {}
    array = np.broadcast_to(
        values.expand_dims({dim: n for dim, n in size.items() if dim not in values.dims})
        .transpose(*rows, *across)
        .values,
        (*size.values(), *(values.sizes[dim] for dim in across)),
    ).reshape(np.prod([*size.values()]), -1)
    units = values.coords["coordinate_unit"].values if "coordinate_unit" in values.coords else None
    found = {}
    for column, place in enumerate(itertools.product(*(range(values.sizes[dim]) for dim in across))):
        labels = {dim: str(values.coords[dim].values[k]) for dim, k in zip(across, place)}
        unit = values.attrs.get("units", "")
        if units is not None and "joint_coordinate" in across:
            unit = _unit(unit, units[place[across.index("joint_coordinate")]])
        found[_header(name, labels, unit)] = array[:, column]
    return found


def _header(name, labels, unit):
    """The name of a column: element, quantity, component, unit."""
    before = [label for dim, label in labels.items() if dim in NAMED]
    after = [label for dim, label in labels.items() if dim not in NAMED]
    full = ".".join([*before, name, *(["".join(after)] if after else [])])
    return f"{full} [{unit}]" if unit not in ("", "1") else full


def _unit(both, own):
    """Of "m/s or rad/s" what belongs to a coordinate in "m" or "rad"."""
    return next((part for part in both.split(" or ") if part.split("/")[0] == own), both)
