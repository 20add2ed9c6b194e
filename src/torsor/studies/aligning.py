"""What runs give, brought to common labels, dimensions and kinds: where they differ there is room for all of them.

A piece is what some runs give alike: their places, (dimensions, values) by name, and the labels of dimensions, by these.
"""

import numpy as np

from ..errors import OptionError

MANY = 2000  # labels of which runs have others than each other


def united(several, order=None):
    """Labels of several as one array: as they are where they are the same; else numbers as they grow, words as they first come,
    or in a given order."""
    first = several[0]
    if all(len(x) == len(first) and np.array_equal(x, first) for x in several[1:]):
        return first
    every = dict.fromkeys(label for labels in several for label in labels.tolist())
    if order is not None:
        return np.array([label for label in order if label in every])
    if any(isinstance(label, str) for label in every):
        return np.array(list(dict.fromkeys(map(str, every))))
    return np.array(sorted(every))


def aligned(pieces, rows=()):
    """Pieces without labels, and the labels that all of them have; rows: those of constraints, in their order."""
    labels, orders, last = {}, {"constraint": rows}, {"constraint": 0.0}
    for dim in dict.fromkeys(dim for _, _, own in pieces for dim in own):
        several = [own[dim] for _, _, own in pieces if dim in own]
        labels[dim] = united(several, orders.get(dim))
        if len(labels[dim]) > max(MANY, *map(len, several)):
            raise OptionError(
                f"study: reduce: labels of {dim!r} are others in other runs, {len(labels[dim])} in all: give the same in all of "
                "them, or none (x.values)"
            )
    return [(places, _moved(found, own, labels, last)) for places, found, own in pieces], labels


def _moved(found, own, labels, last):
    """Variables at other labels than their own; dimensions in `last` have this where they have no value."""
    other = {dim for dim, x in own.items() if x is not labels[dim] and not np.array_equal(x, labels[dim])}
    if not other:
        return found
    return {name: (dims, _placed(dims, x, own, labels, last, other)) for name, (dims, x) in found.items()}


def _placed(dims, x, own, labels, last, other):
    """Values at other labels, and what is nothing at those that they do not have."""
    for axis, dim in enumerate(dims):
        if dim not in other:
            continue
        texts = labels[dim].dtype.kind == "U"
        mine = {str(label) if texts else label: k for k, label in enumerate(own[dim].tolist())}
        if len(mine) < len(own[dim]):
            raise OptionError(
                f"study: reduce: a label of {dim!r} is there twice, and other runs have others: make them differ"
            )
        places = np.array([mine.get(label, -1) for label in labels[dim].tolist()], int)
        wide = np.moveaxis(np.take(x, np.maximum(places, 0), axis=axis), axis, -1)
        flag = x.dtype.kind == "b" and dim in last  # a multiplier that is zero, since its row is not in use, is unique
        kind = np.result_type(x.dtype, float) if x.dtype.kind in "iub" and not flag else x.dtype
        wide = wide.astype(kind)
        wide[..., places < 0] = True if flag else last.get(dim, nothing(kind))
        x = np.moveaxis(wide, -1, axis)
    return x


def nothing(kind):
    """What stands where a run has no value."""
    return "" if kind.kind == "U" else np.nan


def common(name, pieces):
    """Values of a variable in several pieces (places, dimensions, values), with dimensions and a kind in common.

    Where some runs give more dimensions, others have their values at the first places; where some give text, numbers are text.
    """
    if len({(own, x.dtype.kind == "U") for _, own, x in pieces}) == 1:
        return pieces[0][1], [(places, x) for places, _, x in pieces]
    numbered = lambda dims: sum(dim.startswith(f"{name}_") and dim[len(name) + 1 :].isdigit() for dim in dims)
    dims = max((own for _, own, _ in pieces), key=lambda own: (len(own), -numbered(own)))
    text = len({x.dtype.kind == "U" for _, _, x in pieces}) > 1
    found = []
    for places, own, x in pieces:
        if own != dims and len(own) - numbered(own) > 1:
            raise OptionError(
                f"study: reduce: {name!r} has the dimensions {own[1:]} in some runs and {dims[1:]} in others: give the same in "
                "all of them, or none (x.values)"
            )
        x = _words(x) if text and x.dtype.kind != "U" else x
        found.append((places, x.reshape(*x.shape, *[1] * (len(dims) - len(own)))))
    return dims, found


def _words(x):
    """Numbers as text; none where there is none."""
    numbers = x.astype(np.result_type(x.dtype, float))
    return np.where(np.isnan(numbers), "", numbers.astype(str))
