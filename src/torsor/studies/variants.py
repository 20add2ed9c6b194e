"""The runs of a study: which values the parameters of each of them have."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..describe import quantity
from ..errors import OptionError


@dataclass(frozen=True)
class Variants:
    """Values of parameters, and of a start: one column per name, one row per run.

    names    of parameters;   starts   of coordinates, rates and states at the start, in the columns behind
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
    names, places = (
        tuple(columns),
        {f"start {name!r}": _several(f"start {name!r}", x) for name, x in (start or {}).items()},
    )
    starts, columns = tuple(start or {}), columns | places
    if grid:
        rows = np.array(list(itertools.product(*[np.atleast_1d(x) for x in columns.values()])), float)
        rows = rows.reshape(-1, len(columns))
        _agreed({"the grid": len(rows)} | dict(several))
        return Variants(names, starts, rows)
    said = {name: name if name in places else f"parameter {name!r}" for name in columns}
    count = _agreed({said[name]: len(x) for name, x in columns.items() if x.ndim} | dict(several))
    spread = [np.broadcast_to(x, (count,)) for x in columns.values()]
    return Variants(names, starts, np.array(spread, float).reshape(len(columns), count).T.copy())


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
    if not isinstance(parameters, Mapping):
        raise OptionError(
            f"study: parameters must be arrays by name, or a table with one row per run, got {quantity.show(parameters)}"
        )
    return dict(parameters)


def _column(model, name, given):
    """The values of a parameter: a number, or an array of them."""
    known = model.parameters
    if name not in known:
        names = ", ".join(known) or "none"
        raise OptionError(f"study: model {model.name!r} has no parameter {name!r}. Known: {names}.")
    return _several(f"parameter {name!r}", given)


def _several(what, given):
    """A number, or an array of them."""
    try:
        values = np.asarray(quantity.reals(given), float)
    except Exception:  # whatever a stranger's class raises when it is asked for numbers
        values = None
    if values is None or values.ndim > 1 or not values.size:
        raise OptionError(f"study: {what} must be a number or an array of numbers, got {quantity.show(given)}")
    return values


def _agreed(lengths):
    """The number of runs, which everything that has one agrees on."""
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{what} has {n}" for what, n in lengths.items())
        raise OptionError(
            f"study: arrays of unequal length: {said}. Give each run a value of all of them, or take every combination with "
            "grid=True"
        )
    return next(iter(lengths.values()), 1)
