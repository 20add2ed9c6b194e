"""Inputs that are held over intervals of a run: set at the edges, where steps end."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .results import Trajectory


@dataclass(frozen=True)
class Held:
    """Inputs of runs.

    places   in p
    edges    ends of the intervals [s], the last one is that of the run
    values   (run, interval, input)
    """

    places: np.ndarray
    edges: np.ndarray
    values: np.ndarray

    def some(self, which):
        """Those of some runs."""
        if np.array_equal(which, np.arange(len(self.values))):
            return self
        return replace(self, values=np.ascontiguousarray(self.values[which]))


def equal_edges(until, intervals):
    """Ends of equal intervals: those that as many steps of their length lead to."""
    edges = np.arange(1, intervals + 1) * (until / max(intervals, 1))
    edges[-1:] = until
    return edges


def run_through(runner, times, stop=None):
    """Run through these times to the end, or until `stop`, which is asked now and then, says so. Returns a `Trajectory`.

    Where `stop` is given Ctrl-C goes on to the caller, who has further runs to end.
    """
    runner.begin(times)
    message = runner.run(stop=stop)
    if message == "interrupted" and stop is not None:
        raise KeyboardInterrupt
    return runner.collect("interrupted" if message == "paused" else message)


def run_held(runner, times, held, run=0, stop=None):
    """The same with the inputs of one of the runs.

    An output at an edge shows the inputs that were held up to it.
    """
    until, parts, before = runner.until, [], -np.inf
    try:
        for edge, values in zip(held.edges, held.values[run]):
            put(runner, held.places, values)
            runner.until = edge
            parts.append(run_through(runner, times[(times > before) & (times <= edge)], stop))
            before = edge
            if parts[-1].status != "finished":
                break
    finally:
        runner.until = until
    return _joined(parts)


def put(runner, places, values):
    """Other values of inputs, which may jump: what methods remember ends there, and events look at them."""
    state = runner.state
    if np.array_equal(state.p[places], values):
        return
    state.p[places], runner.past.kept = values, 0
    if hasattr(runner, "events"):
        runner.events.pending = runner.events.passes = 1


def _joined(parts):
    """Parts of a run as one: what was counted, and what happened, is that of all of it."""
    whole: Any = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("times", "p", "work", "events_energy", "outputs")
    }
    last: Trajectory = parts[-1]
    return replace(last, **whole)
