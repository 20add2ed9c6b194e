"""Runs of an order, carried out in this process: any number of threads share what was prepared."""

import json
import time as clock
import warnings
from dataclasses import replace
from threading import RLock
from typing import Any

import numpy as np

from ..errors import OptionError, TorsorError
from ..look.dataset import dataset
from ..run.derived import DERIVING
from ..run.held import run_held
from .portion import COUNTS, Portion, assembled, blank_counts
from .quick import Quick
from .reductions import OneRun, by_words, reduced
from .runners import Runners

TOLD = (  # attributes of runs that are those of the study
    "model", "model_hash", "formulation", "formulation_reason", "method", "method_reason", "degrees_of_freedom",
    "redundant_constraints", "options", "torsor", "versions", "machine",
)  # fmt: skip
INTERRUPTED = "not run: the study was interrupted"


class Session:
    """An order that is carried out here."""

    def __init__(self, order):
        self.order, self.task = order, order.task()
        self.lock = RLock()
        self._quick: Any = None
        self.runners = Runners()

    def carry_out(self, first, values, pushes=(), stop=lambda: False):
        """The runs with these values of parameters, one row each, and of inputs that are held over intervals (run, interval)."""
        began, n = clock.perf_counter(), len(values)
        portion, pieces = Portion(first, [""] * n, blank_counts(n)), list[tuple]()
        quick, held = self.quick(), self.order.held(pushes)
        block = n if quick is None else quick.most
        for start in range(0, n, block):
            left = np.arange(start, min(start + block, n))
            if quick is not None and not stop():
                left = self._together(quick, portion, pieces, left, values[left], held and held.some(left), stop)
            for i in left:
                one = held and held.some([i])
                run = lambda i=i, one=one: self._alone(portion, i, values[i], one)
                self._tried(portion, pieces, i, run, stop)
        portion.variables = assembled(n, pieces, len(self.order.times), portion.messages)
        portion.seconds = clock.perf_counter() - began
        return portion

    def quick(self):
        """What carries out many runs at once; None where the model does not allow it."""
        with self.lock:
            if self._quick is None:
                try:
                    self._quick = Quick(self.order, replace(self.task))
                except OptionError:
                    raise
                except TorsorError:  # the model does not start with its own parameters; it may with others
                    self._quick = False
            return self._quick if self._quick and self._quick.able else None

    def _together(self, quick, portion, pieces, places, values, held, stop):
        """Carry out what can be at once. Returns the places that are left."""
        done, variables, counts = quick.carry_out(values, held, stop)
        which, reduce = places[done], self.order.reduce
        if not len(which):
            return places
        self._describe(portion, *quick.described())
        for name, x in counts.items():
            portion.counts[name][which] = x
        variables = self._chosen(variables)
        if by_words(reduce):
            every = {name: (("run", *dims), x) for name, (dims, x) in variables.items()}
            pieces.append((which, reduced(reduce, OneRun(every, self.order.times, {}, {}, None))))
            return places[~done]
        for row, i in enumerate(which):
            one = {name: (dims, x[row]) for name, (dims, x) in variables.items()}
            mine = values[i - places[0]]
            told = {name: x[row].item() for name, x in counts.items()}
            one_held = held and held.some([i - places[0]])
            whole = lambda mine=mine, held=one_held: self._simulated(mine, held)
            run = OneRun(one, self.order.times, self.order.parameters(mine), told, whole)
            self._tried(portion, pieces, i, lambda run=run: reduced(reduce, run), stop)
        return places[~done]

    def _tried(self, portion, pieces, i, run, stop):
        """What is kept of one run, as a piece; or a message."""
        if stop():
            portion.messages[i] = INTERRUPTED
            return
        try:
            found = run()
            pieces.append((np.array([i]), {name: (("run", *dims), x[None]) for name, (dims, x) in found.items()}))
        except OptionError:  # wrong in all runs alike
            raise
        except TorsorError as error:
            portion.messages[i] = str(error) or type(error).__name__
        except Exception as error:  # of a function of the user
            portion.messages[i] = f"reduce: {type(error).__name__}: {error}"

    def _describe(self, portion, labels, attributes, manifest):
        """Labels, attributes of variables, and what the manifest of a run tells of all of them."""
        if portion.told:
            return
        options = {k: v for k, v in json.loads(manifest["options"]).items() if k != "parameters"}
        portion.told = {name: manifest[name] for name in TOLD} | {"options": json.dumps(options)}
        portion.labels, portion.attributes = labels, attributes

    def _alone(self, portion, i, row, held):
        """One run, prepared for itself as `simulate` does it: what is kept of it."""
        data = self._simulated(row, held)
        for name in COUNTS:
            portion.counts[name][i] = data.attrs[name]
        labels = {str(name): (x.dims[0], x.values) for name, x in data.coords.items() if name != "time"}
        self._describe(portion, labels, {str(name): dict(x.attrs) for name, x in data.data_vars.items()}, data.attrs)
        variables = self._chosen({str(name): (x.dims, x.values) for name, x in data.data_vars.items()})
        run = OneRun(variables, data["time"].values, self.order.parameters(row), data.attrs, lambda: data)
        return reduced(self.order.reduce, run)

    def _simulated(self, row, held):
        """The result of a run. Graphs are made by one thread at a time; compiled code runs beside it."""
        order = self.order
        with DERIVING, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = order.model.values(order.parameters(row))
            given = {name: values[name] for name in order.names}
            asked = replace(self.task, parameters=given, start=order.start_of(row))
            task, system, runner = self.runners.of(asked)
            runner.begin(order.times)
        trajectory = runner.collect(runner.run()) if held is None else run_held(runner, order.times, held)
        with DERIVING:
            data = dataset(system, trajectory, task.options())
            self.runners.give_back(task, runner, trajectory)
            return task.judged(system, data, data.sizes["time"])

    def _chosen(self, variables):
        """The variables that are kept, or that a function of a run may look at."""
        keep = self.order.keep
        if keep is None:
            plain = self.order.reduce is None or isinstance(self.order.reduce, (str, tuple))
            return {name: x for name, x in variables.items() if not plain or "time" in x[0]}
        for name in keep:
            if name not in variables:
                raise OptionError(f"study: keep: there is no variable {name!r}. Known: {', '.join(variables)}.")
        return {name: variables[name] for name in keep}
