"""A portion of a study: results of consecutive runs, as arrays whose first dimension is the run."""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from .align_results import align, missing_value, unify_dimensions

COUNTS = {  # numbers of every run besides its results, with their types; zero if the run failed
    "steps": np.int64,
    "rejections": np.int64,
    "time_reached": float,
    "energy_balance_relative": float,
    "energy_balance_lost": float,
    "position_drift_max": float,
}
ENERGY_LOST = "energy_balance_lost"  # time; NaN if the energy balance holds


@dataclass
class Portion:
    """Results of consecutive runs; `first` is the index of the first run.

    messages             error message of each run; empty if it succeeded
    counts               numbers of each run, by the names of COUNTS
    variables            (dimensions, values) by name, values with the run as first dimension; NaN where a run has none
    labels               coordinates of the other dimensions, by name: (dimension, values)
    rows                 labels of all constraint rows of the model, in its order; `labels` holds those in use
    attributes           units and meaning of the variables of a run, by name
    returned             attributes of labelled arrays that functions return, by name
    common_attributes    attributes of a run that are the same in all runs
    warnings             texts that `simulate` would warn of, each once
    seconds              wall time of these runs
    """

    first: int
    messages: list
    counts: dict
    variables: dict = field(default_factory=dict)
    labels: dict = field(default_factory=dict)
    rows: list = field(default_factory=list)
    attributes: dict = field(default_factory=dict)
    returned: dict = field(default_factory=dict)
    common_attributes: dict = field(default_factory=dict)
    warnings: list = field(default_factory=list)
    seconds: float = 0.0

    def __len__(self):
        return len(self.messages)

    def align(self, pieces):
        """Return pieces aligned to common labels (`align_results.py`), and store these labels in this portion."""
        aligned_pieces, labels = align(pieces, self.rows)
        self.labels |= {dim: (dim, x) for dim, x in labels.items() if x.size}
        return aligned_pieces

    @property
    def piece(self):
        """The portion as a piece (`align_results.py`)."""
        runs = np.arange(self.first, self.first + len(self))
        return runs, self.variables, {name: x for name, (dim, x) in self.labels.items() if name == dim}

    def facts(self):
        """The portion as plain data and arrays, for a file."""
        facts = asdict(self) | {"messages": list(map(str, self.messages))}
        arrays = {f"counts.{name}": x for name, x in facts.pop("counts").items()}
        for part in ("variables", "labels"):
            content = facts[part]
            arrays |= {f"{part}.{name}": x for name, (_, x) in content.items()}
            facts[part] = {name: list(dims) if part == "variables" else dims for name, (dims, _) in content.items()}
        return facts, arrays

    @classmethod
    def from_facts(cls, facts, arrays):
        """The portion that `facts` has written."""
        dims = {part: facts[part] for part in ("variables", "labels")}
        variables = {name: (tuple(d), arrays[f"variables.{name}"]) for name, d in dims["variables"].items()}
        labels = {name: (d, arrays[f"labels.{name}"]) for name, d in dims["labels"].items()}
        counts = {name: arrays[f"counts.{name}"] for name in COUNTS}
        return cls(**{**facts, "variables": variables, "labels": labels, "counts": counts})


def blank_counts(n):
    """Initial numbers of n runs: zero, and NaN for the time at which the energy balance is lost."""
    return {name: np.full(n, np.nan if name == ENERGY_LOST else 0, kind) for name, kind in COUNTS.items()}


def assemble(n, pieces, outputs=None):
    """Assemble pieces to arrays of n runs: (dimensions, values) by name, with the run as first dimension.

    pieces     (indices of runs, variables), where variables are (dimensions, values) by name
    outputs    number of requested output times; a run that ended earlier has NaN at the remaining ones

    Names and sizes may differ between runs. The arrays have the largest size, and NaN where a run has no value.
    """
    pieces = sorted(pieces, key=lambda piece: piece[0][0])
    names = dict.fromkeys(name for _, variables in pieces for name in variables)
    return {
        name: _assemble_variable(
            n, [(k, *variables[name]) for k, variables in pieces if name in variables], name, outputs
        )
        for name in names
    }


def _assemble_variable(n, pieces, name, outputs):
    """Dimensions and array of portion variable, assembled from its values in the pieces."""
    dims, arrays = unify_dimensions(name, pieces)
    sizes = np.max([x.shape[1:] for _, x in arrays], axis=0).tolist() if len(dims) > 1 else []
    shape = tuple(outputs if dim == "time" and outputs else size for dim, size in zip(dims[1:], sizes))
    if len(arrays) == 1 and arrays[0][1].shape == (n, *shape):
        return dims, arrays[0][1]
    dtype = np.result_type(*[x.dtype for _, x in arrays])
    complete = sum(len(runs) for runs, x in arrays if x.shape[1:] == shape) == n
    dtype = np.dtype(float) if dtype.kind in "iub" and not complete else dtype
    array: Any = np.empty((n, *shape), dtype)
    if not complete:
        array[...] = missing_value(dtype)
    for runs, x in arrays:
        index = slice(runs[0], runs[-1] + 1) if runs[-1] - runs[0] == len(runs) - 1 else runs
        array[(index, *[slice(size) for size in x.shape[1:]])] = x
    return dims, array


def join_portions(portions):
    """Join portions to one portion. Labels and attributes are those of the first portion in which a run succeeded."""
    portions = sorted(portions, key=lambda portion: portion.first)
    messages = [message for portion in portions for message in portion.messages]
    counts = {name: np.concatenate([portion.counts[name] for portion in portions]) for name in COUNTS}
    whole = Portion(0, messages, counts, seconds=sum(portion.seconds for portion in portions))
    whole.warnings = list(dict.fromkeys(text for portion in portions for text in portion.warnings))
    successful = [portion for portion in portions if portion.variables]
    for portion in reversed(successful):
        for part in ("labels", "attributes", "returned"):
            setattr(whole, part, getattr(whole, part) | getattr(portion, part))
        whole.common_attributes = portion.common_attributes
        whole.rows = portion.rows
    whole.variables = assemble(len(messages), whole.align([portion.piece for portion in successful]))
    return whole
