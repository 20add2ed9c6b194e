"""`study`: many runs of one model, as one dataset."""

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..elements import quantity
from ..errors import AccuracyWarning, OptionError, RunError
from ..formulations.fingerprint import fingerprint
from ..look.progress import Progress
from ..look.run_request import Options, check_reactions
from ..methods.projections import Projection
from ..model.model import Model
from ..run.many.held_inputs import equal_edges
from ..run.output_times import output_times, seconds
from ..scene.scene import scene_attributes
from .job_dispatch import Dispatch
from .reductions import validate_reduction
from .run_portion import ENERGY_LOST
from .run_request_batch import StudyRequest
from .run_session import Session
from .study_dataset import dataset_of
from .study_store import StudyFolder
from .variants import validate_inputs, variants

if TYPE_CHECKING:
    import xarray as xr

DEFAULT_INTERVALS = 200  # between outputs


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
    grid         True: every combination of the given values, the last name changing fastest
    start        numbers or arrays by name, one value per run, as in {"hinge": angles, "hinge.rate": 1.0}; or a common start
    outputs      array of times, or a number of equal intervals; None: as many intervals as inputs have, else 200; with
                 reduce="last" only the start and the end
    inputs       arrays (run, interval) of piecewise constant inputs by name, over equal intervals; (interval) if all runs share it
    reduce       results that are kept of each run. None: all outputs; "last", "min", "max", "mean" over the outputs; a list of
                 these; a function of the run; or a dictionary, as in {"top": ("height", "max"), "energy": "last"}
    keep         names of the variables that are kept or reduced; the name of a vector selects all its components; None: all
    executor     a number of threads; None: as many as there are processors (one if the model has controllers in Python, which
                 would block each other); an executor of concurrent.futures or mpi4py.futures, a dask.distributed.Client, or the
                 module ray
    store        folder in which results are stored as they are computed; a study that was killed continues from there
    progress     show a progress bar after a second; None: if standard error is a terminal

    until, step, method, formulation, projection, tolerance, map, signals, reactions: as in `simulate`. After a failed
    run the others continue: `message` holds the error of each run, "" if it succeeded. `energy_balance_lost` is the time from
    which the energy balance of a run is lost, as `simulate` warns. Numbers do not depend on the executor. See docs/studies.md.
    """
    if not isinstance(model, Model):
        raise OptionError(f"study: give a torsor.Model, got {quantity.show(model)}")
    options = Options(step, method, formulation, projection, tolerance, map, check_reactions(reactions))
    request, runs, input_values = _make_request(
        model, until, parameters, grid, start, inputs, outputs, signals, options, keep, reduce
    )
    session = Session(request)  # validates the request, before it is sent to workers
    folder = None if store is None else StudyFolder(store, request, runs, input_values)
    bar = Progress(0, len(runs), f"study of {model.name}", progress, lambda done, _: f"{done} of {len(runs)} runs")
    calls_python = executor is None and any(getattr(rule, "answers", ()) for rule in model.rules)
    try:
        whole = Dispatch(session, runs, input_values, folder).carry_out(1 if calls_python else executor, bar)
    except RunError as error:
        raise RunError(str(error), _result(error.data, runs, request)) from error.__cause__
    data = _result(whole, runs, request)
    _refuse_all_failed(model, data)
    return _warn(data, whole.warnings, session.task)


def _result(whole, runs, request):
    """The dataset of a study. If all runs failed, its attributes still identify the model."""
    signals = dict(request.model.signals) | request.signals
    if "model" not in whole.common_attributes:
        facts = {"model": request.model.name, "model_hash": fingerprint(request.model, signals)}
        whole.common_attributes |= facts
    whole.common_attributes |= scene_attributes(request.model)
    return dataset_of(whole, runs, request.times, request.reduce)


def _refuse_varied_arguments(model, arguments, parameters):
    """Refuse several values of an argument that is common to all runs, such as the method or the final time."""

    def is_list(x):
        return isinstance(x, (list, tuple)) or isinstance(x, np.ndarray) and x.ndim > 0

    lists = [name for name, x in arguments.items() if is_list(x)]
    values = parameters if isinstance(parameters, Mapping) else {}
    as_parameters = [name for name in arguments if name in values and name not in model.parameters]
    for name in lists or as_parameters:
        raise OptionError(
            f"study: {name} is an argument that all runs have in common and cannot vary, got "
            f"{quantity.show(arguments[name] if lists else values[name])}: make a study for each value, and join them with "
            "xarray.concat (docs/studies.md, convergence)"
        )


def _make_request(model, until, parameters, grid, start, inputs, outputs, signals, options, keep, reduce):
    """The request of a study, its runs with the values of parameters and starts, and values (run, interval) of each input."""
    keep = _names(keep)
    reduce = validate_reduction(reduce)
    _refuse_varied_arguments(model, {"until": until, **vars(options)}, parameters)
    inputs_by_name = validate_inputs(model, inputs)
    end = seconds(until, "until")
    lengths = {f"input {name!r}": len(x) for name, x in inputs_by_name.items() if len(x) > 1}
    start_by_name = start if isinstance(start, Mapping) and not hasattr(start, "data_vars") else None
    common_start = start if start_by_name is None else None
    runs = variants(model, parameters, grid, lengths, inputs_by_name, start_by_name)
    intervals = next((x.shape[1] for x in inputs_by_name.values()), 0)
    times = _times(outputs, end, intervals, reduce)
    interval_ends = tuple(equal_edges(end, intervals).tolist())
    request = StudyRequest(
        model, end, times, runs.names, {} if signals is None else signals, options, starts=runs.starts, start=common_start,
        inputs=(tuple(inputs_by_name), interval_ends), keep=keep, reduce=reduce, runs=len(runs),
    )  # fmt: skip
    return request, runs, [np.broadcast_to(x, (len(runs), intervals)) for x in inputs_by_name.values()]


def _times(outputs, until, intervals, reduce):
    """Output times. Defaults: start and end for the reduction "last", the intervals of inputs, or equal intervals."""
    if outputs is None:
        outputs = [0.0, until] if reduce == "last" else intervals or DEFAULT_INTERVALS
    return np.array(output_times(outputs, until)[:], float)


def _refuse_all_failed(model, data):
    """Raise RunError if no run succeeded."""
    messages = [message for message in data["message"].values.tolist() if message]
    if len(messages) == data.sizes["run"]:
        raise RunError(
            f"model {model.name!r}: all {len(messages)} runs of the study failed; the first: {messages[0]}", data
        )


def _warn(data, texts, task):
    """Warn once of what `simulate` would warn of in each run, and return the dataset."""
    for text in texts:
        warnings.warn(text, AccuracyWarning, stacklevel=3)
    lost = data[ENERGY_LOST].values
    which = np.flatnonzero(np.isfinite(lost))
    if len(which):
        relative = data["energy_balance_relative"].values[which].max()
        warnings.warn(
            f"model {task.model.name!r}: the energy balance is lost in {len(which)} of {len(lost)} runs, as in run {which[0]} from "
            f"t = {lost[which[0]]:.6g} s on: by up to {relative:.2g} of the energy turned over. Do not trust these runs after "
            f"the times in `{ENERGY_LOST}`: use a smaller {'tolerance' if task.step is None else 'step'}",
            AccuracyWarning,
            stacklevel=3,
        )
    return data


def _names(keep):
    """The argument `keep` as a tuple of names, or None."""
    if keep is None:
        return None
    names = (keep,) if isinstance(keep, str) else tuple(keep) if isinstance(keep, Sequence) else (None,)
    if not names or not all(isinstance(name, str) for name in names):
        raise OptionError(f"study: keep must be names of variables, got {quantity.show(keep)}")
    return names
