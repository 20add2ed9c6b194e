"""Runs of an order, carried out in this process: any number of threads share what was prepared."""

import time as clock
import warnings
from dataclasses import replace

from ..errors import AccuracyWarning, OptionError, TorsorError
from ..look.dataset import dataset
from ..run.derived import DERIVING
from .portion import COUNTS, Portion, blank_counts, stacked
from .reductions import OneRun, reduced

TOLD = (  # attributes of runs that are those of the study
    "model", "model_hash", "formulation", "formulation_reason", "method", "method_reason", "degrees_of_freedom",
    "redundant_constraints", "options", "torsor", "versions", "machine",
)  # fmt: skip
INTERRUPTED = "not run: the study was interrupted"


class Session:
    """An order that is carried out here, run by run."""

    def __init__(self, order):
        self.order, self.task = order, order.task()

    def carry_out(self, first, values, stop=lambda: False):
        """The runs with these values of parameters, one row each."""
        began, n = clock.perf_counter(), len(values)
        portion = Portion(first, [""] * n, blank_counts(n))
        kept: list = [None] * n
        for i, row in enumerate(values):
            if stop():
                portion.messages[i] = INTERRUPTED
                continue
            try:
                kept[i] = self._alone(portion, i, dict(zip(self.order.names, row.tolist())))
            except OptionError:  # wrong in all runs alike
                raise
            except TorsorError as error:
                portion.messages[i] = str(error) or type(error).__name__
            except Exception as error:  # of a function of the user
                portion.messages[i] = f"reduce: {type(error).__name__}: {error}"
        portion.variables = stacked(kept, len(self.order.times), portion.messages)
        portion.seconds = clock.perf_counter() - began
        return portion

    def _alone(self, portion, i, parameters):
        """One run, prepared for itself as `simulate` does it: what is kept of it."""
        data = self._simulated(parameters)
        for name in COUNTS:
            portion.counts[name][i] = data.attrs[name]
        if not portion.told:
            portion.told = {name: data.attrs[name] for name in TOLD}
            portion.labels = {str(name): (x.dims[0], x.values) for name, x in data.coords.items() if name != "time"}
            portion.attributes = {str(name): dict(x.attrs) for name, x in data.variables.items()}
        variables = self._chosen({str(name): (x.dims, x.values) for name, x in data.data_vars.items()})
        run = OneRun(variables, data["time"].values, parameters, data.attrs, lambda: data)
        return reduced(self.order.reduce, run)

    def _simulated(self, parameters):
        """The result of a run. Graphs are made by one thread at a time; compiled code runs beside it."""
        with warnings.catch_warnings(), DERIVING:
            warnings.simplefilter("ignore", AccuracyWarning)
            values = self.order.model.values(parameters)
            task = replace(self.task, parameters={name: values[name] for name in parameters})
            system, runner = task.prepared()
            runner.begin(self.order.times)
        trajectory = runner.collect(runner.run())
        with DERIVING:
            data = dataset(system, trajectory, task.options())
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
