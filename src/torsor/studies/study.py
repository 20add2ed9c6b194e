"""`study`: many runs of one model, as one dataset."""

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..describe import quantity
from ..describe.model import Model
from ..errors import AccuracyWarning, OptionError, RunError
from ..formulations.fingerprint import fingerprint
from ..look.asked import check_reactions
from ..look.progress import Progress
from ..methods.projections import Projection
from ..run.held import equal_edges
from ..run.times import output_times, seconds
from .collecting import dataset_of
from .dispatch import Dispatch
from .keeping import Folder
from .order import Order
from .portion import LOST
from .reductions import checked
from .session import Session
from .variants import pushes, variants

if TYPE_CHECKING:
    import xarray as xr

USUAL = 200  # intervals of outputs


def study(
    model: Model,
    until: float,
    parameters: Mapping | Any | None = None,
    grid: bool = False,
    outputs: int | Sequence[float] | np.ndarray | None = None,
    reduce: Any = None,
    keep: Sequence[str] | None = None,
    start: Any = None,
    inputs: Mapping | None = None,
    signals: dict | None = None,
    step: float | None = None,
    method: str = "rkmk54",
    formulation: str = "auto",
    projection: str | Projection = "least-squares",
    tolerance: float | None = None,
    map: str = "exp",
    executor: Any = None,
    store: str | os.PathLike | None = None,
    progress: bool | None = None,
    reactions: str = "solved",
) -> "xr.Dataset":
    """Run many variants of a model and return one xarray.Dataset with a dimension `run` and the parameters as coordinates.

    parameters   numbers or arrays by name, one value per run; or a table (pandas) with one row per run
    grid         every combination of the values that are given, the last name changing fastest
    start        where runs start: numbers or arrays by name, one value per run, as in {"hinge": angles, "hinge.rate": 1.0}; or a
                 start of `simulate` that is common to all runs
    outputs      array of times, or a number of equal intervals; None: 200, as many as inputs have, or where only the last values
                 are kept none but these
    inputs       arrays (run, interval) by name of inputs, held over equal intervals; (interval) where all runs have the same
    reduce       what is kept of each run: None: all outputs; "last", "min", "max", "mean" over the outputs; several of these; a
                 function of the run; or these by name, as in {"top": ("height", "max"), "energy": "last"}
    keep         names of the variables that are kept, or reduced, that of a vector for all of its components; None: all of them
    executor     None or a number: threads, as many as there are processors (one where laws in Python are asked in every run, as
                 threads would wait for each other); an executor of concurrent.futures or mpi4py.futures, a
                 dask.distributed.Client, or the module ray
    store        folder in which results are kept as they come: a study that was killed goes on from there
    progress     show a bar after a second; None: if standard error is a terminal

    until, step, method, formulation, projection, tolerance, map, signals, reactions: as in `simulate`. A failed run stops no other:
    `message` tells for each run what went wrong, "" where nothing did. Runs are judged as by `simulate`: `energy_balance_lost`
    tells from when on the energy balance of a run is lost. Numbers do not depend on who carries the runs out. See docs/studies.md.
    """
    if not isinstance(model, Model):
        raise OptionError(f"study: give a torsor.Model, got {quantity.show(model)}")
    options = {"step": step, "method": method, "formulation": formulation, "projection": projection}
    options |= {"tolerance": tolerance, "map": map, "reactions": check_reactions(reactions)}
    order, runs, rows = _ordered(
        model, until, parameters, grid, start, inputs, outputs, signals, options, _names(keep), checked(reduce)
    )
    session = Session(order)  # what is asked for is checked here, before anybody is asked to do it
    folder = None if store is None else Folder(store, order, runs, rows)
    bar = Progress(0, len(runs), f"study of {model.name}", progress, lambda done, _: f"{done} of {len(runs)} runs")
    asks = executor is None and any(getattr(rule, "answers", ()) for rule in model.rules)
    try:
        whole = Dispatch(session, runs, rows, folder).carry_out(1 if asks else executor, bar)
    except RunError as error:
        raise RunError(str(error), _result(error.data, runs, order)) from error.__cause__
    return _warn(_told(model, _result(whole, runs, order)), whole.warned, session.task)


