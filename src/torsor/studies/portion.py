"""Some runs of a study in a row, carried out: arrays whose first dimension is the run."""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..errors import OptionError

COUNTS = {  # what is told of every run besides its results: zero where it failed
    "steps": np.int64,
    "rejections": np.int64,
    "time_reached": float,
    "energy_balance_relative": float,
    "position_drift_max": float,
}


@dataclass
class Portion:
    """Runs from `first` on.

    variables    (dimensions, values) by name, values with the run as first dimension; NaN where a run has none
    messages     what went wrong in each run; empty: nothing did
    counts       numbers of each run, by the names of COUNTS
    labels       coordinates of the other dimensions, by name: (dimension, values)
    attributes   of variables by name: units, meaning
    told         attributes of the study that are those of each run
    seconds      that it took
    """

    first: int
    messages: list
    counts: dict
    variables: dict = field(default_factory=dict)
    labels: dict = field(default_factory=dict)
    attributes: dict = field(default_factory=dict)
    told: dict = field(default_factory=dict)
    seconds: float = 0.0

    def __len__(self):
        return len(self.messages)

    def facts(self):
        """As plain facts and arrays, to be stored."""
        facts = asdict(self) | {"messages": list(map(str, self.messages))}
        arrays = {f"counts.{name}": x for name, x in facts.pop("counts").items()}
        for part in ("variables", "labels"):
            held = facts[part]
            arrays |= {f"{part}.{name}": x for name, (_, x) in held.items()}
            facts[part] = {name: list(dims) if part == "variables" else dims for name, (dims, _) in held.items()}
        return facts, arrays

    @classmethod
    def restored(cls, facts, arrays):
        dims = {part: facts[part] for part in ("variables", "labels")}
        variables = {name: (tuple(d), arrays[f"variables.{name}"]) for name, d in dims["variables"].items()}
        labels = {name: (d, arrays[f"labels.{name}"]) for name, d in dims["labels"].items()}
        counts = {name: arrays[f"counts.{name}"] for name in COUNTS}
        return cls(**{**facts, "variables": variables, "labels": labels, "counts": counts})


def blank_counts(n):
    """Numbers of runs that have none yet."""
    return {name: np.zeros(n, kind) for name, kind in COUNTS.items()}


def assembled(n, pieces, outputs, messages):
    """Pieces as arrays of all n runs, which is their first dimension: (dimensions, values) by name.

    pieces     places of runs, and (dimensions, values) of them by name
    outputs    times that were asked for: a run that ended before has NaN at the others
    messages   get what is wrong with a run that does not fit the first
    """
    if not pieces:
        return {}
    pieces = sorted(pieces, key=lambda piece: piece[0][0])
    pattern = {name: (dims, _shape(dims, x, outputs), x.dtype) for name, (dims, x) in pieces[0][1].items()}
    fitting = []
    for places, found in pieces:
        if {name: (dims, _shape(dims, x, outputs)) for name, (dims, x) in found.items()} == {
            name: (dims, shape) for name, (dims, shape, _) in pattern.items()
        }:
            fitting.append((places, found))
        else:
            for i in places:
                messages[i] = "what is kept of it has other names or sizes than that of the first run"
    return {name: (dims, _filled(n, fitting, name, shape)) for name, (dims, shape, _) in pattern.items()}


def _shape(dims, x, outputs):
    """Of what is kept of each run."""
    return tuple(outputs if dim == "time" else size for dim, size in zip(dims, x.shape) if dim != "run")


def _filled(n, pieces, name, shape):
    """One array out of those of the pieces."""
    arrays = [(places, found[name][1]) for places, found in pieces]
    if len(arrays) == 1 and arrays[0][1].shape == (n, *shape):
        return arrays[0][1]
    kind = np.result_type(*[x.dtype for _, x in arrays])
    whole = sum(len(places) for places, x in arrays if x.shape[1:] == shape) == n
    kind = np.dtype(float) if kind.kind in "iub" and not whole else kind
    array: Any = np.empty((n, *shape), kind)
    if not whole:
        array[...] = "" if kind.kind == "U" else np.nan
    for places, x in arrays:
        array[(places, *[slice(size) for size in x.shape[1:]])] = x
    return array


def joined(portions):
    """Portions in order as one: labels and attributes are those of the first run that did not fail."""
    portions = sorted(portions, key=lambda one: one.first)
    good = [one for one in portions if one.variables]
    messages = [message for one in portions for message in one.messages]
    counts = {name: np.concatenate([one.counts[name] for one in portions]) for name in COUNTS}
    whole = Portion(0, messages, counts, seconds=sum(one.seconds for one in portions))
    if not good:
        return whole
    first = good[0]
    whole.labels, whole.attributes, whole.told = first.labels, first.attributes, first.told
    aligned = [one if one is first else _aligned(one, first) for one in portions]
    for name, (dims, x) in first.variables.items():
        parts = [one.variables[name][1] if one.variables else _missing(len(one), x) for one in aligned]
        sizes = {part.shape[1:] for part in parts}
        if len(sizes) > 1:
            raise OptionError(f"study: reduce gives {name!r} of different sizes in different runs: {sorted(sizes)}")
        whole.variables[name] = (dims, np.concatenate(parts))
    return whole


def _missing(n, like):
    """Values of runs that failed, beside those of others."""
    if like.dtype.kind == "U":
        return np.full((n, *like.shape[1:]), "")
    return np.full((n, *like.shape[1:]), np.nan)


def _aligned(portion, first):
    """A portion with the constraints of another one, where other rows were in use."""
    if not portion.variables or "constraint" not in portion.labels:
        return portion
    mine, wanted = (list(one.labels["constraint"][1]) for one in (portion, first))
    if mine == wanted:
        return portion
    places = [mine.index(label) if label in mine else -1 for label in wanted]
    for name, (dims, x) in portion.variables.items():
        if "constraint" in dims:
            axis = dims.index("constraint")
            moved = np.moveaxis(np.take(x, np.maximum(places, 0), axis=axis), axis, -1)
            portion.variables[name] = (dims, np.moveaxis(np.where(np.array(places) >= 0, moved, 0.0), -1, axis))
    return portion
