"""Finished runs: results of equal shape are grouped into arrays; the dataset of a single run is made on request."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..kernels.derivation_lock import DERIVING
from ..look.dataset import at_events, at_outputs, dataset, in_use, unique
from ..look.energy_balance import losses
from .run_portion import ENERGY_LOST


def accuracy_measures(variables):
    """Relative error of the energy balance and largest position drift of each run, from its outputs (run, time, …)."""
    T, U, E, W = (variables[name][1] for name in ("kinetic_energy", "potential_energy", "energy", "work"))
    W = W + variables["energy_by_events"][1] if "energy_by_events" in variables else W
    with np.errstate(invalid="ignore", over="ignore"):  # the outputs of a diverged run overflow
        error = np.abs(E - E[:, :1] - (W - W[:, :1])).max(axis=1, initial=0.0)
        turnover = np.maximum(T.max(axis=1, initial=0.0), np.ptp(U, axis=1) if U.shape[1] else 0.0)
        relative = np.divide(error, turnover, out=np.zeros(len(error)), where=turnover > 0)
    drift = variables["position_drift"][1].max(axis=1, initial=0.0)
    return {"energy_balance_relative": relative, "position_drift_max": drift}


@dataclass
class Group:
    """Runs whose results are arrays of the same shape.

    indices                 of the runs in their portion
    variables               (dimensions, values) by name; the run is the first axis of the values, and not among the dimensions
    counts                  numbers of each run, by name
    times                   output times
    other_variables(k)      variables of the k-th run of the group that do not depend on time
    dataset(k)              dataset of the k-th run of the group
    used                    labels of the constraint rows in use
    ends                    values of variables at the end of runs that an event has ended, by name
    """

    indices: np.ndarray
    variables: dict
    counts: dict
    times: np.ndarray
    other_variables: Callable
    dataset: Callable
    used: list
    ends: dict = field(default_factory=dict)


@dataclass
class FinishedRun:
    """One finished run.

    index   of the run in its portion
    end     outputs, work and energy by events at the event that ended the run (`run/events/event_messages.py`), if a reduction
            needs them
    """

    index: int
    task: Any
    system: Any
    trajectory: Any
    end: tuple | None = None

    @cached_property
    def data(self):
        """The dataset of the run, without any check."""
        with DERIVING:
            return dataset(self.system, self.trajectory, self.task.options())

    def judge(self):
        """Return the dataset of the run. Raise an error if `simulate` would."""
        with DERIVING:
            return self.task.judge(self.system, self.data, len(self.trajectory.times))

    def other_variables(self):
        """Variables that do not depend on time: of events, and whether multipliers are unique."""
        return at_events(self.system, self.trajectory.events, self.trajectory.used) | unique(
            self.system, self.trajectory.used
        )


def split_by_shape(runs):
    """Lists of runs whose outputs are arrays of the same shape."""
    lists: dict = {}
    for run in runs:
        shape = len(run.trajectory.times), tuple(run.trajectory.used), run.end is None
        lists.setdefault(shape, []).append(run)
    return list(lists.values())


def make_group(runs):
    """The group of runs whose outputs have the same shape."""
    first = runs[0]
    m = len(first.trajectory.times)

    def concatenate(name):
        return np.concatenate([getattr(run.trajectory, name) for run in runs])

    def count(name):
        return np.array([run.trajectory.counts[name] for run in runs])

    parts = (concatenate("outputs"), concatenate("work"), concatenate("events_energy"))
    outputs_by_name = at_outputs(first.system, *parts, first.trajectory)
    variables = {name: (dims, x.reshape(len(runs), m, *x.shape[1:])) for name, (dims, x) in outputs_by_name.items()}
    counts = accuracy_measures(variables) | {name: count(name) for name in ("steps", "rejections")}
    counts["time_reached"] = np.array([run.trajectory.reached for run in runs])
    sizes = [np.array([getattr(run.system, name) for run in runs]) for name in ("mass", "length")]
    sizes.append(np.array([run.system.scales["rate"] for run in runs]))
    options = (first.task.until, first.task.tolerance, first.task.step)
    counts[ENERGY_LOST] = losses(first.trajectory.times, variables, counts["steps"], count("energy"), sizes, options)
    indices = np.array([run.index for run in runs])
    ends = dict[str, np.ndarray]()
    if first.end is not None:
        outputs, work, events_energy = (np.concatenate(rows) for rows in zip(*[run.end for run in runs]))
        at_end = at_outputs(first.system, outputs, work, events_energy, first.trajectory)
        ends = {name: x for name, (_, x) in at_end.items()}
    return Group(
        indices, variables, counts, first.trajectory.times,
        lambda k: runs[k].other_variables(), lambda k: runs[k].data,
        in_use(first.system, first.trajectory.used), ends,
    )  # fmt: skip