def _result(whole, runs, order):
    """The dataset of a study. Where no run tells of all of them, the model is told."""
    every = dict(order.model.signals) | order.signals
    if "model" not in whole.told:
        whole.told |= {"model": order.model.name, "model_hash": fingerprint(order.model, every)}
    return dataset_of(whole, runs, order.times, order.reduce)


def _refuse_several(model, arguments, parameters):
    """Refuse to vary what is the same in all runs: how they are integrated, and how long."""
    several = lambda x: isinstance(x, (list, tuple)) or isinstance(x, np.ndarray) and x.ndim > 0
    lists = [name for name, x in arguments.items() if several(x)]
    given = parameters if isinstance(parameters, Mapping) else {}
    named = [name for name in arguments if name in given and name not in model.parameters]
    for name in lists or named:
        raise OptionError(
            f"study: {name} is an argument that all runs have in common and cannot vary, got "
            f"{quantity.show(arguments[name] if lists else given[name])}: make a study for each value, and put them together "
            "with xarray.concat (docs/studies.md, convergence)"
        )


def _ordered(model, until, parameters, grid, start, inputs, outputs, signals, options, keep, reduce):
    """What is asked of every run; the values of parameters and starts, and those of inputs, run by run."""
    _refuse_several(model, {"until": until} | options, parameters)
    pushed, end = pushes(model, inputs), seconds(until, "until")
    many = {f"input {name!r}": len(x) for name, x in pushed.items() if len(x) > 1}
    named = start if isinstance(start, Mapping) and not hasattr(start, "data_vars") else None
    runs = variants(model, parameters, grid, many, pushed, named)
    intervals = next((x.shape[1] for x in pushed.values()), 0)
    times, edges = _times(outputs, end, intervals, reduce), tuple(equal_edges(end, intervals).tolist())
    begin = (runs.starts, start if named is None else None, (tuple(pushed), edges))
    signals = {} if signals is None else signals
    order = Order(model, end, times, runs.names, signals, options, *begin, keep, reduce, len(runs))
    return order, runs, [np.broadcast_to(x, (len(runs), intervals)) for x in pushed.values()]


def _times(outputs, until, intervals, reduce):
    """Times of the outputs; where they are not asked for, those that the inputs or the reduction suggest."""
    if outputs is None:
        outputs = [0.0, until] if reduce == "last" else intervals or USUAL
    return np.array(output_times(outputs, until)[:], float)


def _told(model, data):
    """The result, or an error where no run came to its end."""
    messages = [message for message in data["message"].values.tolist() if message]
    if len(messages) == data.sizes["run"]:
        raise RunError(
            f"model {model.name!r}: all {len(messages)} runs of the study failed; the first: {messages[0]}", data
        )
    return data


def _warn(data, texts, task):
    """The result, with a warning as `simulate` gives it of each run, once for all of them."""
    for text in texts:
        warnings.warn(text, AccuracyWarning, stacklevel=3)
    lost = data[LOST].values
    which = np.flatnonzero(np.isfinite(lost))
    if len(which):
        relative = data["energy_balance_relative"].values[which].max()
        warnings.warn(
            f"model {task.model.name!r}: the energy balance is lost in {len(which)} of {len(lost)} runs, as in run {which[0]} from "
            f"t = {lost[which[0]]:.6g} s on: by up to {relative:.2g} of the energy turned over. They are not to be trusted from "
            f"the times on that `{LOST}` tells: take a smaller {'tolerance' if task.step is None else 'step'}",
            AccuracyWarning,
            stacklevel=3,
        )
    return data


def _names(keep):
    """Names of variables, as they are given."""
    if keep is None:
        return None
    names = (keep,) if isinstance(keep, str) else tuple(keep) if isinstance(keep, Sequence) else (None,)
    if not names or not all(isinstance(name, str) for name in names):
        raise OptionError(f"study: keep must be names of variables, got {quantity.show(keep)}")
    return names
