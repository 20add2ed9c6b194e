"""The dataset of a study."""

import numpy as np

from ..look.dataset import RESERVED
from .reductions import source_variable

MEANING = {
    "message": "what went wrong in a run; empty: nothing did",
    "steps": "accepted steps",
    "rejections": "repeated steps",
    "time_reached": "by each run",
    "energy_balance_relative": "largest error of the energy balance over the energy turned over",
    "energy_balance_lost": "from when on the energy balance is lost, and the run is not to be trusted; NaN: it holds",
    "position_drift_max": "largest residual of a position constraint",
}
UNITS = {"time_reached": "s", "energy_balance_lost": "s", "position_drift_max": "m or rad"}


def dataset_of(whole, runs, times, reduce):
    """All runs as one dataset; times: output times."""
    import xarray as xr

    used = {dim for dims, _ in whole.variables.values() for dim in dims}
    coordinates: dict = {name: (dim, x) for name, (dim, x) in whole.labels.items() if dim in used}
    if "time" in used:
        coordinates["time"] = ("time", times, {"units": "s"})
    start_names = [
        f"{name}[{','.join(map(str, k))}]" if k else name for name, shape in runs.starts for k in np.ndindex(shape)
    ]
    for name, column in zip(start_names, runs.values.T[len(runs.names) :]):
        coordinates[f"start.{name}"] = ("run", np.ascontiguousarray(column))
    for name, column in zip(runs.names, runs.values.T):
        taken = name in {*whole.variables, *RESERVED, *MEANING, "run", *used, *coordinates}
        coordinates[f"parameter.{name}" if taken else name] = ("run", np.ascontiguousarray(column))
    variables = {name: (dims, x, _attributes(whole, reduce, name)) for name, (dims, x) in whole.variables.items()}
    by_run = {**whole.counts, "message": np.array(whole.messages, dtype=object)}  # objects: most texts are empty
    for name, x in by_run.items():
        if name not in variables:
            variables[name] = ("run", x, {"long_name": MEANING[name]} | _unit(name))
    failed = sum(1 for message in whole.messages if message)
    return xr.Dataset(variables, coordinates, {**whole.common_attributes, "runs": len(runs), "failed": failed})


def _unit(name):
    return {"units": UNITS[name]} if name in UNITS else {}


def _attributes(whole, reduce, name):
    """Attributes of a variable: those that a reduction function returned, or those of the variable that was reduced."""
    return whole.returned.get(name) or whole.attributes.get(source_variable(reduce, name), {})
