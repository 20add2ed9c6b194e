"""Runners that are used again: what a run takes beyond its start is made once for each thread."""

from dataclasses import replace
from threading import Lock

from ..errors import ModelError
from ..run import stiffness
from ..run.prepare import prepare
from ..run.task import refuse_endless
from ..start.continuity import refuse_jumps


class Runners:
    """Runners of tasks that differ in the values of parameters; those that nobody uses wait here.

    known   the first task that was prepared, with the formulation that was taken
    """

    def __init__(self):
        self.lock, self.idle, self.known = Lock(), [], None

    def of(self, task):
        """The task as it was prepared, its system, and a runner at its start."""
        with self.lock:
            runner = self.idle.pop() if self.idle and task.start is None else None
        again = None if runner is None else self._again(task, runner)
        if again is not None:
            return again
        system, runner = task.prepared()
        if self.known is None and task.start is None:
            self.known = task
        return task, system, runner

    def _again(self, task, runner):
        """The same with a runner that has run before; None where other kernels are chosen, or the start is refused."""
        taken = ("formulation", "reason", "method", "method_reason")
        task = replace(task, **{name: getattr(self.known, name) for name in taken})
        ways = (task.map, task.projection.baumgarte, task.projection.metric)
        try:
            refuse_jumps(task.model, task.values(), task.until)
            system, built = prepare(
                task.model, task.formulation, *ways, task.signals, task.parameters, needs=task.needs()
            )
            refuse_endless(task.model, system, task.until)
        except ModelError:
            return None
        runner.restart(system, built)
        task.controllers = getattr(runner, "controllers", None)
        return task, system, runner

    def give_back(self, task, runner, trajectory):
        """A runner whose run is over waits for the next, where that can begin again: functions of controllers may remember."""
        controlled = getattr(runner, "controllers", None)
        if trajectory.complete and self.known is not None and not (controlled and controlled.asked):
            with self.lock:
                if self.known.method != stiffness.AUTO and task.start is None:
                    self.idle.append(runner)
