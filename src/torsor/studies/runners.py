"""Runners that are used again: what a run takes beyond its start is made once for each thread, and starts are found together."""

import warnings
from copy import copy
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np

from ..errors import ModelError
from ..run import large, stiffness
from ..run.beginnings import Together
from ..run.doubts import Doubts
from ..run.elsewhere import Starts
from ..run.prepare import prepare
from ..run.task import refuse_endless
from ..start.continuity import occurs, refuse_jumps

TAKEN = ("formulation", "reason", "method", "method_reason")  # what is found when a task is prepared


class Runners:
    """Runners of an order, whose runs differ in parameters and starts; those that nobody uses wait here.

    known      the task that was prepared first, with the formulation and the method that were taken; None: there is none yet
    together   finds starts of many runs at once; None where each is prepared for itself
    doubts     looks through many runs that are over; None where each is judged for itself
    """

    def __init__(self, order):
        self.order, self.lock, self.idle = order, Lock(), []
        self.known: Any = None
        self.together: Any = None
        self.doubts: Any = None
        self.built: Any = None
        self.watched = False  # whether motions that are imposed depend on a parameter that varies
        self.columns = [list(order.model.parameters).index(name) for name in order.names]

    def begin(self, task):
        """Begin with a task that was prepared with the parameters of the model."""
        if self.known is not None or self.order.options["method"] == stiffness.AUTO:
            return  # each run has the method that suits its parameters
        self.known = replace(task, start=None, starts=None)
        if large.in_tables(task):
            return
        system, self.built = task.starts.own, task.starts.built
        self.base = np.array([*task.model.values(task.parameters).values()], float)
        self.together = Together(task.derived(), system, task.until, self.base, self.columns)
        self.doubts = Doubts(task)
        self.watched = occurs(task.model, self.columns)

    def systems(self, values):
        """The system at the model's start for each row of values; None where it has to be prepared for itself."""
        found: list = [None] * len(values)
        if self.together is None:
            return found
        whole = np.tile(self.base, (len(values), 1))
        whole[:, self.columns] = values[:, : len(self.columns)]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            beginnings, sure = self.together.find(whole)
        which = np.flatnonzero(sure)
        for i, system in zip(which, self.together.systems(beginnings.some(which), self.built)):
            found[i] = system
        return found

    def of(self, task, system=None):
        """A task as it was prepared, its system, and a runner at its start.

        system   at the model's start with the parameters of the task, where it is known
        """
        with self.lock:
            runner = self.idle.pop() if self.idle else None
        if runner is None or self.known is None:
            return self._afresh(task)
        own = replace(task, **{name: getattr(self.known, name) for name in TAKEN})
        try:
            system, built = self._started(own, system)
        except ModelError:  # another formulation may take it; or it says what is wrong
            with self.lock:
                self.idle.append(runner)
            return self._afresh(task)
        runner.restart(system, built)
        own.controllers = copy(getattr(runner, "controllers", None))
        return own, system, runner

    def _afresh(self, task):
        system, runner = task.prepared()
        return task, system, runner

    def _started(self, task, system):
        """The system at the start that a task asks for, and its kernels."""
        ways, values, built = (task.map, task.projection.baumgarte, task.projection.metric), None, self.built
        if system is None or self.watched:
            values = task.values()
            refuse_jumps(task.model, values, task.until)
        if system is None:
            system, built = prepare(
                task.model, task.formulation, *ways, task.signals, task.parameters, needs=task.needs()
            )
        if task.start is not None:
            system, built = Starts(task, system, built, (*ways, task.needs())).at(task.start)
        if values is not None or task.start is not None:
            refuse_endless(task.model, system, task.until)
        return system, built

    def give_back(self, runner, trajectory):
        """A runner whose run is over waits for the next, but for one that was interrupted."""
        if self.known is not None and trajectory.status != "interrupted":
            with self.lock:
                self.idle.append(runner)
