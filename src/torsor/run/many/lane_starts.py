"""Starts of simulations that advance together in lanes: rows of states and of inputs of the kernels, at requested starts too."""

import warnings
from dataclasses import replace

import numpy as np

from ...methods.run_records import Evaluation
from ...prepare.prepare import prepare
from ...prepare.requested_start import Starts
from ..task import refuse_too_fast_start
from .batch_starts import BatchStarts


class NotOneSystem(Exception):
    """Simulations need different kernels; the text says which."""


class LaneStarts:
    """Starts of simulations with parameters of their own.

    task, prepared   of the first of them, whose kernels all have
    parameters       of each simulation, by name; one dictionary for all of them if nothing varies
    work_place       index of the work in a state
    """

    def __init__(self, task, prepared, parameters):
        self.task = task
        self.own = prepared.own
        self.runner = prepared.runner
        self.built = prepared.runner.built
        self.parameters = parameters
        self.varies = any(one is not parameters[0] for one in parameters)
        self.work_place = self.own.state.q + self.own.state.v
        self.systems = self._systems() if self.varies else None

    def _systems(self):
        """The system of each simulation at the start of the model. Raises NotOneSystem."""
        model, task = self.task.model, self.task
        values = np.array([[*model.values(one).values()] for one in self.parameters], float)
        columns = np.flatnonzero((values != values[0]).any(axis=0)).tolist()
        batch = BatchStarts(task.derivation(), self.own, task.until, values[0], columns)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            starts, possible = batch.find(values)
        systems: list = [None] * len(values)
        which = np.flatnonzero(possible)
        for k, system in zip(which, batch.systems(starts.some(which), self.built)):
            systems[k] = system
        for k in np.flatnonzero(~possible):
            systems[k], _ = prepare(model, task.formulation, task.kernel_options(), task.signals, self.parameters[k])
            refuse_too_fast_start(model, systems[k], task.until)
            if systems[k].choice != self.own.choice:
                raise NotOneSystem(f"simulation {k} needs other constraint rows or units than simulation 0")
        return systems

    def rows(self, which, starts):
        """States and inputs of some simulations, one row each, at their starts; None: that of the model. Raises NotOneSystem."""
        x, p = np.empty((len(which), self.own.state.x)), np.empty((len(which), len(self.own.p)))
        latest: tuple | None = None  # the start before, which many may share
        for i, (k, start) in enumerate(zip(which, starts)):
            own = self.own if self.systems is None else self.systems[k]
            if latest is None or latest[0] is not own or latest[1] is not start:
                latest = own, start, self._system_at(own, k, start)
            system = latest[2]
            x[i] = system.state.join_blocks(system.q, system.v, system.p)
            p[i] = system.p
        return x, p

    def _system_at(self, own, k, start):
        """The system of a simulation at a requested start."""
        if start is None:
            return own
        task = replace(self.task, parameters=self.parameters[k], start=None, starts=None)
        system, _ = Starts(task, own, self.built, task.kernel_options()).at(start)
        if system.choice != self.own.choice:
            raise NotOneSystem(f"simulation {k} needs other constraint rows or units than simulation 0")
        return system

    def outputs(self, times, x, p):
        """Outputs of all simulations, one row each."""
        rows = np.zeros((len(x), self.runner.sizes["outputs"]))
        evaluation = Evaluation(structure=0, which=np.arange(len(x)), times=times.copy(), x=x, p=p, outputs=rows)
        self.runner.evaluate(self.runner.run_.address, evaluation.address)
        return rows

    def place(self, simulation, time, x, p):
        """A simulation, put into a state."""
        stepper, own = simulation._stepper, self.own
        q, v = own.state.split_blocks(x)
        stepper.reset(system=replace(own, t=float(time), q=q.tolist(), v=v.tolist(), p=p.tolist()))
        stepper.state.x[:] = x
        return simulation
