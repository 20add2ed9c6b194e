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
    rows         labels of all constraints of the model, in its order; labels have those that are in use
    attributes   of variables by name: units, meaning
    told         attributes of the study that are those of each run
    seconds      that it took
    """

    first: int
    messages: list
    counts: dict
    variables: dict = field(default_factory=dict)
    labels: dict = field(default_factory=dict)
    rows: list = field(default_factory=list)
    attributes: dict = field(default_factory=dict)
    told: dict = field(default_factory=dict)
    seconds: float = 0.0

    def __len__(self):
        return len(self.messages)

    @property
    def used(self):
        """Labels of the constraints that are in use."""
        return [*self.labels["constraint"][1]] if "constraint" in self.labels else []

    def aligned(self, pieces):
        """Pieces, each with the labels of the constraints that its runs used, as pieces with those that any of them used; labels
        get these. The others of a run are 0."""
        used = {label for _, _, mine in pieces for label in mine}
        if not used:
            return [(places, found) for places, found, _ in pieces]
        wanted = [label for label in self.rows if label in used]
        self.labels["constraint"] = ("constraint", np.array(wanted, dtype=str))
        return [(places, _with(found, mine, wanted)) for places, found, mine in pieces]

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


def assembled(n, pieces, outputs=None):
    """Pieces as arrays of all n runs, which is their first dimension: (dimensions, values) by name.

    pieces     places of runs, and (dimensions, values) of them by name
    outputs    times that were asked for: a run that ended before has NaN at the others

    Runs may give other names and sizes than each other: there is room for the largest, and NaN where a run has nothing.
    """
    pieces = sorted(pieces, key=lambda piece: piece[0][0])
    names = dict.fromkeys(name for _, found in pieces for name in found)
    return {
        name: _filled(n, [(k, *found[name]) for k, found in pieces if name in found], name, outputs) for name in names
    }


def _filled(n, pieces, name, outputs):
    """One array out of those of the pieces, with its dimensions."""
    arrays, dims = [(places, x) for places, _, x in pieces], pieces[0][1]
    if len({(x.ndim, x.dtype.kind == "U", own) for _, own, x in pieces}) > 1:
        raise OptionError(
            f"study: reduce: {name!r} has other dimensions or labels, or is text, in some runs only: give the same in all of them"
        )
    sizes = np.max([x.shape[1:] for _, x in arrays], axis=0).tolist() if len(dims) > 1 else []
    shape = tuple(outputs if dim == "time" and outputs else size for dim, size in zip(dims[1:], sizes))
    if len(arrays) == 1 and arrays[0][1].shape == (n, *shape):
        return dims, arrays[0][1]
    kind = np.result_type(*[x.dtype for _, x in arrays])
    whole = sum(len(places) for places, x in arrays if x.shape[1:] == shape) == n
    kind = np.dtype(float) if kind.kind in "iub" and not whole else kind
    array: Any = np.empty((n, *shape), kind)
    if not whole:
        array[...] = "" if kind.kind == "U" else np.nan
    for places, x in arrays:
        array[(places, *[slice(size) for size in x.shape[1:]])] = x
    return dims, array


def joined(portions):
    """Portions in order as one: labels and attributes are those of the first run that did not fail."""
    portions = sorted(portions, key=lambda one: one.first)
    messages = [message for one in portions for message in one.messages]
    counts = {name: np.concatenate([one.counts[name] for one in portions]) for name in COUNTS}
    whole = Portion(0, messages, counts, seconds=sum(one.seconds for one in portions))
    good = [one for one in portions if one.variables]
    for one in reversed(good):
        _refuse_other_labels(one.labels, whole.labels)
        whole.labels, whole.attributes = whole.labels | one.labels, whole.attributes | one.attributes
        whole.told = one.told
        whole.rows = one.rows
    places = [np.arange(one.first, one.first + len(one)) for one in good]
    pieces = [(k, one.variables, one.used) for k, one in zip(places, good)]
    whole.variables = assembled(len(messages), whole.aligned(pieces))
    return whole


def _refuse_other_labels(mine, others):
    """Refuse labels that a function gave in one run and not in another; those of constraints are put in order."""
    for name in {*mine} & {*others} - {"constraint"}:
        if [*mine[name][1]] != [*others[name][1]]:
            raise OptionError(
                f"study: reduce: labels of {name!r} are others in other runs: give the same in all of them, or none (x.values)"
            )


def _with(variables, mine, wanted):
    """Variables of the constraints with some labels, as of those with others."""
    if mine == wanted:
        return variables
    places = np.array([mine.index(label) if label in mine else -1 for label in wanted])
    return {name: (dims, _moved(dims, x, places)) for name, (dims, x) in variables.items()}


def _moved(dims, x, places):
    """Values of the constraints at these places, 0 where there is none."""
    if "constraint" not in dims:
        return x
    axis = dims.index("constraint")
    moved = np.moveaxis(np.take(x, np.maximum(places, 0), axis=axis), axis, -1)
    return np.moveaxis(np.where(places >= 0, moved, 0.0), -1, axis)
