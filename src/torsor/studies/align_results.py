"""Align results of runs: the same labels, dimensions and data types for all runs, with missing values where a run has none.

A piece holds results of runs that have the same shape: (indices of the runs, variables, labels).
Variables are (dimensions, values) by name; labels are arrays by dimension.
"""

import numpy as np

from ..errors import OptionError

MAX_UNION_LABELS = 2000  # labels of one dimension, where runs have different labels


def union_labels(label_arrays, order=None):
    """Union of label arrays: unchanged if all are equal; else numbers in ascending order, text in order of first occurrence,
    or all of them in the given `order`."""
    first = label_arrays[0]
    if all(len(x) == len(first) and np.array_equal(x, first) for x in label_arrays[1:]):
        return first
    union = dict.fromkeys(label for labels in label_arrays for label in labels.tolist())
    if order is not None:
        return np.array([label for label in order if label in union])
    if any(isinstance(label, str) for label in union):
        return np.array(list(dict.fromkeys(map(str, union))))
    return np.array(sorted(union))


def align(pieces, rows=()):
    """Pieces without labels, aligned to common labels, and these labels by dimension.

    rows   labels of all constraint rows of the model; they determine the order along the dimension "constraint"
    """
    labels = {}
    orders = {"constraint": rows}
    fill_values = {"constraint": 0.0}
    for dim in dict.fromkeys(dim for _, _, own in pieces for dim in own):
        label_arrays = [own[dim] for _, _, own in pieces if dim in own]
        labels[dim] = union_labels(label_arrays, orders.get(dim))
        if len(labels[dim]) > max(MAX_UNION_LABELS, *map(len, label_arrays)):
            raise OptionError(
                f"study: reduce: labels of {dim!r} differ between runs, {len(labels[dim])} in all: return the same labels in all "
                "runs, or none (x.values)"
            )
    return [(runs, _align_variables(variables, own, labels, fill_values)) for runs, variables, own in pieces], labels


def _align_variables(variables, own, labels, fill_values):
    """Variables of a piece, reindexed from their own labels to the common ones."""
    changed = {dim for dim, x in own.items() if x is not labels[dim] and not np.array_equal(x, labels[dim])}
    if not changed:
        return variables
    return {name: (dims, _reindex(dims, x, own, labels, fill_values, changed)) for name, (dims, x) in variables.items()}


def _reindex(dims, x, own, labels, fill_values, changed):
    """Values at the common labels.

    Where the piece lacks a label, the value is that of `fill_values` for this dimension, else missing.
    """
    for axis, dim in enumerate(dims):
        if dim not in changed:
            continue
        is_text = labels[dim].dtype.kind == "U"
        index_of = {str(label) if is_text else label: k for k, label in enumerate(own[dim].tolist())}
        if len(index_of) < len(own[dim]):
            raise OptionError(
                f"study: reduce: a label of {dim!r} is there twice, and other runs have other labels: make labels unique"
            )
        indices = np.array([index_of.get(label, -1) for label in labels[dim].tolist()], int)
        wide = np.moveaxis(np.take(x, np.maximum(indices, 0), axis=axis), axis, -1)
        flag = x.dtype.kind == "b" and dim in fill_values  # the multiplier of an unused row is zero, hence unique
        dtype = np.result_type(x.dtype, float) if x.dtype.kind in "iub" and not flag else x.dtype
        wide = wide.astype(dtype)
        wide[..., indices < 0] = True if flag else fill_values.get(dim, missing_value(dtype))
        x = np.moveaxis(wide, -1, axis)
    return x


def missing_value(dtype):
    """The value that marks a missing result: "" for text, else NaN."""
    return "" if dtype.kind == "U" else np.nan


def unify_dimensions(name, pieces):
    """Dimensions and values of a variable in several pieces (runs, dimensions, values), with a common data type.

    Where some runs return more dimensions, the values of the others are at index 0 of these. Where some runs return text, numbers
    are converted to text.
    """
    if len({(own, x.dtype.kind == "U") for _, own, x in pieces}) == 1:
        return pieces[0][1], [(runs, x) for runs, _, x in pieces]

    def count_numbered(dims):
        return sum(dim.startswith(f"{name}_") and dim[len(name) + 1 :].isdigit() for dim in dims)

    dims = max((own for _, own, _ in pieces), key=lambda own: (len(own), -count_numbered(own)))
    mixed = len({x.dtype.kind == "U" for _, _, x in pieces}) > 1
    result = []
    for runs, own, x in pieces:
        if own != dims and len(own) - count_numbered(own) > 1:
            raise OptionError(
                f"study: reduce: {name!r} has the dimensions {own[1:]} in some runs and {dims[1:]} in others: return the same "
                "dimensions in all runs, or none (x.values)"
            )
        x = _to_text(x) if mixed and x.dtype.kind != "U" else x
        result.append((runs, x.reshape(*x.shape, *[1] * (len(dims) - len(own)))))
    return dims, result


def _to_text(x):
    """Numbers as text; "" for NaN."""
    numbers = x.astype(np.result_type(x.dtype, float))
    return np.where(np.isnan(numbers), "", numbers.astype(str))
