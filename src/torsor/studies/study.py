"""`study`: many runs of one model, as one dataset."""

import os
import threading
from collections.abc import Mapping, Sequence
from concurrent import futures
from typing import TYPE_CHECKING, Any

import numpy as np

from ..describe import quantity
from ..describe.model import Model
from ..errors import OptionError, RunError
from ..look.progress import Progress
from ..methods.projections import Projection
from ..run.held import equal_edges
from ..run.times import output_times, seconds
from .collecting import dataset_of
from .executors import DEEP, workers
from .keeping import Folder
from .order import Order, unpacked, version
from .portion import joined
from .reductions import checked
from .session import Session
from .variants import pushes, variants

if TYPE_CHECKING:
    import xarray as xr

USUAL = 200  # intervals of outputs
LASTING = 0.5  # seconds that a portion should take: long against what sending it costs, short against the patience of a person
MOST = 2**27  # bytes of a portion
SESSIONS: dict[bytes, Session] = {}  # of other processes that have sent orders here; the last ones
LOCK = threading.Lock()


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
) -> "xr.Dataset":
    """Run many variants of a model and return one xarray.Dataset with a dimension `run` and the parameters as coordinates.

    parameters   numbers or arrays by name, one value per run; or a table (pandas) with one row per run
    grid         every combination of the values that are given, the last name changing fastest
    start        where runs start: numbers or arrays by name, one value per run, as in {"hinge": angles, "hinge.rate": 1.0}; or a
                 start of `simulate` that is common to all runs
    outputs      array of times, or a number of equal intervals; None: 200, as many as inputs have, or where only the last values
                 are kept none but these
    inputs       arrays (run, interval) by name of inputs of the model, held over equal intervals from 0 to `until`; (interval)
                 where they are the same in all runs
    reduce       what is kept of each run: None: all outputs; "last", "min", "max", "mean" over the outputs; several of these; a
                 function of the run; or these by name, as in {"top": ("height", "max"), "energy": "last"}
    keep         names of the variables that are kept, or reduced; None: all of them
    executor     None or a number: threads; an executor of concurrent.futures or mpi4py.futures, a dask.distributed.Client, or the
                 module ray
    store        folder in which results are kept as they come: a study that was killed goes on from there
    progress     show a bar after a second; None: if standard error is a terminal

    All other arguments are those of `simulate`. A run that fails does not stop the others: `message` of the result tells for each
    run what went wrong, "" where nothing did. Numbers do not depend on who carries the runs out. See docs/studies.md.
    """
    if not isinstance(model, Model):
        raise OptionError(f"study: give a torsor.Model, got {quantity.show(model)}")
    options = {"step": step, "method": method, "formulation": formulation, "projection": projection}
    options |= {"tolerance": tolerance, "map": map}
    order, runs, rows = _ordered(
        model, until, parameters, grid, start, inputs, outputs, signals or {}, options, _names(keep), checked(reduce)
    )
    session = Session(order)  # what is asked for is checked here, before anybody is asked to do it
    folder = None if store is None else Folder(store, order, runs, rows)
    bar = Progress(0, len(runs), f"study of {model.name}", progress)
    whole = _carried_out(session, runs, rows, executor, folder, bar)
    return _told(model, dataset_of(whole, runs, order.times if order.reduce is None else None))


def _ordered(model, until, parameters, grid, start, inputs, outputs, signals, options, keep, reduce):
    """What is asked of every run; the values of parameters and starts, and those of inputs, run by run."""
    pushed, end = pushes(model, inputs), seconds(until, "until")
    many = {f"input {name!r}": len(x) for name, x in pushed.items() if len(x) > 1}
    named = start if isinstance(start, Mapping) and not hasattr(start, "data_vars") else None
    runs = variants(model, parameters, grid, many, pushed, named)
    intervals = next((x.shape[1] for x in pushed.values()), 0)
    times, edges = _times(outputs, end, intervals, reduce), tuple(equal_edges(end, intervals).tolist())
    begin = (runs.starts, start if named is None else None, (tuple(pushed), edges))
    order = Order(model, end, times, runs.names, signals, options, *begin, keep, reduce)
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


def _names(keep):
    """Names of variables, as they are given."""
    if keep is None:
        return None
    names = (keep,) if isinstance(keep, str) else tuple(keep) if isinstance(keep, Sequence) else (None,)
    if not names or not all(isinstance(name, str) for name in names):
        raise OptionError(f"study: keep must be names of variables, got {quantity.show(keep)}")
    return names


def _carried_out(session, runs, pushed, executor, folder, bar):
    """All runs as one portion: by workers, in portions that last about as long as each other."""
    done = [] if folder is None else folder.portions()
    left = _missing(len(runs), done)
    team, stopped = workers(executor), threading.Event()
    packed = None if team.here else session.order.packed()
    pending: set = set()
    pace, size = 0.0, 1  # seconds that a run takes, and runs of the next portion
    try:
        while left or pending:
            while left and len(pending) < DEEP * team.count:
                first, last = left.pop(0)
                if last - first > size:
                    left.insert(0, (first + size, last))
                    last = first + size
                held = np.stack([x[first:last] for x in pushed], axis=-1) if pushed else None
                job = (_here, session, stopped) if team.here else (elsewhere, version(), packed)
                pending.add(team.submit(*job, first, runs.values[first:last], held))
            over, pending = futures.wait(pending, return_when=futures.FIRST_COMPLETED)
            for future in over:
                portion = future.result() if team.here else _received(future)
                done.append(portion)
                if folder is not None:
                    folder.keep(portion)
                pace = portion.seconds / len(portion)
                share = -(-sum(b - a for a, b in left) // (2 * team.count))  # the last ones end together
                size = int(max(1, min(LASTING / max(pace, 1e-6), 8 * len(portion), share)))
            bar(sum(map(len, done)), [0])
    except KeyboardInterrupt:
        stopped.set()
        raise
    finally:
        for future in pending:
            future.cancel()
        team.close()
        bar.close()
    return joined(done)


def _missing(count, done):
    """Ranges of runs that are not there yet."""
    there = np.zeros(count + 2, bool)
    there[[0, -1]] = True
    for portion in done:
        there[1 + portion.first : 1 + portion.first + len(portion)] = True
    edges = np.flatnonzero(np.diff(there.astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _here(session, stopped, first, values, pushed):
    return session.carry_out(first, values, pushed, stopped.is_set)


def elsewhere(asked, packed, first, values, pushed):
    """Runs of an order that came from another process. Returns a portion, or in words why there is none."""
    if asked != version():
        return f"a worker has torsor {version()}, but {asked} asks it to work: install the same version everywhere"
    with LOCK:
        if packed not in SESSIONS:
            while len(SESSIONS) >= 4:
                SESSIONS.pop(next(iter(SESSIONS)))
            SESSIONS[packed] = Session(unpacked(packed))
        session = SESSIONS[packed]
    return session.carry_out(first, values, pushed)


def _received(future):
    """The portion of a future; an error where the worker could not make it."""
    try:
        found = future.result()
    except (OptionError, KeyboardInterrupt, futures.CancelledError):
        raise
    except Exception as error:
        raise RunError(
            f"study: a worker could not carry out its runs: {type(error).__name__}: {error}. The same torsor must be installed "
            "there; with `store` a study goes on from what was done"
        ) from error
    if isinstance(found, str):
        raise OptionError(f"study: {found}")
    return found
