"""A session computes the runs of a study request in this process; any number of threads share its prepared model."""

import json
import re
import time as clock
import warnings
from dataclasses import replace
from threading import RLock
from typing import Any

import numpy as np

from ..errors import OptionError, TorsorError
from ..kernels.derivation_lock import DERIVING
from ..look.dataset import attributes, labels, manifest, unique
from ..run.events.event_messages import at_end
from ..run.many.held_inputs import run_to_end, run_with_inputs
from ..run.task import friction_load_message
from .compiled_batch import CompiledBatch
from .finished_runs import FinishedRun, Group, make_group, split_by_shape
from .reductions import OneRun, reduce_run, uses_words_only
from .run_portion import ENERGY_LOST, Portion, assemble, blank_counts
from .runner_pool import RunnerPool

COMMON_ATTRIBUTES = (  # attributes of a run that become attributes of the study
    "model", "model_hash", "formulation", "formulation_reason", "method", "method_reason", "path", "path_reason",
    "degrees_of_freedom", "redundant_constraints", "options", "torsor", "versions", "machine",
)  # fmt: skip
INTERRUPTED = "not run: the study was interrupted"
# The part of a message of `simulate` about the data of its error, which a study does not return.
ABOUT_ERROR_DATA = re.compile(r" (The run is|\d+ steps, \d+ outputs) kept in `data` of this error\.")


