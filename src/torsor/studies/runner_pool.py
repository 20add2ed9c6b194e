"""Pool of reusable runners: each thread prepares a runner once, and the starts of many runs are computed at once."""

import warnings
from copy import copy
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np

from ..checks.continuity import depends_on_inputs, refuse_jumps
from ..errors import ModelError
from ..prepare import large_systems
from ..prepare.prepare import prepare
from ..prepare.requested_start import Starts
from ..run import auto_method
from ..run.many.batch_starts import BatchStarts
from ..run.many.batch_verdict import BatchVerdict
from ..run.task import refuse_too_fast_start

CHOSEN_FIELDS = (
    "formulation",
    "reason",
    "method",
    "method_reason",
    "path",
    "path_reason",
)  # fields of a task that its preparation sets


class RunnerPool:
    """Idle runners of a request, whose runs differ in parameters and starts.

    prepared_task   the first task that was prepared, with the formulation and method that it chose; None if there is none
    batch_starts    computes the starts of many runs at once; None if each run is prepared alone
    verdict         checks many finished runs at once; None if each run is checked alone
    motions_vary    True if imposed motions depend on a parameter that varies
    """

    def __init__(self, request):
        self.request = request
        self.lock = Lock()
        self.idle = []
        self.prepared_task: Any = None
        self.batch_starts: Any = None
        self.verdict: Any = None
        self.built: Any = None
        self.motions_vary = False
        self.columns = [list(request.model.parameters).index(name) for name in request.names]

    def begin(self, task):
        """Take over a task that was prepared with the parameters of the model."""
        if self.prepared_task is not None or self.request.options.method == auto_method.AUTO:
            return  # the method depends on the parameters of the run
        if large_systems.runs_through_tables(task) and (self.request.starts or self.request.start is not None):
            return  # tables do not support all starts, so that each run is prepared alone
        self.prepared_task = replace(task, start=None, starts=None)
        if large_systems.runs_through_tables(task):
            return
        system, self.built = task.starts.own, task.starts.built
        self.base = np.array([*task.model.values(task.parameters).values()], float)
        self.batch_starts = BatchStarts(task.derivation(), system, task.until, self.base, self.columns)
        self.verdict = BatchVerdict(task)
        self.motions_vary = depends_on_inputs(task.model, self.columns)

    def systems(self, values):
        """The system at the model's start for each row of values; None where the run must be prepared alone."""
        systems: list = [None] * len(values)
        if self.batch_starts is None:
            return systems
        whole = np.tile(self.base, (len(values), 1))
        whole[:, self.columns] = values[:, : len(self.columns)]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            starts, is_found = self.batch_starts.find(whole)
        which = np.flatnonzero(is_found)
        for i, system in zip(which, self.batch_starts.systems(starts.some(which), self.built)):
            systems[i] = system
        return systems

    def runner_for(self, task, system=None):
        """Return the prepared task, its system at the start, and a runner at this start.

        system   at the model's start with the parameters of the task, if it is known
        """
        with self.lock:
            runner = self.idle.pop() if self.idle else None
        if runner is None or self.prepared_task is None:
            return self._prepare_new(task)
        own = replace(task, **{name: getattr(self.prepared_task, name) for name in CHOSEN_FIELDS})
        try:
            system, built = self._system_at_start(own, system)
        except ModelError:  # a full preparation may choose another formulation, or reports the error
            with self.lock:
                self.idle.append(runner)
            return self._prepare_new(task)
        runner.restart(system, built)
        own.controllers = copy(getattr(runner, "controllers", None))
        return own, system, runner

    def _prepare_new(self, task):
        """Prepare a task from scratch, with a new runner."""
        system, runner = task.prepare()
        return task, system, runner

    def _system_at_start(self, task, system):
        """The system at the start that a task requests, and its kernels."""
        options = task.kernel_options()
        values = None
        built = self.built
        if system is None or self.motions_vary:
            values = task.values()
            refuse_jumps(task.model, values, task.until)
        if system is None:
            system, built = prepare(task.model, task.formulation, options, task.signals, task.parameters)
        if task.start is not None:
            system, built = Starts(task, system, built, options).at(task.start)
        if values is not None or task.start is not None:
            refuse_too_fast_start(task.model, system, task.until)
        return system, built

    def give_back(self, runner, trajectory):
        """Return a runner to the pool, unless its run was interrupted."""
        if self.prepared_task is not None and trajectory.status != "interrupted":
            with self.lock:
                self.idle.append(runner)
