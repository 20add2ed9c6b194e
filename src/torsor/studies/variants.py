"""The variants of a study: values of parameters, starts and inputs for each run."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..elements import quantity
from ..errors import OptionError
from ..start.request import BODY_QUANTITIES

MAX_GRID_RUNS = 10**9  # runs of a grid


@dataclass(frozen=True)
class Variants:
    """Values of parameters and starts.

    names    of parameters, one column each
    starts   (name, shape) of coordinates, rates and states at the start; shape () is a single number
    values   one row for each run: first the columns of the parameters, then those of the starts
    """

    names: tuple
    starts: tuple
    values: np.ndarray

    def __len__(self):
        return len(self.values)


def variants(model, parameters, grid, input_lengths=(), inputs=(), start=None):
    """The variants that the arguments of a study describe. Raise OptionError if these are invalid.

    parameters      numbers or arrays by name, or a table with one column per parameter and one row per run
    grid            True: every combination of the values, the last name changing fastest; else one run per array element
    input_lengths   number of runs for which an input is given, by a description of the input
    inputs          names of the inputs
    start           numbers or arrays by name of coordinates, rates and states
    """
    if not isinstance(grid, (bool, np.bool_)):
        raise OptionError(f"study: grid must be True or False, got {quantity.show(grid)}")
    columns = {name: _column(model, name, x) for name, x in _by_name(parameters).items()}
    if both := set(columns) & set(inputs):
        raise OptionError(f"study: {', '.join(sorted(both))} is given twice, as parameter and as input")
    start_columns = {
        name: _read_column(f"start {name!r}", x, start_value_shape(model, name)) for name, x in (start or {}).items()
    }
    starts = tuple((name, x.shape) for name, x in start_columns.items())
    all_columns = {f"parameter {name!r}": x for name, x in columns.items()}
    all_columns |= {f"start {name!r}": x for name, x in start_columns.items()}
    if grid:
        lengths = {"the grid": _combination_count(all_columns)} | dict(input_lengths)
        count = _common_length(lengths, "Inputs are not combined: give each run its own")
        parts = []
        inner = count
        for x in all_columns.values():
            inner //= len(x.rows)
            parts.append(x.rows[np.arange(count) // inner % len(x.rows)])
    else:
        lengths = {what: len(x.rows) for what, x in all_columns.items() if x.by_run} | dict(input_lengths)
        advice = "Give each run a value of all of them, or take every combination with grid=True"
        count = _common_length(lengths, advice)
        parts = [np.broadcast_to(x.rows, (count, x.rows.shape[1])) for x in all_columns.values()]
    return Variants(tuple(columns), starts, np.hstack([np.zeros((count, 0)), *parts]))


def _combination_count(columns):
    """Number of combinations of the values of columns."""
    count = math.prod(len(x.rows) for x in columns.values())
    if count > MAX_GRID_RUNS:
        product = " × ".join(f"{len(x.rows)}" for x in columns.values() if x.by_run)
        raise OptionError(f"study: the grid has {product} = {count} runs, and {MAX_GRID_RUNS} are allowed")
    return count


def validate_inputs(model, inputs):
    """Values of piecewise constant inputs by name: arrays (run, interval), with one row if all runs have the same values."""
    if inputs is None:
        return {}
    if not isinstance(inputs, Mapping) or not inputs:
        raise OptionError(f"study: inputs must be arrays (run, interval) by name, got {quantity.show(inputs)}")
    known = model.declared_inputs
    values_by_name = {}
    for name, values in inputs.items():
        if name not in known:
            names = ", ".join(known) or "none; declare one with model.input(name)"
            raise OptionError(f"study: model {model.name!r} has no input {name!r}. Known: {names}.")
        values_by_name[name] = _read_input(name, values)
    shapes = {name: x.shape for name, x in values_by_name.items()}
    if len({shape[1] for shape in shapes.values()}) > 1 or len({s[0] for s in shapes.values()} - {1}) > 1:
        raise OptionError(f"study: inputs of unequal shape (run, interval): {shapes}")
    return values_by_name


def _read_input(name, argument):
    """The values of an input as an array (run, interval); one row if they are given by interval only."""
    try:
        is_float_array = isinstance(argument, np.ndarray) and argument.dtype == np.float64
        values = argument if is_float_array else np.asarray(quantity.reals(argument), float)
    except Exception:  # the conversion of an unknown class may raise anything
        values = np.zeros(0)
    if values.ndim not in (1, 2) or not values.size or not np.isfinite(values).all():
        raise OptionError(
            f"study: input {name!r} must be an array (run, interval) of finite numbers, or (interval) for all runs, got "
            f"{quantity.show(argument)}"
        )
    return np.atleast_2d(values)


def _by_name(parameters):
    """Values by name, from a mapping, a pandas table or an array with named fields."""
    if parameters is None:
        return {}
    if hasattr(parameters, "columns") and hasattr(parameters, "to_dict"):  # pandas.DataFrame
        if not len(parameters) or not len(parameters.columns):
            raise OptionError("study: the table of parameters is empty; it has one row per run, a column per parameter")
        return {str(name): np.asarray(parameters[name]) for name in parameters.columns}
    if isinstance(parameters, np.ndarray) and parameters.dtype.names:
        return {name: parameters[name] for name in parameters.dtype.names}
    if not isinstance(parameters, Mapping):
        raise OptionError(
            f"study: parameters must be arrays by name, or a table with one row per run, got {quantity.show(parameters)}"
        )
    return dict(parameters)


@dataclass(frozen=True)
class Column:
    """Values of one parameter or start.

    rows     one row for each run, or a single row for all runs
    by_run   True if there is one row for each run
    shape    of one value; a row holds it as a flat array
    """

    rows: np.ndarray
    by_run: bool
    shape: tuple


def _column(model, name, argument):
    """The values of a parameter."""
    known = model.parameters
    if name not in known:
        names = ", ".join(known) or "none"
        raise OptionError(f"study: model {model.name!r} has no parameter {name!r}. Known: {names}.")
    return _read_column(f"parameter {name!r}", argument)


def start_value_shape(model, name):
    """Shape of the value of a start with this name: of a quantity of a body, a joint with several coordinates, all joints, a
    vector of states, or () for a single number."""
    owner, _, what = str(name).rpartition(".")
    joint = owner if what in ("rate", "coordinate") else name
    bodies = {body.name for body in model.bodies}
    dof = {c.name: getattr(c, "dof", 1) for c in model.constraints}
    if what in BODY_QUANTITIES and owner in bodies:
        return BODY_QUANTITIES[what]
    vector = sum(state.name.rpartition("[")[0] == name for state in model.states)
    count = vector or dof.get(joint, 1)
    return (count,) if vector or count > 1 or name in ("coordinates", "rates") else ()


def _read_column(what, argument, form=()):
    """The column of a value for all runs, or of an array with one value for each run.

    form   shape of one value; a value of two dimensions may also be given as a vector, such as a rotation vector
    """
    try:
        values = np.asarray(quantity.reals(argument), float)
    except Exception:  # the conversion of an unknown class may raise anything
        values = np.zeros(0)
    value_ndim = 2 if len(form) == 2 and values.shape[-2:] == form else min(len(form), 1, values.ndim)
    if not values.size or values.ndim > 1 + value_ndim:
        allowed = (
            "several numbers, or an array of them with a row for each run"
            if form
            else "a number or an array of numbers"
        )
        raise OptionError(f"study: {what} must be {allowed}, got {quantity.show(argument)}")
    shape = values.shape[values.ndim - value_ndim :]
    return Column(values.reshape(-1, math.prod(shape)), values.ndim > value_ndim, shape)


def _common_length(lengths, advice):
    """The number of runs. Raise OptionError if the lengths of the arrays differ."""
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"{what} has {n}" for what, n in lengths.items())
        raise OptionError(f"study: arrays of unequal length: {text}. {advice}")
    return next(iter(lengths.values()), 1)
