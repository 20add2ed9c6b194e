"""The runs of a study: which values the parameters of each of them have."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..describe import quantity
from ..errors import OptionError
from ..run.wanted import BODY

MOST = 10**9  # runs of a grid


@dataclass(frozen=True)
class Variants:
    """Values of parameters, and of a start: one row per run.

    names    of parameters, one column each
    starts   names of coordinates, rates and states at the start, whose columns are behind, and the shape of each: () for a single
             number
    """

    names: tuple
    starts: tuple
    values: np.ndarray

    def __len__(self):
        return len(self.values)


def variants(model, parameters, grid, several=(), pushed=(), start=None):
    """The runs that are asked for; refused where they are none.

    parameters   numbers or arrays by name, or a table with one column per parameter and one row per run
    grid         every combination of the values, the last name changing fastest; else one run per place in the arrays
    several      lengths of other things that are given run by run, by what they are
    pushed       names of inputs that are given beside
    start        numbers or arrays by name of coordinates, rates and states
    """
    if not isinstance(grid, (bool, np.bool_)):
        raise OptionError(f"study: grid must be True or False, got {quantity.show(grid)}")
    columns = {name: _column(model, name, x) for name, x in _by_name(parameters).items()}
    if both := set(columns) & set(pushed):
        raise OptionError(f"study: {', '.join(sorted(both))} is given twice, as parameter and as input")
    placed = {name: _several(f"start {name!r}", x, form_of(model, name)) for name, x in (start or {}).items()}
    every = {f"parameter {name!r}": x for name, x in columns.items()}
    every |= {f"start {name!r}": x for name, x in placed.items()}
    starts = tuple((name, x.shape) for name, x in placed.items())
    if grid:
        count = _agreed(
            {"the grid": _combinations(every)} | dict(several), "Inputs are not combined: give each run its own"
        )
        parts, inner = [], count
        for x in every.values():
            inner //= len(x.rows)
            parts.append(x.rows[np.arange(count) // inner % len(x.rows)])
    else:
        advice = "Give each run a value of all of them, or take every combination with grid=True"
        count = _agreed({what: len(x.rows) for what, x in every.items() if x.by_run} | dict(several), advice)
        parts = [np.broadcast_to(x.rows, (count, x.rows.shape[1])) for x in every.values()]
    return Variants(tuple(columns), starts, np.hstack([np.zeros((count, 0)), *parts]))


def _combinations(columns):
    """How many there are of the values of columns."""
    count = math.prod(len(x.rows) for x in columns.values())
    if count > MOST:
        said = " × ".join(f"{len(x.rows)}" for x in columns.values() if x.by_run)
        raise OptionError(f"study: the grid has {said} = {count} runs, and {MOST} are allowed")
    return count


def pushes(model, inputs):
    """Inputs that are held over intervals, by name: arrays (run, interval), of one row where they are the same in all runs."""
    if inputs is None:
        return {}
    if not isinstance(inputs, Mapping) or not inputs:
        raise OptionError(f"study: inputs must be arrays (run, interval) by name, got {quantity.show(inputs)}")
    known, found = model.declared_inputs, {}
    for name, given in inputs.items():
        if name not in known:
            names = ", ".join(known) or "none; declare one with model.input(name)"
            raise OptionError(f"study: model {model.name!r} has no input {name!r}. Known: {names}.")
        found[name] = _pushed(name, given)
    shapes = {name: x.shape for name, x in found.items()}
    if len({shape[1] for shape in shapes.values()}) > 1 or len({s[0] for s in shapes.values()} - {1}) > 1:
        raise OptionError(f"study: inputs of unequal shape (run, interval): {shapes}")
    return found


def _pushed(name, given):
    """The values of an input: numbers by interval, or by run and interval."""
    try:
        plain = isinstance(given, np.ndarray) and given.dtype == np.float64
        values = given if plain else np.asarray(quantity.reals(given), float)
    except Exception:  # whatever a stranger's class raises when it is asked for numbers
        values = np.zeros(0)
    if values.ndim not in (1, 2) or not values.size or not np.isfinite(values).all():
        raise OptionError(
            f"study: input {name!r} must be an array (run, interval) of finite numbers, or (interval) for all runs, got "
            f"{quantity.show(given)}"
        )
    return np.atleast_2d(values)


def _by_name(parameters):
    """Values by name, from a table too."""
    if parameters is None:
        return {}
    if hasattr(parameters, "columns") and hasattr(parameters, "to_dict"):  # a table of pandas
        if not len(parameters) or not len(parameters.columns):
            raise OptionError("study: the table of parameters is empty; it has one row per run, a column per parameter")
        return {str(name): np.asarray(parameters[name]) for name in parameters.columns}
    if isinstance(parameters, np.ndarray) and parameters.dtype.names:  # an array with named fields
        return {name: parameters[name] for name in parameters.dtype.names}
    if not isinstance(parameters, Mapping):
        raise OptionError(
            f"study: parameters must be arrays by name, or a table with one row per run, got {quantity.show(parameters)}"
        )
    return dict(parameters)


@dataclass(frozen=True)
class Column:
    """Values of one name.

    rows     one for each run, or one for all of them;   by_run   which of both
    shape    of a value
    """

    rows: np.ndarray
    by_run: bool
    shape: tuple


def _column(model, name, given):
    """The values of a parameter."""
    known = model.parameters
    if name not in known:
        names = ", ".join(known) or "none"
        raise OptionError(f"study: model {model.name!r} has no parameter {name!r}. Known: {names}.")
    return _several(f"parameter {name!r}", given)


def form_of(model, name):
    """The form of what a start names: of a body, of a joint with several coordinates, of all joints, of a vector of states, or of a
    single number."""
    owner, _, what = str(name).rpartition(".")
    joint = owner if what in ("rate", "coordinate") else name
    bodies, joints = {body.name for body in model.bodies}, {c.name: getattr(c, "dof", 1) for c in model.constraints}
    if what in BODY and owner in bodies:
        return BODY[what]
    vector = sum(state.name.rpartition("[")[0] == name for state in model.states)
    count = vector or joints.get(joint, 1)
    return (count,) if vector or count > 1 or name in ("coordinates", "rates") else ()


def _several(what, given, form=()):
    """A value for all runs, or an array with one for each of them; form: of a value that is an array itself, or may be a vector,
    as a rotation that is no matrix."""
    try:
        values = np.asarray(quantity.reals(given), float)
    except Exception:  # whatever a stranger's class raises when it is asked for numbers
        values = np.zeros(0)
    wide = 2 if len(form) == 2 and values.shape[-2:] == form else min(len(form), 1, values.ndim)
    if not values.size or values.ndim > 1 + wide:
        allowed = (
            "several numbers, or an array of them with a row for each run"
            if form
            else "a number or an array of numbers"
        )
        raise OptionError(f"study: {what} must be {allowed}, got {quantity.show(given)}")
    shape = values.shape[values.ndim - wide :]
    return Column(values.reshape(-1, math.prod(shape)), values.ndim > wide, shape)


def _agreed(lengths, advice):
    """The number of runs, which everything that has one agrees on."""
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{what} has {n}" for what, n in lengths.items())
        raise OptionError(f"study: arrays of unequal length: {said}. {advice}")
    return next(iter(lengths.values()), 1)
