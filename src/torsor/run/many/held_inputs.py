"""Inputs that are constant over intervals of a run (zero-order hold). They change at the ends of intervals, where steps end."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..run_results import Trajectory


@dataclass(frozen=True)
class PiecewiseConstantInputs:
    """Piecewise constant inputs of several runs.

    places   indices of the inputs in p
    edges    ends of the intervals [s]; the last one is the end of the run
    values   (run, interval, input)
    """

    places: np.ndarray
    edges: np.ndarray
    values: np.ndarray

    def some(self, which):
        """The inputs of some of the runs."""
        if np.array_equal(which, np.arange(len(self.values))):
            return self
        return replace(self, values=np.ascontiguousarray(self.values[which]))


def equal_edges(until, intervals):
    """Ends of equal intervals [s], as multiples of their length."""
    edges = np.arange(1, intervals + 1) * (until / max(intervals, 1))
    edges[-1:] = until
    return edges


def run_to_end(runner, times, stop=None):
    """Run through the output times to the end. Returns a `Trajectory`.

    stop   called between slices; returns whether to stop the run. If it is given, Ctrl-C raises KeyboardInterrupt here, since
           the caller has further runs to end
    """
    runner.begin(times)
    message = runner.run(stop=stop)
    if message == "interrupted" and stop is not None:
        raise KeyboardInterrupt
    return runner.collect("interrupted" if message == "paused" else message)


def run_with_inputs(runner, times, held, run=0, stop=None):
    """Run through the output times with the piecewise constant inputs of one run. Returns a `Trajectory`.

    An output at the end of an interval belongs to the inputs before it.
    """
    until, parts, before = runner.until, [], -np.inf
    try:
        for edge, values in zip(held.edges, held.values[run]):
            _set_inputs(runner, held.places, values, started=before > -np.inf)
            runner.until = edge
            parts.append(run_to_end(runner, times[(times > before) & (times <= edge)], stop))
            before = edge
            if parts[-1].status != "finished":
                break
    finally:
        runner.until = until
    return _join(parts)


def _set_inputs(runner, indices, values, started=True):
    """Set inputs. Since they may jump, the history of multistep methods is discarded and events are evaluated.

    started   True after the start of the run: a jump of the potential energy then counts as work
    """
    state = runner.state
    if np.array_equal(state.p[indices], values):
        return
    counts = started and runner.plan.potential_jumps
    before = potential_energy(runner) if counts else 0.0
    state.p[indices] = values
    runner.past.kept = 0
    if counts:
        add_work(runner, potential_energy(runner) - before)
    if hasattr(runner, "events"):
        runner.events.pending = runner.events.passes = 1


def potential_energy(runner):
    """The potential energy of the present state."""
    state = runner.state
    (energies,) = runner.kernels_in_use()["energies"](np.array([state.time]), state.xs[state.at].copy(), state.p.copy())
    return energies[1]


def add_work(runner, energy):
    """Add a jump of the energy at an instant to the work."""
    runner.state.xs[runner.state.at, runner.plan.configuration + runner.plan.velocities] += energy


def _join(parts):
    """Join the parts of a run. Counts and events of the last part are those of the whole run."""
    whole: Any = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("times", "p", "work", "events_energy", "outputs")
    }
    last: Trajectory = parts[-1]
    return replace(last, **whole)
