"""Runs that are over, and what is kept of them: arrays of many runs alike, and a dataset of one where somebody asks for it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..kernels.deriving import DERIVING
from ..look.balance import losses
from ..look.dataset import at_events, at_outputs, dataset, in_use, unique
from .portion import LOST


def numbers(variables):
    """Numbers of each run, from its outputs (run, time, …)."""
    T, U, E, W = (variables[name][1] for name in ("kinetic_energy", "potential_energy", "energy", "work"))
    W = W + variables["energy_by_events"][1] if "energy_by_events" in variables else W
    with np.errstate(invalid="ignore", over="ignore"):  # of runs that grew beyond all bounds
        off = np.abs(E - E[:, :1] - (W - W[:, :1])).max(axis=1, initial=0.0)
        turnover = np.maximum(T.max(axis=1, initial=0.0), np.ptp(U, axis=1) if U.shape[1] else 0.0)
        relative = np.divide(off, turnover, out=np.zeros(len(off)), where=turnover > 0)
    drift = variables["position_drift"][1].max(axis=1, initial=0.0)
    return {"energy_balance_relative": relative, "position_drift_max": drift}


@dataclass
class Group:
    """Runs whose results are arrays of the same shape.

    places      of the runs in their portion
    variables   (dimensions, values) by name, values with the run as first dimension, which is not among the dimensions
    counts      numbers of each run, by name
    times       of the outputs
    more, whole   of a run, by its place in the group: variables that are not over time, all of it as a dataset
    used        labels of the constraints in use
    ends        values of variables at the ends of runs that events have ended, by name
    """

    places: np.ndarray
    variables: dict
    counts: dict
    times: np.ndarray
    more: Callable
    whole: Callable
    used: list
    ends: dict = field(default_factory=dict)


@dataclass
class Ended:
    """One run that is over.

    place   in its portion
    end     outputs, work and energy by events where an event has ended it (`run/event_endings.py`), and these are asked for
    """

    place: int
    task: Any
    system: Any
    trajectory: Any
    end: tuple | None = None

    @cached_property
    def data(self):
        with DERIVING:
            return dataset(self.system, self.trajectory, self.task.options())

    def judged(self):
        """All of it as a dataset, or an error."""
        with DERIVING:
            return self.task.judged(self.system, self.data, len(self.trajectory.times))

    def aside(self):
        """Variables that are not over time."""
        return at_events(self.system, self.trajectory.events, self.trajectory.used) | unique(
            self.system, self.trajectory.used
        )


def alike(ended):
    """Runs in groups whose outputs are arrays of the same shape."""
    groups: dict = {}
    for one in ended:
        shape = len(one.trajectory.times), tuple(one.trajectory.used), one.end is None
        groups.setdefault(shape, []).append(one)
    return list(groups.values())


def grouped(some):
    """Runs of the same shape as one group."""
    first, m = some[0], len(some[0].trajectory.times)
    stacked = lambda name: np.concatenate([getattr(one.trajectory, name) for one in some])
    parts = (stacked("outputs"), stacked("work"), stacked("events_energy"))
    found = at_outputs(first.system, *parts, first.trajectory)
    variables = {name: (dims, x.reshape(len(some), m, *x.shape[1:])) for name, (dims, x) in found.items()}
    counted = lambda name: np.array([one.trajectory.counts[name] for one in some])
    counts = numbers(variables) | {name: counted(name) for name in ("steps", "rejections")}
    counts["time_reached"] = np.array([one.trajectory.reached for one in some])
    sizes = [np.array([getattr(one.system, name) for one in some]) for name in ("mass", "length")]
    sizes.append(np.array([one.system.scales["rate"] for one in some]))
    manner = (first.task.until, first.task.tolerance, first.task.step)
    counts[LOST] = losses(first.trajectory.times, variables, counts["steps"], counted("energy"), sizes, manner)
    places, ends = np.array([one.place for one in some]), dict[str, np.ndarray]()
    if first.end is not None:
        outputs, work, changed = (np.concatenate(rows) for rows in zip(*[one.end for one in some]))
        ends = {name: x for name, (_, x) in at_outputs(first.system, outputs, work, changed, first.trajectory).items()}
    return Group(
        places, variables, counts, first.trajectory.times,
        lambda k: some[k].aside(), lambda k: some[k].data,
        in_use(first.system, first.trajectory.used), ends,
    )  # fmt: skip
