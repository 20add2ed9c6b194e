"""Reductions of runs: a study keeps all outputs of its runs, or reduced values of them, so that many runs fit in memory."""

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType

import numpy as np

from ..elements import quantity
from ..elements.names import unstorable
from ..errors import OptionError, RunError, TorsorError
from .align_results import align
from .run_portion import COUNTS

RESERVED_NAMES = {"run", "time", "message", *COUNTS}  # names in the dataset of every study


def _mean(x):
    """Mean over the last axis. Terms are added in the order of the outputs, so that it does not depend on the number of runs."""
    total = np.zeros_like(x[..., 0])
    for k in range(x.shape[-1]):
        total = total + x[..., k]
    return total / x.shape[-1]


OVER_TIME: dict[str, Callable] = {
    "last": lambda x: x[..., -1],
    "min": lambda x: x.min(axis=-1),
    "max": lambda x: x.max(axis=-1),
    "mean": _mean,
}


class OneRun(Mapping):
    """One run, as a reduction function receives it: arrays by name, run["energy"] or run.energy, time is the first dimension.

    time         output times that the run has reached [s]
    end          values of variables at the last output, or at the event that ended the run, by name
    parameters   of this run, by name
    used_constraints   labels of the constraint rows that have multipliers
    attrs        attributes of the dataset: steps, events …
    dataset      the complete result, as `simulate` returns it
    """

    def __init__(self, variables, time, parameters, make_dataset, used=(), ends=MappingProxyType({})):
        self._variables = variables
        self._make_dataset = make_dataset
        self.time = time
        self.parameters = parameters
        self.used_constraints = used
        self._ends = ends

    def __getitem__(self, name):
        return self.time if name == "time" else self._variables[name][1]

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._variables:
            raise AttributeError(
                f"a run has no {name!r}. Known: time, end, parameters, attrs, dataset, {', '.join(self._variables)}"
            )
        return self[name]

    def __iter__(self):
        return iter(self._variables)

    def __len__(self):
        return len(self._variables)

    def dims(self, name):
        """Dimensions of a variable."""
        return self._variables[name][0]

    def over_time(self, name):
        """Values of a variable, with time as the last axis. If an event ended the run, the values at its end are appended."""
        values = np.moveaxis(self[name], self.dims(name).index("time"), -1)
        return np.concatenate([values, self._ends[name][..., None]], axis=-1) if name in self._ends else values

    @property
    def end(self):
        return {name: self.over_time(name)[..., -1] for name in self if "time" in self.dims(name)}

    @property
    def attrs(self):
        return self.dataset.attrs

    @cached_property
    def dataset(self):
        return self._make_dataset()


def validate_reduction(reduce):
    """Return the argument `reduce` in its internal form: None, a word, a tuple of words, a function, or a dictionary of words and
    functions. Raise OptionError if it is invalid."""
    if reduce is None or callable(reduce) or (isinstance(reduce, str) and reduce in OVER_TIME):
        return reduce
    known = ", ".join(map(repr, OVER_TIME))
    allowed = f"{known}, a list of these, a function of a run, or a dictionary of these by name"
    if isinstance(reduce, (list, tuple)) and reduce and all(isinstance(x, str) and x in OVER_TIME for x in reduce):
        return tuple(reduce)
    if isinstance(reduce, Mapping) and reduce:
        for name, how in reduce.items():
            pair = isinstance(how, tuple) and len(how) == 2 and isinstance(how[0], str)
            word = how[1] if pair else how
            if not (isinstance(name, str) and (callable(how) or (isinstance(word, str) and word in OVER_TIME))):
                raise OptionError(
                    f"study: reduce[{name!r}] must be one of {known} (of the variable of that name), a pair as in "
                    f"('energy', 'max'), or a function of a run, got {quantity.show(how)}"
                )
            refuse_name(name)
        return dict(reduce)
    raise OptionError(f"study: reduce must be {allowed}, got {quantity.show(reduce)}")


def uses_words_only(reduce):
    """True if a reduction contains no Python function, so that it can be applied to the arrays of many runs at once."""
    parts = reduce.values() if isinstance(reduce, dict) else [reduce]
    return not any(callable(x) for x in parts)


def source_variable(reduce, name):
    """Name of the variable of a run from which the variable `name` of the study is reduced; None if a function returns it."""
    if isinstance(reduce, tuple):
        return name.rpartition("_")[0]
    if isinstance(reduce, dict):
        how = reduce.get(name)
        return how[0] if isinstance(how, tuple) else name if isinstance(how, str) else None
    return None if callable(reduce) else name


def reduce_run(reduce, run, portion=None):
    """Apply a reduction to a run, or, if it uses words only, to many runs at once.

    Returns (dimensions, values) by name, and labels by dimension, where functions return labelled arrays. Attributes of labelled
    arrays are stored in `portion`.
    """
    if reduce is None or isinstance(reduce, str):
        for name in RESERVED_NAMES & {*run}:
            refuse_name(name)
    if reduce is None:
        return {name: (run.dims(name), run[name]) for name in run}, {}
    if isinstance(reduce, str):
        return {name: _over_time(run, name, reduce) for name in run}, {}
    if isinstance(reduce, tuple):
        return {f"{name}_{how}": _over_time(run, name, how) for name in run for how in reduce}, {}
    results = FunctionResults(run, portion)
    if callable(reduce):
        results.add("", reduce, _call(reduce, run))
    else:
        for name, how in reduce.items():
            if callable(how):
                results.add(name, how, _call(how, run))
            else:
                variable, word = how if isinstance(how, tuple) else (name, how)
                results.keep(name, *_over_time(run, variable, word))
    return results.align()