class Session:
    """Computes the runs of one request.

    batch_size   largest number of runs that are computed at once
    """

    def __init__(self, request):
        self.request = request
        self.task = request.task()
        self.lock = RLock()
        self._compiled_batch: Any = None
        self.runners = RunnerPool(request)
        self.batch_size = 16

    def carry_out(self, first, values, input_values=(), stop=lambda: False):
        """Compute runs and return them as a portion.

        first          index of the first run in the study
        values         parameters and starts, one row for each run
        input_values   values (run, interval) of each piecewise constant input
        stop           called; True if the study ends early
        """
        began = clock.perf_counter()
        n = len(values)
        portion = Portion(first, [""] * n, blank_counts(n))
        pieces = list[tuple]()
        batch = self.compiled_batch()
        inputs = self.request.piecewise_inputs(input_values)
        for start in range(0, n, self.batch_size):
            left = np.arange(start, min(start + self.batch_size, n))
            if batch is not None and not stop():
                left = self._run_compiled(batch, portion, pieces, left, values, inputs, stop)
            if len(left):
                self._run_in_sequence(portion, pieces, left, values, inputs, stop)
        portion.variables = assemble(n, portion.align(pieces), len(self.request.times))
        portion.counts[ENERGY_LOST][[message != "" for message in portion.messages]] = np.nan  # the message says it
        portion.seconds = clock.perf_counter() - began
        return portion

    def compiled_batch(self):
        """The object that computes many runs at once in compiled code; None if the model does not allow it."""
        with self.lock:
            if self._compiled_batch is None:
                try:
                    self._compiled_batch = CompiledBatch(self.request, replace(self.task))
                    self.batch_size = self._compiled_batch.batch_size
                except OptionError:
                    raise
                except TorsorError:  # the model has no consistent start with its own parameters; it may with others
                    self._compiled_batch = False
            return self._compiled_batch if self._compiled_batch and self._compiled_batch.available else None

    def _run_compiled(self, batch, portion, pieces, indices, values, inputs, stop):
        """Compute as many runs as possible in compiled code. Returns the indices of the remaining ones."""
        done, variables, counts = batch.carry_out(values[indices], inputs and inputs.some(indices), stop)
        which = indices[done]
        if len(which):
            self._note_warning(portion, batch.system)
            if not portion.common_attributes:
                self._set_description(portion, batch.system, *batch.description())

            def dataset_of_run(k):
                return self._run(which[k], values, None, inputs).judge()

            other_variables = unique(batch.system, batch.system.multiplier_rows)
            group = Group(
                which, variables, counts, self.request.times, lambda k: other_variables, dataset_of_run, batch.used
            )
            self._keep(portion, pieces, group, values, stop)
        return indices[~done]

    def _run_in_sequence(self, portion, pieces, indices, values, inputs, stop):
        """Compute runs one after the other, then process runs of equal shape in groups."""
        with DERIVING:
            if self._compiled_batch:
                self.runners.begin(self._compiled_batch.task)
            systems = self.runners.systems(values[indices])
        finished = list[FinishedRun]()
        for i, system in zip(indices, systems):

            def run_and_append(i=i, system=system):
                finished.append(self._run(i, values, system, inputs, stop))

            self._attempt(portion, i, run_and_append, stop)
        for runs in split_by_shape(finished):
            group = make_group(runs)
            keep = self._check(portion, group, runs) | self._count_and_find_stopped(portion, group, runs)
            if keep.any():
                runs = [run for run, kept in zip(runs, keep) if kept]
                for run in runs:
                    self._note_warning(portion, run.system)
                self._describe_from(portion, runs[0])
                self._keep(portion, pieces, group if keep.all() else make_group(runs), values, stop)

    def _note_warning(self, portion, system):
        """Note the text that `simulate` would warn of at the start of a run."""
        text = system.shared and friction_load_message(self.request.model, system.shared)
        if text and text not in portion.warnings:
            portion.warnings.append(text)

    def _count_and_find_stopped(self, portion, group, runs):
        """Store the numbers of all runs of a group. Returns a mask of the runs that stopped early and whose outputs are kept: a
        reduction needs complete runs."""
        for name, x in group.counts.items():
            portion.counts[name][group.indices] = x
        if self.request.reduce is not None:
            return np.zeros(len(runs), bool)
        return np.array([portion.messages[run.index] != "" and not run.trajectory.complete for run in runs])

    def _check(self, portion, group, runs):
        """Mask of the runs of a group that `simulate` would accept. The others get an error message."""
        verdict = self.runners.verdict
        good = np.array([run.trajectory.complete for run in runs])
        good &= verdict is not None and len(group.times) > 0
        if good.any():
            lengths = np.array([run.system.length for run in runs])
            parameters = np.array([run.system.p for run in runs])
            redundant = np.array([bool(run.system.redundant) for run in runs])
            good &= verdict.right(group.times, group.variables, lengths, parameters, redundant)
        for k in np.flatnonzero(~good):
            interrupted = runs[k].trajectory.status == "interrupted"
            good[k] = self._attempt(portion, runs[k].index, runs[k].judge, lambda value=interrupted: value)
        return good

    def _keep(self, portion, pieces, group, values, stop):
        """Append the requested results of a group of runs to `pieces`."""
        for name, x in group.counts.items():
            portion.counts[name][group.indices] = x
        keep = self.request.keep
        reduce = self.request.reduce
        used = {"constraint": np.array(group.used, dtype=str)}
        if uses_words_only(reduce) and (keep is None or all(_components(name, group.variables) for name in keep)):
            selected = {name: (("run", *dims), x) for name, (dims, x) in self._select(group.variables).items()}
            all_runs = OneRun(selected, group.times, {}, None, ends=group.ends)

            def add_all():
                pieces.append((group.indices, reduce_run(reduce, all_runs)[0], used))

            self._attempt(portion, group.indices, add_all)
            return
        for k, i in enumerate(group.indices):
            variables = {name: (dims, x[k]) for name, (dims, x) in group.variables.items()} | group.other_variables(k)
            run = OneRun(
                self._select(variables), group.times, self.request.parameters(values[i]),
                lambda k=k: group.dataset(k), group.used,
                {name: x[k] for name, x in group.ends.items()},
            )  # fmt: skip

            def add(i=i, run=run):
                pieces.append(_piece(i, used, *reduce_run(reduce, run, portion)))

            self._attempt(portion, i, add, stop)

    def _attempt(self, portion, indices, action, stop=lambda: False):
        """Call `action` for one or several runs. Returns True if it succeeds; else the runs get an error message."""
        try:
            message = INTERRUPTED if stop() else ""
            if not message:
                action()
        except OptionError:  # the same error in all runs
            raise
        except TorsorError as error:
            message = ABOUT_ERROR_DATA.sub("", str(error)) or type(error).__name__
        except Exception as error:  # of a function of the user
            message = f"reduce: {type(error).__name__}: {error}"
        for i in np.atleast_1d(indices) if message else ():
            portion.messages[i] = message
        return not message

    def _describe_from(self, portion, run):
        """Set the description of a portion from one of its runs, if it has none."""
        if not portion.common_attributes:
            system = run.system
            trajectory = run.trajectory
            names = [*make_group([run]).variables, *run.other_variables()]
            facts = manifest(system, trajectory, run.task.options())
            if why := self._compiled_batch and self._compiled_batch.refusal:
                facts["path_reason"] += f"; one run after the other: {why}"
            by_name = {name: attributes(name) for name in names}
            self._set_description(portion, system, labels(system, trajectory.used), by_name, facts)

    def _set_description(self, portion, system, labels, attributes, manifest):
        """Set labels, attributes of variables, and the attributes that all runs have in common."""
        options = {k: v for k, v in json.loads(manifest["options"]).items() if k != "parameters"}
        portion.common_attributes = {name: manifest[name] for name in COMMON_ATTRIBUTES}
        portion.common_attributes |= {"options": json.dumps(options)}
        portion.labels = dict(labels)
        portion.attributes = dict(attributes)
        portion.rows = [label for label, _ in system.declared]

    def _run(self, i, values, system, inputs, stop=lambda: False):
        """Compute run i. One thread at a time derives and compiles; compiled code runs in parallel.

        system   at the model's start with the parameters of this run; None if it is not known
        """
        request = self.request
        row = values[i]
        with DERIVING, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parameters = request.parameters(row)
            if system is None:
                validated = request.model.values(parameters)
                parameters = {name: validated[name] for name in request.names}
            task = replace(self.task, parameters=parameters, start=request.start_of(row))
            task, system_at_start, runner = self.runners.runner_for(task, system)
        if inputs is None:
            trajectory = run_to_end(runner, request.times, stop)
        else:
            trajectory = run_with_inputs(runner, request.times, inputs.some([i]), stop=stop)
        early = request.reduce is not None and trajectory.status.startswith("ended")
        end = at_end(runner) if early else None
        self.runners.give_back(runner, trajectory)
        return FinishedRun(i, task, system_at_start, trajectory, end)

    def _select(self, variables):
        """The variables that are kept, or that a reduction function can read."""
        keep = self.request.keep
        if keep is None:
            over_time_only = self.request.reduce is None or isinstance(self.request.reduce, (str, tuple))
            return {name: x for name, x in variables.items() if not over_time_only or "time" in x[0]}
        components_of = {name: _components(name, variables) for name in keep}
        for name, components in components_of.items():
            if not components:
                raise OptionError(f"study: keep: there is no variable {name!r}. Known: {', '.join(variables)}.")
        return {label: variables[label] for components in components_of.values() for label in components}


def _components(name, variables):
    """The variable of this name, or the components of a vector of this name."""
    return [name] if name in variables else [label for label in variables if label.startswith(f"{name}[")]


def _piece(i, used, variables, labels):
    """The reduced results of run i as a piece (`align_results.py`)."""
    return np.array([i]), {name: (("run", *dims), x[None]) for name, (dims, x) in variables.items()}, used | labels
