"""The function that most users call, and the one that goes on with what it left behind."""

import os
import signal
import time as clock
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .elements import quantity
from .errors import OptionError, ResultError, RunError
from .look import certificate
from .look.dataset import dataset
from .look.progress import Progress
from .look.recorded_signals import signals_to_record
from .look.result_writer import assemble
from .look.run_request import Options, refuse_certificate, validate_run
from .methods.integrator import integrator_of
from .methods.projections import Projection
from .model.model import Model
from .parallel.ranks import SINGLE_RANK, Ranks, ranks_of, refuse_with_ranks
from .parallel.threads import run_together, validate_thread_count
from .prepare.memory_estimate import refuse_large_result
from .prepare.prepare import changes_structure
from .prepare.system import System
from .registry import lookup
from .run.interrupt_signals import defer_signals, reraise_signals
from .run.output_times import EqualIntervals, seconds
from .run.run_digest import run_facts
from .scene.scene import scene_attributes
from .store.checkpoint import Checkpoint, damage_as_error
from .store.checkpointed_run import run_with_checkpoints
from .store.environment import refuse_other_environment, static_facts, task_from_checkpoint
from .store.extend_run import extend
from .store.result_files import open_result, verify_seal

if TYPE_CHECKING:
    import xarray as xr

PREPARING = "deriving and compiling the equations"


def simulate(
    model: Model,
    until: float,
    outputs: int | Sequence[float] | np.ndarray = 200,
    step: float | None = None,
    method: str = "rkmk54",
    formulation: str = "auto",
    projection: str | Projection = "least-squares",
    tolerance: float | None = None,
    map: str = "exp",
    signals: dict | None = None,
    parameters: dict | None = None,
    progress: bool | None = None,
    certify: bool = False,
    checkpoint: str | os.PathLike | None = None,
    checkpoint_every: float | None = 60.0,
    checkpoint_interval: float | None = None,
    ranks: bool | Ranks = False,
    threads: int = 1,
    start: Any = None,
    reactions: str = "solved",
) -> "xr.Dataset":
    """Simulate a model from time 0 and return an xarray.Dataset.

    until        end time [s]
    outputs      array of times, or a number of equal intervals from 0 to `until`; adaptive explicit methods pass them
    step         fixed step [s]; shortened so that outputs are met exactly. None: adaptive, for methods that can
    method       key of an integrator, as in "generalized-alpha:rho=0.6"; "auto": "radau5" if the model is stiff, else "rkmk54"
    formulation  "absolute", "relative", "hierarchical" …, see `torsor.registered("formulation")`; "auto": the cheapest one
    projection   "least-squares", "post", "partition", "independent", "baumgarte", "none", as in "baumgarte:alpha=20,beta=20" or
                 "least-squares:threshold=1e-8", or a Projection
    tolerance    relative error per step of adaptive methods; None: 1e-9, and 1e-11 where events are to be located
    map          "exp" or "cayley": how a step in the algebra becomes one on the group
    signals      further expressions to record, by name
    parameters   values of parameters that differ from the model's
    progress     show a bar after a second; None: if standard error is a terminal
    certify      measure the error of everything by a second, finer run; see docs/results.md
    checkpoint   folder from which `resume` can go on; results are then kept there, and not in memory
    checkpoint_every, checkpoint_interval   seconds on the clock, and simulated seconds, between checkpoints; None: none
    ranks        the processes of MPI run it together; the result is that of rank 0, others return None: see docs/distributed.md
    threads      how many threads run a large model together, each a part of it
    start        values by name as {"hinge": 0.3, "hinge.rate": 1.0}, a former result, a state (docs/stepping.md); None: the model's
    reactions    of redundant constraints: "solved" (some carry nothing), or "share" (with the least norm); see docs/theory.md

    A run that fails raises RunError with the computed part in `data`; an interrupted run returns that part.
    """
    options = Options(step, method, formulation, projection, tolerance, map, reactions)
    request = partial(validate_run, model, until, outputs, options, signals=signals, parameters=parameters, start=start)
    if ranks is not False:
        return _by_ranks(ranks_of(ranks), request, (threads, certify, checkpoint), progress)
    task, times = request()
    refuse_certificate(task, certify, checkpoint)
    if validate_thread_count(threads, checkpoint) > 1:
        return run_together(threads, lambda one: _together(replace(task, ranks=one), times[:], progress, certify))
    if checkpoint is not None or checkpoint_interval is not None:
        return _run_in_folder(task, times, checkpoint, (checkpoint_every, checkpoint_interval), progress)
    system, data = _carry_out(task, times, model.name, progress)
    data = task.warn_if_inaccurate(task.judge(system, data, data.sizes["time"]), 2)
    return _certify(task, times[:], system, data, progress) if certify else data


