"""What a study keeps of its runs: everything, or what a reduction over time leaves of it, so that many runs fit in memory."""

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType

import numpy as np

from ..describe import quantity
from ..describe.names import unstorable
from ..errors import OptionError, RunError, TorsorError
from .aligning import aligned
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
    end          values of variables at the last output, or where an event has ended the run, by name
    parameters   of this run, by name
    used_constraints   labels of those whose multipliers are told
    attrs        steps, events …
    dataset      all of it as `simulate` returns it
    """

    def __init__(self, variables, time, parameters, whole, used=(), ends=MappingProxyType({})):
        self._variables, self._whole = variables, whole
        self.time, self.parameters, self.used_constraints, self._ends = time, parameters, used, ends

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
        return self._variables[name][0]

    def over_time(self, name):
        """A variable with the time as last dimension. Where an event has ended the run, its end is the last output."""
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


def source(reduce, name):
    """The variable of a run that one of a study is, or that words reduce to it; None: a function gives it."""
    if isinstance(reduce, tuple):
        return name.rpartition("_")[0]
    if isinstance(reduce, dict):
        how = reduce.get(name)
        return how[0] if isinstance(how, tuple) else name if isinstance(how, str) else None
    return None if callable(reduce) else name


def reduced(reduce, run, told=None):
    """What is kept of a run, or by words of many at once: (dimensions, values) by name, and labels of dimensions that a function
    has given. Attributes of what it returns go to `told`, a portion."""
    if reduce is None or isinstance(reduce, str):
        for name in OWN & {*run}:
            refuse_name(name)
    if reduce is None:
        return {name: (run.dims(name), run[name]) for name in run}, {}
    if isinstance(reduce, str):
        return {name: _over_time(run, name, reduce) for name in run}, {}
    if isinstance(reduce, tuple):
        return {f"{name}_{how}": _over_time(run, name, how) for name in run for how in reduce}, {}
    returned = Returned(run, told)
    if callable(reduce):
        returned.add("", reduce, _called(reduce, run))
    else:
        for name, how in reduce.items():
            if callable(how):
                returned.add(name, how, _called(how, run))
            else:
                variable, word = how if isinstance(how, tuple) else (name, how)
                returned.keep(name, *_over_time(run, variable, word))
    return returned.together()


def _called(function, run):
    """What a function says of a run. What goes wrong in it is the run's affair, also where it calls torsor."""
    try:
        return function(run)
    except TorsorError as error:
        raise RunError(f"reduce: {type(error).__name__}: {error}") from error


def _over_time(run, name, how):
    if name not in run:
        raise OptionError(f"study: reduce: there is no variable {name!r}. Known: {', '.join(run)}.")
    dims = run.dims(name)
    if "time" not in dims:
        raise OptionError(f"study: reduce: {name!r} is not over time; a function of the run can reduce it")
    return tuple(d for d in dims if d != "time"), OVER_TIME[how](run.over_time(name))


class Returned:
    """What functions return of a run: numbers, text, arrays, labelled arrays, or several of them by name.

    found    (dimensions, values) by name;   labels   of dimensions of some of them, by name
    """

    def __init__(self, run, told):
        self.run, self.told, self.found, self.labels = run, told, {}, {}

    def together(self):
        """All of it: (dimensions, values) by name, and labels, which they have in common then (`aligning.py`)."""
        for name in {dim for dims, _ in self.found.values() for dim in dims} & {*self.found}:
            raise OptionError(
                f"study: reduce: {name!r} is a variable and a dimension of the result: choose another name"
            )
        if not self.labels:
            return self.found, {}
        one = np.zeros(1, int)
        pieces, labels = aligned([(one, {name: x}, self.labels.get(name, {})) for name, x in self.found.items()])
        return {name: x for _, variables in pieces for name, x in variables.items()}, labels

    def add(self, name, function, value):
        """Take what a function gave under this name, or under its own; in several by name None is nothing."""
        called = name or getattr(function, "__name__", "").strip("<>") or "value"
        if hasattr(value, "data_vars"):
            value = {str(key): value[key] for key in value.data_vars}
        if isinstance(value, Mapping):
            for label, x in value.items():
                if x is not None:
                    self.add(str(label), function, x)
            return
        refuse_name(called)
        if hasattr(value, "dims") and hasattr(value, "coords"):
            array, (dims, self.labels[called]) = np.asarray(value.values), self._labelled(called, value)
        else:
            array = _array(value)
            dims = tuple(f"{called}_{k}" for k in range(array.ndim))
        if array.dtype.kind not in "fciubU":
            raise RunError(
                f"reduce: {called!r} must give numbers or text, got {quantity.show(value)}; nan where there is nothing to tell"
            )
        self.keep(called, dims, array)

    def keep(self, name, dims, array):
        """Keep a variable, but for one of a name that is there already: one of both would be lost."""
        if name in self.found:
            raise OptionError(f"study: reduce: several results are called {name!r}: give each a name of its own")
        self.found[name] = dims, array

    def _labelled(self, called, value):
        """Dimensions of a labelled array, and labels of those that are its own. One that has other labels than the results of the
        run have is its own, too, under another name."""
        run, told = self.run, self.told
        told.returned[called] = {str(k): x for k, x in value.attrs.items() if isinstance(x, (str, int, float))}
        known = {dim: x for name, (dim, x) in told.labels.items() if name == dim}
        known |= {"time": run.time, "constraint": run.used_constraints}
        dims, own = list[str](), {}
        for dim, size in zip(map(str, value.dims), value.shape):
            labels = value.coords[dim].values if dim in value.coords else None
            same = dim in known and [*known[dim]] == [*(range(size) if labels is None else labels)]
            dims.append(dim if same or (dim not in known and dim != "run") else f"{called}_{dim}")
            if labels is not None and not same:
                text = labels.dtype.kind not in "fiub"
                if not text and np.isnan(labels).any():
                    raise RunError(
                        f"reduce: labels of {dim!r} in {called!r} must be numbers or text, got {quantity.show(labels)}"
                    )
                own[dims[-1]] = np.array([*map(str, labels)]) if text else labels
        return tuple(dims), own


def _array(value):
    """What a function returned, as an array; what is masked is nothing."""
    try:
        return np.ma.filled(value.astype(float), np.nan) if np.ma.isMaskedArray(value) else np.asarray(value)
    except Exception:  # whatever a stranger's class raises
        return np.asarray(None)


def refuse_name(name):
    """Refuse a name that no file can hold, or under which a study has something else."""
    why = unstorable(name) or (name in OWN and "a study has something else of that name")
    if why:
        raise OptionError(f"study: a result cannot have a variable {name!r}: {why}; choose another name")
