"""States side by side: arrays with leading dimensions, broadcast against each other as NumPy does."""

import numpy as np

from ..describe import quantity
from ..errors import OptionError


class Batch:
    """Numbers by name, for one state or for many.

    given   by name: a value, whose last dimension holds the numbers of one state, and how many these are; None: a single
            number, whose dimensions are all leading ones
    shape   leading dimensions of all of them together: () for a single state
    rows    by name: one row, where it is the same for all states, or a row for each
    """

    def __init__(self, **given):
        arrays = {name: numbers(value, name, count) for name, (value, count) in given.items()}
        shapes = {name: x.shape[:-1] for name, x in arrays.items()}
        try:
            self.shape = np.broadcast_shapes(*shapes.values())
        except ValueError:
            told = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
            raise OptionError(
                f"leading dimensions do not fit together: {told}; they are broadcast as NumPy does"
            ) from None
        self.count = int(np.prod(self.shape))
        self.rows = {name: self.spread(x) for name, x in arrays.items()}

    def spread(self, array):
        """One row, or a row for each state."""
        n = array.shape[-1]
        return array.ravel() if array.ndim == 1 else np.broadcast_to(array, (*self.shape, n)).reshape(self.count, n)

    def __getitem__(self, names):
        """Rows of several names, as in batch["t q p"]."""
        return [self.rows[name] for name in names.split()]

    def shaped(self, rows, *matrix):
        """Rows with the leading dimensions, each as it is, or as a matrix that is stored column by column. One row, where nothing
        that it depends on has leading dimensions, is that of all states."""
        rows = rows if len(rows) == self.count else np.repeat(rows, self.count, axis=0)
        if not matrix:
            return rows.reshape(*self.shape, rows.shape[-1])
        order = range(len(self.shape)), range(len(self.shape) + len(matrix) - 1, len(self.shape) - 1, -1)
        return rows.reshape(*self.shape, *matrix[::-1]).transpose(*order[0], *order[1])


def numbers(value, name, count):
    """An array of finite numbers whose last dimension has so many; None: any shape, to which a dimension of 1 is added."""
    try:
        array = quantity.reals(value)
    except Exception:  # whatever a stranger's class raises when it is asked for numbers
        array = np.array(np.nan)
    if count is None or array.ndim == 0 and count == 1:
        array, count = array[..., None], 1
    if array.ndim == 0 or array.shape[-1] != count or not np.isfinite(array).all():
        given = f"shape {array.shape}" if np.isfinite(array).all() and array.ndim else quantity.show(value)
        raise OptionError(
            f"{name} must have {count} numbers, all finite, in the last dimension of an array, got {given}"
        )
    return array