def _call(function, run):
    """Return function(run). An error of torsor inside it becomes a RunError: it fails this run, not the study."""
    try:
        return function(run)
    except TorsorError as error:
        raise RunError(f"reduce: {type(error).__name__}: {error}") from error


def _over_time(run, name, how):
    """Dimensions and values of a variable that the word `how` reduces over time."""
    if name not in run:
        raise OptionError(f"study: reduce: there is no variable {name!r}. Known: {', '.join(run)}.")
    dims = run.dims(name)
    if "time" not in dims:
        raise OptionError(f"study: reduce: {name!r} is not over time; a function of the run can reduce it")
    return tuple(d for d in dims if d != "time"), OVER_TIME[how](run.over_time(name))


class FunctionResults:
    """Values that reduction functions return for one run: numbers, text, arrays, labelled arrays, or a mapping of these.

    variables   (dimensions, values) by name
    labels      of labelled arrays: labels by dimension, by name of the variable
    portion     receives the attributes of labelled arrays
    """

    def __init__(self, run, portion):
        self.run = run
        self.portion = portion
        self.variables = {}
        self.labels = {}

    def align(self):
        """Return all variables, (dimensions, values) by name, and their common labels (`align_results.py`)."""
        for name in {dim for dims, _ in self.variables.values() for dim in dims} & {*self.variables}:
            raise OptionError(
                f"study: reduce: {name!r} is a variable and a dimension of the result: choose another name"
            )
        if not self.labels:
            return self.variables, {}
        index = np.zeros(1, int)
        pieces, labels = align([(index, {name: x}, self.labels.get(name, {})) for name, x in self.variables.items()])
        return {name: x for _, variables in pieces for name, x in variables.items()}, labels

    def add(self, name, function, value):
        """Add the value that a function returned, under `name` or the name of the function. None in a mapping is ignored."""
        result_name = name or getattr(function, "__name__", "").strip("<>") or "value"
        if hasattr(value, "data_vars"):
            value = {str(key): value[key] for key in value.data_vars}
        if isinstance(value, Mapping):
            for label, x in value.items():
                if x is not None:
                    self.add(str(label), function, x)
            return
        refuse_name(result_name)
        if hasattr(value, "dims") and hasattr(value, "coords"):
            array = np.asarray(value.values)
            dims, self.labels[result_name] = self._dims_and_labels(result_name, value)
        else:
            array = _array(value)
            dims = tuple(f"{result_name}_{k}" for k in range(array.ndim))
        if array.dtype.kind not in "fciubU":
            raise RunError(
                f"reduce: {result_name!r} must give numbers or text, got {quantity.show(value)}; return nan for a missing value"
            )
        self.keep(result_name, dims, array)

    def keep(self, name, dims, array):
        """Add a variable. Raise OptionError if there is one of this name already."""
        if name in self.variables:
            raise OptionError(f"study: reduce: several results are called {name!r}: give each a different name")
        self.variables[name] = dims, array

    def _dims_and_labels(self, result_name, value):
        """Dimensions of a labelled array, and labels of those that the result of the run does not have.

        A dimension that has the name of one of the run, but other labels, is renamed.
        """
        run = self.run
        portion = self.portion
        portion.returned[result_name] = {str(k): x for k, x in value.attrs.items() if isinstance(x, (str, int, float))}
        known = {dim: x for name, (dim, x) in portion.labels.items() if name == dim}
        known |= {"time": run.time, "constraint": run.used_constraints}
        dims = list[str]()
        own = {}
        for dim, size in zip(map(str, value.dims), value.shape):
            labels = value.coords[dim].values if dim in value.coords else None
            same = dim in known and [*known[dim]] == [*(range(size) if labels is None else labels)]
            dims.append(dim if same or (dim not in known and dim != "run") else f"{result_name}_{dim}")
            if labels is not None and not same:
                text = labels.dtype.kind not in "fiub"
                if not text and np.isnan(labels).any():
                    raise RunError(
                        f"reduce: labels of {dim!r} in {result_name!r} must be numbers or text, got {quantity.show(labels)}"
                    )
                own[dims[-1]] = np.array([*map(str, labels)]) if text else labels
        return tuple(dims), own


def _array(value):
    """The value that a function returned, as an array; NaN where it is masked."""
    try:
        return np.ma.filled(value.astype(float), np.nan) if np.ma.isMaskedArray(value) else np.asarray(value)
    except Exception:  # the conversion of an unknown class may raise anything
        return np.asarray(None)


def refuse_name(name):
    """Refuse a variable name that cannot be stored in a file, or that the dataset of a study reserves."""
    why = unstorable(name) or (name in RESERVED_NAMES and "a study has another variable of that name")
    if why:
        raise OptionError(f"study: a result cannot have a variable {name!r}: {why}; choose another name")
