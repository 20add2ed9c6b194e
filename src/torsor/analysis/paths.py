"""Tools that follow a path: joint coordinates along poses, points and signals that are given place by place.

From one place to the next the configuration follows constraints and targets together (`following`), with y between them

    y(s) = y₀ + s (y₁ − y₀),      R(s) = R₀ exp(s log(R₀ᵀ R₁))                                          (1)

so that it stays on one assembly; freedoms that the targets leave move as little as possible.
"""

import numpy as np

from ..describe import quantity
from ..errors import OptionError
from ..lie import so3
from .assembly import assemble, problem_of
from .drives import Motions
from .following import Follower, square
from .spline import Spline
from .targets import targets_of


class Tracker(Follower):
    """A model whose targets move.

    y   x → the numbers that are asked for at a place
    """

    def __init__(self, problem, times, y):
        self.problem, self._times, self._y = problem, times, y
        self._turns = problem.dynamics.kernels["turns"]
        self.square = square(problem, len(problem.units["wanted"]))

    def at(self, x, turns):
        x = np.atleast_1d(x)
        p = np.repeat(self.problem.dynamics.p[None, :], len(x), axis=0)
        p[:, len(self.problem.model.inputs) :] = turns
        return self._times(x)[:, None], p

    def rows(self, x, t, q, p):
        y = np.array([self._y(place) for place in x])
        held, wanted = self.problem.held(t, q, p), self.problem.wanted(t, q, p, y)
        return tuple(np.concatenate(pair, axis=1) for pair in zip(held, wanted))


def tracked(model, targets, times, actuators, signals, start, parameters, formulation):
    """Motions of the actuators along targets, the first assembly, the times or, where these are None, places that were reached, and
    why not all of them, in words, or None."""
    wanted, numbers = targets_of(model, targets, signals)
    count = _count(numbers, times)
    x = np.arange(float(count)) if times is None else times
    for name, value in numbers.items():
        if value.ndim != 2 or len(value) != count:
            raise OptionError(
                f"targets: {name!r} must be given for each of {count} places, got an array of {value.shape[:-1]}"
            )
    first = assemble(
        model, {name: _first(w, value) for (name, value), w in zip(numbers.items(), wanted)}, signals=signals, start=start,
        parameters=parameters, time=float(x[0]) if times is not None else 0.0, formulation=formulation,
    )  # fmt: skip
    problem = problem_of(model, wanted, [], parameters, formulation)
    y = np.concatenate(list(numbers.values()), axis=1)
    tracker = Tracker(problem, (lambda x: 0 * x) if times is None else (lambda x: x), _between(wanted, x, y))
    coordinates, trouble = _along(model, tracker, first.q, x)
    x = x[: len(coordinates)]
    names = _actuators(model, problem, actuators)
    labels = problem.dynamics.system.joint_coordinates
    return Motions({name: Spline(x, coordinates[:, labels.index(name)]) for name in names}), first, x, trouble


def _count(numbers, times):
    count = len(next(iter(numbers.values()), ())) if times is None or not numbers else len(times)
    if not count:
        raise OptionError("targets: give at least one, and at least one place of it")
    return count


def _first(target, value):
    """The first of the values of a target, as it is given."""
    if target.rotation is None:
        return value[0] if target.size > 1 else value[0, 0]
    R = value[0, value.shape[1] - 9 :].reshape(3, 3).T
    if target.column is None:
        return R
    return np.block([[R, value[0, : value.shape[1] - 9, None]], [np.zeros((1, 3)), np.ones((1, 1))]])


def _between(wanted, x, y):
    """y at any place: (1)."""
    turned = []
    at = 0
    for w in wanted:
        if w.rotation is not None:
            turned.append(at + w.size - 9)
        at += w.size

    def between(place):
        k = min(max(int(np.searchsorted(x, place, side="right")) - 1, 0), max(len(x) - 2, 0))
        if len(x) == 1 or place == x[k]:
            return y[k]
        s = (place - x[k]) / (x[k + 1] - x[k])
        found = y[k] + s * (y[k + 1] - y[k])
        for first in turned:
            R0, R1 = (y[j, first : first + 9].reshape(3, 3).T for j in (k, k + 1))
            found[first : first + 9] = (R0 @ so3.exp(s * so3.log(R0.T @ R1))).T.ravel()  # (1)
        return found

    return between


def _along(model, tracker, q, x):
    """All joint coordinates at all places that are reached, counted over turns; and why not at all of them, or None."""
    turns = tracker.problem.dynamics.p[len(model.inputs) :]
    q, turns = tracker.one(x[0], q, turns) or (q, turns)
    states, counted, reached = tracker.all(q, turns, x)
    met, trouble = tracker.met(*reached), None
    if len(states) < len(x):
        why = f"stop {', '.join(map(repr, met))}" if met else "out of reach, or a singular position"
        trouble = (
            f"model {model.name!r}: the targets cannot be followed beyond place {reached[0]:.9g}, after {len(states)} that were "
            f"met: {why}. What was reached before is kept in `data` of this error"
        )
    t, p = tracker.at(x[: len(states)], counted)
    return tracker.problem.coordinates(t, states, p), trouble


def _actuators(model, problem, given):
    """Coordinates whose drives move the mechanism: those that are named, or all of a mechanism without loops."""
    labels = problem.dynamics.system.joint_coordinates
    if given is not None:
        names = [given] if isinstance(given, str) else [*given] if isinstance(given, (list, tuple)) else [given]
        for name in names:
            if not isinstance(name, str) or name not in labels:
                raise OptionError(f"actuators: unknown coordinate {quantity.show(name)}. Known: {', '.join(labels)}")
        return names
    if problem.rows or len(labels) != problem.n:
        raise OptionError(
            f"model {model.name!r} has loops or constraints: name the coordinates whose drives move it, actuators=[…], as many as "
            f"there are freedoms. Known: {', '.join(labels)}"
        )
    return labels
