"""Tool paths: joint coordinates along given poses, points and signals.

From one point to the next the configuration follows constraints and targets together (`path_continuation.py`). The target values y
between two points are interpolated:

    y(s) = y₀ + s (y₁ − y₀),      R(s) = R₀ exp(s log(R₀ᵀ R₁))                                          (1)

The configuration stays on one assembly. Degrees of freedom that the targets leave move as little as possible.
"""

import numpy as np

from ...elements import quantity
from ...errors import OptionError
from ...lie import so3
from ..assembly.assembly import assemble, problem_of
from ..assembly.assembly_targets import targets_of
from .drives import Motions
from .path_continuation import PathFollower, square_rows
from .spline import Spline


class Tracker(PathFollower):
    """Follows the path of moving targets.

    times   x → times at path parameters x
    y       x → target values at a path parameter x
    """

    def __init__(self, problem, times, y):
        self.problem, self._times, self._y = problem, times, y
        self._turns = problem.dynamics.kernels["turns"]
        self.square_rows = square_rows(problem, len(problem.units["targets"]))

    def inputs_at(self, x, turns):
        x = np.atleast_1d(x)
        p = np.repeat(self.problem.dynamics.p[None, :], len(x), axis=0)
        p[:, self.problem.model.input_layout.turns] = turns
        return self._times(x)[:, None], p

    def rows(self, x, t, q, p):
        y = np.array([self._y(place) for place in x])
        constraints = self.problem.constraint_rows(t, q, p)
        targets = self.problem.target_rows(t, q, p, y)
        return tuple(np.concatenate(pair, axis=1) for pair in zip(constraints, targets))


def track_targets(model, targets, times, actuators, signals, start, parameters, formulation):
    """Find the motions of the actuators along targets.

    Returns the motions, the first assembly, the path parameters that were reached (times, or 0, 1, 2 … without times), and the
    message why not all were reached, or None.
    """
    goals, numbers = targets_of(model, targets, signals)
    count = _point_count(numbers, times)
    x = np.arange(float(count)) if times is None else times
    for name, value in numbers.items():
        if value.ndim != 2 or len(value) != count:
            raise OptionError(
                f"targets: {name!r} must have one value for each of {count} points, got an array of shape {value.shape[:-1]}"
            )
    first = assemble(
        model, {name: _first_value(w, value) for (name, value), w in zip(numbers.items(), goals)}, signals=signals, start=start,
        parameters=parameters, time=float(x[0]) if times is not None else 0.0, formulation=formulation,
    )  # fmt: skip
    problem = problem_of(model, goals, [], parameters, formulation)
    y = np.concatenate(list(numbers.values()), axis=1)
    tracker = Tracker(problem, (lambda x: 0 * x) if times is None else (lambda x: x), _interpolate(goals, x, y))
    coordinates, failure = _follow_targets(model, tracker, first.q, x)
    x = x[: len(coordinates)]
    names = _actuator_names(model, problem, actuators)
    labels = problem.dynamics.system.joint_coordinates
    return Motions({name: Spline(x, coordinates[:, labels.index(name)]) for name in names}), first, x, failure


def _point_count(numbers, times):
    """The number of points of the path."""
    count = len(next(iter(numbers.values()), ())) if times is None or not numbers else len(times)
    if not count:
        raise OptionError("targets: give at least one target with at least one value")
    return count


def _first_value(target, value):
    """The first value of a target, in the form in which users give it."""
    if target.rotation is None:
        return value[0] if target.size > 1 else value[0, 0]
    R = value[0, value.shape[1] - 9 :].reshape(3, 3).T
    if target.column is None:
        return R
    return np.block([[R, value[0, : value.shape[1] - 9, None]], [np.zeros((1, 3)), np.ones((1, 1))]])


def _interpolate(goals, x, y):
    """A function that interpolates the target values y: (1)."""
    rotation_starts = []
    offset = 0
    for w in goals:
        if w.rotation is not None:
            rotation_starts.append(offset + w.size - 9)
        offset += w.size

    def between(place):
        k = min(max(int(np.searchsorted(x, place, side="right")) - 1, 0), max(len(x) - 2, 0))
        if len(x) == 1 or place == x[k]:
            return y[k]
        s = (place - x[k]) / (x[k + 1] - x[k])
        values = y[k] + s * (y[k + 1] - y[k])
        for first in rotation_starts:
            R0, R1 = (y[j, first : first + 9].reshape(3, 3).T for j in (k, k + 1))
            values[first : first + 9] = (R0 @ so3.exp(s * so3.log(R0.T @ R1))).T.ravel()  # (1)
        return values

    return between


def _follow_targets(model, tracker, q, x):
    """Joint coordinates at all points that are reached, counted over full turns, and the message why not at all points, or None."""
    turns = tracker.problem.dynamics.p[model.input_layout.turns]
    q, turns = tracker.solve_at(x[0], q, turns) or (q, turns)
    states, counted, reached = tracker.follow(q, turns, x)
    stops, failure = tracker.stops_reached(*reached), None
    if len(states) < len(x):
        reason = f"stop {', '.join(map(repr, stops))}" if stops else "out of reach, or a singular position"
        failure = (
            f"model {model.name!r}: the targets cannot be followed beyond {reached[0]:.9g}, after {len(states)} points: {reason}. "
            "`data` of this error contains the path up to there"
        )
    t, p = tracker.inputs_at(x[: len(states)], counted)
    return tracker.problem.coordinates(t, states, p), failure


def _actuator_names(model, problem, actuators):
    """Names of the driven coordinates: those given, or all of a mechanism without loops."""
    labels = problem.dynamics.system.joint_coordinates
    if actuators is not None:
        names = [*actuators] if isinstance(actuators, (list, tuple)) else [actuators]
        for name in names:
            if not isinstance(name, str) or name not in labels:
                raise OptionError(f"actuators: unknown coordinate {quantity.show(name)}. Known: {', '.join(labels)}")
        return names
    if problem.rows or len(labels) != problem.n:
        raise OptionError(
            f"model {model.name!r} has loops or constraints: name the driven coordinates, actuators=[…], as many as there "
            f"are degrees of freedom. Known: {', '.join(labels)}"
        )
    return labels