def _carry_out(task, times, title, progress):
    """The system of a task, and what a run of it in memory gives."""
    import xarray  # noqa: F401  now, and not when a signal has asked the run to end

    bar, began = Progress(0.0, task.until, title, progress), clock.perf_counter()
    bar.waiting(PREPARING)
    try:
        system, runner = task.prepare()
        refuse_large_result(task.model, len(times), system.outputs.size)
        with reraise_signals():
            runner.begin(times[:])
        prepared = clock.perf_counter() - began
        with defer_signals(keeps=False) as note:
            trajectory = runner.collect(runner.run(bar))
    except MemoryError:
        raise OptionError(f"{len(times)} outputs do not fit in memory: give a `checkpoint` folder, or fewer") from None
    finally:
        bar.close()
    by = {} if note.signal is None else {"interrupted_by": signal.Signals(note.signal).name}
    if trajectory is None:  # another rank has it
        return system, None
    data = dataset(system, trajectory, task.options())
    facts = {**runner.result_attributes(), **scene_attributes(task.model, task.parameters)}
    data.attrs.update(prepare_seconds=prepared, **by, **facts)
    return system, data


def _by_ranks(ranks, request, others, progress):
    """The result of a run by ranks of MPI, on rank 0; None on all others. What fails on one rank, or was given to it otherwise than
    to rank 0, fails on all of them."""
    with ranks.together():
        (task, times), (threads, certify, checkpoint) = request(), others
        refuse_certificate(task, certify, checkpoint)
        refuse_with_ranks(threads, checkpoint)
        ranks.refuse_different(run_facts(task, times[:]) | {"certify": f"{bool(certify)}"})
        return _carry_out_together(replace(task, ranks=ranks), times[:], progress, certify)


def _together(task, times, progress, certify):
    """The result of a run by threads, on the first; None on all others. What fails on one fails on all of them."""
    with task.ranks.together():
        return _carry_out_together(task, times, progress, certify)


def _carry_out_together(task, times, progress, certify):
    progress = progress if task.ranks.rank == 0 else False
    system, data = _carry_out(task, times, task.model.name, progress)
    if data is not None:
        data = task.warn_if_inaccurate(task.judge(system, data, data.sizes["time"]), 4)
    return _certify(task, times, system, data, progress) if certify else data


def _certify(task, times, system, data, progress):
    """A result with its errors, measured by a second run. Ranks run it together; data is None on all but the first."""
    ranks = SINGLE_RANK if task.ranks is None else task.ranks
    if ranks.any(data is not None and "interrupted_by" in data.attrs):
        return data
    tolerance, step = certificate.finer(task.tolerance, task.step)
    second, began, trouble = replace(task, tolerance=tolerance, step=step), clock.perf_counter(), None
    _, other = _carry_out(second, certificate.refine_times(times), f"{task.model.name}, second run", progress)
    if other is None:  # the first rank has it
        return None
    try:
        other = second.judge(system, other, other.sizes["time"])
    except RunError as error:
        trouble = str(error).split(": ", 1)[1].replace(" kept in `data` of this error", " computed")
    if "interrupted_by" in other.attrs:
        return data.assign_attrs(interrupted_by=other.attrs["interrupted_by"])
    other = other.isel(time=np.isin(other["time"].values, times))
    factor = certificate.factor(integrator_of(task.method).order, task.step)
    size = (system.length, system.mass, data.attrs["time_reached"] or 1.0)
    certified = {"certified_by": certificate.second_run_text(other.attrs["options"])}
    data = certificate.with_errors(data, other, factor, size).assign_attrs(
        certified, certify_seconds=clock.perf_counter() - began
    )
    if trouble is not None:
        raise RunError(
            f"model {task.model.name!r}: the run finished, but cannot be certified: {certified['certified_by']} {trouble} The "
            "result is kept in `data` of this error, with its errors as far as the second run came.",
            data,
        )
    return data


