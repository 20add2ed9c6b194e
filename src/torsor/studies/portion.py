"""Some runs of a study in a row, carried out: arrays whose first dimension is the run."""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from .aligning import aligned, common, nothing

COUNTS = {  # what is told of every run besides its results: zero where it failed
    "steps": np.int64,
    "rejections": np.int64,
    "time_reached": float,
    "energy_balance_relative": float,
    "energy_balance_lost": float,
    "position_drift_max": float,
}
LOST = "energy_balance_lost"  # NaN: it holds


@dataclass
class Portion:
    """Runs from `first` on.

    variables    (dimensions, values) by name, values with the run as first dimension; NaN where a run has none
    messages     what went wrong in each run; empty: nothing did
    counts       numbers of each run, by the names of COUNTS
    labels       coordinates of the other dimensions, by name: (dimension, values)
    rows         labels of all constraints of the model, in its order; labels have those that are in use
    attributes   of the variables of a run by name: units, meaning
    returned     attributes of what functions return, by name
    told         attributes of the study that are those of each run
    warned       what `simulate` would warn of, each text once
    seconds      that it took
    """

    first: int
    messages: list
    counts: dict
    variables: dict = field(default_factory=dict)
    labels: dict = field(default_factory=dict)
    rows: list = field(default_factory=list)
    attributes: dict = field(default_factory=dict)
    returned: dict = field(default_factory=dict)
    told: dict = field(default_factory=dict)
    warned: list = field(default_factory=list)
    seconds: float = 0.0

    def __len__(self):
        return len(self.messages)

    def aligned(self, pieces):
        """Pieces with labels in common, which this portion has then (`aligning.py`)."""
        found, labels = aligned(pieces, self.rows)
        self.labels |= {dim: (dim, x) for dim, x in labels.items() if x.size}
        return found

    @property
    def piece(self):
        """All of it as a piece."""
        places = np.arange(self.first, self.first + len(self))
        return places, self.variables, {name: x for name, (dim, x) in self.labels.items() if name == dim}

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
    return {name: np.full(n, np.nan if name == LOST else 0, kind) for name, kind in COUNTS.items()}


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
    dims, arrays = common(name, pieces)
    sizes = np.max([x.shape[1:] for _, x in arrays], axis=0).tolist() if len(dims) > 1 else []
    shape = tuple(outputs if dim == "time" and outputs else size for dim, size in zip(dims[1:], sizes))
    if len(arrays) == 1 and arrays[0][1].shape == (n, *shape):
        return dims, arrays[0][1]
    kind = np.result_type(*[x.dtype for _, x in arrays])
    whole = sum(len(places) for places, x in arrays if x.shape[1:] == shape) == n
    kind = np.dtype(float) if kind.kind in "iub" and not whole else kind
    array: Any = np.empty((n, *shape), kind)
    if not whole:
        array[...] = nothing(kind)
    for places, x in arrays:
        rows = slice(places[0], places[-1] + 1) if places[-1] - places[0] == len(places) - 1 else places
        array[(rows, *[slice(size) for size in x.shape[1:]])] = x
    return dims, array


def joined(portions):
    """Portions in order as one: labels and attributes are those of the first run that did not fail."""
    portions = sorted(portions, key=lambda one: one.first)
    messages = [message for one in portions for message in one.messages]
    counts = {name: np.concatenate([one.counts[name] for one in portions]) for name in COUNTS}
    whole = Portion(0, messages, counts, seconds=sum(one.seconds for one in portions))
    whole.warned = list(dict.fromkeys(text for one in portions for text in one.warned))
    good = [one for one in portions if one.variables]
    for one in reversed(good):
        for part in ("labels", "attributes", "returned"):
            setattr(whole, part, getattr(whole, part) | getattr(one, part))
        whole.told = one.told
        whole.rows = one.rows
    whole.variables = assembled(len(messages), whole.aligned([one.piece for one in good]))
    return whole
