"""What a study keeps of its runs: everything, or what a reduction over time leaves of it, so that many runs fit in memory."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..describe import quantity
from ..describe.names import unstorable
from ..errors import OptionError, RunError, TorsorError
from .portion import COUNTS

OWN = {"run", "time", "message", *COUNTS}  # what every study has


def _mean(x):
    """In the order of the outputs, however many runs there are."""
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
    """One run as a function that reduces it sees it: arrays by name, run["energy"] or run.energy, time first.

    time         of the outputs that were reached [s]
    parameters   of this run, by name
    used_constraints   labels of those whose multipliers are told
    attrs        steps, events …
    dataset      all of it as `simulate` returns it
    """

    def __init__(self, variables, time, parameters, attrs, whole, used=()):
        self._variables, self._whole, self._attrs = variables, whole, attrs
        self.time, self.parameters, self.used_constraints = time, parameters, used

    def __getitem__(self, name):
        return self.time if name == "time" else self._variables[name][1]

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._variables:
            raise AttributeError(
                f"a run has no {name!r}. Known: time, parameters, attrs, dataset, {', '.join(self._variables)}"
            )
        return self[name]

    def __iter__(self):
        return iter(self._variables)

    def __len__(self):
        return len(self._variables)

    def dims(self, name):
        return self._variables[name][0]

    @property
    def attrs(self):
        return self._attrs()

    @property
    def dataset(self):
        return self._whole()


def checked(reduce):
    """A reduction as it is given: None, a word, several words, a function, or words and functions by name."""
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


def by_words(reduce):
    """Whether a reduction takes no function: it serves many runs at once as it does one."""
    how = reduce.values() if isinstance(reduce, dict) else [reduce]
    return not any(callable(x) for x in how)


def reduced(reduce, run, told=None):
    """What is kept of a run, or by words of many at once: (dimensions, values) by name. Labels and attributes of what a function
    returns go to those that `told`, a portion, has."""
    if reduce is None:
        return {name: (run.dims(name), run[name]) for name in run}
    if isinstance(reduce, str):
        return {name: _over_time(run, name, reduce) for name in run}
    if isinstance(reduce, tuple):
        return {f"{name}_{how}": _over_time(run, name, how) for name in run for how in reduce}
    if callable(reduce):
        return _returned("", reduce, _called(reduce, run), run, told)
    found: dict[str, Any] = {}
    for name, how in reduce.items():
        if callable(how):
            found |= _returned(name, how, _called(how, run), run, told)
        else:
            variable, word = how if isinstance(how, tuple) else (name, how)
            found[name] = _over_time(run, variable, word)
    return found


def _called(function, run):
    """What a function says of a run. What goes wrong in it is the run's affair, also where it calls torsor."""
    try:
        return function(run)
    except TorsorError as error:
        raise RunError(f"reduce: {type(error).__name__}: {error}") from error


def _over_time(run, name, how):
    if name not in run:
        raise OptionError(f"study: reduce: there is no variable {name!r}. Known: {', '.join(run)}.")
    dims, values = run.dims(name), run[name]
    if "time" not in dims:
        raise OptionError(f"study: reduce: {name!r} is not over time; a function of the run can reduce it")
    return tuple(d for d in dims if d != "time"), OVER_TIME[how](np.moveaxis(values, dims.index("time"), -1))


def _returned(name, function, value, run, told):
    """What a function of a run returns, by name: a number, an array, a labelled array, or several of them by name."""
    called = name or getattr(function, "__name__", "").strip("<>") or "value"
    if hasattr(value, "data_vars"):
        value = {str(key): value[key] for key in value.data_vars}
    if isinstance(value, Mapping):
        parts = [_returned(str(label), function, x, run, told) for label, x in value.items()]
        return {key: one for part in parts for key, one in part.items()}
    refuse_name(called)
    if hasattr(value, "dims") and hasattr(value, "coords"):
        return {called: (_labelled(called, value, run, told), np.asarray(value.values))}
    try:
        array = np.asarray(value)
    except Exception:  # whatever a stranger's class raises
        array = np.asarray(None)
    if array.dtype.kind not in "fciubU":
        raise OptionError(f"study: {called!r} must give numbers or text, got {quantity.show(value)}")
    return {called: (tuple(f"{called}_{k}" for k in range(array.ndim)), array)}


def _labelled(called, value, run, told):
    """Dimensions of a labelled array, whose labels and attributes are told. Where one has other labels than the results of runs
    have, it is one of its own."""
    told.attributes[called] = {str(k): x for k, x in value.attrs.items() if isinstance(x, (str, int, float))}
    dims = []
    for dim, size in zip(map(str, value.dims), value.shape):
        labels = value.coords[dim].values if dim in value.coords else None
        mine = {"time": run.time, "constraint": run.used_constraints}
        known = mine[dim] if dim in mine else told.labels[dim][1] if dim in told.labels else labels
        other = dim == "run" or (known is not None and [*known] != [*(range(size) if labels is None else labels)])
        dims.append(f"{called}_{dim}" if other else dim)
        if labels is not None and dims[-1] not in mine:
            text = labels.dtype.kind not in "fiub"
            told.labels[dims[-1]] = (dims[-1], np.array([*map(str, labels)]) if text else labels)
    return tuple(dims)


def refuse_name(name):
    """Refuse a name that no file can hold, or under which a study has something else."""
    why = unstorable(name) or (name in OWN and "a study has something else of that name")
    if why:
        raise OptionError(f"study: reduce: a result cannot have a variable {name!r}: {why}; choose another name")