def resume(
    folder: str | os.PathLike | Checkpoint,
    model: Model,
    signals: dict | None = None,
    progress: bool | None = None,
    until: float | None = None,
    outputs: int | Sequence[float] | np.ndarray | None = None,
) -> "xr.Dataset":
    """Go on with a run that `simulate` keeps in the folder `checkpoint`, and return the result as `simulate` does.

    model, signals   as they were given to `simulate`; everything else is stored in the folder
    progress         whether a bar is shown; None: if standard error is a terminal
    until            a later end of the run [s], also of one that is complete: it goes on from there; None: as it was
    outputs          of what is added by `until`: times, or a number of equal intervals; None: as far apart as before

    The result is bit for bit that of a run which was never stopped. A run that is complete returns its result again, or goes on to
    `until`. A checkpoint of another model, another version of torsor or another processor is refused, and stays as it is.
    """
    if not isinstance(model, Model):
        raise OptionError(f"resume: give the torsor.Model of the run, got {quantity.show(model)}")
    place = folder if isinstance(folder, Checkpoint) else Checkpoint(folder)
    place.read()
    if outputs is not None and until is None:
        raise OptionError("outputs: of what is added to a run; give the time `until` which it goes on, too")
    with damage_as_error(place.folder):
        static, o = place.static, place.static["options"]
        task = task_from_checkpoint(place.folder, static, model, signals_to_record(model, signals))
    place.lock()
    try:
        facts, arrays = place.read()  # nobody else changes it from now on
        with damage_as_error(place.folder):
            system, outcome = System.from_facts(static["system"]), facts["outcome"]
            task.path, task.path_reason = task.find_path(system)
            place.times, ended_by, prepared = place.output_times(), None, 0.0
            running = outcome["status"] == "running"
            if running or until is not None:
                refuse_other_environment(place.folder, static["circumstances"])
            longer = until is not None and extend(place, facts, system, until, outputs)
        if running or longer:
            task = replace(task, until=place.static["options"]["until"])
            place.verify()
            place.tidy()
            bar, began = Progress(0.0, task.until, model.name, progress), clock.perf_counter()
            bar.waiting(PREPARING)
            try:
                with damage_as_error(place.folder):
                    _, runner = task.prepare(system)
                    runner.restore(facts["runner"], arrays)
                    place.refuse_other_width(3 + runner.sizes["outputs"])
                prepared = clock.perf_counter() - began
                with defer_signals() as note:
                    outcome, ended_by = run_with_checkpoints(runner, place, bar, note, *o["checkpoints"])
            finally:
                bar.close()
        return _conclude(task, system, place, outcome, ended_by, prepared)
    finally:
        place.release()


def _run_in_folder(task, times, checkpoint, intervals, progress):
    """A run in a folder, from its start."""
    if checkpoint is None:
        raise OptionError("checkpoint_interval: give the folder `checkpoint`, too")
    place = checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)
    for value, what in zip(intervals, ("checkpoint_every", "checkpoint_interval")):
        if value is not None and quantity.number(value) != 0:
            seconds(value, what)
    place.refuse_occupied()
    bar, began = Progress(0.0, task.until, task.model.name, progress), clock.perf_counter()
    bar.waiting(PREPARING)
    try:
        system, runner = task.prepare()
        place.lock()
        place.refuse_occupied()
        spaced = isinstance(times, EqualIntervals)
        fields = asdict(task.projection)
        options = task.options() | {
            "projection": [lookup("projection", task.projection.key).key, fields],
            "outputs": times.intervals if spaced else None,
            "checkpoints": [None if x is None else float(x) for x in intervals],
        }
        program = runner.structures.program if changes_structure(task.model) else None
        static = static_facts(task.model, system, options, task.values(), task.parameters, program)
        place.tidy()
        slots = max(len(program.slots), 1) if program else 0
        prepared = clock.perf_counter() - began
        with defer_signals() as note:
            place.begin(static, times, 3 + runner.sizes["outputs"], 3 + len(system.rows) + slots if program else 0)
            outcome, ended_by = run_with_checkpoints(runner, place, bar, note, *options["checkpoints"])
        bar.close()
        return _conclude(task, system, place, outcome, ended_by, prepared)
    finally:
        bar.close()
        place.release()


def _conclude(task, system, place, outcome, ended_by, prepared):
    """The result of a run in a folder: of all of it, or of what was computed so far."""
    complete = outcome["status"] != "running"
    path, count = place.path("result.nc" if complete else "partial.nc"), place.outputs.count
    if place.result is None:
        extra = {"prepare_seconds": prepared, **scene_attributes(task.model, task.parameters)}
        if not complete:
            outcome, extra["interrupted_by"] = outcome | {"status": "interrupted"}, signal.Signals(ended_by or 2).name
        try:
            with damage_as_error(place.folder):
                assemble(path, system, outcome, task.options(), place, extra)
        except ResultError as error:
            raise ResultError(f"{error}. The checkpoint is whole: resume to write the result again") from None
        if complete:
            place.conclude(verify_seal(path))
    elif verify_seal(path) != place.result:
        raise ResultError(f"{path}: the result of another run")
    data = open_result(path)
    if ended_by is not None:
        data = data.assign_attrs(interrupted_by=signal.Signals(ended_by).name)
    return task.warn_if_inaccurate(task.judge(system, data, count, place.folder), 4)
